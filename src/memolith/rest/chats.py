"""Routes for the turns of chats."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from memolith.mcp_server.json_shapes import turn_json
from memolith.rest.answers import V1, Answer
from memolith.rest.asking import TheMemory
from memolith.rest.requests import TurnRequest, TurnsQuery
from memolith.rest.schemas import LoggedAnswer, TurnsAnswer

routes = APIRouter(prefix=V1, tags=["chats"])


@routes.post("/turns", response_model=LoggedAnswer, status_code=201)
def log_turn(body: TurnRequest, memory: TheMemory) -> Answer:
    """Append one exchange of a chat to the conversation history."""
    turn = memory.via(kind=body.kind).chats.log(
        body.user, body.assistant, chat=body.chat, platform=body.platform, said=body.said
    )
    return Answer({"turn": turn and turn_json(turn)}, 201)


@routes.get("/turns", response_model=TurnsAnswer)
def turns(memory: TheMemory, query: Annotated[TurnsQuery, Query()]) -> Answer:
    """The newest turns of a chat, or of all."""
    found = memory.chats.turns(query.chat)
    shown = [turn_json(turn) for turn in found[max(0, len(found) - query.limit) :]]
    return Answer({"turns": shown, "total": len(found)})
