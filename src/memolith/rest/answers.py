"""What every route answers in the same way: JSON that any text fits into, and errors with their status."""

from __future__ import annotations

import inspect
import json
import logging
import uuid
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from functools import cache, reduce
from operator import or_
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, create_model
from starlette.responses import JSONResponse

from memolith import reports, results, types
from memolith.errors import ForgottenError, MemolithError, TextTooLargeError, VersionConflictError
from memolith.jobs import reports as job_reports
from memolith.mcp_server.tool import validation_message, wire_hints
from memolith.text.cleaning import spelled
from memolith.text.wording import leading_to
from memolith.types import Citation, Plain

Json = dict[str, object]
log = logging.getLogger("memolith.rpc")
Problem = Mapping[str, object]

# Names that signatures use and their modules import for type checkers only.
NAMES = {**vars(types), **vars(results), **vars(reports), **vars(job_reports)}
V1 = "/api/v1"
RECALL_PATH = "/api/memory/semantic-recall"
RPC_PATH = "/rpc"

# The status of each kind of error, and of those that differ from their kind.
STATUSES = {
    "config": 422, "profile": 404, "path": 403, "file-format": 409, "not-found": 404, "refused": 422,
    "busy": 503, "changed": 409, "backup-damaged": 409, "storage": 507, "index": 503,
    "embedding": 503, "job": 409, "summariser": 503,
}  # fmt: skip
_OTHER_STATUSES = {TextTooLargeError: 413, ForgottenError: 409}
# Any request may end in one of these; the error itself says what it means.
ERRORS = (400, 401, 403, 404, 405, 408, 409, 413, 415, 421, 422, 429, 500, 503, 507)


class ErrorDetail(BaseModel):
    """What went wrong, and what to do about it; of a conflict, both versions."""

    kind: str
    message: str
    hint: str
    given: str | None = None
    current: str | None = None


class ErrorAnswer(BaseModel):
    """Every error has this form."""

    error: ErrorDetail


class RequestError(MemolithError):
    """A request that is refused before any memory is asked; it has a status of its own."""

    def __init__(self, status: int, kind: str, message: str, hint: str = "") -> None:
        """Take the message for the caller."""
        super().__init__(message, hint=hint)
        self.status = status
        self.kind = kind


class Answer(JSONResponse):
    """JSON; what would steer a terminal is spelled, and half characters, which no encoding carries."""

    def render(self, content: object) -> bytes:
        """The bytes of the content."""
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return spelled(text).encode()


def status_of(error: Exception) -> int:
    """The status of an error.

    >>> status_of(TextTooLargeError("Too long.", size=9, limit=5))
    413
    """
    if isinstance(error, RequestError):
        return error.status
    kind = getattr(error, "kind", "bug")
    return _OTHER_STATUSES.get(type(error), STATUSES.get(kind, 500))


def error_answer(
    error: Exception,
    path: str,
    root: str,
    headers: Mapping[str, str] | None = None,
    sent: object = None,
) -> Answer:
    """The answer to a request that failed, in the form that callers of this path expect.

    `root` is the folder of the memory: commands in hints lead to it, unless it is "". `sent` is the body, if it is known.
    """
    status = status_of(error)
    detail = detail_of(error, root)
    content: Json = {"error": detail}
    # Two routes are older than we are, and keep the form of errors that their callers know.
    if path == RECALL_PATH:
        content = {"ok": False, "error": detail["message"]}
    elif path == RPC_PATH:
        code = detail.pop("kind").upper().replace("-", "_")
        number = sent.get("id") if isinstance(sent, dict) else None
        content = rpc_answer(number, ok=False, error={"code": code, **detail})
    retry = {"Retry-After": "1"} if status in (429, 503) else {}
    return Answer(content, status, {**(headers or {}), **retry})


def detail_of(error: Exception, root: str) -> dict[str, str]:
    """The message for the caller, with commands for this folder; of a bug, only that it was one."""
    if not isinstance(error, MemolithError):
        return {"kind": "bug", "message": "The server failed.", "hint": "Its log says how."}
    hint = leading_to(root, error.hint) if root else error.hint
    detail = {"kind": error.kind, "message": error.message, "hint": hint}
    if isinstance(error, VersionConflictError):
        detail |= {"given": error.given, "current": error.current}
    return detail


def rpc_answer(number: object, **outcome: object) -> Json:
    """What a call by RPC is answered with; the log has its audit id too."""
    envelope = {"id": number} if type(number) in (str, int) else {}
    audit = str(uuid.uuid4())
    log.info("msg=rpc audit=%s ok=%s", audit, str(outcome["ok"]).lower())
    return {**envelope, "auditId": audit, **outcome}


_MAX_PROBLEMS = 5
_MAX_NAME_CHARS = 100
_PLACES = ("body", "query", "path")


def in_words(problems: Sequence[Problem]) -> str:
    """What is wrong with a request, as pydantic says it, but with our names; values are not repeated.

    >>> in_words([{"type": "int_type", "loc": ("body", "limit"), "msg": "Input should be a valid integer"},
    ...           {"type": "missing", "loc": ("body", "text"), "msg": "Field required"}])
    'limit should be a valid integer. text is missing.'
    """
    said = (validation_message(_place(one["loc"]), one) for one in problems[:_MAX_PROBLEMS])
    return " ".join(dict.fromkeys(said))


def _place(loc: Any) -> str:
    """The field; where in it the mistake is would be said in the words of pydantic."""
    fields = loc[1:] if loc == ("body",) or (len(loc) > 1 and loc[0] in _PLACES) else loc
    return str(fields[0])[:_MAX_NAME_CHARS] if fields else "The body"


def answer_model(of: Any) -> Any:
    """What the JSON of a type looks like: values as `Plain.to_dict` writes them."""
    arguments = tuple(answer_model(one) for one in get_args(of) if one not in (NoneType, ...))
    match get_origin(of) or of:
        case origin if origin in (Union, UnionType):
            return reduce(or_, (*arguments, *((None,) if NoneType in get_args(of) else ())))
        case origin if origin in (tuple, list, Sequence, frozenset):
            return list[arguments[0]]  # type: ignore[valid-type]
        case origin if origin in (dict, Mapping):
            return dict[str, arguments[1]]  # type: ignore[valid-type]
        case type() as kind if issubclass(kind, Citation | datetime | date):
            return str
        case type() as kind if issubclass(kind, Plain):
            return _plain_model(of)
    return of


@cache
def _plain_model(of: Any) -> type[BaseModel]:
    fields: Any = {name: (answer_model(hint), ...) for name, hint in wire_hints(of, NAMES).items()}
    config = ConfigDict(extra="forbid")
    return create_model(of.__name__, __config__=config, __doc__=inspect.getdoc(of), **fields)
