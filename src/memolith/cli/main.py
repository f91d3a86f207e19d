"""`memolith`: find the command, run it, and turn whatever goes wrong into a message and an exit code."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memolith.cli import exit_codes, output
from memolith.cli.commands import load, parser_of
from memolith.cli.usage import Arguments, read_global_options
from memolith.errors import ConfigError, MemolithError

if TYPE_CHECKING:
    from memolith.cli.hook import Hook

_GARBAGE_FROM = 100_000  # objects
# What the hosts of agents call as hooks.
_HOOKS = frozenset(("session-start", "context", "flush"))


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line, by default that of this process; returns the exit code."""
    output.prepare()
    if argv is None:
        # A command is over before its garbage is much: looking for it takes a twentieth of a search.
        gc.set_threshold(_GARBAGE_FROM)
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _run(words)
        output.finish()
    except KeyboardInterrupt:
        return exit_codes.INTERRUPTED
    except BrokenPipeError:
        output.give_up(sys.stdout)
        return exit_codes.READER_GONE
    except Exception as error:  # noqa: BLE001 — whatever happens, say it in words and an exit code
        return _report(error, words)
    return code


def _run(words: Sequence[str]) -> int:
    args, rest = read_global_options(words)
    if args.version:
        from memolith import __version__

        if args.json:
            output.say_json({"version": __version__})
        else:
            output.say(f"memolith {__version__}")
        return exit_codes.OK
    if args.help or args.command in ("", "help"):
        return _help(args, rest)
    command = load(args.command)
    # No usage line: argparse would lay one out only to have it at hand for errors.
    parser_of(args.command, command, usage="").read(rest, args)
    return command.run(args)


def _help(args: Arguments, rest: Sequence[str]) -> int:
    from memolith.cli.help import command_help, overview

    topic = args.command
    if topic == "help":
        topic = rest[0] if rest else ""
    output.say(command_help(topic) if topic else overview())
    was_asked_for = args.help or args.command
    return exit_codes.OK if was_asked_for else exit_codes.USAGE


def _report(error: Exception, words: Sequence[str]) -> int:
    kind, code = exit_codes.kind_of(error)
    message, hint = _in_words(error, words)
    if "--debug" in words or os.environ.get("MEMOLITH_DEBUG"):
        import traceback

        output.note("".join(traceback.format_exception(error)).rstrip())
    if code == exit_codes.USAGE and not _HOOKS.isdisjoint(words) and "--json" not in words:
        hook = _asking_host()
        if hook is not None:
            from memolith.cli.hook_answer import said, tell

            return tell(hook, "", said(message, hint))
    if "--json" in words:
        content = {"error": {"kind": kind, "message": message, "hint": hint}}
        output.note(output.to_json(content, sys.stderr))
        return code
    output.note(f"memolith: {message}")
    if hint:
        output.note(hint)
    return code


def _asking_host() -> Hook | None:
    """The hook whose JSON waits on standard input, which would take our exit code as an order to stop."""
    from memolith.cli.hook import of_hook, waiting

    return of_hook(waiting())


def _in_words(error: Exception, words: Sequence[str]) -> tuple[str, str]:
    if isinstance(error, MemolithError):
        return error.message, _here(error, words)
    return (
        f"unexpected error: {type(error).__name__}: {error}",
        "This is a bug in Memolith. Please report it, with what the same command prints with --debug.",
    )


def _here(error: MemolithError, words: Sequence[str]) -> str:
    from memolith.cli.opening import here

    try:
        args, _ = read_global_options(words)
    except MemolithError:  # the options themselves are what is wrong
        return error.hint
    if isinstance(error, ConfigError):
        args.set = []  # one of them may be what is wrong
    return here(args, error.hint)
