"""What the lock file says: the intent of a writer at work."""

from __future__ import annotations

import json
import os
from binascii import crc32
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from memolith import clock
from memolith.errors import FileFormatError
from memolith.files.locks import LOCK_PATH
from memolith.files.steps import Step, step_from_json


@dataclass(eq=False, repr=False)
class LockState:
    """The content of the lock file: unfinished steps, the boot they belong to, the number of changes."""

    boot: str = ""
    steps: list[list[object]] = field(default_factory=list)
    turn: int = 0

    @classmethod
    def decode(cls, data: bytes) -> LockState:
        """Read the lock file; an intent that is half-written does not count, nothing followed it yet."""
        line, newline, _ = data.partition(b"\n")
        checksum, _, body = line.partition(b" ")
        if not newline or checksum != b"%08x" % crc32(body):
            return cls()
        match json.loads(body):
            case {"boot": str(boot), "steps": list(steps), **rest}:
                turn = rest.get("turn")
                return cls(boot, steps, turn if type(turn) is int else 0)
        raise FileFormatError(
            f"{LOCK_PATH} was written by a newer Memolith, whose unfinished work we cannot read.",
            path=LOCK_PATH,
            hint="Use that version, or update this one.",
        )

    def unfinished(self) -> Iterator[Step]:
        """The steps that a writer of this boot left unfinished when it died."""
        if self.boot != clock.boot_id():
            return
        for spelled in self.steps:
            try:
                yield step_from_json(spelled)
            except ValueError as error:
                raise FileFormatError(
                    f"{LOCK_PATH} holds unfinished work that this version cannot read: {error}.",
                    path=LOCK_PATH,
                    hint="Run the newer Memolith once more, so that it can finish.",
                ) from error

    def with_intent(self, steps: Sequence[Step]) -> bytes:
        """The content of the lock file while `steps` are being done."""
        return self._encode([step.as_json() for step in steps])

    def after(self) -> bytes:
        """The content of the lock file once everything is done; counts one more change."""
        self.turn += 1
        return self._encode([])

    def _encode(self, steps: list[list[object]]) -> bytes:
        content = {"pid": os.getpid(), "boot": clock.boot_id(), "turn": self.turn, "steps": steps}
        body = json.dumps(content).encode()
        return b"%08x %s\n" % (crc32(body), body)
