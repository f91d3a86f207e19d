"""Draw docs/images/terminal.svg: real commands in a terminal of 100 columns, and what they print.

Run:  make picture
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "terminal.svg"
COLUMNS = 100
COMMANDS = (
    'memolith remember "Ana owns the release key; deploys go through staging first"',
    'memolith save "Releases happen on Tuesdays, never before a holiday." --title "Release days"',
    'memolith search "who can release?"',
    "cat memory/fact/*-release-days.md",
)
# Dark, and readable on a white page and on a black one.
THEME = TerminalTheme(
    (30, 32, 40),
    (222, 224, 230),
    [
        *((90, 94, 106), (240, 113, 120), (152, 195, 121), (229, 192, 123)),
        *((97, 175, 239), (198, 120, 221), (86, 182, 194), (222, 224, 230)),
    ],
)


def run_in_terminal(command: str, folder: Path) -> str:
    """What a command prints when its output is a terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    environment = {
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "MEMOLITH_ROOT": str(folder),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "TERM": "xterm-256color",
    }
    process = subprocess.Popen(
        ["sh", "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    printed = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # Linux says so when the last writer is gone
            break
        if not part:
            break
        printed += part
    os.close(ours)
    if process.wait():
        raise SystemExit(f"{command} failed:\n{printed.decode()}")
    return printed.decode().replace("\r\n", "\n")


def record() -> list[tuple[str, str]]:
    """Every command and what it prints, in a memory of its own."""
    with tempfile.TemporaryDirectory() as folder:
        return [(command, _without_bar(command, Path(folder))) for command in COMMANDS]


def _without_bar(command: str, folder: Path) -> str:
    """What it prints, without the progress that only a slow machine shows."""
    return re.sub(r".*Indexing.*\n", "", run_in_terminal(command, folder))


def draw(session: list[tuple[str, str]]) -> str:
    """The session as SVG, without fonts from the network."""
    console = Console(
        record=True, width=COLUMNS, file=StringIO(), force_terminal=True, color_system="truecolor"
    )
    for number, (command, printed) in enumerate(session):
        if number:
            console.print()
        console.print(Text.assemble(("$ ", "green"), (command, "bold")))
        console.print(Text.from_ansi(printed.rstrip("\n")))
    svg = console.export_svg(title="memolith", theme=THEME, unique_id="terminal")
    svg = re.sub(r"@font-face \{.*?\}\n", "", svg, flags=re.DOTALL)
    svg = re.sub(r"[ \t]+$", "", svg, flags=re.MULTILINE)
    return svg.replace("Fira Code, monospace", "ui-monospace, Menlo, DejaVu Sans Mono, monospace")


if __name__ == "__main__":
    PICTURE.write_text(draw(record()), encoding="utf-8")
