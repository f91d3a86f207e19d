"""`POST /api/memory/semantic-recall`: turns of a chat that answer a question, as Clawless had it."""

from __future__ import annotations

from fastapi import APIRouter, Request

from memolith.mcp_server.json_shapes import Json
from memolith.memory import Memory
from memolith.rest.answers import ERRORS, RECALL_PATH, Answer, RequestError
from memolith.rest.asking import JsonBody, TheMemory
from memolith.rest.original_schemas import RecallAnswer, RecallFailure
from memolith.rest.requests import LONGEST_QUESTION
from memolith.results import WEAK, Recap, Turn
from memolith.types import iso

routes = APIRouter(tags=["chats"])

_MOST = 100
_MOST_KEYWORDS = 24
_SHORTEST_KEYWORD = 2
_NOTHING = "No matching conversation history."
_NO_ROOM = "No entry fits into chat.max_total_chars."
_BODY = {
    "type": "object",
    "required": ["input"],
    "properties": {
        "input": {
            "description": "A question, or single words; words of one letter are passed over.",
            "anyOf": [
                {"type": "string", "minLength": 1, "maxLength": LONGEST_QUESTION},
                {"type": "array", "minItems": 1, "items": {"type": "string"}},
            ],
        },
        "chatId": {
            "description": "Without it, the chat that was written last.",
            "type": ["string", "null"],
        },
        "topK": {"type": ["integer", "null"], "minimum": 1, "maximum": _MOST},
    },
}


@routes.post(
    RECALL_PATH,
    response_model=RecallAnswer,
    responses={status: {"model": RecallFailure} for status in ERRORS},
    openapi_extra={
        "requestBody": {"required": True, "content": {"application/json": {"schema": _BODY}}},
        "parameters": [
            {"name": "chatId", "in": "query", "required": False, "schema": {"type": "string"}},
            {
                "name": "topK",
                "in": "query",
                "required": False,
                "schema": {"type": "integer", "minimum": 1, "maximum": _MOST},
            },
        ],
    },
)
def semantic_recall(body: JsonBody, request: Request, memory: TheMemory) -> Answer:
    """The turns of a chat that answer a question, in the order in which they were said."""
    if not memory.config.chat.enabled:
        raise RequestError(503, "disabled", "Conversation history is switched off.")
    content = body if isinstance(body, dict) else {}
    question = _question(content.get("input"))
    # Both are checked, and what the body says counts more.
    counts = [
        _count(one)
        for one in (_number(content.get("topK")), request.query_params.get("topK"))
        if one is not None
    ]
    top_k = counts[0] if counts else memory.config.chat.recap_top_k
    chat = _chat(memory, content.get("chatId"), request.query_params.get("chatId"))
    # The entries name the platform; the text is as callers of the original know it.
    recap = memory.chats.recap(chat, about=question, limit=top_k, sources=False)
    entries = [_entry(turn) for turn in recap.found]
    wrong = [warning for warning in recap.warnings if warning != WEAK]
    answer: Json = {
        "ok": True,
        "chatId": chat,
        "topK": top_k,
        "count": len(entries),
        "recap": recap.text or f"({_why_empty(recap, wrong)})",
        "entries": entries,
    }
    # The original has no such key: it is there only when something is wrong.
    return Answer({**answer, "warnings": wrong} if wrong else answer)


def _why_empty(recap: Recap, wrong: list[str]) -> str:
    if wrong:
        return " ".join(wrong)
    return _NO_ROOM if recap.found else _NOTHING


def _question(given: object) -> str:
    if isinstance(given, list):
        if not all(isinstance(word, str) for word in given):
            raise RequestError(400, "request", "The words of the input must be texts.")
        words = [word.strip() for word in given]
        given = " ".join(
            [word for word in words if len(word) >= _SHORTEST_KEYWORD][:_MOST_KEYWORDS]
        )
    if not isinstance(given, str) or not given.strip():
        raise RequestError(
            400, "request", "The input is missing: a question, or an array of words."
        )
    if len(given) > LONGEST_QUESTION:
        raise RequestError(
            400, "request", f"The input is longer than {LONGEST_QUESTION} characters."
        )
    return given


def _number(given: object) -> object:
    """A count of the body, where text is no number; in an address everything is text."""
    return "" if isinstance(given, str) else given


def _count(given: object) -> int:
    if isinstance(given, float) and given.is_integer():
        given = int(given)
    text = "" if isinstance(given, bool) else str(given)
    if text.isascii() and text.isdecimal() and len(text) < 9 and 1 <= int(text) <= _MOST:
        return int(text)
    raise RequestError(400, "request", f"topK must be a whole number from 1 to {_MOST}.")


def _chat(memory: Memory, *given: object) -> str:
    """The first that is named; without any, the chat that was written last."""
    for chat in given:
        if chat is not None and not isinstance(chat, str):
            raise RequestError(400, "request", "chatId must be text.")
        if chat and chat.strip():
            return chat
    turns = memory.chats.turns()
    if not turns:
        raise RequestError(400, "request", "There is no chatId, and no chat to take instead.")
    return turns[-1].chat


def _entry(turn: Turn) -> Json:
    return {
        "timestamp": iso(turn.created),
        "chatId": turn.chat,
        "userMessage": turn.user,
        "botResponse": turn.assistant,
        "platform": turn.platform,
    }
