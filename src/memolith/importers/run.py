"""`memolith import`: which programs are known, and how one of them is read into a memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from shlex import quote

from memolith.clock import Clock
from memolith.errors import FileFormatError, MemolithError, NotFoundError
from memolith.importers import chat_exports, originals, own, stores, transcripts
from memolith.importers.items import Item
from memolith.importers.opening import Source
from memolith.importers.writing import ImportReport, Writer
from memolith.store import Store
from memolith.types import Progress

_STEP = 200  # items between two looks at the progress


@dataclass(frozen=True, slots=True)
class Importer:
    """One program whose memory can be read, and how it is recognised."""

    name: str
    what: str
    read: Callable[[Source, Clock], Iterator[Item]]
    home: str = ""  # where its data is, unless a path is given
    marks: tuple[str, ...] = ()  # files that only this program has
    text: bytes = b""  # what only this program writes, near the beginning of a file
    within: tuple[str, ...] = ()  # like one of these

    def detect(self, source: Source) -> bool:
        """Whether this program wrote the source."""
        is_said = bool(self.text) and source.begins_with(self.text, source.data(*self.within))
        return is_said or bool(source.names(*self.marks))


# In the order in which a folder is recognised.
# fmt: off
_ALL = (
    Importer("memolith", "export of Memolith, or another memory of it", own.read, marks=own.MARKS),
    Importer("clawcode", "workspace of ClawCode", originals.read_clawcode,
             marks=("agent-config.json", "memory/.memory.sqlite")),
    Importer("cursorclaw", "profile folder of CursorClaw", originals.read_cursorclaw,
             marks=(originals.EXPERIENCES,), text=b'"sourceChannel"', within=("MEMORY.md",)),
    Importer("clawless", "home of Clawless", originals.read_clawless, "~/.clawless",
             marks=("conversation-history.jsonl", originals.CHATS)),
    Importer("devclaw", "data folder of DevClaw", originals.read_devclaw,
             marks=("memory.db", "*/memory.db", "devclaw.y*ml", *originals.NOTES),
             text=b"# DevClaw Memory", within=("MEMORY.md", "memory/MEMORY.md")),
    Importer("openclaw", "folder of OpenClaw", originals.read_openclaw, "~/.openclaw",
             marks=("openclaw.json", "memory/.dreams/short-term-recall.json")),
    Importer("claude-code", "folder of Claude Code", transcripts.read_claude_code, "~/.claude",
             marks=("projects/*/*.jsonl",)),
    Importer("codex", "folder of Codex", transcripts.read_codex, "~/.codex", marks=("*rollout-*.jsonl",)),
    Importer("chatgpt", "export of ChatGPT (.zip, folder or conversations.json)", chat_exports.read_chatgpt,
             text=b'"mapping"', within=chat_exports.CHATS),
    Importer("claude", "export of Claude (.zip, folder or conversations.json)", chat_exports.read_claude,
             text=b'"chat_messages"', within=chat_exports.CHATS),
    Importer("mcp-memory", "file of the MCP memory server", stores.read_mcp,
             text=b'"entityType"', within=stores.JSON_FILES),
    Importer("mem0", "folder or export of mem0", stores.read_mem0, "~/.mem0",
             marks=("history.db",), text=b'"memory"', within=stores.JSON_FILES),
    Importer("basic-memory", "folder of basic-memory", stores.read_folder, "~/basic-memory",
             text=b"\npermalink:", within=("*.md",)),
    Importer("obsidian", "vault of Obsidian", stores.read_folder, marks=(".obsidian/*",)),
    Importer("markdown", "folder of Markdown", stores.read_folder, marks=("*.md",)),
)
# fmt: on
IMPORTERS = {one.name: one for one in _ALL}
_DOWNLOADS = ("~/Downloads", "~/Desktop", "~/Documents")


def scan() -> list[tuple[str, str]]:
    """What is on this machine in the usual places: the name of the importer, and the path."""
    found = [(one.name, os.path.expanduser(one.home)) for one in _ALL if one.home]
    for folder in map(os.path.expanduser, _DOWNLOADS):
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            path = os.path.join(folder, name)
            if name.endswith(".zip"):
                found += [("chatgpt", path), ("claude", path)]
            elif os.path.isdir(os.path.join(path, ".obsidian")):
                found.append(("obsidian", path))
    return [(name, path) for name, path in found if _is_there(name, path)]


def _is_there(name: str, path: str) -> bool:
    try:
        with Source(path) as source:
            return IMPORTERS[name].detect(source)
    except MemolithError:
        return False


def detect(path: str) -> str:
    """The name of the program that wrote what is at a path."""
    with Source(path) as source:
        for importer in _ALL:
            if importer.detect(source):
                return importer.name
    raise NotFoundError(
        f"Nothing known was found in {path}.",
        name=path,
        hint=f"Name the source: memolith import SOURCE {path}, with one of {', '.join(IMPORTERS)}.",
    )


def run_import(
    store: Store,
    name: str,
    path: str = "",
    *,
    dry_run: bool = False,
    since: datetime | None = None,
    progress: Progress | None = None,
) -> ImportReport:
    """Read another memory into this one; what is here already is not written again."""
    importer = IMPORTERS[name]
    with Source(path or importer.home) as source:
        report = ImportReport(source=name, path=source.path, dry_run=dry_run)
        writer = Writer(store, report, since)
        try:
            for number, item in enumerate(importer.read(source, store.clock)):
                writer.take(item)
                if progress is not None and number % _STEP == 0:
                    progress(source.done // 1000, source.total // 1000)  # kB
        finally:  # also if the rest cannot be read
            writer.finish()
        is_used = any(counts.added or counts.known for counts in report.counts.values())
        if path and not is_used and not importer.detect(source):
            others = [
                f"memolith import {one.name} {quote(path)}" for one in _ALL if one.detect(source)
            ]
            hint = f"It looks like that of another program: {others[0]}" if others else ""
            message = f"{source.path} is not the {importer.what.partition(' (')[0]}."
            hint = hint or f"Give the {importer.what}."
            raise FileFormatError(message, path=source.path, hint=hint)
    return report
