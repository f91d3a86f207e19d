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
from memolith.importers.items import Item, Skip
from memolith.importers.opening import Source
from memolith.importers.writing import ImportReport, Writer
from memolith.store import Store
from memolith.types import Progress

_STEP = 200  # items between two looks at the progress


@dataclass(frozen=True, slots=True)
class Importer:
    """One program whose memory can be read."""

    name: str
    what: str
    read: Callable[[Source, Clock], Iterator[Item]]
    detect: Callable[[Source], bool]
    home: str  # where its data is, unless a path is given


# In the order in which a folder is recognised.
# fmt: off
_ROWS = (
    ("memolith", "export of Memolith, or another memory of it", own.read, own.detect, ""),
    ("clawcode", "workspace of ClawCode", originals.read_clawcode, originals.detect_clawcode, ""),
    ("cursorclaw", "profile folder of CursorClaw", originals.read_cursorclaw, originals.detect_cursorclaw, ""),
    ("clawless", "home of Clawless", originals.read_clawless, originals.detect_clawless, "~/.clawless"),
    ("devclaw", "data folder of DevClaw", originals.read_devclaw, originals.detect_devclaw, ""),
    ("openclaw", "folder of OpenClaw", originals.read_openclaw, originals.detect_openclaw, "~/.openclaw"),
    ("claude-code", "folder of Claude Code", transcripts.read_claude_code, transcripts.detect_claude_code, "~/.claude"),
    ("codex", "folder of Codex", transcripts.read_codex, transcripts.detect_codex, "~/.codex"),
    ("chatgpt", "export of ChatGPT (.zip, folder or conversations.json)", chat_exports.read_chatgpt, chat_exports.detect_chatgpt, ""),
    ("claude", "export of Claude (.zip, folder or conversations.json)", chat_exports.read_claude, chat_exports.detect_claude, ""),
    ("mcp-memory", "file of the MCP memory server", stores.read_mcp, stores.detect_mcp, ""),
    ("mem0", "folder or export of mem0", stores.read_mem0, stores.detect_mem0, "~/.mem0"),
    ("basic-memory", "folder of basic-memory", stores.read_folder, stores.detect_basic_memory, "~/basic-memory"),
    ("obsidian", "vault of Obsidian", stores.read_folder, stores.detect_obsidian, ""),
    ("markdown", "folder of Markdown", stores.read_folder, stores.detect_folder, ""),
)
# fmt: on
IMPORTERS = {row[0]: Importer(*row) for row in _ROWS}
_DOWNLOADS = ("~/Downloads", "~/Desktop", "~/Documents")


def scan() -> list[tuple[str, str]]:
    """What is on this machine in the usual places: the name of the importer, and the path."""
    homes = [(one.name, one.home) for one in IMPORTERS.values() if one.home]
    found = [(name, os.path.expanduser(home)) for name, home in homes]
    for folder in map(os.path.expanduser, _DOWNLOADS):
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        for path in (os.path.join(folder, name) for name in names):
            if path.endswith(".zip"):
                found += [("chatgpt", path), ("claude", path)]
            elif os.path.isdir(os.path.join(path, ".obsidian")):
                found.append(("obsidian", path))
    return [(name, path) for name, path in found if os.path.exists(path) and _is_there(name, path)]


def _is_there(name: str, path: str) -> bool:
    try:
        with Source(path) as source:
            return IMPORTERS[name].detect(source)
    except MemolithError:
        return False


def detect(path: str) -> str:
    """The name of the program that wrote what is at a path."""
    with Source(path) as source:
        for importer in IMPORTERS.values():
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
    found: set[type] = set()
    with Source(path or importer.home) as source:
        report = ImportReport(source=name, path=source.path, dry_run=dry_run)
        writer = Writer(store, report, since)
        try:
            for number, item in enumerate(importer.read(source, store.clock)):
                writer.take(item)
                found.add(type(item))
                if progress is not None and number % _STEP == 0:
                    progress(source.done // 1000, source.total // 1000)  # kB
        finally:  # also if the rest cannot be read
            writer.finish()
        if path and found <= {Skip} and not importer.detect(source):
            _check_other(importer, source, is_empty=not found)
    return report


def _check_other(importer: Importer, source: Source, *, is_empty: bool) -> None:
    """Say so where nothing was there to import, or what is there is of another program."""
    others = (one for one in IMPORTERS.values() if one.detect(source))
    other, path = next(others, None), source.path
    message = f"{path} is not the {importer.what.partition(' (')[0]}."
    if other is not None:
        what = other.what.partition(" (")[0]
        hint = f"This looks like the {what}: memolith import {other.name} {quote(path)}"
        raise FileFormatError(message, path=path, hint=hint)
    if is_empty:
        raise FileFormatError(message, path=path, hint=f"Give the {importer.what}.")
