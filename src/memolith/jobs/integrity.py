"""The integrity scan: contradictions, stale and double records, broken citations, secrets in the open.

Findings only, each with a command that is safe to copy; nothing is ever changed.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from hashlib import blake2b

from memolith.files import layout
from memolith.files.chat_log import parse_turn
from memolith.files.disk_view import MAX_FILE_BYTES
from memolith.files.folder import Folder
from memolith.files.ledger import is_output, tombstones
from memolith.files.notes import records_in
from memolith.files.passages import parse_citation
from memolith.jobs import recalls
from memolith.jobs.changes import applied
from memolith.jobs.contradictions import contradicting
from memolith.jobs.job import Snapshot
from memolith.jobs.reports import Change, IntegrityFinding, ScanReport
from memolith.jobs.sources import Statement, statements
from memolith.text.lines import handle
from memolith.text.open_secrets import open_secrets
from memolith.text.sentences import sentences
from memolith.text.similarity import copy_key
from memolith.text.tokens import fold
from memolith.types import REPEATS, Citation, Record
from memolith.visibility import current

STALE_DAYS = 120
_CITED = re.compile(
    r"(?<![\w/.])((?:memory/)?[\w./-]{1,200}\.md#L\d{1,9}(?:-L?\d{1,9})?)", re.ASCII
)


class _Scene:
    """Everything the scan looks at, read once; with other bytes in files that are to be changed."""

    def __init__(self, snapshot: Snapshot, now: datetime, changed: Mapping[str, bytes]) -> None:
        self.snapshot, self.changed, self.now = snapshot, changed, now
        self.lines: dict[str, int] = {}
        self.everything: list[Statement] = []
        self.known_ids = {stone.id for stone in tombstones(snapshot.read)}
        self.secret: set[str] = set()  # a record is secret if one of its files says so
        self.too_large: dict[str, str] = {}  # why a file was not looked at
        records: dict[str, Record] = {}
        scanned = dict.fromkeys((*snapshot.files(), *changed))
        for path in dict.fromkeys((*scanned, *snapshot.files_and_archives())):
            data = self.read(path) or b""
            if path in scanned:
                self.lines[path] = data.count(b"\n") + (not data.endswith(b"\n"))
                if len(data) > MAX_FILE_BYTES:
                    why = f"it has more than {MAX_FILE_BYTES // 1024**2} MB"
                    self.too_large[path] = (
                        f"{path} was not looked at: {why}. Split it, or move it away."
                    )
                    continue
            found = records_in(path, data)
            self.known_ids.update(record.id for record in found)
            self.secret.update(one.id for one in found if one.sensitivity == "secret")
            if path in scanned and not (path.startswith(".") or is_output(path, data, found)):
                records.update((record.id, record) for record in found)
                self.everything += statements(path, data)
        self.current = {record.id: record for record in current(records.values(), now)}

    def read(self, path: str) -> bytes | None:
        """The bytes of a file."""
        return self.changed[path] if path in self.changed else self.snapshot.read(path)

    def living(self) -> list[Statement]:
        """What still holds, each record once, without what dreaming wrote; older first."""
        seen: dict[str, Statement] = {}
        for found in self.everything:
            holds = found.record is None or found.record.id in self.current
            if holds and not found.generated:
                seen.setdefault(found.name, found)
        return sorted(seen.values(), key=_age)


def scan(folder: Folder, now: datetime, *, most: int | None = None) -> ScanReport:
    """Look for what contradicts, repeats or leads nowhere; compare the newest `most` statements, or all."""
    scene = _Scene(Snapshot(folder), now, {})
    living = scene.living()
    compared = living if most is None else living[-most:]
    records = [(one, one.record) for one in compared if one.record]  # prose may repeat
    found = [  # what weighs most comes first
        *_contradictions(compared),
        *_broken(scene),
        *_open_secrets(scene),
        *_duplicates(records),
        *_stale(scene, records),
    ]
    findings = tuple({finding.id: finding for finding in found}.values())
    warnings = [*scene.snapshot.closed.values(), *scene.too_large.values()]
    if len(compared) < len(living):
        warnings.append(
            f"Only the newest {len(compared):,} of {len(living):,} statements were compared."
        )
    return ScanReport(
        findings=findings,
        count=len(findings),
        records=len(scene.current),
        files=len(scene.lines),
        warnings=tuple(warnings),
    )


def new_findings(snapshot: Snapshot, changes: Iterable[Change], now: datetime) -> Mapping[str, int]:
    """How much of each kind a job that moves lines would bring about: citations that lead nowhere, open secrets.

    Each line is looked at once, and compared with no other.
    """
    after = {change.path: applied(change, snapshot.read(change.path)) for change in changes}
    before, found = (
        # A summary that cites what its records cite brings no news.
        {one.missing or one.id: one.kind for one in (*_broken(scene), *_open_secrets(scene))}
        for scene in (_Scene(snapshot, now, {}), _Scene(snapshot, now, after))
    )
    return Counter(kind for lack, kind in found.items() if lack not in before)


def _contradictions(living: Iterable[Statement]) -> Iterator[IntegrityFinding]:
    """Claims about one subject that cannot both hold."""
    lasting = [one for one in living if one.record is None or one.record.category not in REPEATS]
    for places in contradicting([one.text for one in lasting]):
        older, newer = (lasting[place] for place in places)
        message = (
            f"“{_short(older)}” ({older.citation}) against “{_short(newer)}” ({newer.citation})"
        )
        hint = _settle(older, newer)
        if older.record is not None and len(list(sentences(older.text))) > 1:
            # What else the older one says still holds, and only a person can say it again.
            message += f"; supersede {older.record.id} with all of it that still holds"
            hint = _look_at(older.citation)
        elif _ends_sooner(newer, older):
            message += "; the newer one expires, and what it says with it"
            hint = _look_at(newer.citation)
        yield _finding("contradiction", message, hint, (older, newer))


def _settle(old: Statement, new: Statement) -> str:
    """The command after which only the newer one holds."""
    if old.record is None or not old.is_whole:
        return f"Edit {old.citation}"
    if new.record is None:
        return f"memolith supersede {old.record.id} {shlex.quote(new.text)}"
    if new.record.supersedes or not new.is_whole:
        return f"memolith forget {old.record.id}"
    return f"memolith supersede {old.record.id} --by {new.record.id}"


def _ends_sooner(new: Statement, old: Statement) -> bool:
    """Whether one expires while the other lasts: in its place, the fact would be gone one day."""
    ends, lasts_until = (one.record.expires if one.record else None for one in (new, old))
    return ends is not None and (lasts_until is None or ends < lasts_until)


def _duplicates(records: Iterable[tuple[Statement, Record]]) -> Iterator[IntegrityFinding]:
    """Records that say the same; what happens again on another day is news."""
    known: dict[object, Statement] = {}
    for found, record in records:
        if record.category in REPEATS:
            continue
        double = known.setdefault(copy_key(found.text), found)
        if double is found:
            continue
        message = f"“{_short(found)}” ({found.citation}) says what {double.citation} says"
        goes = found.is_whole and _ends_sooner(found, double)  # the one that lasts is to stay
        hint = f"memolith forget {record.id}" if goes else _settle(double, found)
        yield _finding("duplicate", message, hint, (double, found))


def _stale(
    scene: _Scene, records: Iterable[tuple[Statement, Record]]
) -> Iterator[IntegrityFinding]:
    """Records of MEMORY.md and notes that nobody has asked for in all that time; logs are history."""
    state = recalls.fold(recalls.read_state(scene.read), recalls.read_log(scene.read))
    entries = state.entries.values()
    recalled = {entry.claim: entry.last_at for entry in entries if entry.recalls}
    for found, record in records:
        last = max(record.created, recalled.get(found.claim, record.created))
        age = (scene.now - last).days
        is_log = layout.is_daily_log(found.citation.path)
        is_summary = record.category == "compaction"  # which tells what was, and may
        if age > STALE_DAYS and not (is_log or is_summary):
            message = (
                f"“{_short(found)}” ({found.citation}) is {age} days old and was not recalled since."
                f" Changed? memolith supersede {handle(record.id)} TEXT."
                f" Not needed? memolith forget {handle(record.id)}"
            )
            yield _finding("stale", message, _look_at(found.citation), (found,))


def _broken(scene: _Scene) -> Iterator[IntegrityFinding]:
    """Citations of lines that are not there, and records that replace one nobody knows."""
    for found in scene.everything:
        for text in _CITED.findall(found.text):
            place = parse_citation(text)
            if place and scene.lines.get(place.path, 0) < place.last_line:
                yield _lacks(found, f"cites {text}, which is not there", text)
    for record in scene.current.values():
        gone = record.supersedes
        if gone and gone not in scene.known_ids and not scene.too_large and record.citation:
            found = Statement(text=record.text, citation=record.citation, record=record)
            yield _lacks(found, f"replaces the record {gone}, which is nowhere", gone)


def _lacks(found: Statement, what: str, missing: str) -> IntegrityFinding:
    message, hint = f"{found.citation} {what}", _look_at(found.citation)
    finding = _finding("broken-citation", message, hint, (found,), missing)
    return replace(finding, missing=missing)


def _open_secrets(scene: _Scene) -> Iterator[IntegrityFinding]:
    """Keys in the open; the secret itself is not repeated."""
    places: dict[str, list[Statement]] = {}
    for one in scene.everything:
        if not (one.record and one.record.id in scene.secret):
            places.setdefault(one.name if one.record else str(one.citation), []).append(one)
    for number, line in enumerate((scene.read(layout.CONVERSATIONS) or b"").split(b"\n"), 1):
        if line and (turn := parse_turn(line)):
            place = Citation(layout.CONVERSATIONS, number, number)
            text = f"{turn.user}\n{turn.assistant}"
            places[str(place)] = [Statement(text=text, citation=place)]
    for found, *copies in places.values():
        if kinds := " and ".join(open_secrets(found.text)):
            message, hint = f"{found.citation} holds {kinds}", f"Edit {found.citation}"
            if found.record:
                also = "".join(f" (also {copy.citation})" for copy in copies)
                message += f"{also} and is not marked secret. To mark it:"
                message += f" memolith update {handle(found.record.id)} --sensitivity secret"
                hint = _look_at(found.citation)
            yield _finding("open-secret", message, hint, (found, *copies), kinds)


def _finding(
    kind: str, message: str, hint: str, about: tuple[Statement, ...], more: str = ""
) -> IntegrityFinding:
    # The same in every scan and in no order of files: a compaction moves records.
    names = sorted({found.record.id if found.record else found.claim for found in about})
    content = "\0".join((kind, *names, more)).encode(errors="surrogatepass")
    return IntegrityFinding(
        id=blake2b(content, digest_size=5).hexdigest(),
        kind=kind,
        message=message,
        hint=hint,
        citations=tuple(str(found.citation) for found in about),
        records=tuple(dict.fromkeys(found.record.id for found in about if found.record)),
    )


def _look_at(place: Citation) -> str:
    """The command that shows it; a path that a shell would take apart is quoted."""
    return f"memolith get {shlex.quote(str(place)) if shlex.quote(place.path) != place.path else place}"


def _age(found: Statement) -> tuple[str, str, int]:
    """Older first: by the record's time, or by the day in the name of the file."""
    moment = found.record.created.isoformat() if found.record else ""
    day = found.citation.path.rpartition("/")[2] if layout.is_daily_log(found.citation.path) else ""
    return (moment or day, found.citation.path, found.citation.first_line)


def _short(found: Statement, most: int = 80) -> str:
    text = " ".join(found.text.split()).replace('"', "'")
    return text if len(fold(text)) <= most else text[: most - 1] + "…"
