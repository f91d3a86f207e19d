"""`make demo` is a newcomer's first sight: it runs to its end and shows what it says."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

DEMO = Path(__file__).parent.parent.parent / "scripts" / "demo.sh"


@pytest.fixture
def shown(tmp_path: Path) -> list[str]:
    """The lines the demo prints; whatever it leaves behind is in `tmp_path`."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    run = subprocess.run(
        ["sh", str(DEMO)],
        env={**os.environ, "PATH": path, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        check=True,
        encoding="utf-8",
    )
    return run.stdout.splitlines()


def after(shown: list[str], command: str) -> str:
    """What the last command that starts like this printed."""
    start = max(i for i, line in enumerate(shown) if line.startswith(f"$ {command}"))
    rest = shown[start + 1 :]
    ends = [i for i, line in enumerate(rest) if line.startswith(("$ ", "# "))]
    return "\n".join(rest[: ends[0] if ends else None])


def test_the_demo_remembers_shows_finds_corrects_and_forgets(shown: list[str]) -> None:
    assert "temporary folder" in shown[0]
    assert "Releases happen on Tuesdays" in after(shown, "cat memory/fact/")
    assert after(shown, "grep heron").startswith("- {")
    assert "Ana owns the release key" in after(shown, 'memolith search "who can release')
    assert "heron" in after(shown, 'memolith search "¿cómo')
    assert "## Garden" in after(shown, 'memolith search "when is the pump')
    assert "Releases happen on Tuesdays" in after(shown, "memolith context")
    assert "osprey" in after(shown, "memolith list")
    final = after(shown, "memolith list")
    assert not [gone for gone in ("heron", "short answers", "4711") if gone in final]


def test_the_demo_is_without_colour_and_leaves_nothing_behind(
    shown: list[str], tmp_path: Path
) -> None:
    assert "\x1b" not in "".join(shown)
    assert list(tmp_path.iterdir()) == []


def test_in_a_fresh_clone_the_first_thing_is_a_line_about_the_wait(tmp_path: Path) -> None:
    repository = DEMO.parent.parent
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(repository / name, tmp_path)
    planned = subprocess.run(
        ["make", "--no-print-directory", "--dry-run", "demo"],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert planned.stdout.startswith('echo "Installing Memolith')
