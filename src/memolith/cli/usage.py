"""What was typed: the options every command takes, and a parser that helps instead of scolding."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import NoReturn

from memolith.cli.exit_codes import UsageError as UsageError  # noqa: PLC0414

# Option, name of its value ("" for a switch), help. They may stand anywhere on the line.
GLOBAL_OPTIONS = (
    ("--root", "DIR", "the folder that holds the memory"),
    ("--profile", "NAME", "the memory with this name, under ~/.memolith/profiles"),
    ("--set", "KEY=VALUE", "use another value for a setting this once; may be repeated"),
    ("--json", "", "print JSON for programs"),
    ("--debug", "", "show where an error came from"),
    ("--help", "", "show help and examples, and stop"),
    ("--version", "", "show the version, and stop"),
)

# The options of the commands that take a value; a test keeps the list complete.
VALUE_OPTIONS = frozenset(
    """--about --as-of --assistant --by --category --channel --chat --confidence --deadline --expires --from
    --host --keyword --kind --known --limit --lines --log-level --max-chars --max-records --max-tokens
    --meta --offset --path --platform --port --sensitivity --session --since --text --timestamp --title
    --tools --until --user""".split()
)
_MOST_DIGITS = 18
_OTHERWISE = ("config",)  # whose --user is a switch


class Arguments(argparse.Namespace):
    """What was asked for: the options of every command, and those of this one."""

    def __init__(self) -> None:
        """Nothing asked for yet."""
        super().__init__()
        self.command = ""
        self.root: str | None = None
        self.profile: str | None = None
        self.set: list[str] = []
        self.json = False
        self.debug = False
        self.help = False
        self.version = False


def read_global_options(argv: Iterable[str]) -> tuple[Arguments, list[str]]:
    """Take the options of every command out of the line, wherever they stand, and the command.

    What follows `--` is text, whatever it looks like.

    >>> args, rest = read_global_options(["--root=here", "remember", "--json", "tea"])
    >>> args.root, args.command, args.json, rest
    ('here', 'remember', True, ['tea'])
    """
    args = Arguments()
    rest: list[str] = []
    takes_value = {option: bool(metavar) for option, metavar, _ in GLOBAL_OPTIONS}
    words = iter(argv)
    for word in words:
        option, equals, value = word.partition("=")
        if word == "--":
            rest += [word, *words]
        elif word == "-h":
            args.help = True
        elif takes_value.get(option):
            _note(args, option, value if equals else next(words, None))
        elif word in takes_value:
            setattr(args, word[2:], True)
        elif word in VALUE_OPTIONS and args.command not in ("", *_OTHERWISE):
            rest += _with_value(word, next(words, None))
        elif args.command or word.startswith("-"):
            rest.append(word)
        else:
            args.command = word
            _refuse_early_options(rest)
    return args, rest


def _with_value(option: str, value: str | None) -> list[str]:
    """An option and its value; joined where the value looks like an option, so that it stays one.

    It may be what somebody said in a chat, and must never steer us.
    """
    if value is None:
        return [option]
    return [f"{option}={value}"] if value.startswith("-") else [option, value]


def _note(args: Arguments, option: str, value: str | None) -> None:
    if value is None:
        raise UsageError(f"{option} needs a value.", hint="See: memolith --help")
    if option == "--set":
        args.set.append(value)
    else:
        setattr(args, option[2:], value)


def _refuse_early_options(early: Sequence[str]) -> None:
    if early:
        meant = nearest(early[0].lstrip("-"), (name.lstrip("-") for name, _, _ in GLOBAL_OPTIONS))
        raise UsageError(
            f"{early[0]!a} stands before the command.",
            hint=f"Did you mean --{meant}?"
            if meant
            else "Options of one command follow it: memolith COMMAND [options]",
        )


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Help as wide as the terminal. argparse would import a module only to learn that width."""

    def __init__(self, prog: str) -> None:
        """Lay out the help of `prog`."""
        super().__init__(prog, max_help_position=28, width=min(100, terminal_width()))


def terminal_width() -> int:
    """The columns of the terminal, or 80."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return max(20, int(columns))
    try:
        return max(20, os.get_terminal_size(1).columns or 80)
    except OSError:
        return 80


class Parser(argparse.ArgumentParser):
    """The arguments of one command. Options and words may be mixed; a mistake is a UsageError."""

    def __init__(
        self,
        prog: str | None = None,
        *,
        usage: str | None = None,
        description: str | None = None,
        epilog: str | None = None,
    ) -> None:
        """Make a parser for `prog`; options must be written in full."""
        super().__init__(
            prog=prog,
            usage=usage,
            description=description,
            epilog=epilog,
            formatter_class=HelpFormatter,
            add_help=False,
            allow_abbrev=False,
        )

    def read(self, words: Sequence[str], args: Arguments) -> None:
        """Fill `args` from the words; options that every command has keep what they have."""
        known = dict(vars(args))
        _, unknown = self.parse_known_args(self._options_first(words), args)
        vars(args).update(known)
        for word in unknown:
            if word != "--":
                self._refuse(word)

    def _options_first(self, words: Sequence[str]) -> Sequence[str]:
        """Options, then texts: argparse loses texts that stand on both sides of an option."""
        if self._subparsers is not None:
            return words  # each action has its own options
        takes_value = {
            option: action.nargs != 0
            for action in self._actions
            for option in action.option_strings
        }
        options: list[str] = []
        texts: list[str] = []
        rest = iter(words)
        for word in rest:
            if word == "--":
                texts += rest
            elif not _looks_like_option(word):
                texts.append(word)
            elif not takes_value.get(word):
                options.append(word)
            else:
                options.append(word)
                value = next(rest, None)
                if value in takes_value:  # the value was left out; argparse will say so
                    options.append(value)
                elif value is not None:  # joined, so that it may start with a dash
                    options[-1] += f"={value}"
        return [*options, "--", *texts] if texts else options

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the line; argparse itself would print and exit."""
        from memolith.cli.mistakes import in_words  # only needed once something is wrong

        said, hint = in_words(message, self._choices_of(message) or f"See: {self.prog} --help")
        raise UsageError(said, hint=hint)

    def _choices_of(self, message: str) -> str:
        """What an argument may be that the message says is missing, if that can be listed."""
        for action in self._actions:
            if action.choices and message.endswith(f": {action.metavar}"):
                return f"Use one of {', '.join(action.choices)}."
        return ""

    def _refuse(self, word: str) -> NoReturn:
        if not _looks_like_option(word):
            raise UsageError(f"{word!a} is one word too many.", hint=f"See: {self.prog} --help")
        option = word.partition("=")[0]
        known = {*_options(self), *(name for name, _, _ in GLOBAL_OPTIONS)}
        near = nearest(option.lstrip("-"), sorted(name.lstrip("-") for name in known))
        if option in known:
            hint = f"Another action has it. See: {self.prog} --help"
        elif near:
            hint = f"Did you mean --{near}?"
        else:
            hint = f"If it is text, put -- before it. See: {self.prog} --help"
        raise UsageError(f"Unknown option {option!a}.", hint=hint)


def _looks_like_option(word: str) -> bool:
    return len(word) > 1 and word[0] == "-" and " " not in word and not word[1:].isdecimal()


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    """The options of a command, and those of its actions."""
    for action in parser._actions:  # noqa: SLF001 — argparse has no other way to ask
        yield from action.option_strings
        if isinstance(action.choices, dict):
            for own in action.choices.values():
                yield from _options(own)


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that is most like this one, or ""."""
    import difflib  # only needed once something is wrong

    return next(iter(difflib.get_close_matches(word[:40], list(known), n=1)), "")


def line_number(text: str) -> int:
    """An argument that names a line, as editors count them: 1, 2, 3 …"""
    if not text.strip("0") or not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected 1, 2, 3 …, not {text[:40]!a}")
    return whole_number(text)


def whole_number(text: str) -> int:
    """An argument that counts something: 0, 1, 2 …"""
    if not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"expected 0, 1, 2 …, not {text[:40]!a}")
    if len(text) > _MOST_DIGITS:
        raise argparse.ArgumentTypeError(f"{text[:20]}… is too large")
    return int(text)


def seconds(text: str) -> float:
    """An argument that is a span of time: 0.5, 10 …"""
    whole, _, part = text.partition(".")
    if not (text.isascii() and (whole + part).isdecimal() and len(text) <= 18 and float(text)):
        raise argparse.ArgumentTypeError(f"expected seconds, such as 0.5 or 10, not {text[:40]!a}")
    return float(text)
