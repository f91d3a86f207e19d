"""What is written into the files of a host, and how it is taken out of them again."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from memolith.errors import FileFormatError
from memolith.text import json_text

OURS = "memolith"
_BOM = "\ufeff"
_MARK = "# Written by `memolith install codex`; `memolith uninstall codex` removes it."


class Change(Protocol):
    """One of our entries in a text; "" is a file that does not exist."""

    def add(self, text: str) -> str:
        """The text with our entry, which takes the place of an older one."""

    def remove(self, text: str) -> str:
        """The text without our entry, whoever wrote it."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A file that is ours alone."""

    text: str

    def add(self, text: str) -> str:
        """Our text."""
        return self.text

    def remove(self, text: str) -> str:
        """Nothing."""
        return ""


@dataclass(frozen=True, slots=True)
class Member:
    """An entry of an object in JSON, under our name."""

    path: tuple[str, ...]
    value: Mapping[str, object]

    def add(self, text: str) -> str:
        """The text with our entry; what a user has put into an older one stays."""
        entry: json_text.Node | None = json_text.parse(text)
        for key in (*self.path, OURS):
            entry = entry and entry.member(key)
        if entry is None or not is_command(entry.value):
            return json_text.with_member(text, (*self.path, OURS), self.value)
        for key, value in self.value.items():
            old = entry.member(key)
            if old is None or old.value != value:
                text = json_text.with_member(text, (*self.path, OURS, key), value)
        for key in switched_off(entry.value):
            text = json_text.without(text, (*self.path, OURS, key))
        return text

    def remove(self, text: str) -> str:
        """The text without it, and without objects that are empty then."""
        after = json_text.without(text, (*self.path, OURS))
        return after if after == text else _pruned(after, self.path)


@dataclass(frozen=True, slots=True)
class Hooks:
    """Commands that a host runs at its events, among those of others."""

    events: Mapping[str, Mapping[str, object]]  # what to add to the list of each event
    first: Mapping[str, object]  # what a new file begins with

    def add(self, text: str) -> str:
        """The text with our commands last."""
        if self._are_in(text):
            return text
        text = self.remove(text)
        for key, value in self.first.items():
            if json_text.parse(text).member(key) is None:
                text = json_text.with_member(text, (key,), value)
        for event, item in self.events.items():
            text = json_text.with_item(text, ("hooks", event), item)
        return text

    def remove(self, text: str) -> str:
        """The text without commands that start Memolith, at any event."""
        for event in self._events(text):
            after = json_text.without(text, ("hooks", event), starts_memolith)
            text = after if after == text else _pruned(after, ("hooks", event))
        return text

    def _are_in(self, text: str) -> bool:
        """Whether a text has these commands, and no other of ours."""
        lists = {event: items for event, items in self._events(text).items() if items}
        found = {event: [*filter(starts_memolith, items)] for event, items in lists.items()}
        ours = {event: items for event, items in found.items() if items}
        return ours == {event: [item] for event, item in self.events.items()}

    def _events(self, text: str) -> dict[str, list[object]]:
        hooks = json_text.parse(text).member("hooks")
        events = hooks.value if hooks is not None and isinstance(hooks.value, dict) else {}
        return {event: items for event, items in events.items() if isinstance(items, list)}


def _pruned(text: str, path: Sequence[str]) -> str:
    """The text without the objects and lists on this path that are empty."""
    for end in range(len(path), 0, -1):
        node: json_text.Node | None = json_text.parse(text)
        for key in path[:end]:
            node = node and node.member(key)
        if node is None or node.children:
            break
        text = json_text.without(text, path[:end])
    return text


def is_command(entry: object) -> bool:
    """Whether an entry starts a server, so that what else is in it can stay."""
    return isinstance(entry, dict) and isinstance(entry.get("command"), str)


def switched_off(entry: object) -> list[str]:
    """The members of an entry by which its server is switched off."""
    fields = entry if isinstance(entry, dict) else {}
    return [key for key, off in (("enabled", False), ("disabled", True)) if fields.get(key) is off]


def starts_memolith(entry: object) -> bool:
    """Whether an entry of a host's hooks runs Memolith.

    >>> starts_memolith({"hooks": [{"type": "command", "command": "'/my bin/memolith' context"}]})
    True
    """
    if not isinstance(entry, dict):
        return False
    inner = entry.get("hooks")
    if isinstance(inner, list) and inner:
        return all(starts_memolith(one) for one in inner)
    command = entry.get("command")
    words = command.replace("'", " ").replace('"', " ").split() if isinstance(command, str) else ()
    return any(word.rpartition("/")[2] == OURS for word in words)


@dataclass(frozen=True, slots=True)
class TomlTable:
    """A table of our own at the end of Codex's settings."""

    path: tuple[str, ...]
    values: Mapping[str, object]

    def add(self, text: str) -> str:
        """The text with our table; what a user has put into an older one stays."""
        entry = self._entry(parse_toml(text))
        if is_command(entry):
            return self._edited(text, entry)
        text = self.remove(text)
        lines = [
            _MARK,
            f"[{'.'.join((*self.path, OURS))}]",
            *(
                f"{key} = {json.dumps(value, ensure_ascii=False)}"
                for key, value in self.values.items()
            ),
        ]
        newline = "\r\n" if "\r\n" in text else "\n"
        gap = "" if not text else newline if text.endswith("\n") else newline * 2
        after = text + gap + newline.join(lines) + newline
        if not isinstance(parse_toml(text).get(self.path[0], {}), dict):
            raise ValueError(f"its {self.path[0]} is not a table")  # noqa: TRY004 - of the text
        try:
            parse_toml(after)
        except ValueError:
            return self._edited(text, {})  # the servers are an inline table
        return after

    def _edited(self, text: str, entry: Mapping[str, object]) -> str:
        """The text with our values set inside the table that is there."""
        import tomlkit

        off = switched_off(entry)
        changed = {key: value for key, value in self.values.items() if entry.get(key) != value}
        if not changed and not off:
            return text
        bom = _BOM if text.startswith(_BOM) else ""
        document = tomlkit.parse(text.removeprefix(_BOM))
        servers: Any = document[self.path[0]]
        if OURS not in servers:
            servers[OURS] = tomlkit.inline_table()
        table = servers[OURS]
        for key, value in changed.items():
            table[key] = value
        for key in off:
            del table[key]
        after = bom + tomlkit.dumps(document)
        kept = {key: value for key, value in entry.items() if key not in off}
        result = parse_toml(after)
        is_right = self._entry(result) == {**kept, **self.values}
        if not is_right or self._others(result) != self._others(parse_toml(text)):
            raise ValueError(f"write its {self.path[0]} as tables, [{self.path[0]}.NAME]")
        return after

    def remove(self, text: str) -> str:
        """The text without it, and without our comment above it."""
        before = parse_toml(text)
        expected = self._others(before)
        if expected == before:
            return text
        after = self._without_lines(text)
        if self._others(parse_toml(after)) == parse_toml(after) == expected:
            return after
        import tomlkit  # for a table that is written in another way

        document = tomlkit.parse(text)
        above: Any = document
        for key in self.path:
            above = above[key]
        del above[OURS]
        return tomlkit.dumps(document)

    def _entry(self, tables: Mapping[str, object]) -> Mapping[str, object]:
        """Our entry, or nothing."""
        servers = tables.get(self.path[0])
        entry = servers.get(OURS) if isinstance(servers, dict) else None
        return entry if isinstance(entry, dict) else {}

    def _others(self, tables: Mapping[str, object]) -> Mapping[str, object]:
        """The settings without ours."""
        key = self.path[0]
        inner = tables.get(key)
        if not isinstance(inner, dict) or OURS not in inner:
            return tables
        rest = {name: value for name, value in inner.items() if name != OURS}
        others = {name: value for name, value in tables.items() if name != key}
        return {**others, key: rest} if rest else others

    def _without_lines(self, text: str) -> str:
        """The text without the lines of our tables; comments and blank lines may be the user's."""
        name = re.escape(".".join((*self.path, OURS)))
        header = re.compile(rf"\[{name}(\.[^\]]*)?\]")
        kept: list[str] = []
        is_ours = False
        for line in text.splitlines(keepends=True):
            if line.startswith("["):
                is_ours = header.match(line) is not None
            if line.rstrip() == _MARK:
                if kept and not kept[-1].strip():  # we put it between
                    kept.pop()
            elif not is_ours or line.strip()[:1] in ("", "#"):
                kept.append(line)
        return "".join(kept)


def parse_toml(text: str) -> Mapping[str, object]:
    """The tables of a text; raises ValueError."""
    return tomllib.loads(text.removeprefix(_BOM))


def with_changes(data: bytes | None, path: str, changes: Sequence[Change]) -> bytes:
    """The bytes of a file with our entries; what cannot be parsed is an error, and stays as it is."""
    text = _decoded(data, path)
    with _our_errors(path):
        for change in changes:
            text = change.add(text)
    return text.encode()


def without_changes(data: bytes, path: str, changes: Sequence[Change]) -> bytes:
    """The bytes of a file without our entries."""
    text = _decoded(data, path)
    with _our_errors(path):
        for change in reversed(changes):
            text = change.remove(text)
    return text.encode()


def is_empty(data: bytes) -> bool:
    """Whether nothing is left in a file but what its format asks for."""
    text = data.decode()
    try:
        return json_text.parse(text).value in ({}, {"version": 1})
    except ValueError:
        return not text.strip()


def _decoded(data: bytes | None, path: str) -> str:
    with _our_errors(path):
        return (data or b"").decode("utf-8")


@contextmanager
def _our_errors(path: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, RecursionError) as error:
        raise FileFormatError(
            f"{path} cannot be changed: {error}.",
            path=path,
            hint="Mend that file, or add the entry by hand: memolith install mcp",
        ) from error
