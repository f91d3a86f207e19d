"""The programs that run agents: where they keep what, and what each of them gets from us."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from memolith import __version__
from memolith.hosts.changes import OURS, Change, Hooks, Member, TomlTable, Whole
from memolith.hosts.skill import NAME, skill_text

# What a hook runs; the time it may take, in seconds.
_START = ("session-start --hook", 10)
_PROMPT = ("context", 10)
_FLUSH = ("flush", 30)
_LOG = ("log --hook", 10)
_CLAUDE = {
    "SessionStart": _START, "UserPromptSubmit": _PROMPT, "PreCompact": _FLUSH, "SessionEnd": _FLUSH,
    "Stop": _LOG,
}  # fmt: skip
_CODEX = {**_CLAUDE, "SessionEnd": ("flush", 3)}  # it allows no more
_GEMINI = {
    "SessionStart": _START, "BeforeAgent": _PROMPT, "PreCompress": _FLUSH, "SessionEnd": _FLUSH,
    "AfterAgent": _LOG,
}  # fmt: skip
_CURSOR = {
    "sessionStart": _START, "beforeSubmitPrompt": _PROMPT, "preCompact": _FLUSH, "sessionEnd": _FLUSH,
    "afterAgentResponse": _LOG,
}  # fmt: skip


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

    def hooks(self, events: Mapping[str, tuple[str, int]]) -> Iterator[tuple[str, str, int]]:
        """Each event, the command for its hook, and how many seconds it may take."""
        for event, (command, seconds) in events.items():
            if self.logs or command != _LOG[0]:
                words = (self.path, *command.split(), *self.options)
                yield event, shlex.join(words), seconds

    def nested_hooks(self, events: Mapping[str, tuple[str, int]], *, per_second: int = 1) -> Hooks:
        """The hooks in the form that Claude Code, Codex and Gemini CLI share."""
        return Hooks(
            {
                event: {
                    "hooks": [
                        {"type": "command", "command": command, "timeout": seconds * per_second}
                    ]
                }
                for event, command, seconds in self.hooks(events)
            },
            {},
        )


Files = dict[str, tuple[Change, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A program that runs agents."""

    name: str  # as it is typed
    title: str
    folder: str  # below the user's home; there when the host was ever used
    mac_folder: str = ""  # where it is on macOS, if it is elsewhere there
    variable: str = ""  # of the environment, that moves this folder
    files: Callable[[Program], Files]  # by their place in the folder
    todo: str  # what the user must still do
    servers: tuple[str, tuple[str, ...]]  # the file and the place in it where servers are
    hooks: str = ""  # the file with hooks

    def path(self, home: str, environment: Mapping[str, str]) -> str:
        """The folder of the host on this machine."""
        moved = environment.get(self.variable) if self.variable else None
        folder = self.mac_folder if sys.platform == "darwin" and self.mac_folder else self.folder
        return os.path.abspath(moved) if moved else os.path.join(home, folder)


_SKILL = f"skills/{NAME}/SKILL.md"
_PLUGIN = f"skills/{OURS}"


def _json(content: object) -> Whole:
    return Whole(json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def _claude_code(program: Program) -> Files:
    """A plugin in the folder of skills, which needs no marketplace and changes no settings."""
    manifest = {
        "name": OURS,
        "version": __version__,
        "description": "Long-term memory in Markdown files you own",
        "author": {"name": "Memolith"},
        "license": "Apache-2.0",
    }
    return {
        f"{_PLUGIN}/.claude-plugin/plugin.json": (_json(manifest),),
        f"{_PLUGIN}/.mcp.json": (_json({"mcpServers": {OURS: program.server}}),),
        f"{_PLUGIN}/hooks/hooks.json": (
            _json(
                {
                    "hooks": {
                        event: [item]
                        for event, item in program.nested_hooks(_CLAUDE).events.items()
                    }
                }
            ),
        ),
        f"{_PLUGIN}/skills/{NAME}/SKILL.md": (Whole(skill_text()),),
        f"{_PLUGIN}/README.md": (
            Whole(
                "Written by `memolith install claude-code`; `memolith uninstall claude-code` removes it.\n"
            ),
        ),
    }


def _codex(program: Program) -> Files:
    return {
        "config.toml": (TomlTable(("mcp_servers",), program.server),),
        "hooks.json": (program.nested_hooks(_CODEX),),
        _SKILL: (Whole(skill_text()),),
    }


def _gemini(program: Program) -> Files:
    return {
        "settings.json": (
            Member(("mcpServers",), program.server),
            program.nested_hooks(_GEMINI, per_second=1000),
        ),
        _SKILL: (Whole(skill_text()),),
    }


def _cursor(program: Program) -> Files:
    events = {event: {"command": command} for event, command, _ in program.hooks(_CURSOR)}
    return {
        "mcp.json": (Member(("mcpServers",), program.server),),
        "hooks.json": (Hooks(events, {"version": 1}),),
        _SKILL: (Whole(skill_text()),),
    }


def _openclaw(program: Program) -> Files:
    return {
        "openclaw.json": (Member(("mcp", "servers"), program.server),),
        _SKILL: (Whole(skill_text()),),
    }


def _vs_code(program: Program) -> Files:
    return {"mcp.json": (Member(("servers",), {"type": "stdio", **program.server}),)}


def _claude_desktop(program: Program) -> Files:
    return {"claude_desktop_config.json": (Member(("mcpServers",), program.server),)}


HOSTS = {
    host.name: host
    for host in (
        Host(
            name="claude-code",
            title="Claude Code",
            folder=".claude",
            variable="CLAUDE_CONFIG_DIR",
            files=_claude_code,
            todo="Start a new session; /plugin shows memolith@skills-dir.",
            servers=(f"{_PLUGIN}/.mcp.json", ("mcpServers",)),
            hooks=f"{_PLUGIN}/hooks/hooks.json",
        ),
        Host(
            name="codex",
            title="Codex",
            folder=".codex",
            variable="CODEX_HOME",
            files=_codex,
            todo="In a new session, type /hooks and trust the hooks: Codex skips those you did not review.",
            servers=("config.toml", ("mcp_servers",)),
            hooks="hooks.json",
        ),
        Host(
            name="gemini",
            title="Gemini CLI",
            folder=".gemini",
            files=_gemini,
            todo="Trust the folders you work in (/permissions trust): elsewhere Gemini starts no server and no hook.",
            servers=("settings.json", ("mcpServers",)),
            hooks="settings.json",
        ),
        Host(
            name="cursor",
            title="Cursor",
            folder=".cursor",
            files=_cursor,
            todo="Restart Cursor; in Settings, Tools & MCP, memolith must be switched on.",
            servers=("mcp.json", ("mcpServers",)),
            hooks="hooks.json",
        ),
        Host(
            name="openclaw",
            title="OpenClaw",
            folder=".openclaw",
            variable="OPENCLAW_STATE_DIR",
            files=_openclaw,
            todo="Restart the gateway: openclaw gateway restart",
            servers=("openclaw.json", ("mcp", "servers")),
        ),
        Host(
            name="vscode",
            title="VS Code",
            folder=".config/Code/User",
            mac_folder="Library/Application Support/Code/User",
            files=_vs_code,
            todo="Start the server once: run the command «MCP: List Servers» and choose memolith.",
            servers=("mcp.json", ("servers",)),
        ),
        Host(
            name="claude-desktop",
            title="Claude Desktop",
            folder=".config/Claude",
            mac_folder="Library/Application Support/Claude",
            files=_claude_desktop,
            todo="Quit Claude Desktop and start it again.",
            servers=("claude_desktop_config.json", ("mcpServers",)),
        ),
    )
}
