"""`memolith jobs`: what jobs did or propose, and how to apply or undo it."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterator

from memolith.cli import output
from memolith.cli.opening import again, here, open_memory
from memolith.cli.usage import Arguments, UsageError, whole_number
from memolith.jobs.reports import JobReport
from memolith.mcp_server.json_shapes import job_json, jobs_json
from memolith.memory import Memory

HELP = """\
Jobs tidy the memory. Each is kept with its changes: list them (also without an action), show one, see its
diff, undo it byte for byte. With jobs.review = "ask" a job waits as a proposal until you apply or decline it.
An id may be shortened; --last means the newest."""
EXAMPLE = """\
memolith jobs list
memolith jobs diff --last
memolith jobs apply --last
memolith jobs undo 20261115T030000.000Z-compact"""

_LIMIT = 20
_MOST_STEPS = 15
_SHORT = 48  # characters of what a job did, in a list
_NONE_YET = "No jobs yet. What a job changes is kept here, and can be undone."
_NONE_KEPT = "No job has changed anything that is kept, and no proposal waits."
_ACTIONS = {
    "show": "what a job did",
    "diff": "its changes, line by line",
    "apply": "do what a proposal says",
    "decline": "delete a proposal",
    "undo": "take back what a job changed; what came later stays",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the actions and their arguments."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", prog=parser.prog)
    parser.set_defaults(action="list", limit=_LIMIT)
    listed = actions.add_parser("list", help="the jobs that are kept, newest last")
    listed.add_argument(
        "--limit",
        metavar="N",
        type=whole_number,
        default=_LIMIT,
        help="show the N newest; 0 is all",
    )
    for name, text in _ACTIONS.items():
        action = actions.add_parser(name, help=text)
        action.add_argument("id", metavar="ID", nargs="?", help=text)
        action.add_argument("--last", action="store_true", help="the newest job")
        if name == "diff":
            action.add_argument("--include-secret", action="store_true", help="also secret ones")


def run(args: Arguments) -> int:
    """Do the action."""
    with open_memory(args) as memory:
        if args.action == "list":
            _list(memory, args.limit, as_json=args.json)
            return 0
        job_id = _which(args)
        if args.action == "diff":
            _diff(memory, job_id, include_secret=args.include_secret, as_json=args.json)
            return 0
        report: JobReport = getattr(memory.jobs, args.action)(job_id)
    print_report(report, args, most_lines=0 if args.action == "show" else _MOST_STEPS)
    return 0


def print_report(
    report: JobReport,
    args: Arguments,
    *,
    diff_in: Memory | None = None,
    most_lines: int = _MOST_STEPS,
) -> None:
    """Print what a job did or would do, with so many lines of its plan; 0 is all.

    With the memory it is about, also what would change.
    """
    if args.json:
        output.say_json(job_json(report))
        return
    output.say(output.bold(_HEADINGS[report.status]), f"  {report.job}  {report.id}".rstrip())
    for line in _told(report, args, most_lines):
        output.say("  ", line)
    for label, text in _followed_by(report, args):
        output.say(f"  {label:<11}", text)
    for warning in report.warnings:
        output.note("warning: ", here(args, warning))
    if diff_in is not None and report.changes:
        output.diff(diff_in.jobs.diff(report))


def _followed_by(report: JobReport, args: Arguments) -> Iterator[tuple[str, str]]:
    """The files it is about, and what can be done next."""
    if report.status == "declined":
        yield "changed", "no file"
        return
    label = "put back" if report.status == "undone" else "changes"
    yield from ((label, path) for path in report.files)
    if report.status == "done":
        yield "undo", again(args, f"jobs undo {report.id}")
    if report.status == "planned":
        yield "do it", again(args, _COMMANDS.get(report.job, report.job))
    if report.status == "proposed":
        yield "look", again(args, f"jobs diff {report.id}")
        yield "apply", again(args, f"jobs apply {report.id}")
        yield "decline", again(args, f"jobs decline {report.id}")


def _told(report: JobReport, args: Arguments, most_lines: int) -> Iterator[str]:
    if report.reason:
        yield here(args, report.reason)
    if report.status not in ("undone", "declined"):  # what was planned holds no longer
        counts = {_label(report.job, name): number for name, number in report.counts.items()}
        width = max(map(len, counts), default=0)
        yield from (f"{label:<{width}}  {number:,}" for label, number in counts.items())
        shown = report.lines[:most_lines] if most_lines else report.lines
        yield from shown
        if len(shown) < len(report.lines):
            where = f": {again(args, f'jobs show {report.id}')}" if report.id else ""
            yield f"… and {len(report.lines) - len(shown):,} more{where}"


# The counts that tell what came of a job.
_TOLD = (
    "compacted",
    "summaries",
    "promoted",
    "dropped",
    "outdated",
    "added",
    "archived",
    "findings",
)
_LABELS = {
    "before": "records before",
    "after": "records after",
    "findings": "new findings",
    "model_summaries": "summaries with lines of the model",
    "model_lines": "lines of the model",
    "refused_lines": "lines of the model refused, by rules instead",
    "tokens": "tokens of the model",
    "tracked": "statements tracked",
    "dropped": "taken out to make room",
    "outdated": "taken out, for the source no longer says it",
}
_LABELS_OF_EXPERIENCES = {
    "added": "taken in",
    "copies": "said already",
    "outdated": "a newer one says otherwise",
    "archived": "moved to the archive",
    "stored": "stored now",
}
_COMMANDS = {"experiences": "experiences extract"}
_HEADINGS = {
    "planned": "Would do",
    "skipped": "Nothing to do",
    "proposed": "Proposed",
    "done": "Done",
    "failed": "Failed",
    "undone": "Undone",
    "declined": "Declined",
}


def _label(job: str, count: str) -> str:
    """What a count is called where people read it; programs get it by its name."""
    labels = _LABELS_OF_EXPERIENCES if job == "experiences" else _LABELS
    return labels.get(count, count)


def _which(args: Arguments) -> str:
    if bool(args.id) == args.last:
        raise UsageError(
            "Which job? Give its id, or --last.", hint="List them with: memolith jobs list"
        )
    return "last" if args.last else str(args.id)


def _list(memory: Memory, limit: int, *, as_json: bool) -> None:
    jobs = memory.jobs.list()[-limit:] if memory.profile.exists else ()
    runs = memory.jobs.scheduled() if memory.profile.exists else ()
    damaged = memory.jobs.damaged() if memory.profile.exists else ()
    if as_json:
        output.say_json(jobs_json(jobs, runs, damaged))
        return
    if jobs:
        output.table(
            (
                (
                    report.id,
                    report.status,
                    _in_short(report),
                )
                for report in jobs
            ),
            ("job", "status", "what it did"),
        )
    elif not damaged:
        output.note(_NONE_KEPT if runs else _NONE_YET)
    for warning in damaged:
        output.note("warning: ", warning)
    kept = {report.id for report in memory.jobs.list()} if runs else set()
    for run in runs:
        at = memory.jobs.clock.local(run.at)
        came_of = _came_of(run.came_of, kept)
        output.note(f"{run.job}, last run by the schedule on {at:%Y-%m-%d %H:%M}: ", came_of)
    from memolith.jobs.overfull import told_of_limits

    if limits := told_of_limits(memory.config, memory.profile):
        output.note(f"{limits}.")


def _came_of(text: str, kept: Collection[str]) -> str:
    """What came of a run; a proposal that it left may have been declined or withdrawn since."""
    proposal = text.removeprefix("proposed: ")
    if proposal != text and proposal not in kept:
        return "a proposal, which was declined or withdrawn since"
    return text.removeprefix("skipped: ") or "it runs, or its process died"


def _in_short(report: JobReport) -> str:
    """What it did in a few words; `show` tells all."""
    counts = ", ".join(
        f"{_label(report.job, name)} {number:,}"
        for name, number in report.counts.items()
        if name in _TOLD and number
    )
    text = report.reason or counts or ", ".join(report.files)
    return text if len(text) <= _SHORT else f"{text[:_SHORT].rstrip()} …"


def _diff(memory: Memory, job_id: str, *, include_secret: bool, as_json: bool) -> None:
    text = memory.jobs.diff(job_id, include_secret=include_secret)
    if as_json:
        output.say_json({"id": memory.jobs.show(job_id).id, "diff": text})
    else:
        output.diff(text)
