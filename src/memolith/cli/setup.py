"""Commands that set a memory up and look after it."""

from __future__ import annotations

import sys

import click

from memolith.cli import output
from memolith.cli.options import Call, command
from memolith.text.wording import counted

_BAR = 30


@command(examples="memolith sync\nmemolith sync --rebuild")
@click.option("--rebuild", is_flag=True, help="delete the index first, and make it again")
@click.pass_obj
def sync(call: Call, rebuild: bool) -> None:
    """Bring the index in line with the files.

    Every search does this too; after a large import it is nicer to do it once, and to watch. With
    --rebuild the index is made again from the files; nothing you wrote is touched.
    """
    progress = progress_bar if sys.stderr.isatty() and not call.json else None
    with call.open() as memory:
        report = memory.index.rebuild(progress) if rebuild else memory.index.sync(progress)
    if call.json:
        output.say_json(report.to_dict())
        return
    done = [f"{report.indexed:,} indexed ({counted(report.chunks, 'chunk')})"] * bool(
        report.indexed
    )
    done += [f"{report.removed:,} removed"] * bool(report.removed)
    output.say(
        output.bold("In sync"),
        "  ",
        "; ".join(filter(None, (counted(report.files, "file"), ", ".join(done)))),
    )
    call.warn(report.warnings)


def progress_bar(done: int, total: int) -> None:
    """Draw how far the work is, on standard error."""
    filled = _BAR * done // max(1, total)
    end = "\n" if done == total else ""
    sys.stderr.write(f"\r[{'=' * filled}{' ' * (_BAR - filled)}] {done:,} of {total:,} files{end}")
    sys.stderr.flush()
