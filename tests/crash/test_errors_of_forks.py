"""R3, complete: every call of large operations and of jobs fails, by forks. See `rig_fork.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.crash.operations import JOBS, OPERATIONS
from tests.crash.test_errors_at_every_call import ERRORS
from tests.crash.test_kill_of_forks import quick_folder, run_rig
from tests.crash.tier import LONG, minutes

if TYPE_CHECKING:
    from pathlib import Path

    from tests.crash.conftest import Figures

__all__ = ["quick_folder"]  # a fixture

pytestmark = pytest.mark.timeout(minutes(5, 30))


TIER_A = ("trim", "forget", "chat rotation", "compact", "dream")


@pytest.mark.parametrize("name", sorted({*OPERATIONS, *JOBS}) if LONG else TIER_A)
def test_an_error_at_any_call_leaves_the_state_before_or_after(
    name: str, quick_folder: Path, figures: Figures
) -> None:
    turns = [ERRORS] if LONG else [[error] for error in ERRORS]
    found = run_rig((OPERATIONS | JOBS)[name], quick_folder, errors=turns)
    wrong = found.pop("wrong")
    figures("R3", operation=name, forks=True, **found, wrong=len(wrong))
    assert not wrong, "\n\n".join(wrong)
    assert found["refused"]
