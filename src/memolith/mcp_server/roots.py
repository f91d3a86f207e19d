"""Which memory, when nobody named one: that of the folder the client works in, which it tells us.

A client may start us anywhere. Its roots then replace the current folder, and the usual rules find the
memory: a folder that the user has not approved leads to the default memory. Clients before 2026-07-28
are asked before their first request is answered, and again when they say that their roots have changed;
later ones are asked in the answer to their first call.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Awaitable, Callable
from typing import TypeAlias
from urllib.parse import unquote_to_bytes, urlsplit

import anyio
import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from memolith.errors import MemolithError
from memolith.mcp_server.tool import protocol_error
from memolith.memory import Memory

Context: TypeAlias = "ServerRequestContext[object]"
log = logging.getLogger("memolith.mcp")

_SECONDS = 3.0
_KEY = "roots"
_CALLS = ("tools/call", "resources/read", "prompts/get")  # may be answered with a question
_REQUESTS = (*_CALLS, "tools/list", "resources/list")  # about a memory


class ClientRoots:
    """Middleware that asks one client for its roots, and finds the memory they lead to."""

    def __init__(self, memory: Memory, reopen: Callable[[], Memory]) -> None:
        """`memory` is served until roots lead to another, which `reopen` opens from the current folder."""
        self.memory = memory
        self.on_change: Callable[[], Awaitable[None]] = anyio.lowlevel.checkpoint
        self._reopen = reopen
        self._asking = anyio.Lock()
        self._settled = False
        self._moves = 0

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Before a request is answered, know which memory it is about."""
        method = ctx.method
        if method == "notifications/roots/list_changed":
            self._settled = False
            self._moves += 1
        elif method in _REQUESTS and not self._settled:
            params = ctx.params or {}
            sent = types.InputResponseRequestParams.model_validate(params, by_name=False)
            if sent.input_responses is None and is_modern(ctx) and _has_roots(ctx):
                if method in _CALLS:
                    asked: types.InputRequests = {_KEY: types.ListRootsRequest()}
                    return types.InputRequiredResult(input_requests=asked)
                if method == "resources/list":  # whose files, only a call tells
                    return types.ListResourcesResult(resources=[])
            else:
                await self._choose(ctx, sent.input_responses)
        return await call_next(ctx)

    async def _choose(self, context: Context, responses: types.InputResponses | None) -> None:
        """Serve the memory of the client's first root that is a folder here.

        Requests that come together wait for one answer: the first of them chooses for all.
        """
        async with self._asking:
            if self._settled:
                return
            moves = self._moves
            sent = (responses or {}).get(_KEY) if is_modern(context) else await _asked(context)
            roots = sent.roots if isinstance(sent, types.ListRootsResult) else []
            if folder := next(filter(os.path.isdir, map(_folder, roots)), ""):
                await self._serve(folder)
            self._settled = moves == self._moves  # it may have moved meanwhile

    async def _serve(self, folder: str) -> None:
        os.chdir(folder)
        try:
            found = self._reopen()
        except MemolithError as error:
            raise protocol_error(types.INTERNAL_ERROR, error, self.memory.root) from error
        if found.profile.notice:  # about a folder that is not approved
            log.warning(found.profile.notice)
        before = self.memory
        if found.root != before.root:
            self.memory = found
            before.close()
            await self.on_change()


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
