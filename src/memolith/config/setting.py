"""What a setting is: its default, its line of doc, the rule its values obey; and what a section is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple, Self

from memolith.errors import ConfigError

Value = bool | int | float | str | tuple[str, ...]

ARGUMENT = "argument"  # --set on the command line, or Memory(settings=…)
ENVIRONMENT = "environment"
SEE_ALL = "See all settings: memolith config show"

MAX_NUMBER = 2**53  # the largest that every program holds exactly, in JSON too

_YES, _NO = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
_BOOLEANS = dict.fromkeys(_YES, True) | dict.fromkeys(_NO, False)
_KINDS: dict[type, str] = {bool: "true or false", int: "a whole number", float: "a number"}
_KINDS |= {str: "text", tuple: "a list of texts"}


class Rule(NamedTuple):
    """What a value must satisfy beyond its type; of a list, each of its texts."""

    text: str  # follows "expected"
    check: Callable[[Any], object]
    choices: tuple[str, ...] = ()


@dataclass(eq=False, repr=False)  # every command makes this class, and each method takes time
class Setting:
    """One setting as the loader, the command line and the documentation see it."""

    default: Value
    doc: str
    rule: Rule | None = None
    trusted_only: bool = False  # never taken from a file that was found in a project folder
    trusted_to_lower: bool = False  # such a file may raise it only
    restart: bool = False  # a running server takes a new value when it is started again
    name: str = ""  # "section.key", known when all sections are

    @property
    def kind(self) -> type[Value]:
        """The type of its values: bool, int, float, str or tuple."""
        return type(self.default)

    @property
    def variable(self) -> str:
        """Its environment variable, such as `MEMOLITH_TRIM__MAX_RECORDS`."""
        return "MEMOLITH_" + self.name.replace(".", "__").upper()

    @property
    def expected(self) -> str:
        """What a value must be, in words that follow "expected"."""
        if self.rule is None or self.kind is str:
            return self.rule.text if self.rule else _KINDS[self.kind]
        prefix = "a list; each entry " if self.kind is tuple else f"{_KINDS[self.kind]}, "
        return prefix + self.rule.text

    def needs_trust(self, value: Value) -> bool:
        """Whether this value may not come from a file that was found in a project folder."""
        return self.trusted_only or (self.trusted_to_lower and value < self.default)  # type: ignore[operator]

    def check(self, raw: object, origin: str) -> Value:
        """The value in the setting's type; ConfigError if it is of another type or breaks the rule.

        Environment and arguments may give any type as text. In a file 5 is a number and "5" a text.
        """
        value = self._converted(raw, is_text=origin in (ENVIRONMENT, ARGUMENT))
        entries = value if isinstance(value, tuple) else (value,)
        if type(value) is self.kind and all(map(self._accepts, entries)):
            return value
        message = f"{self.name} = {quoted(raw)}{given_in(origin)}: expected {self.expected}"
        raise ConfigError(message, setting=self.name, origin=origin, hint=self._hint(raw))

    def _converted(self, raw: object, *, is_text: bool) -> object:
        """In the setting's type where that is possible; otherwise unchanged, to be refused."""
        if self.kind is tuple:
            entries = _split(raw) if isinstance(raw, str) else raw
            return tuple(entries) if isinstance(entries, list) else entries
        with suppress(ValueError, KeyError, OverflowError):
            if isinstance(raw, str) and is_text:
                return _BOOLEANS[raw.lower()] if self.kind is bool else self.kind(raw)
            if type(raw) is int and self.kind is float:
                return float(raw)
        return raw

    def _accepts(self, value: Any) -> bool:
        """Whether the rule allows a value, or an entry of a list."""
        if isinstance(value, int | float) and not abs(value) <= MAX_NUMBER:  # NaN is neither
            return False
        if self.kind is tuple and not isinstance(value, str):
            return False
        return self.rule is None or value == self.default or bool(self.rule.check(value))

    def _hint(self, raw: object) -> str:
        """The largest number, or the choice that was probably meant."""
        text = str(raw).strip()
        if self.kind is not str and text.isdecimal() and len(text) >= len(str(MAX_NUMBER)):
            return f"At most {MAX_NUMBER:,}."
        for word in map(str.strip, text.split(",")):
            near = nearest(word, self.rule.choices if self.rule else ())
            if near not in ("", word):
                return f"Did you mean {near}?"
        return ""


def _split(text: str) -> list[Any]:
    """The entries of a list in a text: a TOML or JSON list, or entries with commas between."""
    if not text.lstrip().startswith("["):
        return [entry.strip() for entry in text.split(",") if entry.strip()]
    import tomllib

    with suppress(ValueError, RecursionError):
        return [*tomllib.loads(f"entries = {text}")["entries"]]
    return [text]


def setting(default: Any, doc: str, rule: Rule | None = None, **flags: bool) -> Any:
    """A value of a section that can be set; `flags` are those of `Setting`."""
    return Setting(default, doc, rule, **flags)  # type: ignore[arg-type]


class Values(SimpleNamespace):
    """Named values that never change; what is not given has its default.

    A dataclass would do the same, but to make seventeen of them takes longer than to write a record.
    """

    def __init__(self, **values: Any) -> None:
        declared = {name: getattr(type(self), name) for name in self.__annotations__}
        if unknown := values.keys() - declared:
            raise TypeError(f"{type(self).__name__} has no {', '.join(sorted(unknown))}")
        defaults = {name: getattr(value, "default", value) for name, value in declared.items()}
        super().__init__(**defaults | values)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be changed")

    def replace(self, **values: Any) -> Self:
        """The same with other values."""
        return type(self)(**vars(self) | values)


def nearest(word: str, words: Iterable[str], min_similarity: float = 0.6) -> str:
    """The most similar of these words, or ""."""
    import difflib  # only needed once something is wrong

    return next(iter(difflib.get_close_matches(word[:80], words, 1, min_similarity)), "")


def quoted(value: object) -> str:
    """A value as an error quotes it: short and printable, whatever a file contains."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def given_in(origin: str) -> str:
    """Where a value was given, behind a space; not if the user just typed it."""
    return "" if origin == ARGUMENT else f" ({origin})"


def unknown(
    what: str, name: str, origin: str, names: Iterable[str], min_similarity: float = 0.6
) -> ConfigError:
    """An error about a name that does not exist; it suggests the nearest of those that do."""
    near = nearest(name, names, min_similarity)
    hint = f"Did you mean {near}?" if near else SEE_ALL
    shown = name if name.isprintable() and len(name) <= 80 else quoted(name)
    message = f"Unknown {what} {shown}{given_in(origin)}"
    return ConfigError(message, setting=name.strip("[]"), origin=origin, hint=hint)


def toml_value(value: Value) -> str:
    """A value as a settings file spells it.

    >>> toml_value(True), toml_value(0.1), toml_value(("~/notes", "~/mail"))
    ('true', '0.1', '["~/notes", "~/mail"]')
    """
    import json

    return json.dumps(value, ensure_ascii=False)


def tool_names(tools: str) -> tuple[str, ...]:
    """The names in the setting.

    >>> tool_names("memory_get, dream")
    ('memory_get', 'dream')
    """
    return tuple(name.strip() for name in tools.split(","))


# Known here too: a misspelt name is refused before a server starts without the tool.
TOOL_NAMES = (
    "session_start", "memory_context", "recall_memory", "query_experiences", "relationships",
    "memory_search", "memory_get", "remember_this", "memory", "dream",
)  # fmt: skip
