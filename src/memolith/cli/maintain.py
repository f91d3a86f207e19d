"""`memolith maintain`: run jobs when they are due."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from memolith.cli import output
from memolith.cli.jobs import print_report
from memolith.cli.opening import again, open_memory
from memolith.cli.usage import Arguments
from memolith.jobs.reports import JobReport
from memolith.mcp_server.json_shapes import job_json
from memolith.memory import Memory

HELP = """\
Run the jobs that are switched on (compact.enabled, dream.enabled, experiences.enabled) when they are
due, one after the other, until stopped by Ctrl-C; with --once, run what is due now and end, for cron or a systemd timer.
A job that never ran is due; a run that was missed is made up for once. Of many processes, `memolith serve` and `memolith mcp` included, one at a time keeps the schedule."""
EXAMPLE = """\
memolith maintain --once
memolith config set compact.enabled true"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    parser.add_argument("--once", action="store_true", help="run what is due now, and end")


def run(args: Arguments) -> int:
    """Run what is due, once or for good."""
    from memolith.jobs.scheduler import maintain, schedules

    with open_memory(args) as memory:
        on = [schedule.job for schedule in schedules(memory.jobs)]
        if args.once or not on or not memory.profile.exists:
            begin, tell = _telling(args)
            reports = (
                maintain(memory.jobs, begin=begin, tell=tell)
                if on and memory.profile.exists
                else ()
            )
            _print(reports, on, args)
            return 0
        _keep(memory, on, args)
    return 0


def _print(reports: Sequence[JobReport], on: Sequence[str], args: Arguments) -> None:
    if args.json:
        output.say_json({"jobs": [job_json(report) for report in reports]})
        return
    if not on:
        output.note("No job is switched on. Try: ", again(args, "config set compact.enabled true"))
    elif not reports:
        output.note("Nothing is due.")


def _telling(
    args: Arguments,
) -> tuple[Callable[[Sequence[str]], object], Callable[[JobReport], object]]:
    """Who tells which jobs are due and in which order, and what came of each as soon as it has ended."""

    def begin(due: Sequence[str]) -> None:
        if len(due) > 1:
            output.note(f"Due, one after the other: {', '.join(due)}.")

    def tell(report: JobReport) -> None:
        if not args.json:
            print_report(report, args)

    return begin, tell


def _keep(memory: Memory, on: Sequence[str], args: Arguments) -> None:
    import signal

    from memolith.jobs.overfull import WAITS
    from memolith.jobs.scheduler import Scheduler

    def say(ours: bool) -> None:
        if ours:
            text = f"Keeping the schedule of {memory.root}: {', '.join(on)}. Ctrl-C ends it."
        else:
            text = (
                f"Another process keeps the schedule of {memory.root}."
                " This one waits, and takes over when that one ends. Ctrl-C ends the wait."
            )
        output.note(text)

    begin, _ = _telling(args)
    scheduler = Scheduler(
        memory.jobs,
        tell=lambda report: print_report(report, args),
        turn=say,
        begin=begin,
        waits=lambda: output.note(f"{memory.config.profile.primary} is over its limits: {WAITS}."),
    )
    signal.signal(signal.SIGTERM, lambda *_: scheduler.has_ended.set())
    scheduler.start()
    try:
        scheduler.has_ended.wait()
    finally:
        scheduler.stop()
    if scheduler.failure is not None:
        raise scheduler.failure
