"""The programs that run agents, as hosts.toml lists them, and what each of them gets from us."""

from __future__ import annotations

import json
import os
import shlex
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from itertools import pairwise

from memolith import __version__
from memolith.hosts.entries import Part, with_part
from memolith.hosts.skill import skill_text

# What hooks run when a session starts, the user sends a message, a chat is compacted, a session ends,
# and the agent has answered.
_LOG = "log --hook"
_COMMANDS = ("session-start --hook", "context", "flush", "flush", _LOG)
_NAMED = ("--root", "--profile")


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """How a host starts Memolith."""

    path: str  # of the installed command, in full: a host may have another PATH
    options: tuple[str, ...] = ()  # --root or --profile
    args: tuple[str, ...] = ()  # of the server, as a user has them already
    logs: bool = True  # whether chats are kept

    def like(self, entry: Mapping[str, object]) -> Program:
        """The same with what an entry of a user gives the server, unless this one names a memory."""
        args = entry.get("args")
        words = [word for word in args if isinstance(word, str)] if isinstance(args, list) else []
        if self.options or "mcp" not in words:
            return self
        given = words[words.index("mcp") :]
        pairs = pairwise(["", *given])
        named = [word for last, word in pairs if last in _NAMED or word.startswith(_NAMED)]
        return replace(self, options=tuple(named), args=tuple(given))

    @property
    def server(self) -> dict[str, object]:
        """The entry of an MCP server."""
        return {"command": self.path, "args": [*(self.args or ("mcp", *self.options))]}

    def command(self, words: str) -> str:
        """A command line of Memolith for a hook."""
        return shlex.join((self.path, *words.split(), *self.options))


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A program that runs agents; hosts.toml explains the fields."""

    name: str
    title: str
    folder: str
    mac_folder: str = ""  # where it is on macOS, if it is elsewhere there
    variable: str = ""  # of the environment, that moves this folder
    todo: str  # what the user must still do
    plugin: str = ""
    manifest: Mapping[str, object] = field(default_factory=dict)
    servers: str
    place: Sequence[str]
    entry: Mapping[str, object] = field(default_factory=dict)
    hooks: str = ""
    events: Sequence[str] = ()
    timeouts: Sequence[int] = (10, 10, 30, 30, 10)
    is_flat: bool = False  # whether a hook is a mere command, as Cursor has it
    skill: str = ""
    also: Sequence[str] = ()
    switches: Sequence[tuple[str, Sequence[str], object]] = ()

    def path(self, home: str, environment: Mapping[str, str]) -> str:
        """The folder of the host on this machine."""
        moved = environment.get(self.variable) if self.variable else None
        folder = self.mac_folder if sys.platform == "darwin" and self.mac_folder else self.folder
        return os.path.abspath(moved) if moved else os.path.join(home, folder)

    def files(self, program: Program) -> dict[str, Part]:
        """What is ours in the host's files, by their path in its folder."""
        server = {**self.entry, **program.server}
        found = {self.servers: Part(place=self.place, server=server)}
        if self.hooks:
            part = found.get(self.hooks, Part())
            found[self.hooks] = replace(part, hooks=self._hooks(program), has_version=self.is_flat)
        if self.skill:
            found[self.skill] = Part(text=skill_text())
        if self.plugin:
            manifest = json.dumps({**self.manifest, "version": __version__}, indent=2) + "\n"
            found[f"{self.plugin}/.claude-plugin/plugin.json"] = Part(text=manifest)
            found = {
                name: Part(text=with_part(None, name, part).decode())
                for name, part in found.items()
            }
        return found

    def _hooks(self, program: Program) -> dict[str, Mapping[str, object]]:
        items: dict[str, Mapping[str, object]] = {}
        for event, words, limit in zip(self.events, _COMMANDS, self.timeouts, strict=True):
            command = {"command": program.command(words)}
            full = {"type": "command", **command, "timeout": limit}
            if program.logs or words != _LOG:
                items[event] = command if self.is_flat else {"hooks": [full]}
        return items


_TABLE = (resources.files("memolith.hosts") / "hosts.toml").read_text("utf-8")
HOSTS = {name: Host(name=name, **row) for name, row in tomllib.loads(_TABLE).items()}
