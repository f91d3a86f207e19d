"""Commands that run until they are stopped: servers, and the schedule of jobs."""

from __future__ import annotations

import errno
import os
import signal
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from copy import copy
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from memolith.cli import output
from memolith.cli.options import Call, Steps, UsageError, command
from memolith.errors import ConfigError, MemolithError, RefusedError

if TYPE_CHECKING:
    from memolith.config.setting import Value
    from memolith.jobs.reports import JobReport
    from memolith.memory import Memory


@command()
def mcp(call: Call, tools: str | None, http: bool, port: int | None) -> None:
    """Serve an agent over the Model Context Protocol, on standard input and output.

    Agent programs start this by themselves; see docs/mcp.md.

    Options:
        --tools NAMES  core (the default), all, or names of tools with commas
        --http  serve over HTTP instead, on this machine, to callers with the token
        --port N  with --http; 0 takes any free one

    Examples:
        memolith mcp
        memolith mcp --tools all
        memolith mcp --profile work --tools memory_search,memory_get
        memolith mcp --http --port 8789
    """
    if port is not None and not http:
        raise UsageError("--port is for --http.", hint="memolith mcp --http --port 8789")

    def open_memory() -> Memory:
        return _open(call, "mcp", {"mcp.tools": tools, "serve.port": port})

    with open_memory() as memory:
        is_named = memory.profile.found_by in ("argument", "environment")
        if http:
            sock = _prepare(memory, "warning")
            from memolith.mcp_server.transport import PATH, HttpApp  # slow: only if all is well
            from memolith.rest.guard import Guard
            from memolith.rest.running import run

            app = HttpApp(memory, keeps_schedule=True)
            guard = Guard(app, memory, sock.getsockname()[1], app.end_streams)
            with _answering_hooks(lambda: memory):
                run(guard, sock, lambda: call.show(announce(memory, sock, path=PATH)))
            return
        from memolith.mcp_server.server import MemoryServer
        from memolith.mcp_server.transport import serve as serve_stdio

        if is_named:  # else the roots of the client may lead to another memory
            make_if_new(memory)
        server = MemoryServer(memory, None if is_named else open_memory, keeps_schedule=True)
        with _answering_hooks(lambda: server.memory):
            serve_stdio(server)


@command()
def serve(call: Call, log_level: str, **listens: int | str | None) -> None:
    """Answer other programs over HTTP, until stopped by Ctrl-C.

    Only this machine can reach it, and only with the token in .memolith/server-token, which is made on
    the first start and which `memolith token` shows.

    Options:
        --port N  0 takes any free one
        --host ADDRESS  the address to listen on
        --log-level debug|info|warning|error  how much to write to standard error (default: info)

    Examples:
        memolith serve
        memolith serve --port 0 --json
        memolith serve --log-level debug
    """
    with _open(call, "rest", {f"serve.{name}": one for name, one in listens.items()}) as memory:
        _serve(call, memory, log_level)


@command("open")
def open_page(call: Call, link: bool) -> None:
    """Open the page in a browser, signed in: what the memory holds, why, and how to change it.

    If no server runs for this memory, one is started here and answers until Ctrl-C. The address works
    once, within a minute.

    Options:
        --link  print the address instead of opening a browser

    Examples:
        memolith open
        memolith open --link
    """
    with _open(call, "rest", {}) as memory:
        make_if_new(memory)
        if server := running_server(memory):
            call.show(_lead_to_page(memory, server, link=link))
        else:
            ready = partial(_lead_to_page, memory, link=link)
            _serve(call, memory, "warning", ready)


def running_server(memory: Memory) -> str:
    """The address of the server that runs for this memory; "" if none does."""
    from memolith.files.folder import Folder
    from memolith.jobs.checks.running import HEALTHY, health_answer
    from memolith.jobs.server_files import last_address

    with Folder(memory.root) as folder:
        address = last_address(folder)
    return _url(*address) if address and health_answer(*address) == HEALTHY else ""


def _lead_to_page(memory: Memory, server: str, *, link: bool) -> Steps:
    import webbrowser

    from memolith.web.signing_in import PageLink, file_url, write_code

    url = write_code(memory.root, server, memory.jobs.clock)
    yield PageLink(url=url)
    if link:
        output.say(url)
    # The code is in no command line, where other users could read it: the file leads there.
    elif webbrowser.open(file_url(memory.root)):
        output.report("Opened", file_url(memory.root))
    else:
        output.report("Open this", file_url(memory.root))
        output.note("No browser was found here. To print the address: memolith open --link")


def _url(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _open(call: Call, channel: str, options: dict[str, Value | None]) -> Memory:
    given = {name: value for name, value in options.items() if value is not None}
    return call.open(reads=channel == "mcp", settings=given).via(channel)


def _serve(
    call: Call, memory: Memory, log_level: str, ready: Callable[[str], Steps] | None = None
) -> None:
    """Serve over HTTP; `ready` is called with the address as soon as it answers."""
    sock = _prepare(memory, log_level)
    from memolith.rest.running import serve as serve_rest

    def begin() -> None:
        call.show(announce(memory, sock))
        if ready:
            call.show(ready(_url(*sock.getsockname()[:2])))

    with _answering_hooks(lambda: memory):
        serve_rest(memory, sock, begin)


def _answering_hooks(memory: Callable[[], Memory]) -> AbstractContextManager[None]:
    """While this process serves a memory, answer the hooks that ask about it."""
    from memolith.cli.agent import answer_warm
    from memolith.hosts.warm import answering_hooks

    return answering_hooks(memory, answer_warm, os.environ)


def _prepare(memory: Memory, log_level: str) -> socket.socket:
    """Take the port, and make what a server needs; the libraries are slow, and wait until all is well."""
    sock = listen(memory.config.serve.host, memory.config.serve.port)
    from memolith.jobs.server_files import server_token
    from memolith.rest.running import set_up_logs

    make_if_new(memory)
    set_up_logs(log_level)
    server_token(memory.root, memory.config.store)
    return sock


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
        message = f"Cannot listen on {host} port {port}: {error.strerror or error}."
        setting, hint = "serve.host", "serve.host must be an address of this machine."
        if error.errno in (errno.EADDRINUSE, errno.EACCES):
            setting, hint = "serve.port", "Any free port: --set serve.port=0"
        raise ConfigError(message, setting=setting, origin="serve", hint=hint) from error
    return sock


def make_if_new(memory: Memory) -> None:
    """Make the first files of a memory that does not exist yet, if that is possible."""
    from memolith.jobs.trust import holds_memory

    if not holds_memory(memory.root):
        with suppress(MemolithError):  # the first call that writes says why
            memory.init()


def announce(memory: Memory, sock: socket.socket, path: str = "") -> Steps:
    """Say where `memory` is served; people are warned if that is not this machine alone."""
    from memolith.jobs.server_files import TOKEN, Serving, note_address

    host, port = sock.getsockname()[:2]
    note_address(memory.root, host, port)
    token_file = os.path.join(memory.root, TOKEN)
    serving = Serving(url=_url(host, port) + path, token_file=token_file, pid=os.getpid())

    yield serving
    output.report("Serving", f"{memory.root}  at  {serving.url}", ("token", token_file))
    if not host.startswith("127.") and host != "::1":
        output.warn("Others on the network can reach this, unencrypted.")


@command()
def token(
    call: Call, choice: str | None, name: str | None, header: bool, rotate: bool, **limits: Any
) -> Steps:
    """Show the token that callers of `memolith serve` must send; it is made when there is none yet.

    With --rotate it is replaced: servers that are running take the new one at once, and refuse the old
    one.

    One server answers for many profiles of its user: `add` makes a token for a profile, with limits if they are
    given. A request with that token, over REST or MCP, uses that profile and no other. It is shown once; `add --rotate`
    replaces it.

    Options:
        [add|remove|list]  the tokens of further profiles
        [NAME]  of a profile; with add, it may be new
        --header  as the header of a request
        --rotate  make a new one; the one before is refused from then on
        --max-requests N  with add: requests a minute
        --max-records N  with add: records and notes
        --max-bytes N  with add: bytes of Markdown and chats

    Examples:
        memolith token
        memolith token --header | curl -H @- http://127.0.0.1:8788/api/v1/status
        memolith token --rotate
        memolith token add ana --max-requests 600 --max-records 10000
        memolith token remove ana
        memolith token list
    """
    from memolith.jobs.server_files import TOKEN, Token, server_token

    if choice is None:
        with call.open() as memory:
            text = server_token(memory.root, memory.config.store, rotate=rotate)
        done = Token(token=text, file=os.path.join(memory.root, TOKEN))
    else:
        from memolith.rest import tokens

        profile, loaded = call.load({}, use_default=True)
        home, store = profile.home, loaded.config.store
        grants = tokens.read_grants(os.path.join(home, tokens.FILE))
        if choice == "list":
            yield tokens.Granted(tuple(grants))
            output.listing(grants, "profile limits")
            if not grants:
                output.note("No other profile has a token yet: memolith token add NAME")
            return
        if name is None:
            raise UsageError("NAME is missing.", hint=f"memolith token {choice} ana")
        if choice == "remove":
            if not tokens.remove_grant(home, store, name):
                raise UsageError(f"{name} has no token.", hint="memolith token list")
            yield tokens.Removed(profile=name)
            output.report("Removed", f"the token of {name}")
            return
        if not rotate and any(one.profile == name for one in grants):
            message = f"{name} has a token already. Nothing was changed."
            hint = f"To replace it: memolith token add {name} --rotate"
            raise RefusedError(message, hint=hint)
        named = copy(call)
        named.profile, named.root = name, None
        with named.open(create=True) as memory:
            make_if_new(memory)
        most = tokens.Limits(**{one.removeprefix("max_"): n or 0 for one, n in limits.items()})
        done = Token(token=tokens.add_grant(home, store, name, most), profile=name)
    yield done
    output.say(f"Authorization: Bearer {done.token}" if header else done.token)


@command()
def maintain(call: Call, once: bool, all_: bool) -> Steps:
    """Run the jobs that are switched on when they are due, one after the other, until Ctrl-C.

    The switches are compact.enabled, dream.enabled and experiences.enabled. With --once, run what is due
    now and end, for cron or a systemd timer. A job that never ran is due; a run that was missed is made
    up for once. Of many processes, `memolith serve` and `memolith mcp` included, one at a time keeps the
    schedule.

    Options:
        --once  run what is due now, and end
        --all  keep every profile of this user

    Examples:
        memolith maintain --once
        memolith config set compact.enabled true
    """
    from memolith.cli.jobs import show_report  # loads all that jobs need
    from memolith.config.sections import scheduled_jobs
    from memolith.jobs.reports import JobList
    from memolith.jobs.scheduler import maintain as run_due

    def show(news: JobReport | str) -> None:
        if isinstance(news, str):
            output.note(news)
        elif not call.json:
            show_report(call, news)

    reports: list[JobReport] = []
    with ExitStack() as stack:
        memories: list[Memory] = []
        for one in _profiles(call) if all_ else [call]:
            with _keeping(call, one.profile, of_many=all_):
                memories.append(stack.enter_context(one.open()))
        is_on = any(scheduled_jobs(one.config) for one in memories)
        kept = [one for one in memories if one.profile.exists and scheduled_jobs(one.config)]
        if kept and not once:
            _keep_schedules(kept, show)
            return
        for memory in kept:
            if all_:
                output.note(f"{memory.profile.name}:")
            with _keeping(call, memory.profile.name, of_many=all_):
                reports += run_due(memory.jobs, show)
    yield JobList(tuple(reports))
    if not is_on:
        output.note("No job is switched on. Try: ", call.again("config set compact.enabled true"))
    elif not reports:
        output.note("Nothing is due.")


def _keep_schedules(kept: Iterable[Memory], show: Callable[[JobReport | str], None]) -> None:
    from memolith.jobs.scheduler import Scheduler

    reports: SimpleQueue[JobReport | str | None] = SimpleQueue()  # None ends it
    signal.signal(signal.SIGTERM, lambda *_: reports.put(None))
    with ExitStack() as stack:
        for memory in kept:
            scheduler = Scheduler(memory.jobs, reports.put)
            scheduler.start()
            stack.callback(scheduler.stop)
        while (one := reports.get()) is not None:
            show(one)


@contextmanager
def _keeping(call: Call, profile: str | None, *, of_many: bool) -> Iterator[None]:
    """Of many profiles, those that can be kept are kept although others cannot."""
    try:
        yield
    except MemolithError as error:
        if not of_many:
            raise
        call.failed(error)
        output.warn(f"{profile}: {error.message}")


def _profiles(call: Call) -> Iterator[Call]:
    """A call for each profile of this user."""
    if call.root or call.profile:
        raise UsageError("--all is every profile, so it goes without --root and --profile.")
    with call.open(reads=True) as memory:
        folder = os.path.join(memory.profile.home, "profiles")
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        if os.path.isdir(os.path.join(folder, name)):
            one = copy(call)
            one.profile = name
            yield one
