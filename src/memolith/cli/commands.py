"""The commands of `memolith`. Each is one module here, imported only when it is run."""

from __future__ import annotations

import argparse
import sys
from typing import Protocol, cast

from memolith.cli.usage import Arguments, Parser


class Command(Protocol):
    """What the module of a command has."""

    HELP: str  # what it does, in one or a few sentences
    EXAMPLE: str  # command lines to copy

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Describe its arguments."""

    def run(self, args: Arguments) -> int:
        """Do it, print what came of it, and return the exit code."""


def load(name: str) -> Command:
    """The module of a command."""
    module = f"memolith.cli.{name.replace('-', '_')}"
    __import__(module)  # importlib would be one more module to load
    return cast("Command", sys.modules[module])


def parser_of(name: str, command: Command, *, usage: str | None = None) -> Parser:
    """The parser of one command; the options of every command are not among its arguments."""
    parser = Parser(
        prog=f"memolith {name}",
        usage=usage,
        description=command.HELP,
        epilog="example:\n" + "\n".join(f"  {line}" for line in command.EXAMPLE.splitlines()),
    )
    command.configure(parser)
    return parser
