"""The integrity scan: contradictions, stale and double records, broken citations, secrets in the open.

Findings only, each with a command that does no harm as it stands; nothing is ever changed.
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
from memolith.jobs import recall_state
from memolith.jobs.changes import applied
from memolith.jobs.contradictions import contradicting
from memolith.jobs.job import Snapshot
from memolith.jobs.recalls import fold as merge_recalls
from memolith.jobs.recalls import read_log
from memolith.jobs.reports import Change, IntegrityFinding, ScanReport
from memolith.jobs.sources import Statement, statements
from memolith.text.cues import is_small_talk
from memolith.text.folding import fold
from memolith.text.open_secrets import open_secrets
from memolith.text.pieces import bare_text, claim_key
from memolith.text.sentences import sentences
from memolith.text.similarity import copy_key
from memolith.text.wording import counted
from memolith.types import REPEATS, Citation, Record
from memolith.visibility import current

STALE_DAYS = 120
_CITED = re.compile(
    r"(?<![\w/.])((?:memory/)?[\w./-]{1,200}\.md#L\d{1,9}(?:-L?\d{1,9})?)", re.ASCII
)


# A paragraph of so many characters is a text of its own, and no claim that could be compared.
_LONGEST_CLAIM = 20_000


NOTHING_CHANGED: Mapping[str, bytes] = {}


class _Scene:
    """Everything the scan looks at, read once."""

    def __init__(
        self, snapshot: Snapshot, now: datetime, changed: Mapping[str, bytes] = NOTHING_CHANGED
    ) -> None:
        """With other bytes in the files that are changed."""
        self._snapshot, self._changed = snapshot, changed
        self.now = now
        self.closed = snapshot.closed
        self.lines: dict[str, int] = {}
        self.everything: list[Statement] = []
        records: dict[str, Record] = {}
        self.known_ids: set[str] = set()
        self.secret: set[str] = set()  # a record is secret if one of its files says so
        self.too_large: list[str] = []
        for path in dict.fromkeys((*snapshot.files(), *changed)):
            data = self.read(path) or b""
            self.lines[path] = data.count(b"\n") + (not data.endswith(b"\n"))
            if len(data) > MAX_FILE_BYTES:
                self.too_large.append(path)
                continue
            found = records_in(path, data)
            self.known_ids.update(record.id for record in found)
            self.secret.update(one.id for one in found if one.sensitivity == "secret")
            if path.startswith(".") or is_output(path, data, found):
                continue
            records.update((record.id, record) for record in found)
            self.everything += statements(path, data)
        for path in set(snapshot.files_and_archives()) - set(self.lines):
            self.known_ids.update(record.id for record in records_in(path, self.read(path) or b""))
        self.known_ids.update(stone.id for stone in tombstones(snapshot.read))
        self.current = {record.id: record for record in current(records.values(), now)}

    def read(self, path: str) -> bytes | None:
        """The bytes of a file."""
        return self._changed[path] if path in self._changed else self._snapshot.read(path)

    def living(self) -> Iterator[Statement]:
        """What still holds, each record once, without what dreaming wrote."""
        seen: set[str] = set()
        for found in self.everything:
            if found.generated or len(found.text) > _LONGEST_CLAIM or found.name in seen:
                continue
            if found.record is None or found.record.id in self.current:
                seen.add(found.name)
                yield found


def scan(folder: Folder, now: datetime, *, most: int | None = None) -> ScanReport:
    """Look for what contradicts, repeats or leads nowhere; compare the newest `most` statements, or all."""
    scene = _Scene(Snapshot(folder), now)
    living = list(scene.living())
    compared = living if most is None else sorted(living, key=_age)[-most:]
    warnings = [*scene.closed.values(), *_not_looked_at(scene)]
    records = [found for found in compared if found.record is not None]  # prose may repeat
    telling = [found for found in records if not _is_small_talk(found)]
    findings = [  # what weighs most comes first
        *_contradictions(compared),
        *_leads_nowhere_or_open(scene),
        *_duplicates(telling),
        *_stale(scene, telling),
    ]
    if len(compared) < len(living):
        warnings.append(
            f"Only the newest {len(compared):,} of {len(living):,} statements were compared."
        )
    if len(telling) < len(records):
        warnings.append(
            f"Not looked at for age and repetition: {counted(len(records) - len(telling), 'statement')} of small talk."
            " Compaction leaves them out."
        )
    found = tuple({finding.id: finding for finding in findings}.values())
    return ScanReport(
        findings=found,
        count=len(found),
        records=len(scene.current),
        files=len(scene.lines),
        warnings=tuple(warnings),
    )


def _not_looked_at(scene: _Scene) -> Iterator[str]:
    for path in scene.too_large:
        most = MAX_FILE_BYTES // 1024**2
        yield f"{path} was not looked at: it has more than {most} MB. Split it, or move it away."
    long = [one for one in scene.everything if len(one.text) > _LONGEST_CLAIM]
    if long:
        yield (
            f"Compared with no other: {counted(len(long), 'text')} of more than"
            f" {_LONGEST_CLAIM:,} characters, the first at {long[0].citation}."
        )


def new_findings(snapshot: Snapshot, changes: Iterable[Change], now: datetime) -> Mapping[str, int]:
    """How much of each kind a job that moves lines would bring about: citations that lead nowhere, open secrets.

    Each line is looked at once, and compared with no other.
    """
    after = {change.path: applied(change, snapshot.read(change.path)) for change in changes}
    known = {_lack(one) for one in _leads_nowhere_or_open(_Scene(snapshot, now))}
    found = {_lack(one): one.kind for one in _leads_nowhere_or_open(_Scene(snapshot, now, after))}
    return Counter(kind for lack, kind in found.items() if lack not in known)


def _lack(finding: IntegrityFinding) -> str:
    """What is missing, if anything is: a summary that cites what its records cite brings no news."""
    return finding.missing or finding.id


def _leads_nowhere_or_open(scene: _Scene) -> Iterator[IntegrityFinding]:
    yield from _broken(scene)
    yield from _open_secrets(scene)


def _contradictions(living: Iterable[Statement]) -> Iterator[IntegrityFinding]:
    """Claims about one subject that cannot both hold."""
    lasting = [
        one
        for one in sorted(living, key=_age)
        if one.record is None or one.record.category not in REPEATS
    ]
    for places in contradicting([one.text for one in lasting]):
        older, newer = (lasting[place] for place in places)
        message = (
            f"“{_short(older)}” ({older.citation}) against “{_short(newer)}” ({newer.citation})"
        )
        hint = _replace_hint(older, newer)
        if older.record is not None and len(list(sentences(older.text))) > 1:
            # What else the older one says still holds, and only a person can say it again.
            message += f"; supersede {older.record.id} with all of it that still holds"
            hint = _look_at(older.citation)
        elif _ends_sooner(newer, older):
            message += "; the newer one expires, and what it says with it"
            hint = _look_at(newer.citation)
        yield _finding("contradiction", message, hint, (older, newer))


def _replace_hint(old: Statement, new: Statement) -> str:
    """The command after which only the newer one holds."""
    if old.record is None or not _is_whole(old, old.record):
        return f"Edit {old.citation}"
    if new.record is None:
        return f"memolith supersede {old.record.id} {shlex.quote(new.text)}"
    if new.record.supersedes or not _is_whole(new, new.record):
        return f"memolith forget {old.record.id}"
    return f"memolith supersede {old.record.id} --by {new.record.id}"


def _ends_sooner(new: Statement, old: Statement) -> bool:
    """Whether one expires while the other lasts: in its place, the fact would be gone one day."""
    ends = new.record.expires if new.record else None
    lasts_until = old.record.expires if old.record else None
    return ends is not None and (lasts_until is None or ends < lasts_until)


def _is_whole(found: Statement, record: Record) -> bool:
    """Whether it is all that the record says; of a long note it is one sentence."""
    return found.text == bare_text(record.text)


def _duplicates(living: Iterable[Statement]) -> Iterator[IntegrityFinding]:
    """Records that say the same; what happens again on another day is news."""
    known: dict[object, Statement] = {}
    records = [(found, found.record) for found in living if found.record is not None]
    # By age, not by place: of three copies the same pairs are named wherever they are.
    for found, record in sorted(records, key=lambda one: (one[1].created, one[1].id)):
        if record.category in REPEATS:
            continue
        double = known.setdefault(copy_key(found.text), found)
        if double is found:
            continue
        yield _finding(
            "duplicate",
            f"“{_short(found)}” ({found.citation}) says what {double.citation} says",
            _drop_hint(double, found),
            (double, found),
        )


def _drop_hint(old: Statement, new: Statement) -> str:
    """The command after which one of two that say the same holds: the one that lasts."""
    if new.record and _ends_sooner(new, old) and _is_whole(new, new.record):
        return f"memolith forget {new.record.id}"
    return _replace_hint(old, new)


def _is_small_talk(found: Statement) -> bool:
    return all(map(is_small_talk, sentences(found.text)))


def _stale(scene: _Scene, living: Iterable[Statement]) -> Iterator[IntegrityFinding]:
    """Records of MEMORY.md and notes that nobody has asked for in all that time; logs are history."""
    state = recall_state.read_state(scene.read)
    since, _ = read_log(scene.read, state.cursor)  # a dream has not seen it yet
    entries = merge_recalls(state, since).entries.values()
    recalled = {entry.claim: entry.last_at for entry in entries if entry.recalls}
    for found in living:
        record = found.record
        if record is None or layout.is_daily_log(found.citation.path):
            continue
        if record.category == "compaction":  # a summary tells what was, and may
            continue
        last = max(record.created, recalled.get(claim_key(found.text), record.created))
        age = (scene.now - last).days
        if age > STALE_DAYS:
            yield _finding(
                "stale",
                f"“{_short(found)}” ({found.citation}) is {age} days old, and nobody asked for it since;"
                f" supersede {record.id} if it has changed, forget it if nobody needs it",
                _look_at(found.citation),
                (found,),
            )


def _broken(scene: _Scene) -> Iterator[IntegrityFinding]:
    """Citations of lines that are not there, and records that replace one nobody knows."""
    for found in scene.everything:
        for text in _CITED.findall(found.text):
            place = parse_citation(text)
            if place and scene.lines.get(place.path, 0) < place.last_line:
                yield replace(
                    _finding(
                        "broken-citation",
                        f"{found.citation} cites {text}, which is not there",
                        _look_at(found.citation),
                        (found,),
                        text,
                    ),
                    missing=text,
                )
    for record in scene.current.values():
        gone = record.supersedes
        if gone and gone not in scene.known_ids and not scene.too_large:
            yield IntegrityFinding(
                id=_id("broken-citation", record.id, gone),
                kind="broken-citation",
                message=f"{record.citation} replaces the record {gone}, which is nowhere",
                hint=_look_at(record.citation),
                citations=(str(record.citation),),
                records=(record.id,),
                missing=gone,
            )


def _open_secrets(scene: _Scene) -> Iterator[IntegrityFinding]:
    told: dict[str, list[Statement]] = {}
    for found in scene.everything:
        if not (found.record and found.record.id in scene.secret):
            told.setdefault(found.name if found.record else str(found.citation), []).append(found)
    for found, *copies in told.values():
        # One finding for a record or place, whatever stands there: it is dealt with at once. The secret
        # itself is not repeated here.
        if kinds := " and ".join(open_secrets(found.text)):
            hint = f"Edit {found.citation}"
            message = f"{found.citation} holds {kinds} in the open"
            if found.record:
                hint = _look_at(found.citation)
                also = "".join(f" (also {copy.citation})" for copy in copies)
                message += f'{also}; mark it there by hand ("sensitivity": "secret"), or forget {found.record.id}'
            yield _finding("open-secret", message, hint, (found, *copies), kinds)
    for number, line in enumerate((scene.read(layout.CONVERSATIONS) or b"").split(b"\n"), 1):
        turn = parse_turn(line)
        kinds = " and ".join(open_secrets(f"{turn.user}\n{turn.assistant}")) if turn else ""
        if kinds:
            place = f"{layout.CONVERSATIONS}#L{number}"
            yield IntegrityFinding(
                id=_id("open-secret", place, kinds),
                kind="open-secret",
                message=f"{place} holds {kinds} in the open",
                hint=f"Edit {place}",
                citations=(place,),
            )


def _finding(
    kind: str, message: str, hint: str, about: tuple[Statement, ...], more: str = ""
) -> IntegrityFinding:
    # In no order of files: a compaction moves records, and the finding is the same.
    names = sorted({found.record.id if found.record else claim_key(found.text) for found in about})
    return IntegrityFinding(
        id=_id(kind, *names, more),
        kind=kind,
        message=message,
        hint=hint,
        citations=tuple(str(found.citation) for found in about),
        records=tuple(dict.fromkeys(found.record.id for found in about if found.record)),
    )


def _look_at(place: Citation | None) -> str:
    """The command that shows it; a path that a shell would take apart is quoted."""
    if place is None or shlex.quote(place.path) == place.path:
        return f"memolith get {place}"
    return f"memolith get {shlex.quote(str(place))}"


def _id(*names: str) -> str:
    """The same finding has the same id in every scan."""
    return blake2b("\0".join(names).encode(errors="surrogatepass"), digest_size=5).hexdigest()


def _age(found: Statement) -> tuple[str, str, int]:
    """Older first: by the record's time, or by the day in the name of the file."""
    moment = found.record.created.isoformat() if found.record else ""
    day = found.citation.path.rpartition("/")[2] if layout.is_daily_log(found.citation.path) else ""
    return (moment or day, found.citation.path, found.citation.first_line)


def _short(found: Statement, most: int = 80) -> str:
    text = " ".join(found.text.split()).replace('"', "'")
    return text if len(fold(text)) <= most else text[: most - 1] + "…"
