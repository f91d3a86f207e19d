"""Programs that run agents: whether they know of Memolith, and can start what they were told to."""

from __future__ import annotations

import os
import shutil
import sys
import tomllib
from collections.abc import Iterator
from importlib import resources

from memolith.jobs.checks.subject import Subject, found
from memolith.jobs.reports import Check
from memolith.text import json_text
from memolith.text.wording import root_option

_MOST_BYTES = 64_000_000  # some hosts keep chats beside their settings
_OURS = "memolith"


def check_hosts(subject: Subject) -> Iterator[Check]:
    """Whether each host on this machine has us among its servers, and the command is there."""
    # Where the usual rules find the memory, a host need not name its folder.
    is_named = subject.store.profile.found_by in ("argument", "environment")
    option = root_option(subject.root) if is_named else ""
    table = (resources.files("memolith.hosts") / "hosts.toml").read_text("utf-8")
    titles = []
    for name, host in tomllib.loads(table).items():
        is_mac = sys.platform == "darwin"
        folder = (is_mac and host.get("mac_folder")) or host["folder"]
        folder = os.path.join(os.path.expanduser("~"), folder)
        if os.path.isdir(folder):
            titles.append(host["title"])
            files = (host["servers"], *host.get("also", ()))
            paths = [os.path.normpath(os.path.join(folder, file)) for file in files]
            yield from _check_host(host["title"], paths, name, option)
    yield found("hosts.ok", titles=", ".join(titles)) if titles else found("hosts.none")


def _check_host(title: str, paths: list[str], name: str, option: str) -> Iterator[Check]:
    commands: list[str] = []
    for path in paths:
        try:
            commands += servers(_settings(path))
        except (OSError, ValueError, RecursionError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it cannot be parsed"
            place = os.path.join("~", os.path.relpath(path, os.path.expanduser("~")))
            yield found("hosts.unread", title=title, path=place, reason=reason or "")
            return
    if not commands:
        yield found("hosts.unknown", title=title, host=name, option=option)
    for command in commands:
        if command and not shutil.which(command):
            yield found("hosts.gone", title=title, command=command)


def _settings(path: str) -> object:
    """The content of a settings file; nothing when there is none."""
    if not os.path.isfile(path):
        return {}
    with open(path, "rb") as file:
        text = file.read(_MOST_BYTES).decode("utf-8-sig")
    return tomllib.loads(text) if path.endswith(".toml") else json_text.parse(text).value


def servers(settings: object) -> Iterator[str]:
    """The commands of those servers in a host's settings that mean us; "" for one at an address or a plugin.

    >>> [*servers({"mcpServers": {"notes": {"command": "uvx", "args": ["memolith", "mcp"]}}})]
    ['uvx']
    """
    for name, entry in settings.items() if isinstance(settings, dict) else ():
        if str(name).startswith(f"{_OURS}@"):  # a plugin, by its market
            yield ""
        elif isinstance(entry, dict) and {"command", "url", "httpUrl"} & entry.keys():
            command, words = entry.get("command"), entry.get("args")
            texts = [command, *(words if isinstance(words, list) else ())]
            is_ours = any(isinstance(one, str) and os.path.basename(one) == _OURS for one in texts)
            if is_ours or name == _OURS:
                yield command if isinstance(command, str) else ""
        else:
            yield from servers(entry)
