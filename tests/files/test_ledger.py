"""The ledger says of each record what all files together say, as a slow and simple reader would."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memolith import Memory, Record
from memolith.files import ledger as ledger_module
from memolith.files.document import Document
from memolith.files.folder import Folder
from memolith.files.ledger import Ledger, find_record, logs_around, sources_of
from memolith.files.notes import encode_record, parse_note
from memolith.files.record_format import MAX_LINE_BYTES, encode_line
from memolith.text.lines import short_id
from tests.files.samples import NOON, make_record
from tests.marking import mark_secret

IDS = [f"{name}-0000-4000-8000-000000000000" for name in ("aaaaaaaa", "bbbbbbbb", "cccccccc")]
LINES = st.builds(
    lambda name, old, sensitivity, hours, expires: encode_line(
        replace(
            make_record('A "secret" that expires', record_id=name, sensitivity=sensitivity),
            created=NOON + timedelta(hours=hours),
            supersedes=old,
            expires=expires and NOON + timedelta(hours=expires),
        )
    ),
    st.sampled_from(IDS),
    st.none() | st.sampled_from(IDS),
    st.sampled_from(["public", "secret"]),
    st.integers(0, 9),
    st.none() | st.integers(-5, 5).filter(bool),
)
OTHER_LINES = st.sampled_from(
    [b"```\n", b"~~~\n", b"# Title\n", b'- {"id":"x","sensitivity":"secret"\n', b"prose\n", b"\n"]
)
BULLETS = st.sampled_from([b"- ", b"* ", b"> 1. ", b"- [x] ", b"\xef\xbb\xbf- "])
REWRITTEN = st.tuples(BULLETS, LINES).map(lambda pair: pair[0] + pair[1][2:])
FILES = st.lists(REWRITTEN | LINES | OTHER_LINES, max_size=5).map(b"".join)
NOTES = LINES.map(
    lambda line: encode_record(next(r for _, r in Document.parse("", line).records()))
) | st.sampled_from([b"---\nsensitivity: secret\n", b"---\nsensitivity: Secret\nid: n\n---\nx\n"])
PATHS = (
    "MEMORY.md",
    "memory/MEMORY.md",
    "memory/2026-11-15.md",
    "memory/2020-01-01.md",
    ".memolith/archive/MEMORY-archive.md",
    "old/elsewhere.md",
)
NOTE_PATH = "memory/fact/2026-11-15-one.md"
MEMORIES = st.fixed_dictionaries({NOTE_PATH: NOTES}, optional=dict.fromkeys(PATHS, FILES))


def write(root: str, files: Mapping[str, bytes]) -> None:
    noted = {".memolith/archives.jsonl": b'"old/elsewhere.md"\n'}
    for path, data in {**files, **noted}.items():
        Path(root, path).parent.mkdir(parents=True, exist_ok=True)
        Path(root, path).write_bytes(data)


def every_record(files: Mapping[str, bytes]) -> list[Record]:
    found = [r for p, data in files.items() for _, r in Document.parse(p, data).records()]
    note = parse_note(NOTE_PATH, files[NOTE_PATH])
    return [*found, note] if note else found


@settings(max_examples=150, deadline=None)
@given(MEMORIES, st.integers(0, 9))
def test_it_says_what_reading_every_line_of_every_file_says(
    files: dict[str, bytes], hour: int
) -> None:
    with TemporaryDirectory() as root:
        write(root, files)
        with Folder(root) as folder:
            ledger = Ledger.of(folder)
    records, now = every_record(files), NOON + timedelta(hours=hour)
    fenced = {
        one.id
        for data in files.values()
        for line in data.split(b"\n")
        for _, one in Document.parse("", line).records()
        if one.sensitivity == "secret"
    }
    secret = {one.id for one in records if one.sensitivity == "secret"} | fenced
    assert ledger.secret - {NOTE_PATH} == secret
    is_secret_note = b"ecret" in files[NOTE_PATH].partition(b"\n---")[0]
    assert (NOTE_PATH in ledger.secret) == is_secret_note
    assert ledger.replaced == {one.supersedes for one in records if one.supersedes}
    for record_id in IDS:
        newer = [one for one in records if one.supersedes == record_id]
        ends = [one.expires for one in records if one.id == record_id and one.expires]
        assert ledger.replaced_at(record_id) == min((one.created for one in newer), default=None)
        assert ledger.is_past(record_id, now) == (bool(newer) or any(end <= now for end in ends))


def marked(memory: Memory, *paths: str) -> frozenset[str]:
    with Folder(memory.root) as folder:
        return Ledger.of(folder, paths or None).secret


@pytest.fixture
def known(memory: Memory) -> tuple[Record, ...]:
    """Six records, two of them marked secret in MEMORY.md alone."""
    for number in range(6):
        memory.remember(f"Record {number} of some length, {'x' * number * 7}")
    for number in (0, 4):
        mark_secret(Path(memory.root, "MEMORY.md"), f"Record {number}")
    return tuple(memory.records(include_secret=True))


def test_the_strictest_mark_of_all_copies_counts(memory: Memory, known: tuple[Record, ...]) -> None:
    assert marked(memory) == {known[0].id, known[4].id}
    assert [record.sensitivity == "secret" for record in known] == [1, 0, 0, 0, 1, 0]


def test_a_copy_in_any_file_counts_not_only_in_the_log_of_its_day(memory: Memory) -> None:
    record = memory.remember("The door opens with heron")
    secret = replace(record, provenance=replace(record.provenance, sensitivity="secret"))
    Path(memory.root, "memory/1999-01-01.md").write_bytes(encode_line(secret))
    assert marked(memory) == {record.id}
    assert not memory.records()
    assert "heron" not in memory.get("MEMORY.md").text


def test_an_id_that_json_escapes_is_found(memory: Memory) -> None:
    record = replace(memory.remember("The door opens with heron"), id='my "own" id\\')
    secret = replace(record, provenance=replace(record.provenance, sensitivity="secret"))
    with Path(memory.root, "MEMORY.md").open("ab") as file:
        file.write(encode_line(secret))
    assert marked(memory) == {record.id}


def test_a_record_that_only_speaks_of_the_id_marks_nothing(memory: Memory) -> None:
    record = memory.remember("The dog is called Bruno")
    memory.remember(f"{record.id} is the dog", sensitivity="secret")
    memory.supersede(record.id, "The dog is called Rex", sensitivity="secret")
    assert record.id not in marked(memory)


def test_lines_of_any_length_are_read_to_their_ends(memory: Memory) -> None:
    record = memory.remember("The door opens with heron")
    secret = replace(record, provenance=replace(record.provenance, sensitivity="secret"))
    line = encode_line(secret)
    long = b" " * (MAX_LINE_BYTES * 3)
    for data in (line[:-1], long + b"x\n" + line, long + line, line[:-1] + long + b"\n"):
        Path(memory.root, "MEMORY.md").write_bytes(data)
        assert marked(memory) == {record.id}


def test_a_file_that_cannot_be_read_is_left_to_others(memory: Memory) -> None:
    record = memory.remember("The dog is called Bruno")
    os.mkfifo(Path(memory.root, ".memolith", "archive-of-nothing.md"))
    Path(memory.root, "MEMORY.md").unlink()
    Path(memory.root, "MEMORY.md").symlink_to("elsewhere.md")
    assert record.id not in marked(memory)


def test_of_the_records_that_took_a_place_the_newest_counts_and_a_circle_ends(
    memory: Memory,
) -> None:
    first, second, third = (
        replace(make_record(record_id=name), supersedes=old, created=NOON + timedelta(hours=hour))
        for name, old, hour in ((IDS[0], IDS[2], 0), (IDS[1], IDS[0], 1), (IDS[2], IDS[0], 2))
    )
    Path(memory.root, "memory").mkdir(parents=True)
    Path(memory.root, "MEMORY.md").write_bytes(encode_line(first) + encode_line(second))
    Path(memory.root, "memory/2026-11-15.md").write_bytes(encode_line(third))
    with Folder(memory.root) as folder:
        found = find_record(folder, IDS[0])
        assert Ledger.of(folder).newest(found).id in (IDS[0], IDS[2])
        assert Ledger.of(folder, ["MEMORY.md"]).newest(found).id == IDS[1]


def test_a_file_is_parsed_again_only_when_it_changed(
    memory: Memory, known: tuple[Record, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert known
    for path in ("MEMORY.md", *logs_around([known[0].created.date()])):
        if Path(memory.root, path).exists():
            os.utime(Path(memory.root, path), (1, 1))
    monkeypatch.setattr("memolith.clock.FILE_TICK", -(10**18))  # as if long ago
    parsed: list[str] = []
    facts_in = ledger_module.facts_in
    monkeypatch.setattr(
        ledger_module,
        "facts_in",
        lambda path, data: (parsed.append(path), facts_in(path, data))[1],
    )
    before = marked(memory)
    parsed.clear()
    assert marked(memory) == before
    assert parsed == []
    mark_secret(Path(memory.root, "MEMORY.md"), "Record 2")
    assert len(marked(memory)) == 3
    assert parsed == ["MEMORY.md"]


def test_a_change_within_one_tick_of_the_file_system_is_seen(memory: Memory) -> None:
    record = memory.remember("The door opens with heron", sensitivity="public")
    path = Path(memory.root, "MEMORY.md")
    assert record.id not in marked(memory)
    before = path.stat()
    with path.open("r+b") as file:
        data = file.read().replace(b'"public"', b'"secret"')
        file.seek(0)
        file.write(data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert record.id in marked(memory)


def test_copies_name_their_sources() -> None:
    name = short_id(IDS[0])
    experience = replace(
        make_record(category="experience", record_id=IDS[1]), metadata={"source": IDS[0]}
    )
    summary = make_record(f"- 2026-11-15 It rained. [{name}]", category="compaction")
    fact = f"- It rained. *(score: 0.83, source: MEMORY.md#L2, said by agent, record {IDS[0]})*"
    of_note = (
        f"- It rained. *(score: 0.83, source: {NOTE_PATH}#L2, said by agent, record {IDS[0]})*"
    )
    assert sources_of(encode_line(experience)) == {IDS[0]}
    assert sources_of(b"* " + encode_line(summary)[2:]) == {name}
    assert sources_of(fact.encode()) == {IDS[0]}
    assert sources_of(of_note.encode()) == {IDS[0], NOTE_PATH}
    assert sources_of(encode_line(make_record())) == sources_of(b"- prose [not an id]\n") == set()
