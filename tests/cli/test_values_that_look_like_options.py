"""A value is a value, whatever it looks like: it may be what somebody said in a chat."""

from __future__ import annotations

import pytest

from memolith.cli.main import main
from memolith.memory import Memory
from tests.cli.conftest import understood


@pytest.mark.parametrize("said", ["--root=/elsewhere", "--help", "--json", "-h", "--set=a.b=c"])
def test_what_was_said_is_never_taken_for_an_option(said: str, root: str) -> None:
    assert main(["log", "--root", root, "--user", said, "--assistant", said]) == 0
    with Memory(root) as memory:
        assert [(turn.user, turn.assistant) for turn in memory.chats.turns()] == [(said, said)]


@pytest.mark.parametrize("text", ["- buy milk", "-5", "--dry run of the pump"])
def test_a_text_with_spaces_and_a_number_are_no_options(text: str, root: str) -> None:
    assert main(["remember", text, "--root", root]) == 0
    with Memory(root) as memory:
        assert [record.text for record in memory.records()] == [text]


def test_the_options_of_every_command_are_read_anywhere() -> None:
    call = understood(["log", "--user", "hi", "--root", "here", "--assistant=yes", "--json"])
    assert (call.root, call.json) == ("here", True)
