"""The real program: it starts, answers, says so on one line, and ends when told to."""

from __future__ import annotations

import os
import re
import signal
import socket
import stat
import time
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from memolith import Memory
from memolith.cli.options import Call
from memolith.cli.serve import announce, listen
from memolith.errors import ConfigError
from tests.cli.conftest import program
from tests.pace import soon
from tests.rest.conftest import running


def test_what_is_remembered_over_http_is_found_there_and_on_the_disk(root: str) -> None:
    with running(root) as server:
        written = server.client.post("/api/v1/records", json={"text": "Ana owns the release key"})
        assert written.status_code == 201
        found = server.client.post("/api/v1/search", json={"text": "who can release?"})
        assert [hit["text"] for hit in found.json()["hits"]] == ["Ana owns the release key"]
    [record] = Memory(root).records()
    assert (record.text, record.provenance.channel) == ("Ana owns the release key", "rest")


def test_the_token_is_for_the_user_alone_and_the_same_after_a_restart(root: str) -> None:
    tokens = []
    for _ in range(2):
        with running(root):
            file = Path(root, ".memolith/server-token")
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
            tokens.append(file.read_text("ascii"))
    assert tokens[0] == tokens[1]
    assert len(tokens[0].strip()) >= 43


def test_a_rotated_token_counts_at_once_and_the_old_one_no_more(root: str) -> None:
    with running(root) as server:
        assert server.client.get("/api/v1/status").status_code == 200
        new = program("token", "--rotate", "--root", root).out.strip()
        assert server.client.get("/api/v1/status").status_code == 401
        headers = {"Authorization": f"Bearer {new}"}
        assert (
            httpx2.get(f"{server.url}/api/v1/status", headers=headers, timeout=300).status_code
            == 200
        )


def test_a_token_that_others_can_read_is_refused(root: str) -> None:
    with running(root) as server:
        Path(root, ".memolith/server-token").chmod(0o644)
        assert server.client.get("/api/v1/status").status_code == 401
    outcome = program("serve", "--root", root, "--port", "0")
    assert outcome.code == 12
    assert "memolith token --rotate" in outcome.err
    assert program("token", "--rotate", "--root", root).code == 0
    assert stat.S_IMODE(Path(root, ".memolith/server-token").stat().st_mode) == 0o600


def test_a_port_that_is_taken_is_said_in_words(root: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        outcome = program("serve", "--root", root, "--port", str(taken.getsockname()[1]))
    assert outcome.code == 3
    assert "serve.port=0" in outcome.err
    outcome = program("serve", "--root", root, "--port", "0", "--host", "192.0.2.1")  # nobody's
    assert outcome.code == 3
    assert "serve.host must be an address of this machine" in outcome.err


def test_of_two_servers_that_start_together_the_second_is_told_in_words() -> None:
    with (
        listen("127.0.0.1", 0) as first,
        pytest.raises(ConfigError, match="Cannot listen") as refused,
    ):
        listen("127.0.0.1", first.getsockname()[1])
    assert "serve.port=0" in refused.value.hint


def test_who_opens_a_memory_to_the_network_is_told(
    root: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with Memory(root) as memory:
        for host, warned in (("127.0.0.1", False), ("0.0.0.0", True)):
            with socket.socket() as sock:
                sock.bind((host, 0))
                Call().show(announce(memory, sock, path="/mcp"))
            assert ("Others on the network" in capsys.readouterr().err) == warned


def test_answers_on_an_open_connection_do_not_wait_for_acknowledgements() -> None:
    # asyncio sets TCP_NODELAY on connections of a socket only if its protocol is named; the delay
    # itself cannot be measured reliably on a busy machine.
    with listen("127.0.0.1", 0) as sock:
        assert sock.proto == socket.IPPROTO_TCP


def test_it_ends_within_seconds_although_a_listener_is_connected(root: str) -> None:
    def end() -> float:
        with running(root) as server:
            port = int(server.url.rpartition(":")[2])
            with socket.create_connection(("127.0.0.1", port)):
                began = time.monotonic()
                server.process.send_signal(signal.SIGINT)
                server.process.wait(300)
            assert server.process.returncode in (0, 130, -signal.SIGINT)
        return time.monotonic() - began

    soon(8, end)


def test_the_log_has_one_line_for_each_request_and_no_text_of_the_memory(root: str) -> None:
    with running(root) as server:
        server.client.post("/api/v1/records", json={"text": "The door code is 4711"})
        server.client.get("/api/v1/nothing%0D%0A%1B[31mhere?code=4711")
        server.process.send_signal(signal.SIGTERM)
        log = server.log()
    lines = [line for line in log.splitlines() if " msg=request " in line]
    assert len(lines) == 2
    assert "path=/api/v1/records status=201" in lines[0]
    assert "4711" not in log
    assert "\x1b" not in log


def test_every_line_of_the_log_is_made_of_pairs_and_libraries_only_warn(root: str) -> None:
    with running(root, "--log-level", "debug") as server:
        server.client.get("/healthz")
        Path(root).mkdir(exist_ok=True)
        Path(root, "memolith.toml").write_text('the "port" is 5\n')
        deadline = time.monotonic() + 300
        while "reloads_total{" not in (now := server.client.get("/metrics").text):
            assert time.monotonic() < deadline, now
            time.sleep(0.2)
        Path(root, "memolith.toml").write_text("")
        while 'reloads_total{outcome="done"}' not in (now := server.client.get("/metrics").text):
            assert time.monotonic() < deadline, now
            time.sleep(0.2)
        server.process.send_signal(signal.SIGTERM)
        log = server.log()
    pair = r'[a-z]+=(?:"(?:[^"\\]|\\.)*"|[^\s"]+)'
    for line in log.splitlines():
        assert re.fullmatch(rf"{pair}(?: {pair})*", line), line
    [kept] = [line for line in log.splitlines() if "Settings kept as they were" in line]
    assert re.search(r"is not valid TOML: .+\)\. Mend it", kept), kept
    assert 'msg="Settings read: as before"' in log
    assert not re.search(r"level=(?:info|debug) logger=(?:uvicorn|mcp)", log)


def test_the_token_never_stands_in_the_command_line_or_the_log(root: str) -> None:
    with running(root, "--log-level", "debug") as server:
        token = Path(root, ".memolith/server-token").read_text("ascii").strip()
        server.client.get("/api/v1/status")
        command = Path(f"/proc/{server.process.pid}/cmdline")
        if os.path.exists(command):
            assert token.encode() not in command.read_bytes()
        server.process.terminate()
        out, log = server.process.communicate(timeout=300)[0], server.log()
    assert token not in out + log


def test_a_request_that_is_not_done_when_it_ends_is_told_so_and_leaves_no_trace(root: str) -> None:
    with running(root) as server:
        address = urlsplit(server.url)
        assert address.hostname
        assert address.port
        with socket.create_connection((address.hostname, address.port), timeout=300) as caller:
            token = server.client.headers["authorization"]
            caller.sendall(
                f"POST /api/v1/search HTTP/1.1\r\nHost: {address.netloc}\r\nAuthorization: {token}\r\n"
                "Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{".encode()
            )
            server.client.get("/healthz")
            server.process.terminate()
            assert caller.recv(1000).startswith(b"HTTP/1.1 503 ")
        assert "Traceback" not in server.log()


def test_doctor_finds_a_server_whatever_its_port(root: str) -> None:
    with running(root) as server:
        port = urlsplit(server.url).port
        assert f"a server answers at port {port} of" in program("doctor", "--root", root).out
    out = program("doctor", "--root", root).out
    assert "no server runs at port" in out or "does not answer like" in out
    assert f"port {port} " not in out


def test_the_files_of_a_new_memory_are_made_and_those_of_another_stay(root: str) -> None:
    with running(root):
        assert {"MEMORY.md", "USER.md", "memolith.toml"} <= {
            path.name for path in Path(root).iterdir()
        }
    Path(root, "USER.md").unlink()
    with running(root):
        assert not Path(root, "USER.md").exists()
