"""remember, save and supersede: what was typed is what is written, and they say where."""

from __future__ import annotations

import re
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith.cli.options import UsageError
from memolith.cli.write import moment
from tests.cli.conftest import PROGRAM, in_terminal, program

if TYPE_CHECKING:
    from tests.cli.conftest import Run


def undated(text: str) -> str:
    return re.sub(r"\d{4}-\d\d-\d\d", "DATE", text)


def test_remember_prints_where_the_record_went(memolith: Run, root: str) -> None:
    outcome = memolith("remember", "Ana owns the release key")
    assert (outcome.code, outcome.err) == (0, "")
    assert undated(outcome.out) == "Remembered  memory/DATE.md#L1\n"
    assert "Ana owns the release key" in Path(root, outcome.out[12:].partition("#")[0]).read_text()
    assert "Ana owns the release key" in Path(root, "MEMORY.md").read_text()


def test_a_duplicate_is_not_written_and_its_place_is_shown(memolith: Run) -> None:
    memolith("remember", "Ana owns the release key")
    outcome = memolith("remember", "Ana owns the release key")
    assert (outcome.code, outcome.out) == (0, "Already remembered  MEMORY.md#L13\n")
    assert memolith("status", "--json").json["records"] == 1


def test_words_without_quotes_are_one_text(memolith: Run) -> None:
    words = ["Ana", "owns", "--category", "fact", "the", "release", "key"]
    assert memolith("remember", *words, "--json").json["text"] == "Ana owns the release key"


@pytest.mark.parametrize("words", [["-"], []])
def test_text_can_be_piped_in(memolith: Run, words: list[str]) -> None:
    piped = "\ufeffTwo lines,\nñ and 漢字\r\n".encode()
    outcome = memolith("remember", *words, "--json", piped=piped)
    assert outcome.json["text"] == "Two lines,\nñ and 漢字"


def test_text_that_is_typed_wins_over_a_pipe_nobody_meant(memolith: Run) -> None:
    assert memolith("remember", "typed", "--json", piped=b"piped").json["text"] == "typed"


def test_bytes_that_are_no_text_are_refused_and_named(memolith: Run, root: str) -> None:
    for outcome in (
        memolith("remember", "-", piped=b"caf\xe9"),
        memolith("remember", "caf\udce9"),
        memolith("remember", "tea", "--keyword", "caf\udce9"),
    ):
        assert outcome.code == 8
        assert "a byte that is not UTF-8, at character 4" in outcome.err
        assert "iconv" in outcome.err
    assert not Path(root, "MEMORY.md").exists()


def test_what_was_stored_as_half_a_character_stays_readable(memolith: Run, root: str) -> None:
    memolith("remember", "cafe")
    for path in (Path(root, "MEMORY.md"), *Path(root, "memory").glob("*.md")):
        path.write_bytes(path.read_bytes().replace(b"cafe", b"caf\\udce9"))
    assert memolith("list", "--json").json["records"][0]["text"] == "caf\udce9"
    assert memolith("list").out.endswith("  caf\\udce9\n")


@pytest.mark.parametrize("text", ["\u200b", "\u200b \ufeff", "\u2060\n", "\0"])
def test_what_nobody_can_see_is_nothing_to_remember(memolith: Run, text: str) -> None:
    assert memolith("remember", "-", piped=text.encode()).code == 8
    assert memolith("remember", "seen", "--keyword", text.replace("\0", " ")).code == 8
    assert memolith("remember", "👍🏽", "--keyword", "?").code == 0


@pytest.mark.parametrize("piped", [b"", b"\n", b"  \n"])
def test_nothing_piped_in_is_nothing_to_remember(memolith: Run, piped: bytes) -> None:
    outcome = memolith("remember", piped=piped)
    assert outcome.code == 8
    assert "nothing to remember" in outcome.err


def test_more_than_a_record_may_hold_is_refused(memolith: Run) -> None:
    outcome = memolith("remember", "-", "--json", piped=b"x" * 70_000)
    assert (outcome.code, outcome.error["kind"]) == (8, "refused")


def test_a_pipe_without_end_is_refused_too(root: str) -> None:
    done = subprocess.run(
        ["sh", "-c", f'yes | "{PROGRAM}" remember - --root "{root}"'],
        check=False,
        capture_output=True,
        timeout=600,
    )
    assert done.returncode == 8
    assert b"16,777,21" in done.stderr


def test_on_a_terminal_without_text_an_example_is_shown(root: str) -> None:
    outcome = in_terminal("remember", "--root", root)
    assert outcome.code == 2
    assert 'Example: memolith remember "Ana owns' in outcome.out


def test_every_option_of_remember_reaches_the_record(memolith: Run) -> None:
    outcome = memolith(
        "remember", "The build is red", "--category", "event", "--session", "s1", "--sensitivity",
        "secret", "--keyword", "build", "--keyword=ci", "--expires", "2099-12-31", "--json",
    )  # fmt: skip
    made = outcome.json
    assert {key: made[key] for key in ("category", "session", "sensitivity", "keywords")} == {
        "category": "event",
        "session": "s1",
        "sensitivity": "secret",
        "keywords": ["build", "ci"],
    }
    assert made["expires"].startswith(("2099-12-31", "2100-01-01"))
    stored = memolith("list", "--include-secret", "--json").json["records"][0]
    assert {key: stored[key] for key in stored if key != "citation"} == {
        key: made[key] for key in stored if key != "citation"
    }


def test_programs_learn_id_and_citation(memolith: Run) -> None:
    made = memolith("remember", "Tea at four", "--json").json
    assert undated(made["citation"]) == "memory/DATE.md#L1"
    assert made["reused"] is False
    assert made["provenance"]["channel"] == "cli"
    again = memolith("remember", "Tea at four", "--json").json
    assert (again["id"], again["reused"]) == (made["id"], True)
    assert again["citation"].startswith("MEMORY.md#L")


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("30m", timedelta(minutes=30)),
        ("12h", timedelta(hours=12)),
        ("7d", timedelta(days=7)),
        ("2w", timedelta(weeks=2)),
    ],
)
def test_a_record_may_expire_some_time_from_now(text: str, amount: timedelta) -> None:
    expected = datetime.now(UTC) + amount
    assert abs(moment(text, "", "--expires", is_end=True) - expected) < timedelta(minutes=1)


def test_a_day_counts_to_its_end_in_the_zone_of_the_user() -> None:
    expires = moment("2099-12-31", "America/New_York", "--expires", is_end=True)
    assert expires.astimezone(UTC) == datetime(2100, 1, 1, 5, tzinfo=UTC)


def test_a_moment_may_be_given_with_or_without_its_zone() -> None:
    assert moment("2099-12-31T18:00+01:00", "UTC", "--expires", is_end=True) == datetime(
        2099, 12, 31, 17, tzinfo=UTC
    )
    assert moment("2099-12-31T18:00", "UTC", "--expires", is_end=True) == datetime(
        2099, 12, 31, 18, tzinfo=UTC
    )


@pytest.mark.parametrize(
    "text",
    ["", "soon", "7", "d", "7y", "-1d", "٧d", "99999999999d", "2099-13-01", "2001-01-01", "0d"],
)
def test_what_is_no_time_to_come_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"is not a time|is in the past"):
        moment(text, "", "--expires", is_end=True)


def test_a_wrong_expiry_writes_nothing(memolith: Run, root: str) -> None:
    assert memolith("remember", "x", "--expires", "soon").code == 2
    assert not Path(root).exists()


def test_save_writes_a_note_of_its_own(memolith: Run, root: str) -> None:
    words = ["save", "Releases happen on Tuesdays.", "--title", "Release days"]
    saved = memolith(*words).out
    assert undated(saved) == "Saved  memory/fact/DATE-release-days.md\n"
    assert Path(root, saved[7:-1]).read_text().endswith("\nReleases happen on Tuesdays.\n")
    assert memolith(*words).out == f"Already {saved.lower()}"


def test_a_note_can_be_piped_in_and_described(memolith: Run) -> None:
    outcome = memolith(
        "save",
        "--category",
        "event",
        "--keyword",
        "ana",
        "--json",
        piped=b"# Meeting\n\nWith Ana\n",
    )
    note = outcome.json
    assert (note["text"], note["category"], note["keywords"]) == (
        "# Meeting\n\nWith Ana",
        "event",
        ["ana"],
    )
    file = note["citation"].partition("#")[0]
    assert undated(file) == "memory/event/DATE-meeting-with-ana.md"
    assert note["reused"] is False


def test_a_category_that_cannot_be_a_folder_is_refused(memolith: Run) -> None:
    assert memolith("save", "x", "--category", "../up").code == 8


def test_supersede_takes_the_place_of_an_older_record(memolith: Run) -> None:
    old = memolith("remember", "The server is heron", "--category", "fact", "--json").json
    outcome = memolith("supersede", old["id"][:8], "The", "server", "--json", "is", "osprey")
    new = outcome.json
    assert (new["text"], new["category"], new["supersedes"]) == (
        "The server is osprey",
        "fact",
        old["id"],
    )
    assert [r["id"] for r in memolith("list", "--json").json["records"]] == [new["id"]]
    past = memolith("list", "--past", "--json").json["records"]
    assert [r["id"] for r in past] == [new["id"], old["id"]]


def test_supersede_prints_where_the_newer_one_went(memolith: Run) -> None:
    old = memolith("remember", "The server is heron", "--json").json
    outcome = memolith("supersede", old["id"], "-", piped=b"The server is osprey\n")
    assert undated(outcome.out) == "Remembered  memory/DATE.md#L2\n"


def test_supersede_says_that_another_had_taken_its_place_already(memolith: Run) -> None:
    old = memolith("remember", "The server is heron", "--json").json["id"][:8]
    first = memolith("supersede", old, "The server is osprey")
    assert "already" not in first.err
    newer = memolith("list", "--json").json["records"][0]["id"][:8]
    told = f"{old} was superseded before; its successor {newer} "
    same = memolith("supersede", old, "The server is osprey")
    assert f"{told}says the same." in same.err
    assert "already:" not in memolith("supersede", newer, "The server is osprey").err
    third = memolith("supersede", old, "The server is a kite")
    assert f"{told}is superseded now." in third.err
    assert (
        f"is superseded by {memolith('list', '--json').json['records'][0]['id']}"
        in memolith("get", old).err
    )
    assert len(memolith("list", "--json").json["records"]) == 1


def test_a_record_that_is_there_takes_the_place_of_an_older_one(memolith: Run) -> None:
    old = memolith("remember", "The server is heron", "--json").json
    new = memolith("remember", "The server is osprey", "--json").json
    done = memolith("supersede", old["id"][:8], "--by", new["id"][:8], "--json").json
    assert (done["id"], done["supersedes"], done["reused"]) == (new["id"], old["id"], False)
    assert [r["id"] for r in memolith("list", "--json").json["records"]] == [new["id"]]
    assert memolith("supersede", old["id"], "--by", new["id"], "--json").json["reused"]
    newest = memolith("remember", "The server is a kite", "--json").json
    said = undated(memolith("supersede", new["id"], "--by", newest["id"]).out)
    told = f"{newest['id'][:8]} (MEMORY.md#L15) takes the place of {new['id'][:8]}"
    assert said == f"Superseded  {told}\n"
    said = undated(memolith("supersede", new["id"], "--by", newest["id"]).out)
    assert said == f"Superseded already  {told}\n"
    assert memolith("supersede", new["id"], "--by", old["id"]).code == 8
    assert memolith("supersede", old["id"], "--by", new["id"], "and a text").code == 2
    assert memolith("doctor", "--json").json["healthy"]


def test_supersede_without_such_a_record_changes_nothing(memolith: Run) -> None:
    memolith("remember", "The server is heron")
    outcome = memolith("supersede", "abcdef", "x", "--json")
    assert (outcome.code, outcome.error["kind"]) == (7, "not-found")
    assert memolith("status", "--json").json["records"] == 1


def test_more_than_anybody_can_read_is_refused_and_never_cut(memolith: Run) -> None:
    outcome = memolith("flush", piped=b"x" * (16_777_216 + 1))
    assert outcome.code == 8
    assert "more than 16,777,216 bytes" in outcome.err


def test_a_chat_without_a_name_is_refused(memolith: Run) -> None:
    assert memolith("log", "--user", "hi", "--chat", "").code == 8


def test_older_turns_are_told_with_the_chat_they_are_of(memolith: Run) -> None:
    for number in range(3):
        memolith("log", "--user", f"Tea {number}?", "--assistant", "Yes.", "--chat", "chat 1")
    shown = memolith("log", "--chat", "chat 1", "--limit", "2")
    assert shown.err == "1 older: memolith log --chat 'chat 1' --limit 3\n"


def test_a_secret_that_stands_in_the_open_too_is_told(memolith: Run) -> None:
    first = memolith("remember", "The alarm code is 4711", "--json").json["id"]
    told = memolith("remember", "The alarm code is 4711", "--sensitivity", "secret").err
    assert f"memolith forget {first}" in told
    assert "4711" not in told
    other = memolith("remember", "The gate code is 12", "--json").json["id"]
    told = memolith("supersede", other, "The gate code is 13", "--sensitivity", "secret").err
    assert f"memolith forget {other}" in told
    assert memolith("remember", "The safe code is 5", "--sensitivity", "secret").err == ""


def test_a_citation_that_names_no_lines_is_refused(memolith: Run) -> None:
    memolith("remember", "Something")
    for wrong in ("MEMORY.md#Lx", "MEMORY.md#L5-L2", "MEMORY.md#"):
        outcome = memolith("get", wrong)
        assert outcome.code == 5
        assert "lines of one: MEMORY.md#L12-L15" in outcome.err
    assert "There is no line 99,999: MEMORY.md has" in memolith("get", "MEMORY.md#L99999").err


def test_a_list_says_where_what_was_trimmed_is(memolith: Run) -> None:
    for number in range(5):
        memolith("remember", f"Item {number} of a list")
    memolith("trim", "--max-records", "1")
    assert ".memolith/archive/MEMORY-archive.md" in memolith("list").err


@pytest.mark.parametrize(
    ("setting", "value"),
    [("serve.host", "not a host"), ("serve.host", ""), ("trim.max_records", "9" * 20)],
)
def test_settings_that_cannot_be_are_refused(memolith: Run, setting: str, value: str) -> None:
    memolith("init")
    assert memolith("config", "set", setting, value).code != 0
    for host in ("localhost", "0.0.0.0", "::1", "fe80::1%eth0", "nas.local"):
        assert memolith("config", "set", "serve.host", host).code == 0


def test_mcp_makes_the_files_of_a_new_memory(root: str) -> None:
    assert program("mcp", "--root", root).code == 0
    assert {"MEMORY.md", "USER.md", "memolith.toml"} <= {path.name for path in Path(root).iterdir()}


def test_mcp_serves_where_no_file_can_be_made() -> None:
    done = program("mcp", "--root", "/proc/memolith")
    assert (done.code, done.err) == (0, "")
