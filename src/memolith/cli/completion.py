"""`memolith completion`: a script that completes commands and options in your shell."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from memolith.cli import output
from memolith.cli.commands import COMMANDS, load
from memolith.cli.usage import GLOBAL_OPTIONS, Arguments, Parser

SHELLS = ("bash", "zsh", "fish", "tcsh")

HELP = "Print a script that completes commands and options in your shell."
EXAMPLE = """\
memolith completion bash > ~/.local/share/bash-completion/completions/memolith
memolith completion zsh > ~/.zfunc/_memolith
memolith completion fish > ~/.config/fish/completions/memolith.fish"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help=", ".join(SHELLS))


def run(args: Arguments) -> int:
    """Print the script."""
    import shtab

    script = shtab.complete(whole_parser(), args.shell)
    if args.json:
        output.say_json({"shell": args.shell, "script": script})
    else:
        output.write(script + "\n")
    return 0


def whole_parser() -> Parser:
    """Every command in one parser, which nothing but completion and documentation needs."""
    parser = Parser(prog="memolith")
    _add_global_options(parser)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, line in COMMANDS.items():
        command = commands.add_parser(name, help=line)
        load(name).configure(command)
        _add_global_options(command)
        for action in actions_of(command):
            _add_global_options(action)
    return parser


def actions_of(command: Parser) -> Iterator[Parser]:
    """The parsers of what comes after a command, as in `config set`."""
    for argument in command._actions:  # noqa: SLF001 — argparse has no other way to ask
        if isinstance(argument.choices, dict):
            yield from argument.choices.values()


def _add_global_options(parser: Parser) -> None:
    for option, metavar, text in GLOBAL_OPTIONS:
        if metavar:
            parser.add_argument(option, metavar=metavar, help=text)
        else:
            parser.add_argument(option, action="store_true", help=text)
