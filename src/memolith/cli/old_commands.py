"""Commands that argparse still reads, as click sees them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import click

from memolith.cli.commands import load, parser_of
from memolith.cli.options import Call, Command
from memolith.cli.usage import read_global_options


class OldCommand(Command):
    """A command that gets its raw arguments; its params are for help and documents only."""

    def __init__(self, name: str) -> None:
        """Describe the arguments of the old parser."""
        self._module = load(name)
        parser = parser_of(name, self._module)
        super().__init__(name, help=self._module.HELP, params=list(_params(parser)))
        self.examples = self._module.EXAMPLE

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Leave the words to the old parser."""
        call: Call = ctx.obj
        if ctx.resilient_parsing:
            return []
        options, _ = read_global_options([str(self.name), *args])
        if options.help or options.version:
            return super().parse_args(ctx, ["--help" if options.help else "--version"])
        call.root = options.root or call.root
        call.profile = options.profile or call.profile
        call.set += options.set
        call.json |= options.json
        ctx.params = {"args": args}
        return []

    def invoke(self, ctx: click.Context) -> Any:
        """Run it."""
        call: Call = ctx.obj
        options, rest = read_global_options([str(self.name), *ctx.params["args"]])
        parser_of(str(self.name), self._module, usage="").read(rest, options)
        for name in ("root", "profile", "set", "json", "debug"):
            setattr(options, name, getattr(call, name))
        return self._module.run(options)


def _params(parser: argparse.ArgumentParser) -> Iterator[click.Parameter]:
    for action in parser._actions:  # noqa: SLF001 — argparse has no other way to ask
        if isinstance(action.choices, dict):
            yield click.Argument(["action"], help=", ".join(action.choices))
        elif action.option_strings:
            yield click.Option(
                [*action.option_strings, f"option_{action.dest}"],
                metavar=str(action.metavar) if action.metavar else None,
                is_flag=action.nargs == 0,
                help=action.help,
            )
        else:
            yield click.Argument(
                [action.dest],
                metavar=str(action.metavar),
                required=action.nargs is None,
                nargs=-1 if action.nargs == "*" else 1,
                help=action.help,
            )
