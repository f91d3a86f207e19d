"""`memolith index status` before, in line with, and behind the files."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.cli.conftest import Run


def test_the_status_tells_what_a_sync_would_do_and_makes_nothing(memolith: Run) -> None:
    memolith("remember", "A heron stands in the river")
    before = memolith("index", "status", "--json").json
    assert (before["exists"], before["current"], before["changed"]) == (False, False, 2)
    assert memolith("index", "status", "--json").json == before
    assert "there is none yet" in memolith("index", "status").out
    memolith("sync")
    synced = memolith("index", "status", "--json").json
    assert (synced["exists"], synced["current"], synced["files"]) == (True, True, 2)
    assert synced["chunks"] == 2
    assert synced["model"]
    memolith("remember", "A grebe dives")
    assert memolith("index", "status", "--json").json["changed"] == 2
    assert "2 files changed" in memolith("index").out
