"""`memolith`: find the command, run it, and turn whatever goes wrong into a message and an exit code."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress

import click

from memolith.cli import exit_codes, output
from memolith.cli.exit_codes import UsageError
from memolith.cli.options import GLOBAL_OPTIONS, Call, Group, nearest
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


class Memolith(Group):
    """All commands; each module is imported when one of its commands is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command with this name."""
        name = OTHER_NAMES.get(cmd_name, cmd_name)
        return find(name) if name in COMMANDS else None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The options of every command may come first; others follow their command."""
        try:
            return click.Group.parse_args(self, ctx, args)
        except click.NoSuchOption as error:
            option = error.option_name
            hint = "Options of one command follow it: memolith COMMAND [options]"
            hint = _nearest_option(option, GLOBAL_OPTIONS) or hint
            raise UsageError(f"{option!a} is in front of the command.", hint=hint) from error

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command; an unknown one is an error that suggests the nearest."""
        found = self.get_command(ctx, args[0])
        if found is None:
            near = nearest(args[0], [*COMMANDS, *OTHER_NAMES])
            hint = f"Did you mean {near}?" if near else "See: memolith --help"
            raise UsageError(f"Unknown command {args[0]!a}.", hint=hint)
        return found.name, found, args[1:]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Every command in one line each, by what it is for."""
        for purpose, commands in GROUPS.items():
            with formatter.section(purpose):
                formatter.write_dl([(f"{name:13}", line) for name, line in commands.items()])

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands first: that is what people look for."""
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        self.format_commands(ctx, formatter)
        with formatter.section("Options of every command"):
            rows = (param.get_help_record(ctx) for param in GLOBAL_OPTIONS)
            formatter.write_dl([row for row in rows if row])
        self.format_epilog(ctx, formatter)
        formatter.write("\nHelp on one command: memolith COMMAND --help\n")


memolith = Memolith(
    "memolith",
    help="Long-term memory for AI agents, in Markdown files you own.",
    subcommand_metavar="COMMAND [OPTIONS]",
    options_metavar="",
)
memolith.examples = 'memolith remember "Ana owns the release key"'


def find(name: str) -> click.Command:
    """The command with this name, from its module."""
    module = f"memolith.cli.{MODULES[name]}"
    __import__(module)
    found: click.Command = next(
        value
        for value in vars(sys.modules[module]).values()
        if isinstance(value, click.Command) and value.name == name
    )
    return found


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
    call = Call(sys.argv[1:] if argv is None else argv)
    try:
        code = _run(call)
        output.finish()
    except KeyboardInterrupt:
        return exit_codes.INTERRUPTED
    except BrokenPipeError:
        output.give_up(sys.stdout)
        return exit_codes.READER_GONE
    except Exception as error:  # noqa: BLE001 — whatever happens, say it in words and an exit code
        return _report(error, call)
    return code


def _run(call: Call) -> int:
    words = list(call.words)
    if words and words[0] in ("help", "--help", "-h"):
        words = [*words[1:], "--help"]
    try:
        with memolith.make_context("memolith", words, obj=call, max_content_width=100) as ctx:
            if not ctx._protected_args:  # noqa: SLF001 - click has no other name for the command
                output.say(ctx.get_help())
                return exit_codes.USAGE
            code: int | None = memolith.invoke(ctx)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.UsageError as error:
        raise _in_our_words(error) from error
    return code or exit_codes.OK


def _nearest_option(option: str, params: Iterable[click.Parameter]) -> str:
    """A hint on the option that was meant; the dashes count for nothing."""
    names = [name.lstrip("-") for param in params for name in param.opts if name[:2] == "--"]
    near = nearest(option.lstrip("-"), names)
    return f"Did you mean --{near}?" if near else ""


def _in_our_words(error: click.UsageError) -> UsageError:
    """What click says about a mistake, with a hint."""
    see = f"See: {error.ctx.command_path if error.ctx else 'memolith'} --help"
    if isinstance(error, click.NoSuchOption):
        hint = _nearest_option(error.option_name, error.ctx.command.params if error.ctx else ())
        hint = hint or f"If it is text, put -- before it. {see}"
        return UsageError(f"Unknown option {error.option_name!a}.", hint=hint)
    if isinstance(error, click.MissingParameter) and error.param:
        if isinstance(error.param.type, click.Choice):
            see = f"Use one of {', '.join(error.param.type.choices)}."
        name = error.param.human_readable_name
        return UsageError(f"{name} is missing.", hint=see)
    if isinstance(error, click.BadOptionUsage) and error.message.endswith("requires an argument."):
        return UsageError(f"{error.option_name} needs a value.", hint=see)
    extra = error.message.partition("unexpected extra argument")[2]
    if extra:
        word = extra.partition("(")[2].rstrip(")").split(" ")[0]
        return UsageError(f"{word!a} is one word too many.", hint=see)
    return UsageError(error.format_message(), hint=see)


def _report(error: Exception, call: Call) -> int:
    kind, code = exit_codes.kind_of(error)
    message, hint = _message_of(error, call)
    if "--debug" in call.words or os.environ.get("MEMOLITH_DEBUG"):
        import traceback

        output.note("".join(traceback.format_exception(error)).rstrip())
    as_json = "--json" in call.words
    if code == exit_codes.USAGE and not _HOOKS.isdisjoint(call.words) and not as_json:
        from memolith.cli import hooks

        # The JSON of a hook may wait: its host would take our exit code as an order to stop.
        hook = hooks.read_hook(hooks.waiting_text())
        if hook is not None:
            hooks.print_answer(hook, "", hooks.in_one_line(message, hint))
            return exit_codes.OK
    if as_json:
        content = {"error": {"kind": kind, "message": message, "hint": hint}}
        output.note(output.to_json(content, sys.stderr))
        return code
    output.note(f"memolith: {message}")
    if hint:
        output.note(hint)
    return code


def _message_of(error: Exception, call: Call) -> tuple[str, str]:
    if not isinstance(error, MemolithError):
        hint = "This is a bug in Memolith. Please report it, with what the same command prints with --debug."  # fmt: skip
        return f"unexpected error: {type(error).__name__}: {error}", hint
    if isinstance(error, ConfigError):
        call.set = []  # one of them may be what is wrong
    return error.message, call.here(error.hint)
