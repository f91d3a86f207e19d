"""How many threads NumPy multiplies with: one."""

from __future__ import annotations

import os
import sys


def multiply_in_one_thread() -> None:
    """Have NumPy start no pool of threads, if nobody has asked for one; to be called before it is loaded.

    Our products are small: waking a second thread for each takes twice the CPU time and saves none. On
    a machine where several servers search, their threads wait for each other.
    """
    if "numpy" not in sys.modules:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # noqa: TID251 - NumPy's, not ours
