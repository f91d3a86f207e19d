"""`memolith relationships`: what is known of people, places and habits, in groups."""

from __future__ import annotations

import argparse

from memolith.cli import output
from memolith.cli.opening import here, open_memory, warn_of_damage
from memolith.cli.usage import Arguments, whole_number
from memolith.mcp_server.json_shapes import relationships_json
from memolith.text.cleaning import one_line
from memolith.text.wording import counted

HELP = "Show experiences, preferences and decisions in groups: by name, by category, or by session."
EXAMPLE = """\
memolith relationships
memolith relationships --by category"""

_NOTHING_YET = "Nothing to group yet. Take experiences in: memolith experiences extract"


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    parser.add_argument(
        "--by",
        choices=("entity", "category", "session"),
        default="entity",
        help="how to group (default: entity, the names in the texts)",
    )
    parser.add_argument(
        "--limit", metavar="N", type=whole_number, default=20, help="how many groups (default: 20)"
    )


def run(args: Arguments) -> int:
    """Print the groups."""
    with open_memory(args) as memory:
        found = memory.jobs.relationships()
    if args.json:
        output.say_json(relationships_json(found))
        return 0
    groups = getattr(found, f"by_{args.by}")
    for name in list(groups)[: args.limit]:
        output.say(output.bold(name), f"  {counted(len(groups[name]), 'record')}")
        for record in groups[name][-3:]:
            output.say(f"  {record.created.date()}  {one_line(record.text)[:100]}")
    if not groups:
        output.note(here(args, _NOTHING_YET))
    warn_of_damage(args, found.warnings)
    return 0
