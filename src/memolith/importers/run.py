"""`memolith import`: which programs are known, and how one of them is read into a memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from shlex import quote

from memolith.errors import FileFormatError, MemolithError, NotFoundError
from memolith.importers import chat_exports, originals, own, stores, transcripts
from memolith.importers.items import PROGRAMS, Item
from memolith.importers.opening import Source
from memolith.importers.writing import ImportReport, Writer
from memolith.store import Store
from memolith.types import Plain, Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Importer:
    """One program whose memory can be read; programs.toml explains the fields."""

    name: str
    what: str
    read: Callable[[Source], Iterator[Item]]
    home: str = ""
    marks: Sequence[str] = ()
    text: str = ""
    within: Sequence[str] = ()
    settings: Mapping[str, str] = field(default_factory=dict)

    def detect(self, source: Source) -> bool:
        """Whether this program wrote the source."""
        files = source.data(*self.within) if self.within else []
        return bool(source.names(*self.marks)) or source.begins_with(self.text.encode(), files)


_READ = {
    "memolith": own.read,
    "clawcode": originals.read_clawcode,
    "cursorclaw": originals.read_cursorclaw,
    "clawless": originals.read_clawless,
    "devclaw": originals.read_devclaw,
    "openclaw": originals.read_openclaw,
    "claude-code": transcripts.read_claude_code,
    "codex": transcripts.read_codex,
    "chatgpt": chat_exports.read_chatgpt,
    "claude": chat_exports.read_claude,
    "mcp-memory": stores.read_mcp,
    "mem0": stores.read_mem0,
}
IMPORTERS = {
    name: Importer(name=name, read=_READ.get(name, stores.read_folder), **row)
    for name, row in PROGRAMS.items()
}
_DOWNLOADS = ("~/Downloads", "~/Desktop", "~/Documents")


@dataclass(frozen=True, slots=True)
class Importable(Plain):
    """The name of an importer, and what it can read."""

    source: str
    path: str


@dataclass(frozen=True, slots=True)
class Importables(Plain):
    """What can be imported."""

    found: tuple[Importable, ...]


def scan() -> Importables:
    """What is on this machine in the usual places."""
    found = [(one.name, os.path.expanduser(one.home)) for one in IMPORTERS.values() if one.home]
    for folder in map(os.path.expanduser, _DOWNLOADS):
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            path = os.path.join(folder, name)
            if name.endswith(".zip"):
                found += [("chatgpt", path), ("claude", path)]
            elif os.path.isdir(os.path.join(path, ".obsidian")):
                found.append(("obsidian", path))
    return Importables(tuple(Importable(*one) for one in found if _is_there(*one)))


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
    with Source(path or importer.home, store.clock) as source:
        report = ImportReport(source=name, path=source.path, dry_run=dry_run)
        writer = Writer(store, report, since)
        try:
            for item in importer.read(source):
                writer.take(item)
                if progress is not None:
                    progress(source.done // 1000, source.total // 1000)  # kB
        finally:  # also if the rest cannot be read
            writer.finish()
        is_used = any(counts.added or counts.known for counts in report.counts.values())
        if path and not is_used and not importer.detect(source):
            message = f"{source.path} is not the {importer.what.partition(' (')[0]}."
            hint = f"Give the {importer.what}, or have it recognised: memolith import {quote(path)}"
            raise FileFormatError(message, path=source.path, hint=hint)
    return report
