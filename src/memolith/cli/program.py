"""The program `memolith`: the command line of this process, and then its end."""

from __future__ import annotations

import atexit
import os
import sys
from contextlib import suppress

from memolith.cli.main import main


def program() -> None:
    """Run the command, and end the process with its exit code.

    Memory is not given back object by object before the kernel takes it all: after a search that takes a
    fifth of the command's time. Whatever asked to be called at the end is called.
    """
    code = main()
    threading = sys.modules.get("threading")
    if threading is not None and threading.active_count() > 1:
        sys.exit(code)  # Python knows how to wait for them
    atexit._run_exitfuncs()  # noqa: SLF001 - nothing else calls them where an end is cut short
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # gone, or closed because it failed before
            stream.flush()
    os._exit(code)
