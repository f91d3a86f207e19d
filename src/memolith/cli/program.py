"""The program `memolith`, as installed scripts call it."""

import gc
import os
import sys

# A command ends before its garbage is much: looking for it takes a twentieth of its time. Set before the
# imports, which make most of it.
gc.set_threshold(100_000)


def program() -> None:
    """Run the command line of this process; a hook first asks a process that is warm already."""
    from memolith.clock import monotonic

    if sys.argv[1:2] in (["context"], ["session-start"]):
        from memolith.cli import hooks, warm

        hooks.Process.began = monotonic() - _START_SECONDS
        if warm.has_answered(sys.argv[1:]):
            sys.stdout.flush()
            os._exit(0)  # as `main.program` ends, which says why
    from memolith.cli.main import program as run

    run()


_START_SECONDS = 0.03  # of Python itself, until a clock can be read

__all__ = ["program"]
