"""What a command line asks for: the options of every command, shared options, the memory they lead to.

A command is a function that gets the `Call` and its own arguments, and returns an exit code or None:

    @command(examples='memolith recap 42 --limit 3')
    @click.argument("chat", default="main", help="the chat")
    @click.option("--limit", metavar="N", type=COUNT, help="how many turns")
    @click.pass_obj
    def recap(call: Call, chat: str, limit: int | None) -> None:
        '''Print the newest turns of a chat.'''
        with call.open(reads=True) as memory:
            recap = memory.chats.recap(chat, limit=limit)
        if call.json:
            output.say_json(recap.to_dict())
            return
        output.say(recap.text)
        call.warn(recap.warnings)

What a person must read goes through `output`; a mistake is a `UsageError`, any other failure another
`MemolithError`: `main` turns both into a message, a hint and an exit code.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import click

from memolith.cli import output
from memolith.cli.exit_codes import UsageError
from memolith.config.load import open_profile, settings_from_flags
from memolith.errors import RefusedError
from memolith.files.record_format import BOM, UTF16_MARKS
from memolith.text.commands import leading
from memolith.types import SENSITIVITIES, SESSION_KINDS

if TYPE_CHECKING:
    from memolith.config.setting import Value
    from memolith.memory import Memory
    from memolith.profile import Profile

Function = TypeVar("Function", bound=Callable[..., Any])

STANDARD_INPUT = "-"
# The largest text a setting can allow; a longer one is an error, and does not fill our memory.
MAX_BYTES = 16_777_216
_MAX_DIGITS = 18


class Call:
    """One command line: the options of every command, and what they lead to."""

    def __init__(self, words: Sequence[str] = ()) -> None:
        """Nothing is asked for yet; `words` is the line as it was typed."""
        self.words = list(words)
        self.root: str | None = None
        self.profile: str | None = None
        self.set: list[str] = []
        self.json = False
        self.debug = False

    def open(  # noqa: PLR0913 - each names what is special about a command
        self,
        *,
        reads: bool = False,
        create: bool = False,
        settings: Mapping[str, Value] | None = None,
        channel: str = "cli",
        kind: str = "main",
        folder: str = "",
        hook: bool = False,
    ) -> Memory:
        """The memory of `--root`, `--profile` and `--set`; `settings` are those of other options.

        Where a found folder is not approved, a command that only `reads` uses the default memory and says
        so; others refuse. A hook does the same and shows the notice itself; `folder` is where its agent
        works.
        """
        from memolith.memory import open_store
        from memolith.store import Store
        from memolith.visibility import channel_in

        given = {**settings_from_flags(self.set), **(settings or {})}
        profile, loaded = open_profile(
            self.root,
            self.profile,
            given,
            cwd=folder if folder and self.root is None else None,
            create=create,
            use_default=reads or hook,
        )
        if not hook:
            self.warn_of_unapproved(profile)
        return open_store(Store(profile, loaded, given), channel_in(channel, kind))

    def warn_of_unapproved(self, profile: Profile) -> None:
        """Say on standard error that a found folder is not used; a model never reads this."""
        if profile.notice:
            output.warn(profile.notice)

    def warn(self, warnings: Iterable[str], *, see: str = "") -> None:
        """Print warnings on standard error, in the one spelling there is; `see` is a command that says more."""
        sentences = [self.here(warning) for warning in warnings]
        output.warn(*sentences)
        if sentences and see:
            output.note(f"Look closer: {self.again(see)}")

    def again(self, command: str) -> str:
        """A command to copy: it leads to the same memory as this one, with the same settings.

        A stored job needs no settings: `jobs` shows, applies and undoes it as it was planned.
        """
        return f"memolith {command}{self.chosen(settings=not command.startswith('jobs '))}"

    def here(self, hint: str) -> str:
        """A hint, whose commands lead to the same memory as this one."""
        return leading(hint, self.chosen())

    def chosen(self, *, settings: bool = True) -> str:
        """The options by which the memory was chosen, each behind a space; "" if there are none."""
        import shlex

        options = (
            ("--root", self.root),
            ("--profile", self.profile),
            *(("--set", setting) for setting in self.set if settings),
        )
        return "".join(f" {name} {shlex.quote(value)}" for name, value in options if value)


def _store(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Keep an option of every command in the `Call`, from wherever it is on the line."""
    call = ctx.ensure_object(Call)
    if param.name == "set":
        call.set += value
    elif value:
        setattr(call, param.name, value)


def _show_help(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        output.say(ctx.get_help())
        ctx.exit()


def _show_version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from memolith import __version__

        if "--json" in ctx.ensure_object(Call).words:
            output.say_json({"version": __version__})
        else:
            output.say(f"memolith {__version__}")
        ctx.exit()


def _global(
    names: str, text: str, callback: Callable[..., None] = _store, **more: Any
) -> click.Option:
    more = more or {"is_flag": True}
    return click.Option(
        names.split(), help=text, expose_value=False, is_eager=True, callback=callback, **more
    )


GLOBAL_OPTIONS = (
    _global("--root", "the folder that holds the memory", metavar="DIR"),
    _global("--profile", "the memory with this name, under ~/.memolith/profiles", metavar="NAME"),
    _global(
        "--set",
        "use another value for a setting this once; may be repeated",
        metavar="KEY=VALUE",
        multiple=True,
    ),
    _global("--json", "print JSON for programs"),
    _global("--debug", "show where an error came from"),
    _global("-h --help", "show help and examples, and stop", _show_help),
    _global("--version", "show the version, and stop", _show_version),
)


class Command(click.Command):
    """A command with examples. Options and words may be mixed, also those of every command."""

    examples = ""

    def __init__(self, *args: Any, **more: Any) -> None:
        """Add the options of every command."""
        more["add_help_option"] = False
        super().__init__(*args, **more)
        self.params += GLOBAL_OPTIONS

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Options, then texts: a word with spaces is text, even if it begins with a dash."""
        if ctx.resilient_parsing:  # completion
            return super().parse_args(ctx, args)
        takes_value = {
            name: not param.is_flag
            for param in self.params
            if isinstance(param, click.Option)
            for name in param.opts
        }
        options: list[str] = []
        texts: list[str] = []
        words = iter(args)
        for word in words:
            if word == "--":
                texts += words
            elif not looks_like_option(word):
                texts.append(word)
            elif not takes_value.get(word):
                options.append(word)
            else:  # its value may be what somebody said, and must never steer us
                value = next(words, None)
                if value is None:
                    raise UsageError(
                        f"{word} needs a value.", hint=f"See: {ctx.command_path} --help"
                    )
                options += word, value
        return super().parse_args(ctx, [*options, "--", *texts])

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Its own options, and the names of those that every command has."""
        own = [param for param in self.params if param not in GLOBAL_OPTIONS]
        options = [param for param in own if isinstance(param, click.Option)]
        rows = [row for param in options if (row := param.get_help_record(ctx))]
        if rows:
            with formatter.section("Options"):
                formatter.write_dl(rows)
        names = [row[0] for param in GLOBAL_OPTIONS if (row := param.get_help_record(ctx))]
        with formatter.section("Options of every command (see memolith --help)"):
            formatter.write(click.wrap_text(", ".join(names), formatter.width, "  ", "  ") + "\n")

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Command lines to copy."""
        if self.examples:
            with formatter.section("Examples"):
                for line in self.examples.splitlines():
                    formatter.write(f"  {line}\n")


class Group(Command, click.Group):
    """A command with actions, such as `jobs`."""

    def __init__(self, *args: Any, **more: Any) -> None:
        """Actions are plain commands."""
        more["no_args_is_help"] = False
        super().__init__(*args, **more)
        self.command_class = Command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Options in front of the action; the action reads the rest."""
        rest = click.Group.parse_args(self, ctx, args)
        if not args and not ctx.resilient_parsing:
            raise UsageError("ACTION is missing.", hint=f"Use one of {', '.join(self.commands)}.")
        return rest

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Its actions, and then its options."""
        self.format_commands(ctx, formatter)
        super().format_options(ctx, formatter)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The action; an unknown one is an error that names the known."""
        if args[0] not in self.commands:
            raise UsageError(
                f"{args[0]!a} is not an action of {ctx.info_name}.",
                hint=suggestion(args[0], self.commands),
            )
        return super().resolve_command(ctx, args)


def command(name: str | None = None, *, examples: str) -> Callable[[Callable[..., Any]], Command]:
    """Make a command of a function; its docstring is the help, `examples` are lines to copy."""

    def make(function: Callable[..., Any]) -> Command:
        made = click.command(name, cls=Command)(function)
        made.examples = examples
        return made

    return make


def looks_like_option(word: str) -> bool:
    """Whether a word is an option: text with spaces and negative numbers are not."""
    return len(word) > 1 and word[0] == "-" and " " not in word and not word[1:].isdecimal()


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that is most like this one, or ""."""
    import difflib

    return next(iter(difflib.get_close_matches(word[:40], list(known), n=1)), "")


def suggestion(word: str, known: Iterable[str]) -> str:
    """The known word that was probably meant; if none is like it, all of them."""
    names = list(known)
    near = nearest(word, names)
    return f"Did you mean {near}?" if near else f"Use one of {', '.join(names)}."


# Types of values


def _name(param: click.Parameter | None) -> str:
    """What a user calls a parameter: --limit, or CHAT."""
    if isinstance(param, click.Argument) or param is None:
        return "" if param is None else param.human_readable_name
    return param.opts[-1]


def _see(ctx: click.Context | None) -> str:
    return f"See: {ctx.command_path if ctx else 'memolith'} --help"


class Choice(click.Choice[str]):
    """One of a few words; a wrong one gets a suggestion."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The word itself."""
        if value in self.choices:
            return str(value)
        raise UsageError(
            f"{value!a} is not a value of {_name(param)}.", hint=suggestion(value, self.choices)
        )


class _Checked(click.ParamType[Any]):
    """A value that a function reads; its ValueError says what was expected."""

    def __init__(self, name: str, read: Callable[[str], object]) -> None:
        self.name = name
        self._read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value that was read."""
        if not isinstance(value, str):  # a default
            return value
        try:
            return self._read(value)
        except ValueError as error:
            raise UsageError(f"{_name(param)}: {error}.", hint=_see(ctx)) from error


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise ValueError(f"expected 0, 1, 2 …, not {text[:40]!a}")
    if len(text) > _MAX_DIGITS:
        raise ValueError(f"{text[:20]}… is too large")
    return int(text)


def _line_number(text: str) -> int:
    if not text.strip("0") or not text.isdecimal():
        raise ValueError(f"expected 1, 2, 3 …, not {text[:40]!a}")
    return _count(text)


def _seconds(text: str) -> float:
    whole, _, part = text.partition(".")
    if not (text.isascii() and (whole + part).isdecimal() and len(text) <= 18 and float(text)):
        raise ValueError(f"expected seconds, such as 0.5 or 10, not {text[:40]!a}")
    return float(text)


def _fraction(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise ValueError(f"expected a number from 0 to 1, not {text[:40]!a}") from error


COUNT = _Checked("count", _count)  # 0, 1, 2 …
LINE = _Checked("line", _line_number)  # as editors count them: 1, 2, 3 …
SECONDS = _Checked("seconds", _seconds)
FRACTION = _Checked("fraction", _fraction)


# Options that several commands share


def kind_option(text: str) -> Callable[[Function], Function]:
    """`--kind`: in what kind of session something is said or asked."""
    return click.option(
        "--kind", metavar="KIND", type=Choice(SESSION_KINDS), default="main",
        help=f"the kind of the session ({', '.join(SESSION_KINDS)}): {text}",
    )  # fmt: skip


def sensitivity_option(default: str | None) -> Callable[[Function], Function]:
    """`--sensitivity`: who may see a record."""
    return click.option(
        "--sensitivity",
        metavar="WHO",
        type=Choice(SENSITIVITIES),
        default=default,
        help=f"who may see it: {', '.join(SENSITIVITIES)} (default: {default or 'as before'})",
    )


def limit_option(default: int, text: str) -> Callable[[Function], Function]:
    """`--limit`: how many are shown."""
    text = f"{text} (default: {default})"
    return click.option("--limit", metavar="N", type=COUNT, default=default, help=text)


yes_option = click.option("--yes", is_flag=True, help="do not ask")


def read_metadata(pairs: Iterable[str]) -> dict[str, object]:
    """The metadata that --meta KEY=VALUE asks for."""
    metadata: dict[str, object] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not key or not equals:
            raise UsageError(
                f"--meta {pair[:40]!a} is not KEY=VALUE.", hint="For example: --meta ticket=12"
            )
        metadata[key] = value
    return metadata


# Moments as people write them

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def duration(text: str) -> timedelta | None:
    """How long 30m, 12h, 7d or 2w is; None for anything else. Raises OverflowError and ValueError."""
    amount, unit = text[:-1], _UNITS.get(text[-1:])
    if not unit or not (amount.isascii() and amount.isdecimal()):
        return None
    return timedelta(**{unit: int(amount)})


# Standard input and questions


def text_of(words: Sequence[str], example: str) -> str:
    """The words as one text; standard input for `-`, or if there are no words and it is piped in."""
    if list(words) == [STANDARD_INPUT] or (not words and is_piped()):
        return read_standard_input()
    if not words:
        raise UsageError("There is no text.", hint=f"Example: {example}")
    return " ".join(words)


def read_standard_input() -> str:
    """What is piped in, without the line ends around it; bytes that are not UTF-8 are kept."""
    if sys.stdin is None:
        return ""
    data = sys.stdin.buffer.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise RefusedError(
            f"The text has more than {MAX_BYTES:,} bytes. Nothing was changed.",
            hint="Keep the essence, or split it.",
        )
    return decode(data)


def decode(data: bytes) -> str:
    """Piped bytes as text, without the line ends around it."""
    if data.startswith(UTF16_MARKS):  # what PowerShell writes into a file
        return data.decode("utf-16", "replace").strip("\r\n")
    return data.removeprefix(BOM).decode("utf-8", "surrogateescape").strip("\r\n")


def is_piped() -> bool:
    """Whether standard input is anything but a person at a terminal."""
    return sys.stdin is not None and not sys.stdin.isatty()


def at_terminal() -> bool:
    """Whether there is a person to ask."""
    return sys.stdin is not None and sys.stdin.isatty()


def confirmed(question: str) -> bool:
    """Ask the person at the terminal; anything but yes is no."""
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
