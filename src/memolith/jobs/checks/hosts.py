"""Programs that run agents: whether they know of Memolith, and can start what they were told to."""

from __future__ import annotations

import os
import shutil
import tomllib
from collections.abc import Iterator

from memolith.jobs.checks.subject import Subject, found, shown
from memolith.jobs.reports import Check
from memolith.text import json_text
from memolith.text.wording import root_option

_MOST_BYTES = 64_000_000  # some hosts keep chats beside their settings
_OURS = "memolith"
_MAC = "Library/Application Support/Claude"
# Title, name for `memolith install`, a folder that is there when the host was ever used, and its
# settings; both below the user's home.
HOSTS = (
    ("Claude Code", "claude-code", ".claude", (".claude.json", ".claude/settings.json")),
    ("Claude Desktop", "claude-desktop", ".config/Claude", (".config/Claude/claude_desktop_config.json",)),
    ("Claude Desktop", "claude-desktop", _MAC, (f"{_MAC}/claude_desktop_config.json",)),
    ("Codex", "codex", ".codex", (".codex/config.toml",)),
    ("Cursor", "cursor", ".cursor", (".cursor/mcp.json",)),
    ("Gemini CLI", "gemini", ".gemini", (".gemini/settings.json",)),
    ("OpenClaw", "openclaw", ".openclaw", (".openclaw/openclaw.json",)),
)  # fmt: skip
# Where in a settings file servers are, by name. Claude Code has more of them for each project.
_PLACES = (("mcpServers",), ("mcp_servers",), ("servers",), ("mcp", "servers"))
_PLUGINS = ("enabledPlugins", "plugins")


def check_hosts(subject: Subject) -> Iterator[Check]:
    """Whether each host on this machine has us among its servers, and the command is there."""
    home = os.path.expanduser("~")
    there = [host for host in HOSTS if os.path.isdir(os.path.join(home, host[2]))]
    # Where the usual rules find the memory, a host need not name its folder.
    is_named = subject.profile.found_by in ("argument", "environment")
    option = root_option(subject.root) if is_named else ""
    for title, name, _, files in there:
        hint = f"To add it: memolith install {name}{option}"
        yield from _check_host(title, [os.path.join(home, file) for file in files], hint)
    if there:
        titles = ", ".join(title for title, *_ in there)
        yield found("hosts", "ok", f"{titles}: Memolith is registered")
    else:
        yield found("hosts", "off", "none found on this machine")


def _check_host(title: str, files: list[str], hint: str) -> Iterator[Check]:
    known: list[str] = []
    for file in files:
        try:
            known += servers(_settings(file))
        except (OSError, ValueError, RecursionError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it cannot be parsed"
            place = os.path.join("~", os.path.relpath(file, os.path.expanduser("~")))
            message = f"{title}: {place} was not read: {reason}."
            yield found("hosts", "warn", message, "Mend that file.")
            return
    if not known:
        yield found("hosts", "info", f"{title} is here and does not know of Memolith.", hint)
    for command in known:
        if command and not shutil.which(command):
            message = f"{title} starts {shown(command)}, which is not there."
            yield found("hosts", "warn", message, "Write the whole path there: which memolith")


def _settings(path: str) -> object:
    """The content of a settings file; nothing when there is none."""
    if not os.path.isfile(path):
        return {}
    with open(path, "rb") as file:
        text = file.read(_MOST_BYTES).decode("utf-8-sig")
    return tomllib.loads(text) if path.endswith(".toml") else json_text.parse(text).value


def servers(settings: object) -> list[str]:
    """The commands of those servers in a host's settings that mean us; "" for one at an address or a plugin.

    >>> servers({"mcpServers": {"notes": {"command": "uvx", "args": ["memolith", "mcp"]}}})
    ['uvx']
    """
    projects = _mapping(_mapping(settings).get("projects")).values()
    found = [one for part in (settings, *projects) for place in _PLACES for one in _at(part, place)]
    for key in _PLUGINS:
        names = _mapping(_mapping(settings).get(key))
        found += [""] * any(str(name).startswith(f"{_OURS}@") for name in names)
    return found


def _at(settings: object, place: tuple[str, ...]) -> Iterator[str]:
    for key in place:
        settings = _mapping(settings).get(key)
    for name, server in _mapping(settings).items():
        entry, command = _mapping(server), _mapping(server).get("command")
        arguments = entry.get("args")
        words = [command, *(arguments if isinstance(arguments, list) else ())]
        texts = [word for word in words if isinstance(word, str)]
        is_named = name == _OURS and isinstance(server, dict)
        if is_named or any(os.path.basename(text) == _OURS for text in texts):
            yield command if isinstance(command, str) else ""


def _mapping(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}
