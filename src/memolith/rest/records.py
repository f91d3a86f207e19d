"""Routes for records and notes: write, list, supersede, forget."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Query

from memolith.mcp_server.json_shapes import forgotten_json, record_json
from memolith.rest.answers import V1, Answer
from memolith.rest.asking import TheMemory, secrets
from memolith.rest.requests import (
    NoteRequest,
    RecordQuery,
    RecordsQuery,
    RememberRequest,
    SupersedeRequest,
    UpdateRequest,
)
from memolith.rest.schemas import ForgottenAnswer, RecordAnswer, RecordsAnswer, WrittenAnswer
from memolith.types import Record

routes = APIRouter(prefix=V1, tags=["records"])

_THERE: Any = {200: {"model": WrittenAnswer, "description": "It was there already."}}


@routes.post("/records", response_model=WrittenAnswer, status_code=201, responses=_THERE)
def remember(body: RememberRequest, memory: TheMemory) -> Answer:
    """Write a record to MEMORY.md and today's log; when this answers, it is on the disk."""
    return _written(
        memory.via(kind=body.kind).remember(
            body.text,
            category=body.category,
            session=body.session,
            sensitivity=body.sensitivity,
            keywords=body.keywords,
            metadata=body.metadata,
            expires=body.expires,
            confidence=body.confidence,
            timestamp=body.timestamp,
        )
    )


@routes.post("/notes", response_model=WrittenAnswer, status_code=201, responses=_THERE)
def save_note(body: NoteRequest, memory: TheMemory) -> Answer:
    """Write a note: a record in a file of its own."""
    return _written(
        memory.via(kind=body.kind).save_note(
            body.text,
            category=body.category,
            title=body.title,
            session=body.session,
            sensitivity=body.sensitivity,
            keywords=body.keywords,
            metadata=body.metadata,
            confidence=body.confidence,
            timestamp=body.timestamp,
        )
    )


@routes.get("/records", response_model=RecordsAnswer)
def list_records(memory: TheMemory, query: Annotated[RecordsQuery, Query()]) -> Answer:
    """Records, the newest first, a page at a time."""
    found = memory.records(
        category=query.category,
        session=query.session,
        keyword=query.keyword,
        metadata=dict(pair.split("=", 1) for pair in query.meta),
        include_secret=secrets(memory, query.include_secret),
        include_past=query.include_past,
    )
    page = found[::-1][query.offset : query.offset + query.limit]
    shown = [record_json(record) for record in page]
    return Answer({"records": shown, "total": len(found), "warnings": found.warnings})


@routes.get("/records/{record_id}", response_model=RecordAnswer)
def get_record(record_id: str, memory: TheMemory, query: Annotated[RecordQuery, Query()]) -> Answer:
    """One record or note by its id, or the first characters of it."""
    include_secret = secrets(memory, query.include_secret)
    return Answer(record_json(memory.get_record(record_id, include_secret=include_secret)))


@routes.post(
    "/records/{record_id}/supersede",
    response_model=WrittenAnswer,
    status_code=201,
    responses=_THERE,
)
def supersede(record_id: str, body: SupersedeRequest, memory: TheMemory) -> Answer:
    """Write a newer record that takes the place of this one, which stays as history."""
    return _written(
        memory.via(kind=body.kind).supersede(record_id, body.text, sensitivity=body.sensitivity)
    )


@routes.patch("/records/{record_id}", response_model=WrittenAnswer)
def update(record_id: str, body: UpdateRequest, memory: TheMemory) -> Answer:
    """Change a record or note; a new text of a record is a new version, which supersedes this one."""
    record = memory.via(kind=body.kind).update(
        record_id,
        text=body.text,
        keywords=body.keywords,
        metadata=body.metadata,
        sensitivity=body.sensitivity,
    )
    if record.sensitivity == "secret":  # the caller did not ask to see it
        given = (body.text or "", tuple(body.keywords or ()), body.metadata or {})
        record = replace(record, text=given[0], keywords=given[1], metadata=given[2])
    return _written(record, 200)


@routes.delete("/records/{record_id}", response_model=ForgottenAnswer)
def forget(record_id: str, memory: TheMemory) -> Answer:
    """Remove a record from every file, archive, backup and the index. This cannot be undone."""
    report = memory.forget(record_id)
    return Answer(forgotten_json(report))


def _written(record: Record, status: int = 201) -> Answer:
    content = record_json(record)
    if record.supersedes and record.sensitivity == "secret":
        # Taken over from the secret record before it, which this caller did not ask to see.
        content |= {"keywords": [], "metadata": {}}
    answer = {"record": content, "reused": record.reused, "warnings": list(record.warnings)}
    return Answer(answer, 200 if record.reused else status)
