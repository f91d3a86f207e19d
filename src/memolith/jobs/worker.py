"""Jobs of a server, each in a child process.

A dream reads everything that was recalled. In the process of a server it would slow down every search,
and the memory it needs would never be given back. The child is `memolith jobs run NAME --json`: no fork of a
process with threads, and no second run of the user's main module. It ends when the server does.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from functools import cache
from multiprocessing.connection import Connection, Pipe
from subprocess import DEVNULL, Popen
from typing import NoReturn, TypeVar, cast

from memolith.errors import JobFailedError, MemolithError
from memolith.jobs.api import Jobs
from memolith.reports import SyncReport
from memolith.types import Progress

T = TypeVar("T")
_NICENESS = 5  # a caller waits seconds for a job, but milliseconds for a search
_READY, _STEP, _DONE, _FAILED = "ready", "step", "done", "failed"
_COMMAND = ("-P", "-m", "memolith", "jobs", "run")


def run_in_process(
    jobs: Jobs, work: Callable[..., T], *, progress: Progress | None = None, **options: object
) -> T:
    """Run a method of `Jobs`, as in `run_in_process(memory.jobs, Jobs.dream, dry_run=True)`.

    `progress` is called at each step while the job waits, and may raise to stop it there. A clock that
    a test moves cannot be sent: then, or if no process can be started, the job runs here.
    """
    name = str(options.get("name", work.__name__))
    started = _start(name) if jobs.clock.is_real else None
    if started is None:
        if progress is not None:
            options = {**options, "progress": progress}
        return work(jobs, **options)
    with started as link:
        try:
            link.send((jobs.store, jobs.channel, work, options, progress is not None))
            return cast("T", _answer(link, progress))
        except (EOFError, ConnectionError) as error:
            raise _gone(started.process.wait()) from error


def rebuild_index(jobs: Jobs) -> SyncReport:
    """Delete the index and make it again: work for `run_in_process`."""
    jobs.store.existing().close()
    return jobs._finder().index.rebuild()  # noqa: SLF001 - our own class


def can_start_python() -> bool:
    """Whether there is a Python to start: inside another program, the executable may be that program."""
    return os.path.basename(sys.executable or "").startswith("python")


def serve(handle: int) -> None:
    """What the child process does: one job, with the settings that come through the pipe."""
    from memolith.finder import Finder

    link = Connection(handle)
    os.nice(_NICENESS)
    link.send(_READY)
    store, channel, work, options, reports_progress = link.recv()
    server = _Server(link)
    if reports_progress:
        options["progress"] = server.may_go_on
    jobs = Jobs(store, channel, cache(lambda: Finder(store.root, store.config, store.clock)))
    try:
        answer = (_DONE, work(jobs, **options))
    except MemolithError as error:
        answer = (_FAILED, error)
    link.send(answer)


class _Server:
    """The process that asked for the job; when it ends, so does the job."""

    def __init__(self, link: Connection) -> None:
        self._link = link
        self._agreed = threading.Semaphore(0)
        threading.Thread(target=self._listen, daemon=True).start()

    def may_go_on(self, done: int, total: int) -> None:
        """Report a step, and wait for the answer."""
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
    """A child process that is ready; it ends with the `with` block."""

    def __init__(self, process: Popen[bytes], link: Connection) -> None:
        self.process = process
        self._link = link

    def __enter__(self) -> Connection:
        return self._link

    def __exit__(self, *_: object) -> None:
        self._link.close()
        self.process.kill()
        self.process.wait()


def _start(name: str) -> _Started | None:
    """A child process, or None if there can be none: no Python, no room, or it does not find our code."""
    if not can_start_python():
        return None
    ours, theirs = Pipe()
    with theirs:
        end = theirs.fileno()
        try:
            process = Popen(  # noqa: S603 - ourselves
                [sys.executable, *_COMMAND, name, "--json", "--link", str(end)],
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
        kind, content = link.recv()
        if kind == _DONE:
            return content
        if kind == _FAILED:
            raise content
        if progress is not None:
            progress(*content)
        link.send(True)


def _gone(code: int) -> JobFailedError:
    return JobFailedError(
        f"The process that ran the job has ended before it was done, with exit code {code}.",
        hint="Its log may say why. Every file is as it was, or wholly changed: run it again.",
    )
