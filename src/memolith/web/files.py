"""Files: the tree, a file as cards or source, the editor, backups."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from starlette.responses import Response

from memolith.files import layout
from memolith.files.document import Document
from memolith.files.folder import Folder
from memolith.files.ledger import Ledger
from memolith.files.notes import is_note_path, readable_note
from memolith.files.record_format import readable_record
from memolith.jobs.edit import is_editable
from memolith.jobs.reports import FileEntry, FileText
from memolith.memory import Memory
from memolith.text.wording import HIDDEN, counted
from memolith.types import Record
from memolith.web.call import Call

_LINES = 300  # of a file on one page
_FILES = 60  # of a folder in the tree, before "more"


@dataclass(frozen=True, slots=True)
class Block:
    """Some lines of a file: one record, or text between records."""

    line: int
    record: Record | None = None
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The lines of a text."""
        return "\n".join(self.lines)


def show(call: Call) -> Response:
    """A file with the tree beside it."""
    entries = call.memory.files.tree()
    path = call.query.get("path") or call.memory.config.profile.primary
    known = path in (layout.CONVERSATIONS, *(entry.path for entry in entries))
    passage = call.memory.get(path) if known or "path" in call.query else None
    lines = passage.text.split("\n") if passage else []
    first = call.number("from", max(1, call.number("line") - 20))
    shown = lines[first - 1 : first - 1 + _LINES]
    blocks = list(_blocks(path, shown, first))
    note = readable_note(path, passage.text.encode()) if passage and is_note_path(path) else None
    return call.html(
        "files.html",
        tree=_grouped(entries, path, every=call.query.get("all") == "1"),
        path=path,
        passage=passage,
        is_source=call.query.get("view") == "source" or path.endswith(".jsonl"),
        lines=list(enumerate(shown, first)),
        blocks=blocks,
        replaced=_replaced(call.memory, [block.record for block in blocks if block.record]),
        note=note,
        before=max(1, first - _LINES) if first > 1 else 0,
        after=first + _LINES if first - 1 + _LINES < len(lines) else 0,
        editable=is_editable(path, call.memory.config.profile.primary) or note is not None,
    )


def _grouped(
    entries: Sequence[FileEntry], current: str, *, every: bool
) -> Mapping[str, tuple[list[FileEntry], int]]:
    """The files by what they are, and how many of each kind are left out; the newest days first."""
    groups: dict[str, list[FileEntry]] = defaultdict(list)
    for entry in entries:
        folder, _, _ = entry.path.rpartition("/")
        if layout.is_daily_log(entry.path):
            groups["Days"].insert(0, entry)
        elif folder.startswith(layout.ARCHIVE_FOLDER):
            groups["Archive"].append(entry)
        else:
            groups[folder.removeprefix("memory/").capitalize() or "Memory"].append(entry)
    most = len(entries) if every else _FILES
    return {
        name: ([one for at, one in enumerate(found) if at < most or one.path == current], max(0, len(found) - most))
        for name, found in sorted(groups.items(), key=lambda group: _rank(group[0]))
    }  # fmt: skip


def _rank(name: str) -> tuple[int, str]:
    return {"Memory": 0, "Days": 1, "Archive": 3}.get(name, 2), name


def _blocks(path: str, lines: Sequence[str], first: int) -> Iterator[Block]:
    """Records one by one, and the text between them together."""
    text: Block | None = None
    document = Document.parse(path, "\n".join(lines).encode(errors="replace"))
    for number, (line, parsed) in enumerate(zip(lines, document.lines, strict=False), first):
        record = readable_record(parsed.data) if parsed.looks_like_record else None
        if record is None:
            text = text or Block(number)
            text.lines.append(f"*{HIDDEN}*" if line == HIDDEN else line)
            continue
        if text and text.text.strip():
            yield text
        text = None
        yield Block(number, record)
    if text and text.text.strip():
        yield text


def _replaced(memory: Memory, records: Sequence[Record]) -> Mapping[str, Record | None]:
    """Of these records those that were replaced, each with the newest; None if that is a secret."""
    if not records:
        return {}
    with Folder(memory.root) as folder:
        ledger = Ledger.of(folder)
    newest = {one.id: ledger.newest(one) for one in records if one.id in ledger.replaced}
    return {old: None if new.id in ledger.secret else new for old, new in newest.items()}


def edit(call: Call) -> Response:
    """The editor."""
    file = text_of(call.memory, call.query.get("path", ""))
    return call.html("edit.html", file=file, line=call.number("line", 1))


def text_of(memory: Memory, path: str) -> FileText:
    """What is edited: a whole file, or the text of a note, whose header stays as it is."""
    if not is_note_path(path):
        return memory.files.read(path)
    note = memory.files.read_note(path)
    return FileText(path=path, content=note.record.text, version=note.version)


def save(call: Call) -> Response:
    """Write what was edited, unless the file is another one by now; then say what it is."""
    path, content = call.form.get("path", ""), call.form.get("content", "")
    text, version = content.replace("\r\n", "\n"), call.form.get("version", "")
    if not is_note_path(path):
        report = call.memory.files.write(path, text, version)
    else:
        report = call.memory.files.write_note(path, text, version=version)
    return call.json({"version": report.version, "warnings": list(report.warnings)})


def update(call: Call) -> Response:
    """Change the text of one record or note."""
    record_id = call.form.get("record", "")
    new = call.memory.update(record_id, text=call.form.get("text", "").strip())
    return call.html("record_changed.html", record=new)


def backups(call: Call) -> Response:
    """Every backup, newest first."""
    only = call.query.get("path", "")
    found = [one for one in call.memory.files.backups()[::-1] if not only or only in one.files]
    return call.html("backups.html", backups=found[:200], path=only)


def backup_diff(call: Call) -> Response:
    """What restoring would change."""
    name = call.query.get("name", "")
    return call.html("diff.html", diff=call.memory.files.diff(name).splitlines())


def restore(call: Call) -> Response:
    """Restore a backup."""
    report = call.memory.files.restore(call.form.get("name", ""))
    kept = f" {counted(report.appended, 'newer record')} kept." if report.appended else ""
    notice = f"Restored {', '.join(report.files)}. Before that, they were saved as {report.replaced_saved_as}.{kept}"
    found = call.memory.files.backups()[::-1]
    return call.html("backups.html", backups=found[:200], path="", notice=notice)
