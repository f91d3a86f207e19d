"""Which memory, when nobody named one: that of the folder the client works in, which it tells us.

A client may start us anywhere. Its roots then replace the current folder, and the usual rules find the
memory: a folder that the user has not approved leads to the default memory. Clients before 2026-07-28
are asked before their first request is answered, and again when they say that their roots have changed;
later ones are asked in the answer to their first call.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import unquote_to_bytes, urlsplit

import anyio
import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from memolith.memory import Memory

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

Context: TypeAlias = "ServerRequestContext[object]"

_SECONDS = 3.0
_KEY = "roots"


class ClientRoots:
    """Asks one client for its roots, and finds the memory they lead to."""

    def __init__(self, memory: Memory, reopen: Callable[[], Memory]) -> None:
        """`memory` is served until roots lead to another, which `reopen` opens from the current folder."""
        self.memory = memory
        self._reopen = reopen
        self._asking = anyio.Lock()
        self._settled = False
        self._moves = 0
        self.notice = ""  # for the user, about a folder that is not approved

    def ask_again(self) -> None:
        """The client works elsewhere now: its next request is about the memory there."""
        self._settled = False
        self._moves += 1

    def question(
        self, context: Context, params: types.InputResponseRequestParams
    ) -> types.InputRequiredResult | None:
        """What a client of 2026-07-28 must tell before its call is answered; None if nothing."""
        if self.open_for(context) and params.input_responses is None:
            return types.InputRequiredResult(input_requests={_KEY: types.ListRootsRequest()})
        return None

    def open_for(self, context: Context) -> bool:
        """Whether it is not known yet which memory a client of 2026-07-28 means."""
        return not self._settled and is_modern(context) and _has_roots(context)

    async def choose(
        self, context: Context, params: types.InputResponseRequestParams | None
    ) -> bool:
        """Serve the memory of the client's first root that is a folder here; whether it is another now.

        Requests that come together wait for one answer: the first of them chooses for all.
        """
        if self.open_for(context) and params is None:
            return False  # it can only be asked when it calls
        async with self._asking:
            if self._settled:
                return False
            moves = self._moves
            roots = _roots_in(params) if is_modern(context) else await _asked(context)
            folder = next(filter(os.path.isdir, _folders(roots)), "")
            before = self.memory
            if folder:
                os.chdir(folder)
                found = self._reopen()
                self.notice = found.profile.notice
                if found.root != before.root:
                    self.memory = found
                    before.close()
            self._settled = moves == self._moves  # it may have moved meanwhile
            return self.memory is not before


def is_modern(context: Context) -> bool:
    """Whether the client speaks the protocol of 2026-07-28."""
    return context.session.protocol_version in MODERN_PROTOCOL_VERSIONS


def _has_roots(context: Context) -> bool:
    known = context.session.client_capabilities
    return known is not None and known.roots is not None


def _roots_in(params: types.InputResponseRequestParams | None) -> list[types.Root]:
    answer = ((params and params.input_responses) or {}).get(_KEY)
    return answer.roots if isinstance(answer, types.ListRootsResult) else []


async def _asked(context: Context) -> list[types.Root]:
    if not _has_roots(context) or not context.session.can_send_request:
        return []
    try:
        answer = await context.session.send_request(
            types.ListRootsRequest(), types.ListRootsResult, request_read_timeout_seconds=_SECONDS
        )
    except MCPError:  # it has roots, it says, but does not tell them
        return []
    return answer.roots


def _folders(roots: list[types.Root]) -> list[str]:
    places = [urlsplit(str(root.uri)) for root in roots]
    return [os.fsdecode(unquote_to_bytes(at.path)) for at in places if at.scheme == "file"]
