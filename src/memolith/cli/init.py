"""`memolith init`: make the files of a new memory."""

from __future__ import annotations

import argparse

from memolith.cli import output
from memolith.cli.opening import open_memory
from memolith.cli.usage import Arguments

HELP = """\
Make the folder of a memory, with MEMORY.md, USER.md and memolith.toml in it, so that commands run below
the folder use it. Files that are there stay as they are.
Other commands make what they need by themselves, except a profile with a name of its own."""
EXAMPLE = """\
memolith init
memolith init --profile work
memolith init --root ~/notes/memory"""


def configure(_parser: argparse.ArgumentParser) -> None:
    """It has no arguments of its own."""


def run(args: Arguments) -> int:
    """Make the files and print their names."""
    with open_memory(args, create=True) as memory:
        made = memory.init()
        if args.json:
            output.say_json({"profile": memory.profile.name, "root": memory.root, "made": made})
            return 0
        for path in made:
            output.say(output.bold("Made"), f"  {path}")
        output.say(
            "This memory is in " if made else "Everything was there already, in ", memory.root
        )
    return 0
