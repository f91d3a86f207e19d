"""Recalled memory is a quotation that nothing in it can end, and that is known when it comes back."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memolith import Memory
from memolith.errors import RefusedError
from memolith.text.quotation import (
    fence,
    quoted,
    quoted_line,
    source,
    without_fenced,
    without_recalled,
)

MARKS = [
    "<memolith-memory",
    "</memolith-memory",
    "⟨",
    "⟩",
    " · user⟩",
    "\n",
    "\u202e",
    "\x1b",
    "<Memolith-MEMORY",
    "memolith-",
    "-memory",
    "memory",
    "</memolith-memolith-memory-memory",
]
HOSTILE = st.lists(st.one_of(st.sampled_from(MARKS), st.text(max_size=8))).map("".join)


@given(HOSTILE)
def test_no_text_can_end_the_fence_or_pretend_a_source(text: str) -> None:
    shown = quoted(text)
    assert "memolith-memory" not in shown.lower()
    assert "⟨" not in shown
    assert "⟩" not in shown
    shown.encode()  # and every host can send it


@given(HOSTILE, st.integers(5, 200))
def test_a_quoted_line_is_one_line_within_its_length(text: str, most: int) -> None:
    shown = quoted_line(text, most)
    assert len(shown) <= most
    assert len(shown.splitlines()) <= 1


@given(HOSTILE)
def test_what_was_fenced_leaves_nothing_behind(text: str) -> None:
    assert without_fenced(fence(quoted(text))) == ""
    assert without_recalled(f"{fence(quoted(text))}\nnew").strip() == "new"


@given(st.text())
def test_a_text_that_was_never_recalled_is_left_as_it_is(text: str) -> None:
    assert without_recalled(text) == text


def test_the_same_body_has_the_same_fence() -> None:
    assert fence("tea") == fence("tea")
    assert fence("tea") != fence("coffee")


def test_brackets_of_mathematics_are_not_a_source() -> None:
    text = "The inner product is ⟨x, y⟩\nand a ket is |ψ⟩"
    assert without_recalled(text) == text


def test_a_block_that_does_not_end_hides_no_words_of_the_user() -> None:
    assert without_fenced("<memolith-memory\nmy own words") == "<memolith-memory\nmy own words"


@pytest.mark.parametrize("known", ["user", "agent", "external: telegram"])
def test_a_line_with_our_source_is_ours(known: str) -> None:
    line = f"- [fact] Ana has the key {source('MEMORY.md#L2', known, '2026-11-15')}"
    assert without_recalled(line) == ""


def test_fifty_generations_of_recalled_text_add_no_record(tmp_path: Path) -> None:
    memory = Memory(tmp_path, channel="mcp")
    memory.remember("Ana owns the release key", category="fact")
    for _ in range(50):
        with pytest.raises(RefusedError):
            memory.remember(memory.session_start().text)
        for line in memory.session_start().text.splitlines():
            if line.startswith("- ["):
                with pytest.raises(RefusedError):
                    memory.remember(line)
    assert len(memory.records()) == 1


def test_what_an_agent_adds_to_a_quotation_is_remembered_alone(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    memory.remember("Ana owns the release key")
    saved = memory.remember(f"{memory.session_start().text}\n\nBen is her deputy")
    assert saved.text == "Ben is her deputy"


def test_a_turn_is_logged_without_what_the_host_had_put_before_it(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    memory.remember("Ana owns the release key")
    turn = memory.chats.log(f"{memory.session_start().text}\nWho is her deputy?", "Ben")
    assert turn is not None
    assert turn.user == "Who is her deputy?"
