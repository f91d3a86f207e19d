"""The server on standard input and output until its client has gone, and as an HTTP application."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, NoReturn

import anyio
import mcp_types as types
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.message import SessionMessage
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse

from memolith.mcp_server.server import MemoryServer
from memolith.memory import Memory

if TYPE_CHECKING:
    from mcp.shared._stream_protocols import ReadStream, WriteStream
    from starlette.types import Message, Receive, Scope, Send

PATH = "/mcp"
_IDLE_SECONDS = 1800.0  # a client that went away without a word
_MAX_SESSIONS = 500
_LOOK_SECONDS = 2.0  # how often we look whether our parent is alive
# When the client has sent its last: for answers to what it asked, and until we are gone.
_ANSWER_SECONDS, _LEAVE_SECONDS = 1.2, 1.5
# A whole pair; or half of one; or any other escape, so that `\\ud800` is not taken for a half.
_ESCAPES = re.compile(
    r"(?P<pair>\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)


def without_halves(text: str) -> str:
    r"""The JSON with the sign for an unknown character in place of half a character.

    Clients that cut a text in the middle of an emoji send such, and the SDK cannot read it.

    >>> without_halves(r'"\ud83d\ude00 \ud83d"')
    '"\\ud83d\\ude00 \\ufffd"'
    """
    return _ESCAPES.sub(lambda found: r"\ufffd" if found["half"] else found[0], text)


def parse(text: str) -> types.JSONRPCMessage:
    """The message; a ValidationError if it is not one."""
    return types.jsonrpc_message_adapter.validate_json(text, by_name=False)


def refusal(error: ValidationError) -> types.JSONRPCError:
    """The answer to what is not a message, with its id if that can be read."""
    problems = error.errors(include_url=False)
    code, said = types.INVALID_REQUEST, "This is not a JSON-RPC 2.0 message."
    if problems[0]["type"] == "json_invalid":
        code, said = types.PARSE_ERROR, "This is not JSON."
    # The error of a missing field has the whole message as its input.
    found = [problem["input"] for problem in problems if problem["type"] == "missing"]
    number = next((message.get("id") for message in found if isinstance(message, dict)), None)
    number = number if type(number) in (int, str) else None
    return types.JSONRPCError(
        jsonrpc="2.0", id=number, error=types.ErrorData(code=code, message=said)
    )


def serve(server: MemoryServer) -> NoReturn:
    """Serve until the client closes our standard input, or our parent dies; then end the process."""
    # A thread that waits for input cannot be woken, so Ctrl-C has to end the process.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    anyio.run(_serve, server)
    server.memory.close()
    os._exit(0)  # an orderly end would wait a second for the threads of libraries


async def _serve(server: MemoryServer) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_leave_with_the_parent)
        async with stdio_server() as (incoming, outgoing):
            await _converse(server, incoming, outgoing)
            await outgoing.aclose()  # its writer waits for more until then
        tasks.cancel_scope.cancel()


async def _converse(
    server: MemoryServer,
    incoming: ReadStream[SessionMessage | Exception],
    outgoing: WriteStream[SessionMessage],
) -> None:
    """Between SDK and client: refuse what is not a message, and answer what was asked before the end.

    The SDK is silent about the first, and ends every call at the second.
    """
    unanswered = set[types.RequestId]()
    passing, passed = anyio.create_memory_object_stream[SessionMessage | Exception]()
    answers, answered = anyio.create_memory_object_stream[SessionMessage]()

    async def pass_on() -> None:
        async with passing:
            async for item in incoming:
                found = _understood(item)
                if found is not item and found and isinstance(found.message, types.JSONRPCError):
                    await outgoing.send(found)
                elif found:
                    if isinstance(found.message, types.JSONRPCRequest):
                        unanswered.add(found.message.id)
                    await passing.send(found)
            await _last_answers(server, unanswered)

    async def send_answers() -> None:
        async with answered:
            async for item in answered:
                await outgoing.send(item)
                if isinstance(item.message, types.JSONRPCResponse | types.JSONRPCError):
                    unanswered.discard(item.message.id or "")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pass_on)
        tasks.start_soon(send_answers)
        options = server.protocol.create_initialization_options()
        await server.protocol.run(passed, answers, options)
        await answers.aclose()


def _understood(item: SessionMessage | Exception) -> SessionMessage | None:
    """A message, or the refusal of a line that is not one; nothing for a blank line."""
    if isinstance(item, SessionMessage):
        return item
    if not isinstance(item, ValidationError):
        return None
    problem = item.errors(include_url=False)[0]
    if problem["type"] != "json_invalid":
        return SessionMessage(refusal(item))
    line = str(problem["input"])
    try:
        return SessionMessage(parse(without_halves(line))) if line.strip() else None
    except ValidationError as error:
        return SessionMessage(refusal(error))


async def _last_answers(server: MemoryServer, unanswered: set[types.RequestId]) -> None:
    """The client has sent its last."""
    _leave_soon()
    server.end_streams()
    with anyio.move_on_after(_ANSWER_SECONDS):
        while unanswered:
            await anyio.sleep(0.01)


async def _leave_with_the_parent() -> None:
    """Another program may hold our standard input open after the client was killed."""
    parent = os.getppid()
    while os.getppid() == parent:
        await anyio.sleep(_LOOK_SECONDS)
    os._exit(0)


def _leave_soon() -> None:
    """The files are safe at any moment, so nothing that still runs is worth waiting for."""
    timer = threading.Timer(_LEAVE_SECONDS, os._exit, [0])
    timer.daemon = True
    timer.start()


class HttpApp:
    """The server at `/mcp` over streamable HTTP; a guard before it checks who may call."""

    def __init__(self, memory: Memory, *, keeps_schedule: bool = False) -> None:
        """The guard goes by the settings as they are now; the SDK would keep to those of the start."""
        server = MemoryServer(memory, keeps_schedule=keeps_schedule)
        self.end_streams = server.end_streams
        self._app = server.protocol.streamable_http_app(
            streamable_http_path=PATH,
            max_request_body_size=sys.maxsize,
            session_idle_timeout=_IDLE_SECONDS,
            max_sessions=_MAX_SESSIONS,
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )

    def lifespan(self) -> AbstractAsyncContextManager[object]:
        """The application is alive within this: for a server that mounts it among its routes."""
        return self._app.router.lifespan_context(self._app)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Say that we are here, which `memolith doctor` asks; refuse what is not a message."""
        if scope["type"] == "http" and scope["path"] == "/healthz":
            await JSONResponse({"ok": True})(scope, receive, send)
        elif scope["type"] == "http" and scope["method"] == "POST" and scope["path"] == PATH:
            body = without_halves((await Request(scope, receive).body()).decode(errors="replace"))
            try:
                parse(body)
            except ValidationError as error:
                said = refusal(error).model_dump(mode="json")
                await JSONResponse(said, status_code=400)(scope, receive, send)
            else:
                await self._app(scope, replayed(body.encode(), receive), send)
        else:
            await self._app(scope, receive, send)


def replayed(body: bytes, receive: Receive) -> Receive:
    """A request with this body, and then whatever still comes."""
    first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return first.pop() if first else await receive()

    return replay
