"""What a setting is: its default, its line of doc, the rule its values obey; and what a section is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from memolith.errors import ConfigError

Value = bool | int | float | str | tuple[str, ...]

ARGUMENT = "argument"  # --set on the command line, or Memory(settings=…)
ENVIRONMENT = "environment"
ENVIRONMENT_PREFIX = "MEMOLITH_"

MAX_NUMBER = 2**53  # the largest that every program holds exactly, in JSON too

_BOOLEANS = {"true": True, "yes": True, "on": True, "1": True}
_BOOLEANS |= {"false": False, "no": False, "off": False, "0": False}
_KINDS: dict[type, str] = {
    bool: "true or false", int: "a whole number", float: "a number", str: "text",
    tuple: "a list of texts",
}  # fmt: skip


@dataclass(eq=False, repr=False)  # every command makes these classes, and each method takes time
class Rule:
    """What a value must satisfy beyond its type; of a list, each of its texts."""

    text: str  # follows "expected"
    check: Callable[[Any], bool]
    choices: tuple[str, ...] = ()


@dataclass(eq=False, repr=False)
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
        return ENVIRONMENT_PREFIX + self.name.replace(".", "__").upper()

    @property
    def expected(self) -> str:
        """What a value must be, in words that follow "expected"."""
        if self.rule is None:
            return _KINDS[self.kind]
        if self.kind is str:
            return self.rule.text
        prefix = "a list; each entry " if self.kind is tuple else f"{_KINDS[self.kind]}, "
        return prefix + self.rule.text

    def needs_trust(self, value: Value) -> bool:
        """Whether this value may not come from a file that was found in a project folder."""
        return self.trusted_only or (self.trusted_to_lower and value < self.default)  # type: ignore[operator]

    def check(self, raw: object, origin: str) -> Value:
        """The value in the setting's type; ConfigError if it is of another type or breaks the rule.

        Environment and arguments may give any type as text. In a file 5 is a number and "5" a text.
        """
        value = self._converted(raw, origin)
        if self._is_of_kind(value) and self._obeys_rule(value):
            return value  # type: ignore[return-value]
        message = f"{self.name} = {quoted(raw)} ({origin}): expected {self.expected}"
        raise ConfigError(message, setting=self.name, origin=origin, hint=self._hint(raw))

    def _converted(self, raw: object, origin: str) -> object:
        """In the setting's type where that is possible; otherwise unchanged, to be refused."""
        if self.kind is tuple:
            entries = _split(raw) if isinstance(raw, str) else raw
            return tuple(entries) if isinstance(entries, list) else entries
        value = raw
        if isinstance(raw, str) and origin in (ENVIRONMENT, ARGUMENT):
            try:
                value = _BOOLEANS.get(raw.lower(), raw) if self.kind is bool else self.kind(raw)
            except ValueError:
                return raw
        # A larger int may not fit into a float.
        if self.kind is float and type(value) is int and abs(value) < MAX_NUMBER:
            return float(value)
        return value

    def _is_of_kind(self, value: object) -> bool:
        if isinstance(value, tuple):
            return self.kind is tuple and all(isinstance(entry, str) for entry in value)
        if isinstance(value, int | float) and not abs(value) <= MAX_NUMBER:  # NaN is neither
            return False
        return type(value) is self.kind

    def _obeys_rule(self, value: Any) -> bool:
        if self.rule is None or value == self.default:
            return True
        return all(map(self.rule.check, value if self.kind is tuple else [value]))

    def _hint(self, raw: object) -> str:
        """The largest number, or the choice that was probably meant."""
        digits = str(raw).strip()
        if self.kind is not str and digits.isdecimal() and len(digits) >= len(str(MAX_NUMBER)):
            return f"At most {MAX_NUMBER:,}."
        for word in map(str.strip, str(raw).split(",")):
            near = nearest(word, self.rule.choices) if self.rule else ""
            if near and near != word:
                return f"Did you mean {near}?"
        return ""


def _split(text: str) -> list[Any]:
    """The entries of a list in a text: a TOML or JSON list, or entries with commas between."""
    if text.lstrip().startswith("["):
        import tomllib

        try:
            entries = tomllib.loads(f"entries = {text}")["entries"]
        except ValueError:
            return [text]
        return entries if isinstance(entries, list) else [text]
    return [entry.strip() for entry in text.split(",") if entry.strip()]


def setting(default: Any, doc: str, rule: Rule | None = None, **flags: bool) -> Any:
    """A value of a section that can be set; `flags` are those of `Setting`."""
    return Setting(default, doc, rule, **flags)  # type: ignore[arg-type]


class Values:
    """Named values that never change; what is not given has its default.

    A dataclass would do the same, but to make seventeen of them takes longer than to write a record.
    """

    _defaults: ClassVar[dict[str, object]] = {}

    def __init_subclass__(cls) -> None:
        declared = {name: vars(cls)[name] for name in cls.__annotations__}
        cls._defaults = {
            name: value.default if isinstance(value, Setting) else value
            for name, value in declared.items()
        }

    def __init__(self, **values: Any) -> None:
        if unknown := values.keys() - self._defaults:
            raise TypeError(f"{type(self).__name__} has no {', '.join(sorted(unknown))}")
        vars(self).update(self._defaults | values)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be changed")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))

    def replace(self, **values: Any) -> Self:
        """The same with other values."""
        return type(self)(**{**vars(self), **values})


def one_of(*choices: str) -> Rule:
    """The value is one of these words."""
    return Rule(f"one of {', '.join(choices)}", choices.__contains__, choices)


def at_least(low: float) -> Rule:
    """The value is this number or a larger one."""
    return Rule(f"at least {low}", lambda value: value >= low)


def between(low: float, high: float) -> Rule:
    """The value is within these bounds, both included."""
    return Rule(f"from {low} to {high}", lambda value: low <= value <= high)


def nearest(word: str, words: Iterable[str], min_similarity: float = 0.6) -> str:
    """The most similar of these words, or ""."""
    import difflib  # only needed once something is wrong

    matches = difflib.get_close_matches(word[:80], list(words), n=1, cutoff=min_similarity)
    return matches[0] if matches else ""


def quoted(value: object) -> str:
    """A value as an error quotes it: short and printable, whatever a file contains."""
    import reprlib

    short = reprlib.Repr()
    short.maxstring = short.maxother = short.maxlong = 80
    return short.repr(value)


def quoted_name(name: str) -> str:
    """The name of a setting as an error quotes it."""
    return name if name.isprintable() and len(name) <= 80 else quoted(name)


def toml_value(value: Value) -> str:
    """A value as a settings file spells it.

    >>> toml_value(True), toml_value(0.1), toml_value(("~/notes", "~/mail"))
    ('true', '0.1', '["~/notes", "~/mail"]')
    """
    if isinstance(value, bool | str | tuple):
        import json

        return json.dumps(value, ensure_ascii=False)
    return repr(value)


def _is_zone(name: str) -> bool:
    from zoneinfo import ZoneInfo  # only users who set a zone pay for this import

    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # unknown, not a name at all, a folder of zones
        return False
    return True


def _is_cron(text: str) -> bool:
    from datetime import UTC, datetime

    from cronsim import CronSim, CronSimError

    try:
        next(CronSim(text, datetime(2026, 1, 1, tzinfo=UTC)))
    except (CronSimError, StopIteration):
        return False
    return True


def _is_endpoint(text: str) -> bool:
    """Text of a memory may leave this machine only encrypted."""
    from urllib.parse import urlsplit

    try:
        url = urlsplit(text)
        is_local = url.hostname in ("localhost", "127.0.0.1", "::1")
    except ValueError:
        return False
    allowed = ("http", "https") if is_local else ("https",)
    return url.scheme in allowed and bool(url.hostname) and not url.username and not url.query


# Files with a meaning of their own: what a job writes into one of them would be read as that.
_OWN_FILES = (
    r"(memory/)?memory\.md|(user|longmemory|dreams)\.md|memory/(experiences|\d{4}-\d\d-\d\d)\.md"
)


def _is_inside(path: str) -> bool:
    return (
        path.isprintable()
        and not any(character in path for character in '\\:*?"<>|')
        and not path.startswith("~")
        and not {"", ".", ".."} & set(path.split("/"))
    )


def _is_free(path: str) -> bool:
    return path.endswith(".md") and _is_inside(path) and not re.fullmatch(_OWN_FILES, path.lower())


def _matches(pattern: str) -> Callable[[str], bool]:
    return lambda text: bool(re.fullmatch(pattern, text))


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

_HOST = r"([\w.-]+|\[[0-9a-fA-F:.]+\])"
ZONE = Rule('an IANA time zone such as Europe/Madrid, or "" for the system\'s', _is_zone)
CRON = Rule("a cron expression such as 0 3 * * * (minute hour day month weekday)", _is_cron)
ENDPOINT = Rule(
    'the https address of an OpenAI-compatible API (http only on this machine), or "" for none',
    _is_endpoint,
)
ARCHIVE = Rule(
    "a .md file inside the profile (relative, without .. or ~) that has no other use", _is_free
)
# Where every reader looks: search, forget and the search for secret marks among them.
IN_MEMORY = Rule(
    "a .md file directly in memory/ that has no other use",
    lambda path: bool(re.fullmatch(r"memory/\w[^/]*", path)) and _is_free(path),
)
INSIDE = Rule("a file inside the profile (relative, without .. or ~)", _is_inside)
FOLDER = Rule(
    "a folder by its full path or from ~, without ..",
    lambda path: (
        path.startswith(("/", "~"))
        and path.isprintable()
        and ".." not in path.split("/")
        and not re.search(":[/~]", path)  # two folders in one text
    ),
)
HOST = Rule("a name or an address, such as 127.0.0.1", _matches(r"[\w.-]+|[0-9a-fA-F:.]+(%\w+)?"))
ALLOWED = Rule(
    "a host name, or the origin of a web page such as http://localhost:5173",
    _matches(rf"{_HOST}|[a-zA-Z][\w+.-]*://{_HOST}(:\d+)?|null"),
)
TOOLS = Rule(
    f"core, all, or names with commas between them, of {', '.join(TOOL_NAMES)}",
    lambda value: value in ("core", "all") or {*tool_names(value)} <= {*TOOL_NAMES},
    choices=("core", "all", *TOOL_NAMES),
)
PATTERN = Rule(
    "a channel, where * stands for any text",
    lambda text: 0 < len(text) <= 100 and text.isprintable(),
)
EXTERNAL_CHANNELS = (
    "web", "web:*", "http:*", "https:*", "email*", "mail*", "rss*", "webhook*", "tool:*",
    "*group*", "*public*",
)  # fmt: skip
