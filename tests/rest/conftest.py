"""A server to call: in this process, which is fast, and as the real program on a real port."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

import httpx2
import pytest
from starlette.testclient import TestClient

from memolith import Memory
from memolith.jobs.server_files import server_token
from memolith.rest.app import build_app

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memolith.clock import Clock

PROGRAM = str(Path(sys.executable).with_name("memolith"))
PORT = 8788
URL = f"http://127.0.0.1:{PORT}"


@contextmanager
def calling(memory: Memory) -> Iterator[TestClient]:
    """A client that shows the token; failures of the server come back as answers."""
    token = server_token(memory.root, memory.config.store)
    app = build_app(memory, port=PORT)
    headers = {"Authorization": f"Bearer {token}"}
    with TestClient(app, URL, raise_server_exceptions=False, headers=headers) as client:
        yield client


@pytest.fixture
def server_memory(root: str, clock: Clock) -> Iterator[Memory]:
    """The memory behind `client`."""
    with Memory(root, clock=clock, channel="rest") as memory:
        yield memory


@pytest.fixture
def client(server_memory: Memory) -> Iterator[TestClient]:
    """A client of a server in this process."""
    with calling(server_memory) as client:
        yield client


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A server in a process of its own."""

    url: str
    process: subprocess.Popen[str]
    client: httpx2.Client
    stderr: IO[str]

    def log(self) -> str:
        """All that it has written to stderr, once it has ended."""
        self.process.wait(300)
        self.stderr.seek(0)
        return self.stderr.read()


@contextmanager
def running(root: str, *options: str, timeout_seconds: float = 300.0) -> Iterator[Running]:
    """Start `memolith serve` on any free port; it must end by itself when told to."""
    code = (
        "import sys; from memolith.cli.main import main; from memolith.rest import guard\n"
        f"guard.TIMEOUT_SECONDS = {timeout_seconds}; sys.exit(main())"
    )
    words = [sys.executable, "-c", code, "serve", "--root", root, "--port", "0", "--json", *options]
    # A pipe that nobody reads would fill with the log of requests and stop the server.
    with (
        tempfile.TemporaryFile("w+") as log,
        subprocess.Popen(words, stdout=subprocess.PIPE, stderr=log, text=True) as process,
    ):
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            if not line:
                process.wait(300)
                log.seek(0)
                raise AssertionError(log.read())
            said = json.loads(line)
            token = Path(said["token_file"]).read_text("ascii").strip()
            headers = {"Authorization": f"Bearer {token}"}
            with httpx2.Client(base_url=said["url"], headers=headers, timeout=300) as client:
                yield Running(url=said["url"], process=process, client=client, stderr=log)
        finally:
            process.terminate()
            process.wait(300)
