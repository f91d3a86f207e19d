"""What the lock file says: the intent of a writer at work, and how many lines files have.

The line counts make a citation (`memory/2026-11-15.md#L12`) cost the same in a file of a million
lines: they are believed only for a file whose stamp is still the one we left, in the same boot.
"""

from __future__ import annotations

import json
import os
from binascii import crc32
from collections.abc import Iterator, Sequence
from json.encoder import encode_basestring_ascii as _quoted

from memolith import clock
from memolith.errors import FileFormatError
from memolith.files.folder import stamp_of
from memolith.files.locks import LOCK_PATH
from memolith.files.steps import Append, Step, spelled_bytes, step_from_json
from memolith.types import Stamp

FileState = list[int]  # inode, size, mtime and number of lines, as JSON spells them

# MEMORY.md, the chat history, and the daily logs of two days around midnight.
FILES_KEPT = 4
_PIECE = 1 << 20
_EMPTY = [0, 0, 0, 0]
_FOUR_NUMBERS = [int] * 4


class LockState:
    """The content of the lock file."""

    __slots__ = ("boot", "files", "steps", "turn")

    def __init__(
        self, boot: str, steps: list[list[object]], files: dict[str, FileState], turn: int = 0
    ) -> None:
        """`files` are as we left them; `turn` counts the changes, and tells whether one was the last."""
        self.boot = boot
        self.steps = steps
        self.files = files
        self.turn = turn

    @classmethod
    def decode(cls, data: bytes) -> LockState:
        """Read the lock file; what is half-written is no intent, because nothing followed it yet."""
        line, newline, _ = data.partition(b"\n")
        checksum, _, body = line.partition(b" ")
        if not newline or checksum != b"%08x" % crc32(body):
            return cls("", [], {})
        content = json.loads(body.decode())
        known = content if isinstance(content, dict) else {}
        boot, steps, turn = known.get("boot"), known.get("steps"), known.get("turn")
        if isinstance(boot, str) and isinstance(steps, list):
            # After a power cut a file may have the size and time we left it with, and zeros inside.
            files = _file_states(known.get("files")) if boot == clock.boot_id() else {}
            return cls(boot, steps, files, turn if type(turn) is int else 0)
        raise FileFormatError(
            f"{LOCK_PATH} was written by a newer Memolith, whose unfinished work we cannot read.",
            path=LOCK_PATH,
            hint="Use that version, or update this one.",
        )

    def unfinished(self) -> Iterator[Step]:
        """The steps a writer of this boot left unfinished when it died."""
        if not self.steps or self.boot != clock.boot_id():
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
        """The lock file's content while `steps` are being done: without line counts, because
        whoever finishes them for us has to count anew.
        """
        return self._encode(", ".join(_spelled_steps(steps)), "")

    def after(self, steps: Sequence[Step]) -> bytes:
        """The lock file's content once `steps` are done, and nothing is left to finish."""
        self.steps = []
        for step in steps:
            if isinstance(step, Append) and step.fd is not None:
                lines = self.files.pop(step.path, _EMPTY)[3] + step.data.count(b"\n")
                self.files[step.path] = [*stamp_of(os.fstat(step.fd)), lines]
        while len(self.files) > FILES_KEPT:
            del self.files[next(iter(self.files))]
        self.turn += 1
        known = [f"{_quoted(path)}: {state}" for path, state in self.files.items()]
        return self._encode("", ", ".join(known))

    def forget_file(self, path: str) -> None:
        """What stood under this name is gone."""
        self.files.pop(path, None)

    def lines_of(self, path: str, found: Stamp) -> int | None:
        """How many lines a file has, if it is still as we left it; else None."""
        known = self.files.get(path)
        return known[3] if known is not None and known[:3] == [*found] else None

    def count_lines(self, step: Append, found: Stamp) -> int:
        """Count the newlines before the step, in a file that is not as we left it."""
        pieces = (
            os.pread(step.fd or 0, min(_PIECE, step.size - at), at)
            for at in range(0, step.size, _PIECE)
        )
        lines = sum(piece.count(b"\n") for piece in pieces)
        self.files[step.path] = [*found, lines]
        return lines

    def _encode(self, steps: str, files: str) -> bytes:
        body = (
            f'{{"pid": {os.getpid()}, "boot": {_quoted(clock.boot_id())}, "turn": {self.turn},'
            f' "steps": [{steps}], "files": {{{files}}}}}'
        ).encode()
        return b"%08x %s\n" % (crc32(body), body)


def _file_states(content: object) -> dict[str, FileState]:
    """What is known of files; only hints, so anything odd is simply not known."""
    if not isinstance(content, dict):
        return {}
    return {
        path: state
        for path, state in content.items()
        if isinstance(state, list) and [*map(type, state)] == _FOUR_NUMBERS
    }


def _spelled_steps(steps: Sequence[Step]) -> Iterator[str]:
    """The steps as JSON. Written out by hand, because this is on the way of every record, and a
    line that goes into two files is spelled once.
    """
    data, spelled = b"", '""'
    for step in steps:
        if not isinstance(step, Append):
            yield json.dumps(step.as_json())
            continue
        if step.data is not data:
            data, spelled = step.data, _quoted(spelled_bytes(step.data))
        yield f'["append", {_quoted(step.path)}, {step.inode}, {step.size}, {spelled}]'
