"""`approve`, and `forget` of a whole channel, on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memolith import Memory
from tests.cli.conftest import in_terminal

if TYPE_CHECKING:
    from tests.cli.conftest import Run


def test_the_commands_say_what_they_did(memolith: Run, root: str) -> None:
    Memory(root, channel="web").remember("The prize waits in Lagos")
    held = memolith("session-start")
    assert "memolith approve --channel web" in held.err
    assert "approve" not in held.out
    done = memolith("approve", "--channel", "web")
    assert "  records  1\n" in done.out
    undo = done.out.split("memolith ")[1].split()
    assert memolith(*undo).code == 0
    assert memolith("approve", "--channel", "web", "--json").json["status"] == "done"
    assert "Nothing to do" in memolith("approve", "--channel", "web").out
    assert memolith("approve").code == 2
    assert memolith("approve", "x", "--channel", "web").code == 2


def test_forgetting_a_channel_shows_the_count_and_asks(memolith: Run, root: str) -> None:
    Memory(root, channel="web").remember("The prize waits in Lagos")
    refused = memolith("forget", "--channel", "web")
    assert refused.code == 10 or refused.code > 2
    assert "1 record and 0 chat turns came in by web." in refused.err
    assert "--channel web --yes" in refused.err
    declined = in_terminal("forget", "--channel", "web", "--root", root, typed=b"n\n")
    assert "Forget all of them for good?" in declined.out
    assert len(Memory(root).records()) == 1
    agreed = in_terminal("forget", "--channel", "web", "--root", root, typed=b"y\n")
    assert "Forgotten" in agreed.out
    assert len(Memory(root).records()) == 0
    Memory(root, channel="web").remember("The ferry leaves at noon")
    done: Any = memolith("forget", "--channel", "web", "--yes", "--json").json
    assert (done["channel"], len(done["records"]), done["turns"]) == ("web", 1, 0)
    assert memolith("forget").code == 2
