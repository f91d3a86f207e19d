"""search: days in words, and what is said when nothing can be found."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import program

if TYPE_CHECKING:
    from tests.cli.conftest import Run


def found(memolith: Run, *words: str) -> list[str]:
    return [hit["text"] for hit in memolith("search", "tea", "--json", *words).json["hits"]]


def test_days_may_be_named_in_words(memolith: Run) -> None:
    memolith("config", "set", "profile.timezone", "UTC")
    memolith("remember", "Tea at five")
    # A record of this moment: the day may end while the test runs, a week does not matter.
    assert found(memolith, "--since", "hace 3 días") == ["Tea at five"]
    assert found(memolith, "--since", "last week", "--until", "next week") == ["Tea at five"]
    assert found(memolith, "--until", "last week") == []
    assert found(memolith, "--as-of", "el mes pasado") == []
    today = datetime.now(UTC).date()
    assert found(memolith, "--since", str(today - timedelta(days=1))) == ["Tea at five"]


@pytest.mark.parametrize("text", ["7d", "2w", "48h", "2020"])
def test_days_may_be_written_in_short(memolith: Run, text: str) -> None:
    memolith("remember", "Tea at five")
    assert found(memolith, "--since", text) == ["Tea at five"]
    assert found(memolith, "--until", text) == []


@pytest.mark.parametrize("text", ["99999999999999999999d", "0000", "7x"])
def test_what_is_no_time_in_short_is_refused(memolith: Run, text: str) -> None:
    assert memolith("search", "tea", "--since", text).code == 2


@pytest.mark.parametrize(
    "text", ["el martes pasado", "el 3 de abril", "in March", "on Friday", "La semana pasada"]
)
def test_days_may_have_the_small_words_that_go_with_them(memolith: Run, text: str) -> None:
    memolith("remember", "Tea at five")
    assert found(memolith, "--since", text) == ["Tea at five"]


@pytest.mark.parametrize("text", ["soon", "yesterday and last week", "tea yesterday", "2026-13-01"])
def test_what_names_no_days_is_refused_with_examples(memolith: Run, text: str) -> None:
    outcome = memolith("search", "tea", "--since", text, "--json")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.error["message"] == f"--since {text!r} is not a day."
    assert '"last week"' in outcome.error["hint"]


def test_a_message_of_a_chat_is_shown_with_what_the_other_side_said(memolith: Run) -> None:
    answer = "Casa do Bairro,\n\x1b[31mcode LX-99381. " + "It is near the river. " * 20
    memolith("log", "--user", "Which hotel did I book?", "--assistant", answer)
    lines = memolith("search", "which hotel did I book", "--limit", "1").out.splitlines()
    assert lines[1] == "    Which hotel did I book?"
    assert lines[2].startswith("    assistant: Casa do Bairro, ")
    assert lines[2].endswith(" …")
    assert "\x1b" not in lines[2]
    assert len(lines) == 3


def test_a_memory_that_is_not_there_yet_is_told_from_one_that_has_no_answer(tmp_path: Path) -> None:
    home = {"MEMOLITH_HOME": str(tmp_path / "home")}
    assert "Begin with: memolith remember" in program("search", "tea", env=home, cwd=tmp_path).err
    program("remember", "Tea at five", "--sensitivity", "secret", env=home, cwd=tmp_path)
    assert program("search", "tea", env=home, cwd=tmp_path).err == "Nothing found.\n"


@pytest.mark.parametrize("text", ["january", "march", "may", "febrero"])
def test_a_month_alone_is_a_month_where_a_day_is_wanted(memolith: Run, text: str) -> None:
    memolith("remember", "Tea at five")
    assert memolith("search", "tea", "--since", text).code == 0


def test_that_a_limit_of_0_shows_nothing_is_told(memolith: Run) -> None:
    memolith("remember", "Tea at five")
    assert "--limit is 0" in memolith("search", "tea", "--limit", "0").err


def test_a_line_break_in_the_name_of_a_file_does_not_break_the_line_of_a_hit(
    memolith: Run, root: str
) -> None:
    memolith("init")
    Path(root, "memory").mkdir(exist_ok=True)
    Path(root, "memory", "a\nb.md").write_text("Tea at five\n")
    first, *_ = memolith("search", "tea").out.split("\n")
    assert "memory/a b.md#L1" in first


def test_chats_that_answer_are_shown_with_the_message_to_look_at_first(memolith: Run) -> None:
    memolith(
        "log", "--user", "Which tea do guests like?", "--assistant", "Green", "--chat", "kitchen"
    )
    memolith("log", "--user", "The tax office closes at noon", "--chat", "4\u202e2")
    memolith("remember", "Green tea at five")
    shown = memolith("search", "which tea do guests like", "--by-chat").out
    # What answers, not the question that was asked before.
    assert shown.startswith(" 1  chat kitchen  conversation-history.jsonl#L1 · assistant · ")
    assert "    Green\n" in shown
    assert "Green tea at five" not in shown
    assert "\u202e" not in memolith("search", "tax office", "--by-chat").out
    one = memolith("search", "tea", "--by-chat", "--chat", "kitchen", "--json").json["sessions"]
    assert [chat["chat"] for chat in one] == ["kitchen"]


def test_where_no_chat_answers_that_is_said(memolith: Run) -> None:
    memolith("remember", "Tea at five")
    assert memolith("search", "tea", "--by-chat").err == "No chat answers that.\n"


def test_of_a_long_text_the_lines_are_shown_that_were_asked_for(memolith: Run) -> None:
    root = Path(memolith("status", "--json").json["root"])
    (root / "memory").mkdir(parents=True)
    other = "\n".join(f"Line {number} about boats" for number in range(12))
    (root / "memory" / "long.md").write_text(f"# Boats\n\n{other}\nThe heron nests here\nEnd\n")
    outcome = memolith("search", "where do herons nest?")
    lines = outcome.out.splitlines()
    assert lines[1] == "    … Line 7 about boats"
    assert lines[6] == "    The heron nests here …"
    assert len(lines) == 7
    assert "memolith get 'memory/long.md#L1-L16'" in outcome.err


def test_a_hit_says_that_it_is_secret_and_of_which_chat_it_is(memolith: Run) -> None:
    memolith("remember", "The heron code is 4711", "--sensitivity", "secret")
    memolith("log", "--user", "I saw a heron", "--chat", "family")
    out = memolith("search", "heron", "--include-secret").out
    assert " · note · secret · 20" in out
    assert " · chat family · user · 20" in out


@pytest.mark.parametrize("text", ["", "???", "* ((("])
def test_a_question_without_words_is_told_so(memolith: Run, text: str) -> None:
    memolith("remember", "Tea at five")
    outcome = memolith("search", "--json", "--", text)
    assert outcome.json["warnings"] == ["There is nothing to search for: give at least one word."]


def test_explain_shows_how_the_question_was_read_and_only_stages_that_changed_something(
    memolith: Run,
) -> None:
    memolith("remember", "The dog eats carrots")
    memolith("remember", "The cat sleeps")
    said = memolith("search", "what did the dog do in March 2026", "--explain").out
    (question,) = (line for line in said.splitlines() if line.startswith("question  "))
    assert "dog (" in question
    assert "perr" in question
    assert question.endswith("days: 2026-03-01 to 2026-03-31")
    assert "nothing to do" not in said
    assert "phrases" not in said.splitlines()
    assert "weigh" in said.splitlines()
