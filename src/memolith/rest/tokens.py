"""Tokens of further profiles that one server serves, and what each may use: `tokens` in the user's home.

A line is for a profile: its name, a digest of its token, its limits. The token itself is kept nowhere.
"""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from hashlib import blake2b

from memolith.config.sections import StoreConfig
from memolith.errors import StorageError
from memolith.files.folder import stamp_of
from memolith.files.transaction import rewrite_file
from memolith.types import Plain, Stamp

FILE = "tokens"


@dataclass(frozen=True, slots=True)
class Limits(Plain):
    """What a profile may use; 0 is without limit."""

    requests: int = 0  # a minute
    records: int = 0
    bytes: int = 0

    def __str__(self) -> str:
        """The limits as the file has them."""
        return " ".join(f"{name}={limit}" for name, limit in asdict(self).items() if limit)


@dataclass(frozen=True, slots=True)
class Grant(Plain):
    """That the holder of a token may use a profile."""

    profile: str
    digest: str = field(repr=False)  # of the token
    limits: Limits

    def line(self) -> str:
        """The grant as its file has it."""
        return f"{self.profile} {self.digest} {self.limits}".rstrip()


@dataclass(frozen=True, slots=True)
class Granted(Plain):
    """The profiles that have a token, by name."""

    profiles: tuple[Grant, ...]


@dataclass(frozen=True, slots=True)
class Removed(Plain):
    """A profile whose token was taken away."""

    profile: str


class Grants:
    """The grants in the file as it is now: a new or removed one counts from the next request on."""

    def __init__(self, home: str) -> None:
        """`home` is that of the user whose profiles are served."""
        self.path = os.path.join(home, FILE)
        self._seen: Stamp | None = None
        self._known: dict[str, Grant] = {}

    def of(self, token: str) -> Grant | None:
        """The grant of the holder of this token."""
        now = stamp_of(os.stat(self.path)) if os.path.exists(self.path) else None
        if now != self._seen:
            self._known = {one.digest: one for one in read_grants(self.path)}
            self._seen = now
        return self._known.get(_digest(token))


def read_grants(path: str) -> list[Grant]:
    """The grants in a file, by name; refused if other users could change it."""
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            mode, text = stat.S_IMODE(os.fstat(file.fileno()).st_mode), file.read()
    except FileNotFoundError:
        return []
    if mode & 0o077:
        hint = f"If all in it is yours: chmod 600 {path}"
        message = f"{path} is open to other users, so it counts for nothing."
        raise StorageError(message, path=path, errno=0, hint=hint)
    return sorted(_grants(text), key=lambda one: one.profile)


def _grants(text: str) -> list[Grant]:
    found = []
    for line in text.splitlines():
        with suppress(ValueError, TypeError):
            profile, digest, *limits = line.split()
            given = {name: int(limit) for name, limit in (one.split("=") for one in limits)}
            found.append(Grant(profile, digest, Limits(**given)))
    return found


def add_grant(home: str, store: StoreConfig, profile: str, limits: Limits) -> str:
    """A new token for a profile, in the place of the one it had."""
    token = secrets.token_urlsafe(32)
    _rewrite(home, store, profile, Grant(profile, _digest(token), limits))
    return token


def remove_grant(home: str, store: StoreConfig, profile: str) -> bool:
    """Take the token of a profile away; False if it has none."""
    return _rewrite(home, store, profile)


def _rewrite(home: str, store: StoreConfig, profile: str, *new: Grant) -> bool:
    def change(before: bytes) -> bytes:
        grants = _grants(before.decode("ascii", "replace"))
        kept = (one for one in grants if one.profile != profile)
        return "".join(sorted(f"{one.line()}\n" for one in (*kept, *new))).encode("ascii")

    return rewrite_file(os.path.join(home, FILE), change, store)


def _digest(token: str) -> str:
    return blake2b(token.encode(errors="replace"), digest_size=32).hexdigest()
