"""init, forget, trim and restore: what they changed, what they kept, and how to undo it."""

from __future__ import annotations

import fcntl
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memolith import Memory
from tests.cli.conftest import in_terminal

if TYPE_CHECKING:
    from tests.cli.conftest import Run


def remember(memolith: Run, *texts: str) -> list[str]:
    return [memolith("remember", text, "--json").json["id"] for text in texts]


def test_init_makes_the_first_files_once(memolith: Run, root: str) -> None:
    outcome = memolith("init")
    assert (
        outcome.out
        == f"Made  MEMORY.md\nMade  USER.md\nMade  memolith.toml\nThis memory is in {root}\n"
    )
    assert sorted(os.listdir(root)) == [".memolith", "MEMORY.md", "USER.md", "memolith.toml"]
    Path(root, "USER.md").write_text("Ana\n")
    assert memolith("init").out == f"Everything was there already, in {root}\n"
    assert Path(root, "USER.md").read_text() == "Ana\n"


def test_programs_learn_what_init_made(memolith: Run, root: str) -> None:
    made = memolith("init", "--json").json
    assert made == {
        "profile": "profile",
        "root": root,
        "made": ["MEMORY.md", "USER.md", "memolith.toml"],
        "git": [],
    }
    assert memolith("init", "--json").json["made"] == []


def test_init_where_a_file_stands_is_an_error(memolith: Run, tmp_path: Path) -> None:
    Path(tmp_path, "file").write_text("")
    outcome = memolith("init", "--root", str(tmp_path / "file"), "--json")
    assert (outcome.code, outcome.error["kind"]) == (4, "profile")


def test_forget_removes_a_record_and_names_the_files(memolith: Run, root: str) -> None:
    gone, _ = remember(memolith, "The door code is 4711", "Tea at four")
    outcome = memolith("forget", gone[:8])
    first, *files = outcome.out.splitlines()
    assert (outcome.code, first) == (0, f"Forgotten  {gone}")
    assert "  from  MEMORY.md" in files
    assert "4711" not in Path(root, "MEMORY.md").read_text()
    assert "Tea at four" in memolith("list").out


def test_programs_learn_what_was_forgotten(memolith: Run) -> None:
    (gone,) = remember(memolith, "The door code is 4711")
    report = memolith("forget", gone, "--json").json
    assert report["record_id"] == gone
    assert "MEMORY.md" in report["files"]
    assert len(report["files"]) == 2
    again = memolith("forget", gone, "--json")
    assert (again.code, again.error["kind"]) == (7, "not-found")


def test_forget_on_a_terminal_shows_the_record_and_asks(memolith: Run, root: str) -> None:
    (kept,) = remember(memolith, "Tea at four")
    for answer in (b"n\n", b"\n", b"\x04"):
        outcome = in_terminal("forget", kept[:8], "--root", root, typed=answer)
        assert outcome.code == 21
        assert "MEMORY.md#L13  note  Tea at four\nForget this for good? [y/N] " in outcome.out
        assert "Nothing was changed." in outcome.out
    assert memolith("status", "--json").json["records"] == 1
    assert in_terminal("forget", kept[:8], "--root", root, typed=b"y\n").code == 0
    assert memolith("status", "--json").json["records"] == 0


def test_forget_does_not_ask_about_a_record_that_is_not_there(memolith: Run, root: str) -> None:
    memolith("remember", "Tea at four")
    outcome = in_terminal("forget", "00000000", "--root", root)
    assert outcome.code == 7
    assert "[y/N]" not in outcome.out
    assert "No record has the id" in outcome.out


def test_forget_with_yes_does_not_ask(memolith: Run, root: str) -> None:
    (gone,) = remember(memolith, "Tea at four")
    outcome = in_terminal("forget", gone, "--yes", "--root", root)
    assert (outcome.code, "[y/N]" in outcome.out) == (0, False)


def test_trim_without_a_limit_says_so(memolith: Run) -> None:
    remember(memolith, "a", "b")
    outcome = memolith("trim")
    assert outcome.code == 0
    assert (
        outcome.out
        == "Nothing to do  trim\n  no limit is set: see trim.max_records and trim.max_chars\n"
    )
    report = memolith("trim", "--json").json
    assert (report["archived"], report["reason"]) == (
        0,
        "no limit is set: see trim.max_records and trim.max_chars",
    )


def test_trim_under_the_limit_says_so(memolith: Run) -> None:
    remember(memolith, "a", "b")
    outcome = memolith("trim", "--max-records", "2")
    assert outcome.out == "Nothing to do  trim\n  within the limits\n"
    assert outcome.err == ""


def test_a_dry_run_of_trim_shows_the_changes_and_writes_nothing(memolith: Run, root: str) -> None:
    for text in ("One", "Two", "Three"):
        memolith("remember", text)
    before = {path: path.read_bytes() for path in Path(root).rglob("*") if path.is_file()}
    first, *diff = memolith("trim", "--max-records", "2", "--dry-run").out.splitlines()
    assert first == "Plan (nothing written)  trim"
    assert "  records after   2" in diff
    assert "  to run it  memolith trim --max-records 2" in diff
    assert [line for line in diff if line.startswith("-") and "One" in line]
    report = memolith("trim", "--max-records", "2", "--dry-run", "--json").json
    assert (report["archived"], report["counts"]["archived"]) == (0, 1)
    assert report["id"] is None
    assert "within the limits" in memolith("trim", "--max-records", "3", "--dry-run").out
    assert "no limit is set" in memolith("trim", "--dry-run").out
    assert {path: path.read_bytes() for path in Path(root).rglob("*") if path.is_file()} == before
    done = memolith("trim", "--max-records", "2", "--json").json
    assert done["archived"] == 1


def test_trim_says_what_it_moved_and_how_to_undo_it(memolith: Run, root: str) -> None:
    remember(memolith, "a", "b", "c", "d")
    before = Path(root, "MEMORY.md").read_bytes()
    outcome = memolith("trim", "--max-records", "2")
    first, *lines, undo = outcome.out.splitlines()
    assert first.startswith("Done  trim  2")
    assert "  archived        2" in lines
    assert "  records after   2" in lines
    assert "  changes  .memolith/archive/MEMORY-archive.md" in lines
    assert undo.startswith("  undo     memolith jobs undo 2")
    remember(memolith, "said after it")
    assert memolith(*shlex.split(undo)[2:]).code == 0
    now = Path(root, "MEMORY.md").read_bytes()
    assert now.startswith(before)
    assert b"said after it" in now.removeprefix(before)


def test_a_trim_that_is_to_be_asked_for_says_that_it_only_proposes(
    memolith: Run, root: str
) -> None:
    remember(memolith, "a", "b", "c", "d")
    memolith("config", "set", "jobs.review", "ask")
    before = Path(root, "MEMORY.md").read_bytes()
    first, *lines, look, apply, decline = memolith("trim", "--max-records", "2").out.splitlines()
    assert first.startswith("Proposed  trim  2")
    assert "  records after   2" in lines
    assert [line.split()[0] for line in (look, apply, decline)] == ["diff", "apply", "decline"]
    report = memolith("trim", "--max-records", "2", "--json").json
    assert (report["counts"]["archived"], report["archived"]) == (2, 0)
    assert apply.endswith(f"memolith jobs apply {report['id']}")
    assert Path(root, "MEMORY.md").read_bytes() == before
    assert memolith(*shlex.split(apply)[2:]).code == 0
    assert len(memolith("list", "--json").json["records"]) == 2


def test_a_command_to_copy_leads_to_the_same_memory(memolith: Run, tmp_path: Path) -> None:
    elsewhere = str(tmp_path / "a folder")
    for text in ("a", "b"):
        memolith("remember", text, "--root", elsewhere)
    *_, undo = memolith("trim", "--max-records", "1", "--root", elsewhere).out.splitlines()
    words = shlex.split(undo)
    assert words[:4] == ["undo", "memolith", "jobs", "undo"]
    assert memolith(*words[2:]).code == 0
    assert len(memolith("list", "--root", elsewhere, "--json").json["records"]) == 2


def test_trim_takes_its_limits_from_options_then_settings(memolith: Run) -> None:
    remember(memolith, "a", "b", "c", "d")
    words = ["trim", "--json", "--set", "trim.max_records=3", "--max-records", "0", "--max-chars"]
    report = memolith(*words, "1000000").json
    assert (report["archived"], report["reason"]) == (0, "within the limits")
    report = memolith("trim", "--json", "--set", "trim.max_records=3").json
    assert (report["counts"]["after"], report["archived"]) == (3, 1)
    assert report["backup"].endswith("-trim")
    assert memolith("trim", "--max-records", "few").code == 2


def test_restore_lists_backups_and_why_they_were_made(memolith: Run) -> None:
    assert memolith("restore").err == "No backups yet. One is made before a file is rewritten.\n"
    remember(memolith, "a", "b")
    backup = memolith("trim", "--max-records", "1", "--json").json["backup"]
    (line,) = memolith("restore").out.splitlines()
    assert line.startswith(f"{backup}  2")
    assert line.endswith("  before trim  MEMORY.md")
    (listed,) = memolith("restore", "--json").json["backups"]
    assert (listed["name"], listed["reason"], list(listed["files"])) == (
        backup,
        "trim",
        ["MEMORY.md"],
    )
    assert listed["created"].endswith("Z")


def test_restore_latest_undoes_and_can_be_undone(memolith: Run, root: str) -> None:
    remember(memolith, "a", "b")
    full = Path(root, "MEMORY.md").read_bytes()
    memolith("trim", "--max-records", "1")
    trimmed = Path(root, "MEMORY.md").read_bytes()
    outcome = memolith("restore", "--latest")
    assert Path(root, "MEMORY.md").read_bytes() == full
    first, file, undo = outcome.out.splitlines()
    assert (first[:9], file) == ("Restored ", "        MEMORY.md")
    memolith("restore", undo.rpartition(" ")[2])
    assert Path(root, "MEMORY.md").read_bytes() == trimmed
    report = memolith("restore", "--latest", "--json").json
    assert sorted(report) == ["appended", "backup", "files", "replaced_saved_as"]


def test_restore_of_what_does_not_exist_is_an_error(memolith: Run) -> None:
    memolith("init")
    for words in (["restore", "nonsense"], ["restore", "--latest"]):
        outcome = memolith(*words, "--json")
        assert (outcome.code, outcome.error["kind"]) == (7, "not-found")
    assert memolith("restore", "x", "--latest").code == 2


def test_a_damaged_backup_is_not_restored(memolith: Run, root: str) -> None:
    remember(memolith, "a", "b")
    backup = memolith("trim", "--max-records", "1", "--json").json["backup"]
    Path(root, ".memolith", "backup", backup, "MEMORY.md").write_text("damaged")
    outcome = memolith("restore", backup, "--json")
    assert (outcome.code, outcome.error["kind"]) == (11, "backup-damaged")


def test_a_busy_memory_is_an_error_of_its_own(memolith: Run, root: str) -> None:
    memolith("init")
    with open(f"{root}/.memolith/write.lock", "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        outcome = memolith("remember", "x", "--set", "store.lock_timeout_seconds=0.1", "--json")
    assert (outcome.code, outcome.error["kind"]) == (9, "busy")


def test_an_id_of_three_characters_is_told_to_be_too_short(memolith: Run) -> None:
    record = memolith("remember", "Tea", "--json").json
    outcome = memolith("forget", record["id"][:3], "--json")
    assert outcome.error["hint"] == "Give at least 4 characters of it: memolith list"


def test_what_was_held_back_can_be_let_in_and_held_back_again(memolith: Run, root: str) -> None:
    Memory(root, channel="web").remember("The prize waits in Lagos")
    held = memolith("session-start")
    assert "memolith approve --channel web" in held.err
    assert "approve" not in held.out
    done = memolith("approve", "--channel", "web")
    assert "  records  1\n" in done.out
    undo = done.out.split("memolith ")[1].split()
    assert memolith(*undo).code == 0
    assert memolith("approve", "--channel", "web", "--json").json["status"] == "done"
    assert "Nothing to do" in memolith("approve", "--channel", "web").out
    assert memolith("approve").code == 2
    assert memolith("approve", "x", "--channel", "web").code == 2


def test_forgetting_a_channel_shows_the_count_and_asks(memolith: Run, root: str) -> None:
    Memory(root, channel="web").remember("The prize waits in Lagos")
    refused = memolith("forget", "--channel", "web")
    assert refused.code == 10 or refused.code > 2
    assert "1 record and 0 chat turns came in by web." in refused.err
    assert "--channel web --yes" in refused.err
    declined = in_terminal("forget", "--channel", "web", "--root", root, typed=b"n\n")
    assert "Forget all of them for good?" in declined.out
    assert len(Memory(root).records()) == 1
    agreed = in_terminal("forget", "--channel", "web", "--root", root, typed=b"y\n")
    assert "Forgotten" in agreed.out
    assert len(Memory(root).records()) == 0
    Memory(root, channel="web").remember("The ferry leaves at noon")
    done: Any = memolith("forget", "--channel", "web", "--yes", "--json").json
    assert (done["channel"], len(done["records"]), done["turns"]) == ("web", 1, 0)
    assert memolith("forget").code == 2


def test_forget_shows_first_what_it_would_remove(memolith: Run, root: str) -> None:
    known = memolith("remember", "tea", "--json").json["id"]
    shown = memolith("forget", known, "--dry-run").out
    assert shown.startswith(f"Would be forgotten  {known}\n  from  ")
    assert "tea" in Path(root, "MEMORY.md").read_text("utf-8")
    assert memolith("forget", "--channel", "cli", "--dry-run").out.startswith("Would be forgotten")
    assert "tea" in Path(root, "MEMORY.md").read_text("utf-8")
