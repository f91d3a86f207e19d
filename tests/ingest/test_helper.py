"""The second process of a large sync: the index is the same with it, without it, and when it dies."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.embed.static_model import StaticModel
from memolith.ingest import helper as module
from memolith.ingest import taking_in
from memolith.ingest.helper import Helper, start_helper
from memolith.ingest.preparing import Said

if TYPE_CHECKING:
    pass

FILES = 40
Made = tuple[list[object], list[bytes]]
BIRDS = ("heron", "grebe", "bittern", "coot")


def fill(root: Path) -> Path:
    (root / "memory").mkdir(parents=True)
    for number in range(FILES):
        bird = BIRDS[number % len(BIRDS)]
        text = f"# Day {number}\n\nA {bird} stood in river{number}, la garza también.\n"
        (root / f"memory/{number}.md").write_text(text, "utf-8")
    return root


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[Made]:
    """Small batches and a helper for any sync; what it made is noted here."""
    monkeypatch.setattr(module, "MUCH_BYTES", 0)
    monkeypatch.setattr(module, "_cores", lambda: 2)
    monkeypatch.setattr(taking_in, "_CHUNKS_AT_ONCE", 8)
    taken: list[Made] = []
    take = Helper.take

    def note(self: Helper) -> Made:
        taken.append(take(self))
        return taken[-1]

    monkeypatch.setattr(Helper, "take", note)
    return taken


def answers(root: Path) -> list[tuple[str, float]]:
    with Memory(root) as memory:
        return [
            (str(hit.citation), round(hit.score, 6))
            for question in (*BIRDS, "bird in the water", "river7", "garza")
            for hit in memory.search(question, 5).hits
        ]


def test_its_vectors_and_tokens_are_those_that_would_be_made_without_it(
    tmp_path: Path, taken: list[Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    helped = answers(fill(tmp_path / "helped"))
    assert sum(len(tokens) for _, tokens in taken) == FILES
    monkeypatch.setattr(taking_in, "start_helper", lambda *_: None)
    assert answers(fill(tmp_path / "alone")) == helped


@pytest.mark.parametrize("kind", [signal.SIGKILL, signal.SIGSTOP], ids=["dies", "hangs"])
def test_when_it_dies_or_hangs_the_sync_goes_on_alone(
    tmp_path: Path, taken: list[Made], monkeypatch: pytest.MonkeyPatch, kind: signal.Signals
) -> None:
    give = Helper.give

    def strike(self: Helper, chunks: list[object]) -> None:
        os.kill(self._process.pid, signal.SIGSTOP)  # it must not be faster than we are
        give(self, chunks)
        os.kill(self._process.pid, kind)

    monkeypatch.setattr(Helper, "give", strike)
    monkeypatch.setattr(module, "_PATIENCE_SECONDS", 1.0)
    with Memory(fill(tmp_path / "struck")) as memory:
        report = memory.index.sync()
        assert (report.chunks, report.warnings, taken) == (FILES, (), [])
        assert memory.search("river7").hits[0].citation.path == "memory/7.md"
        assert memory.index.status().current


LEAVE = """
import os
from memolith.ingest.helper import Helper
print(Helper("any")._process.pid, flush=True)
os._exit(0)
"""


def test_it_ends_when_its_parent_does() -> None:
    done = subprocess.run([sys.executable, "-c", LEAVE], capture_output=True, check=True, text=True)
    pid, deadline = int(done.stdout), time.monotonic() + 300
    while _is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not _is_alive(pid)


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_there_is_none_for_little_work_or_inside_another_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert start_helper(module.MUCH_BYTES - 1, StaticModel()) is None
    monkeypatch.setattr(sys, "executable", "/usr/sbin/uwsgi")
    assert start_helper(1 << 40, StaticModel()) is None


MAIN = """
from memolith import Memory
from memolith.ingest import helper, taking_in
helper.MUCH_BYTES, helper._cores, taking_in._CHUNKS_AT_ONCE = 0, lambda: 2, 8
print("once")
print(Memory({root!r}).index.sync().chunks)
"""


def test_a_users_main_module_without_a_guard_runs_once(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(MAIN.format(root=str(fill(tmp_path / "memory"))), "utf-8")
    done = subprocess.run(
        [sys.executable, "main.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == (f"once\n{FILES}\n", "")


def test_it_works_with_a_thousand_files_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PATIENCE_SECONDS", 600.0)  # on a busy machine it starts slowly
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 1200:
        pytest.skip("this system allows no more files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 1200), hard))
    with ExitStack() as stack:
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        while True:
            fd = os.open(os.devnull, os.O_RDONLY)
            stack.callback(os.close, fd)
            if fd > 1100:
                break
        helper = Helper(StaticModel().name)
        stack.callback(helper.close)
        helper.give([Said("", "A heron stands in the river", "", "", "public")])
        vectors, tokens = helper.take()
        assert len(vectors) == len(tokens) == 1
