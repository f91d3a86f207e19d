"""Which memory, when nobody named one: that of the folder that the client reports as its workspace.

A client may start us anywhere. Its roots then replace the current folder, and the usual rules find the
memory: a folder that the user has not approved leads to the default memory. Clients before 2026-07-28
are asked before their first request is answered, and again when they say that their roots have changed;
later ones are asked in the answer to their first call.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import unquote_to_bytes, urlsplit

import anyio
import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from memolith.errors import MemolithError
from memolith.mcp_server.tool import protocol_error
from memolith.memory import Memory

if TYPE_CHECKING:
    from memolith.mcp_server.server import MemoryServer

Context: TypeAlias = "ServerRequestContext[object]"
log = logging.getLogger("memolith.mcp")

_SECONDS = 3.0
_KEY = "roots"
_CALLS = ("tools/call", "resources/read", "prompts/get")  # may be answered with a question
_FILES = "resources/list"
_REQUESTS = (*_CALLS, "tools/list", _FILES)  # about a memory


class ClientRoots:
    """Middleware that asks one client for its roots, and finds the memory they lead to."""

    def __init__(self, server: MemoryServer, reopen: Callable[[], Memory]) -> None:
        """`reopen` opens the memory that the current folder leads to."""
        self._server = server
        self._reopen = reopen
        self._asking = anyio.Lock()
        self._settled = False

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Before a request is answered, know which memory it is about."""
        if ctx.method == "notifications/roots/list_changed":
            self._settled = False
        elif ctx.method in _REQUESTS:
            async with self._asking:  # requests that come together wait for one answer
                if not self._settled and (question := await self._settle(ctx)):
                    return question
        return await call_next(ctx)

    async def _settle(self, ctx: Context) -> HandlerResult:
        """Serve the memory of the client's first root that is a folder here; or ask for the roots."""
        sent = types.InputResponseRequestParams.model_validate(ctx.params or {}, by_name=False)
        if is_modern(ctx) and _has_roots(ctx) and sent.input_responses is None:
            if ctx.method in _CALLS:
                asked: types.InputRequests = {_KEY: types.ListRootsRequest()}
                return types.InputRequiredResult(input_requests=asked)
            # Whose files, only a call tells.
            return types.ListResourcesResult(resources=[]) if ctx.method == _FILES else None
        self._settled = True  # unless the roots change meanwhile
        try:
            answer = (sent.input_responses or {}).get(_KEY) if is_modern(ctx) else await _asked(ctx)
            roots = answer.roots if isinstance(answer, types.ListRootsResult) else []
            if folder := next(filter(os.path.isdir, map(_folder, roots)), ""):
                await self._serve(folder)
        except (
            BaseException
        ):  # also a call that is taken back: the next one asks again; raised again
            self._settled = False
            raise
        return None

    async def _serve(self, folder: str) -> None:
        os.chdir(folder)
        try:
            found = self._reopen()
        except MemolithError as error:
            root = self._server.memory.root
            raise protocol_error(types.INTERNAL_ERROR, error, root) from error
        if found.profile.notice:  # about a folder that is not approved
            log.warning(found.profile.notice)
        if found.root != self._server.memory.root:
            await self._server.move(found)


def is_modern(context: Context) -> bool:
    """Whether the client speaks the protocol of 2026-07-28."""
    return context.session.protocol_version in MODERN_PROTOCOL_VERSIONS


def _has_roots(context: Context) -> bool:
    known = context.session.client_capabilities
    return known is not None and known.roots is not None


def _folder(root: types.Root) -> str:
    place = urlsplit(str(root.uri))
    return os.fsdecode(unquote_to_bytes(place.path)) if place.scheme == "file" else ""


async def _asked(context: Context) -> types.ListRootsResult | None:
    if not _has_roots(context) or not context.session.can_send_request:
        return None
    try:
        return await context.session.send_request(
            types.ListRootsRequest(), types.ListRootsResult, request_read_timeout_seconds=_SECONDS
        )
    except MCPError:  # it has roots, it says, but does not tell them
        return None
