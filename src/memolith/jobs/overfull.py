"""Has MEMORY.md passed the limits of compaction, and what follows? By a look at its size."""

from __future__ import annotations

from memolith.config.sections import Config
from memolith.files import layout
from memolith.files.folder import Folder
from memolith.profile import Profile

# What a run left is not looked at again before it has grown so much: until then there is little to gain.
_GROWN = 1.05
WAITS = "compaction follows when nobody has written to it for half a minute, at the latest after ten minutes"


def is_over(config: Config, folder: Folder, size: int) -> bool:
    """Whether the file, of so many bytes, has more characters or records than it may have."""
    limits = config.compact
    if limits.max_chars and size > limits.max_chars:
        return True
    if not limits.max_records:
        return False
    data = folder.read(config.profile.primary) or b""
    return data.count(b"\n- {") > limits.max_records


def is_left(size: int, left: int) -> bool:
    """Whether it is about as large as the last run had to leave it."""
    return size < left * _GROWN


def told_of_limits(config: Config, profile: Profile) -> str:
    """That MEMORY.md is over its limits, and when it is compacted, for people; "" if it is not over them."""
    if not profile.exists:
        return ""
    with Folder(profile.root) as folder:
        return _told_of_limits(config, folder)


def _told_of_limits(config: Config, folder: Folder) -> str:
    path = config.profile.primary
    stamp = folder.stamp(path)
    if stamp is None or not is_over(config, folder, stamp[1]):
        return ""
    over = f"{path} is over its limits (compact.max_records, compact.max_chars)"
    if any(folder.walk(layout.PROPOSALS_FOLDER, suffix="-compact.json")):
        return f"{over}, and a proposal to compact it waits for you: memolith jobs"
    if not config.compact.enabled:
        return f"{over}, and compaction is switched off (compact.enabled)"
    from memolith.jobs.schedule import last_runs  # it reads cron expressions

    last = last_runs(folder).get("compact")
    if last is not None and is_left(stamp[1], last.left):
        return f"{over} by {_what_is_left(last.came_of)}: looked at again when it has grown, or at its time (compact.cron)"
    return f"{over}: {WAITS}, while memolith mcp, serve or maintain runs"


def _what_is_left(came_of: str) -> str:
    from memolith.jobs.compact_plan import TAKEN_BACK

    is_yours = came_of.startswith("proposed: ") or came_of.endswith(TAKEN_BACK)
    return "what you declined or took back" if is_yours else "what must stay"
