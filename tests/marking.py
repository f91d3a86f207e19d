"""Mark a record as secret by hand, as a user does: in one of its files alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def mark_secret(path: Path, words: str) -> None:
    """Turn the records of a file that say these words into secret ones."""
    private, secret = '"sensitivity":"private-user"', '"sensitivity":"secret"'
    lines = path.read_text("utf-8").split("\n")
    marked = [line.replace(private, secret) if words in line else line for line in lines]
    assert marked != lines
    path.write_text("\n".join(marked), "utf-8")
