"""Answer the hooks of agents from a process that has the memory open: a hook then costs next to nothing."""

from __future__ import annotations

import json
import os
import select
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

from memolith.errors import MemolithError
from memolith.hosts import local_socket
from memolith.memory import Memory

Answer = Callable[[Memory, Mapping[str, object]], Mapping[str, object]]

_LOOK_SECONDS = 1.0
_FIRST_SECONDS = 0.5  # the client that has started us wants its own answers first
_READ_SECONDS = 2.0


@contextmanager
def answering_hooks(
    memory: Callable[[], Memory], answer: Answer, environment: Mapping[str, str]
) -> Iterator[None]:
    """Answer hooks about the memory that is served, which may be another one later."""
    ended = threading.Event()
    given = (memory, answer, environment, ended)
    threading.Thread(target=_serve, args=given, name="memolith-hooks", daemon=True).start()
    try:
        yield
    finally:
        ended.set()  # nothing is waited for: the next process takes over the name that we leave


def _serve(
    memory: Callable[[], Memory],
    answer: Answer,
    environment: Mapping[str, str],
    ended: threading.Event,
) -> None:
    """Until the end: be the one process that answers for this memory, or wait to become it."""
    wait = _FIRST_SECONDS
    while not ended.wait(wait):
        wait = _LOOK_SECONDS
        held = memory()
        path = local_socket.socket_path(held.root, environment)
        sock = local_socket.listen(path)
        if sock is None:
            continue
        with sock, suppress(OSError):  # somebody has removed the name
            inode = os.lstat(path).st_ino
            held.index.warm()
            while not ended.is_set() and memory() is held and os.lstat(path).st_ino == inode:
                is_asked = select.select([sock], [], [], _LOOK_SECONDS)[0]
                if is_asked and (caller := local_socket.accept(sock)):
                    threading.Thread(
                        target=_reply, args=(held, answer, caller), daemon=True
                    ).start()


def _reply(memory: Memory, answer: Answer, caller: socket.socket) -> None:
    with caller, suppress(OSError, ValueError):
        message = local_socket.receive(caller, _READ_SECONDS)
        reply: Mapping[str, object] = {"refused": "another version, memory or settings"}
        if local_socket.greeting(memory.root, memory.config).items() <= message.items():
            try:
                reply = answer(memory.via("cli"), message)
            except MemolithError:
                reply = {"refused": "it failed"}  # the hook finds out why, and says so
        caller.sendall(json.dumps(reply).encode())
