"""A question in one language finds the memory in the other, by the whole of `Memory.search`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from memolith.embed.static_model import StaticModel
from memolith.text.terms import LANGUAGES
from tests.text.bilingual_probe import pairs, ranks_by_search, recall

if TYPE_CHECKING:
    from memolith.text.terms import Language


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_other_language_is_found_among_memories_of_both(language: Language) -> None:
    asked = pairs(language)[::3]
    found = ranks_by_search(asked, pairs())
    assert len(asked) == 50
    assert recall(found, 5) >= 0.85
    assert recall(found, 1) >= 0.6


def test_the_default_model_reads_spanish_by_its_meaning() -> None:
    spanish, same, other = StaticModel().embed(
        [
            "La boda de mi hermana es en junio",
            "My sister's wedding is in June",
            "El tren sale a las diez",
        ]
    )
    assert np.dot(spanish, same) > 0.6
    assert np.dot(spanish, same) > np.dot(spanish, other) + 0.3
