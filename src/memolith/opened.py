"""An opened memory: which folder and which settings it has, and the two ways to its files."""

from __future__ import annotations

import os
import typing
from collections.abc import Mapping
from typing import TYPE_CHECKING

from memolith.clock import Clock
from memolith.config.load import LoadedConfig, open_profile
from memolith.config.setting import Value
from memolith.errors import NotFoundError
from memolith.files.folder import Folder
from memolith.files.journal import Journal
from memolith.files.transaction import Transaction
from memolith.profile import Profile
from memolith.visibility import trust

if TYPE_CHECKING:
    from memolith.jobs import job

M = typing.TypeVar("M", bound="Opened")
State = tuple[Profile, Mapping[str, Value], LoadedConfig, Clock | None, str]


class Opened:
    """One agent's memory, opened; `Store` is what can be done with it."""

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        *,
        profile: str | None = None,
        settings: Mapping[str, Value] | None = None,
        clock: Clock | None = None,
        channel: str = "library",
        create: bool = False,
    ) -> None:
        """Open the memory in `root`, or the one the environment, folder or profile name points to.

        `settings` are full names such as `{"trim.max_records": 500}` and win over every file.
        `channel` is where this caller's records come from; it decides how far they are trusted.
        Nothing is created before the first write; `create` allows a named profile to be new.
        """
        self.profile, loaded = open_profile(root, profile, settings, create=create)
        self._settings: Mapping[str, Value] = dict(settings or {})
        self._begin(loaded, clock, channel)

    def _begin(self, loaded: LoadedConfig, clock: Clock | None, channel: str) -> None:
        self._loaded = loaded
        self.config = loaded.config
        self._given_clock = clock
        self._clock = clock or Clock(self.config.profile.timezone)
        self._channel = channel
        self._journal = Journal(self._clock, self.config.profile.primary)

    def __getstate__(self) -> State:
        """What another process needs to open this memory as it is here, whatever the files say now."""
        return self.profile, self._settings, self._loaded, self._given_clock, self._channel

    def __setstate__(self, state: State) -> None:
        """Open the memory that another process has handed over; nothing open is shared with it."""
        self.profile, self._settings, loaded, clock, channel = state
        self._begin(loaded, clock, channel)

    @property
    def root(self) -> str:
        """The folder that holds the memory."""
        return self.profile.root

    def __enter__(self) -> typing.Self:
        """The memory itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the memory."""
        self.close()

    def close(self) -> None:
        """Nothing is held open between calls."""

    @property
    def _by_user(self) -> bool:
        return trust(self._channel) == "user"

    def _existing(self) -> Folder:
        """The folder, for what makes sense only where something was written before."""
        if not self.profile.exists:
            raise NotFoundError(
                f"There is no memory in {self.root} yet.",
                name=self.root,
                hint="Remember something first, or check --root and --profile.",
            )
        return Folder(self.root)

    def _changing(self) -> Transaction:
        """Take the writer lock of a memory that exists."""
        self._existing().close()
        return self._writing()

    def _writing(self) -> Transaction:
        """Take the writer lock; every write of the product goes through here."""
        store = self.config.store
        folder = Folder(self.root, create=True, durable=store.durability == "full")
        return Transaction(folder, store.lock_timeout_seconds)

    def _workplace(self) -> job.Workplace:
        """What jobs need of this memory."""
        from memolith.jobs import job

        return job.Workplace(
            reading=self._existing, writing=self._writing, clock=self._clock, config=self.config
        )


def open_with(kind: type[M], state: State) -> M:
    """A memory of this kind with what somebody has found and loaded: another process, or in another way."""
    memory = kind.__new__(kind)
    memory.__setstate__(state)
    return memory
