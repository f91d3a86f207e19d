"""The commands of `memolith`. Each is one module here, imported only when it is run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import Protocol, cast

from memolith.cli.usage import Arguments, Parser, UsageError, nearest


class Command(Protocol):
    """What the module of a command has."""

    HELP: str  # what it does, in one or a few sentences
    EXAMPLE: str  # command lines to copy

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Describe its arguments."""

    def run(self, args: Arguments) -> int:
        """Do it, print what came of it, and return the exit code."""


# By what they are for, in the order in which help shows them: the name, which is also that of its
# module (with _ for -), and one line of help.
GROUPS: Mapping[str, Mapping[str, str]] = {
    "write": {
        "remember": "write one thing down",
        "save": "write a note, in a file of its own",
        "log": "write a turn of a chat, or show the newest",
        "flush": "save what matters of a chat before it is lost",
    },
    "find": {
        "search": "find what answers a question",
        "list": "show records, newest first",
        "get": "show lines of a file",
        "experiences": "take in what is new, and ask it",
        "relationships": "show what is known of people and habits, in groups",
    },
    "hand to an agent": {
        "session-start": "print what a session starts with",
        "context": "print what is worth knowing before an answer",
        "recap": "print the newest turns of a chat",
    },
    "correct": {
        "supersede": "replace a record by a newer one",
        "update": "change the text, keywords or metadata of a record or note",
        "forget": "remove a record for good",
        "approve": "let in what is held back, or lower a mark",
        "scan": "look for contradictions, copies and open secrets",
    },
    "keep tidy": {
        "compact": "summarise old records",
        "dream": "promote what is asked for again and again",
        "trim": "move the oldest records to the archive",
        "maintain": "run jobs when they are due",
        "jobs": "see what jobs did or propose, apply, undo",
        "restore": "list backups, or bring one back",
    },
    "serve": {
        "mcp": "serve an agent over the Model Context Protocol",
        "serve": "answer other programs over HTTP",
        "token": "show or change the token of the server",
        "service": "print a unit that keeps the server running",
    },
    "set up and look after": {
        "init": "make the files of a new memory",
        "trust": "approve the memory of a folder that was found",
        "status": "show which memory this is, and what stands in it",
        "config": "show and change settings",
        "doctor": "look for anything wrong",
        "sync": "bring the index in line with the files",
        "reindex": "make the index again from the files",
        "index": "show how the index stands to the files",
        "completion": "print a script that completes commands in your shell",
    },
}
COMMANDS: Mapping[str, str] = {
    name: line for commands in GROUPS.values() for name, line in commands.items()
}


def load(name: str) -> Command:
    """The module of a command; an unknown name is an error that suggests the nearest."""
    if name not in COMMANDS:
        near = nearest(name, COMMANDS)
        raise UsageError(
            f"Unknown command {name!a}.",
            hint=f"Did you mean {near}?" if near else "See: memolith --help",
        )
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
