"""Two routes that are older than Memolith, in the names and envelopes that their callers know.

`POST /api/memory/semantic-recall` is Clawless's, `POST /rpc` that of CursorClaw's gateway.
"""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Callable, Mapping
from typing import Annotated, Literal, TypeVar

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memolith.errors import MemolithError
from memolith.memory import Memory
from memolith.rest.answers import (
    ERRORS,
    RECALL_PATH,
    RPC_PATH,
    Answer,
    Json,
    RequestError,
    detail_of,
    in_words,
    not_json,
    rpc_failure,
    status_of,
)
from memolith.rest.routes import TheMemory, check_secrets
from memolith.results import WEAK, Recap, Turn
from memolith.types import iso

M = TypeVar("M", bound=BaseModel)
log = logging.getLogger("memolith.rpc")
router = APIRouter()

_MAX_TOP_K = 100
_MAX_INPUT_CHARS = 8192
_MAX_KEYWORDS = 24
_MIN_KEYWORD_CHARS = 2


async def _json_of(request: Request) -> object:
    try:
        return json.loads(await request.body() or b"null")
    except (ValueError, RecursionError):
        raise not_json() from None


JsonBody = Annotated[object, Depends(_json_of)]  # what is wrong with it is said in their own form


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


_TOP_K = {"type": "integer", "minimum": 1, "maximum": _MAX_TOP_K}
_RECALL_BODY = {
    "type": "object",
    "required": ["input"],
    "properties": {
        "input": {
            "description": "A question, or single words; words of one letter are passed over.",
            "anyOf": [
                {"type": "string", "minLength": 1, "maxLength": _MAX_INPUT_CHARS},
                {"type": "array", "minItems": 1, "items": {"type": "string"}},
            ],
        },
        "chatId": {
            "description": "Without it, the chat that was written last.",
            "type": ["string", "integer", "null"],
        },
        "topK": {**_TOP_K, "type": ["integer", "null"]},
    },
}


@router.post(
    RECALL_PATH,
    tags=["chats"],
    response_model=RecallAnswer,
    response_model_exclude_unset=True,
    responses={status: {"model": RecallFailure} for status in ERRORS},
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": _RECALL_BODY}},
        },
        "parameters": [
            {"name": "chatId", "in": "query", "required": False, "schema": {"type": "string"}},
            {"name": "topK", "in": "query", "required": False, "schema": _TOP_K},
        ],
    },
)
def semantic_recall(body: JsonBody, request: Request, memory: TheMemory) -> Json:
    """The turns of a chat that answer a question, in the order in which they were said."""
    if not memory.config.chat.enabled:
        raise RequestError(503, "disabled", "Conversation history is switched off.")
    content = body if isinstance(body, dict) else {}
    question = _question(content.get("input"))
    in_body, in_address = content.get("topK"), request.query_params.get("topK")
    if isinstance(in_body, str):  # text only in an address, where everything is
        raise _bad_count()
    # Both are checked, and what the body says counts more.
    counts = [_count(one) for one in (in_body, in_address) if one is not None]
    top_k = counts[0] if counts else memory.config.chat.recap_top_k
    chat = _chat(memory, content.get("chatId"), request.query_params.get("chatId"))
    # The entries name the platform; the text is as callers of the original know it.
    recap = memory.chats.recap(chat, about=question, limit=top_k, sources=False)
    wrong = [warning for warning in recap.warnings if warning != WEAK]
    return {
        "ok": True,
        "chatId": chat,
        "topK": top_k,
        "count": len(recap.found),
        "recap": recap.text or f"({_why_empty(recap, wrong)})",
        "entries": [_entry(turn) for turn in recap.found],
        **({"warnings": wrong} if wrong else {}),
    }


def _why_empty(recap: Recap, wrong: list[str]) -> str:
    nothing = "No matching conversation history."
    no_room = "No entry fits into chat.max_total_chars."
    return " ".join(wrong) or (no_room if recap.found else nothing)


def _question(given: object) -> str:
    if isinstance(given, list):
        if not all(isinstance(word, str) for word in given):
            raise RequestError(400, "request", "The words of the input must be texts.")
        words = [word.strip() for word in given]
        given = " ".join([w for w in words if len(w) >= _MIN_KEYWORD_CHARS][:_MAX_KEYWORDS])
    if not isinstance(given, str) or not given.strip():
        raise RequestError(
            400, "request", "The input is missing: a question, or an array of words."
        )
    if len(given) > _MAX_INPUT_CHARS:
        raise RequestError(
            400, "request", f"The input is longer than {_MAX_INPUT_CHARS} characters."
        )
    return given


def _count(given: object) -> int:
    if isinstance(given, float) and given.is_integer():
        given = int(given)
    text = "" if isinstance(given, bool) else str(given)
    if text.isascii() and text.isdecimal() and len(text) < 9 and 1 <= int(text) <= _MAX_TOP_K:
        return int(text)
    raise _bad_count()


def _bad_count() -> RequestError:
    return RequestError(400, "request", f"topK must be a whole number from 1 to {_MAX_TOP_K}.")


def _chat(memory: Memory, *given: object) -> str:
    """The first that is named; without any, the chat that was written last."""
    for chat in given:
        if chat is None:
            continue
        if isinstance(chat, bool) or not isinstance(chat, str | int):
            raise RequestError(400, "request", "chatId must be text or a whole number.")
        if str(chat).strip():
            return str(chat)
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
    """A call that worked."""

    id: str | int | None = None
    auditId: str  # noqa: N815 - the name on the wire
    ok: Literal[True]
    result: dict[str, object]


class RpcError(BaseModel):
    """Why a call failed; of a conflict, both versions."""

    code: str
    message: str
    hint: str
    given: str | None = None
    current: str | None = None


class RpcFailure(BaseModel):
    """A call that failed."""

    id: str | int | None = None
    auditId: str  # noqa: N815 - the name on the wire
    ok: Literal[False]
    error: RpcError


class Params(BaseModel):
    """What every method takes."""

    model_config = ConfigDict(extra="forbid", strict=True)

    profileId: str | None = None  # noqa: N815 - the name on the wire


class GetParams(Params):
    """Of `memory.getFile`."""

    path: str
    includeSecret: bool = False  # noqa: N815 - the name on the wire


class WriteParams(Params):
    """Of `memory.writeFile`; `version` is that of the file that was read."""

    path: str
    content: str
    version: str = ""


@router.post(
    RPC_PATH,
    tags=["rpc"],
    response_model=RpcAnswer,
    response_model_exclude_unset=True,
    responses={status: {"model": RpcFailure} for status in ERRORS},
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": RpcRequest.model_json_schema()}},
        }
    },
)
def rpc(body: JsonBody, memory: TheMemory) -> Json | Response:
    """Call a method: `memory.listLogs`, `memory.getFile` or `memory.writeFile`."""
    audit = str(uuid.uuid4())
    sent_id = body.get("id") if isinstance(body, dict) else None
    has_id = isinstance(sent_id, str | int) and not isinstance(sent_id, bool)
    envelope: Json = {"id": sent_id} if has_id else {}
    try:
        request = _read(RpcRequest, body)
        result = _call(memory, request)
    except (MemolithError, RequestError) as error:
        log.info("msg=rpc audit=%s ok=false kind=%s", audit, error.kind)
        failure = rpc_failure(detail_of(error, memory.root), audit)
        return Answer({**envelope, **failure}, status_of(error))
    log.info("msg=rpc audit=%s ok=true method=%s", audit, request.method)
    return {**envelope, "auditId": audit, "ok": True, "result": result}


def _call(memory: Memory, request: RpcRequest) -> Json:
    if request.method not in _METHODS:
        hint = f"Use {', '.join(_METHODS)}."
        raise RequestError(404, "method-not-found", "There is no such method.", hint=hint)
    kind, method = _METHODS[request.method]
    params = _read(kind, request.params)
    # A server has one profile; a call that means another must not touch this one.
    if params.profileId not in (None, memory.profile.name):
        hint = "Leave profileId out."
        raise RequestError(404, "profile", "This server serves another profile.", hint=hint)
    return method(memory, params)


def _read(kind: type[M], content: object) -> M:
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        taken = f"It takes {', '.join(kind.model_fields)}."
        raise RequestError(400, "request", in_words(error.errors()), hint=taken) from None


def _list_logs(memory: Memory, _: Params) -> Json:
    files = [{"name": path.rpartition("/")[2], "path": path} for path in memory.files.list()]
    return {"files": files}


def _get_file(memory: Memory, params: GetParams) -> Json:
    include_secret = check_secrets(memory, params.includeSecret)
    return memory.files.read(params.path, include_secret=include_secret).to_dict()


def _write_file(memory: Memory, params: WriteParams) -> Json:
    report = memory.files.write(params.path, params.content, params.version)
    result: Json = {"ok": True, "version": report.version, "backup": report.backup}
    # The original has no such key: it is there only when something is wrong.
    return {**result, "warnings": list(report.warnings)} if report.warnings else result


_METHODS: Mapping[str, tuple[type[Params], Callable[..., Json]]] = {
    "memory.listLogs": (Params, _list_logs),
    "memory.getFile": (GetParams, _get_file),
    "memory.writeFile": (WriteParams, _write_file),
}
