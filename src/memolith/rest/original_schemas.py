"""What the two routes answer that are older than Memolith, in the names their callers know."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel


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
    warnings: list[str] = []  # only where the search did not come to its end


class RecallFailure(BaseModel):
    """Why nothing was recalled."""

    ok: Literal[False]
    error: str
