"""Programs that run agents: whether they know of Memolith, and can start what they were told to."""

from __future__ import annotations

import os
import shutil
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass

from memolith.jobs.checks.subject import Findings, Subject, shown
from memolith.jobs.reports import Check
from memolith.profile import Profile
from memolith.text import json_text
from memolith.text.wording import root_option

_MOST_BYTES = 64_000_000  # some hosts keep chats beside their settings
_OURS = "memolith"


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """Where a host keeps its settings, below the user's home, and how one tells it of a server."""

    name: str
    install: str  # its name for `memolith install`
    folder: str  # there when the host was ever used
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """How a host reaches a server: by a command, or at an address."""

    command: str = ""
    url: str = ""


HOSTS = (
    Host(
        name="Claude Code",
        install="claude-code",
        folder=".claude",
        files=(".claude.json", ".claude/settings.json"),
    ),
    Host(
        name="Claude Desktop",
        install="claude-desktop",
        folder=".config/Claude",
        files=(".config/Claude/claude_desktop_config.json",),
    ),
    Host(
        name="Claude Desktop",
        install="claude-desktop",
        folder="Library/Application Support/Claude",
        files=("Library/Application Support/Claude/claude_desktop_config.json",),
    ),
    Host(
        name="Codex",
        install="codex",
        folder=".codex",
        files=(".codex/config.toml",),
    ),
    Host(name="Cursor", install="cursor", folder=".cursor", files=(".cursor/mcp.json",)),
    Host(
        name="Gemini CLI",
        install="gemini",
        folder=".gemini",
        files=(".gemini/settings.json",),
    ),
    Host(
        name="OpenClaw",
        install="openclaw",
        folder=".openclaw",
        files=(".openclaw/openclaw.json",),
    ),
)
# Where in a settings file servers stand, by name. Claude Code has more of them for each project.
_PLACES = (("mcpServers",), ("mcp_servers",), ("servers",), ("mcp", "servers"))
_PLUGINS = ("enabledPlugins", "plugins")


def check_hosts(subject: Subject) -> list[Check]:
    """Whether each host on this machine has us among its servers, and the command is there."""
    found = Findings("hosts", "Agent hosts")
    home = os.path.expanduser("~")
    there = [host for host in HOSTS if os.path.isdir(os.path.join(home, host.folder))]
    for host in there:
        _check_host(found, host, home, _named_root(subject.profile))
    if not there:
        return found.checks("none found on this machine", "off")
    return found.checks(f"{', '.join(host.name for host in there)}: Memolith is registered")


def _named_root(profile: Profile) -> str:
    """The folder that a host must name too; "" where the usual rules find the memory."""
    return profile.root if profile.found_by in ("argument", "environment") else ""


def _advice(host: Host, root: str) -> str:
    """How one tells the host of this memory."""
    return f"To add it: memolith install {host.install}{root and root_option(root)}"


def _check_host(found: Findings, host: Host, home: str, root: str) -> None:
    known: list[Server] = []
    for file in host.files:
        try:
            known += servers(_settings(os.path.join(home, file)))
        except (OSError, ValueError, RecursionError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it cannot be parsed"
            found.add("warn", f"{host.name}: ~/{file} was not read: {reason}.", "Mend that file.")
            return
    if not known:
        found.add(
            "info", f"{host.name} is here and does not know of Memolith.", _advice(host, root)
        )
    for server in known:
        if server.command and not shutil.which(server.command):
            found.add(
                "warn",
                f"{host.name} starts {shown(server.command)}, which is not there.",
                "Write the whole path there: which memolith",
            )


def _settings(path: str) -> object:
    """What stands in a settings file; nothing when there is none."""
    if not os.path.isfile(path):
        return {}
    with open(path, "rb") as file:
        text = file.read(_MOST_BYTES).decode("utf-8-sig")
    return tomllib.loads(text) if path.endswith(".toml") else json_text.parse(text).value


def servers(settings: object) -> list[Server]:
    """The entries of a host's settings that mean us, of whatever name.

    >>> servers({"mcpServers": {"notes": {"command": "uvx", "args": ["memolith", "mcp"]}}})
    [Server(command='uvx', url='')]
    """
    found = [server for place in _PLACES for server in _at(settings, place)]
    for project in _values(settings, "projects"):
        found += [server for place in _PLACES for server in _at(project, place)]
    for key in _PLUGINS:
        names = settings.get(key) if isinstance(settings, dict) else None
        if isinstance(names, dict) and any(str(name).startswith(f"{_OURS}@") for name in names):
            found.append(Server())
    return found


def _at(settings: object, place: tuple[str, ...]) -> Iterator[Server]:
    for key in place:
        settings = settings.get(key) if isinstance(settings, dict) else None
    for name, entry in settings.items() if isinstance(settings, dict) else ():
        if not isinstance(entry, dict):
            continue
        command, arguments = entry.get("command"), entry.get("args")
        words = [command, *(arguments if isinstance(arguments, list) else ())]
        texts = [word for word in words if isinstance(word, str)]
        if name == _OURS or any(os.path.basename(text) == _OURS for text in texts):
            url = entry.get("url")
            yield Server(
                command=command if isinstance(command, str) else "",
                url=url if isinstance(url, str) else "",
            )


def _values(settings: object, key: str) -> list[object]:
    inner = settings.get(key) if isinstance(settings, dict) else None
    return list(inner.values()) if isinstance(inner, dict) else []
