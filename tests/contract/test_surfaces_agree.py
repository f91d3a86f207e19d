"""Every ability of `Memory` is on every surface, or there is a reason; and all give the same answer."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest

from memolith import Memory
from memolith.cli.main import COMMANDS, find
from memolith.context.chats import Chats
from memolith.context.engine import IndexCommands
from memolith.jobs.api import Jobs
from memolith.jobs.files import Files
from memolith.mcp_server.server import MemoryServer
from memolith.mcp_server.tools import TOOLS
from memolith.rest.app import build_api
from memolith.results import SearchResult, SessionHit
from tests.contract.method_table import DOCUMENT, END, START, method_table
from tests.mcp_server.conftest import Talk
from tests.rest.conftest import calling

if TYPE_CHECKING:
    from memolith.clock import Clock

# A reason instead of a place begins with "—".
ADMIN = "— for the user, not for an agent"
JOB = "/api/v1/jobs/{job_id}"
# Method → command, tool, route.
PLACES: dict[str, tuple[str, str, str]] = {
    "close": ("— at the end of every command", "— at its end", "— at its end"),
    "context": ("context", "memory_context", "/api/v1/context"),
    "doctor": ("doctor", ADMIN, "/api/v1/doctor"),
    "forget": ("forget", "memory", "/api/v1/records/{record_id}"),
    "get": ("get", "memory_get", "/api/v1/passage"),
    "get_record": ("get", "— memory_get reads its line", "/api/v1/records/{record_id}"),
    "init": ("init", "— the first record makes the files", "/api/v1/init"),
    "recall": ("— search: a command has no cache", "recall_memory", "/api/v1/recall"),
    "reconfigure": ("— a command reads its settings", "— by itself", "/api/v1/reload"),
    "records": ("list", "memory", "/api/v1/records"),
    "remember": ("remember", "remember_this", "/api/v1/records"),
    "remember_many": (
        "— remember, a record each",
        "— remember_this, a record each",
        "— POST /records, a record each",
    ),
    "save_note": ("save", "memory", "/api/v1/notes"),
    "search": ("search", "memory_search", "/api/v1/search"),
    "session_start": ("session-start", "session_start", "/api/v1/session-start"),
    "status": ("status", ADMIN, "/api/v1/status"),
    "supersede": ("supersede", "remember_this", "/api/v1/records/{record_id}/supersede"),
    "supersede_by": ("supersede", ADMIN, "— who settles a finding has the command line"),
    "update": ("update", "— remember_this supersedes", "/api/v1/records/{record_id}"),
    "used": ("— get counts as use", "— memory_get counts as use", "/api/v1/used"),
    "via": ("— it has its channel", "— it has its channel", "— it has its channel"),
    "chats.log": ("log", "— a host logs turns, not its model", "/api/v1/turns"),
    "chats.recap": ("recap", "— part of what a host injects", "/api/v1/recap"),
    "chats.turns": ("log", "memory_search", "/api/v1/turns"),
    "files.backups": ("restore", ADMIN, "/api/v1/backups"),
    "files.list": ("— files are on the disk", "— files are resources", "/api/v1/logs"),
    "files.read": ("— files are on the disk", "— files are resources", "/api/v1/file"),
    "files.restore": ("restore", ADMIN, "/api/v1/backups/{name}/restore"),
    "files.write": ("— files are on the disk", ADMIN, "/api/v1/file"),
    "index.keep_up": ("— every search looks first", "— by itself", "— by itself"),
    "index.on_progress": ("search", "— its client sees calls go on", "— a request shows no bar"),
    "index.rebuild": ("sync --rebuild", "memory", "/api/v1/reindex"),
    "index.status": ("status", ADMIN, "/api/v1/index"),
    "index.sync": ("sync", "— every search does it", "/api/v1/sync"),
    "index.warm": ("— a command ends too soon for it", "— the first search does it", "— by itself"),
    "jobs.apply": ("jobs apply", ADMIN, f"{JOB}/apply"),
    "jobs.compact": ("compact", ADMIN, "/api/v1/jobs"),
    "jobs.damaged": ("jobs list", ADMIN, "/api/v1/jobs"),
    "jobs.decline": ("jobs decline", ADMIN, f"{JOB}/decline"),
    "jobs.diff": ("jobs diff", ADMIN, f"{JOB}/diff"),
    "jobs.dream": ("dream", "dream", "/api/v1/jobs"),
    "jobs.dream_status": ("dream status", "dream", "/api/v1/dream"),
    "jobs.experiences": ("experiences", "query_experiences", "/api/v1/experiences"),
    "jobs.explain": ("dream explain", ADMIN, "/api/v1/dream/explain"),
    "jobs.extract_experiences": ("experiences extract", ADMIN, "/api/v1/jobs"),
    "jobs.flush": ("flush", "— the prompt before_compaction has the agent do it", "/api/v1/flush"),
    "jobs.flush_prompt": (
        "flush --prompt",
        "— it is the prompt before_compaction",
        "— hosts have MCP for it",
    ),
    "jobs.approve": ("approve", ADMIN, ADMIN),
    "jobs.forget_channel": ("forget", ADMIN, ADMIN),
    "jobs.list": ("jobs list", ADMIN, "/api/v1/jobs"),
    "jobs.note_run": (
        "maintain",
        "— for a schedule, not for an agent",
        "— its own schedule does it",
    ),
    "jobs.query_experiences": ("experiences", "query_experiences", "/api/v1/experiences/query"),
    "jobs.relationships": ("relationships", "relationships", "/api/v1/relationships"),
    "jobs.scan": ("scan", ADMIN, "/api/v1/scan"),
    "jobs.scheduled": ("jobs list", ADMIN, "/api/v1/jobs"),
    "jobs.show": ("jobs show", ADMIN, JOB),
    "jobs.trim": ("trim", ADMIN, "/api/v1/jobs"),
    "jobs.unattended": (
        "maintain",
        "— for a schedule, not for an agent",
        "— its own schedule does it",
    ),
    "jobs.undo": ("jobs undo", ADMIN, f"{JOB}/undo"),
}
GROUPS = {"chats": Chats, "files": Files, "index": IndexCommands, "jobs": Jobs}
VALUES = {
    "root",
    "origins",
    "clock",
    "config",
    "profile",
    "store",
    "channel",
    *GROUPS,
}  # not abilities


def abilities(of: type) -> set[str]:
    return {name for name in dir(of) if not name.startswith("_")} - VALUES


def test_every_ability_has_its_places() -> None:
    grouped = {f"{group}.{name}" for group, of in GROUPS.items() for name in abilities(of)}
    assert abilities(Memory) | grouped == set(PLACES)


def commands() -> set[str]:
    """Every command, and every one with a word of its help behind it."""
    found = set(COMMANDS)
    for name in COMMANDS:
        command = find(name)
        help_text = command.get_help(click.Context(command))
        found |= {f"{name} {word}" for word in re.findall(r"[a-z]+|--[a-z-]+", help_text)}
    return found


def test_every_place_is_there(root: str) -> None:
    with Memory(root) as memory:
        routes = set(build_api(memory).openapi()["paths"])
    surfaces = (commands(), set(TOOLS), routes)
    for places in PLACES.values():
        for place, known in zip(places, surfaces, strict=True):
            assert place in known or (place.startswith("— ") and len(place) > 5), place


def test_every_ability_has_a_row_in_the_document() -> None:
    before, _, rest = DOCUMENT.read_text(encoding="utf-8").partition(START)
    assert before
    assert rest.partition(END)[0] == method_table(), (
        "to write it anew: python -m tests.contract.method_table"
    )


def by_command(root: str, question: str) -> Any:
    memolith = str(Path(sys.executable).with_name("memolith"))
    words = [memolith, "search", question, "--limit", "7", "--json", "--root", root]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def without_words(answer: Any) -> Any:
    """What a tool answers: the words of chats stand in the hits, and are not told twice to a model."""
    chats = [{**chat, "text": ""} for chat in answer["sessions"]]
    return {**answer, "sessions": chats}


def test_the_same_question_gives_the_same_answer_everywhere(root: str, clock: Clock) -> None:
    with Memory(root, clock=clock) as memory:
        for number in range(40):
            memory.remember(f"Shelf {number} holds the cups of guest {number % 9}")
        memory.save_note("Guests drink tea from blue cups", title="guests")
        for chat in ("kitchen", "42"):
            memory.chats.log("Which cups are for guests?", f"The blue ones, says {chat}", chat=chat)
    # Apart from the clock of the test, which a command does not have, all is as users have it.
    question = "which cups do guests drink from?"
    with Memory(root) as memory:
        result = memory.search(question, 7)
        wanted = json.loads(json.dumps(result.to_dict()))
        talk = Talk(MemoryServer(memory), "legacy")
        by_tool = talk("memory_search", query=question, maxResults=7).values
        with calling(memory) as client:
            by_route = client.post("/api/v1/search", json={"text": question, "limit": 7}).json()
            by_recall = client.post("/api/v1/recall", json={"question": question, "limit": 7})
    assert len(wanted["hits"]) == 7
    assert sorted(chat["chat"] for chat in wanted["sessions"]) == ["42", "kitchen"]
    assert {**by_tool, "notice": ""} == {**without_words(wanted), "notice": ""}
    assert by_route == by_recall.json() == wanted
    assert by_command(root, question) == wanted


def test_every_field_of_a_result_is_in_its_json(root: str) -> None:
    with Memory(root) as memory:
        memory.chats.log("Which cups are for guests?", "The blue ones")
        shown = memory.search("cups", explain=True).to_dict()
    # What `past` tells is told by each hit.
    assert {*shown, "past"} == {*SearchResult.__slots__, "weak"}
    assert set(shown["sessions"][0]) == set(SessionHit.__slots__)


def test_an_empty_question_has_no_hits_on_any_surface(
    root: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from memolith.cli.main import main

    with Memory(root) as memory:
        memory.remember("Tea at four")
        assert memory.search("").hits == ()
        assert Talk(MemoryServer(memory), "legacy")("memory_search", query="").values["hits"] == []
        with calling(memory) as client:
            assert client.post("/api/v1/search", json={"text": ""}).json()["hits"] == []
        assert main(["search", "", "--root", root, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["hits"] == []
