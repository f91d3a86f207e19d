"""Build and use the shim that makes writes short, syncs fail and locks slow, for one path only."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_SOURCE = Path(__file__).with_name("rig_preload.c")


def why_not() -> str:
    """Why the shim cannot be built here, or "" when it can."""
    if shutil.which("gcc") is None:
        return "needs the program gcc"
    probe = subprocess.run(
        ["gcc", "-E", "-"], input=b"#include <stdio.h>", capture_output=True, check=False
    )
    return "needs the headers of the C library (libc6-dev)" if probe.returncode else ""


def build(folder: Path) -> Path:
    """Compile the shim."""
    library = folder / "rig_preload.so"
    command = ["gcc", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", str(_SOURCE), "-ldl"]
    done = subprocess.run(
        [*command, "-o", str(library)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise AssertionError(done.stderr)
    return library


def environment(library: Path, path: str, call: str, **more: object) -> dict[str, str]:
    """The environment of a worker whose `call`s on files matching `path` shall go wrong.

    `more`: fault, when, seconds, until, log, as explained at the top of the C file.
    """
    settings = {f"RIG_{key.upper()}": str(value) for key, value in more.items()}
    return {"LD_PRELOAD": str(library), "RIG_PATH": path, "RIG_CALL": call, **settings}


def lock_waits(log: Path) -> Sequence[float]:
    """The seconds each call of flock took, sorted."""
    lines = log.read_text().splitlines()
    return sorted(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith("flock "))
