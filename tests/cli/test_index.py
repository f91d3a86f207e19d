"""What `memolith status` says of the index: before it is made, in line with the files, and behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.cli.conftest import Run


def test_the_status_says_what_a_sync_would_do_and_makes_nothing(memolith: Run) -> None:
    memolith("remember", "A heron stands in the river")
    assert memolith("status", "--json").json["index"] is None
    assert "none yet" in memolith("status").out
    memolith("sync")
    synced = memolith("status", "--json").json["index"]
    assert (synced["exists"], synced["changed"], synced["files"]) == (True, 0, 2)
    assert synced["chunks"] == 2
    assert synced["model"]
    assert "in line with the files" in memolith("status").out
    memolith("remember", "A grebe dives")
    assert memolith("status", "--json").json["index"]["changed"] == 2
    assert "2 files changed" in memolith("status").out
