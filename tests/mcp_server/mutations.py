"""Messages as nobody should send them, made from those that clients do send."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

METHODS: list[tuple[str, dict[str, Any]]] = [
    ("ping", {}),
    ("tools/list", {}),
    ("tools/call", {"name": "memory_search", "arguments": {"query": "tea", "maxResults": 3}}),
    ("tools/call", {"name": "memory_get", "arguments": {"path": "MEMORY.md", "from": 1}}),
    ("tools/call", {"name": "memory", "arguments": {"action": "list", "limit": 2, "offset": 0}}),
    ("tools/call", {"name": "remember_this", "arguments": {"text": "tea", "category": "note"}}),
    ("tools/call", {"name": "memory_context", "arguments": {"message": "where is the tea?"}}),
    ("resources/list", {}),
    ("resources/read", {"uri": "memolith://file/MEMORY.md"}),
    ("resources/templates/list", {}),
    ("prompts/list", {}),
    ("prompts/get", {"name": "session_start", "arguments": {}}),
]
ODD: list[Any] = [
    None, True, -1, 0, 1.5, 2**70, "", "x" * 5000, "\u202e\u0000", "../../etc/passwd", [], {},
    [[[[[]]]]], {"a": {"b": {}}}, "💥", "\ud800", "memory_search", "notifications/initialized",
]  # fmt: skip


def messages(seed: int, count: int) -> Iterator[tuple[int | None, bytes]]:
    """Lines to send; with the id of the request if the line is one that must be answered."""
    chance = random.Random(seed)
    for number in range(1000, 1000 + count):
        method, params = chance.choice(METHODS)
        whole = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        kind = chance.random()
        if kind < 0.55:  # a request, with anything at all inside
            whole["params"] = _changed(chance, params)
            yield number, _line(whole)
            continue
        whole["id"] = f"m{number}"  # whatever becomes of it, it is not the id of a request
        if kind < 0.75:  # perhaps not a request at all
            yield None, _line(_changed(chance, whole))
        else:  # perhaps not even JSON
            yield None, _broken(chance, _line(whole))


def _line(message: Any) -> bytes:
    return json.dumps(message).encode()


def _changed(chance: random.Random, value: Any) -> Any:
    value = json.loads(json.dumps(value))
    if not isinstance(value, dict) or not value:
        return {str(chance.choice(ODD))[:50]: chance.choice(ODD)}
    key = chance.choice(list(value))
    inside = value[key]
    what = chance.random()
    if isinstance(inside, dict) and what < 0.6:
        value[key] = _changed(chance, inside)
    elif what < 0.75:
        value[key] = chance.choice(ODD)
    elif what < 0.85:
        del value[key]
    else:
        value[str(chance.choice(ODD))[:50]] = chance.choice(ODD)
    return value


def _broken(chance: random.Random, line: bytes) -> bytes:
    data = bytearray(line)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(data))
        what = chance.random()
        if what < 0.5:
            data[at] = chance.choice(b'\x00\x1b\xff\xc3"{}[],:\\9aA')
        elif what < 0.8:
            del data[at : at + chance.randint(1, 20)]
            data = data or bytearray(b"{")
        else:
            data[at:at] = data[: chance.randint(1, 40)]
    return bytes(data).replace(b"\n", b" ").replace(b"\r", b" ")
