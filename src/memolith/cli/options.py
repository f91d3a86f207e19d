"""What a command line asks for: the options of every command, the memory they lead to, and how it ends.

A command is a function whose docstring is its help and declares its options. It gets their values, and
if it asks for them the `call` and the open `memory`. It yields its result: `--json` prints that and stops,
else what follows shows it:

    @command(reads=True)
    def recap(memory: Memory, chat: str, **options: Any) -> Steps:
        '''Print the newest turns of a chat.

        Options:
            --chat ID  the chat (default: main)
            --limit N  how many turns

        Examples:
            memolith recap --chat 42 --limit 3
        '''
        found = memory.chats.recap(chat, **options)
        yield found
        output.say(found.text)

What a person must read goes through `output`; a mistake is a `UsageError`, any other failure another
`MemolithError`: `main` turns both into a message, a hint and an exit code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from inspect import cleandoc
from typing import TYPE_CHECKING, Any

import click

from memolith import __version__
from memolith.cli import output
from memolith.config.load import open_profile, settings_from_flags
from memolith.config.setting import nearest
from memolith.errors import MemolithError, RefusedError
from memolith.text.wording import leading
from memolith.types import Plain

if TYPE_CHECKING:
    from memolith.config.load import LoadedConfig
    from memolith.config.setting import Value
    from memolith.memory import Memory
    from memolith.profile import Profile

Function = Callable[..., Any]  # that a command is made of
Steps = Iterator[Plain]  # of a command: its result, after which it shows that

_TEXT = "\0\0"  # before a word that is no option, although it begins with a dash


class UsageError(MemolithError):
    """The command line cannot be understood; nothing was done."""

    kind = "usage"


# How a command ends. 1 is an error we did not foresee.
OK, BUG, USAGE = 0, 1, 2
UNHEALTHY = 20  # `doctor` found an error
DECLINED = 21  # you were asked and said no
INTERRUPTED = 130  # Ctrl-C, as shells have it
READER_GONE = 141  # nobody reads our output any more, as in `memolith list | head`

# The kinds of errors; the first has the code 2, each of the others the next one.
_KINDS = """
usage config profile path file-format not-found refused busy changed backup-damaged storage index
embedding job summariser
"""
CODES = {kind: code for code, kind in enumerate(_KINDS.split(), start=USAGE)}


def kind_of(error: Exception) -> tuple[str, int]:
    """The kind of an error as `--json` names it, and its exit code.

    >>> kind_of(MemolithError("No such thing."))
    ('bug', 1)
    """
    kind = error.kind if isinstance(error, MemolithError) else "bug"
    return kind, CODES.get(kind, BUG)


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
        self.code = OK  # with which the command ends
        self.see = ""  # a command that says more about the warnings of this one
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
            output.warn(self._notice)  # on standard error: no model reads it
        return profile, loaded

    def show(self, steps: Iterable[Plain]) -> None:
        """Let a command show its result to people, with its warnings; or print the result as JSON."""
        result = None
        for result in steps:
            if self.json:
                output.say_json(result.to_dict())
                break
        else:
            warnings = getattr(result, "warnings", ())
            self.warn(warnings)
            if warnings and self.see:
                output.note(f"Look closer: {self.again(self.see)}")
        output.finish()  # a server goes on

    def warn(self, warnings: Iterable[str]) -> None:
        """Print warnings on standard error, in the one spelling there is."""
        output.warn(*map(self.here, warnings))

    def failed(self, error: MemolithError) -> None:
        """End with the code of an error that does not stop the command."""
        self.code = kind_of(error)[1]

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

    def ask(self, question: str, *, sure: str = "") -> None:
        """Ask the person at the terminal, and end if the answer is no; `sure` says it in advance."""
        if self.json or not output.at_terminal():
            message = "There is no terminal to ask you on. Nothing was changed."
            raise RefusedError(message, hint=f"If you are sure: {sure}")
        if not output.confirmed(question):
            output.note("Nothing was changed.")
            raise click.exceptions.Exit(DECLINED)


def text_of(words: Sequence[str]) -> str:
    """The words as one text; standard input for `-`, or if there are no words and it is piped in.

    Of standard input the line ends around it go, and bytes that are not UTF-8 are kept.
    """
    if list(words) == ["-"] or (not words and output.is_piped()):
        data = output.rest_of_input(output.MAX_BYTES + 1)
        if len(data) > output.MAX_BYTES:
            message = f"The text has more than {output.MAX_BYTES:,} bytes. Nothing was changed."
            raise RefusedError(message, hint="Keep the essence, or split it.")
        return output.decode(data)
    if not words:
        command = click.get_current_context().command
        example = getattr(command, "examples", "").partition("\n")[0]
        raise UsageError("There is no text.", hint=f"Example: {example}")
    return " ".join(words)


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


def suggestion(word: str, known: Iterable[str]) -> str:
    """The known word that was probably meant; if none is like it, all of them."""
    names = list(known)
    near = nearest(word, names)
    return f"Did you mean {near}?" if near else f"Use one of {', '.join(names)}."


class _Choice(click.Choice[str]):
    """One of a few words; a wrong one gets a suggestion."""

    def get_invalid_choice_message(self, value: object, ctx: click.Context | None) -> str:
        """What was probably meant."""
        return f"{value!a} is not one of its values. {suggestion(str(value), self.choices)}"

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str:
        """What it may be."""
        return f"Use one of {', '.join(self.choices)}."


# What the values of options are, by what help calls them; others are texts.
_TYPES: Mapping[str, click.ParamType[Any]] = {
    "N": click.IntRange(0, 10**12),
    "LINE": click.IntRange(1, 10**12),  # as editors count them
    "SECONDS": click.FloatRange(0, 10**9, min_open=True),
    "FRACTION": click.FloatRange(0, 1),
}


# Commands


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
    elif "--json" in ctx.ensure_object(Call).words:
        output.say_json({"version": __version__})
    else:
        output.say(f"memolith {__version__}")
    ctx.exit()


# Those that several commands have are declared once: those of all, the global ones, and others, each by its
# name alone in a docstring.
with open(f"{__file__[:-3]}.txt", encoding="utf-8") as _table:
    _OF_ALL, _OF_MANY = (part.splitlines() for part in _table.read().split("\n\n"))
_SHARED = {line.split()[0]: line for line in _OF_MANY}
_LINE = re.compile(r"((?:-\w, )?--[\w-]+)? ?(\S*)(?:  (.+))?")
_DEFAULT = re.compile(r"\(default: (\S+)\)$")


def _params(lines: Iterable[str], names: Sequence[str] = (), **more: Any) -> list[click.Parameter]:
    """The options of a table, each a line such as `--limit N  how many (default: 10)`.

    What does not begin with a dash is an argument; […] may be left out, … may be given several times. Of
    `HOST=codex|gemini` the words are listed behind the text.
    `names` are those of the function: one that Python has already is there with a `_` behind it.
    """
    return [_param(_SHARED.get(line, line), names, more) for line in lines]


def _param(line: str, names: Sequence[str], more: Mapping[str, Any]) -> click.Parameter:
    found = _LINE.fullmatch(line)
    assert found, line  # noqa: S101 - a mistake in a docstring
    options, metavar, text = (part or "" for part in found.groups())
    word = metavar.rstrip(".").strip("[]")
    title, _, words = word.rpartition("=")
    choices = words.split("|") if "|" in words else ()
    if choices and title:
        metavar, text = title, f"{text}: {', '.join(choices)}"
    name = options.split("--")[1] if options else "choice" if choices else word.lower()
    name = name.replace("-", "_")
    name = f"{name}_" if f"{name}_" in names else name
    more = {**more, "help": text}
    if word:
        more |= {"metavar": metavar, "type": _Choice(choices) if choices else _TYPES.get(word)}
    if default := _DEFAULT.search(text):
        more["default"] = default[1]
    is_many = metavar.endswith("...")
    if not options:
        more["required"] = not (is_many or "[" in metavar)
        return click.Argument([name], nargs=-1 if is_many else 1, **more)
    more |= {"is_flag": not word or None, "multiple": is_many, "hidden": not text}
    return click.Option([*options.split(", "), name], **more)


GLOBAL_OPTIONS = (
    *_params(_OF_ALL[:5], callback=_keep, expose_value=False, is_eager=True),
    *_params(_OF_ALL[5:], callback=_show, expose_value=False, is_eager=True),
)


class Command(click.Command):
    """A command made of a function and its docstring. Options and words may be mixed."""

    def __init__(self, name: str, function: Function, help_text: str = "", **more: Any):
        """The docstring, or `help_text`, has the help, the options and examples."""
        reads = more.pop("reads", False)

        @click.pass_obj
        def run(call: Call, /, **values: Any) -> None:
            wanted = function.__annotations__
            with ExitStack() as stack:
                if "call" in wanted:
                    values["call"] = call
                if "memory" in wanted:
                    values["memory"] = stack.enter_context(call.open(reads=reads))
                call.show(function(**values) or ())

        text = cleandoc(help_text or function.__doc__ or "")
        text, _, examples = text.partition("\nExamples:\n")
        text, _, options = text.partition("\nOptions:\n")
        names = function.__code__.co_varnames
        params = [*_params(cleandoc(options).splitlines(), names), *GLOBAL_OPTIONS]
        super().__init__(
            name, callback=run, params=params, help=text.rstrip(), add_help_option=False, **more
        )
        self.examples = cleandoc(examples)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Let words with spaces, and numbers, be text even if they begin with a dash."""
        own = (param for param in self.params if isinstance(param, click.Option))
        takes_value = {name for param in own if not param.is_flag for name in param.opts}
        words = zip(["", *args], args, strict=False)
        args = [
            _TEXT + one if _is_text(one) and before not in takes_value else one
            for before, one in words
        ]
        with click.core.augment_usage_errors(ctx):
            rest = super().parse_args(ctx, args)
        for name, value in ctx.params.items():
            if isinstance(value, str):
                ctx.params[name] = value.removeprefix(_TEXT)
            elif isinstance(value, tuple):
                ctx.params[name] = tuple(one.removeprefix(_TEXT) for one in value)
        return rest

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Command lines to copy."""
        if self.examples:
            with formatter.section("Examples"):
                formatter.write("".join(f"  {line}\n" for line in self.examples.splitlines()))


class Group(Command, click.Group):
    """A command with actions, such as `jobs`; `default` is the action if none is named."""

    def __init__(self, name: str, function: Function, help_text: str = "", default: str = "", **more: Any):  # fmt: skip
        """Without an action or a default it says what is missing, instead of showing help."""
        more = {"subcommand_metavar": "ACTION ...", "no_args_is_help": False, **more}
        super().__init__(name, function, help_text, **more)
        self.default, self.callback = default, None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Options in front of the action, which reads the rest."""
        is_named = not {*self.commands, "--help", "-h"}.isdisjoint(args)
        is_mistaken = bool(args) and args[0][:1] != "-"
        if self.default and not (is_named or is_mistaken or ctx.resilient_parsing):
            args = [self.default, *args]
        return click.Group.parse_args(self, ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Its actions first: that is what people look for."""
        self.format_commands(ctx, formatter)
        click.Command.format_options(self, ctx, formatter)

    def action(self, name: str, **how: Any) -> Callable[[Function], Command]:
        """Make an action of a function, as `command` makes a command."""

        def make(function: Function) -> Command:
            self.add_command(made := command(name, **how)(function))
            return made

        return make


def command(name: str = "", *, reads: bool = False) -> Callable[[Function], Command]:
    """Make a command of a function; `reads` is as for `Call.open`."""
    return lambda function: Command(name or function.__name__, function, reads=reads)


def group(default: str = "") -> Callable[[Function], Group]:
    """Make a group of a function, which does nothing itself."""
    return lambda function: Group(function.__name__, function, default=default)


def _is_text(word: str) -> bool:
    return word[:1] == "-" and (" " in word.partition("=")[0] or word[1:2].isdigit())
