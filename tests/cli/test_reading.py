"""list, get, log and status: what stands in the files, a page at a time, secrets only if asked for."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith.cli import output
from tests.cli.conftest import in_terminal

if TYPE_CHECKING:
    from tests.cli.conftest import Run


def texts(memolith: Run, *words: str) -> list[str]:
    return [record["text"] for record in memolith("list", "--json", *words).json["records"]]


def test_list_shows_place_category_id_and_text_newest_first(memolith: Run) -> None:
    first = memolith("remember", "Ana owns the release key", "--category", "fact", "--json").json
    second = memolith("remember", "Tea at\nfour", "--json").json
    outcome = memolith("list")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == (
        f"MEMORY.md#L14  note  {second['id'][:8]}  Tea at four\n"
        f"MEMORY.md#L13  fact  {first['id'][:8]}  Ana owns the release key\n"
    )


def test_the_id_of_a_note_without_one_can_be_typed(memolith: Run, root: str) -> None:
    folder = Path(root, "memory/fact")
    folder.mkdir(parents=True)
    for name in ("one of the herons", "two"):
        (folder / f"2026-11-15-{name}.md").write_text(f"---\ncategory: fact\n---\n\n{name}\n")
    handles = [re.split("  +", line)[2] for line in memolith("list").out.splitlines()]
    assert len(set(handles)) == 2
    for handle in handles:
        assert memolith("forget", handle, "--yes").code == 0
    assert not texts(memolith)


def test_list_says_how_many_more_there_are(memolith: Run) -> None:
    for number in range(5):
        memolith("remember", f"number {number}")
    outcome = memolith("list", "--limit", "2", "--offset", "1")
    assert [line.rpartition("  ")[2] for line in outcome.out.splitlines()] == [
        "number 3",
        "number 2",
    ]
    assert outcome.err.startswith("2 more: memolith list ")
    assert outcome.err.endswith(" --limit 2 --offset 3\n")
    page = memolith("list", "--limit", "2", "--json").json
    assert (len(page["records"]), page["total"], page["hidden"]) == (2, 5, 0)
    assert memolith("list", "--limit", "0", "--json").json["records"] == []
    assert memolith("list", "--offset", "99").err == ""


def test_the_command_for_the_next_page_asks_for_the_same_things(memolith: Run) -> None:
    for number in range(3):
        memolith("remember", f"number {number}", "--category", "my own", "--session", "s1")
    words = ["--category", "my own", "--session", "s1", "--past", "--include-secret"]
    said = memolith("list", *words, "--limit", "1").err
    again = shlex.split(said.partition("memolith list ")[2])
    assert memolith("list", *again, "--json").json["records"][0]["text"] == "number 1"
    assert set(words) < set(again)


def test_a_limit_of_nothing_only_counts(memolith: Run) -> None:
    memolith("remember", "one")
    outcome = memolith("list", "--limit", "0")
    assert (outcome.out, outcome.err) == ("", "1 record.\n")


def test_list_can_be_narrowed_by_category_and_session(memolith: Run) -> None:
    memolith("remember", "a fact", "--category", "fact")
    memolith("remember", "a note in s1", "--session", "s1")
    assert texts(memolith, "--category", "fact") == ["a fact"]
    assert texts(memolith, "--session", "s1") == ["a note in s1"]
    assert texts(memolith, "--session", "s1", "--category", "fact") == []


def test_list_leaves_secrets_out_and_says_so(memolith: Run) -> None:
    memolith("remember", "The door code is 4711", "--sensitivity", "secret")
    memolith("remember", "The door is green")
    outcome = memolith("list")
    assert "4711" not in outcome.out + outcome.err
    assert outcome.err == "1 secret record left out: add --include-secret\n"
    hidden = memolith("list", "--json")
    assert "4711" not in hidden.out
    assert (hidden.json["total"], hidden.json["hidden"]) == (1, 1)
    assert "The door code is 4711" in memolith("list", "--include-secret").out


def test_an_empty_memory_is_no_error(memolith: Run, root: str) -> None:
    os.mkdir(root)
    outcome = memolith("list")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "No records.\n")
    assert memolith("list", "--category", "x").err == "No records.\n"
    assert memolith("list", "--json").json == {
        "records": [],
        "total": 0,
        "hidden": 0,
        "warnings": [],
    }


def test_list_of_a_folder_that_is_not_there_says_so(memolith: Run, tmp_path: Path) -> None:
    outcome = memolith("list", "--root", str(tmp_path / "mistyped"))
    assert outcome.err.splitlines()[1].startswith("memolith: There is no memory at ")


def test_get_prints_the_bare_lines_of_a_file(memolith: Run, root: str) -> None:
    memolith("init")
    with open(f"{root}/notes.md", "w", encoding="utf-8") as file:
        file.write("one\ntwo\nthree\nfour\n")
    assert memolith("get", "notes.md").out == "one\ntwo\nthree\nfour\n"
    assert memolith("get", "notes.md", "--from", "2", "--lines", "2").out == "two\nthree\n"
    assert memolith("get", "notes.md#L3").out == "three\n"
    assert memolith("get", "notes.md#L3-L4", "--json").json == {
        "citation": "notes.md#L3-L4",
        "path": "notes.md",
        "first_line": 3,
        "last_line": 4,
        "total_lines": 4,
        "hidden": 0,
        "text": "three\nfour",
    }


def test_get_shows_line_numbers_on_a_terminal(memolith: Run, root: str) -> None:
    memolith("init")
    with open(f"{root}/notes.md", "w", encoding="utf-8") as file:
        file.write("line\n" * 10)
    screen = in_terminal("get", "notes.md", "--from", "9", "--root", root).out
    assert screen == "\x1b[2m 9  \x1b[0mline\n\x1b[2m10  \x1b[0mline\n"


def test_get_beyond_the_end_says_how_long_the_file_is(memolith: Run) -> None:
    memolith("init")
    outcome = memolith("get", "USER.md", "--from", "99")
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err == "There is no line 99: USER.md has 9 lines.\n"


def test_lines_are_counted_from_one(memolith: Run) -> None:
    memolith("init")
    outcome = memolith("get", "USER.md", "--from", "0")
    assert outcome.code == 2
    assert "0 is not in the range 1<=x" in outcome.err


def test_get_leaves_secrets_out_and_says_so(memolith: Run) -> None:
    memolith("remember", "The door code is 4711", "--sensitivity", "secret")
    outcome = memolith("get", "MEMORY.md")
    assert "4711" not in outcome.out
    assert outcome.err == "1 line hidden: add --include-secret\n"
    assert "4711" in memolith("get", "MEMORY.md", "--include-secret").out


@pytest.mark.parametrize(
    "path", ["../secret.md", "/etc/passwd", ".memolith/write.lock", "a.txt", ""]
)
def test_get_reads_nothing_but_memory_files(memolith: Run, path: str) -> None:
    memolith("init")
    outcome = memolith("get", path, "--json")
    assert (outcome.code, outcome.out, outcome.error["kind"]) == (5, "", "path")


def test_log_writes_a_turn_and_shows_the_newest(memolith: Run) -> None:
    assert (
        memolith("log", "--user", "Who can release?", "--assistant", "Ana.").out == "Logged  main\n"
    )
    memolith("log", "--user", "And\nBen?", "--chat", "c2", "--platform", "telegram")
    shown = memolith("log").out.splitlines()
    assert shown[0].endswith("  main  cli")
    assert shown[1:3] == ["  user       Who can release?", "  assistant  Ana."]
    assert shown[3].endswith("  c2  telegram")
    assert shown[4:] == ["  user       And", " " * 13 + "Ben?"]


def test_programs_get_turns_as_json(memolith: Run) -> None:
    written = memolith("log", "--user", "Q", "--assistant", "A", "--json").json
    assert {key: written[key] for key in written if key != "created"} == {
        "chat": "main",
        "platform": "cli",
        "user": "Q",
        "assistant": "A",
    }
    memolith("log", "--user", "Q2", "--chat", "c2")
    newest = memolith("log", "--limit", "1", "--json").json
    assert (newest["turns"][0]["user"], newest["total"]) == ("Q2", 2)
    assert memolith("log", "--chat", "main", "--json").json["turns"] == [written]


def test_one_side_of_a_turn_can_be_piped_in(memolith: Run) -> None:
    words = ["log", "--user", "-", "--assistant", "short", "--json"]
    assert memolith(*words, piped=b"long\ntext\n").json["user"] == "long\ntext"
    assert memolith("log", "--user", "-", "--assistant", "-").code == 2


def test_log_says_when_there_is_more_or_nothing(memolith: Run) -> None:
    assert memolith("log").err == "No turns.\n"
    for number in range(3):
        memolith("log", "--user", f"number {number}")
    assert memolith("log", "--limit", "1").err == "2 older: memolith log --limit 3\n"


def test_log_says_when_history_is_switched_off(memolith: Run) -> None:
    outcome = memolith("log", "--user", "x", "--set", "chat.enabled=false")
    assert (outcome.code, outcome.out) == (0, "")
    assert "switched off (chat.enabled)" in outcome.err
    (warning,) = memolith("log", "--user", "x", "--set", "chat.enabled=false", "--json").json[
        "warnings"
    ]
    assert "switched off (chat.enabled)" in warning


def test_status_shows_the_numbers(memolith: Run, root: str) -> None:
    memolith("remember", "x")
    memolith("save", "a note")
    memolith("log", "--user", "x")
    shown = dict(
        line.split(maxsplit=1) for line in memolith("status").out.splitlines() if "  " in line
    )
    assert (shown["folder"], shown["records"], shown["notes"]) == (root, "1", "1")
    numbers = memolith("status", "--json").json
    assert (numbers["root"], numbers["turns"], numbers["daily_logs"]) == (root, 1, 1)


def test_status_of_a_memory_that_does_not_exist_yet_makes_nothing(memolith: Run, root: str) -> None:
    assert "Nothing remembered yet" in memolith("status").out
    assert memolith("status", "--json").json["initialised"] is False
    assert not os.path.exists(root)


@pytest.mark.parametrize(
    ("size", "shown"),
    [(999, "999 bytes"), (1500, "1.5 kB"), (2_000_000, "2.0 MB"), (3e9, "3.0 GB")],
)
def test_sizes_are_shown_in_units_people_read(size: float, shown: str) -> None:
    assert output.size(size) == shown


def test_a_finding_is_shown_with_a_command_that_deals_with_it(memolith: Run) -> None:
    memolith("remember", "The rent is 950 euros")
    memolith("remember", "The rent is 990 euros")
    (finding,) = memolith("scan", "--json").json["findings"]
    assert finding["kind"] == "contradiction"
    assert finding["hint"] in memolith("scan").out


def test_the_status_says_what_a_sync_would_do_and_makes_nothing(memolith: Run) -> None:
    memolith("remember", "A heron stands in the river")
    assert memolith("status", "--json").json["index"] is None
    assert "none yet" in memolith("status").out
    memolith("sync")
    synced = memolith("status", "--json").json["index"]
    assert (synced["exists"], synced["changed"], synced["files"]) == (True, 0, 2)
    assert synced["chunks"] == 2
    assert synced["model"]
    assert "in line with the files" in memolith("status").out
    memolith("remember", "A grebe dives")
    assert memolith("status", "--json").json["index"]["changed"] == 2
    assert "2 files changed" in memolith("status").out
