"""What each surface answers, word by word, as it was reviewed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.contract.transcripts import GOLDEN, SURFACES, replay

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("surface", SURFACES)
def test_each_request_has_the_answer_that_was_reviewed(surface: str, tmp_path: Path) -> None:
    reviewed = (GOLDEN / f"{surface}.txt").read_text("utf-8")
    assert replay(surface, reviewed, tmp_path).splitlines() == reviewed.splitlines()
