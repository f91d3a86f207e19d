"""Commands that run until they are stopped: servers, and the schedule of jobs."""

from __future__ import annotations

import errno
import os
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import click

from memolith.cli import output
from memolith.cli.exit_codes import UsageError
from memolith.cli.options import COUNT, Call, Choice, command
from memolith.errors import ConfigError, MemolithError

if TYPE_CHECKING:
    from memolith.config.setting import Value
    from memolith.jobs.reports import JobReport
    from memolith.memory import Memory

_LEVELS = ("debug", "info", "warning", "error")
_M_ARENA_MAX = -8  # of glibc's malloc.h
_MAX_ARENAS = 2


@command(
    examples="""\
memolith mcp
memolith mcp --tools all
memolith mcp --profile work --tools memory_search,memory_get
memolith mcp --http --port 8789"""
)
@click.option(
    "--tools",
    metavar="NAMES",
    help="core (default), all, or names with commas between them; also the setting mcp.tools",
)
@click.option(
    "--http",
    is_flag=True,
    help="serve over HTTP instead, on this machine, to callers with the token",
)
@click.option("--port", metavar="N", type=COUNT, help="with --http; 0 takes any free one")
@click.pass_obj
def mcp(call: Call, tools: str | None, http: bool, port: int | None) -> None:
    """Serve an agent over the Model Context Protocol, on standard input and output.

    Agent programs start this by themselves; see docs/mcp.md.
    """
    if port is not None and not http:
        raise UsageError("--port is for --http.", hint="memolith mcp --http --port 8789")
    given = _given({"mcp.tools": tools, "serve.port": port})

    def open_memory() -> Memory:
        return call.open(reads=True, settings=given, channel="mcp")

    with open_memory() as memory:
        is_named = memory.profile.found_by in ("argument", "environment")
        if http or is_named:  # else the roots of the client may lead to another memory
            make_if_new(memory)
        share_heap()
        if http:
            _serve_mcp_over_http(call, memory)
            return
        from memolith.mcp_server.roots import ClientRoots
        from memolith.mcp_server.server import MemoryServer
        from memolith.mcp_server.transport import serve as serve_stdio

        roots = None if is_named else ClientRoots(memory, open_memory)
        serve_stdio(MemoryServer(memory, roots, keeps_schedule=True))


def _serve_mcp_over_http(call: Call, memory: Memory) -> None:
    sock = listen(memory.config.serve.host, memory.config.serve.port)
    from memolith.jobs.server_files import server_token
    from memolith.mcp_server.transport import PATH, HttpApp  # slow: only if all is well
    from memolith.rest.guard import Guard
    from memolith.rest.running import run, set_up_logs

    set_up_logs("warning")
    server_token(memory.root, memory.config.store)
    app = HttpApp(memory, keeps_schedule=True)
    guard = Guard(app, memory, sock.getsockname()[1], app.end_streams)
    run(guard, sock, lambda: announce(call, memory, sock, path=PATH))


@command(
    examples="""\
memolith serve
memolith serve --port 0 --json
memolith serve --log-level debug"""
)
@click.option("--port", metavar="N", type=COUNT, help="0 takes any free one")
@click.option("--host", metavar="ADDRESS", help="the address to listen on")
@click.option(
    "--log-level",
    metavar="LEVEL",
    type=Choice(_LEVELS),
    default="info",
    help=f"how much to write to standard error: {', '.join(_LEVELS)} (default: info)",
)
@click.pass_obj
def serve(call: Call, port: int | None, host: str | None, log_level: str) -> None:
    """Answer other programs over HTTP, until stopped by Ctrl-C.

    Only this machine can reach it, and only with the token in .memolith/server-token, which is made on
    the first start and which `memolith token` shows.
    """
    given = _given({"serve.port": port, "serve.host": host})
    with call.open(settings=given, channel="rest") as memory:
        sock = listen(memory.config.serve.host, memory.config.serve.port)
        from memolith.jobs.server_files import server_token  # slow: only if all is well
        from memolith.rest.running import serve as serve_rest
        from memolith.rest.running import set_up_logs

        make_if_new(memory)
        share_heap()
        set_up_logs(log_level)
        server_token(memory.root, memory.config.store)
        serve_rest(memory, sock, lambda: announce(call, memory, sock))


def listen(host: str, port: int) -> socket.socket:
    """Take the port before anything else is done; raises ConfigError when that is not possible."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio switches Nagle's algorithm off only where the protocol is named; with it, every answer
    # but the first of a connection waits 40 ms for the acknowledgement of its own headers.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
        sock.listen()  # until somebody does, the port can be bound by others who start now
    except OSError as error:
        sock.close()
        taken = error.errno in (errno.EADDRINUSE, errno.EACCES)
        other_port = "Choose another port: --port 0 takes any free one."
        raise ConfigError(
            f"Cannot listen on {host} port {port}: {error.strerror or error}.",
            setting="serve.port" if taken else "serve.host",
            origin="serve",
            hint=other_port if taken else "serve.host must be an address of this machine.",
        ) from error
    return sock


def _given(options: dict[str, Value | None]) -> dict[str, Value]:
    return {name: value for name, value in options.items() if value is not None}


def make_if_new(memory: Memory) -> None:
    """Make the first files of a memory that does not exist yet, if that is possible."""
    from memolith.jobs.trust import holds_memory

    if not holds_memory(memory.root):
        with suppress(MemolithError):  # the first call that writes says why
            memory.init()


def announce(call: Call, memory: Memory, sock: socket.socket, path: str = "") -> None:
    """Say where `memory` is served; people are warned if that is not this machine alone."""
    from memolith.jobs.server_files import TOKEN, note_address

    host, port = sock.getsockname()[:2]
    note_address(memory.root, host, port)
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}{path}"
    token_file = os.path.join(memory.root, TOKEN)
    if call.json:
        output.say_json({"url": url, "token_file": token_file, "pid": os.getpid()})
    else:
        output.say(output.bold("Serving"), f"  {memory.root}  at  {url}")
        output.say(f"  token   {token_file}")
        if not host.startswith("127.") and host != "::1":
            call.warn(["Others on the network can reach this, unencrypted."])
    sys.stdout.flush()


def share_heap() -> None:
    """Let threads use up each other's freed memory; to be called before they are started.

    Otherwise glibc gives nearly every thread an arena of its own, and the memory that one search needed
    for a moment is kept for the next search of that same thread: a server grew by 14 % in 90 seconds,
    now by 5 %. Where `MALLOC_ARENA_MAX` is set, or the C library is another one, nothing changes.
    """
    if "MALLOC_ARENA_MAX" in os.environ:
        return
    import ctypes

    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, _MAX_ARENAS)


@command(
    examples="""\
memolith token
memolith token --header | curl -H @- http://127.0.0.1:8788/api/v1/status
memolith token --rotate"""
)
@click.option("--header", is_flag=True, help="as the header of a request")
@click.option("--rotate", is_flag=True, help="make a new one")
@click.pass_obj
def token(call: Call, header: bool, rotate: bool) -> None:
    """Show the token that callers of `memolith serve` must send; it is made when there is none yet.

    With --rotate it is replaced: servers that are running take the new one at once, and refuse the old
    one.
    """
    from memolith.jobs.server_files import TOKEN, server_token

    with call.open() as memory:
        text = server_token(memory.root, memory.config.store, rotate=rotate)
        file = os.path.join(memory.root, TOKEN)
    if call.json:
        output.say_json({"token": text, "file": file})
    else:
        output.say(f"Authorization: Bearer {text}" if header else text)


@command(examples="memolith maintain --once\nmemolith config set compact.enabled true")
@click.option("--once", is_flag=True, help="run what is due now, and end")
@click.pass_obj
def maintain(call: Call, once: bool) -> None:
    """Run the jobs that are switched on when they are due, one after the other, until Ctrl-C.

    The switches are compact.enabled, dream.enabled and experiences.enabled. With --once, run what is due
    now and end, for cron or a systemd timer. A job that never ran is due; a run that was missed is made
    up for once. Of many processes, `memolith serve` and `memolith mcp` included, one at a time keeps the
    schedule.
    """
    from memolith.jobs.scheduler import maintain as run_due
    from memolith.jobs.scheduler import schedules

    with call.open() as memory:
        names = [schedule.job for schedule in schedules(memory.jobs)]
        if names and memory.profile.exists and not once:
            _keep_schedule(call, memory, names)
            return
        reports: Sequence[JobReport] = ()
        if names and memory.profile.exists:
            reports = run_due(memory.jobs, begin=_tell_due, tell=partial(_show, call))
    if call.json:
        output.say_json({"jobs": [report.to_dict() for report in reports]})
    elif not names:
        output.note("No job is switched on. Try: ", call.again("config set compact.enabled true"))
    elif not reports:
        output.note("Nothing is due.")


def _show(call: Call, report: JobReport) -> None:
    from memolith.cli.jobs import show_report  # loads all that jobs need

    if not call.json:
        show_report(call, report)


def _tell_due(due: Sequence[str]) -> None:
    if len(due) > 1:
        output.note(f"Due, one after the other: {', '.join(due)}.")


def _keep_schedule(call: Call, memory: Memory, names: Sequence[str]) -> None:
    import signal

    from memolith.jobs.overfull import WAITS
    from memolith.jobs.scheduler import Scheduler

    def say_turn(ours: bool) -> None:
        if ours:
            text = f"Keeping the schedule of {memory.root}: {', '.join(names)}. Ctrl-C ends it."
        else:
            text = (
                f"Another process keeps the schedule of {memory.root}."
                " This one waits, and takes over when that one ends. Ctrl-C ends the wait."
            )
        output.note(text)

    scheduler = Scheduler(
        memory.jobs,
        tell=partial(_show, call),
        turn=say_turn,
        begin=_tell_due,
        waits=lambda: output.note(f"{memory.config.profile.primary} is over its limits: {WAITS}."),
    )
    signal.signal(signal.SIGTERM, lambda *_: scheduler.has_ended.set())
    scheduler.start()
    try:
        scheduler.has_ended.wait()
    finally:
        scheduler.stop()
    if scheduler.failure is not None:
        raise scheduler.failure
