"""`memolith mcp`: serve agents that speak the Model Context Protocol."""

from __future__ import annotations

import argparse

from memolith.cli.heap import share_heap
from memolith.cli.opening import make_if_new, open_memory
from memolith.cli.usage import Arguments, UsageError, whole_number
from memolith.config.setting import Value
from memolith.memory import Memory

HELP = (
    "Serve an agent over the Model Context Protocol, on standard input and output."
    " Agent programs start this by themselves; see docs/mcp.md."
)
EXAMPLE = """\
memolith mcp
memolith mcp --tools all
memolith mcp --profile work --tools memory_search,memory_get
memolith mcp --http --port 8789"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    parser.add_argument(
        "--tools",
        metavar="NAMES",
        help="core (default), all, or names with commas between them; also the setting mcp.tools",
    )
    parser.add_argument(
        "--http",
        action="store_true",
        help="serve over HTTP instead, on this machine, to callers with the token",
    )
    parser.add_argument(
        "--port", metavar="N", type=whole_number, help="with --http; 0 takes any free one"
    )


def run(args: Arguments) -> int:
    """Serve until the client goes, which ends the process; over HTTP until we are told to stop."""
    if args.port is not None and not args.http:
        raise UsageError("--port is for --http.", hint="memolith mcp --http --port 8789")
    options = {"mcp.tools": args.tools, "serve.port": args.port}
    given: dict[str, Value] = {name: value for name, value in options.items() if value is not None}
    with open_memory(args, settings=given, channel="mcp") as memory:
        named = memory.profile.found_by in ("argument", "environment")
        if args.http or named:  # else the roots of the client may lead to another memory
            make_if_new(memory)
        share_heap()
        if args.http:
            _serve_http(memory, as_json=args.json)
        else:
            from memolith.mcp_server.roots import ClientRoots
            from memolith.mcp_server.server import MemoryServer
            from memolith.mcp_server.stdio import serve

            roots = ClientRoots(memory, lambda: open_memory(args, settings=given, channel="mcp"))
            serve(MemoryServer(memory, None if named else roots, keeps_schedule=True))
    return 0


def _serve_http(memory: Memory, *, as_json: bool) -> None:
    from memolith.cli.announcing import announce
    from memolith.jobs.server_files import server_token
    from memolith.rest.running import listen, run, set_up_logs

    sock = listen(memory.config.serve.host, memory.config.serve.port)
    from memolith.mcp_server.http import PATH, http_app  # slow: only if all is well
    from memolith.rest.guard import Guard
    from memolith.rest.metrics import Metrics

    set_up_logs("warning")
    server_token(memory.root, memory.config.store)
    app = http_app(memory, keeps_schedule=True)
    guard = Guard(app, memory, Metrics(), sock.getsockname()[1], app.end_streams)
    run(guard, sock, lambda: announce(memory, sock, as_json=as_json, path=PATH))
