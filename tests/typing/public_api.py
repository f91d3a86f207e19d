"""What users may write. Nothing here is run: mypy has to accept it, and to know every type."""

from __future__ import annotations

from typing import assert_type

from memolith import AsyncMemory, Citation, Memory, Passage, Record, Sensitivity, Turn
from memolith.jobs.reports import DoctorReport, ForgetReport, JobReport, RestoreReport, Status
from memolith.reports import Backup
from memolith.types import Records


def use_memory() -> None:
    with Memory("notes", profile=None, settings={"trim.max_records": 500}) as memory:
        record = memory.remember(
            "Ana owns the release key",
            category="fact",
            session="main",
            sensitivity="private-user",
            keywords=["release"],
            metadata={"source": "chat"},
        )
        assert_type(record, Record)
        assert_type(record.citation, Citation | None)
        assert_type(record.sensitivity, Sensitivity)
        assert_type(memory.save_note("Releases happen on Tuesdays", title="Release days"), Record)
        assert_type(memory.records(category="fact", include_past=True), Records)
        assert_type(memory.records(session="main", include_secret=True), Records)
        assert_type(memory.records(limit=5, offset=5), Records)
        assert_type(memory.get("MEMORY.md", 1, 20), Passage)
        assert_type(memory.supersede(record.id, "Ben owns the release key"), Record)
        assert_type(memory.forget(record.id), ForgetReport)
        assert_type(memory.chats.log("Who releases?", "Ana.", chat="main"), Turn | None)
        assert_type(memory.chats.turns("main"), tuple[Turn, ...])
        assert_type(memory.jobs.trim(), JobReport)
        assert_type(memory.files.backups(), tuple[Backup, ...])
        assert_type(memory.files.restore("20261115"), RestoreReport)
        assert_type(memory.status(), Status)
        assert_type(memory.doctor(), DoctorReport)
        memory.remember("x", sensitivity="hidden")  # type: ignore[arg-type]


async def use_async_memory() -> None:
    async with AsyncMemory(Memory("notes")) as memory:
        record = await memory.remember("Ana owns the release key", category="fact")
        assert_type(record, Record)
        assert_type(await memory.get("MEMORY.md", 1, 20), Passage)
        assert_type(await memory.records(limit=5), Records)
        await memory.remember("x", kategory="fact")  # type: ignore[call-arg]
