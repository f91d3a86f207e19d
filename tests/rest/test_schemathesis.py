"""R15: an independent client reads the OpenAPI description and tries thousands of requests."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from memolith import Memory
from tests.crash.tier import minutes, size
from tests.rest.conftest import running

# What the memory itself may refuse although it has the right form: a name that cannot be printed,
# a text that was forgotten, our own words coming back, a chat that does not exist. And a job that
# had nothing to do is not kept, so it cannot be asked for.
NOT_CHECKED = "positive_data_acceptance,ensure_resource_availability"
ENDLESS = "/api/v1/events"  # tested in test_events.py
EXAMPLES = size(30, 500)  # of each operation
LEAST = size(2_000, 20_000)


@pytest.mark.timeout(minutes(15, 120))
def test_thousands_of_requests_find_no_server_error_and_no_breach_of_the_description(
    root: str, tmp_path: Path
) -> None:
    with Memory(root) as memory:
        memory.remember("Ana owns the release key")
        memory.chats.log("Where does the heron nest?", "By the lake.")
    options = ["--log-level", "error"]
    with running(root, *options) as server:
        done = subprocess.run(
            [
                *[sys.executable, "-m", "schemathesis.cli", "run"],
                f"{server.url}/api/v1/openapi.json",
                *["--header", f"Authorization: {server.client.headers['authorization']}"],
                *["--suppress-health-check", "too_slow"],
                *["--exclude-path", ENDLESS, "--exclude-checks", NOT_CHECKED],
                *[
                    "--max-examples",
                    str(EXAMPLES),
                    "--seed",
                    "20261115",
                    "--request-timeout",
                    "600",
                ],
            ],
            cwd=tmp_path,
            env={**os.environ, "NO_COLOR": "1", "PYTHONWARNINGS": ""},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert server.client.get("/readyz").status_code == 200
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2000:]
    [generated] = re.findall(r"([\d,]+) generated", done.stdout)
    print(f"{generated} cases")
    assert int(generated.replace(",", "")) >= LEAST
