"""The program `memolith`, as installed scripts call it."""

import gc

# A command ends before its garbage is much: looking for it takes a twentieth of its time. Set before the
# imports, which make most of it.
gc.set_threshold(100_000)

from memolith.cli.main import program  # noqa: E402

__all__ = ["program"]
