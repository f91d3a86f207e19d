"""Where one agent's files live: finding the profile's root folder, and never the wrong one."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from typing import Literal

from memolith.errors import ProfileError

FoundBy = Literal["argument", "environment", "folder", "default"]

DEFAULT_PROFILE = "default"
PROFILE_FILE = "memolith.toml"

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One agent's memory: its name, its root folder, and how we came to it."""

    name: str
    root: str
    found_by: FoundBy
    home: str  # MEMOLITH_HOME, where the user file and the named profiles are
    trusted: bool = True  # False for a folder nobody named: its file may not set everything

    @property
    def exists(self) -> bool:
        """Whether anything was written yet; reading an empty profile is no error."""
        return os.path.isdir(self.root)

    @property
    def missing(self) -> tuple[str, ...]:
        """A warning for whoever named a folder that is not there: the path may be mistyped."""
        if self.exists or self.found_by not in ("argument", "environment"):
            return ()
        return (f"There is no memory at {self.root}: the folder does not exist.",)

    @property
    def settings_file(self) -> str:
        """The settings of this profile; the file need not exist."""
        return os.path.join(self.root, PROFILE_FILE)

    @property
    def user_settings_file(self) -> str:
        """The settings of all of the user's profiles; the file need not exist."""
        return os.path.join(self.home, "config.toml")


class Surroundings:
    """What the process knows of its place; None is a variable that is not set."""

    __slots__ = ("cwd", "memolith_home", "memolith_profile", "memolith_root", "user_home")

    def __init__(
        self,
        *,
        cwd: str,
        user_home: str,
        memolith_home: str | None = None,
        memolith_root: str | None = None,
        memolith_profile: str | None = None,
    ) -> None:
        """`cwd` is "" if the current folder was deleted."""
        self.cwd = cwd
        self.user_home = user_home
        self.memolith_home = memolith_home
        self.memolith_root = memolith_root
        self.memolith_profile = memolith_profile


def resolve(
    root: str | None, name: str | None, around: Surroundings, *, create: bool = False
) -> Profile:
    """Find the profile: what was named wins over what is found, arguments over the environment.

    Only `init` passes `create`: anywhere else a named profile that does not exist is an error, so
    that a misspelt name never starts a second memory.
    """
    home = _home(around)
    given: tuple[tuple[FoundBy, str | None, str | None], ...] = (
        ("argument", root, name),
        ("environment", around.memolith_root, around.memolith_profile),
    )
    for by, wanted_root, wanted_name in given:
        if wanted_root is not None and wanted_name is not None:
            raise ProfileError(
                f"Both a root and a profile are given ({by}).", hint="Leave one of them out."
            )
        if wanted_root is not None:
            return _at(_folder(wanted_root, f"The root ({by})", around), by, home)
        if wanted_name is not None:
            return _named(wanted_name, by, home, create=create)
    folder = _nearest_profile_folder(around)
    if folder:
        return _at(folder, "folder", home, trusted=_is_within(folder, home))
    return _named(DEFAULT_PROFILE, "default", home, create=create)


def _home(around: Surroundings) -> str:
    if around.memolith_home is not None:
        return _folder(around.memolith_home, "MEMOLITH_HOME", around)
    if not os.path.isabs(around.user_home):
        raise ProfileError("There is no home folder.", hint="Set MEMOLITH_HOME to a folder.")
    return os.path.join(around.user_home, ".memolith")


def _folder(path: str, what: str, around: Surroundings) -> str:
    if path == "~" or path.startswith("~/"):
        path = around.user_home + path[1:]
    if not path or path.startswith("~") or "\0" in path:
        raise ProfileError(f"{what} cannot be {path[:80]!a}.", hint="Write the path in full.")
    if not os.path.isabs(path):
        path = os.path.join(_current(around), path)
    absolute = os.path.normpath(path)
    _exists(absolute)
    return absolute


def _current(around: Surroundings) -> str:
    if not around.cwd:
        raise ProfileError("The current folder no longer exists.", hint="Add: --root FOLDER")
    return around.cwd


def _at(root: str, found_by: FoundBy, home: str, *, trusted: bool = True) -> Profile:
    name = os.path.basename(root) or root
    return Profile(name=name, root=root, found_by=found_by, home=home, trusted=trusted)


def _named(name: str, found_by: FoundBy, home: str, *, create: bool) -> Profile:
    if not _NAME.fullmatch(name):
        raise ProfileError(f"A profile cannot be named {name[:80]!a}.", hint=_better_name(name))
    root = os.path.join(home, "profiles", name)
    if not _exists(root) and not create and name != DEFAULT_PROFILE:
        raise ProfileError(
            f"There is no profile {name}. Existing profiles: {_names(home)}.",
            hint=f"To make it, run: memolith init --profile {name}",
        )
    return Profile(name=name, root=root, found_by=found_by, home=home)


def _better_name(name: str) -> str:
    rule = "Use a-z, 0-9, dot, dash and underscore, at most 64, starting with a letter or digit."
    better = re.sub(r"[^a-z0-9._-]+", "-", name.lower()[:64]).strip("._-")
    return f"{rule} Try: {better}" if better else rule


def _names(home: str) -> str:
    try:
        found = [
            name for name in os.listdir(os.path.join(home, "profiles")) if _NAME.fullmatch(name)
        ]
    except OSError:
        found = []
    return ", ".join(sorted(found)) or "none yet"


def _exists(root: str) -> bool:
    try:
        is_folder = stat.S_ISDIR(os.stat(root).st_mode)
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as error:  # ValueError: a lone surrogate
        reason = error.strerror if isinstance(error, OSError) else "it is not a path"
        raise ProfileError(
            f"{root!a} cannot be used: {reason}.", hint="Choose another --root."
        ) from error
    if not is_folder:
        raise ProfileError(
            f"{root} is a file; a profile's root is a folder.",
            hint="Choose another --root, or move that file away.",
        )
    return True


def _nearest_profile_folder(around: Surroundings) -> str:
    """Walk up to the user's home at most, and never to `/`; "" if there is none."""
    folder = _current(around)
    while folder != os.path.dirname(folder):
        if _holds_profile_file(folder):
            return folder
        folder = "" if folder == around.user_home else os.path.dirname(folder)
    return ""


def _holds_profile_file(folder: str) -> bool:
    path = os.path.join(folder, PROFILE_FILE)
    try:
        owner = os.stat(path).st_uid
    except FileNotFoundError:
        return False
    except OSError as error:
        raise ProfileError(f"{path} cannot be looked at: {error.strerror}.") from error
    # Anybody may put a file into a shared folder such as /tmp. Passing over it silently would be
    # no better: in a container the memory would then go to a home that is thrown away.
    if owner not in (os.geteuid(), 0):
        raise ProfileError(
            f"{path} belongs to another user.", hint=f"To use it all the same: --root {folder}"
        )
    return True


def _is_within(path: str, folder: str) -> bool:
    return os.path.realpath(path).startswith(os.path.realpath(folder) + os.sep)
