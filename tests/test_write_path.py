"""The walk of one record to the disk: few modules, few frames."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import memolith

if TYPE_CHECKING:
    from types import FrameType

    from memolith import Memory

PACKAGE = str(Path(memolith.__file__).parent)
MAX_MODULES = 15
MAX_FRAMES = 6


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
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
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
