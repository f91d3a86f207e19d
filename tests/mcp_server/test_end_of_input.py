"""A client that asks, closes our input and reads on gets its answers before we leave."""

from __future__ import annotations

import json
import sys
import time

from tests.mcp_server.test_stdio import Server, call


def test_what_was_asked_before_the_input_ended_is_answered(root: str) -> None:
    with Server(root) as server:
        server.hello()
        ended = time.monotonic()
        server.say(call(2, "remember_this", text="Ana owns the key"))
        server.say(call(3, "memory_get", path="MEMORY.md"))
        server.hang_up()
        assert server.process.stdout
        answers = {}
        for line in server.process.stdout:
            message = json.loads(line)
            # On a machine that is too slow for it, and only there, a call is ended unanswered.
            answers[message["id"]] = "result" in message or time.monotonic() - ended > 1.2
        assert server.process.wait(timeout=300) == 0
        assert all(answers.values())
        assert answers.keys() == {2, 3} or time.monotonic() - ended > 1.2


NEVER_IN_A_HURRY = (
    sys.executable,
    "-c",
    "from memolith.mcp_server import transport\n"
    "transport._LEAVE_SECONDS = 3600.0\n"
    "from memolith.cli.main import program\n"
    "program()",
)


def test_nothing_is_waited_for_when_everything_is_answered(root: str) -> None:
    with Server(root, command=NEVER_IN_A_HURRY) as server:
        server.hello()
        server.say(call(2, "remember_this", text="Ana owns the key"))
        server.answer_to(2)
        server.hang_up()
        assert server.process.wait(timeout=60) == 0
