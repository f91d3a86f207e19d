"""The part of docs/cli.md that is made from the code. To write it anew: python -m tests.cli.reference"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from memolith.cli.commands import COMMANDS, load, parser_of
from memolith.cli.usage import GLOBAL_OPTIONS

DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "cli.md"
START = "<!-- made from the code: python -m tests.cli.reference -->\n"
END = "<!-- end of what is made from the code -->\n"


def reference() -> str:
    """Every command with its arguments and examples, and the options of all."""
    return "\n".join([*_options_of_all(), *(line for name in COMMANDS for line in _command(name))])


def _options_of_all() -> Iterator[str]:
    yield "### Options of every command\n"
    yield "They may stand before or after the command.\n"
    yield "| option | |\n|---|---|"
    for option, metavar, text in GLOBAL_OPTIONS:
        yield f"| `{f'{option} {metavar}'.rstrip()}` | {text} |"
    yield ""


def _command(name: str) -> Iterator[str]:
    command = load(name)
    yield f"### memolith {name}\n"
    yield f"{command.HELP}\n"
    rows = list(_rows(parser_of(name, command)))
    if rows:
        yield "| argument | |\n|---|---|"
        yield from rows
        yield ""
    yield f"```text\n{command.EXAMPLE}\n```\n"


def _rows(parser: argparse.ArgumentParser, action_name: str = "") -> Iterator[str]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, own in action.choices.items():
                rows = list(_rows(own, f"{name} "))
                yield from rows or [f"| `{name}` | {_help_of(action, name)} |"]
        else:
            yield f"| `{action_name}{_spelled(action)}` | {action.help} |"


def _help_of(action: argparse._SubParsersAction[argparse.ArgumentParser], name: str) -> str:
    return next(str(own.help) for own in action._get_subactions() if own.dest == name)


def _spelled(action: argparse.Action) -> str:
    value = str(action.metavar or "\\|".join(map(str, action.choices or ())) or action.dest.upper())
    if not action.option_strings:
        return value
    option = action.option_strings[-1]
    return option if action.nargs == 0 else f"{option} {value}"


def with_reference(document: str) -> str:
    """The document with the reference as the code has it now."""
    before, _, rest = document.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n{reference()}{END}{after}"


if __name__ == "__main__":
    DOCUMENT.write_text(with_reference(DOCUMENT.read_text("utf-8")), "utf-8")
