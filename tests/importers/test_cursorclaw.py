"""A CursorClaw profile: records keep id, date and channel; logs, archive, summaries, experiences, settings."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

from memolith import Memory
from tests.importers.conftest import Importing, Source, files_of

HEADER = (
    "# MEMORY.md — Long-term memory\n\nThis file stores curated memories: decisions.\n\n"
    "**Format:** Append-only.\n\n**Daily logs:** the same lines.\n\n---\n\n"
)


def line(
    name: str, text: str, day: str = "2026-02-16", category: str = "note", channel: str = "dm:7"
) -> str:
    where = {
        "sourceChannel": channel,
        "confidence": 0.8,
        "timestamp": f"{day}T09:12:44.031Z",
        "sensitivity": "operational",
    }
    return (
        "- "
        + json.dumps(
            {
                "id": name,
                "sessionId": "main",
                "category": category,
                "text": text,
                "provenance": where,
            }
        )
        + "\n"
    )


def fill(source: Source) -> None:
    source.write(
        "MEMORY.md",
        HEADER
        + line("a", "The gateway binds to 127.0.0.1")
        + "\nA remark of mine.\n\n"
        + line("b", "Use tabs"),
    )
    source.write(
        "memory/2026-02-16.md",
        line("a", "The gateway binds to 127.0.0.1")
        + line("b", "Use tabs")
        + line("c", "Trimmed long ago"),
    )
    source.write("memory/2026-02-17.md", "## Morning\n\n- met Eva\n- she likes tea\n")
    source.write(
        "memory/MEMORY-archive.md", line("d", "The quokka census", "2025-03-01", "turn-summary")
    )
    source.write(
        "LONGMEMORY.md",
        "# LONGMEMORY.md — Long-term summaries\n\n\n## Summary (2026-02-16)\n\nDiscussed the gateway.\n",
    )
    source.write("USER.md", "# USER\n\n- Name: Olga\n")
    source.write("SOUL.md", "# Be kind")
    experience = {
        "id": "exp_1_x",
        "text": "A rollback took four hours",
        "category": "learned",
        "sessionId": "main",
        "recordId": "a",
        "timestamp": "2026-02-16T10:00:00Z",
        "vector": [0.1] * 128,
    }
    source.write("tmp/experience-store.json", {"version": 1, "experiences": [experience]})
    source.write(
        "openclaw.json",
        {
            "continuity": {
                "memoryMaxRecords": 500,
                "memoryCompactionEnabled": True,
                "sessionMemoryCap": 32000,
                "includeRecentTopics": True,
            }
        },
    )


def test_everything_of_a_profile_arrives_once(source: Source, importing: Importing) -> None:
    fill(source)
    report = importing.twice("cursorclaw", source.root)
    memory = importing.memory
    found = {record.id: record for record in memory.records()}
    assert set(found) == {"a", "b"}
    assert found["a"].provenance.channel == "dm:7"
    assert found["a"].created.isoformat() == "2026-02-16T09:12:44.031000+00:00"
    files = {path: data.decode() for path, data in files_of(memory.root).items()}
    assert files["memory/2026-02-16.md"].count('"id":"a"') == 1
    assert '"id":"c"' in files["memory/2026-02-16.md"]
    assert '"id":"c"' not in files["MEMORY.md"]
    assert "A remark of mine." in files["MEMORY.md"]
    assert "curated memories" not in files["MEMORY.md"]
    assert "Append-only" not in files["MEMORY.md"]
    assert files["memory/2026-02-17.md"] == "## Morning\n\n- met Eva\n- she likes tea\n"
    assert "quokka" in files[".memolith/archive/MEMORY-archive.md"]
    assert files["LONGMEMORY.md"] == (source.root / "LONGMEMORY.md").read_text()
    assert "Olga" in files["USER.md"]
    assert '"source":"a"' in files["memory/experiences.md"]
    assert report.settings == ["trim.max_records = 500", "compact.enabled = true"]
    assert report.skipped == {"setting without a counterpart here": 1}


def test_text_in_the_header_is_kept(source: Source, importing: Importing) -> None:
    title, rest = HEADER.split("\n", 1)
    header = f"{title}\n\nSome hand text at the top.\n{rest}"
    source.write("MEMORY.md", header.replace("\n---", "\nAbove the rule.\n---") + line("a", "One"))
    importing.twice("cursorclaw", source.root)
    text = Path(importing.memory.root, "MEMORY.md").read_text()
    assert "Some hand text at the top.\n" in text
    assert "Above the rule.\n" in text
    assert "curated memories" not in text


def test_a_dry_run_counts_the_same_and_writes_nothing(source: Source, importing: Importing) -> None:
    fill(source)
    planned = importing("cursorclaw", source.root, dry_run=True)
    assert not Path(importing.memory.root).exists()
    assert importing("cursorclaw", source.root).counts == planned.counts


def test_what_is_added_to_the_source_later_comes_alone(
    source: Source, importing: Importing
) -> None:
    fill(source)
    importing("cursorclaw", source.root)
    with (source.root / "MEMORY.md").open("a") as file:
        file.write(line("e", "The heron moved") + "\nAnother remark.\n")
    report = importing("cursorclaw", source.root)
    assert (report.counts["records"].added, report.counts["files"].added) == (1, 1)


def test_what_the_user_had_forgotten_or_deleted_does_not_come_back(
    source: Source, importing: Importing
) -> None:
    fill(source)
    importing("cursorclaw", source.root)
    memory = importing.memory
    memory.forget("a")
    log = Path(memory.root, "memory/2026-02-17.md")
    log.write_text("")
    Path(memory.root, ".memolith/imports.jsonl").rename(Path(memory.root, "elsewhere"))
    report = importing("cursorclaw", source.root)
    assert report.skipped["you had it forgotten"] == 2  # in both its files
    Path(memory.root, "elsewhere").rename(Path(memory.root, ".memolith/imports.jsonl"))
    log.write_text("")
    importing("cursorclaw", source.root)
    assert log.read_text() == ""
    assert "a" not in {record.id for record in memory.records()}


def test_an_own_setting_is_kept_and_a_key_makes_a_record_secret(
    source: Source, importing: Importing
) -> None:
    fill(source)
    source.write(
        "MEMORY.md",
        line("k", "Our token is ghp_" + "a1B2c3D4e5" * 4) + '- {"id": "x", "text": broken\n',
    )
    memory = importing.memory
    memory.init()
    Path(memory.root, "memolith.toml").write_text("[trim]\nmax_records = 9\n")
    memory.reconfigure()
    report = importing("cursorclaw", source.root)
    assert report.marked_secret == 1
    assert [
        record.sensitivity for record in memory.records(include_secret=True) if record.id == "k"
    ] == ["secret"]
    assert memory.config.trim.max_records == 9
    assert report.skipped["setting that you have chosen here yourself"] == 1
    assert report.skipped["damaged line (not JSON)"] == 1
    assert report.skipped_first == {"damaged line (not JSON)": "MEMORY.md line 2"}


def test_a_killed_import_goes_on_and_writes_nothing_twice(source: Source, root: str) -> None:
    source.write(
        "MEMORY.md",
        "".join(
            line(f"r-{number}", f"Fact {number} about thing {number * 7}") for number in range(4000)
        ),
    )
    command = [
        sys.executable,
        "-m",
        "memolith",
        "--root",
        root,
        "import",
        "cursorclaw",
        str(source.root),
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    history = Path(root, "MEMORY.md")
    while process.poll() is None and not (history.exists() and history.stat().st_size > 100_000):
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.wait()
    left = history.read_text().count('"id":"r-')
    assert 0 < left < 4000, "it was killed too early or too late to show anything"
    subprocess.run(command, check=True, capture_output=True)
    with Memory(root) as memory:
        assert sorted(record.id for record in memory.records()) == sorted(
            f"r-{number}" for number in range(4000)
        )
        assert Path(root, "memory/2026-02-16.md").read_text().count('"id":"r-') == 4000
