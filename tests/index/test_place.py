"""An index that cannot be used is made elsewhere, for this process alone, and nothing of it stays."""

from __future__ import annotations

import gc
import os
from typing import TYPE_CHECKING

from memolith.index import database
from memolith.index.place import IndexPlace

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_it_is_among_the_files_of_the_memory_where_that_can_be(tmp_path: Path) -> None:
    place = IndexPlace(str(tmp_path / "below" / "index"))
    assert place.choose() == place.folder == str(tmp_path / "below" / "index")
    assert place.warnings() == ()


def test_where_nothing_may_be_written_it_is_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = IndexPlace(str(tmp_path / "index"))
    monkeypatch.setattr(os, "access", lambda _, mode: mode != os.W_OK)
    elsewhere = place.choose()
    assert elsewhere == place.choose() == place.folder
    assert os.path.isdir(elsewhere)
    assert "read-only" in place.warnings()[0]
    place.close()
    assert not os.path.exists(elsewhere)
    assert place.folder == str(tmp_path / "index")


def test_who_goes_elsewhere_says_why_until_all_is_closed(tmp_path: Path) -> None:
    place = IndexPlace(str(tmp_path))
    place.use_temporary("The disk is full.")
    first = place.folder
    place.use_temporary("It is broken.")
    assert not os.path.exists(first)
    assert place.warnings()[0].startswith("It is broken. A temporary index")
    place.close()
    assert (place.folder, place.warnings()) == (str(tmp_path), ())


def test_a_folder_two_levels_below_the_root_of_the_disk_is_not_looked_for_elsewhere() -> None:
    assert database.resolve("/no-such-folder/index") == "/no-such-folder/index"


def test_nothing_stays_elsewhere_of_a_memory_that_nobody_closes(tmp_path: Path) -> None:
    place = IndexPlace(str(tmp_path))
    place.use_temporary("The disk is full.")
    elsewhere = place.folder
    del place
    gc.collect()
    assert not os.path.exists(elsewhere)
