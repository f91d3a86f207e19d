"""What is printed cannot steer a terminal, whatever a memory holds; and it fits the screen."""

from __future__ import annotations

import io
import json
import random
import re
import sys
import time
import unicodedata
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memolith.cli import output
from memolith.text.cleaning import clean
from tests.cli.conftest import in_terminal, program
from tests.crash.tier import new_seed

if TYPE_CHECKING:
    from tests.cli.conftest import Run

HOSTILE = [
    "\x1b[31mred\x1b[0m",
    "\x1b]8;;http://example.com\x1b\\a link\x1b]8;;\x1b\\",
    "\x1b]0;a title\x07",
    "\x9b31m eight-bit",
    "over\rwritten",
    "back\b\b\b\bspace",
    "\u202egnp.exe",
    "zero\u200bwidth \U000e0041tags",
    "line\u2028end\x85end\x0bend\x0cend",
    "\x00null\x7fdelete",
]


# Of the characters for formatting: joiners, and signs of scripts that are seen.
NEEDED = {"\u200c", "\u200d", *map(chr, range(0x600, 0x606)), *map(chr, range(0x13430, 0x13440))}
NEEDED |= set("\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")


def steers(char: str) -> bool:
    """Whether a terminal would obey or hide the character; written apart from the code."""
    return (
        unicodedata.category(char) in ("Cc", "Zl", "Zp")
        or unicodedata.bidirectional(char)
        in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
        or (unicodedata.category(char) == "Cf" and char not in NEEDED)
        or 0xE0000 <= ord(char) < 0xE0080
    ) and char not in "\n\t"


@given(st.text())
def test_a_cleaned_text_holds_nothing_that_steers(text: str) -> None:
    assert not any(map(steers, clean(text)))


@given(st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"])))
def test_an_ordinary_text_is_left_as_it_is(text: str) -> None:
    assert clean(text) == text


def test_every_character_there_is_can_be_cleaned() -> None:
    everything = "".join(map(chr, range(0x110000)))
    assert not any(map(steers, clean(everything)))


@pytest.mark.parametrize("text", ["❤️‍🔥", "👨‍👩‍👧", "1️⃣", "می‌خواهم", "葛󠄀城", "क्‍ष", "ᠮᠠ᠋", "☁️"])
def test_what_belongs_to_a_character_stays(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    "hidden",
    [
        "".join(chr(0xE0100 + byte) for byte in b"obey me"),
        "\u200c\u200d" * 20,
        "".join(chr(0xE0000 + byte) for byte in b"obey me"),
        "\ufe00\ufe01\ufe02\ufe03\ufe04",
    ],
)
def test_a_hidden_message_is_not_handed_on(hidden: str) -> None:
    assert clean(f"tea{hidden}") == "tea"
    assert len(clean(f"🍵{hidden}")) <= 3
    spread = "".join(letter + mark for letter, mark in zip("drink tea", hidden, strict=False))
    assert clean(spread).isascii()


@pytest.mark.parametrize("text", HOSTILE)
def test_no_command_prints_what_steers_a_terminal(memolith: Run, text: str) -> None:
    memolith("remember", "--", text)
    memolith("log", "--user", text, "--chat", f"chat{text}")
    record = memolith("list", "--json")
    assert record.json["records"][0]["text"] == text
    outcomes = [
        record,
        memolith("list"),
        memolith("get", "MEMORY.md"),
        memolith("get", "MEMORY.md", "--json"),
        memolith("log"),
        memolith("log", "--json"),
        memolith("get", text),
        memolith("forget", text, "--json"),
        memolith(text),
        memolith("list", f"--{text}"),
    ]
    for outcome in outcomes:
        assert not any(map(steers, outcome.out + outcome.err)), (outcome.out, outcome.err)


def test_ten_thousand_hostile_texts_bring_no_escape_to_the_output(memolith: Run, root: str) -> None:
    seed = new_seed()
    print("seed", seed)
    dice = random.Random(seed)
    pieces = [*HOSTILE, "a", "ñ", "漢", "\n", "\t", " ", "\x1b", "\r\n", "\ud800", "\udcff"]
    memolith("remember", "the first")
    with open(f"{root}/MEMORY.md", "ab") as file:
        for number in range(10_000):
            text = "".join(dice.choices(pieces, k=dice.randrange(1, 6)))
            file.write(b"- " + json.dumps(record_line(number, text)).encode() + b"\n")
    outcome = memolith("list", "--limit", "20000")
    assert len(outcome.out.split("\n")) == 10_000 + 1 + 1
    assert not any(map(steers, outcome.out))


def record_line(number: int, text: str) -> dict[str, object]:
    return {
        "id": f"id-{number}",
        "sessionId": "main",
        "category": "event",
        "text": text,
        "provenance": {
            "sourceChannel": "cli",
            "confidence": 1,
            "timestamp": "2026-11-15T12:00:00.000Z",
            "sensitivity": "public",
        },
    }


@given(st.dictionaries(st.text(), st.text()))
def test_json_holds_any_text_exactly_and_nothing_that_steers(content: dict[str, str]) -> None:
    for encoding in ("utf-8", "ascii"):
        stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="strict")
        printed = output.to_json(content, stream)
        assert json.loads(printed.encode(encoding)) == content
        assert not any(map(steers, printed))


def test_a_terminal_gets_bold_and_dim_unless_it_is_told_not_to(root: str) -> None:
    assert "\x1b[1mRemembered\x1b[0m" in in_terminal("remember", "x", "--root", root).out
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert "\x1b" not in in_terminal("status", "--root", root, env=env).out
    assert "\x1b" not in program("status", "--root", root).out


def test_words_asked_for_are_marked_on_a_terminal_in_any_form_and_language(root: str) -> None:
    program("remember", "The dogs eat carrots", "--root", root)
    screen = in_terminal("search", "perro", "--root", root).out
    assert "The \x1b[1;33mdogs\x1b[0m eat carrots" in screen
    plain = in_terminal("search", "perro", "--root", root, env={"NO_COLOR": "1"}).out
    assert "The dogs eat carrots" in plain
    assert "\x1b" not in plain + program("search", "perro", "--root", root).out


def test_of_a_sentence_without_spaces_only_what_was_asked_for_is_marked(root: str) -> None:
    program("remember", "東京への出張は来月です", "--root", root)
    screen = in_terminal("search", "東京出張", "--root", root).out
    assert "\x1b[1;33m東京\x1b[0mへの\x1b[1;33m出張\x1b[0mは来月です" in screen


def test_a_table_on_a_terminal_stays_within_its_width(root: str) -> None:
    program(
        "remember", "Ana owns the release key and " + "very " * 40 + "much more", "--root", root
    )
    program("remember", "漢字" * 60, "--root", root)
    program("save", "A note in a file whose name leaves no room for its text", "--root", root)
    screen = in_terminal("list", "--root", root, env={"COLUMNS": "70"}).out
    heads, *lines = re.sub(r"\x1b\[\d*m", "", screen).splitlines()
    assert heads.split() == ["place", "category", "id", "text"]
    assert max(columns(line) for line in lines) <= 70
    assert lines[0].startswith("memory/fact/")
    assert [line.rstrip()[-1] for line in lines if line.startswith("MEMORY.md#L")] == ["…", "…"]
    assert {line.index(" note ") for line in lines[-2:]} == {heads.index("cat") - 1}


@pytest.fixture
def trimmed(root: str) -> str:
    """A memory whose newest job took one of two records out of MEMORY.md."""
    program("remember", "The boat is red and " + "very " * 40 + "old", "--root", root)
    program("remember", "The house is green", "--root", root)
    program("trim", "--max-records", "1", "--root", root)
    return root


def test_a_diff_is_words_in_colours_wrapped_between_words(trimmed: str) -> None:
    screen = in_terminal("jobs", "diff", "--last", "--root", trimmed, env={"COLUMNS": "60"}).out
    lines = screen.splitlines()
    assert lines[0] == "\x1b[1mMEMORY.md:\x1b[0m"
    assert lines[1].startswith("\x1b[31m- \x1b[0m\x1b[31m20")
    assert " note: The boat is red and very" in lines[1]
    assert lines[2].startswith("  \x1b[31mvery ")
    assert (
        max(columns(line.replace("\x1b[31m", "").replace("\x1b[0m", "")) for line in lines[:4])
        <= 60
    )
    assert "{" not in screen
    plain = program("jobs", "diff", "--last", "--root", trimmed).out
    assert "very " * 40 + "old\n" in plain
    assert "\x1b" not in plain


def test_long_work_has_a_bar_with_time_left_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("COLUMNS", "70")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(output, "_DELAY_SECONDS", 0.0)
    with output.progress("Indexing", "files") as bar:
        while "Indexing" not in stream.getvalue():
            time.sleep(0.01)
        bar(1200, 5000)
        while "1,200 of 5,000 files" not in stream.getvalue():
            time.sleep(0.01)
        bar(2400, 5000)
        while not re.search(r"2,400 of 5,000 files\W[^\r]*0:\d\d:\d\d", stream.getvalue()):
            time.sleep(0.01)
    assert stream.getvalue().endswith("\x1b[2K")  # nothing of it stays on the screen


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_short_work_and_a_pipe_have_no_bar(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with output.progress("Indexing", "files") as bar:
        bar(1, 2)
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with output.progress("Indexing", "files") as bar:
        bar(1, 2)
    assert stream.getvalue() + capsys.readouterr().err == ""


def columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(char) == "W" else 1 for char in text)


def test_a_table_in_a_pipe_is_not_cut(memolith: Run) -> None:
    text = "word " * 200 + "end"
    memolith("remember", text)
    assert memolith("list").out.endswith(f"  {text}\n")


def test_a_hit_on_a_terminal_has_three_lines_that_fit_and_tells_how_to_see_the_rest(
    root: str,
) -> None:
    text = "The garden has beds. " * 12 + "The heron takes the goldfish. " + "Ben waters it. " * 12
    program("save", "Garden", text, "--root", root)
    for columns_there in (100, 60):
        env = {"COLUMNS": str(columns_there)}
        screen = in_terminal("search", "goldfish", "--root", root, env=env).out
        lines = re.sub(r"\x1b\[[\d;]*m", "", screen).splitlines()
        shown = [line for line in lines if line.startswith("    ") and "meaning #1" not in line]
        assert len(shown) == 3
        assert max(map(columns, shown)) <= columns_there
        assert shown[0].startswith("    … ")
        assert shown[2].endswith(" …")
        assert "\x1b[1;33mgoldfish" in screen
        whole = " ".join(shown).replace("…", " ").split()
        assert set(whole) <= set(f"Garden {text}".split())  # no word is broken
        assert lines[-1].startswith("All of a text that ends in …: memolith get 'memory/fact/")
