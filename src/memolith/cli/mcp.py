"""`memolith mcp`: serve agents that speak the Model Context Protocol."""

from __future__ import annotations

from memolith.cli.opening import open_memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from memolith.cli.usage import Arguments
    from memolith.settings import Value

HELP = (
    "Serve an agent over the Model Context Protocol, on standard input and output."
    " Agent programs start this by themselves; see docs/mcp.md."
)
EXAMPLE = """\
memolith mcp
memolith mcp --tools all
memolith mcp --profile work --tools memory_search,memory_get"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    parser.add_argument(
        "--tools",
        metavar="NAMES",
        help="core (default), all, or names with commas between them; also the setting mcp.tools",
    )


def run(args: Arguments) -> int:
    """Serve until the client goes."""
    settings: dict[str, Value] = {"mcp.tools": args.tools} if args.tools else {}
    memory = open_memory(args, settings=settings, channel="mcp")

    from memolith.mcp_server.server import MemoryServer
    from memolith.mcp_server.stdio import serve

    serve(MemoryServer(memory))
    return 0
