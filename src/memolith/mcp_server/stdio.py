"""Serve one client over standard input and output, and leave when it has gone."""

from __future__ import annotations

import os
import signal
import threading
from typing import IO, TYPE_CHECKING, NoReturn, cast

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

from memolith.mcp_server.repair import without_halves
from memolith.mcp_server.server import MemoryServer
from memolith.mcp_server.unanswered import Unanswered

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.shared._stream_protocols import ReadStream, WriteStream

_LOOK_SECONDS = 2.0  # how often we look whether our parent is alive
# When the client has sent its last: for answers to what it asked, and until we are gone.
_ANSWER_SECONDS, _LEAVE_SECONDS = 1.2, 1.5


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
        async with stdio_server(anyio.wrap_file(cast("IO[str]", _Lines()))) as (incoming, outgoing):
            await _speak(server, incoming, outgoing)
            _leave_soon()
            await outgoing.aclose()  # its writer waits for more until then
        tasks.cancel_scope.cancel()


async def _speak(
    server: MemoryServer,
    incoming: ReadStream[SessionMessage | Exception],
    outgoing: WriteStream[SessionMessage],
) -> None:
    protocol = server.protocol
    unanswered = Unanswered()
    passing, passed = anyio.create_memory_object_stream[SessionMessage | Exception]()
    answers, answered = anyio.create_memory_object_stream[SessionMessage]()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_pass_on, incoming, passing, outgoing, unanswered)
        tasks.start_soon(_send_answers, answered, outgoing, unanswered)
        await protocol.run(passed, answers, protocol.create_initialization_options())
        await answers.aclose()


class _Lines:
    """What the client sends, repaired, from a copy of standard input that nobody else can read."""

    def __init__(self) -> None:
        """Take standard input away from everybody else."""
        self._source = open(os.dup(0), "rb")  # noqa: SIM115 - open as long as the process
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)

    def readline(self) -> str:
        """The next line that is not blank; "" at the end."""
        while (line := self._source.readline()).isspace():
            pass
        return without_halves(line).decode(errors="replace")


async def _pass_on(
    incoming: ReadStream[SessionMessage | Exception],
    passing: MemoryObjectSendStream[SessionMessage | Exception],
    outgoing: WriteStream[SessionMessage],
    unanswered: Unanswered,
) -> None:
    """Pass messages on. After the last one there is still some time: the library would end every call.

    It is silent about lines that are no messages, too, and their sender would wait.
    """
    async with passing:
        async for item in incoming:
            if isinstance(item, ValidationError):
                await outgoing.send(SessionMessage(_refusal(item)))
                continue
            if isinstance(item, SessionMessage):
                unanswered.came(item.message)
            await passing.send(item)
        _leave_soon()
        with anyio.move_on_after(_ANSWER_SECONDS):
            await unanswered.none_left()


async def _send_answers(
    answered: MemoryObjectReceiveStream[SessionMessage],
    outgoing: WriteStream[SessionMessage],
    unanswered: Unanswered,
) -> None:
    async with answered:
        async for item in answered:
            await outgoing.send(item)
            unanswered.went(item.message)


def _refusal(error: ValidationError) -> JSONRPCError:
    if any(found["type"] == "json_invalid" for found in error.errors(include_input=False)):
        said = ErrorData(code=PARSE_ERROR, message="This line is not JSON.")
    else:
        said = ErrorData(code=INVALID_REQUEST, message="This line is not a JSON-RPC 2.0 message.")
    return JSONRPCError(jsonrpc="2.0", id=None, error=said)


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
