"""Settings of hosts as users have them: comments, other servers, hooks of their own, CRLF."""

from __future__ import annotations

CODEX = """\
# my Codex
model = "gpt-5"   # the large one
approval_policy = "on-request"

[mcp_servers.notes]
command = "npx"
args = ["-y", "notes-mcp"] # pinned later

[mcp_servers.notes.env]
TOKEN = "abc"

[projects."/home/ana/x"]
trust_level = "trusted"
"""
HOOKS = """\
{
  "hooks": {
    "UserPromptSubmit": [
      {"hooks": [{"type": "command", "command": "~/bin/date-line", "timeout": 5}]}
    ],
    "PostToolUse": [{"matcher": "Edit", "hooks": [{"type": "command", "command": "make fmt"}]}]
  }
}
"""
GEMINI = """\
{
    // Gemini reads comments
    "theme": "GitHub",
    "mcpServers": {
        "notes": {"command": "npx", "args": ["-y", "notes-mcp"]} // of the team
    },
    "selectedAuthType": "oauth-personal"
}
"""
CURSOR = '{"mcpServers": {"notes": {"command": "npx", "args": ["-y", "notes-mcp"]}}}'
CURSOR_HOOKS = """\
{
\t"version": 1,
\t"hooks": {
\t\t"afterFileEdit": [{"command": "./fmt.sh"}]
\t}
}
"""
OPENCLAW = """\
// OpenClaw is configured in JSON5
{
  agents: { defaults: { workspace: '~/claw', }, },
  mcp: {
    servers: {
      notes: { command: 'npx', args: ['-y', 'notes-mcp'], },
    },
  },
}
"""
VS_CODE = """\
{
\t"inputs": [{"id": "key", "type": "promptString", "password": true}],
\t"servers": {
\t\t// mine
\t\t"notes": {"type": "stdio", "command": "npx", "args": ["-y", "notes-mcp"]}
\t}
}"""
DESKTOP = '{\r\n  "globalShortcut": "Ctrl+Space",\r\n  "mcpServers": {}\r\n}\r\n'

# Host, its files in the user's home, and where its server is then listed.
CONFIGS: dict[str, dict[str, str]] = {
    "claude-code": {".claude/settings.json": HOOKS, ".claude/skills/other/SKILL.md": "# Other\n"},
    "codex": {".codex/config.toml": CODEX, ".codex/hooks.json": HOOKS},
    "gemini": {".gemini/settings.json": GEMINI},
    "cursor": {".cursor/mcp.json": CURSOR, ".cursor/hooks.json": CURSOR_HOOKS},
    "openclaw": {".openclaw/openclaw.json": OPENCLAW},
    "vscode": {".config/Code/User/mcp.json": VS_CODE},
    "claude-desktop": {".config/Claude/claude_desktop_config.json": DESKTOP},
}
