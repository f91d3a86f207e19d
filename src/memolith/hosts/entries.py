"""Our entries in the settings of a host, written and taken out again; what is not ours stays byte for byte."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from memolith.errors import FileFormatError
from memolith.text import json_text

OURS = "memolith"
_MARK = "# Written by `memolith install codex`; `memolith uninstall codex` removes it."


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What of a file is ours: its whole text, or a server and hooks among those of others."""

    text: str = ""
    place: Sequence[str] = ()  # where servers are
    server: Mapping[str, object] = field(default_factory=dict)
    hooks: Mapping[str, object] = field(default_factory=dict)  # what to run at each event
    has_version: bool = False  # whether a file of hooks says which version it is


def with_part(data: bytes | None, path: str, part: Part) -> bytes:
    """The bytes of a file with what is ours; what cannot be parsed is an error, and stays as it is."""
    if part.text:
        return part.text.encode()
    return _changed(data, path, partial(_toml_with if _is_toml(path) else _json_with, part))


def without_part(data: bytes, path: str, part: Part) -> bytes:
    """The bytes of a file without our entries."""
    return _changed(data, path, partial(_toml_without if _is_toml(path) else _json_without, part))


def value_at(data: bytes | None, path: str, keys: Sequence[str]) -> object:
    """What the settings in a file have at a place; None if there is nothing. Raises ValueError."""
    text = (data or b"").decode()
    return _at(tomllib.loads(text) if _is_toml(path) else json_text.parse(text).value, keys)


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


def _is_toml(path: str) -> bool:
    return path.endswith(".toml")


def _changed(data: bytes | None, path: str, change: Callable[[str], str]) -> bytes:
    try:
        return change((data or b"").decode()).encode()
    except (ValueError, RecursionError) as error:
        raise FileFormatError(
            f"{path} cannot be changed: {error}.",
            path=path,
            hint="Mend that file, or add the entry by hand: memolith install mcp",
        ) from error


def _at(value: object, keys: Sequence[str]) -> object:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _updated(entry: object, server: Mapping[str, object]) -> dict[str, object]:
    """Our entry with what a user has put into an older one, and switched on."""
    old = entry if isinstance(entry, dict) and isinstance(entry.get("command"), str) else {}
    off = switched_off(old)
    return {key: value for key, value in {**old, **server}.items() if key not in off}


def _json_with(part: Part, text: str) -> str:
    before, after = json_text.parse(text).value, text
    if part.server:
        path = (*part.place, OURS)
        after = json_text.with_member(text, path, _updated(_at(before, path), part.server))
    if part.hooks:
        after = _without_hooks(after)
        if part.has_version and _at(before, ("version",)) is None:
            after = json_text.with_member(after, ("version",), 1)
        for event, item in part.hooks.items():
            after = json_text.with_item(after, ("hooks", event), item)
    return text if json_text.parse(after).value == before else after


def _json_without(part: Part, text: str) -> str:
    text = _without_hooks(text) if part.hooks else text
    after = json_text.without(text, (*part.place, OURS)) if part.server else text
    return text if after == text else _pruned(after, part.place)


def _without_hooks(text: str) -> str:
    """The text without commands that start Memolith, at any event."""
    events = _at(json_text.parse(text).value, ("hooks",))
    for event in events if isinstance(events, dict) else ():
        after = json_text.without(text, ("hooks", event), starts_memolith)
        text = text if after == text else _pruned(after, ("hooks", event))
    return text


def _pruned(text: str, path: Sequence[str]) -> str:
    """The text without the objects and lists on this path that are empty."""
    while path and _at(json_text.parse(text).value, path) in ({}, []):
        text, path = json_text.without(text, path), path[:-1]
    return text


def _toml_with(part: Part, text: str) -> str:
    """The text with a table of our own at its end, in place of an older one."""
    import tomlkit

    path = (*part.place, OURS)
    entry = _at(tomllib.loads(text), path)
    table = _updated(entry, part.server)
    if entry == table:
        return text
    text = _toml_without(part, text)
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    for key in reversed(path):
        table = {key: table}
    lines = [_MARK, *tomlkit.dumps(table).splitlines(), ""]
    after = text + gap + newline.join(lines)
    tomllib.loads(after)  # servers may be an inline table, which cannot be extended so
    return after


def _toml_without(part: Part, text: str) -> str:
    """The text without the lines of our tables; comments and blank lines may be the user's."""
    path = (*part.place, OURS)
    header = re.compile(rf"\[{re.escape('.'.join(path))}[.\]]")
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
    after = "".join(kept)
    if _others(after, path) != _others(text, path) or _at(tomllib.loads(after), path):
        raise ValueError(f"write its {path[0]} as tables, [{path[0]}.NAME]")
    return after


def _others(text: str, path: Sequence[str]) -> dict[str, object]:
    """The settings in a text without ours."""
    tables = tomllib.loads(text)
    servers = _at(tables, path[:-1])
    if isinstance(servers, dict):
        servers.pop(path[-1], None)
    return {name: value for name, value in tables.items() if value != {}}
