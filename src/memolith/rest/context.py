"""Routes for what an agent is handed: at the start of a session, before an answer, of a chat."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from memolith.mcp_server.json_shapes import context_json, recap_json, session_json
from memolith.rest.answers import V1, Answer
from memolith.rest.asking import TheMemory
from memolith.rest.requests import (
    ContextRequest,
    RecallRequest,
    RecapQuery,
    SessionQuery,
    UsedRequest,
)
from memolith.rest.schemas import (
    ContextAnswer,
    RecapAnswer,
    SearchAnswer,
    SessionAnswer,
    UsedAnswer,
)
from memolith.rest.searching import found

routes = APIRouter(prefix=V1, tags=["context"])


@routes.get("/session-start", response_model=SessionAnswer)
def session_start(memory: TheMemory, query: Annotated[SessionQuery, Query()]) -> Answer:
    """What a session starts with: the layers of memory in one fenced text."""
    context = memory.session_start(
        session=query.session,
        kind=query.kind,
        max_chars=query.max_chars,
        max_tokens=query.max_tokens,
        hook=query.hook,
    )
    return Answer(session_json(context))


@routes.post("/context", response_model=ContextAnswer)
def context(body: ContextRequest, memory: TheMemory) -> Answer:
    """What is worth knowing before a message is answered, as one fenced text, or nothing."""
    found = memory.context(
        body.message,
        session=body.session,
        kind=body.kind,
        chat=body.chat,
        known=body.known,
        max_tokens=body.max_tokens,
        limit=body.limit,
    )
    return Answer(context_json(found))


@routes.post("/recall", response_model=SearchAnswer)
def recall(body: RecallRequest, memory: TheMemory) -> Answer:
    """A search that answers a repeated question at once, as long as nothing was written."""
    return found(
        memory.recall(
            body.question,
            limit=body.limit,
            category=body.category,
            session=body.session,
            chat=body.chat,
            path=body.path,
        )
    )


@routes.get("/recap", response_model=RecapAnswer)
def recap(memory: TheMemory, query: Annotated[RecapQuery, Query()]) -> Answer:
    """The newest turns of a chat, or those about a question, in the order they were said."""
    return Answer(
        recap_json(
            memory.chats.recap(
                query.chat, about=query.about, limit=query.limit, max_chars=query.max_chars
            )
        )
    )


@routes.post("/used", response_model=UsedAnswer)
def used(body: UsedRequest, memory: TheMemory) -> Answer:
    """Say that a hit helped, by its citation or the id of its record; dreaming counts it."""
    return Answer({"noted": memory.used(body.citation_or_id)})
