"""`memolith token`: show or change the token that callers of the server must send."""

from __future__ import annotations

import argparse
import os

from memolith.cli import output
from memolith.cli.opening import open_memory
from memolith.cli.usage import Arguments

HELP = """\
Show the token that callers of `memolith serve` must send; it is made when there is none yet. With
--rotate it is replaced: servers that are running take the new one at once, and refuse the old one."""
EXAMPLE = """\
memolith token
memolith token --header | curl -H @- http://127.0.0.1:8788/api/v1/status
memolith token --rotate"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    parser.add_argument("--header", action="store_true", help="as the header of a request")
    parser.add_argument("--rotate", action="store_true", help="make a new one")


def run(args: Arguments) -> int:
    """Print the token."""
    from memolith.jobs.server_files import TOKEN, server_token

    with open_memory(args) as memory:
        token = server_token(memory.root, memory.config.store, rotate=args.rotate)
        file = os.path.join(memory.root, TOKEN)
    if args.json:
        output.say_json({"token": token, "file": file})
    else:
        output.say(f"Authorization: Bearer {token}" if args.header else token)
    return 0
