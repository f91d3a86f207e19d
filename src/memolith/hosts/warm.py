"""Answer the hooks of agents from a process that has the memory open: a hook then costs next to nothing."""

from __future__ import annotations

import json
import os
import select
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial

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
    server = _Server(memory, answer, environment)
    threading.Thread(target=server.run, name="memolith-hooks", daemon=True).start()
    try:
        yield
    finally:
        server.end()


class _Server:
    def __init__(
        self, memory: Callable[[], Memory], answer: Answer, environment: Mapping[str, str]
    ) -> None:
        self._memory = memory
        self._answer = answer
        self._environment = environment
        self._ended = threading.Event()
        self._stop: Callable[[], None] = lambda: None

    def end(self) -> None:
        """Take the name of the socket away, and answer nobody any more; nothing is waited for."""
        self._ended.set()
        self._stop()

    def run(self) -> None:
        """Until the end: be the one process that answers for this memory, or wait to become it."""
        wait = _FIRST_SECONDS
        while not self._ended.wait(wait):
            wait = _LOOK_SECONDS
            memory = self._memory()
            path = local_socket.socket_path(memory.root, self._environment)
            if sock := local_socket.listen(path):
                inode = os.lstat(path).st_ino
                self._stop = partial(local_socket.stop, sock, path, inode)
                memory.index.warm()
                try:
                    self._serve(memory, sock, path, inode)
                finally:
                    self._stop()

    def _serve(self, memory: Memory, sock: socket.socket, path: str, inode: int) -> None:
        """While this memory is served and the name is ours."""
        while not self._ended.is_set() and self._memory() is memory:
            with suppress(OSError, ValueError):  # ValueError: closed meanwhile
                if os.lstat(path).st_ino != inode:
                    return
                is_asked = select.select([sock], [], [], _LOOK_SECONDS)[0]
                if is_asked and (caller := local_socket.accept(sock)):
                    threading.Thread(target=self._reply, args=(memory, caller), daemon=True).start()

    def _reply(self, memory: Memory, caller: socket.socket) -> None:
        with caller, suppress(OSError, ValueError):
            message = local_socket.receive(caller, _READ_SECONDS)
            caller.sendall(json.dumps(self._reply_to(memory, message)).encode())

    def _reply_to(self, memory: Memory, message: Mapping[str, object]) -> Mapping[str, object]:
        ours = local_socket.greeting(memory.root, memory.config)
        if not ours.items() <= message.items():
            return {"refused": "another version, memory or settings"}
        try:
            return self._answer(memory.via("cli"), message)
        except MemolithError:
            return {"refused": "it failed"}  # the hook finds out why, and says so
