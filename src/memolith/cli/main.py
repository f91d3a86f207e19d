"""`memolith`: find the command, run it, and turn whatever goes wrong into a message and an exit code."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

import click

from memolith.cli import options, output
from memolith.config.setting import nearest
from memolith.errors import ConfigError, MemolithError

# By what they are for, in the order in which help shows them: the module, the name, one line of help.
GROUPS: dict[str, dict[str, str]] = {}
MODULES: dict[str, str] = {}
_purpose = ""
with open(os.path.join(os.path.dirname(__file__), "commands.txt"), encoding="utf-8") as _table:
    for _line in _table:
        if _line.startswith(" "):
            _module, _name, _text = _line.split(maxsplit=2)
            MODULES[_name], GROUPS[_purpose][_name] = _module, _text.rstrip()
        else:
            GROUPS[_purpose := _line.rstrip()] = {}
COMMANDS = {name: line for commands in GROUPS.values() for name, line in commands.items()}
OTHER_NAMES = {"recall": "search"}
_HOOKS = frozenset(("session-start", "context", "flush", "log"))


class Memolith(options.Group):
    """All commands; each module is imported when one of its commands is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command with this name."""
        name = OTHER_NAMES.get(cmd_name, cmd_name)
        return find(name) if name in COMMANDS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Every command in one line each, by what it is for."""
        for purpose, commands in GROUPS.items():
            with formatter.section(purpose):
                formatter.write_dl([(f"{name:13}", line) for name, line in commands.items()])
        formatter.write("\nHelp on one command: memolith COMMAND --help\n")


def _memolith() -> None:
    """Long-term memory for AI agents, in Markdown files you own.

    Examples:
        memolith remember "Ana owns the release key"
    """


memolith = Memolith(
    "memolith", _memolith, options_metavar="", subcommand_metavar="COMMAND [OPTIONS]"
)


def find(name: str) -> options.Command:
    """The command with this name, from its module."""
    known = vars(import_module(f"memolith.cli.{MODULES[name]}")).values()
    return next(one for one in known if isinstance(one, options.Command) and one.name == name)


def program() -> None:
    """Run the command line of this process, and end the process with its exit code.

    Memory is not given back object by object before the kernel takes it all: after a search that takes a
    fifth of the command's time. Functions that were registered for the end are called.
    """
    if "_MEMOLITH_COMPLETE" in os.environ:  # the shell asks for completions
        memolith.main()
    code = main()
    threading = sys.modules.get("threading")
    hooks = sys.modules.get("memolith.cli.hooks")
    is_late = hooks is not None and hooks.Process.is_late
    if threading is not None and threading.active_count() > 1 and not is_late:
        sys.exit(code)  # Python knows how to wait for them
    atexit._run_exitfuncs()  # noqa: SLF001 - nothing else calls them where an end is cut short
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # gone, or closed because it failed before
            stream.flush()
    os._exit(code)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line, by default that of this process; returns the exit code."""
    output.prepare()
    call = options.Call(sys.argv[1:] if argv is None else argv)
    try:
        code = _run(call)
        output.finish()
    except KeyboardInterrupt:
        return options.INTERRUPTED
    except BrokenPipeError:
        output.give_up(sys.stdout)
        return options.READER_GONE
    except Exception as error:  # noqa: BLE001 — whatever happens, say it in words and an exit code
        return _report(error, call)
    return code


def _run(call: options.Call) -> int:
    words = list(call.words)
    if words and words[0] in ("help", "--help", "-h"):
        words = [*words[1:], "--help"]
    try:
        with memolith.make_context("memolith", words, obj=call, max_content_width=100) as ctx:
            if not ctx._protected_args:  # noqa: SLF001 - click has no other name for the command
                output.say(ctx.get_help())
                return options.USAGE
            memolith.invoke(ctx)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.UsageError as error:
        raise _with_hint(error) from error
    return call.code


def _with_hint(error: click.UsageError) -> options.UsageError:
    """What click says about a mistake, and what to do.

    click's own suggestions know only commands that are loaded, and see --help in --channel.
    """
    ctx = error.ctx or click.Context(memolith)
    command, near = ctx.command, ""
    hint = f"See: {ctx.command_path} --help"
    if isinstance(error, click.NoSuchOption):
        near = nearest(
            error.option_name, (name for one in command.params for name in one.opts), 0.7
        )
        text = (
            "If it is text, put -- before it" if ctx.parent else "Options of one command follow it"
        )
        hint = f"{text}. {hint}"
    elif isinstance(command, click.Group):
        names = [*command.commands] or command.list_commands(ctx)
        near = nearest(getattr(error, "command_name", ""), names)
        hint = f"Use one of {', '.join(names)}." if ctx.parent else hint
    if near:
        hint = f"Did you mean {near}?"
    is_value = isinstance(error, click.BadParameter)
    return options.UsageError(error.format_message() if is_value else error.message, hint=hint)


def _report(error: Exception, call: options.Call) -> int:
    kind, code = options.kind_of(error)
    message, hint = _message_of(error, call)
    if "--debug" in call.words or os.environ.get("MEMOLITH_DEBUG"):
        import traceback

        output.note("".join(traceback.format_exception(error)).rstrip())
    as_json = "--json" in call.words
    if code == options.USAGE and not _HOOKS.isdisjoint(call.words) and not as_json:
        from memolith.cli import hooks

        # The JSON of a hook may wait: its host would take our exit code as an order to stop.
        hook = hooks.read_hook(hooks.waiting_text())
        if hook is not None:
            hooks.print_answer(hook, "", hooks.in_one_line(message, hint))
            return 0
    if as_json:
        content = {"error": {"kind": kind, "message": message, "hint": hint}}
        output.note(output.to_json(content, sys.stderr))
        return code
    output.note(f"memolith: {message}")
    if hint:
        output.note(hint)
    return code


def _message_of(error: Exception, call: options.Call) -> tuple[str, str]:
    if not isinstance(error, MemolithError):
        hint = "This is a bug in Memolith. Please report it, with what the same command prints with --debug."  # fmt: skip
        return f"unexpected error: {type(error).__name__}: {error}", hint
    if isinstance(error, ConfigError):
        call.set = []  # one of them may be what is wrong
    return error.message, call.here(error.hint)
