"""What is made from the code: a row in docs/python-api.md for every method.

To write it anew: python -m tests.contract.method_table
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

from memolith import Memory
from memolith.context.chats import Chats
from memolith.context.engine import IndexCommands
from memolith.jobs.api import Jobs
from memolith.jobs.files import Files

DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "python-api.md"
START = "<!-- made from the code: python -m tests.contract.method_table -->\n"
END = "<!-- end of what is made from the code -->\n"
GROUPS = {
    "": Memory, "chats.": Chats, "files.": Files, "index.": IndexCommands, "jobs.": Jobs,
}  # fmt: skip


def method_table() -> str:
    """Every method with the first sentence that its own documentation has."""
    rows = [row for group, of in GROUPS.items() for row in _rows(of, group)]
    return "\n| method | |\n|---|---|\n" + "\n".join(rows) + "\n\n"


def _rows(of: type, prefix: str) -> Iterator[str]:
    for name, method in inspect.getmembers(of, inspect.isfunction):
        if not name.startswith("_"):
            told = " ".join((inspect.getdoc(method) or "").partition("\n\n")[0].split())
            yield f"| `{prefix}{name}` | {told.replace('|', chr(92) + '|')} |"


if __name__ == "__main__":
    before, _, rest = DOCUMENT.read_text(encoding="utf-8").partition(START)
    after = rest.partition(END)[2]
    DOCUMENT.write_text(before + START + method_table() + END + after, encoding="utf-8")
