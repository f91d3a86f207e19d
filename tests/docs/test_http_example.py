"""The example for HTTP works as it stands, on a machine that has never seen Memolith."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.docs.examples import blocks

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "rest.md"
START = "$ memolith serve &"


def example(page: Path) -> str:
    """The commands of the block that starts a server, as somebody types them."""
    [found] = [
        block for block in blocks(page.read_text(encoding="utf-8")) if START in block.lines[:1]
    ]
    return "\n".join(line.removeprefix("$ ") for line in found.lines)


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


@pytest.mark.skipif(not shutil.which("curl"), reason="the example is for those who have curl")
def test_the_commands_do_what_they_should_when_they_are_pasted(tmp_path: Path) -> None:
    port = str(free_port())  # that of the example may be taken on this machine
    environ = {name: value for name, value in os.environ.items() if "MEMOLITH" not in name}
    environ |= {
        "HOME": str(tmp_path),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "MEMOLITH_SERVE__PORT": port,
    }
    out, err = tmp_path / "out", tmp_path / "err"
    with (
        out.open("wb") as said,
        err.open("wb") as complained,
        subprocess.Popen(
            ["bash", "-c", "umask 022\n" + example(PAGE).replace("8788", port)],
            env=environ,
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=complained,
            start_new_session=True,
        ) as shell,
    ):
        try:
            code = shell.wait(300)
        finally:
            with suppress(ProcessLookupError):  # the server did not start
                os.killpg(shell.pid, signal.SIGTERM)
    assert code == 0, err.read_text(encoding="utf-8")
    answers = out.read_text(encoding="utf-8")
    assert answers.count("Ana owns the release key") >= 2, answers
    open_files = [
        path for path in (tmp_path / ".memolith").rglob("*") if path.stat().st_mode & 0o77
    ]
    assert open_files == []
