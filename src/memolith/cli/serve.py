"""`memolith serve`: answer other programs over HTTP, on this machine."""

from __future__ import annotations

import argparse

from memolith.cli.heap import share_heap
from memolith.cli.opening import make_if_new, open_memory
from memolith.cli.usage import Arguments, whole_number
from memolith.config.setting import Value

HELP = """\
Answer other programs over HTTP, until stopped by Ctrl-C. Only this machine can reach it, and only with
the token in .memolith/server-token, which is made on the first start and which `memolith token` shows."""
EXAMPLE = """\
memolith serve
memolith serve --port 0 --json
memolith serve --log-level debug"""

_LEVELS = ("debug", "info", "warning", "error")


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    parser.add_argument("--port", metavar="N", type=whole_number, help="0 takes any free one")
    parser.add_argument("--host", metavar="ADDRESS", help="the address to listen on")
    parser.add_argument(
        "--log-level", choices=_LEVELS, default="info", help="how much to write to standard error"
    )


def run(args: Arguments) -> int:
    """Serve until we are told to stop."""
    from memolith.cli.announcing import announce
    from memolith.jobs.server_files import server_token
    from memolith.rest.running import listen, serve, set_up_logs

    options = {"serve.port": args.port, "serve.host": args.host}
    given: dict[str, Value] = {name: value for name, value in options.items() if value is not None}
    with open_memory(args, settings=given, channel="rest") as memory:
        sock = listen(memory.config.serve.host, memory.config.serve.port)
        make_if_new(memory)
        share_heap()
        set_up_logs(args.log_level)
        server_token(memory.root, memory.config.store)
        serve(memory, sock, lambda: announce(memory, sock, as_json=args.json))
    return 0
