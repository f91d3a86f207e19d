"""What the server answers: JSON that any text fits into, and errors with kind, message and hint."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from starlette.responses import Response

from memolith import errors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memolith.shapes import Json

# Error → its kind, as every surface names it, and its status. The nearest class above counts.
STATUSES: Mapping[type[Exception], tuple[str, int]] = {
    errors.ConfigError: ("config", 422),
    errors.ProfileError: ("profile", 404),
    errors.PathOutsideProfileError: ("path", 403),
    errors.FileFormatError: ("file-format", 409),
    errors.NotFoundError: ("not-found", 404),
    errors.RefusedError: ("refused", 422),
    errors.TextTooLargeError: ("refused", 413),
    errors.ForgottenError: ("refused", 409),
    errors.WriterBusyError: ("busy", 503),
    errors.FileChangedError: ("changed", 409),
    errors.BackupDamagedError: ("backup-damaged", 409),
    errors.StorageError: ("storage", 507),
    errors.IndexUnavailableError: ("index", 503),
    errors.EmbeddingError: ("embedding", 503),
    errors.JobFailedError: ("job", 503),
}


class RequestError(Exception):
    """A request that is refused before any memory is asked; it has a status of its own."""

    def __init__(self, status: int, kind: str, message: str, *, hint: str = "") -> None:
        """Take what the caller is told."""
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.message = message
        self.hint = hint


class Answer(Response):
    """JSON; half characters (surrogates) are spelled, because no encoding carries them."""

    media_type = "application/json"

    def render(self, content: object) -> bytes:
        """The bytes of the content."""
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        try:
            return text.encode()
        except UnicodeEncodeError:
            return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


def status_of(error: Exception) -> tuple[str, int]:
    """Kind and status of an error.

    >>> status_of(errors.BackupNotFoundError("No backup.", name="x"))
    ('not-found', 404)
    """
    if isinstance(error, RequestError):
        return error.kind, error.status
    return next((STATUSES[cls] for cls in type(error).__mro__ if cls in STATUSES), ("bug", 500))


def error_answer(error: Exception) -> Answer:
    """The answer to a request that failed; of a bug, callers learn nothing but that it was one."""
    kind, status = status_of(error)
    message, hint = "Something went wrong in the server.", "Its log says what."
    if isinstance(error, errors.MemolithError | RequestError):
        message, hint = error.message, error.hint
    headers = {"Retry-After": "1"} if status in (429, 503) else {}
    return Answer(error_content(kind, message, hint), status, headers)


def error_content(kind: str, message: str, hint: str = "") -> Json:
    """The body of every error."""
    return {"error": {"kind": kind, "message": message, "hint": hint}}
