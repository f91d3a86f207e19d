"""Further profiles that a server answers for: opened when they are called, and closed when others need the room."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext, suppress

from starlette.requests import Request
from starlette.types import ASGIApp

from memolith import clock
from memolith.mcp_server.transport import PATH, HttpApp
from memolith.memory import Memory
from memolith.rest.answers import V1, RequestError
from memolith.rest.tokens import Grant, Grants

MAX_OPEN = 256
# Requests of one profile that are answered; its others wait, and hold up no other profile.
_AT_ONCE = 4
_WAITING = 32
_HEAVY_AT_ONCE = 2  # of all profiles
_HEAVY = tuple(f"{V1}/{name}" for name in ("doctor", "dream", "jobs", "reindex", "scan", "sync"))
_MINUTE = 60.0


class Guest:
    """A profile that is open."""

    def __init__(self, grant: Grant) -> None:
        limits = grant.limits
        settings = {"store.max_records": limits.records, "store.max_bytes": limits.bytes}
        given = {name: limit for name, limit in settings.items() if limit}
        self.memory = Memory(profile=grant.profile, settings=given, channel="rest")
        self._most, self._asked, self._since = limits.requests, 0, clock.monotonic()
        self.turns = asyncio.Semaphore(_AT_ONCE)
        self.visits = 0  # requests and streams at this moment
        self._ready = asyncio.Event()  # for agents
        self._live: asyncio.Task[None] | None = None

    def may_ask(self) -> bool:
        """Count one more request: whether it is within the limit of this minute."""
        now = clock.monotonic()
        if now - self._since >= _MINUTE:
            self._since, self._asked = now, 0
        self._asked += 1
        return not self._most or self._asked <= self._most

    async def agents(self) -> ASGIApp:
        """The profile over MCP."""
        if self._live is None:
            self._live = asyncio.create_task(self._keep())
        await self._ready.wait()
        return self._agents

    async def close(self) -> None:
        """Close the memory, and end what still listens."""
        if self._live is not None:
            self._live.cancel()
            with suppress(asyncio.CancelledError):
                await self._live
        await asyncio.to_thread(self.memory.close)

    def end_streams(self) -> None:
        """The server is about to stop."""
        if self._ready.is_set():
            self._agents.end_streams()

    async def _keep(self) -> None:
        self._agents = HttpApp(self.memory.via("mcp"))
        async with self._agents.lifespan():  # to be left by the task that entered it
            self._ready.set()
            await asyncio.Event().wait()


class Guests:
    """The guests of one server, the longest unused first."""

    def __init__(self, home: str) -> None:
        """Nobody is there; `home` has the grants."""
        self.grants = Grants(home)
        self._open: OrderedDict[Grant, Guest] = OrderedDict()
        self._heavy = asyncio.Semaphore(_HEAVY_AT_ONCE)

    @asynccontextmanager
    async def visit(
        self, grant: Grant, request: Request, app: ASGIApp, *, listens: bool
    ) -> AsyncIterator[ASGIApp]:
        """What answers a request, when it is its turn: `app` with the memory of the profile, or MCP."""
        path = request.scope["path"]
        guest = self._open.get(grant)
        if guest is None:
            guest = self._open[grant] = Guest(grant)
        self._open.move_to_end(grant)
        if not guest.may_ask():
            message = f"This profile may send {grant.limits.requests:,} requests a minute."
            hint = "Wait a moment, or ask the operator for more."
            raise RequestError(429, "quota", message, hint)
        if guest.visits >= _WAITING and not listens:
            raise RequestError(429, "busy", "This profile has too many requests at once.", "Wait.")
        guest.visits += 1
        try:
            await self._make_room()
            await asyncio.to_thread(guest.memory.reconfigure)
            turn = nullcontext() if listens else guest.turns
            heavy = self._heavy if path.startswith(_HEAVY) else nullcontext()
            async with turn, heavy:
                request.state.memory = guest.memory
                yield await guest.agents() if path.startswith(PATH) else app
        finally:
            guest.visits -= 1

    async def close(self) -> None:
        """Close every profile."""
        while self._open:
            await self._open.popitem()[1].close()

    def end_streams(self) -> None:
        """The server is about to stop."""
        for guest in self._open.values():
            guest.end_streams()

    async def _make_room(self) -> None:
        idle = [grant for grant, guest in self._open.items() if not guest.visits]
        for grant in idle[: max(0, len(self._open) - MAX_OPEN)]:
            await self._open.pop(grant).close()
