"""Whether what was installed into a host still works: a real request through its own entry."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib import resources

from memolith.clock import monotonic
from memolith.errors import MemolithError
from memolith.hosts.catalog import Host
from memolith.hosts.entries import OURS, starts_memolith, switched_off
from memolith.hosts.install import Installations, setting
from memolith.jobs.reports import Check

_MAX_SECONDS, _LEAVE_SECONDS = 30.0, 3.0
_ASKED = (resources.files("memolith.hosts") / "request.jsonl").read_bytes()


def check_installed(host: Host, installed: Installations) -> list[Check]:
    """What is wrong with one host; a line that all is well if nothing is."""
    try:
        problems = list(_problems(host, installed.folder(host)))
    except (MemolithError, ValueError, RecursionError) as error:
        problems = [(f"its settings cannot be read: {error}", "Mend that file.")]
    hooks = " and its hooks are there" if host.hooks else ""
    message = f"{host.title}: its entry answers a request{hooks}."
    well = Check(id="hosts", label="Agent hosts", status="ok", message=message)
    return [
        replace(well, status="warn", message=f"{host.title}: {problem}.", hint=hint)
        for problem, hint in problems
    ] or [well]


def _problems(host: Host, folder: str) -> Iterator[tuple[str, str]]:
    """Each problem, and what helps."""
    again = f"memolith install {host.name}"
    name = host.servers
    found = setting(os.path.join(folder, name), *host.place, OURS)
    if not isinstance(found, dict):
        yield f"memolith is no longer among the servers in {name}", again
    elif switched_off(found):
        yield f"its server memolith is switched off in {name}", again
    elif problem := _request_problem(str(found.get("command")), *map(str, found.get("args") or ())):
        yield problem, again
    for name, keys, off in host.switches:
        found = setting(os.path.join(folder, name), *keys)
        if found is off or (isinstance(found, list) and off in found):
            yield f"memolith is switched off in {name}: {'.'.join(keys)}", "Switch it on there."
    hooks = setting(os.path.join(folder, host.hooks), "hooks") if host.hooks else {}
    events = hooks.items() if isinstance(hooks, dict) else ()
    ours = {event for event, items in events if any(map(starts_memolith, items or ()))}
    missing = sorted({*host.events[:-1]} - ours)  # without the last one, if no chats are kept
    if missing:
        yield f"hooks are missing in {host.hooks}: {', '.join(missing)}", again


@cache  # most hosts have the same entry
def _request_problem(*words: str) -> str:
    """Why a command answers no request; "" if it does."""
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            try:
                server = subprocess.Popen(  # noqa: S603 - the command that the host itself runs
                    words,
                    stdin=theirs.fileno(),
                    stdout=theirs.fileno(),
                    stderr=subprocess.DEVNULL,
                    cwd=os.path.expanduser("~"),
                    start_new_session=True,
                )
            except OSError as error:
                return f"{words[0]} cannot be started: {error.strerror}"
        problem = _answer_problem(ours)
    with suppress(subprocess.TimeoutExpired):
        server.wait(_LEAVE_SECONDS)  # it ends with its input
    with suppress(ProcessLookupError):
        os.killpg(server.pid, signal.SIGKILL)  # with what it has left behind
    server.wait()
    return problem and f"{words[0]} {problem}"


def _answer_problem(server: socket.socket) -> str:
    until, data = monotonic() + _MAX_SECONDS, b""
    try:
        server.sendall(_ASKED)
        while not any(map(_is_answer, data.splitlines())):
            server.settimeout(max(0.01, until - monotonic()))
            piece = server.recv(65_536)
            if not piece:
                raise ConnectionError
            data += piece
    except TimeoutError:
        return f"did not answer within {_MAX_SECONDS:g} seconds"
    except OSError:
        return "was started and answered no request"
    return ""


def _is_answer(line: bytes) -> bool:
    with suppress(ValueError):
        answer = json.loads(line)
        return isinstance(answer, dict) and answer.get("id") == 2 and "result" in answer
    return False
