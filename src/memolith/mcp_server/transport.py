"""The server on standard input and output until its client has gone, and as an HTTP application."""

from __future__ import annotations

import json
import os
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
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

PATH = "/mcp"
_IDLE_SECONDS = 1800.0  # a client that went away without a word
_MAX_SESSIONS = 500
_LOOK_SECONDS = 2.0  # how often we look whether our parent is alive
# When the client has closed our input: for answers to what it asked, and until we are gone.
_ANSWER_SECONDS, _LEAVE_SECONDS = 1.2, 1.5


class NotAMessageError(Exception):
    """What a client sent is not a message of JSON-RPC 2.0."""

    def __init__(self, code: int, why: str, content: object = None) -> None:
        """The answer has the id of what was sent, if that can be read."""
        number = content.get("id") if isinstance(content, dict) else None
        number = number if type(number) in (int, str) else None
        error = types.ErrorData(code=code, message=why)
        self.answer = types.JSONRPCError(jsonrpc="2.0", id=number, error=error)


def read_message(text: str) -> types.JSONRPCMessage:
    r"""The message; raises NotAMessageError if it is not one.

    Clients that cut a text in the middle of an emoji send half a character, which the SDK cannot read: "?" takes its place.

    >>> read_message(r'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"text": "tea \ud83d"}}').params
    {'text': 'tea ?'}
    """
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise NotAMessageError(types.PARSE_ERROR, "This is not JSON.") from None
    plain = json.dumps(content, ensure_ascii=False).encode("utf-8", "replace")
    try:
        return types.jsonrpc_message_adapter.validate_json(plain, by_name=False)
    except ValidationError:
        why = "This is not a JSON-RPC 2.0 message."
        raise NotAMessageError(types.INVALID_REQUEST, why, content) from None


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
        tasks.cancel_scope.cancel()


async def _converse(
    server: MemoryServer,
    incoming: ReadStream[SessionMessage | Exception],
    outgoing: WriteStream[SessionMessage],
) -> None:
    """Between SDK and client: refuse what is not a message, and answer what was asked before the end.

    The SDK is silent about the first, and ends every call at the second.
    """
    asked = set[types.RequestId | None]()
    passing, passed = anyio.create_memory_object_stream[SessionMessage | Exception]()
    answers, answered = anyio.create_memory_object_stream[SessionMessage]()

    async def pass_on() -> None:
        async with passing:
            async for item in incoming:
                try:
                    found = item if isinstance(item, SessionMessage) else _reread(item)
                except NotAMessageError as error:
                    await outgoing.send(SessionMessage(error.answer))
                    continue
                if found is None:
                    continue
                if isinstance(found.message, types.JSONRPCRequest):
                    asked.add(found.message.id)
                await passing.send(found)
            _leave_soon()
            server.end_streams()
            with anyio.move_on_after(_ANSWER_SECONDS):
                while asked:
                    await anyio.sleep(0.01)

    async def send_answers() -> None:
        async with outgoing:
            async for item in answered:
                await outgoing.send(item)
                if isinstance(item.message, types.JSONRPCResponse | types.JSONRPCError):
                    asked.discard(item.message.id)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pass_on)
        tasks.start_soon(send_answers)
        await server.run(passed, answers, server.create_initialization_options())


def _reread(error: Exception) -> SessionMessage | None:
    """What to make of a line that the SDK could not read; nothing of a blank one."""
    problems = error.errors(include_url=False) if isinstance(error, ValidationError) else []
    # The input of "json_invalid" is the line, that of "missing" the whole message; else it is no object.
    lines = [str(one["input"]) for one in problems if one["type"] == "json_invalid"]
    wholes = [json.dumps(one["input"]) for one in problems if one["type"] == "missing"]
    line = (*lines, *wholes, "null")[0]
    return SessionMessage(read_message(line)) if line.strip() else None


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
        self._app = server.streamable_http_app(
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
        answer: ASGIApp = self._app
        if scope["type"] == "http" and scope["path"] == "/healthz":
            answer = JSONResponse({"ok": True})
        elif scope["type"] == "http" and scope["method"] == "POST" and scope["path"] == PATH:
            body = await Request(scope, receive).body()
            try:
                message = read_message(body.decode(errors="replace"))
                text = message.model_dump_json(by_alias=True, exclude_unset=True)
                receive = replayed(text.encode(), receive)
            except NotAMessageError as error:
                answer = JSONResponse(error.answer.model_dump(mode="json"), status_code=400)
        await answer(scope, receive, send)


def replayed(body: bytes, receive: Receive) -> Receive:
    """A request with this body, and then whatever still comes."""
    first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return first.pop() if first else await receive()

    return replay
