"""A process that has the memory open answers hooks, with the same words as a hook alone, and no other process."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.hosts import local_socket
from tests.hosts.conftest import PROGRAM

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.hosts.conftest import User

ASKED = "Which port does staging use, and who owns the release key?"
HOOK = {"session_id": "s1", "hook_event_name": "UserPromptSubmit", "prompt": ASKED}
PATIENCE = ("--deadline", "60")  # of a process alone on a busy machine


@contextmanager
def served(user: User, *words: str, **more: str) -> Iterator[subprocess.Popen[bytes]]:
    """`memolith mcp` or `serve` of this user, once it answers hooks."""
    where = [PROGRAM, *(words or ("mcp",))]
    server = subprocess.Popen(
        where,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=user.home,
        env={**user.environment, **more},
    )
    try:
        deadline = time.monotonic() + 60
        while not asked(user, "session-start", "--hook"):
            assert time.monotonic() < deadline, "it never answered a hook"
            time.sleep(0.2)
        yield server
    finally:
        server.kill()
        server.communicate()


def asked(user: User, *words: str, hook: Mapping[str, object] = HOOK) -> str:
    """What a warm process answers to a hook; "" if none does, as a hook alone would go on by itself."""
    script = (
        "import sys; from memolith.cli import hooks, program; hooks.HOOK_SECONDS = 60;"
        " sys.exit(0 if program.has_answered(sys.argv[1:]) else 3)"
    )
    given = json.dumps({"cwd": str(user.home), **hook})
    done = user.run(sys.executable, "-c", script, *words, piped=given)
    assert done.returncode in (0, 3), done.stderr
    return done.stdout or "{}" if done.returncode == 0 else ""


def alone(user: User, *words: str, hook: Mapping[str, object] = HOOK) -> str:
    """What the same hook answers when no process serves the memory."""
    patience = PATIENCE if words[0] == "context" else ()
    return user.memolith(*words, *patience, piped=json.dumps({"cwd": str(user.home), **hook}))


def without_marks(text: str) -> object:
    """The answer without the random mark of its fence."""
    content = json.loads(text or "{}")
    handed = content.get("hookSpecificOutput", {}).get("additionalContext", "")
    mark = handed.partition('id="')[2].partition('"')[0]
    return json.loads(json.dumps(content).replace(mark, "x")) if mark else content


@pytest.fixture
def filled(user: User) -> User:
    with Memory(user.home / ".memolith" / "profiles" / "default", channel="cli") as memory:
        memory.remember("Staging listens on port 5433", category="fact", sensitivity="public")
        memory.remember("The release key is owned by Ana")
        memory.remember("The release key is in drawer seven", sensitivity="secret")
        memory.remember("The staging password is hunter22", sensitivity="operational")
        old = memory.remember("The staging port is 4000")
        memory.supersede(old.id, "The staging port is 5433 since June")
        memory.via("email").remember("Staging moved to port 9999, says a stranger")
        memory.via(kind="group").remember("Ana gave the release key away")
        memory.chats.log("Which port?", "It is 5433 on staging.", chat="c1")
    return user


@pytest.mark.parametrize(
    ("words", "hook"),
    [
        (("context",), {}),
        (("context",), {"prompt": "Thanks!"}),
        (("context",), {"prompt": "What is in drawer seven?"}),
        (("context",), {"prompt": "What does the stranger say about port 9999?"}),
        (("context",), {"agent_id": "sub"}),
        (("context",), {"hook_event_name": "BeforeAgent"}),
        (("context",), {"hook_event_name": "beforeSubmitPrompt", "cursor_version": "3"}),
        (("session-start", "--hook"), {"hook_event_name": "SessionStart", "source": "startup"}),
    ],
)  # fmt: skip
def test_both_ways_give_the_same_answer(
    words: tuple[str, ...], hook: dict[str, object], filled: User
) -> None:
    hook = {**HOOK, **hook, "session_id": "other"}
    alone_said = alone(filled, *words, hook=hook)
    for session in filled.home.rglob("sessions-started"):
        session.unlink()
    with served(filled):
        for session in filled.home.rglob("sessions-started"):
            session.unlink()
        warm_said = asked(filled, *words, hook=hook)
        if "agent_id" not in hook:  # of which a hook needs nobody
            assert warm_said
            assert without_marks(warm_said) == without_marks(alone_said)
        through = filled.memolith(*words, piped=json.dumps({"cwd": str(filled.home), **hook}))
    for said in (alone_said, warm_said, through):
        for hidden in ("drawer", "stranger", "gave the release key"):
            assert hidden not in said


def test_other_settings_are_answered_by_the_hook_itself(filled: User) -> None:
    with served(filled, "mcp", "--tools", "all"):
        assert asked(filled, "context")
        profile = filled.home / ".memolith" / "profiles" / "default"
        root = str(profile)
        assert asked(filled, "context", "--root", root)
        (filled.home / "other").mkdir()
        assert asked(filled, "context", "--root", str(filled.home / "other")) == ""
        path = local_socket.socket_path(root, filled.environment)
        script = (
            "import json, sys; from memolith.hosts.local_socket import greeting;"
            " from memolith.config.load import open_profile;"
            " profile, loaded = open_profile(); print(json.dumps(greeting(profile.root, loaded.config)))"
        )
        message = json.loads(filled.run(sys.executable, "-c", script).stdout)
        question = {"command": "context", "hook": json.dumps(HOOK), "seconds": 20.0}
        assert local_socket.ask(path, {**message, **question}, 20)
        for name in message:
            assert local_socket.ask(path, {**message, **question, name: "other"}, 20) is None
        assert local_socket.ask(path, {"any": "thing"}, 20) is None


def test_a_server_with_other_settings_does_not_answer(filled: User) -> None:
    script = f"{PROGRAM} serve --port 0 --set context.turn_tokens=100".split()
    server = subprocess.Popen(
        script, stdout=subprocess.DEVNULL, cwd=filled.home, env=filled.environment
    )
    path = local_socket.socket_path(
        str(filled.home / ".memolith" / "profiles" / "default"), filled.environment
    )
    try:
        deadline = time.monotonic() + 60
        while not os.path.exists(path):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert asked(filled, "context") == ""
        said = alone(filled, "context")
        assert "5433" in said
    finally:
        server.terminate()
        server.wait()


def test_another_process_takes_over_when_the_first_is_killed(filled: User) -> None:
    with served(filled) as first, served(filled, "serve", "--port", "0"):
        first.send_signal(signal.SIGKILL)
        first.wait()
        deadline = time.monotonic() + 60
        while not asked(filled, "context"):
            assert time.monotonic() < deadline, "nobody took over"
            time.sleep(0.2)


def listening(path: str, reply: bytes | None) -> socket.socket:
    """A process of ours that answers every caller so, or never."""
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    sock = socket.socket(socket.AF_UNIX)
    sock.bind(path)
    sock.listen()

    def answer() -> None:
        try:
            while True:
                caller, _ = sock.accept()
                if reply is None:
                    held.append(caller)
                    continue
                with caller:
                    while caller.recv(65536):
                        pass
                    caller.sendall(reply)
        except OSError:
            return

    held: list[socket.socket] = []
    threading.Thread(target=answer, daemon=True).start()
    return sock


REPLY = json.dumps({"text": "not ours", "problem": ""}).encode()


def socket_of(user: User) -> str:
    root = str(user.home / ".memolith" / "profiles" / "default")
    return local_socket.socket_path(root, user.environment)


def test_a_socket_that_others_could_have_made_is_not_used(filled: User) -> None:
    path = socket_of(filled)
    folder = os.path.dirname(path)
    with listening(path, REPLY):
        assert "not ours" in asked(filled, "context")
        os.chmod(folder, 0o755)
        assert asked(filled, "context") == ""
        os.chmod(folder, 0o700)
        os.rename(path, f"{path}.moved")
        os.symlink(f"{path}.moved", path)
        assert asked(filled, "context") == ""
        os.unlink(path)
        os.rename(f"{path}.moved", path)
        elsewhere = f"{filled.runtime}/elsewhere"
        os.rename(folder, elsewhere)
        os.symlink(elsewhere, folder)
        assert asked(filled, "context") == ""
        assert local_socket.listen(path) is None


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be somebody else")
def test_a_process_of_another_user_is_neither_asked_nor_answered(filled: User) -> None:
    path = socket_of(filled)
    call = "import socket,sys,os; os.setuid(65534); s=socket.socket(socket.AF_UNIX)"
    with listening(path, REPLY) as sock:
        assert local_socket._peer(sock) in (-1, 0)
    os.unlink(path)
    listener = local_socket.listen(path)
    assert listener
    os.chmod(path, 0o666)
    for folder in (os.path.dirname(path), filled.runtime):  # as if somebody had been careless
        os.chmod(folder, 0o711)
    listener.settimeout(30)
    client = subprocess.Popen([sys.executable, "-c", f"{call}; s.connect({path!r}); s.recv(1)"])
    assert local_socket.accept(listener) is None
    assert client.wait(30) == 0
    listener.close()


def test_a_process_that_hangs_makes_no_hook_late(filled: User) -> None:
    with listening(socket_of(filled), None):
        began = time.monotonic()
        done = filled.run(PROGRAM, "context", piped=json.dumps({**HOOK, "cwd": str(filled.home)}))
        took = time.monotonic() - began
    assert done.returncode == 0
    assert "did not answer in time" in json.loads(done.stdout)["systemMessage"]
    assert took < 5  # 0.4 on a machine with nothing else to do


@pytest.mark.parametrize("reply", [b"", b"[]", b"{", b'{"refused": "no"}'])
def test_nonsense_is_answered_by_the_hook_itself(reply: bytes, filled: User) -> None:
    with listening(socket_of(filled), reply):
        assert asked(filled, "context") == ""


def test_without_a_warm_process_a_hook_is_never_late(user: User) -> None:
    root = user.home / ".memolith" / "profiles" / "default"
    user.memolith("remember", "Ana owns the release key")
    facts = (
        f"Staging port {number} belongs to team {number % 97}.\n\n" for number in range(20_000)
    )
    (root / "memory" / "ports.md").write_text("".join(facts))
    given = json.dumps({**HOOK, "cwd": str(user.home)})
    began = time.monotonic()
    said = json.loads(user.memolith("context", piped=given))
    took = time.monotonic() - began
    assert "not indexed yet" in said["systemMessage"]
    assert "hookSpecificOutput" not in said
    assert took < 5  # indexing alone takes longer; 0.3 on a machine with nothing else to do
    deadline = time.monotonic() + 200
    while json.loads(user.memolith("status", "--json"))["index"] is None:
        assert time.monotonic() < deadline
        time.sleep(0.5)


def test_receipts_say_what_was_handed_over_and_why(filled: User) -> None:
    assert json.loads(filled.memolith("receipts", "--json"))["receipts"] == []
    said = json.loads(alone(filled, "context"))
    assert said["systemMessage"].startswith("memolith: Handed over ")
    assert "release key" in said["systemMessage"]
    found = json.loads(filled.memolith("receipts", "--json"))["receipts"]
    kept = {item["text"]: item["words"] for receipt in found for item in receipt["items"]}
    assert {"release", "key"} <= {*kept["The release key is owned by Ana"]}
    assert not any("drawer" in text or "stranger" in text for text in kept)
    log = (
        filled.home / ".memolith" / "profiles" / "default" / ".memolith" / "recalls.jsonl"
    ).read_text()
    assert ASKED not in log
    assert "who owns" not in log
    shown = filled.memolith("receipts")
    assert "The release key is owned by Ana" in shown
