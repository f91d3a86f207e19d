"""The real program on standard input and output: what it prints, and when it leaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp import Client

from benchmarks.mcp_start import HELLO, LIST, READY
from memolith import Memory
from tests.mcp_server.conftest import PROGRAM, program
from tests.pace import soon

if TYPE_CHECKING:
    from pathlib import Path


def call(number: int, tool: str, **arguments: Any) -> dict[str, Any]:
    return {
        "jsonrpc": "2.0",
        "id": number,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }


class Server:
    """The program, spoken to line by line."""

    def __init__(self, root: str, *words: str, command: tuple[str, ...] = (PROGRAM,)) -> None:
        self.process = subprocess.Popen(
            [*command, "mcp", "--root", root, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def say(self, *messages: dict[str, Any]) -> None:
        assert self.process.stdin
        self.process.stdin.write("".join(json.dumps(message) + "\n" for message in messages))
        self.process.stdin.flush()

    def answer_to(self, number: int | str | None) -> Any:
        assert self.process.stdout
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id", "none") == number:
                return message
        raise AssertionError(f"no answer to {number}")

    def hello(self) -> None:
        self.say(HELLO, READY)
        self.answer_to(1)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream:
                stream.close()
        self.process.wait()

    def hang_up(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()

    def rest(self) -> tuple[str, str]:
        """What is still printed after the end of the input."""
        self.hang_up()
        assert self.process.stdout
        assert self.process.stderr
        return self.process.stdout.read(), self.process.stderr.read()


def test_the_program_answers_in_both_protocols(root: str, mode: str) -> None:
    async def run() -> None:
        async with Client(program(root), mode=mode) as client:
            said = await client.call_tool("remember_this", {"text": "Tea at four"})
            assert not said.is_error
            found = await client.call_tool("memory_search", {"query": "tea"})
            assert found.structured_content["hits"][0]["text"] == "Tea at four"

    anyio.run(run)
    with Memory(root) as memory:
        assert [record.provenance.channel for record in memory.records()] == ["mcp"]


@pytest.mark.parametrize(
    ("line", "code", "number"),
    [
        ("tea", -32700, None),
        ('{"id": 1', -32700, None),
        ("[]", -32600, None),
        ('{"id": {"a": 1}}', -32600, None),
        ('{"id": 71}', -32600, 71),
        ('{"jsonrpc": "2.0", "id": "x", "method": 5}', -32600, "x"),
        ('{"jsonrpc": "1.0", "id": 72, "method": "ping"}', -32600, 72),
    ],
)
def test_a_line_that_is_not_a_message_is_refused_by_its_id_and_the_next_one_answered(
    root: str, line: str, code: int, number: int | str | None
) -> None:
    with Server(root) as server:
        server.hello()
        assert server.process.stdin
        server.process.stdin.write(f"\n{line}\n")
        server.say(call(2, "remember_this", text="Tea at four"))
        refusal = server.answer_to(number)
        assert refusal["error"]["code"] == code
        assert not server.answer_to(2)["result"].get("isError")


def test_it_leaves_within_two_seconds_of_the_end_of_its_input(root: str) -> None:
    def leave() -> float:
        with Server(root) as server:
            server.hello()
            return seconds_to_leave(server)

    soon(2, leave)


def seconds_to_leave(server: Server) -> float:
    began = time.monotonic()
    server.hang_up()
    assert server.process.wait(timeout=300) == 0
    return time.monotonic() - began


NEVER_IN_A_HURRY = (
    sys.executable,
    "-c",
    "from memolith.mcp_server import transport\n"
    "transport._LEAVE_SECONDS = 3600.0\n"
    "from memolith.cli.main import program\n"
    "program()",
)


def test_nothing_is_waited_for_when_the_input_ends(root: str) -> None:
    with Server(root, command=NEVER_IN_A_HURRY) as server:
        server.hello()
        server.hang_up()
        assert server.process.wait(timeout=60) == 0


def test_what_was_asked_before_the_input_ended_is_answered(root: str) -> None:
    with Server(root) as server:
        server.hello()
        ended = time.monotonic()
        server.say(call(2, "remember_this", text="Ana owns the key"))
        server.say(call(3, "memory_get", path="MEMORY.md"))
        server.hang_up()
        assert server.process.stdout
        answers = [json.loads(line) for line in server.process.stdout]
        # On a machine that is too slow for it, and only there, a call is ended unanswered.
        if time.monotonic() - ended < 1.2:
            assert {answer["id"] for answer in answers if "result" in answer} == {2, 3}
        assert server.process.wait(timeout=300) == 0


def test_it_leaves_in_time_although_a_call_is_still_running(root: str) -> None:
    with Memory(root) as memory:
        memory.init()

    def leave() -> float:
        with (
            Server(root, "--set", "store.lock_timeout_seconds=3600") as server,
            memory._store.writing(),
        ):
            server.hello()
            server.say(call(2, "remember_this", text="nobody lets it write"))
            server.say(call(3, "memory_get", path="MEMORY.md"))
            server.answer_to(3)
            return seconds_to_leave(server)

    soon(2, leave)


def test_it_leaves_when_its_parent_is_killed_and_another_holds_its_input(root: str) -> None:
    # The parent starts the server on a pipe whose other end we keep, and is then killed.
    ours, theirs = os.pipe()
    code = (
        "import subprocess, sys\n"
        f"p = subprocess.Popen([{PROGRAM!r}, 'mcp', '--root', {root!r}], stdin={ours})\n"
        "print(p.pid, flush=True)\np.wait()"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        pass_fds=[ours],
        text=True,
    )
    assert parent.stdout
    server = int(parent.stdout.readline())
    os.write(theirs, (json.dumps(HELLO) + "\n").encode())
    parent.stdout.readline()  # it is up
    parent.kill()
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 300
    while _lives(server):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    os.close(ours)
    os.close(theirs)


def _lives(process: int) -> bool:
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_at_once(root: str, sent: signal.Signals) -> None:
    with Server(root) as server:
        server.hello()
        server.process.send_signal(sent)
        assert server.process.wait(timeout=300) == -sent


def test_standard_output_carries_only_json_rpc(root: str, tmp_path: Path) -> None:
    # Whatever prints in this process, whoever it is, must not reach the client.
    noisy = tmp_path / "noisy.py"
    noisy.write_text(
        "import os, sys\n"
        "from memolith import Memory\n"
        "real = Memory.search\n"
        "def search(self, *a, **k):\n"
        "    print('noise')\n"
        "    sys.stdout.flush()\n"
        "    os.system('echo more noise')\n"
        "    return real(self, *a, **k)\n"
        "Memory.search = search\n"
        "from memolith.cli.main import main\n"
        "sys.exit(main())\n",
        encoding="utf-8",
    )
    with Server(root, command=(sys.executable, str(noisy))) as server:
        server.hello()
        server.say(call(2, "remember_this", text="tea"), call(3, "memory_search", query="tea"))
        server.answer_to(3)
        out, err = server.rest()
    for line in out.splitlines():
        assert json.loads(line)["jsonrpc"] == "2.0"
    assert "noise" in err
    assert "more noise" in err


LISTS_MODULES = (
    sys.executable,
    "-c",
    "import json, sys\n"
    "from memolith.mcp_server import tools\n"
    "real = tools.list_tools\n"
    "def listing(*given):\n"
    "    print(json.dumps(sorted(sys.modules)), file=sys.stderr, flush=True)\n"
    "    return real(*given)\n"
    "tools.list_tools = listing\n"
    "from memolith.cli.program import program\n"
    "program()",
)


def test_nothing_heavy_is_loaded_before_the_first_call(root: str) -> None:
    with Memory(root) as memory:
        memory.remember("Tea at four")
    with Server(root, command=LISTS_MODULES) as server:
        server.hello()
        server.say(LIST)
        server.answer_to(LIST["id"])
        assert server.process.stderr
        loaded = json.loads(server.process.stderr.readline())
    heavy = ("numpy", "apsw", "fastapi", "tokenizers", "wordllama", "rich")
    ours = ("index.sqlite", "search", "embed", "ingest", "llm", "rest", "jobs.run", "jobs.api")
    heavy += tuple(f"memolith.{room}" for room in ours)
    assert [name for name in loaded if name.startswith(heavy)] == []


def test_a_mistake_in_the_settings_is_told_before_anything_is_served(root: str) -> None:
    done = subprocess.run(
        [PROGRAM, "mcp", "--root", root, "--tools", "memory_gte"],
        input=json.dumps(HELLO) + "\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert done.stdout == ""
    assert "expected core, all, or names" in done.stderr


def test_several_servers_on_one_memory_see_what_the_others_wrote(root: str) -> None:
    with Server(root) as one, Server(root) as other, Server(root) as third:
        for server in (one, other, third):
            server.hello()
        for number in range(10, 30):
            writer, reader = ((one, other), (other, third), (third, one))[number % 3]
            writer.say(call(number, "remember_this", text=f"Cup number {number} is blue"))
            assert not writer.answer_to(number)["result"].get("isError")
            reader.say(call(number + 100, "memory_search", query=f"cup number {number}"))
            hits = reader.answer_to(number + 100)["result"]["structuredContent"]["hits"]
            assert f"Cup number {number} is blue" in [hit["text"] for hit in hits]
