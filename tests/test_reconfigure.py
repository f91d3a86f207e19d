"""Settings are read anew while a memory is open: at once, wholly, or not at all."""

from __future__ import annotations

import os
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.watching import Watch, follow_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memolith.reports import Reconfiguration


@pytest.fixture
def open_memory(root: str) -> Iterator[Memory]:
    with Memory(root) as memory:
        memory.init()
        yield memory


def write(memory: Memory, text: str) -> None:
    Path(memory.root, "memolith.toml").write_text(text, "utf-8")


def test_a_changed_setting_is_obeyed_by_the_next_call(open_memory: Memory) -> None:
    write(open_memory, "[chat]\nmax_chars_per_entry = 20\n")
    report = open_memory.reconfigure()
    assert (report.changed, report.restart, report.problem) == (
        ("chat.max_chars_per_entry",),
        (),
        None,
    )
    open_memory.chats.log("x" * 100, "y")
    assert len(open_memory.chats.turns()[0].user) < 100
    assert open_memory.reconfigure().changed == ()


@pytest.mark.parametrize("text", ["[store", "[store]\nbackups_kept = 0", "[nonsense]\nx = 1"])
def test_broken_settings_leave_all_as_it_was_and_are_said(open_memory: Memory, text: str) -> None:
    write(open_memory, "[trim]\nmax_records = 7\n")
    open_memory.reconfigure()
    write(open_memory, text)
    report = open_memory.reconfigure()
    assert "memolith.toml" in report.problem
    assert report.changed == ()
    assert open_memory.config.trim.max_records == 7


def test_a_file_that_is_gone_means_the_defaults(open_memory: Memory) -> None:
    write(open_memory, "[trim]\nmax_records = 7\n")
    open_memory.reconfigure()
    Path(open_memory.root, "memolith.toml").unlink()
    assert open_memory.reconfigure().changed == ("trim.max_records",)
    assert open_memory.config.trim.max_records == 0


def test_what_needs_a_restart_is_named_and_keeps_its_value(open_memory: Memory) -> None:
    write(open_memory, "[serve]\nport = 9999\n[chat]\nmax_entries = 3\n")
    report = open_memory.reconfigure()
    assert (report.changed, report.restart) == (("chat.max_entries",), ("serve.port",))
    assert open_memory.config.serve.port == 8788
    assert open_memory.reconfigure().restart == ("serve.port",)


def test_arguments_still_win(root: str) -> None:
    with Memory(root, settings={"trim.max_records": 5}) as memory:
        memory.init()
        write(memory, "[trim]\nmax_records = 7\n")
        assert memory.reconfigure().changed == ()
        assert memory.config.trim.max_records == 5


def test_zone_place_and_search_change_too(open_memory: Memory) -> None:
    open_memory.remember("The heron nests by the lake")
    assert open_memory.search("heron").hits[0].ranks.keys() == {"words", "meaning"}
    write(
        open_memory,
        '[profile]\ntimezone = "Pacific/Kiritimati"\n[search]\nmeaning = false\n',
    )
    os.rename(Path(open_memory.root, "MEMORY.md"), Path(open_memory.root, "memory/MEMORY.md"))
    assert len(open_memory.reconfigure().changed) == 2
    record = open_memory.remember("Late words")
    there = datetime.now(UTC).astimezone(__import__("zoneinfo").ZoneInfo("Pacific/Kiritimati"))
    assert record.citation is not None
    assert record.citation.path == f"memory/{there:%Y-%m-%d}.md"
    assert "Late words" in Path(open_memory.root, "memory/MEMORY.md").read_text("utf-8")
    assert not Path(open_memory.root, "MEMORY.md").exists()
    assert open_memory.search("heron").hits[0].ranks.keys() == {"words"}


def until(holds: Callable[[], bool], seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def replace(file: Path, text: str) -> None:
    """As editors save: a new file takes the old one's place."""
    fresh = file.with_suffix(".new")
    fresh.write_text(text, "utf-8")
    os.replace(fresh, file)


def test_a_saved_file_is_followed_and_told_once(open_memory: Memory) -> None:
    told: list[Reconfiguration] = []
    file = Path(open_memory.root, "memolith.toml")
    following = follow_settings(open_memory, told.append, 0.05)
    try:
        for number in (5, 6):
            replace(file, f"[trim]\nmax_records = {number}\n")
            until(lambda number=number: open_memory.config.trim.max_records == number)
        replace(file, "[trim\n")
        until(lambda: bool(told and told[-1].problem))
        assert open_memory.config.trim.max_records == 6
        Path(open_memory.root, "MEMORY.md").write_text("# Edited\n")
        replace(file, "[trim]\nmax_records = 6\n")
        until(lambda: told[-1].problem is None)
    finally:
        following.close()
    assert [bool(report.problem) for report in told] == [False, False, True, False]


def test_two_watches_of_one_memory_both_report_the_change(open_memory: Memory) -> None:
    reports: list[list[Reconfiguration]] = [[], []]
    watches = [follow_settings(open_memory, seen.append, 0.05) for seen in reports]
    try:
        replace(Path(open_memory.root, "memolith.toml"), "[trim]\nmax_records = 5\n")
        until(lambda: all(reports))
    finally:
        for watching in watches:
            watching.close()
    assert [seen[0].changed for seen in reports] == [("trim.max_records",)] * 2


def test_what_waits_for_a_restart_is_told_once(open_memory: Memory) -> None:
    told: list[Reconfiguration] = []
    file = Path(open_memory.root, "memolith.toml")
    following = follow_settings(open_memory, told.append, 0.05)
    try:
        for number in (5, 6):
            replace(file, f"[serve]\nport = 9999\n\n[trim]\nmax_records = {number}\n")
            until(lambda number=number: len(told) == number - 4)
    finally:
        following.close()
    assert [report.restart for report in told] == [("serve.port",), ()]


def test_the_users_file_is_followed_too_even_if_it_does_not_exist_yet(open_memory: Memory) -> None:
    following = follow_settings(open_memory, lambda _: None, 0.05)
    try:
        file = Path(open_memory.profile.user_settings_file)
        file.parent.mkdir(parents=True)
        file.write_text("[trim]\nmax_records = 9\n")
        until(lambda: open_memory.config.trim.max_records == 9)
    finally:
        following.close()


def test_a_watch_outlives_a_callback_that_fails_and_says_so(tmp_path: Path) -> None:
    seen: list[str] = []
    problems: list[str] = []

    def look(changed: frozenset[str]) -> None:
        seen.extend(os.path.basename(path) for path in changed)
        if "first" in seen and "second" not in seen:
            raise ZeroDivisionError("no")

    watching = Watch(look, folders=[str(tmp_path)], interval=0.05, on_problem=problems.append)
    try:
        until(lambda: (tmp_path / "first").touch() or bool(problems))
        until(lambda: (tmp_path / "second").touch() or "second" in seen)
    finally:
        watching.close()
    assert "ZeroDivisionError" in problems[0]


def test_two_changes_within_a_second_are_both_seen(open_memory: Memory) -> None:
    told: list[Reconfiguration] = []
    file = Path(open_memory.root, "memolith.toml")
    following = follow_settings(open_memory, told.append)
    try:
        for number in range(5, 9):
            file.write_text(f"[trim]\nmax_records = {number}\n", "utf-8")
            os.utime(file, (1_800_000_000, 1_800_000_000 + number / 100))
            until(lambda number=number: open_memory.config.trim.max_records == number)
        file.write_text("[trim\n", "utf-8")
        until(lambda: bool(told[-1].problem))
    finally:
        following.close()


def test_a_folder_that_is_replaced_is_still_watched(tmp_path: Path) -> None:
    seen: set[str] = set()
    folder = tmp_path / "folder"
    folder.mkdir()
    watching = Watch(
        lambda changed: seen.update(map(os.path.basename, changed)),
        folders=[str(folder)],
        interval=0.05,
    )
    try:
        until(lambda: (folder / "one").touch() or "one" in seen)
        folder.rename(tmp_path / "old")
        folder.mkdir()
        until(lambda: (folder / "two").touch() or "two" in seen)
    finally:
        watching.close()


def test_a_closed_watch_calls_nobody_and_has_no_thread(tmp_path: Path) -> None:
    calls: list[int] = []
    before = set(threading.enumerate())
    watching = Watch(lambda _: calls.append(1), folders=[str(tmp_path)], interval=0.05)
    (thread,) = set(threading.enumerate()) - before
    (tmp_path / "early").touch()
    until(lambda: bool(calls))
    watching.close()
    until(lambda: not thread.is_alive())
    calls.clear()
    (tmp_path / "late").touch()
    time.sleep(0.3)
    assert calls == []
