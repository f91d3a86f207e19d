"""Jobs of a server, each in a process of its own.

A dream goes through everything that was recalled. In the process of a server it would take turns with
every search, and the memory it needs would stay with the server for good. A process of its own gives
all of it back, and may use another core. It ends when the server does.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection, Pipe
from subprocess import DEVNULL, Popen
from typing import NoReturn, TypeVar, cast

from memolith.errors import JobFailedError, MemolithError
from memolith.memory import Memory
from memolith.opened import open_with
from memolith.own_program import can_start, command
from memolith.types import Progress

T = TypeVar("T")
# Who waits for a job waits for seconds; who waits for a search, for milliseconds.
_NICER = 5
_READY, _STEP, _DONE, _FAILED = "ready", "step", "done", "failed"


def apart(
    memory: Memory,
    work: Callable[..., T],
    *,
    progress: Progress | None = None,
    **options: object,
) -> T:
    """Do what a method of `Jobs` does, as in `apart(memory, Jobs.dream, dry_run=True)`.

    `progress` is told of each step while the job waits, and may raise to stop it there. A clock that
    somebody moves cannot be handed over: then, or if no process can be had, the job runs here.
    """
    started = _start() if memory.jobs.clock.is_real else None
    if started is None:
        if progress is not None:
            options = {**options, "progress": progress}
        return work(memory.jobs, **options)
    with started as link:
        try:
            # Not the memory itself: it may be of a class that only this process knows.
            link.send((memory.__getstate__(), work, options, progress is not None))
            return cast("T", _answer(link, progress))
        except (EOFError, ConnectionError) as error:
            raise _gone(started.process.wait()) from error


def do_job() -> None:
    """What the other process does."""
    link = Connection(int(sys.argv[4]))
    os.nice(_NICER)
    link.send(_READY)
    state, work, options, tells = link.recv()
    server = _Server(link)
    if tells:
        options["progress"] = server.may_we_go_on
    with open_with(Memory, state) as memory:
        try:
            answer = (_DONE, work(memory.jobs, **options))
        except MemolithError as error:
            answer = (_FAILED, error)
    link.send(answer)


class _Server:
    """Who asked for the job, as the job sees it: without the server, nobody wants it any more."""

    def __init__(self, link: Connection) -> None:
        self._link = link
        self._agreed = threading.Semaphore(0)
        threading.Thread(target=self._listen, daemon=True).start()

    def may_we_go_on(self, done: int, total: int) -> None:
        """Tell how far we are, and wait for the answer."""
        self._link.send((_STEP, (done, total)))
        self._agreed.acquire()

    def _listen(self) -> NoReturn:
        try:
            while True:
                self._link.recv()
                self._agreed.release()
        except (EOFError, OSError):
            os._exit(1)  # files are safe at any moment


class _Started:
    """The other process, which is ready; it ends at the end of the `with`."""

    def __init__(self, process: Popen[bytes], link: Connection) -> None:
        self.process = process
        self._link = link

    def __enter__(self) -> Connection:
        """The way to it."""
        return self._link

    def __exit__(self, *_: object) -> None:
        """End it, if it has not ended yet."""
        self._link.close()
        self.process.kill()
        self.process.wait()


def _start() -> _Started | None:
    """Another process, or None if there can be none: no Python, no room, or it does not find our code."""
    if not can_start():
        return None
    ours, theirs = Pipe()
    with theirs:
        end = theirs.fileno()
        try:
            process = Popen(  # noqa: S603 - ourselves
                command(__name__, do_job.__name__, str(end)),
                stdin=DEVNULL,
                stdout=DEVNULL,  # ours may carry the protocol
                pass_fds=[end],
                start_new_session=True,  # Ctrl-C is for us
            )
        except OSError:
            ours.close()
            return None
    started = _Started(process, ours)
    try:
        ours.recv()
    except (EOFError, OSError):
        started.__exit__()
        return None
    return started


def _answer(link: Connection, progress: Progress | None) -> object:
    while True:
        kind, said = link.recv()
        if kind == _DONE:
            return said
        if kind == _FAILED:
            raise said
        if progress is not None:
            progress(*said)
        link.send(True)


def _gone(code: int) -> JobFailedError:
    return JobFailedError(
        f"The process that ran the job has ended before it was done, with exit code {code}.",
        hint="Its log may say why. Every file is as it was, or wholly changed: run it again.",
    )
