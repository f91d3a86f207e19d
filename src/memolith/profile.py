"""Where one agent's files live: finding the profile's root folder, and never the wrong one."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from memolith.approvals import PROFILE_FILE, is_approved
from memolith.errors import ProfileError

FoundBy = Literal["argument", "environment", "folder", "default"]

DEFAULT_PROFILE = "default"

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_NAME_RULE = "Use a-z, 0-9, dot, dash and underscore, at most 64, starting with a letter or digit."


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One agent's memory: its name, its root folder, and how it was found."""

    name: str
    root: str
    found_by: FoundBy
    home: str  # MEMOLITH_HOME: the user's settings, the named profiles, the approvals
    trusted: bool = True  # False for a folder that was only found: its settings can widen nothing
    unapproved: str = ""  # a folder that was found, not approved, and is therefore not used

    @property
    def exists(self) -> bool:
        """Whether anything was written yet; reading an empty profile is not an error."""
        return os.path.isdir(self.root)

    @property
    def missing(self) -> tuple[str, ...]:
        """A warning if the caller named a folder that does not exist: the path may be mistyped."""
        if self.exists or self.found_by not in ("argument", "environment"):
            return ()
        return (f"There is no memory at {self.root}: the folder does not exist.",)

    @property
    def notice(self) -> str:
        """The notice for the user, never for a model, about a folder that is not approved; or ""."""
        if not self.unapproved:
            return ""
        return (
            f"The memory in {self.unapproved} is not approved"
            f" (to approve it: {_trust_command(self.unapproved)}), so your default memory is used."
        )

    @property
    def settings_file(self) -> str:
        """The settings of this profile; the file need not exist."""
        return os.path.join(self.root, PROFILE_FILE)

    @property
    def user_settings_file(self) -> str:
        """The settings of all of the user's profiles; the file need not exist."""
        return os.path.join(self.home, "config.toml")


class Environment(NamedTuple):
    """Where the process runs."""

    cwd: str  # "" if the current folder was deleted
    variables: Mapping[str, str]

    @property
    def user_home(self) -> str:
        """The home folder of the user."""
        return os.path.normpath(self.variables.get("HOME") or os.path.expanduser("~"))


def resolve(
    root: str | None,
    name: str | None,
    environment: Environment,
    *,
    create: bool = False,
    use_default: bool = False,
) -> Profile:
    """Find the profile: a named one wins over a found one, arguments win over the environment.

    Only `init` passes `create`: anywhere else a named profile that does not exist is an error, so
    that a misspelt name never starts a second memory. A found folder that the user has not approved
    is an error too; with `use_default` it is the default profile, which names it in `unapproved`.
    """
    home = _home(environment)
    variables = environment.variables
    given: tuple[tuple[FoundBy, str | None, str | None], ...] = (
        ("argument", root, name),
        ("environment", variables.get("MEMOLITH_ROOT"), variables.get("MEMOLITH_PROFILE")),
    )
    for found_by, given_root, given_name in given:
        if given_root is not None and given_name is not None:
            raise ProfileError(
                f"Both a root and a profile are given ({found_by}).", hint="Leave one of them out."
            )
        if given_root is not None:
            folder = _absolute(given_root, f"The root ({found_by})", environment)
            return _at(folder, found_by, home)
        if given_name is not None:
            return _named(given_name, found_by, home, create=create)
    folder = _nearest_profile_folder(environment)
    if folder and os.path.realpath(folder).startswith(os.path.realpath(home) + os.sep):
        return _at(folder, "folder", home)
    if folder and is_approved(folder, home):
        return _at(folder, "folder", home, trusted=False)
    if folder and not use_default:
        raise ProfileError(
            f"The memory in {folder} is not approved, so nothing was done.",
            hint=f"To approve it: {_trust_command(folder)}"
            "; to use your default memory instead, add: --profile default",
        )
    return replace(_named(DEFAULT_PROFILE, "default", home, create=create), unapproved=folder)


def _trust_command(folder: str) -> str:
    import shlex  # slow, and seldom needed

    return f"memolith trust {shlex.quote(folder)}"


def _home(environment: Environment) -> str:
    if (home := environment.variables.get("MEMOLITH_HOME")) is not None:
        return _absolute(home, "MEMOLITH_HOME", environment)
    if not os.path.isabs(environment.user_home):
        raise ProfileError("There is no home folder.", hint="Set MEMOLITH_HOME to a folder.")
    return os.path.join(environment.user_home, ".memolith")


def _absolute(path: str, what: str, environment: Environment) -> str:
    if path == "~" or path.startswith("~/"):
        path = environment.user_home + path[1:]
    if not path or path.startswith("~") or "\0" in path:
        raise ProfileError(f"{what} cannot be {path[:80]!a}.", hint="Write the path in full.")
    if not os.path.isabs(path):
        path = os.path.join(_current(environment), path)
    absolute = os.path.normpath(path)
    _is_folder(absolute)
    return absolute


def _current(environment: Environment) -> str:
    if not environment.cwd:
        raise ProfileError("The current folder no longer exists.", hint="Add: --root FOLDER")
    return environment.cwd


def _at(root: str, found_by: FoundBy, home: str, *, trusted: bool = True) -> Profile:
    name = os.path.basename(root) or root
    return Profile(name=name, root=root, found_by=found_by, home=home, trusted=trusted)


def _named(name: str, found_by: FoundBy, home: str, *, create: bool) -> Profile:
    if not _NAME.fullmatch(name):
        better = re.sub(r"[^a-z0-9._-]+", "-", name.lower()[:64]).strip("._-")
        hint = f"{_NAME_RULE} Try: {better}" if better else _NAME_RULE
        raise ProfileError(f"A profile cannot be named {name[:80]!a}.", hint=hint)
    profiles = os.path.join(home, "profiles")
    root = os.path.join(profiles, name)
    if not _is_folder(root) and not create and name != DEFAULT_PROFILE:
        names = os.listdir(profiles) if os.path.isdir(profiles) else ()
        existing = ", ".join(sorted(filter(_NAME.fullmatch, names))) or "none yet"
        raise ProfileError(
            f"There is no profile {name}. Existing profiles: {existing}.",
            hint=f"To make it, run: memolith init --profile {name}",
        )
    return Profile(name=name, root=root, found_by=found_by, home=home)


def _is_folder(root: str) -> bool:
    """Whether there is such a folder; a path that can never be one is an error."""
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


def _nearest_profile_folder(environment: Environment) -> str:
    """Walk up to the user's home at most, and never to `/`; "" if there is none."""
    folder = _current(environment)
    while folder != os.path.dirname(folder):
        path = os.path.join(folder, PROFILE_FILE)
        try:
            os.stat(path)
        except FileNotFoundError:
            folder = "" if folder == environment.user_home else os.path.dirname(folder)
        except OSError as error:
            raise ProfileError(f"{path} cannot be looked at: {error.strerror}.") from error
        else:
            return folder
    return ""
