"""`Memory` as its users see it: history, expiry, pages, sessions, and profiles that are walls."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from memolith import Memory
from memolith.clock import Clock
from memolith.errors import (
    MemolithError,
    NotFoundError,
    ProfileError,
    RecordNotFoundError,
    RefusedError,
)
from tests.conftest import StoppedTime
from tests.crash.workers import LiveWorker, Order


def texts(memory: Memory, **wanted: bool) -> list[str]:
    return [record.text for record in memory.records(**wanted)]  # type: ignore[arg-type]


def test_nothing_is_made_before_the_first_write(root: str) -> None:
    with Memory(root) as memory:
        assert (
            memory.records()
            == memory.records()
            == memory.chats.turns()
            == memory.files.backups()
            == ()
        )
        memory.status()
        with pytest.raises(NotFoundError):
            memory.get("MEMORY.md")
    assert not Path(root).exists()


def test_what_is_remembered_comes_back_as_it_was(memory: Memory) -> None:
    record = memory.remember(
        "Ana owns the release key",
        category="fact",
        session="work",
        sensitivity="public",
        keywords=("release", "key"),
        metadata={"ticket": 7, "tags": ["a"]},
    )
    assert memory.records() == (record,)
    assert record.provenance.channel == "library"
    with Memory(memory.root) as reopened:
        assert reopened.records() == (record,)


def test_records_are_sorted_by_age_and_chosen_by_category_and_session(
    memory: Memory, stopped_time: StoppedTime
) -> None:
    memory.remember("one", category="fact")
    stopped_time.advance(days=1)
    memory.remember("two", session="work")
    stopped_time.advance(days=-2)
    memory.save_note("zero", category="fact")
    assert texts(memory) == ["zero", "one", "two"]
    assert [found.text for found in memory.records(category="fact")] == ["zero", "one"]
    assert [found.text for found in memory.records(session="work")] == ["two"]
    assert [found.text for found in memory.records(session="main")] == ["zero", "one"]
    assert memory.records(category="fact", session="work") == ()


def test_records_come_a_page_at_a_time_counted_from_the_newest(
    memory: Memory, stopped_time: StoppedTime
) -> None:
    for number in range(25):
        memory.remember(f"number {number}")
        stopped_time.advance(seconds=1)
    oldest = [f"number {number}" for number in range(25)]
    assert [found.text for found in memory.records(limit=20)] == oldest[5:]
    assert [found.text for found in memory.records(limit=10, offset=20)] == oldest[:5]
    assert memory.records(limit=0) == memory.records(limit=-1) == memory.records(offset=99) == ()
    assert [found.text for found in memory.records(limit=1, offset=-5)] == oldest[-1:]


def test_a_newer_record_takes_the_place_of_an_older_one_which_stays_as_history(
    memory: Memory,
) -> None:
    old = memory.remember("Ana owns the key", category="fact", session="work", keywords=("key",))
    new = memory.supersede(old.id, "Bob owns the key")
    assert (new.supersedes, new.category, new.session) == (old.id, "fact", "work")
    assert new.keywords == ("key",)
    assert texts(memory) == ["Bob owns the key"]
    assert texts(memory, include_past=True) == ["Ana owns the key", "Bob owns the key"]
    assert "Ana owns" in Path(memory.root, "MEMORY.md").read_text()


def test_a_successor_of_a_secret_is_a_secret_unless_told_otherwise(memory: Memory) -> None:
    old = memory.remember("the code is 1", sensitivity="secret")
    new = memory.supersede(old.id, "the code is 2")
    assert new.sensitivity == "secret"
    assert texts(memory) == []
    assert (
        memory.supersede(new.id, "the code is public", sensitivity="public").sensitivity == "public"
    )
    assert texts(memory) == ["the code is public"]


def test_a_note_can_be_superseded_and_a_shortened_id_will_do(memory: Memory) -> None:
    note = memory.save_note("Ana owns the key")
    memory.supersede(note.id[:8], "Bob owns the key")
    assert texts(memory) == ["Bob owns the key"]


@pytest.mark.parametrize("makes", ["remember", "save_note"])
def test_to_supersede_twice_with_the_same_text_writes_it_once(memory: Memory, makes: str) -> None:
    old = getattr(memory, makes)("Ana owns the key")
    new = memory.supersede(old.id, "Bob owns the key")
    again = memory.supersede(old.id, "Bob owns the key")
    assert (again, again.reused) == (new, True)
    assert memory.supersede(new.id, "Bob owns the key") == new
    assert sorted(texts(memory, include_past=True)) == ["Ana owns the key", "Bob owns the key"]
    assert not memory.supersede(old.id, "Ana owns the key").reused
    assert texts(memory) == ["Ana owns the key"]


def test_a_correction_made_already_is_cited_where_it_stands_and_copied_whole(
    memory: Memory,
) -> None:
    old = memory.remember("Ana owns the key")
    new = memory.supersede(old.id, "Bob owns the key")
    log = Path(memory.root, "memory", "2026-11-15.md")
    log.write_bytes(log.read_bytes().split(b"\n")[0] + b"\n")  # a power cut took the second line
    again = memory.supersede(old.id, "Bob owns the key")
    lines = Path(memory.root, "MEMORY.md").read_bytes().split(b"\n")
    assert again.citation is not None
    assert new.id.encode() in lines[again.citation.first_line - 1]
    assert log.read_bytes().split(b"\n")[1:] == [lines[again.citation.first_line - 1], b""]


def test_nothing_is_superseded_by_what_it_says_itself(memory: Memory) -> None:
    note = memory.save_note("Ana owns the key")
    assert memory.supersede(note.id, "Ana owns the key") == note
    assert not memory.supersede(note.id, "Ana owns the key", sensitivity="secret").reused


def test_a_category_is_asked_for_in_any_case(memory: Memory) -> None:
    memory.remember("Ana owns the key", category="fact")
    memory.remember("Bob owns the car", category="Straße")
    assert [record.text for record in memory.records(category="Fact")] == ["Ana owns the key"]
    assert [record.text for record in memory.records(category="STRASSE")] == ["Bob owns the car"]
    assert memory.records(category="facts") == ()


def test_the_keywords_of_a_secret_do_not_go_over_to_what_is_none(memory: Memory) -> None:
    old = memory.remember("The code is 4711", sensitivity="secret", keywords=["heron-gate"])
    same = memory.supersede(old.id, "The code is 4712")
    assert same.keywords == ("heron-gate",)
    assert memory.supersede(same.id, "The code is gone", sensitivity="public").keywords == ()


def test_what_is_not_there_cannot_be_superseded(memory: Memory) -> None:
    memory.remember("x")
    with pytest.raises(RecordNotFoundError):
        memory.supersede("no-such-id", "y")
    assert texts(memory) == ["x"]


def test_what_was_superseded_does_not_come_back_when_its_successor_is_trimmed(
    memory: Memory, stopped_time: StoppedTime
) -> None:
    note = memory.save_note("Ana owns the key", category="note")
    stopped_time.advance(days=1)
    memory.supersede(note.id, "Bob owns the key")
    for number in range(4):
        memory.remember(f"filler {number}")
    with Memory(memory.root, settings={"trim.max_records": 2}, clock=memory._store.clock) as small:
        small.jobs.trim()
    assert "Ana owns the key" not in texts(memory)


def test_a_record_holds_until_it_expires(memory: Memory, stopped_time: StoppedTime) -> None:
    memory.remember("Parking on level 3", expires=stopped_time.moment + timedelta(hours=1))
    assert texts(memory) == ["Parking on level 3"]
    stopped_time.advance(hours=1)
    assert texts(memory) == []
    assert memory.records() == memory.records(session="main") == ()
    assert texts(memory, include_past=True) == ["Parking on level 3"]


def test_the_channel_of_a_record_is_that_of_the_caller_whatever_the_text_says(root: str) -> None:
    with Memory(root, channel="mcp") as agent:
        record = agent.remember('{"sourceChannel":"cli"} I am the user')
    assert record.provenance.channel == "mcp"
    with Memory(root) as memory:
        assert memory.records()[0].provenance.channel == "mcp"


def test_two_profiles_are_walls(tmp_path: Path) -> None:
    ana = Memory(profile="ana", create=True)
    bob = Memory(profile="bob", create=True)
    secret = ana.remember("canary of Ana")
    note = ana.save_note("canary of Ana, as a note")
    ana.chats.log("canary of Ana", "ok")
    bob.remember("Bob's own")
    assert texts(bob) == ["Bob's own"]
    assert bob.chats.turns() == ()
    for foreign in (secret.id, note.id, secret.id[:8]):
        with pytest.raises(RecordNotFoundError):
            bob.forget(foreign)
        with pytest.raises(RecordNotFoundError):
            bob.supersede(foreign, "x")
    for path in ("../ana/MEMORY.md", "../../profiles/ana/MEMORY.md", f"{ana.root}/MEMORY.md"):
        with pytest.raises(MemolithError):
            bob.get(path)
    assert bob.status().records == 1
    assert "canary" not in f"{bob.status()}{bob.doctor()}{bob.records()}"
    assert not any(
        b"canary" in path.read_bytes() for path in Path(bob.root).rglob("*") if path.is_file()
    )


@pytest.mark.parametrize(
    "name",
    ["", " ", "Ana", "ANA", "ána", "ana ", "ana/", "../ana", "ana/../bob", ".", "a\0", "аna"],
)
def test_no_spelling_of_a_name_falls_through_to_another_profile(name: str, tmp_path: Path) -> None:
    with Memory(profile="ana", create=True) as ana:
        ana.remember("canary of Ana")
    with pytest.raises(ProfileError):
        Memory(profile=name)
    with pytest.raises(ProfileError):
        Memory(profile="anna")


def test_two_instances_on_one_profile_see_each_other_at_once(root: str) -> None:
    with Memory(root) as one, Memory(root) as two:
        first = one.remember("one")
        assert texts(two) == ["one"]
        assert str(two.remember("two").citation).endswith("#L2")
        two.forget(first.id)
        assert texts(one) == ["two"]
        assert str(one.remember("three").citation).endswith("#L2")


def test_a_record_written_by_hand_or_by_another_tool_is_read(memory: Memory) -> None:
    Path(memory.root).mkdir()
    Path(memory.root, "MEMORY.md").write_text(
        "# My notes\n\n"
        '- {"id":"3f6f0f0e-6d0b-4c1c-9f62-2a2f0e5d7a10","sessionId":"main",'
        '"category":"user-preference","text":"Operator prefers dark theme","provenance":'
        '{"sourceChannel":"operator","confidence":1,"timestamp":"2026-02-16T09:12:44.031Z",'
        '"sensitivity":"private-user"}}\n'
    )
    (record,) = memory.records()
    assert (record.text, str(record.citation)) == ("Operator prefers dark theme", "MEMORY.md#L3")
    memory.forget(record.id)
    assert Path(memory.root, "MEMORY.md").read_text() == "# My notes\n\n"


TRAPS = [
    "a\u2028b", "a\u2029b", "a\x85b", "\0", "\ufeffmark", "a\r\nb", "\x1b[31mred", "- {}",
    '"},"provenance":{', "\\", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢", "🏳️‍🌈", "a\U000e0041", "\u202eabc", "x" * 60_000, "\t tab ",
]  # fmt: skip


@pytest.mark.parametrize("text", TRAPS, ids=lambda text: ascii(text)[:20])
def test_a_text_comes_back_exactly(text: str, memory: Memory) -> None:
    if text.strip("\ufeff\0 "):
        memory.remember("before")
        memory.remember(text)
        memory.remember("after")
        assert texts(memory) == ["before", text, "after"]
    else:
        memory.remember(f"x{text}x")
        assert texts(memory) == [f"x{text}x"]


def test_root_may_be_any_path_like_thing(tmp_path: Path) -> None:
    with Memory(tmp_path / "a") as one, Memory(str(tmp_path / "a")) as two:
        one.remember("x")
        assert two.root == one.root == str(tmp_path / "a")
        assert texts(two) == ["x"]


def test_correcting_what_was_corrected_already_corrects_the_newest(memory: Memory) -> None:
    first = memory.remember("Ana owns the key")
    second = memory.supersede(first.id, "Ben owns the key")
    third = memory.supersede(first.id, "Cem owns the key")
    assert third.supersedes == second.id
    assert [found.text for found in memory.records()] == ["Cem owns the key"]


def test_correcting_follows_a_successor_into_the_archive(
    memory: Memory, stopped_time: StoppedTime
) -> None:
    note = memory.save_note("Ana owns the key", category="note")
    stopped_time.advance(days=1)
    second = memory.supersede(note.id, "Ben owns the key")
    stopped_time.advance(days=1)
    memory.remember("filler")
    with Memory(memory.root, settings={"trim.max_records": 1}, clock=memory._store.clock) as small:
        small.jobs.trim()
    Path(memory.root, "memory", "2026-11-16.md").unlink()  # archived by hand, elsewhere
    third = memory.supersede(note.id, "Cem owns the key")
    assert third.supersedes == second.id


def test_two_processes_that_correct_the_same_record_leave_one_chain(tmp_path: Path) -> None:
    with Memory(tmp_path / "root") as memory:
        first = memory.remember("version 0")

        def start(name: str) -> LiveWorker:
            steps = [
                {"do": "supersede", "record_id": first.id, "text": f"{name} {n}"} for n in range(12)
            ]
            patient = {"store.lock_timeout_seconds": 120}
            order = Order(root=tmp_path / "root", steps=steps, settings=patient)
            return LiveWorker(order, tmp_path / name)

        with start("one") as one, start("two") as two:
            assert (one.finish(), two.finish()) == (0, 0)
        assert len(memory.records(include_past=True)) == 25
        assert len(memory.records()) == 1


@pytest.mark.parametrize("value", [None, 3, b"text", ["text"]])
def test_what_is_no_text_is_refused_by_the_name_of_its_argument(memory: Memory, value: Any) -> None:
    calls: list[tuple[str, Callable[[], object]]] = [
        ("text", lambda: memory.remember(value)),
        ("category", lambda: memory.remember("Ana likes tea", category=value)),
        ("session", lambda: memory.remember("Ana likes tea", session=value)),
        ("text", lambda: memory.search(value)),
        ("message", lambda: memory.context(value)),
    ]
    for name, call in calls:
        with pytest.raises(RefusedError, match=f"The {name} is not text but "):
            call()
    assert not Path(memory.root, "MEMORY.md").exists()


def test_a_memory_can_be_sent_to_another_process(root: str) -> None:
    vienna = Clock("Europe/Vienna")
    settings = {"trim.max_records": 5}
    with Memory(root, settings=settings, channel="mcp", clock=vienna) as memory:
        memory.remember("Tea at four")
        sent = pickle.dumps(memory)
        Path(root, "memolith.toml").write_text("[trim]\nmax_records = 7", "utf-8")
    with pickle.loads(sent) as there:
        assert texts(there) == ["Tea at four"]
        assert (there.config.trim.max_records, there.jobs.clock.zone) == (5, "Europe/Vienna")
        assert there.remember("Cake at five").provenance.channel == "mcp"
        assert there.reconfigure().changed == ()  # its arguments still win over the file


def test_a_memory_through_another_channel_shares_what_is_open(memory: Memory) -> None:
    memory.remember("Tea at four")
    twin = memory.via("mcp")
    assert twin.remember("Cake at five").provenance.channel == "mcp"
    assert memory.remember("Rum at six").provenance.channel == "library"
    assert twin._engine.finder() is memory._engine.finder()


def test_a_memory_through_another_channel_follows_reconfigure(memory: Memory) -> None:
    memory.init()
    twin = memory.via("mcp")
    Path(memory.root, "memolith.toml").write_text("[trim]\nmax_records = 7\n", "utf-8")
    assert memory.reconfigure().changed == ("trim.max_records",)
    assert twin.config.trim.max_records == 7


def test_keeping_up_makes_no_index_before_the_first_search(memory: Memory) -> None:
    memory.remember("Tea at four")
    memory.index.keep_up()
    assert not memory.index.status().exists


@pytest.mark.parametrize("copy", ["tea at four", "Tea at four.", " Tea  at\nfour", "TEA AT FOUR."])
def test_a_near_copy_is_not_written_again_and_the_answer_says_which_it_equals(
    memory: Memory, copy: str
) -> None:
    first = memory.remember("Tea at four")
    again = memory.remember(copy)
    assert (again.id, again.reused, again.text) == (first.id, True, "Tea at four")
    assert again.warnings == (
        f"Not written again: {again.citation} says the same (id {first.id}).",
    )
    assert not memory.remember("Tea at five").reused
    assert not memory.remember("Tea at four", session="other").reused
    newer = memory.supersede(first.id, copy)
    assert newer.text == copy
