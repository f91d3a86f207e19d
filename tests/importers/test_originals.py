"""ClawCode, OpenClaw, Clawless and DevClaw: every format of theirs arrives, once, with its dates."""

from __future__ import annotations

import base64
import json
import sqlite3
from pathlib import Path

from memolith.visibility import trust
from tests.importers.conftest import Importing, Source, files_of


def texts(importing: Importing) -> list[str]:
    return [record.text for record in importing.memory.records()]


# -- ClawCode


def test_a_clawcode_workspace(source: Source, importing: Importing) -> None:
    source.write(
        "memory/MEMORY.md",
        "# Memory\n\n*Curated.*\n\n## Pets\n- Cookie weighs 12 kg\n- Rex is\n  a dog\n\n## Work\nWe use PostgreSQL.\n",
    )
    source.write("memory/2026-04-12.md", "# 2026-04-12\n\nMet Eva about the pipeline.\n")
    recall = {"version": 1, "updatedAt": "2026-04-12T14:03:22.118Z", "entries": {}}
    source.write("memory/.dreams/short-term-recall.json", recall)
    source.write("memory/.dreams/phase-signals.json", {"memory:memory/2026-04-09.md:12:15": 2.7})
    source.write(
        "memory/.dreams/events.jsonl", [{"type": "session.end", "ts": "2026-04-12T14:03:22.118Z"}]
    )
    source.write("memory/crons.json", {"version": 1})
    source.write("DREAMS.md", "# Dreams\n\n## Deep Sleep — 2026-04-12 03:00:01\n")
    source.write(
        "agent-config.json",
        {
            "memory": {"citations": "off", "builtin": {"halfLifeDays": 7, "mmr": False}},
            "http": {"port": 1},
        },
    )
    report = importing.twice("clawcode", source.root)
    files = {path: data.decode() for path, data in files_of(importing.memory.root).items()}
    assert files["MEMORY.md"] == (source.root / "memory/MEMORY.md").read_text()
    assert files["memory/2026-04-12.md"] == (source.root / "memory/2026-04-12.md").read_text()
    assert json.loads(files["memory/.dreams/short-term-recall.json"]) == recall
    assert "Deep Sleep" in files["DREAMS.md"]
    config = importing.memory.config
    importing.memory.reconfigure()
    config = importing.memory.config
    assert (config.context.citations, config.search.half_life_days, config.search.diversify) == (
        "off",
        7.0,
        False,
    )
    assert report.skipped == {"setting without a counterpart here": 1}


def test_a_day_that_both_have_gets_what_is_missing(source: Source, importing: Importing) -> None:
    source.write("memory/2026-11-15.md", "Met Eva.\n\n```\nnot - a list\n\n```\n")
    importing.memory.remember("Ours of today")
    importing.twice("clawcode", source.root)
    log = Path(importing.memory.root, "memory/2026-11-15.md").read_text()
    assert "Ours of today" in log
    assert log.endswith("\nMet Eva.\n\n```\nnot - a list\n\n```\n")


def test_openclaw_brings_its_workspace_and_its_chats(source: Source, importing: Importing) -> None:
    source.write("workspace/MEMORY.md", "## Facts\n- The heron is grey\n")
    session = "0f6f0f0e-6d0b-4c1c-9f62-2a2f0e5d7a10"
    said = [
        {"type": "session", "id": session, "timestamp": "2026-05-01T10:00:00Z"},
        {
            "type": "message",
            "timestamp": "2026-05-01T10:00:01Z",
            "message": {"role": "user", "content": [{"type": "text", "text": "Hello heron"}]},
        },
        {
            "type": "message",
            "timestamp": "2026-05-01T10:00:05Z",
            "message": {"role": "assistant", "content": [{"type": "text", "text": "Hello"}]},
        },
    ]
    source.write(f"agents/main/sessions/{session}.jsonl", said)
    source.write("agents/main/sessions/in-a-group.jsonl", said)
    source.write(
        "agents/main/sessions/sessions.json",
        {
            "agent:main:whatsapp:group:7": {"sessionId": "in-a-group"},
            "agent:main:main": {"sessionId": session},
        },
    )
    importing.twice("openclaw", source.root)
    (stranger,) = importing.memory.chats.turns("in-a-group")
    assert trust(stranger.platform, importing.memory.config.trust.external) == "external"
    assert "heron is grey" in Path(importing.memory.root, "MEMORY.md").read_text()
    (turn,) = importing.memory.chats.turns(session)
    assert (turn.user, turn.assistant, turn.created.hour) == ("Hello heron", "Hello", 10)


def test_a_memory_that_both_have_gets_what_is_missing_below_its_headings(
    source: Source, importing: Importing
) -> None:
    memory = importing.memory
    memory.remember("Ours")
    file = Path(memory.root, "MEMORY.md")
    file.write_text(file.read_text() + "\n## Pets\n\n- Rex is a dog\n")
    text = "# Memory\n\n## Pets\n- Rex is a dog\n- Cookie weighs 12 kg\n\n## Work\nWe use PostgreSQL.\n"
    source.write("MEMORY.md", text)
    source.write("agent-config.json", {})
    importing.twice("clawcode", source.root)
    added = "\n## Pets\n\n- Cookie weighs 12 kg\n\n## Work\n\nWe use PostgreSQL.\n"
    assert file.read_text().endswith("- Rex is a dog\n" + added)
    source.write("MEMORY.md", text + "We use tabs.\n")
    importing.twice("clawcode", source.root)
    assert file.read_text().endswith(added + "\n## Work\n\nWe use tabs.\n")


# -- Clawless


def turn(day: int, user: str, **more: str) -> dict[str, str]:
    row = {
        "timestamp": f"2026-02-{day:02}T04:12:09.551Z",
        "chat_id": "123",
        "user_message": user,
        "bot_response": "Yes.",
        "platform": "telegram",
    }
    return row | more


def test_a_clawless_home(source: Source, importing: Importing) -> None:
    source.write(
        "MEMORY.md",
        "# Clawless Memory\n\nOne sentence.\n\n## Notes\n\n- The wifi is called heron-guest\n",
    )
    source.write(
        "conversation-history.jsonl",
        [
            turn(17, "When is the deadline?"),
            turn(18, "Who owns it? " + "x" * 3000),
            {"timestamp": 5},
        ],
    )
    with sqlite3.connect(source.root / "conversation-semantic-memory.db") as base:
        base.execute(
            "create table semantic_memory_entries(seq integer primary key, entry_id text unique, timestamp text, chat_id text, user_message text, bot_response text, platform text)"
        )
        for row in (turn(16, "Only in the database"), turn(17, "When is the deadline?")):
            base.execute(
                "insert into semantic_memory_entries values (null, ?, ?, ?, ?, ?, ?)",
                (row["timestamp"], *row.values()),
            )
    base.close()
    before = {file.name for file in source.root.iterdir()}
    source.write("config.json", {"conversationHistoryMaxEntries": 50})
    source.write(
        ".env",
        'TELEGRAM_TOKEN=123\nCONVERSATION_SEMANTIC_RECALL_ENABLED=false\nexport CONVERSATION_HISTORY_RECAP_TOP_K="5" # five\n',
    )
    report = importing.twice("clawless", source.root)
    memory = importing.memory
    turns = memory.chats.turns("123")
    assert [(one.created.day, one.user[:20], one.platform) for one in turns] == [
        (16, "Only in the database", "telegram"),
        (17, "When is the deadline", "telegram"),
        (18, "Who owns it? xxxxxxx", "telegram"),
    ]
    assert report.cut == 1
    assert report.skipped == {"line that is not a turn": 1}
    text = Path(memory.root, "MEMORY.md").read_text()
    assert text.endswith("\n## Notes\n\n- The wifi is called heron-guest\n")
    assert set(report.settings) == {
        "chat.max_entries = 50",
        "chat.recall = false",
        "chat.recap_top_k = 5",
    }
    assert {file.name for file in source.root.iterdir()} == before | {"config.json", ".env"}


def test_a_turn_that_was_logged_when_it_was_said_is_not_imported_again(
    source: Source, importing: Importing
) -> None:
    importing.memory.chats.log("When is the deadline?", "Yes.", chat="123", platform="telegram")
    source.write(
        "conversation-history.jsonl", [turn(17, "When is the deadline?"), turn(18, "And now?")]
    )
    report = importing.twice("clawless", source.root)
    assert (report.counts["turns"].added, report.counts["turns"].known) == (1, 1)


def test_what_was_said_twice_is_there_twice(source: Source, importing: Importing) -> None:
    importing.memory.chats.log("Yes", "Done.", chat="123", platform="telegram")
    source.write("conversation-history.jsonl", [turn(day, "Yes") for day in (17, 18, 19)])
    report = importing.twice("clawless", source.root)
    assert (report.counts["turns"].added, report.counts["turns"].known) == (2, 1)


def test_a_chat_with_more_turns_than_are_kept_is_reported(
    source: Source, importing: Importing
) -> None:
    source.write(
        "conversation-history.jsonl",
        [turn(1 + number % 28, f"Question {number}") for number in range(150)],
    )
    report = importing.twice("clawless", source.root)
    assert report.counts["turns"].added == 150
    assert any("chat.max_entries 150" in warning for warning in report.warnings)


# -- DevClaw


def test_a_devclaw_folder_as_specified(source: Source, importing: Importing) -> None:
    source.write(
        "data/memory/fact/2026-02-20-api.md",
        "---\ncategory: fact\ncreated_at: 2026-02-20T10:30:00Z\nkeywords: [api, jwt]\n---\n\nThe API uses JWT.\n",
    )
    with sqlite3.connect(source.root / "data/memory.db") as base:
        base.execute(
            "create table memories(id integer primary key, category text, content text, keywords text, embedding blob, created_at text, metadata text)"
        )
        for category, text, keywords in (
            ("fact", "The API uses JWT.", "[]"),
            ("event", "Deployed v2", '["deploy"]'),
        ):
            base.execute(
                "insert into memories values (null, ?, ?, ?, ?, '2026-02-21 11:00:00', '{\"by\": \"ci\"}')",
                (category, text, keywords, b"\0" * 8),
            )
    base.close()
    source.write(
        "config.yaml",
        "memory:\n  enabled: true\n  max_results: 12\n  cache_ttl: 45s\ntoken_budget:\n  memory: 1500\napi_key: x\n",
    )
    report = importing.twice("devclaw", source.root)
    note, event = sorted(importing.memory.records(), key=lambda record: record.created)
    assert (note.category, note.text, note.keywords) == (
        "fact",
        "The API uses JWT.",
        ("api", "jwt"),
    )
    assert note.created.isoformat() == "2026-02-20T10:30:00+00:00"
    assert note.citation is not None
    assert note.citation.path.startswith("memory/fact/2026-02-20-")
    assert (event.category, event.keywords, event.metadata, event.created.day) == (
        "event",
        ("deploy",),
        {"by": "ci"},
        21,
    )
    assert set(report.settings) == {
        "context.max_results = 12",
        "context.cache_seconds = 45",
        "context.turn_tokens = 1500",
    }


def test_a_devclaw_memory_as_its_code_writes_it(source: Source, importing: Importing) -> None:
    meta = base64.b64encode(json.dumps({"i": 0.9, "p": True}).encode()).decode()
    source.write(
        "MEMORY.md",
        "# DevClaw Memory\n\nLong-term facts and preferences.\n\n- [2026-02-20 10:30] [fact] The API uses JWT\n"
        f"- [2026-02-20 10:31] [event] [expires:2030-02-27] Deployed v2.1\n- [2026-06-16 09:00] [fact] [meta:{meta}] Locator WGADGP\n"
        "- [stale] [2026-03-01 08:00] [fact] Server is down\n- a line of my own\n",
    )
    source.write("2026-02-20.md", "# Daily Log – 2026-02-20\n\n## 10:30\n\nTalked.\n")
    source.write("pre-compact-main-20260220-103000.md", "- [decision] (!!!!) Ship it\n")
    importing.twice("devclaw", source.root)
    assert texts(importing) == ["The API uses JWT", "Deployed v2.1", "Locator WGADGP"]
    first, second, third = importing.memory.records()
    assert (first.created.isoformat(), second.expires and second.expires.year) == (
        "2026-02-20T10:30:00+00:00",
        2030,
    )
    assert third.metadata == {"importance": 0.9, "pinned": True}
    files = {path: data.decode() for path, data in files_of(importing.memory.root).items()}
    assert "Server is down" in files[".memolith/archive/MEMORY-archive.md"]
    assert "\n- a line of my own\n" in files["MEMORY.md"]
    assert "Talked." in files["memory/2026-02-20.md"]
    assert "Ship it" in files["memory/pre-compact-main-20260220-103000.md"]
