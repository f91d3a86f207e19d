"""What a command line asks for: the options of every command, shared options, the memory they lead to.

A command is a function that gets the `Call` and its own arguments, and returns an exit code or None:

    @command()
    @click.argument("chat", default="main", help="the chat")
    @click.option("--limit", type=COUNT, help="how many turns")
    def recap(call: Call, chat: str, limit: int | None) -> None:
        '''Print the newest turns of a chat.

        Examples:
            memolith recap 42 --limit 3
        '''
        with call.open(reads=True) as memory:
            recap = memory.chats.recap(chat, limit=limit)
        if call.prints_json(recap):
            return
        output.say(recap.text)
        call.warn(recap.warnings)

What a person must read goes through `output`; a mistake is a `UsageError`, any other failure another
`MemolithError`: `main` turns both into a message, a hint and an exit code.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, TypeVar

import click

from memolith.cli import output
from memolith.cli.exit_codes import UsageError
from memolith.cli.standard_input import MAX_BYTES, decode, is_piped, rest_of_input
from memolith.config.load import open_profile, settings_from_flags
from memolith.errors import RefusedError
from memolith.text.wording import leading
from memolith.types import SENSITIVITIES, SESSION_KINDS, Plain

if TYPE_CHECKING:
    from memolith.config.load import LoadedConfig
    from memolith.config.setting import Value
    from memolith.memory import Memory
    from memolith.profile import Profile

Function = TypeVar("Function", bound=Callable[..., Any])

STANDARD_INPUT = "-"
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
        self._notice = ""  # that was shown

    def open(
        self,
        *,
        reads: bool = False,
        create: bool = False,
        settings: Mapping[str, Value] | None = None,
        folder: str | None = None,
    ) -> Memory:
        """The memory of `--root`, `--profile` and `--set`; `settings` are those of other options.

        Where a found folder is not approved, a command that only `reads` uses the default memory and says
        so; others refuse. A hook gives the `folder` where its agent works, or "": it uses the default memory
        too, and shows the notice itself.
        """
        from memolith.memory import open_store
        from memolith.store import Store

        given = {**settings_from_flags(self.set), **(settings or {})}
        use_default = reads or folder is not None
        profile, loaded = self.load(given, folder=folder, create=create, use_default=use_default)
        return open_store(Store(profile, loaded, given), "cli")

    def load(
        self, given: Mapping[str, object], *, folder: str | None = None, **how: Any
    ) -> tuple[Profile, LoadedConfig]:
        """The profile and its settings; `how` is as for `open_profile`."""
        cwd = folder if folder and self.root is None else None
        profile, loaded = open_profile(self.root, self.profile, given, cwd=cwd, **how)
        if folder is None and profile.notice != self._notice:  # a found folder is not used
            self._notice = profile.notice
            output.warn(*filter(None, (self._notice,)))  # on standard error: no model reads it
        return profile, loaded

    def prints_json(self, content: object) -> bool:
        """Print a result as JSON, if --json asks for it; else it is for the caller to show."""
        if self.json:
            output.say_json(content.to_dict() if isinstance(content, Plain) else content)
        return self.json

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

        options = [("--root", self.root), ("--profile", self.profile)]
        options += [("--set", setting) for setting in self.set if settings]
        return "".join(f" {name} {shlex.quote(value)}" for name, value in options if value)


def _keep(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Keep an option of every command in the `Call`, from wherever it is on the line."""
    call = ctx.ensure_object(Call)
    if param.name == "set":
        call.set += value
    elif value:
        setattr(call, param.name or "", value)


def _show(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    """Show the help or the version, and stop."""
    if not value or ctx.resilient_parsing:
        return
    if param.name == "help":
        output.say(ctx.get_help())
    else:
        from memolith import __version__

        call = ctx.ensure_object(Call)
        call.json = "--json" in call.words
        if not call.prints_json({"version": __version__}):
            output.say(f"memolith {__version__}")
    ctx.exit()


_option = partial(click.Option, expose_value=False, is_eager=True)
# fmt: off
GLOBAL_OPTIONS = (
    _option(["--root"], metavar="DIR", callback=_keep, help="the folder that holds the memory"),
    _option(["--profile"], metavar="NAME", callback=_keep, help="the memory with this name, under ~/.memolith/profiles"),
    _option(["--set"], metavar="KEY=VALUE", multiple=True, callback=_keep, help="use another value for a setting this once; may be repeated"),
    _option(["--json"], is_flag=True, callback=_keep, help="print JSON for programs"),
    _option(["--debug"], is_flag=True, callback=_keep, help="show where an error came from"),
    _option(["-h", "--help"], is_flag=True, callback=_show, help="show help and examples, and stop"),
    _option(["--version"], is_flag=True, callback=_show, help="show the version, and stop"),
)
# fmt: on


class Command(click.Command):
    """A command with examples. Options and words may be mixed, also those of every command."""

    def __init__(self, *args: Any, **more: Any) -> None:
        """Take the examples from the end of the help, and add the options of every command."""
        text, _, examples = cleandoc(more.pop("help", None) or "").partition("\nExamples:\n")
        more |= {"help": text.rstrip(), "add_help_option": False}
        super().__init__(*args, **more)
        self.examples = cleandoc(examples)
        self.params += GLOBAL_OPTIONS

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Options, then texts: a word with spaces is text, even if it begins with a dash."""
        if ctx.resilient_parsing:  # completion
            return super().parse_args(ctx, args)
        own = [param for param in self.params if isinstance(param, click.Option)]
        takes_value = {name for param in own if not param.is_flag for name in param.opts}
        options: list[str] = []
        texts: list[str] = []
        words = iter(args)
        for word in words:
            if word == "--":
                texts += words
            elif not looks_like_option(word):
                texts.append(word)
            else:
                options.append(word)
                if word in takes_value:  # which may be what somebody said, and must never steer us
                    value = next(words, None)
                    if value is None:
                        raise click.BadOptionUsage(
                            word, f"Option {word!r} requires an argument.", ctx
                        )
                    options.append(value)
        return super().parse_args(ctx, [*options, "--", *texts])

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Its own options, and the names of those that every command has."""
        own = [one for one in self.params if isinstance(one, click.Option)]
        rows = [
            row for one in own if one not in GLOBAL_OPTIONS and (row := one.get_help_record(ctx))
        ]
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
                formatter.write("".join(f"  {line}\n" for line in self.examples.splitlines()))


class Group(Command, click.Group):
    """A command with actions, such as `jobs`; `default` is the action if none is named."""

    command_class = Command  # of its actions

    def __init__(self, *args: Any, default: str = "", **more: Any) -> None:
        """Without an action or a default it says what is missing, instead of showing help."""
        super().__init__(*args, no_args_is_help=False, **more)
        self.default = default

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Options in front of the action, which reads the rest."""
        is_named = not {*self.commands, "--help", "-h"}.isdisjoint(args)
        is_mistaken = bool(args) and not looks_like_option(args[0])
        if self.default and not (is_named or is_mistaken or ctx.resilient_parsing):
            args = [self.default, *args]
        return click.Group.parse_args(self, ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Its actions, and then its options."""
        self.format_commands(ctx, formatter)
        super().format_options(ctx, formatter)


def command(name: str | None = None) -> Callable[[Callable[..., Any]], Any]:
    """Make a command of a function, which gets the `Call` first; its docstring is the help."""

    def make(function: Callable[..., Any]) -> Command:
        return click.command(name, cls=Command)(click.pass_obj(function))

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
    if isinstance(param, click.Option):
        return param.opts[-1]
    return param.human_readable_name if param else ""


class Choice(click.Choice[str]):
    """One of a few words; a wrong one gets a suggestion."""

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str:
        """The words, in one line."""
        return f"Use one of {', '.join(self.choices)}."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The word itself."""
        if value not in self.choices:
            hint = suggestion(value, self.choices)
            raise UsageError(f"{value!a} is not a value of {_name(param)}.", hint=hint)
        return str(value)


class Number(click.ParamType[Any]):
    """A number of some form; anything else is an error that says what was expected."""

    def __init__(self, name: str, form: str, expected: str, kind: type = int) -> None:
        """`name` is what help calls it."""
        self.name, self.expected, self._kind = name, expected, kind
        self._form = re.compile(form, re.ASCII)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value that was read."""
        if not isinstance(value, str):  # a default
            return value
        if not self._form.fullmatch(value):
            problem = f"expected {self.expected}, not {value[:40]!a}"
            if value.isdecimal() and len(value) > _MAX_DIGITS:
                problem = f"{value[:20]}… is too large"
            hint = f"See: {ctx.command_path if ctx else 'memolith'} --help"
            raise UsageError(f"{_name(param)}: {problem}.", hint=hint)
        return self._kind(value)


COUNT = Number("N", r"\d{1,18}", "0, 1, 2 …")
LINE = Number("N", r"0*[1-9]\d{0,17}", "1, 2, 3 …")  # as editors count them
SECONDS = Number("SECONDS", r"(?=.*[1-9])\d{1,9}(\.\d{,9})?", "seconds, such as 0.5 or 10", float)
FRACTION = Number("N", r"[+-]?\d*\.?\d+(e-?\d+)?", "a number from 0 to 1", float)

# Options that several commands share

flag = partial(click.option, is_flag=True)


def kind_option(text: str) -> Callable[[Function], Function]:
    """`--kind`: in what kind of session something is said or asked."""
    text = f"the kind of the session ({', '.join(SESSION_KINDS)}): {text}"
    choice = Choice(SESSION_KINDS)
    return click.option("--kind", metavar="KIND", type=choice, default="main", help=text)


def sensitivity_option(default: str | None) -> Callable[[Function], Function]:
    """`--sensitivity`: who may see a record."""
    text = f"who may see it: {', '.join(SENSITIVITIES)} (default: {default or 'as before'})"
    choice = Choice(SENSITIVITIES)
    return click.option("--sensitivity", metavar="WHO", type=choice, default=default, help=text)


def limit_option(default: int, text: str) -> Callable[[Function], Function]:
    """`--limit`: how many are shown."""
    return click.option("--limit", type=COUNT, default=default, help=f"{text} (default: {default})")


yes_option = flag("--yes", help="do not ask")
dry_run_option = flag("--dry-run", help="show the changes, write nothing")
apply_option = flag("--apply", "at_once", help='apply at once, even if jobs.review is "ask"')


def read_metadata(pairs: Iterable[str]) -> dict[str, object]:
    """The metadata that --meta KEY=VALUE asks for."""
    metadata: dict[str, object] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not key or not equals:
            hint = "For example: --meta ticket=12"
            raise UsageError(f"--meta {pair[:40]!a} is not KEY=VALUE.", hint=hint)
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
    data = rest_of_input(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        message = f"The text has more than {MAX_BYTES:,} bytes. Nothing was changed."
        raise RefusedError(message, hint="Keep the essence, or split it.")
    return decode(data)


def at_terminal() -> bool:
    """Whether there is a person to ask."""
    return sys.stdin is not None and sys.stdin.isatty()


def confirmed(question: str) -> bool:
    """Ask the person at the terminal; anything but yes is no."""
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
