"""Why the index cannot be used is said so that a person knows what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from memolith import Memory
from memolith.errors import IndexUnavailableError


@pytest.mark.parametrize("name", [".memolith", ".memolith/index"])
def test_a_file_in_the_place_of_the_folder_is_named(root: str, name: str) -> None:
    Path(root).mkdir()
    Path(root, "a.md").write_text("A heron stands there.\n")
    Path(root, name).parent.mkdir(exist_ok=True)
    Path(root, name).write_text("a file")
    told = f"{Path(root, name)} is a file where a folder should be."
    with Memory(root, settings={"search.meaning": False}) as memory:
        found = memory.search("heron")
        assert found.hits
        assert f"{told} A temporary index is used instead" in found.warnings[0]
        assert memory.index.sync().warnings == found.warnings
    with Memory(root, settings={"search.meaning": False}) as memory:
        for ask in (memory.index.sync, memory.index.status):
            with pytest.raises(IndexUnavailableError) as refused:
                ask()
            assert refused.value.message.endswith(told)
            assert refused.value.hint.startswith("Move that file away")
