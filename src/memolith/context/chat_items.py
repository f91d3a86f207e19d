"""Chats of agent frameworks: each message is kept whole, as the `item` of its turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from memolith.errors import RefusedError, TextTooLargeError
from memolith.files import layout
from memolith.files.chat_log import ARCHIVE, encode_turn, parse_turn, sides
from memolith.files.record_format import MAX_LINE_BYTES, RecordFormatError
from memolith.files.transaction import Transaction
from memolith.results import Turn
from memolith.text.open_secrets import without_keys
from memolith.types import MAX_LEVELS

Item = Mapping[str, object]


def check(items: object) -> None:
    """Refuse what is not a list of messages."""
    if not isinstance(items, list | tuple) or not all(isinstance(one, Mapping) for one in items):
        raise RefusedError(
            f"This is not a list of messages: {items!r:.60}.",
            hint='For example: [{"role": "user", "content": "Hi"}]',
        )


def encode(turn: Turn) -> bytes:
    """The line of a turn with an item; refuses an item that would not come back as it is."""
    try:
        line = encode_turn(turn)
    except RecordFormatError as error:
        raise RefusedError(error.message, hint=error.hint) from error
    if len(line) > MAX_LINE_BYTES:
        raise TextTooLargeError(
            f"A message of the chat {turn.chat!r} has {len(line):,} bytes.",
            size=len(line),
            limit=MAX_LINE_BYTES,
            hint="Keep large content in files, and name them in the message.",
        )
    read = parse_turn(line)
    if read is None or read.item != turn.item:
        raise RefusedError(
            f"A message of the chat {turn.chat!r} would not come back as it is.",
            hint="Use objects, lists, texts and numbers, as JSON has them.",
        )
    return line


def said_in(item: Item) -> tuple[str, str]:
    """Who speaks in a message, and the text in it: of one with several parts, that of its texts."""
    content = item.get("content")
    parts = content if isinstance(content, list | tuple) else [content]
    texts = (part.get("text") if isinstance(part, Mapping) else part for part in parts)
    said = "\n".join(text for text in texts if isinstance(text, str))
    return str(item.get("role", "")), said


def turn_of(item: Item, now: datetime, chat: str, platform: str) -> Turn:
    """The turn that keeps a message; keys known by their form are replaced in it."""
    kept = _without_keys(dict(item))
    role, text = said_in(kept)
    user, assistant = text * (role == "user"), text * (role == "assistant")
    return Turn(
        created=now, chat=chat, user=user, assistant=assistant, platform=platform, item=kept
    )


def _without_keys(value: Any, levels: int = MAX_LEVELS) -> Any:
    if isinstance(value, str):
        return without_keys(value)[0]
    if not levels:
        return value
    if isinstance(value, list):
        return [_without_keys(one, levels - 1) for one in value]
    if isinstance(value, dict):
        return {name: _without_keys(one, levels - 1) for name, one in value.items()}
    return value


def items_of(turn: Turn) -> list[Item]:
    """The item of a turn, or the messages of one that was logged without."""
    if turn.item is not None:
        return [turn.item]
    return [{"role": role, "content": text} for role, text in sides(turn)]


def pop(transaction: Transaction, chat: str) -> Item | None:
    """Remove the newest message of a chat."""
    stamp = transaction.folder.stamp(layout.CONVERSATIONS)
    lines = (transaction.folder.read(layout.CONVERSATIONS) or b"").split(b"\n")
    for at in reversed(range(len(lines))):
        turn = parse_turn(lines[at])
        items = items_of(turn) if turn and turn.chat == chat else []
        if turn is None or not items:
            continue
        question = encode_turn(replace(turn, assistant="")).rstrip(b"\n")
        lines[at : at + 1] = [question] if len(items) > 1 else []
        transaction.replace(layout.CONVERSATIONS, b"\n".join(lines), stamp)
        transaction.commit()
        return items[-1]
    return None


def clear(transaction: Transaction, chat: str) -> int:
    """Remove every turn of a chat from the history and its archive."""

    def is_of_chat(line: bytes) -> bool:
        turn = parse_turn(line)
        return turn is not None and turn.chat == chat

    removed = sum(_keep(transaction, path, is_of_chat) for path in (layout.CONVERSATIONS, ARCHIVE))
    transaction.commit()
    return removed


def _keep(transaction: Transaction, path: str, goes: Callable[[bytes], bool]) -> int:
    stamp = transaction.folder.stamp(path)
    lines = (transaction.folder.read(path) or b"").split(b"\n")
    left = [line for line in lines if not goes(line)]
    if len(left) < len(lines):
        transaction.replace(path, b"\n".join(left), stamp)
    return len(lines) - len(left)
