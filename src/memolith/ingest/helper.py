"""A second process that has the model work through a large sync, so that two cores have work.

This one reads the files, takes them apart into terms and stores them. So each process learns new words
for one purpose; by turns, both would have to learn all of them for both.

A program of its own, started like any command: no fork of a process with threads, no second run of the
user's main module. It ends when its input does, so it never outlives us; and whatever goes wrong with it
only means that we go on alone.
"""

from __future__ import annotations

import marshal
import os
import select
import struct
import sys
from collections.abc import Sequence

import numpy as np

from memolith import clock
from memolith.ingest.child_process import can_start_python, python_command
from memolith.ingest.preparing import Said, embed, spell
from memolith.interfaces import Embedder, Vectors

# To start it takes as long as it gains in a megabyte or two.
MUCH_BYTES = 5_000_000
_PATIENCE_SECONDS = 60.0
_LENGTH = struct.Struct("<Q")
_MOST_BYTES = 1 << 31


class HelperError(Exception):
    """The helper cannot be relied on; private, because nobody but a sync meets it."""


class Helper:
    """The second process, for one batch at a time."""

    def __init__(self, model: str) -> None:
        """Start it; `model` is the name of the model it must have too."""
        import subprocess

        self._model = model
        self._welcomed = False
        self._process = subprocess.Popen(  # noqa: S603 - ourselves
            python_command(__name__, serve.__name__),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,  # Ctrl-C is for us
        )
        if self._process.stdin is None or self._process.stdout is None:
            raise OSError("no pipes")
        self._into, self._out_of = self._process.stdin, self._process.stdout
        os.set_blocking(self._into.fileno(), False)

    def give(self, chunks: Sequence[Said]) -> None:
        """Have a batch prepared; raises HelperError."""
        self._write(marshal.dumps([tuple(chunk) for chunk in chunks]))

    def take(self) -> tuple[list[Vectors], list[bytes]]:
        """The vectors and tokens of the batch; raises HelperError."""
        if not self._welcomed:
            if self._read().decode(errors="replace") != self._model:
                raise HelperError("another model")
            self._welcomed = True
        try:
            # From the pipe of a process that we started and that runs our own code.
            vectors, dimensions, tokens = marshal.loads(self._read())  # noqa: S302
            rows = np.frombuffer(vectors, np.float32).reshape(len(tokens), dimensions)
        except (ValueError, TypeError, EOFError) as error:
            raise HelperError("no answer to our question") from error
        return list(rows), tokens

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.communicate()

    def _write(self, data: bytes) -> None:
        pipe, deadline = self._into, clock.monotonic() + _PATIENCE_SECONDS
        left = memoryview(_LENGTH.pack(len(data)) + data)
        while left:
            ready = _is_ready(pipe.fileno(), select.POLLOUT, deadline)
            try:
                left = left[(pipe.write(left) or 0) if ready else _no_answer() :]
            except OSError as error:
                raise HelperError("it is gone") from error

    def _read(self) -> bytes:
        deadline = clock.monotonic() + _PATIENCE_SECONDS
        (length,) = _LENGTH.unpack(self._read_bytes(_LENGTH.size, deadline))
        if length > _MOST_BYTES:
            raise HelperError("no answer to our question")
        return self._read_bytes(length, deadline)

    def _read_bytes(self, size: int, deadline: float) -> bytes:
        pipe, data = self._out_of.fileno(), bytearray()
        while len(data) < size:
            ready = _is_ready(pipe, select.POLLIN, deadline)
            piece = os.read(pipe, size - len(data)) if ready else b""
            if not piece:
                raise HelperError("it is gone, or too slow")
            data += piece
        return bytes(data)


def _is_ready(pipe: int, event: int, deadline: float) -> bool:
    """Wait until a pipe can be read or written; `select.select` knows only the first 1,024 files."""
    poll = select.poll()
    poll.register(pipe, event)
    return bool(poll.poll(max(0.0, deadline - clock.monotonic()) * 1000))


def start_helper(changed_bytes: int, embedder: Embedder | None) -> Helper | None:
    """A helper if there is enough to do, a second core, and a model that it can have as well."""
    if changed_bytes < MUCH_BYTES or embedder is None or embedder.is_remote or _cores() < 2:
        return None
    if not can_start_python():
        return None
    try:
        return Helper(embedder.name)
    except OSError:
        return None


def serve() -> None:
    """What the second process does: prepare batch after batch until there is no more input."""
    from memolith.embed.static_model import StaticModel

    model = StaticModel()
    _answer(model.name.encode())
    source = sys.stdin.buffer
    while head := source.read(_LENGTH.size):
        chunks = marshal.loads(source.read(*_LENGTH.unpack(head)))  # noqa: S302 - from our parent
        said = [Said(*chunk) for chunk in chunks]
        vectors = np.array(embed(model, said, []), np.float32)
        _answer(marshal.dumps((vectors.tobytes(), model.dimensions, spell(model, said))))


def _answer(data: bytes) -> None:
    sys.stdout.buffer.write(_LENGTH.pack(len(data)) + data)
    sys.stdout.buffer.flush()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _no_answer() -> int:
    raise HelperError("it does not read")
