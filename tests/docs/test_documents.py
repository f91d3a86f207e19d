"""Every command and script that README and docs show is run, and its output compared."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.examples import Example, blocks, examples, matches

REPOSITORY = Path(__file__).parent.parent.parent
DOCUMENTS = sorted([*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")])

# Not run here: test_install.py installs, and make is what runs us.
RUN_ELSEWHERE = re.compile(
    r"(pip|pipx|uv tool) install (memolith|\.)$|git clone |cd memolith$|make\b"
)
AFTER_COMMAND = "--- status of the command above:"


def name_of(document: Path) -> str:
    return document.relative_to(REPOSITORY).as_posix()


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_example_of_the_document_does_what_it_shows(document: Path, tmp_path: Path) -> None:
    todo = [
        example
        for example in examples(document.read_text(encoding="utf-8"))
        if not RUN_ELSEWHERE.match(example.command)
    ]
    outcomes = run_in_one_shell(todo, home=tmp_path / "reader")
    assert len(outcomes) == len(todo), f"the shell stopped: {todo[len(outcomes)]}"
    following = [*(example.command for example in todo[1:]), ""]
    for example, (printed, status), next_command in zip(todo, outcomes, following, strict=False):
        place = f"{name_of(document)}:{example.line}: {example.command or 'python'}"
        shows_an_error = any(line.startswith("memolith: ") for line in example.shown)
        as_shown = (status != 0) == shows_an_error or next_command == "echo $?"
        assert as_shown, f"{place}\nexit status {status}\n{printed}"
        if example.command:
            assert matches(example.shown, printed), f"{place}\nprinted:\n{printed}"


def run_in_one_shell(todo: list[Example], home: Path) -> list[tuple[str, int]]:
    """Output and exit status of each example, run one after the other as a reader would."""
    home.mkdir()
    environment = {
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "MEMOLITH_HOME": str(home / ".memolith"),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    }
    shell = subprocess.run(
        ["sh"],
        input="\n".join(_shell_line(example) for example in todo),
        cwd=home,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    parts = re.split(rf"^{re.escape(AFTER_COMMAND)} (\d+)\n", shell.stdout, flags=re.MULTILINE)
    return [
        (printed, int(status)) for printed, status in zip(parts[::2], parts[1::2], strict=False)
    ]


def _shell_line(example: Example) -> str:
    command = example.command or f"python -c {shlex.quote(example.script)}"
    # The last line passes the status on, so that a document can show `echo $?`.
    return (
        f"eval {shlex.quote(command)} </dev/null; status=$?\n"
        f'echo "{AFTER_COMMAND} $status"\n'
        '(exit "$status")'
    )


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_commands_stand_in_console_blocks_where_they_are_run(document: Path) -> None:
    shells = {"bash", "sh", "shell", "zsh"}
    found = [b.line for b in blocks(document.read_text(encoding="utf-8")) if b.language in shells]
    assert not found, f"{name_of(document)} lines {found}: write ```console and `$ command`"


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_make_target_a_document_names_exists(document: Path) -> None:
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, flags=re.MULTILINE))
    named = set(re.findall(r"(?:\$ |`)make ([a-z]+)", document.read_text(encoding="utf-8")))
    assert named <= targets


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_link_to_a_file_of_the_repository_leads_somewhere(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text)
    assert [link for link in links if not (document.parent / link).exists()] == []


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub makes of the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_link_to_a_heading_leads_to_one(document: Path) -> None:
    links = re.findall(r"\]\(([\w./-]*\.md)?#([\w-]+)\)", document.read_text(encoding="utf-8"))
    pages = [(document.parent / page if page else document, anchor) for page, anchor in links]
    assert [anchor for page, anchor in pages if anchor not in anchors(page)] == []
