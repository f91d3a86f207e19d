"""What came from outside is let in, given another mark or forgotten by the user alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.errors import NotFoundError, RecordNotFoundError, RefusedError

if TYPE_CHECKING:
    from memolith.clock import Clock

KEY = "The deploy key is AKIAIOSFODNN7EXAMPLE"


@pytest.fixture
def web(root: str, clock: Clock) -> Memory:
    """The same memory, for what comes from the web."""
    return Memory(root, clock=clock, channel="web")


def files_of(root: str) -> dict[str, bytes]:
    paths = [
        *Path(root).glob("*.md"),
        *Path(root).glob("*.jsonl"),
        *Path(root).glob("memory/**/*.md"),
    ]
    return {str(path): path.read_bytes() for path in paths}


def test_a_record_is_let_in_in_every_file_and_can_be_held_back_again(
    memory: Memory, web: Memory
) -> None:
    held = web.remember("The prize waits in Lagos")
    other = web.remember("Buy my pills")
    before = files_of(memory.root)
    report = memory.jobs.approve(held.id[:8])
    assert (report.status, report.counts) == ("done", {"records": 1, "turns": 0})
    start = memory.session_start()
    assert "Lagos" in start.text
    assert "pills" not in start.text
    assert start.held == 1
    assert "Lagos" in memory.context("Where does the prize wait?").text
    channels = {record.id: record.provenance.channel for record in memory.records()}
    assert channels == {held.id: "approved:web", other.id: "web"}
    assert memory.jobs.undo(report.id).status == "undone"
    assert files_of(memory.root) == before
    assert memory.session_start().held == 2


def test_a_whole_channel_is_let_in_with_its_notes_and_turns(memory: Memory, web: Memory) -> None:
    web.remember("The prize waits in Lagos")
    web.save_note("The museum opens at nine", category="fact")
    web.chats.log("When does the ferry leave?", "At noon.", chat="7", platform="web")
    Memory(memory.root, channel="email").remember("Buy my pills")
    before = files_of(memory.root)
    report = memory.jobs.approve(channel="web")
    assert report.counts == {"records": 2, "turns": 1}
    found = memory.context("When does the museum open?").text
    assert "nine" in found
    assert "noon" in memory.context("When does the ferry leave?").text
    assert memory.session_start().held == 1
    assert memory.jobs.approve(channel="web").status == "skipped"
    memory.jobs.undo(report.id)
    assert files_of(memory.root) == before


def test_text_that_comes_later_is_held_back_again(memory: Memory, web: Memory) -> None:
    web.remember("The prize waits in Lagos")
    memory.jobs.approve(channel="web")
    web.remember("Buy my pills")
    assert memory.session_start().held == 1


def test_a_secret_mark_is_lowered_by_the_user_in_every_file(memory: Memory) -> None:
    record = memory.remember(KEY)
    note = memory.save_note(f"{KEY}, of the museum", category="fact")
    assert {record.sensitivity, note.sensitivity} == {"secret"}
    assert memory.records() == ()
    reports = [memory.jobs.approve(one.id, sensitivity="private-user") for one in (record, note)]
    assert {one.text for one in memory.records()} == {KEY, f"{KEY}, of the museum"}
    assert memory.search("deploy key").hits
    for report in reports:
        memory.jobs.undo(report.id)
    assert memory.records() == ()


def test_it_is_done_at_once_where_jobs_propose(root: str, clock: Clock, web: Memory) -> None:
    held = web.remember("The prize waits in Lagos")
    with Memory(root, clock=clock, settings={"jobs.review": "ask"}) as memory:
        assert memory.jobs.approve(held.id).status == "done"


@pytest.mark.parametrize("channel", ["mcp", "rest", "agent", "telegram", "web"])
def test_no_agent_may_approve_forget_a_channel_or_take_an_approval_back(
    memory: Memory, web: Memory, channel: str
) -> None:
    held = web.remember("The prize waits in Lagos")
    approval = memory.jobs.approve(held.id)
    before = files_of(memory.root)
    agent = memory.via(channel)
    for call in (
        lambda: agent.jobs.approve(held.id, sensitivity="public"),
        lambda: agent.jobs.approve(channel="web"),
        lambda: agent.jobs.forget_channel("web"),
        lambda: agent.jobs.undo(approval.id),
    ):
        with pytest.raises(RefusedError, match="Only the user"):
            call()
    assert files_of(memory.root) == before


def test_an_unknown_record_is_an_error_and_an_unknown_channel_nothing(memory: Memory) -> None:
    memory.remember("Tea at four")
    with pytest.raises(RecordNotFoundError):
        memory.jobs.approve("12345678")
    assert memory.jobs.approve(channel="nowhere").status == "skipped"
    with pytest.raises(RefusedError):
        memory.jobs.approve()
    with pytest.raises(RefusedError, match="not a sensitivity"):
        memory.jobs.approve(memory.records()[0].id, sensitivity="open")  # type: ignore[arg-type]


def test_a_channel_that_does_not_exist_cannot_be_forgotten(memory: Memory, web: Memory) -> None:
    web.remember("The prize waits in Lagos")
    memory.chats.log("When does the ferry leave?", "At noon.", chat="7", platform="telegram")
    for dry_run in (True, False):
        with pytest.raises(NotFoundError, match="'wbe'") as caught:
            memory.jobs.forget_channel("wbe", dry_run=dry_run)
        assert caught.value.hint == "Known channels: telegram, web."
    assert len(memory.records()) == 1


def test_a_channel_is_forgotten_everywhere(memory: Memory, web: Memory) -> None:
    web.remember("The prize waits in Lagos")
    web.save_note("The museum opens at nine", category="fact")
    web.chats.log("When does the ferry leave?", "At noon.", chat="7", platform="web")
    memory.remember("Tea at four")
    memory.jobs.approve(channel="web")  # keeps copies in a backup and in its report
    assert memory.search("prize in Lagos").hits
    counted = memory.jobs.forget_channel("web", dry_run=True)
    assert (len(counted.records), counted.turns) == (2, 1)
    assert memory.search("prize in Lagos").hits
    memory.jobs.forget_channel("web")
    assert [record.text for record in memory.records()] == ["Tea at four"]
    assert memory.chats.turns() == ()
    for words in (b"Lagos", b"museum", b"ferry"):
        left = [
            path
            for path in Path(memory.root).rglob("*")
            if path.is_file() and words in path.read_bytes()
        ]
        assert left == []
    assert memory.doctor().healthy
