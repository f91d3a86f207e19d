"""`memolith open`: it starts a server if none runs, else uses that one; the code is in no command line."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from pathlib import Path

import httpx2

from memolith.web.signing_in import OPEN
from tests.rest.conftest import PROGRAM


def signed_in(url: str) -> int:
    base, _, code = url.partition("/sign-in#")
    return httpx2.post(f"{base}/ui/sign-in", content=code, headers={"Origin": base}).status_code


def test_it_starts_a_server_then_uses_the_one_that_runs(tmp_path: Path) -> None:
    root = str(tmp_path / "memory")
    words = [PROGRAM, "open", "--link", "--json", "--root", root]
    with subprocess.Popen(
        [*words, "--set", "serve.port=0"], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout
        try:
            served, opened = (json.loads(server.stdout.readline()) for _ in range(2))
            assert opened["url"].startswith(f"{served['url']}/sign-in#")
            assert signed_in(opened["url"]) == 204
            again = subprocess.run(words, capture_output=True, text=True, check=True)
            url = json.loads(again.stdout)["url"]
            assert url.startswith(f"{served['url']}/sign-in#")
            assert signed_in(opened["url"]) == 403
            assert signed_in(url) == 204
        finally:
            server.terminate()


def test_the_browser_is_led_by_a_private_file(tmp_path: Path) -> None:
    root, seen = str(tmp_path / "memory"), tmp_path / "seen"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$@" > {seen}.part && mv {seen}.part {seen}\n')
    browser.chmod(0o700)
    words = [PROGRAM, "open", "--root", root, "--set", "serve.port=0"]
    environment = {**os.environ, "BROWSER": f"{browser} %s"}
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment) as server:
        assert server.stdout
        try:
            lines = [server.stdout.readline() for _ in range(3)]
            assert lines[-1].startswith("Opened")
            file = Path(root, OPEN)
            assert seen.read_text().strip() == f"file://{file.resolve()}"
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
            assert "/sign-in#" in file.read_text()
        finally:
            server.terminate()
