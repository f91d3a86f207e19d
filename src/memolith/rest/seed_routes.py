"""Two routes that are older than Memolith, in the names and envelopes that their callers know.

`POST /api/memory/semantic-recall` is Clawless's, `POST /rpc` that of CursorClaw's gateway.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError, validate_call

from memolith.errors import MemolithError
from memolith.memory import Memory
from memolith.rest.answers import (
    ERRORS,
    RECALL_PATH,
    RPC_PATH,
    Json,
    RequestError,
    error_answer,
    in_words,
    rpc_answer,
)
from memolith.rest.routes import TheMemory, check_secrets
from memolith.results import WEAK, Recap, Turn
from memolith.types import iso

router = APIRouter()

_MAX_INPUT_CHARS = 8192
_MAX_KEYWORDS = 24


class RecallEntry(BaseModel):
    """A turn, in the names of the original."""

    timestamp: str
    chatId: str  # noqa: N815 - the name on the wire
    userMessage: str  # noqa: N815 - the name on the wire
    botResponse: str  # noqa: N815 - the name on the wire
    platform: str


class RecallAnswer(BaseModel):
    """The turns that answer, and a text made of them."""

    ok: Literal[True]
    chatId: str  # noqa: N815 - the name on the wire
    topK: int  # noqa: N815 - the name on the wire
    count: int
    recap: str
    entries: list[RecallEntry]
    warnings: list[str] = []  # not in the original: only where the search did not come to its end


class RecallFailure(BaseModel):
    """Why nothing was recalled."""

    ok: Literal[False]
    error: str


Count = Annotated[int, Field(ge=1, le=100)]


class RecallBody(BaseModel):
    """A question, or single words; without a chat, the one that was written last."""

    model_config = ConfigDict(strict=True)

    input: (
        Annotated[str, Field(min_length=1, max_length=_MAX_INPUT_CHARS)]
        | Annotated[list[str], Field(min_length=1)]
    )
    chatId: str | int | None = None  # noqa: N815 - the name on the wire
    topK: Count | None = None  # noqa: N815


@router.post(
    RECALL_PATH,
    tags=["chats"],
    response_model=RecallAnswer,
    response_model_exclude_unset=True,
    responses={status: {"model": RecallFailure} for status in ERRORS},
)
def semantic_recall(
    body: RecallBody,
    memory: TheMemory,
    chatId: str | None = None,  # noqa: N803 - the name on the wire
    topK: Count | None = None,  # noqa: N803
) -> Json:
    """The turns of a chat that answer a question, in the order in which they were said."""
    if not memory.config.chat.enabled:
        raise RequestError(503, "disabled", "Conversation history is switched off.")
    question = _question(body.input)
    named = (str(chat) for chat in (body.chatId, chatId) if chat is not None)
    chat = next((chat for chat in named if chat.strip()), "") or _last_chat(memory)
    limit = body.topK or topK or memory.config.chat.recap_top_k
    # The entries name the platform; the text is as callers of the original know it.
    recap = memory.chats.recap(chat, about=question, limit=limit, sources=False)
    wrong = [warning for warning in recap.warnings if warning != WEAK]
    return {
        "ok": True,
        "chatId": chat,
        "topK": limit,
        "count": len(recap.found),
        "recap": recap.text or f"({_why_empty(recap, wrong)})",
        "entries": [_entry(turn) for turn in recap.found],
        **({"warnings": wrong} if wrong else {}),
    }


def _why_empty(recap: Recap, wrong: list[str]) -> str:
    nothing = "No matching conversation history."
    no_room = "No entry fits into chat.max_total_chars."
    return " ".join(wrong) or (no_room if recap.found else nothing)


def _question(given: str | list[str]) -> str:
    """The question; of single words those of more than one letter."""
    if isinstance(given, list):
        words = [word.strip() for word in given]
        given = " ".join([word for word in words if len(word) > 1][:_MAX_KEYWORDS])
    if not given.strip():
        raise RequestError(
            400, "request", "The input has no words: give a question, or a list of words."
        )
    return given[:_MAX_INPUT_CHARS]


def _last_chat(memory: Memory) -> str:
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


class RpcRequest(BaseModel):
    """The envelope of a call."""

    model_config = ConfigDict(strict=True)

    id: str | int | None = None
    version: str | int
    method: str
    params: dict[str, object] = Field(default_factory=dict)


class RpcAnswer(BaseModel):
    """What came of a call: a result, or an error with its code, message and hint; of a conflict, both versions."""

    id: str | int | None = None
    auditId: str  # noqa: N815 - the name on the wire
    ok: bool
    result: dict[str, object] | None = None
    error: dict[str, str] | None = None


@router.post(
    RPC_PATH,
    tags=["rpc"],
    response_model=RpcAnswer,
    response_model_exclude_unset=True,
    responses={status: {"model": RpcAnswer} for status in ERRORS},
)
def rpc(body: RpcRequest, memory: TheMemory) -> Json | Response:
    """Call a method: `memory.listLogs`, `memory.getFile` or `memory.writeFile`."""
    try:
        return rpc_answer(body.id, ok=True, result=_call(memory, body))
    except MemolithError as error:
        return error_answer(error, RPC_PATH, memory.root, sent=body.model_dump())


def _call(memory: Memory, request: RpcRequest) -> Json:
    method, params = _METHODS.get(request.method), dict(request.params)
    if method is None:
        hint = f"Use {', '.join(_METHODS)}."
        raise RequestError(404, "method-not-found", "There is no such method.", hint)
    # A server has one profile; a call that means another must not touch this one.
    if params.pop("profileId", None) not in (None, memory.profile.name):
        hint = "Leave profileId out."
        raise RequestError(404, "profile", "This server serves another profile.", hint)
    try:
        return method(memory, **params)
    except ValidationError as error:
        raise RequestError(400, "request", in_words(error.errors())) from None


_checked = validate_call(config=ConfigDict(strict=True, arbitrary_types_allowed=True))


@_checked
def _list_logs(memory: Memory) -> Json:
    files = [{"name": path.rpartition("/")[2], "path": path} for path in memory.files.list()]
    return {"files": files}


@_checked
def _get_file(memory: Memory, path: str, includeSecret: bool = False) -> Json:  # noqa: N803
    include_secret = check_secrets(memory, includeSecret)
    return memory.files.read(path, include_secret=include_secret).to_dict()


@_checked
def _write_file(memory: Memory, path: str, content: str, version: str = "") -> Json:
    """`version` is that of the file that was read."""
    report = memory.files.write(path, content, version)
    result: Json = {"ok": True, "version": report.version, "backup": report.backup}
    # The original has no such key: it is there only when something is wrong.
    return {**result, "warnings": list(report.warnings)} if report.warnings else result


_METHODS: dict[str, Callable[..., Json]] = {
    "memory.listLogs": _list_logs,
    "memory.getFile": _get_file,
    "memory.writeFile": _write_file,
}
