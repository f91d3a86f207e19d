"""`memolith status`: what stands in the memory."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from memolith.cli import output
from memolith.cli.opening import open_memory, warn_of_damage
from memolith.cli.usage import Arguments
from memolith.jobs.reports import Status
from memolith.memory import Memory

HELP = "Show which memory is used, and what stands in it."
EXAMPLE = "memolith status"


def configure(_parser: argparse.ArgumentParser) -> None:
    """It has no arguments of its own."""


def run(args: Arguments) -> int:
    """Print the numbers of the profile."""
    with open_memory(args) as memory:
        status = memory.status()
        limits = "" if args.json else _limits(memory)
    if args.json:
        output.say_json({name: getattr(status, name) for name in status.__slots__})
        return 0
    for label, value in _lines(status):
        output.say(output.dim(f"{label:12}"), value)
    if limits:
        output.say(output.dim(f"{'compaction':12}"), limits)
    warn_of_damage(args, status.warnings)
    return 0


def _limits(memory: Memory) -> str:
    from memolith.jobs.overfull import told_of_limits

    return told_of_limits(memory.config, memory.profile)


def _lines(status: Status) -> Iterator[tuple[str, str]]:
    yield "profile", status.profile
    yield "folder", status.root
    if not status.initialised:
        yield "", "Nothing remembered yet. The first record makes the folder."
        return
    yield "records", f"{status.records:,}"
    yield "notes", f"{status.notes:,}"
    yield "daily logs", f"{status.daily_logs:,}"
    yield "chat turns", f"{status.turns:,}"
    yield "archived", f"{status.archived:,}"
    yield "forgotten", f"{status.forgotten:,}"
    yield "backups", f"{status.backups:,}"
    yield "size", _size(status.bytes)


def _size(number: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "bytes" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"
