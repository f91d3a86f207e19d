"""Our own code in another process, started like any command.

No fork of a process with threads, and no second run of the user's main module.
"""

from __future__ import annotations

import os
import sys

_START = (
    "import sys; sys.path.insert(0, sys.argv[1]);"
    " from importlib import import_module; getattr(import_module(sys.argv[2]), sys.argv[3])()"
)


def can_start_python() -> bool:
    """Whether there is a Python to start: inside another program, the executable may be that program."""
    return os.path.basename(sys.executable or "").startswith("python")


def python_command(module: str, function: str, *words: str) -> list[str]:
    """What to run so that a function of ours is called in another process; it finds `words` in `sys.argv[4:]`."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return [sys.executable, "-P", "-c", _START, os.path.dirname(package), module, function, *words]
