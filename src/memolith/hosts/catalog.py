"""The programs that run agents: where they keep what, and what each of them gets from us."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import reduce

from memolith import __version__
from memolith.hosts.changes import OURS, Change, Hooks, Member, TomlTable, Whole
from memolith.hosts.skill import NAME, skill_text

# What hooks run, and the seconds they may take: when a session starts, the user sends a message, a
# chat is compacted, a session ends, and the agent has answered. Hosts have their own names for these.
_LOG = "log --hook"
_COMMANDS = (
    ("session-start --hook", 10),
    ("context", 10),
    ("flush", 30),
    ("flush", 30),
    (_LOG, 10),
)
_CLAUDE = ("SessionStart", "UserPromptSubmit", "PreCompact", "SessionEnd", "Stop")
_GEMINI = ("SessionStart", "BeforeAgent", "PreCompress", "SessionEnd", "AfterAgent")
_CURSOR = ("sessionStart", "beforeSubmitPrompt", "preCompact", "sessionEnd", "afterAgentResponse")

_NAMED = ("--root", "--profile")


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """How a host starts Memolith."""

    path: str  # of the installed command, in full: a host may have another PATH
    options: tuple[str, ...] = ()  # --root or --profile
    more: tuple[str, ...] = ()  # what a user has added to the arguments of the server
    logs: bool = True  # whether chats are kept

    def like(self, entry: Mapping[str, object]) -> Program:
        """The same with the memory that an entry of a user names, unless this one names another."""
        args = entry.get("args")
        words = [word for word in args if isinstance(word, str)] if isinstance(args, list) else []
        if "mcp" not in words or not isinstance(entry.get("command"), str):
            return self
        rest = iter(words[words.index("mcp") + 1 :])
        options: list[str] = []
        more: list[str] = []
        for word in rest:
            if word in _NAMED:
                options += [word, next(rest, "")]
            else:
                (options if word.startswith(_NAMED) else more).append(word)
        return replace(self, options=self.options or tuple(options), more=tuple(more))

    @property
    def server(self) -> dict[str, object]:
        """The entry of an MCP server."""
        return {"command": self.path, "args": ["mcp", *self.options, *self.more]}

    def command(self, words: str) -> str:
        """A command line of Memolith for a hook."""
        return shlex.join((self.path, *words.split(), *self.options))


_SKILL = f"skills/{NAME}/SKILL.md"
_PLUGIN = (
    f"skills/{OURS}"  # below Claude Code's folder: it needs no marketplace and changes no settings
)
_README = (
    "Written by `memolith install claude-code`; `memolith uninstall claude-code` removes it.\n"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A program that runs agents."""

    name: str  # as it is typed
    title: str
    folder: str  # below the user's home; there when the host was ever used
    mac_folder: str = ""  # where it is on macOS, if it is elsewhere there
    variable: str = ""  # of the environment, that moves this folder
    todo: str  # what the user must still do
    servers: tuple[str, tuple[str, ...]]  # the file and the place in it where servers are
    entry: Mapping[str, object] = field(default_factory=dict)  # what each server has besides
    hooks: str = ""  # the file with hooks
    events: tuple[str, ...] = ()  # for which there are hooks, in the order of the commands
    switches: tuple[
        tuple[str, tuple[str, ...], object], ...
    ] = ()  # file, place, and what means off
    is_flat: bool = False  # whether a hook is a mere command, as Cursor has it
    per_second: int = 1  # the unit of time
    last_seconds: int = 30  # for the end of a session
    skill: str = ""  # the file with the skill
    own_files: Mapping[str, str] = field(
        default_factory=dict
    )  # of a plugin, all of whose files are ours

    def path(self, home: str, environment: Mapping[str, str]) -> str:
        """The folder of the host on this machine."""
        moved = environment.get(self.variable) if self.variable else None
        folder = self.mac_folder if sys.platform == "darwin" and self.mac_folder else self.folder
        return os.path.abspath(moved) if moved else os.path.join(home, folder)

    def files(self, program: Program) -> dict[str, tuple[Change, ...]]:
        """What is written into the host's files, by their place in its folder."""
        name, place = self.servers
        entry = {**self.entry, **program.server}
        found: dict[str, tuple[Change, ...]] = {
            name: (TomlTable(place, entry) if name.endswith(".toml") else Member(place, entry),)
        }
        if self.hooks:
            found[self.hooks] = (*found.get(self.hooks, ()), self._hooks(program))
        if self.skill:
            found[self.skill] = (Whole(skill_text()),)
        if not self.own_files:
            return found
        texts = {
            file: reduce(lambda text, one: one.add(text), them, "") for file, them in found.items()
        }
        return {file: (Whole(text),) for file, text in {**self.own_files, **texts}.items()}

    def _hooks(self, program: Program) -> Hooks:
        items: dict[str, Mapping[str, object]] = {}
        for event, (words, seconds) in zip(self.events, _COMMANDS, strict=True):
            most = self.last_seconds if event == self.events[3] else seconds
            command = {"command": program.command(words)}
            full = {"type": "command", **command, "timeout": most * self.per_second}
            if program.logs or words != _LOG:
                items[event] = command if self.is_flat else {"hooks": [full]}
        return Hooks(items, {"version": 1} if self.is_flat else {})


_MANIFEST = {
    "name": OURS,
    "version": __version__,
    "description": "Long-term memory in Markdown files you own",
    "author": {"name": "Memolith"},
    "license": "Apache-2.0",
}

HOSTS = {
    host.name: host
    for host in (
        Host(
            name="claude-code",
            title="Claude Code",
            folder=".claude",
            variable="CLAUDE_CONFIG_DIR",
            todo="Start a new session; /plugin shows memolith@skills-dir.",
            servers=(f"{_PLUGIN}/.mcp.json", ("mcpServers",)),
            hooks=f"{_PLUGIN}/hooks/hooks.json",
            events=_CLAUDE,
            skill=f"{_PLUGIN}/{_SKILL}",
            switches=(
                ("settings.json", ("enabledPlugins", f"{OURS}@skills-dir"), False),
                ("settings.json", ("disableAllHooks",), True),
            ),
            own_files={
                f"{_PLUGIN}/.claude-plugin/plugin.json": json.dumps(_MANIFEST, indent=2) + "\n",
                f"{_PLUGIN}/README.md": _README,
            },
        ),
        Host(
            name="codex",
            title="Codex",
            folder=".codex",
            variable="CODEX_HOME",
            todo="In a new session, type /hooks and trust the hooks: Codex skips those you did not review.",
            servers=("config.toml", ("mcp_servers",)),
            hooks="hooks.json",
            events=_CLAUDE,
            switches=(("config.toml", ("features", "hooks"), False),),
            last_seconds=3,  # it allows no more
            skill=_SKILL,
        ),
        Host(
            name="gemini",
            title="Gemini CLI",
            folder=".gemini",
            todo="Trust the folders you work in (/permissions trust): elsewhere Gemini starts no server and no hook.",
            servers=("settings.json", ("mcpServers",)),
            hooks="settings.json",
            events=_GEMINI,
            switches=(
                ("settings.json", ("mcp", "excluded"), OURS),
                ("settings.json", ("hooksConfig", "enabled"), False),
            ),
            per_second=1000,
            skill=_SKILL,
        ),
        Host(
            name="cursor",
            title="Cursor",
            folder=".cursor",
            todo="Restart Cursor; in Settings, Tools & MCP, memolith must be switched on.",
            servers=("mcp.json", ("mcpServers",)),
            hooks="hooks.json",
            events=_CURSOR,
            is_flat=True,
            skill=_SKILL,
        ),
        Host(
            name="openclaw",
            title="OpenClaw",
            folder=".openclaw",
            variable="OPENCLAW_STATE_DIR",
            todo="Restart the gateway: openclaw gateway restart",
            servers=("openclaw.json", ("mcp", "servers")),
            skill=_SKILL,
        ),
        Host(
            name="vscode",
            title="VS Code",
            folder=".config/Code/User",
            mac_folder="Library/Application Support/Code/User",
            todo="Start the server once: run the command «MCP: List Servers» and choose memolith.",
            servers=("mcp.json", ("servers",)),
            entry={"type": "stdio"},
        ),
        Host(
            name="claude-desktop",
            title="Claude Desktop",
            folder=".config/Claude",
            mac_folder="Library/Application Support/Claude",
            todo="Quit Claude Desktop and start it again.",
            servers=("claude_desktop_config.json", ("mcpServers",)),
        ),
    )
}
