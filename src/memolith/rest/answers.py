"""What the server answers: JSON that any text fits into, and errors with kind, message and hint."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping

from starlette.responses import Response

from memolith import errors
from memolith.mcp_server.json_shapes import Json
from memolith.text.cleaning import spelled
from memolith.text.commands import leading_to

V1 = "/api/v1"
RECALL_PATH = "/api/memory/semantic-recall"
RPC_PATH = "/rpc"

# The status of each error. The nearest class above counts.
STATUSES: Mapping[type[Exception], int] = {
    errors.ConfigError: 422,
    errors.ProfileError: 404,
    errors.PathOutsideProfileError: 403,
    errors.FileFormatError: 409,
    errors.NotFoundError: 404,
    errors.RefusedError: 422,
    errors.TextTooLargeError: 413,
    errors.ForgottenError: 409,
    errors.WriterBusyError: 503,
    errors.FileChangedError: 409,
    errors.JobFailedError: 409,
    errors.BackupDamagedError: 409,
    errors.StorageError: 507,
    errors.IndexUnavailableError: 503,
    errors.EmbeddingError: 503,
    errors.SummariserError: 503,
}


# Any request may end in one of these; what each means stands in the error itself.
ERRORS = (400, 401, 403, 404, 405, 408, 409, 413, 415, 421, 422, 429, 500, 503, 507)


class RequestError(Exception):
    """A request that is refused before any memory is asked; it has a status of its own."""

    def __init__(self, status: int, kind: str, message: str, *, hint: str = "") -> None:
        """Take what the caller is told."""
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.message = message
        self.hint = hint


def not_json() -> RequestError:
    """For a body that cannot be read at all."""
    hint = "What to send is described at /api/v1/openapi.json"
    return RequestError(400, "request", "The body is not JSON.", hint=hint)


class Answer(Response):
    """JSON; what would steer a terminal is spelled, and half characters, which no encoding carries."""

    media_type = "application/json"

    def render(self, content: object) -> bytes:
        """The bytes of the content."""
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return spelled(text).encode()


def status_of(error: Exception) -> int:
    """The status of an error.

    >>> status_of(errors.BackupNotFoundError("No backup.", name="x"))
    404
    """
    if isinstance(error, RequestError):
        return error.status
    return next((STATUSES[cls] for cls in type(error).__mro__ if cls in STATUSES), 500)


def error_answer(
    error: Exception, path: str, root: str, headers: Mapping[str, str] | None = None
) -> Answer:
    """The answer to a request that failed, in the form that callers of this path expect.

    `root` is the folder of the memory: commands in hints lead to it.
    """
    status = status_of(error)
    detail = detail_of(error, root)
    content: Json = {"error": detail}
    # Two routes are older than we are, and keep the form of errors that their callers know.
    if path == RECALL_PATH:
        content = {"ok": False, "error": detail["message"]}
    elif path == RPC_PATH:
        content = rpc_failure(detail, str(uuid.uuid4()))
    retry = {"Retry-After": "1"} if status in (429, 503) else {}
    return Answer(content, status, {**(headers or {}), **retry})


def detail_of(error: Exception, root: str) -> dict[str, str]:
    """What the caller is told, commands for this folder; of a bug, nothing but that it was one."""
    if not isinstance(error, errors.MemolithError | RequestError):
        return {"kind": "bug", "message": "The server failed.", "hint": "Its log says how."}
    detail = {"kind": error.kind, "message": error.message, "hint": leading_to(root, error.hint)}
    if isinstance(error, errors.VersionConflictError):
        detail |= {"given": error.given, "current": error.current}
    return detail


def rpc_failure(detail: Mapping[str, str], audit: str) -> Json:
    """A call by RPC that failed, under the number that the log has too."""
    code = detail["kind"].upper().replace("-", "_")
    rest = {key: text for key, text in detail.items() if key != "kind"}
    return {"auditId": audit, "ok": False, "error": {"code": code, **rest}}
