"""A value is a value, whatever it looks like: it may be what somebody said in a chat."""

from __future__ import annotations

from argparse import ArgumentParser

import pytest

from memolith.cli.commands import COMMANDS, load
from memolith.cli.usage import GLOBAL_OPTIONS, VALUE_OPTIONS, read_global_options
from memolith.memory import Memory


def options_with_values() -> set[str]:
    found = set()
    for name in COMMANDS.keys() - {"config"}:
        parser = ArgumentParser(add_help=False)
        load(name).configure(parser)
        waiting = list(parser._actions)
        while waiting:
            action = waiting.pop()
            if isinstance(action.choices, dict):
                waiting += [one for sub in action.choices.values() for one in sub._actions]
            elif action.nargs != 0:
                found |= {option for option in action.option_strings if option.startswith("--")}
    return found


def test_the_list_of_options_with_values_is_complete() -> None:
    assert options_with_values() - {option for option, _, _ in GLOBAL_OPTIONS} == VALUE_OPTIONS


@pytest.mark.parametrize("said", ["--root=/elsewhere", "--help", "--json", "-h", "--set=a.b=c"])
def test_what_was_said_is_never_taken_for_an_option(said: str, root: str) -> None:
    from memolith.cli.main import main

    assert main(["log", "--root", root, "--user", said, "--assistant", said]) == 0
    with Memory(root) as memory:
        assert [(turn.user, turn.assistant) for turn in memory.chats.turns()] == [(said, said)]


def test_the_options_of_every_command_still_stand_anywhere() -> None:
    args, rest = read_global_options(["log", "--user", "hi", "--root", "here", "--assistant=yes"])
    assert (args.root, rest) == ("here", ["--user", "hi", "--assistant=yes"])
