"""Run a worker as a user whom permissions stop: root walks through all of them."""

from __future__ import annotations

import os
import shutil


def why_not() -> str:
    """Why permissions cannot be made to count here, or "" when they can."""
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        return "needs the program setpriv to take root's privileges away"
    return ""


def without() -> list[str]:
    """The command a worker runs under: same user, so that Python itself stays readable."""
    if os.geteuid() != 0:
        return []
    return ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--"]
