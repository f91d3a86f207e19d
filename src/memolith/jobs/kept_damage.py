"""What is kept of jobs and cannot be read: told, for a job that vanishes cannot be undone."""

from __future__ import annotations

from memolith.files import layout
from memolith.files.folder import Folder
from memolith.jobs.kept import damaged_jobs
from memolith.jobs.undone import UNDONE, is_damaged


def damage_told(folder: Folder) -> tuple[str, ...]:
    """A sentence for each file."""
    told = [f"{path} is damaged: {_means(path)}" for path in damaged_jobs(folder)]
    if is_damaged(folder.read(UNDONE)):
        told.append(
            f"{UNDONE} is damaged: schedules may do again what you undid or declined."
            " Mend or delete it."
        )
    return tuple(told)


def _means(path: str) -> str:
    if path.startswith(f"{layout.PROPOSALS_FOLDER}/"):
        return "the proposal cannot be shown or applied. Delete it, and have it planned anew."
    return "the job cannot be shown or undone. Put a copy of it back, or delete it."
