"""Whether what was installed into a host still works: a real request through its own entry."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache

from memolith import __version__
from memolith.errors import MemolithError
from memolith.hosts.catalog import Host, Program
from memolith.hosts.changes import OURS, Hooks, starts_memolith, switched_off
from memolith.hosts.install import Installations, read_settings, server_entry
from memolith.jobs.reports import Check

_MAX_SECONDS = 30.0
_ASKED = (
    {
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "memolith doctor", "version": __version__},
        },
    },
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/list"},
)


def check_installed(host: Host, installed: Installations) -> list[Check]:
    """What is wrong with one host; a line that all is well if nothing is."""
    again = f"memolith install {host.name}"
    try:
        problems = list(_problems(host, installed.folder(host)))
    except (MemolithError, ValueError, RecursionError) as error:
        problems = [f"its settings cannot be read: {error}"]
    if not problems:
        hooks = " and its hooks are there" if host.hooks else ""
        return [_check(host, "ok", f"its entry answers a request{hooks}", None)]
    return [_check(host, "warn", problem, again) for problem in problems]


def _check(host: Host, status: str, message: str, hint: str | None) -> Check:
    return Check(
        id="hosts",
        label="Agent hosts",
        status="ok" if status == "ok" else "warn",
        message=f"{host.title}: {message}.",
        hint=hint,
    )


def _problems(host: Host, folder: str) -> Iterator[str]:
    name, _ = host.servers
    read_settings(os.path.join(folder, name))  # what is wrong with the file is said by the caller
    found = server_entry(host, folder)
    if not found:
        yield f"memolith is no longer among the servers in {name}"
    elif switched_off(found):
        yield f"its server memolith is switched off in {name}"
    elif problem := request_problem(found):
        yield problem
    yield from _missing_hooks(host, folder)


def _missing_hooks(host: Host, folder: str) -> Iterator[str]:
    if not host.hooks:
        return
    found = read_settings(os.path.join(folder, host.hooks))
    if isinstance(found, dict) and found.get("disableAllHooks") is True:
        yield f"all hooks are switched off in {host.hooks}"
    hooks = found.get("hooks") if isinstance(found, dict) else None
    hooks = hooks if isinstance(hooks, dict) else {}
    ours = {event for event, items in hooks.items() if any(map(starts_memolith, items or ()))}
    missing = sorted(_events(host) - ours)
    if missing:
        yield f"hooks are missing in {host.hooks}: {', '.join(missing)}"


def _events(host: Host) -> set[str]:
    """The events that an installation without logs has a hook for."""
    for changes in host.files(Program(path=OURS, logs=False)).values():
        for change in changes:
            if isinstance(change, Hooks):
                return set(change.events)
    name = host.hooks  # a file of our own
    (whole,) = host.files(Program(path=OURS, logs=False))[name]
    return set(json.loads(whole.add(""))["hooks"])


def request_problem(server: Mapping[str, object]) -> str:
    """Why the command of an entry answers no request; "" if it does."""
    command, arguments = server.get("command"), server.get("args")
    words = [command, *(arguments if isinstance(arguments, list) else ())]
    if not all(isinstance(word, str) for word in words):
        return "its entry has no command"
    return _problem_of(*map(str, words))


@cache  # most hosts have the same entry
def _problem_of(*words: str) -> str:
    lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in _ASKED)
    try:
        done = subprocess.run(  # noqa: S603 - the command that the host itself runs
            words,
            input=lines,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=os.path.expanduser("~"),
            timeout=_MAX_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{words[0]} did not answer within {_MAX_SECONDS:g} seconds"
    except OSError as error:
        return f"{words[0]} cannot be started: {error.strerror}"
    for line in done.stdout.splitlines():
        with suppress(ValueError):
            answer = json.loads(line)
            if isinstance(answer, dict) and answer.get("id") == 2 and "result" in answer:
                return ""
    return f"{words[0]} was started and answered no request"
