"""The MCP memory server, mem0, and folders of Markdown that stay where they are."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

from memolith import Memory
from memolith.importers.run import detect
from tests.importers.conftest import Importing, Source


def test_the_graph_of_the_mcp_memory_server(source: Source, importing: Importing) -> None:
    lines = [
        {
            "type": "entity",
            "name": "Ana",
            "entityType": "person",
            "observations": ["owns the key", "likes tea"],
        },
        {"type": "relation", "from": "Ana", "to": "Acme", "relationType": "works_at"},
        {"type": "other"},
    ]
    path = source.write("memory.jsonl", lines)
    assert detect(str(path)) == "mcp-memory"
    report = importing.twice("mcp-memory", path)
    records = importing.memory.records()
    assert [record.text for record in records] == [
        "Ana: owns the key",
        "Ana: likes tea",
        "Ana works at Acme",
    ]
    assert records[0].keywords == ("Ana",)
    assert records[0].provenance.channel == "mcp-memory"
    assert report.skipped == {"neither an entity nor a relation": 1}
    importing.twice(
        "mcp-memory", source.write("graph.json", {"entities": lines[:1], "relations": lines[1:2]})
    )
    assert len(importing.memory.records()) == 3


def test_an_export_of_mem0(source: Source, importing: Importing) -> None:
    results = [
        {
            "id": "m-1",
            "memory": "Likes herons",
            "user_id": "ana",
            "created_at": "2025-07-01T10:00:00-07:00",
            "metadata": {"app": "x"},
            "categories": ["birds"],
        },
        {"id": "m-2", "memory": " "},
    ]
    importing.twice("mem0", source.write("export.json", {"results": results}))
    (record,) = importing.memory.records()
    assert (record.id, record.text, record.created.isoformat()) == (
        "m-1",
        "Likes herons",
        "2025-07-01T17:00:00+00:00",
    )
    assert (record.metadata, record.keywords) == ({"app": "x", "user_id": "ana"}, ("birds",))


def test_the_history_of_mem0_says_what_holds_now(source: Source, importing: Importing) -> None:
    with sqlite3.connect(source.root / "history.db") as base:
        base.execute(
            "create table history(id text, memory_id text, old_memory text, new_memory text, event text, created_at text, updated_at text, is_deleted int)"
        )
        for row in (
            ("a", "m-1", None, "Lives in Kiel", "ADD", "2025-01-01"),
            ("b", "m-1", "x", "Lives in Bremen", "UPDATE", None),
            ("c", "m-2", None, "Gone", "ADD", "2025-01-02"),
            ("d", "m-2", "Gone", None, "DELETE", None),
        ):
            base.execute("insert into history values (?, ?, ?, ?, ?, ?, null, 0)", row)
    base.close()
    report = importing.twice("mem0", source.root)
    (record,) = importing.memory.records()
    assert (record.text, record.created.day) == ("Lives in Bremen", 1)
    assert report.skipped == {"deleted in mem0": 1}


def test_a_vault_is_searched_where_it_is(source: Source, importing: Importing) -> None:
    source.write(".obsidian/app.json", {})
    source.write(
        "birds/heron.md",
        "---\ntags: [birds]\ncreated: 2025-03-01\n---\n\nThe heron stands on one leg.\n",
    )
    assert detect(str(source.root)) == "obsidian"
    memory = importing.memory
    memory.remember("something of ours")
    with Memory(memory.root, settings={}) as opened:
        importing = Importing(opened)
        report = importing.twice("obsidian", source.root)
        opened.reconfigure()
        assert report.settings == [f"index.extra_paths = {json.dumps([str(source.root)])}"]
        other = Source(Path(source.root.parent, "more"))
        importing.twice("markdown", other.root)
        assert opened.config.index.extra_paths == (str(source.root), str(other.root))
        assert "one leg" in opened.search("on how many legs does a heron stand").hits[0].text


def test_a_packed_vault_is_not_searched(source: Source, importing: Importing) -> None:
    source.write(".obsidian/app.json", {})
    packed = shutil.make_archive(str(source.root.parent / "vault"), "zip", source.root)
    report = importing("obsidian", packed)
    assert (report.settings, next(iter(report.skipped))[:10]) == ([], "no folder:")


def test_front_matter_of_a_vault_is_used_and_not_shown(
    source: Source, importing: Importing
) -> None:
    source.write(
        "heron.md",
        "---\ntitle: Grey one\ndate: 2025-03-04\ntags: [wading, fisher]\n---\nThe heron stands still.\n",
    )
    source.write("rules.md", "---\nThe stork: it clatters\n- loudly\n---\n\nThe crane dances.\n")
    importing("markdown", source.root)
    memory = importing.memory
    memory.reconfigure()
    (hit, *_) = memory.search("fisher").hits
    assert (hit.text, str(hit.dated)) == ("The heron stands still.", "2025-03-04")
    assert "stork" in memory.search("stork clatters").hits[0].text  # text between two rules
    shown = memory.context("What do we know of the wading heron, the grey fisher?").text
    assert "stands still" in shown
    assert "tags:" not in shown
