"""The walk of one record to the disk, and of a whole compaction: few modules, few frames."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import memolith
from memolith import Memory
from memolith.clock import Clock
from tests.conftest import StoppedTime
from tests.lifecycle.life import live

if TYPE_CHECKING:
    from types import FrameType

PACKAGE = str(Path(memolith.__file__).parent)
MAX_MODULES = 15
MAX_FRAMES = 6
MAX_MODULES_OF_A_JOB = 45


class Trace:
    """Our own modules that a call enters, and our own frames above each write to a file."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self.frames: list[list[str]] = []

    def __enter__(self) -> Trace:
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _note(self, frame: FrameType, event: str, function: object) -> None:
        is_call = event == "call" and frame.f_code.co_name != "<module>"
        if is_call and frame.f_code.co_filename.startswith(PACKAGE):
            self.modules.add(os.path.relpath(frame.f_code.co_filename, PACKAGE))
        if event == "c_call" and function is os.write:
            self.frames.append(_own_frames(frame))


def _own_frames(frame: FrameType | None) -> list[str]:
    names = []
    while frame is not None:
        if frame.f_code.co_filename.startswith(PACKAGE):
            names.append(frame.f_code.co_name)
        frame = frame.f_back
    return names


def test_a_record_crosses_few_modules_and_frames_on_its_way_to_the_disk(memory: Memory) -> None:
    memory.remember("The first one loads what is imported when it is needed")
    with Trace() as trace:
        memory.remember("The heron nests at the lake")
    assert len(trace.frames) == 2  # the daily log and MEMORY.md
    assert max(map(len, trace.frames)) <= MAX_FRAMES, trace.frames
    assert len(trace.modules) <= MAX_MODULES, sorted(trace.modules)


def test_a_compaction_crosses_few_modules(tmp_path: Path, stopped_time: StoppedTime) -> None:
    for name in ("first", "second"):  # the first one loads what is imported when it is needed
        settings = {"compact.max_records": 20}
        clock = Clock("UTC", now=stopped_time)
        with Memory(tmp_path / name, clock=clock, settings=settings) as memory:
            live(memory, stopped_time, 20)
            jobs = memory.jobs
            with Trace() as trace:
                assert jobs.compact().status == "done"
    assert len(trace.modules) <= MAX_MODULES_OF_A_JOB, sorted(trace.modules)
