"""The part of docs/cli.md that is made from the code. To write it again: python -m tests.cli.reference"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from inspect import cleandoc
from pathlib import Path

import click

from memolith.cli.main import COMMANDS, find, memolith
from memolith.cli.options import GLOBAL_OPTIONS

DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "cli.md"
START = "<!-- made from the code: python -m tests.cli.reference -->\n"
END = "<!-- end of what is made from the code -->\n"


def reference() -> str:
    """Every command with its arguments, and the options of all; `--help` has examples too."""
    return "\n".join([*_options_of_all(), *(line for name in COMMANDS for line in _command(name))])


def _options_of_all() -> Iterator[str]:
    yield "### Options of every command\n"
    yield "They may come before or after the command.\n"
    yield from _list(GLOBAL_OPTIONS, click.Context(memolith))


def _command(name: str) -> Iterator[str]:
    command = find(name)
    yield f"### memolith {name}\n"
    yield f"{cleandoc(command.help or '')}\n"
    context = click.Context(command)
    yield from _list([one for one in command.params if one not in GLOBAL_OPTIONS], context)
    if isinstance(command, click.Group):
        for action in command.commands.values():
            yield f"`{name} {action.name}`: {cleandoc(action.help or '')}\n"
            own = [one for one in action.params if one not in GLOBAL_OPTIONS]
            yield from _list(own, click.Context(action))


def _list(params: Sequence[click.Parameter], context: click.Context) -> Iterator[str]:
    rows = [row for param in params if (row := param.get_help_record(context))]
    yield from (f"- `{name}`: {text}" for name, text in rows)
    if rows:
        yield ""


def with_reference(document: str) -> str:
    """The document with the reference as the code has it now."""
    before, _, rest = document.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n{reference()}{END}{after}"


if __name__ == "__main__":
    DOCUMENT.write_text(with_reference(DOCUMENT.read_text("utf-8")), "utf-8")
