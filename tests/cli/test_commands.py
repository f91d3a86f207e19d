"""What holds for every command: help with an example, JSON that stands in the documents, completion."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith.cli.main import COMMANDS, find
from tests.cli.conftest import PROGRAM, understood
from tests.cli.reference import DOCUMENT, END, START, with_reference

if TYPE_CHECKING:
    from tests.cli.conftest import Run

REPOSITORY = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_with_an_example(memolith: Run, name: str) -> None:
    outcome = memolith(name, "--help")
    assert outcome.code == 0
    assert outcome.out.startswith(f"Usage: memolith {name}")
    for line in find(name).examples.splitlines():
        assert f"\n  {line}" in outcome.out
    assert max(map(len, outcome.out.splitlines())) <= 110


# These serve until somebody ends them: their examples are only read here, their own tests run them.
SERVERS = {"mcp", "serve", "open"}
FOR_GIT = {"merge-driver"}
FETCHES = {"model"}  # from a hub that a test cannot reach


@pytest.mark.parametrize("name", COMMANDS)
def test_every_example_is_a_command_line_that_is_understood(memolith: Run, name: str) -> None:
    memolith("remember", "Ana owns the release key")
    for line in find(name).examples.splitlines():
        ours = next(part for part in line.split(" | ") if part.startswith("memolith "))
        words = shlex.split(re.split(r" [<>]+ ", ours)[0])
        assert words[0] == "memolith"
        if name in SERVERS:
            understood(words[1:])
        else:
            assert memolith(*words[1:], piped=b"text").code != 2, line


# A line for each command that works on any memory, and what docs/cli.md calls its output.
JSON_LINES = {
    "init": ["init"],
    "trust": ["trust", "--yes"],
    "trust --list": ["trust", "--list"],
    "remember": ["remember", "Tea at four"],
    "save": ["save", "A note"],
    "search": ["search", "tea"],
    "session-start": ["session-start"],
    "context": ["context", "When is tea served?"],
    "recap": ["recap"],
    "sync": ["sync"],
    "update": ["update", "ID", "--keyword", "release"],
    "list": ["list"],
    "get": ["get", "MEMORY.md"],
    "log": ["log", "--user", "x"],
    "log (to show)": ["log"],
    "supersede": ["supersede", "ID", "Tea at five"],
    "forget": ["forget", "ID"],
    "forget --channel": ["forget", "--channel", "cli", "--yes"],
    "trim": ["trim"],
    "compact": ["compact", "--dry-run"],
    "flush": ["flush", "We decided to ship on Friday"],
    "maintain": ["maintain", "--once"],
    "jobs list": ["jobs", "list"],
    "jobs show": ["jobs", "show", "--last"],
    "jobs diff": ["jobs", "diff", "--last"],
    "jobs undo": ["jobs", "undo", "--last"],
    "jobs run": ["jobs", "run", "compact"],
    "dream": ["dream", "--dry-run"],
    "dream status": ["dream", "status"],
    "experiences extract": ["experiences", "extract"],
    "experiences query": ["experiences", "query", "release"],
    "experiences list": ["experiences", "list"],
    "approve": ["approve", "ID"],
    "scan": ["scan"],
    "relationships": ["relationships"],
    "dream explain": ["dream", "explain", "ID"],
    "restore": ["restore", "BACKUP"],
    "restore (to list)": ["restore"],
    "status": ["status"],
    "doctor": ["doctor"],
    "config show": ["config", "show"],
    "config get": ["config", "get", "search.mmr_lambda"],
    "config set": ["config", "set", "search.mmr_lambda", "0.2"],
    "config path": ["config", "path"],
    "token": ["token"],
    "migrate": ["migrate", "--to", "builtin"],
    "skill": ["skill"],
    "receipts": ["receipts"],
    "install": ["install", "codex", "--dry-run"],
    "uninstall": ["uninstall", "codex", "--dry-run"],
    "import": ["import", "cursorclaw", "FOLDER", "--dry-run"],
    "export": ["export", "NEW"],
}


def test_every_command_is_among_the_lines_with_json() -> None:
    assert {line.split()[0] for line in JSON_LINES} == COMMANDS.keys() - SERVERS - FOR_GIT - FETCHES


@pytest.mark.parametrize("name", JSON_LINES)
def test_the_json_of_every_command_has_the_documented_keys(memolith: Run, name: str) -> None:
    record = memolith("remember", "Ana owns the release key", "--json").json
    memolith("remember", "Tea")
    backup = memolith("trim", "--max-records", "1", "--json").json["backup"]
    memolith("search", "release key")
    folder = memolith("status", "--json").json["root"]
    known = {"ID": record["id"], "BACKUP": backup, "FOLDER": folder, "NEW": f"{folder}-new"}
    outcome = memolith(*(known.get(word, word) for word in JSON_LINES[name]), "--json")
    assert outcome.code == 0
    assert outcome.out.count("\n") == 1
    assert list(outcome.json) == documented_keys(name)


def documented_keys(name: str) -> list[str]:
    document = (REPOSITORY / "docs" / "cli.md").read_text(encoding="utf-8")
    row = re.search(rf"^\| `{re.escape(name)}` \| (.*) \|$", document, flags=re.MULTILINE)
    assert row, f"docs/cli.md does not tell the JSON of {name}"
    keys = row[1]
    if "all of `a record`" in keys:
        return [*documented_keys("a record"), *re.findall(r"`(\w+)`", keys)]
    return re.findall(r"`(\w+)`", keys)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_a_script_that_completes(shell: str) -> None:
    env = {**os.environ, "_MEMOLITH_COMPLETE": f"{shell}_source"}
    done = subprocess.run([PROGRAM], env=env, text=True, check=True, capture_output=True)
    assert "_MEMOLITH_COMPLETE" in done.stdout


def test_commands_options_and_values_are_completed() -> None:
    assert {"remember", "restore"} <= completed("re")
    assert {"--sensitivity", "--json", "--root"} <= completed("remember", "--")


def completed(*words: str) -> set[str]:
    env = {
        **os.environ,
        "_MEMOLITH_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(["memolith", *words]),
        "COMP_CWORD": str(len(words)),
    }
    done = subprocess.run([PROGRAM], env=env, text=True, check=True, capture_output=True)
    return {line.partition(",")[2] for line in done.stdout.splitlines()}


def test_the_reference_is_up_to_date() -> None:
    document = DOCUMENT.read_text("utf-8")
    assert START in document
    assert END in document
    assert document == with_reference(document), "write it anew: python -m tests.cli.reference"
