"""The help: an overview of all commands, and the help of one."""

from __future__ import annotations

from memolith.cli.commands import COMMANDS, GROUPS, load, parser_of
from memolith.cli.usage import GLOBAL_OPTIONS, terminal_width

_OVERVIEW = """\
usage: memolith COMMAND [options]

Long-term memory for AI agents, in Markdown files you own.

{commands}

options of every command, before or after it:
{options}

example:
  memolith remember "Ana owns the release key"

Help on one command: memolith COMMAND --help"""


def overview() -> str:
    """Every command in one line each, by what it is for."""
    width = max(map(len, COMMANDS)) + 2
    groups = (
        "\n".join([f"{purpose}:", *(f"  {name:{width}}{line}" for name, line in commands.items())])
        for purpose, commands in GROUPS.items()
    )
    return _OVERVIEW.format(commands="\n\n".join(groups), options=global_options())


def command_help(name: str) -> str:
    """The help of one command, with its example."""
    from textwrap import fill

    parser = parser_of(name, load(name))
    parser.description = fill(parser.description or "", min(100, terminal_width()))
    parser.epilog = f"options of every command:\n{global_options()}\n\n{parser.epilog}"
    return parser.format_help().rstrip()


def global_options() -> str:
    """The options every command takes, a line each."""
    return "\n".join(
        f"  {f'{option} {metavar}'.rstrip():20}{text}" for option, metavar, text in GLOBAL_OPTIONS
    )
