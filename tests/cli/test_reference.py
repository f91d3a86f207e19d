"""docs/cli.md says what the code says."""

from __future__ import annotations

from tests.cli.reference import DOCUMENT, END, START, with_reference


def test_the_reference_is_up_to_date() -> None:
    document = DOCUMENT.read_text("utf-8")
    assert START in document
    assert END in document
    assert document == with_reference(document), "write it anew: python -m tests.cli.reference"
