"""The exports of ChatGPT and Claude: a folder, `conversations.json`, or the .zip as it was downloaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from memolith.files import layout
from memolith.importers.items import File, Item, Skip, moment, one_name
from memolith.importers.opening import Source
from memolith.importers.transcripts import turns
from memolith.jobs.chat import Message, read_chat

_SHOWN = ("text", "multimodal_text")
_Messages = Callable[[dict[str, object]], Iterator[Message]]


def read_chatgpt(source: Source) -> Iterator[Item]:
    """Of each conversation the branch that was seen last; one conversation is in memory at a time."""
    yield from _conversations(source, "chatgpt", "mapping", _of_chatgpt)


def read_claude(source: Source) -> Iterator[Item]:
    """Every conversation, and what Claude remembered."""
    yield from _conversations(source, "claude", "chat_messages", _of_claude)
    for name in source.names("memories.json", "*/memories.json"):
        for one in source.elements(name):
            about = one if isinstance(one, dict) else {}
            projects = about.get("project_memories")
            inner = projects.values() if isinstance(projects, dict) else ()
            for text in (about.get("conversations_memory"), *inner):
                if isinstance(text, str):
                    yield File(layout.ROOT_MEMORY, text.encode(errors="replace"))


def _conversations(source: Source, platform: str, key: str, messages: _Messages) -> Iterator[Item]:
    for name in source.expect(source.data("conversations*.json", "*/conversations*.json")):
        for number, one in enumerate(source.elements(name), start=1):
            if not isinstance(one, dict) or key not in one:
                where = f"{name} element {number}"
                yield Skip("turns", f"not a conversation of {platform}", where=where)
                continue
            ids = (one.get("conversation_id"), one.get("id"), one.get("uuid"), f"{name}-{number}")
            begun = moment(one.get("create_time") or one.get("created_at"))
            chat = one_name(str(next(filter(None, ids))), platform)
            yield from turns(messages(one), chat, platform, begun or source.modified(name))


def _of_chatgpt(conversation: dict[str, object]) -> Iterator[Message]:
    nodes = conversation["mapping"] if isinstance(conversation["mapping"], dict) else {}
    at, branch, seen = conversation.get("current_node"), list[object](), set[object]()
    if at not in nodes:  # an older export: the last message ends the branch
        at = next(reversed(nodes), None)
    while isinstance(node := nodes.get(at), dict) and at not in seen:
        seen.add(at)
        branch.append(node.get("message"))
        at = node.get("parent")
    for message in reversed(branch):
        match message:
            case {
                "author": {"role": ("user" | "assistant") as role},
                "content": {**content},
                **rest,
            }:
                about, parts = rest.get("metadata"), content.get("parts")
                hidden = "is_visually_hidden_from_conversation"
                is_hidden = isinstance(about, dict) and about.get(hidden)
                is_shown = content.get("content_type") in _SHOWN and not is_hidden
                if is_shown and isinstance(parts, list) and rest.get("recipient", "all") == "all":
                    text = "\n".join(part for part in parts if isinstance(part, str))
                    yield Message(role == "user", text, moment(rest.get("create_time")))


def _of_claude(conversation: dict[str, object]) -> Iterator[Message]:
    messages = conversation["chat_messages"]
    for one in messages if isinstance(messages, list) else ():
        if isinstance(one, dict):
            role = "user" if one.get("sender") == "human" else one.get("sender")
            said = one.get("content") or one.get("text")
            message = {"role": role, "content": said, "timestamp": one.get("created_at")}
            yield from read_chat([message]).messages
