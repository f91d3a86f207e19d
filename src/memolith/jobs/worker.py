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
from contextlib import suppress
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
_POLL_SECONDS = 0.1
_READY = "ready"
_COMMAND = ("-P", "-m", "memolith", "jobs", "run")


def run_in_process(
    jobs: Jobs, work: Callable[..., T], *, progress: Progress | None = None, **options: object
) -> T:
    """Run a method of `Jobs`, as in `run_in_process(memory.jobs, Jobs.dream, dry_run=True)`.

    `progress` is called again and again until it is done, and may raise: then the process is killed, and every
    file is as it was, or wholly changed. A clock that a test moves cannot be sent: then, or if no process can
    be started, the job runs here.
    """
    started = _start(str(options.get("name", work.__name__))) if jobs.clock.is_real else None
    if started is None:
        return work(jobs, **options)
    process, link = started
    try:
        link.send((jobs.store, jobs.channel, work, options))
        while progress is not None and not link.poll(_POLL_SECONDS):
            progress(0, 1)
        result = link.recv()
    except (EOFError, ConnectionError) as error:
        code = process.wait()
        raise JobFailedError(
            f"The process that ran the job has ended before it was done, with exit code {code}.",
            hint="Its log may say why. Every file is as it was, or wholly changed: run it again.",
        ) from error
    finally:
        _end(process, link)
    if isinstance(result, MemolithError):
        raise result
    return cast("T", result)


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
    store, channel, work, options = link.recv()

    def end_with_the_server() -> NoReturn:
        with suppress(EOFError, OSError):
            link.recv()
        os._exit(1)  # files are safe at any moment

    threading.Thread(target=end_with_the_server, daemon=True).start()
    jobs = Jobs(store, channel, cache(lambda: Finder(store.root, store.config, store.clock)))
    try:
        link.send(work(jobs, **options))
    except MemolithError as error:
        link.send(error)


def _start(name: str) -> tuple[Popen[bytes], Connection] | None:
    """A child process that is ready, or None if there can be none: no Python, no room, or not our code."""
    if not can_start_python():
        return None
    ours, theirs = Pipe()
    try:
        process = Popen(  # noqa: S603 - ourselves
            [sys.executable, *_COMMAND, name, "--json", "--link", str(theirs.fileno())],
            stdin=DEVNULL,
            stdout=DEVNULL,  # ours may carry the protocol
            pass_fds=[theirs.fileno()],
            start_new_session=True,  # Ctrl-C is for us
        )
    except OSError:
        ours.close()
        return None
    finally:
        theirs.close()
    with suppress(EOFError, OSError):
        ours.recv()
        return process, ours
    _end(process, ours)
    return None


def _end(process: Popen[bytes], link: Connection) -> None:
    link.close()
    process.kill()
    process.wait()
