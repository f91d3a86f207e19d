"""What the user has forgotten is gone from every file, and no agent brings it back."""

from __future__ import annotations

import json
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import pytest

from memolith import Memory
from memolith.errors import FileChangedError, ForgottenError, RecordNotFoundError
from memolith.files.record_format import encode_line
from tests.conftest import StoppedTime

WORDS = "the old address is Rue de Rivoli 7"
ARCHIVE = ".memolith/archive/MEMORY-archive.md"


def holding(root: str, words: str = WORDS) -> list[str]:
    """Every file of the profile, hidden ones too, in which the words stand."""
    files = sorted(path for path in Path(root).rglob("*") if path.is_file())
    return [str(path.relative_to(root)) for path in files if words.encode() in path.read_bytes()]


def put(root: str, name: str, data: bytes) -> None:
    path = Path(root, name)
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_bytes((path.read_bytes() if path.exists() else b"") + data)


def test_a_record_leaves_both_files_and_every_neighbour_stays(memory: Memory) -> None:
    memory.remember("before")
    record = memory.remember(WORDS)
    memory.remember("after")
    files = {name: Path(memory.root, name) for name in ("MEMORY.md", "memory/2026-11-15.md")}
    line = encode_line(record)
    expected = {name: file.read_bytes().replace(line, b"") for name, file in files.items()}
    report = memory.forget(record.id)
    assert report.record_id == record.id
    assert sorted(report.files) == sorted(files)
    assert {name: file.read_bytes() for name, file in files.items()} == expected
    assert holding(memory.root) == []
    assert [found.text for found in memory.records()] == ["before", "after"]


def test_a_note_that_is_edited_meanwhile_is_not_reported_as_gone(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = memory.save_note(WORDS, title="recalls")  # no log of recalls, which is tried again
    assert note.citation
    file = Path(memory.root, note.citation.path)

    def edited(*_: object) -> list[str]:
        file.write_bytes(file.read_bytes() + b"And more\n")
        return []

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr("memolith.jobs.forget._forget_recalls", edited)
        with pytest.raises(FileChangedError, match="edited by somebody else"):
            memory.forget(note.id)
    assert file.read_bytes().count(b"And more\n") == 1
    assert not Path(memory.root, ".memolith/tombstones.jsonl").exists()
    memory.forget(note.id)
    assert holding(memory.root) == []


def test_no_file_holds_it_any_more_wherever_it_had_got_to(root: str) -> None:
    with Memory(root) as memory:
        record = memory.remember(WORDS)
        memory.remember("another")
        line = encode_line(record)
    with Memory(root, settings={"trim.max_records": 1}) as small:
        small.files.restore(small.jobs.trim().backup)  # archive, and two backups
    put(root, "memory/MEMORY.md", line)
    put(root, "memory/2025-01-01.md", b"# By hand\r\n" + line.replace(b"\n", b"\r\n"))
    put(root, "LONGMEMORY.md", b"prose\n" + line)
    put(root, "memory/notes/copied.md", line)
    put(root, ".memolith/quarantine/MEMORY.md-1.txt", line[:150])
    assert len(holding(root)) >= 9
    with Memory(root) as memory:
        report = memory.forget(record.id)
        assert holding(root) == []
        assert {"MEMORY.md", "memory/MEMORY.md", ARCHIVE, "memory/2025-01-01.md"} <= set(
            report.files
        )
        assert Path(root, "memory", "2025-01-01.md").read_bytes() == b"# By hand\r\n"
        assert Path(root, "LONGMEMORY.md").read_bytes() == b"prose\n"
        assert memory.doctor().healthy


def test_a_chat_in_which_somebody_named_the_id_stays_in_its_backup(root: str) -> None:
    with Memory(root, settings={"chat.max_entries": 2}) as memory:
        record = memory.remember(WORDS)
        memory.chats.log("What did you save?", f"I saved it as {record.id}.")
        for number in range(3):  # until older turns move to the archive
            memory.chats.log(f"question {number}", "answer")
        before = {path: Path(root, path).read_bytes() for path in chats(root, record.id)}
        assert len(before) >= 2
        report = memory.forget(record.id)
        assert not set(report.files) & set(before)
        assert {path: Path(root, path).read_bytes() for path in before} == before
        (backup, *_) = memory.files.backups()
        assert memory.files.restore(backup.name)  # its SHA-256 is still right


def chats(root: str, record_id: str) -> list[str]:
    return [path for path in holding(root, record_id) if path.endswith(".jsonl")]


def test_backups_stay_whole_without_it(memory: Memory) -> None:
    record = memory.remember(WORDS)
    memory.remember("kept")
    with Memory(memory.root, settings={"trim.max_records": 1}) as small:
        name = small.jobs.trim().backup
    memory.forget(record.id)
    (backup,) = memory.files.backups()
    copy = Path(memory.root, ".memolith", "backup", name, "MEMORY.md")
    assert backup.files == {"MEMORY.md": sha256(copy.read_bytes()).hexdigest()}
    memory.files.restore(name)
    assert [found.text for found in memory.records()] == ["kept"]


def test_the_lock_file_keeps_nothing_of_it(memory: Memory) -> None:
    record = memory.remember(WORDS + "x" * 20_000)
    memory.forget(record.id)
    assert holding(memory.root) == []


def test_a_file_that_a_killed_writer_left_keeps_nothing_of_it(memory: Memory) -> None:
    record = memory.remember(WORDS)
    put(memory.root, ".memolith/staging/0123456789abcdef", encode_line(record))
    memory.forget(record.id)
    assert holding(memory.root) == []


@pytest.mark.parametrize(
    "name",
    [
        "short-term-recall.json",
        "short-term-recall.json.damaged-20261114T030000",
        "phase-signals.json",
        "phase-signals.json.damaged-20261114T030000",
    ],
)
def test_what_is_known_of_recalls_and_cannot_be_read_keeps_nothing_of_it(
    name: str, memory: Memory
) -> None:
    record = memory.remember(WORDS)
    path = f"memory/.dreams/{name}"
    put(memory.root, path, f'{{"entries": {{"1": {{"snippet": "{WORDS}"'.encode())
    put(memory.root, "memory/.dreams/mine.txt", b"by hand\n")
    assert path in memory.forget(record.id).files
    assert holding(memory.root) == []
    assert holding(memory.root, "by hand") == ["memory/.dreams/mine.txt"]


def test_entries_beside_one_that_cannot_be_read_are_kept(memory: Memory) -> None:
    record = memory.remember(WORDS)
    moment = "2026-11-14T14:03:22.118Z"
    entry = {"path": "MEMORY.md", "startLine": 1, "endLine": 1, "lastRecalledAt": moment}
    entries = {"1": {**entry, "snippet": "kept"}, "2": {"snippet": WORDS, "path": 7}}
    content = json.dumps({"version": 1, "entries": entries}).encode()
    put(memory.root, "memory/.dreams/short-term-recall.json", content)
    memory.forget(record.id)
    assert holding(memory.root) == []
    assert "memory/.dreams/short-term-recall.json" in holding(memory.root, "kept")


def test_a_damaged_copy_of_the_line_goes_too(memory: Memory) -> None:
    record = memory.remember(WORDS)
    line = encode_line(record)
    put(memory.root, "MEMORY.md", line.replace(b'"provenance"', b'"origin"'))
    put(memory.root, "memory/2025-01-01.md", line[:-40])
    memory.forget(record.id)
    assert holding(memory.root) == []


def test_a_note_goes_with_its_file(memory: Memory) -> None:
    note = memory.save_note(WORDS)
    other = memory.save_note("another note")
    assert note.citation
    report = memory.forget(note.id)
    assert report.files == (note.citation.path,)
    assert not Path(memory.root, note.citation.path).exists()
    assert [found.id for found in memory.records()] == [other.id]


def test_a_note_without_an_id_is_named_by_its_path(memory: Memory) -> None:
    path = "memory/fact/2026-01-01-by-hand.md"
    put(memory.root, path, f"---\ncategory: fact\n---\n\n{WORDS}\n".encode())
    assert [found.id for found in memory.records()] == [path]
    memory.forget(path)
    assert not Path(memory.root, path).exists()
    assert holding(memory.root) == []


def test_the_tombstone_does_not_hold_the_text(memory: Memory) -> None:
    record = memory.remember(WORDS)
    memory.forget(record.id)
    (line,) = Path(memory.root, ".memolith", "tombstones.jsonl").read_text().splitlines()
    stone = json.loads(line)
    assert stone["id"] == record.id
    assert stone["forgottenAt"] == "2026-11-15T12:00:00.000Z"
    assert set(stone) == {"id", "digest", "forgottenAt"}
    assert "Rivoli" not in line


@pytest.mark.parametrize("channel", ["mcp", "rest", "agent", "system", "import", "unheard-of", ""])
@pytest.mark.parametrize("words", [WORDS, WORDS.upper(), f"  {WORDS.replace(' ', '   ')}\n"])
def test_an_agent_may_not_bring_it_back(words: str, channel: str, memory: Memory) -> None:
    memory.forget(memory.remember(WORDS).id)
    with Memory(memory.root, channel=channel) as agent:
        other = agent.remember("something else")
        for write in (
            lambda: agent.remember(words),
            lambda: agent.remember(words, category="fact", session="other", sensitivity="secret"),
            lambda: agent.save_note(words),
            lambda: agent.supersede(other.id, words),
        ):
            with pytest.raises(ForgottenError) as raised:
                write()
            assert "Rivoli" not in str(raised.value)
    assert holding(memory.root) == []


@pytest.mark.parametrize("channel", ["cli", "library", "page"])
def test_the_user_may_bring_it_back_and_then_it_may_stay(channel: str, memory: Memory) -> None:
    memory.forget(memory.remember(WORDS).id)
    with Memory(memory.root, channel=channel) as user:
        record = user.remember(WORDS)
    assert not record.reused
    assert [found.text for found in memory.records()] == [WORDS]
    with Memory(memory.root, channel="mcp") as agent:
        assert agent.remember(WORDS).id == record.id
    assert memory.doctor().healthy


def test_bringing_one_back_leaves_the_other_tombstones(memory: Memory) -> None:
    memory.forget(memory.remember(WORDS).id)
    memory.forget(memory.remember("something else entirely, as it happens").id)
    memory.save_note(WORDS)
    with Memory(memory.root, channel="mcp") as agent, pytest.raises(ForgottenError):
        agent.remember("something else entirely, as it happens")


def test_the_tombstone_of_a_short_text_keeps_only_the_id(memory: Memory) -> None:
    short, long = memory.remember("The   PIN is 4711"), memory.remember("x" * 24)
    for record in (short, long):
        memory.forget(record.id)
    lines = Path(memory.root, ".memolith/tombstones.jsonl").read_text().splitlines()
    assert [json.loads(line).keys() - {"forgottenAt"} for line in lines] == [
        {"id"},
        {"id", "digest"},
    ]
    assert memory.doctor().healthy
    assert not memory.remember("The PIN is 4711").reused


def test_a_record_that_is_remembered_again_after_forgetting_is_a_new_one(memory: Memory) -> None:
    first = memory.remember(WORDS)
    memory.forget(first.id)
    second = memory.remember(WORDS)
    assert (second.id == first.id, second.reused) == (False, False)


def test_part_of_the_path_of_a_note_without_an_id_forgets_nothing(memory: Memory) -> None:
    note = Path(memory.root, "memory/fact/2026-11-15-key.md")
    note.parent.mkdir(parents=True)
    note.write_text("---\ncategory: fact\n---\n\nThe key is in the vault.\n")
    for part in ("memory", "memory/f", "memory/fact"):
        with pytest.raises(RecordNotFoundError):
            memory.forget(part)
    assert memory.forget("memory/fact/2026-11-15-key.md").files
    assert not note.exists()


def test_an_id_may_be_shortened_while_it_is_the_only_one(memory: Memory) -> None:
    record = memory.remember(WORDS)
    memory.remember("another")
    memory.forget(record.id[:8])
    assert [found.text for found in memory.records()] == ["another"]


def test_an_id_that_fits_two_records_forgets_neither(memory: Memory) -> None:
    record = memory.remember(WORDS)
    line = encode_line(record)
    put(memory.root, "MEMORY.md", line.replace(record.id.encode(), record.id[:8].encode() + b"-x"))
    with pytest.raises(RecordNotFoundError, match="2 records"):
        memory.forget(record.id[:8])
    assert len(memory.records()) == 2


@pytest.mark.parametrize("record_id", ["7", "abc", "ünï"])
def test_a_short_id_of_somebody_elses_record_is_found_when_given_in_full(
    record_id: str, memory: Memory
) -> None:
    record = memory.remember(WORDS)
    memory.forget(record.id)
    line = encode_line(record).replace(record.id.encode(), record_id.encode())
    put(memory.root, "MEMORY.md", line)
    memory.forget(record_id)
    assert holding(memory.root) == []


@pytest.mark.parametrize("record_id", ["", "x", "no such id", "0000", "\ud800", "*", "- {"])
def test_an_unknown_id_changes_nothing(record_id: str, memory: Memory) -> None:
    memory.remember(WORDS)
    before = Path(memory.root, "MEMORY.md").read_bytes()
    with pytest.raises(RecordNotFoundError):
        memory.forget(record_id)
    assert Path(memory.root, "MEMORY.md").read_bytes() == before
    assert not Path(memory.root, ".memolith", "tombstones.jsonl").exists()


def test_records_that_only_mention_the_id_stay(memory: Memory) -> None:
    old = memory.remember(WORDS)
    new = memory.supersede(old.id, "the new address")
    mention = memory.remember(f"see {old.id}")
    memory.forget(old.id)
    assert {found.id for found in memory.records()} == {new.id, mention.id}


def test_an_archive_of_its_own_place_is_cleaned_too(root: str) -> None:
    limits = {"trim.max_records": 1, "trim.archive_path": "attic/old.md"}
    with Memory(root, settings=limits) as memory:
        record = memory.remember(WORDS)
        memory.remember("another")
        assert "attic/old.md" in holding(root)
        memory.forget(record.id)
    assert holding(root) == []


def test_forgetting_a_successor_says_which_record_holds_again(memory: Memory) -> None:
    old = memory.remember("Ana owns the key")
    newer = memory.supersede(old.id, "Bob owns the key")
    newest = memory.supersede(newer.id, "Cem owns the key")
    assert memory.forget(newest.id).current_again == newer.id
    assert [record.text for record in memory.records()] == ["Bob owns the key"]
    assert memory.forget(newer.id).current_again == old.id
    assert memory.forget(old.id).current_again is None


def test_what_another_successor_or_its_expiry_keeps_in_the_past_does_not_hold_again(
    memory: Memory, stopped_time: StoppedTime
) -> None:
    old = memory.remember("tea", expires=stopped_time.moment + timedelta(hours=1))
    newer = memory.supersede(old.id, "coffee")
    stopped_time.advance(hours=2)
    assert memory.forget(newer.id).current_again is None


def test_archives_of_earlier_settings_are_looked_into_too(root: str) -> None:
    with Memory(root) as memory:
        record = memory.remember(WORDS)
    for number, archive in enumerate(("attic/old.md", "cellar/older.md", "attic/old.md")):
        with Memory(root, settings={"trim.max_records": 1, "trim.archive_path": archive}) as memory:
            memory.remember(f"Another thing, number {number}")
            memory.jobs.trim()
    assert "attic/old.md" in holding(root)
    with Memory(root) as memory:
        assert "attic/old.md" in memory.forget(record.id).files
    assert holding(root) == []
    noted = Path(root, ".memolith/archives.jsonl").read_text("utf-8")
    assert noted == '"attic/old.md"\n"cellar/older.md"\n'


def test_it_says_where_the_same_words_still_stand(memory: Memory) -> None:
    record = memory.remember("The alarm code is 4711.")
    other = memory.remember("The heron nests at the lake")
    Path(memory.root, "memory/diary.md").write_text(
        "# Diary\n\nToday I learnt that the alarm code is 4711, well.\n", encoding="utf-8"
    )
    memory.chats.log("What was it?", "the alarm code is 4711")
    told = memory.forget(record.id).warnings
    assert [one.partition(". ")[0].rpartition(" ")[2] for one in told] == [
        "memory/diary.md#L3", "conversation-history.jsonl#L1",
    ]  # fmt: skip
    assert memory.forget(other.id).warnings == ()


def test_what_the_middle_of_a_chain_had_replaced_stays_in_the_past(memory: Memory) -> None:
    oldest = memory.remember("The rent is 950 euros.")
    middle = memory.supersede(oldest.id, "The rent is 1,140 euros.")
    newest = memory.supersede(middle.id, "The rent is 1,180 euros.")
    assert memory.forget(middle.id).current_again is None
    assert [record.text for record in memory.records()] == [newest.text]
    assert memory.get_record(newest.id).supersedes == oldest.id
    assert memory.search("what is the rent?").hits[0].record_id == newest.id
    assert memory.jobs.scan().count == 0
