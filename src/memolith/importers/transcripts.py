"""Sessions that agent hosts keep as lines of JSON: Claude Code, Codex, OpenClaw."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from datetime import datetime

from memolith.importers.items import Item, note_of, one_name
from memolith.importers.opening import Source
from memolith.jobs.chat import Message, read_chat
from memolith.results import Turn
from memolith.text.host_text import typed_text

_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
# What a host says in the name of the user at the start of a session.
_OF_HOST = ("# AGENTS.md instructions", "[Request interrupted by user", "Caveat: ")


def read_claude_code(source: Source) -> Iterator[Item]:
    """The chats of all projects, each session by its id; and what Claude noted for itself."""
    names = [name for name in source.names("*.jsonl") if "/subagents/" not in name]
    yield from sessions(source, names, "claude-code")
    for name in source.names("projects/*/memory/*.md", "memory/*.md", "*/memory/*.md"):
        project = name.rpartition("/memory/")[0].rpartition("/")[2].strip("-") or "project"
        path = f"memory/{project}/{name.rpartition('/')[2]}"
        yield note_of(path, source.read(name) or b"", "claude-code", source.modified(name))


def read_codex(source: Source) -> Iterator[Item]:
    """The chats of all sessions."""
    yield from sessions(source, source.names("*rollout-*.jsonl"), "codex")


def sessions(
    source: Source, names: Iterable[str], platform: str, groups: Collection[str] = ()
) -> Iterator[Item]:
    """The turns of each file; the chat is named by the id in the file's name. In `groups` anybody spoke."""
    for name in source.expect(names):
        stem = name.rpartition("/")[2].removesuffix(".jsonl")
        found = _UUID.search(stem)
        chat = one_name(found[0] if found else stem, "main")
        said = (one for line in source.lines(name) for one in _said(line))
        where = f"{platform}:group" if chat in groups else platform
        yield from turns(said, chat, where, source.modified(name))


def _said(line: bytes) -> Iterator[Message]:
    if b'"user"' not in line and b'"assistant"' not in line:
        return
    for one in read_chat(line.decode(errors="replace")).messages:
        text = typed_text(one.text) if one.by_user else one.text
        if not (one.by_user and text.startswith(_OF_HOST)):
            yield replace(one, text=text)


def turns(said: Iterable[Message], chat: str, platform: str, otherwise: datetime) -> Iterator[Turn]:
    """The exchanges of a chat: what the user said, and all that was answered until they spoke again."""
    texts: dict[bool, list[str]] = {True: [], False: []}
    created: datetime | None = None

    def turn() -> Turn:
        user, assistant = ("\n\n".join(texts[by_user]) for by_user in (True, False))
        moment = created or otherwise
        return Turn(created=moment, chat=chat, user=user, assistant=assistant, platform=platform)

    for one in said:
        if not one.text.strip():
            continue
        if one.by_user and texts[False]:
            yield turn()
            texts, created = {True: [], False: []}, None
        created = created or one.at
        texts[one.by_user].append(one.text)
    if texts[True] or texts[False]:
        yield turn()
