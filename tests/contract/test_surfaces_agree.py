"""Every ability of `Memory` is on every surface, or there is a reason."""

from __future__ import annotations

import json
import re

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
    **dict.fromkeys(
        ("chats.add_items", "chats.clear", "chats.items", "chats.pop"),
        ("— for agent frameworks, see adapters",) * 3,
    ),
    **dict.fromkeys(
        (
            "files.delete_notes",
            "files.notes",
            "files.read_note",
            "files.rename_notes",
            "files.write_note",
        ),
        (
            "— files are on the disk",
            "— for agent frameworks, see adapters",
            "— for agent frameworks",
        ),
    ),
    "index.migrate": ("migrate", ADMIN, "— for who runs the server, on the command line"),
    "chats.log": ("log", "— a host logs turns, not its model", "/api/v1/turns"),
    "chats.recap": ("recap", "— part of what a host injects", "/api/v1/recap"),
    "chats.turns": ("log", "memory_search", "/api/v1/turns"),
    "files.backups": ("restore", ADMIN, "/api/v1/backups"),
    "files.day": ("— the page and GET /days/{day}", ADMIN, "/api/v1/days/{day}"),
    "files.days": ("— the page and GET /days", ADMIN, "/api/v1/days"),
    "files.diff": ("— the page and GET /backups/{name}/diff", ADMIN, "/api/v1/backups/{name}/diff"),
    "files.tree": ("— files are on the disk", "— files are resources", "/api/v1/files"),
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
    "jobs.query_experiences": ("experiences", "query_experiences", "/api/v1/experiences/query"),
    "jobs.receipts": ("receipts", ADMIN, "/api/v1/receipts"),
    "jobs.relationships": ("relationships", "relationships", "/api/v1/relationships"),
    "jobs.scan": ("scan", ADMIN, "/api/v1/scan"),
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
