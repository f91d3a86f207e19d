"""Commands that tidy a memory. Each shows what it did, would do or proposes in the same form."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from memolith.cli import output
from memolith.cli.exit_codes import UsageError
from memolith.cli.options import COUNT, Call, Choice, Command, Group, command, limit_option
from memolith.errors import BackupNotFoundError
from memolith.jobs.reports import DreamExplanation, JobList, JobReport, ScheduledRun
from memolith.jobs.run import ANOTHER_JOB
from memolith.text.cleaning import one_line
from memolith.text.wording import counted

if TYPE_CHECKING:
    from memolith.config.setting import Value
    from memolith.memory import Memory
    from memolith.reports import Backup

_MAX_LINES = 15  # of a plan
_MAX_REMOVED = 12  # lines that go, in the diff of a dry run
_MAX_CHARS = 48  # of what a job did, in a list
_KINDS = ("contradiction", "duplicate", "stale", "broken-citation", "open-secret")
_HEADINGS = {"planned": "Would do", "skipped": "Nothing to do"}  # others as their status
# The counts that say what came of a job.
_RESULTS = "compacted summaries promoted dropped outdated added archived findings".split()
_LABELS: Mapping[str, str] = {
    "before": "records before",
    "after": "records after",
    "findings": "new findings",
    "model_summaries": "summaries with lines of the model",
    "model_lines": "lines of the model",
    "refused_lines": "lines of the model refused, by rules instead",
    "tokens": "tokens of the model",
    "tracked": "statements tracked",
    "dropped": "removed to make room",
    "outdated": "removed (source changed)",
}
_EXPERIENCE_LABELS: Mapping[str, str] = {
    "added": "taken in",
    "copies": "known already",
    "outdated": "a newer one says otherwise",
    "archived": "moved to the archive",
    "stored": "stored now",
}
_NO_JOBS = "No jobs yet. What a job changes is kept here, and can be undone."
_NONE_KEPT = "No job has changed anything that is kept, and no proposal waits."
_NO_BACKUPS = "One is made before a file is rewritten."
_COMMANDS = {"experiences": "experiences extract"}

_dry_run = click.option("--dry-run", is_flag=True, help="show the changes, write nothing")
_at_once = click.option(
    "--apply", "at_once", is_flag=True, help='apply at once, even if jobs.review is "ask"'
)


def run_job(
    call: Call, method: str, *, dry_run: bool = False, at_once: bool = False, **options: Any
) -> None:
    """Run a job of `Memory.jobs`, and show what it did; of a dry run also the changes."""
    if dry_run and at_once:
        raise UsageError("Both --dry-run and --apply are given.", hint="Leave one of them out.")
    settings: dict[str, Value] = {"jobs.review": "auto"} if at_once else {}
    with call.open(settings=settings) as memory:
        name = method.removeprefix("extract_").capitalize()
        with output.progress(name):
            report: JobReport = getattr(memory.jobs, method)(dry_run=dry_run, **options)
        show_report(call, report)
        if dry_run and not call.json:
            _show_plan_diff(memory, report)


def show_report(call: Call, report: JobReport, *, max_lines: int = _MAX_LINES) -> None:
    """Show what a job did or would do, with this many lines of its plan; 0 is all."""
    if call.json:
        output.say_json(report.to_dict())
        return
    heading = _HEADINGS.get(report.status, report.status.capitalize())
    heading = "Not run" if report.reason == ANOTHER_JOB else heading
    output.say(output.bold(heading), f"  {report.job}  {report.id or ''}".rstrip())
    for line in _facts(call, report, max_lines):
        output.paragraph("  ", line)
    for label, text in _next_steps(call, report):
        output.say(f"  {label:<11}", text)
    call.warn(report.warnings)


def _facts(call: Call, report: JobReport, max_lines: int) -> Iterator[str]:
    if report.reason:
        yield call.here(report.reason)
    if report.status in ("undone", "declined"):  # the plan holds no longer
        return
    counts = {_label(report.job, name): number for name, number in _told_counts(report).items()}
    width = max(map(len, counts), default=0)
    yield from (f"{label:<{width}}  {number:,}" for label, number in counts.items())
    lines = () if report.status == "skipped" else report.lines
    yield from lines[: max_lines or None]
    if max_lines and len(lines) > max_lines:
        where = f": {call.again(f'jobs show {report.id}')}" if report.id else ""
        yield f"… and {len(lines) - max_lines:,} more{where}"


def _told_counts(report: JobReport) -> dict[str, int]:
    """The counts that say something: not zero, and how many records there are only if that changes."""
    counts = dict(report.counts)
    if counts.get("before") == counts.get("after"):
        counts = {name: counts[name] for name in counts if name not in ("before", "after")}
    return {name: number for name, number in counts.items() if number}


def _next_steps(call: Call, report: JobReport) -> Iterator[tuple[str, str]]:
    """The files it is about, and what can be done next."""
    if report.status == "declined":
        yield "changed", "no file"
        return
    label = "put back" if report.status == "undone" else "changes"
    yield from ((label, path) for path in report.files)
    if report.status == "done":
        yield "undo", call.again(f"jobs undo {report.id}")
    if report.status == "planned":
        yield "do it", call.again(_COMMANDS.get(report.job, report.job))
    for action in ("diff", "apply", "decline") if report.status == "proposed" else ():
        yield action, call.again(f"jobs {action} {report.id}")


def _show_plan_diff(memory: Memory, report: JobReport) -> None:
    """The changes of a dry run; of many lines that go in a row, the first ones."""
    if not report.changes:
        return
    removed = 0
    for line in [*memory.jobs.diff(report).split("\n"), ""]:
        removed = removed + 1 if line.startswith("-") else 0
        if removed <= _MAX_REMOVED:
            if line:
                output.diff(line)
        elif removed == _MAX_REMOVED + 1:
            output.diff("- …")


def _label(job: str, count: str) -> str:
    """What people read for a count; programs get its name."""
    return (_EXPERIENCE_LABELS if job == "experiences" else _LABELS).get(count, count)


@command(
    examples="""\
memolith compact --dry-run
memolith compact --apply
memolith config set compact.enabled true"""
)
@_dry_run
@_at_once
@click.pass_obj
def compact(call: Call, dry_run: bool, at_once: bool) -> None:
    """Summarise old records until MEMORY.md is under its limits.

    The limits are compact.max_records and compact.max_chars. The records go to the archive and stay in
    the daily logs; facts, preferences and decisions, secrets and what you wrote by hand are never
    touched. It can be undone: memolith jobs undo --last
    """
    run_job(call, "compact", dry_run=dry_run, at_once=at_once)


@command(
    examples="""\
memolith trim --max-records 500 --dry-run
memolith trim --max-records 500
memolith config set trim.max_records 500"""
)
@_dry_run
@click.option("--max-records", metavar="N", type=COUNT, help="most records to keep; 0 is no limit")
@click.option("--max-chars", metavar="N", type=COUNT, help="most characters to keep; 0 is no limit")
@click.pass_obj
def trim(call: Call, dry_run: bool, max_records: int | None, max_chars: int | None) -> None:
    """Bring MEMORY.md under its limits: the oldest records go to the archive.

    Facts, preferences and decisions go last. Daily logs and what you wrote by hand stay. A backup is
    made first. With jobs.review = "ask" it waits as a proposal. The limits are settings
    (trim.max_records, trim.max_chars); options win over them this once.
    """
    for name, value in (("max_records", max_records), ("max_chars", max_chars)):
        call.set += [f"trim.{name}={value}"] if value is not None else []
    with call.open() as memory:
        limits = memory.config.trim
        report = memory.jobs.trim(dry_run=dry_run)
        if not limits.max_records and not limits.max_chars:
            report = replace(report, reason="no limit is set")
        if call.json:
            output.say_json(report.to_dict())
            return
        show_report(call, report)
        if dry_run:
            _show_plan_diff(memory, report)
    if report.reason == "no limit is set":
        output.note("Set one: ", call.again("config set trim.max_records 500"))


@command(
    examples="""\
memolith dream --dry-run
memolith dream status
memolith dream explain memory/2026-04-09.md#L12"""
)
@click.argument(
    "action",
    metavar="ACTION",
    type=Choice(("run", "status", "explain")),
    default="run",
    help="run (the default), status, or explain KEY",
)
@click.argument(
    "key",
    metavar="KEY",
    required=False,
    help="of explain: a citation that status shows, the id of a record, or the words themselves",
)
@_dry_run
@_at_once
@click.option("--again", is_flag=True, help="also what you undid or declined (status lists it)")
@click.pass_obj
def dream(call: Call, /, action: str, key: str | None, again: bool, **options: bool) -> None:
    """Promote what is asked for again and again.

    Dreaming puts into MEMORY.md whole facts, with their source, in marked blocks. `status` shows what is
    tracked and what is next, `explain` why a statement is promoted or not. With jobs.review = "ask" a
    dream waits as a proposal, unless --apply is given.
    """
    if bool(key) != (action == "explain"):
        problem = "Only explain takes a KEY." if key else "Explain what? Name a statement."
        raise UsageError(problem, hint="memolith dream explain memory/2026-04-09.md#L12")
    if action == "run":
        run_job(call, "dream", again=again, **options)
        return
    with call.open() as memory:
        if action == "status":
            _show_dream_status(call, memory)
        else:
            _explain_dream(call, memory.jobs.explain(key or ""))


def _show_dream_status(call: Call, memory: Memory) -> None:
    status = memory.jobs.dream_status()
    if call.json:
        output.say_json(status.to_dict())
        return
    output.say(output.bold("Dreaming"), f"  last dream: {status.last_dream or 'none yet'}")
    if not status.tracking:
        output.say("  recalls are not tracked (dream.track = false)")
    since = f"noted since the last dream: {status.noted_since:,}"
    output.say(f"  tracked    {status.tracked:,}, {since}")
    facts = counted(status.promoted, "fact")
    output.say(f"  promoted   {facts}, {counted(status.promoted_chars, 'character')}")
    if status.tracked and not (status.next or status.waiting):
        output.say("  next       nothing was asked for often enough yet")
    undone = f"undone by you; to allow it again: {call.again('dream --again')}"
    for title, found in (
        ("would be promoted now", status.next),
        ("would not be promoted", status.waiting),
        (undone, status.undone),
    ):
        if found:
            output.say(f"  {title}:")
            rows = ((f"{x.score:.2f}", x.citation, x.reason or "", x.snippet) for x in found)
            output.table(rows, ("score", "place", "reason", "statement"))
    call.warn(status.warnings)


def _explain_dream(call: Call, found: DreamExplanation) -> None:
    if call.json:
        output.say_json(found.to_dict())
        return
    verdict = "would be promoted" if found.promotes else f"would not be promoted: {found.reason}"
    output.say(output.bold(found.citation), f"  {verdict}")
    if found.snippet:
        output.paragraph("  ", one_line(found.snippet))
    asked = f"{counted(found.questions, 'question')} on {counted(len(found.days), 'day')}"
    shown = f"shown {found.shown:,}, used {found.used:,}"
    output.say(f"  recalled {counted(found.recalls, 'time')}, {shown}, {asked}")
    output.say(f"  score {found.score:.3f} =")
    for name, value in found.signals.items():
        weight = found.weights[name]
        output.say(f"    {weight * value:.3f}  {name:<14} {value:.2f} × {weight}")
    output.say(f"    {found.boost:.3f}  light and REM sleep")
    output.say(f"  key {found.key}")


@command(examples="memolith scan\nmemolith scan --kind contradiction")
@click.option(
    "--kind", metavar="KIND", type=Choice(_KINDS), help=f"only these: {', '.join(_KINDS)}"
)
@limit_option(50, "how many findings")
@click.pass_obj
def scan(call: Call, kind: str | None, limit: int) -> None:
    """Look for contradictions, copies and open secrets.

    It finds claims that contradict each other, records nobody has asked for in 120 days, records that
    say the same, citations that lead nowhere, and keys or passwords that are not marked secret. Each
    finding comes with a command that deals with it, or shows it if that is for you to say; nothing is
    changed.
    """
    with call.open() as memory, output.progress("Scanning"):
        report = memory.jobs.scan()
    found = [
        replace(finding, hint=call.here(finding.hint))
        for finding in report.findings
        if kind in (None, finding.kind)
    ]
    if call.json:
        output.say_json(
            {**replace(report, findings=tuple(found[:limit])).to_dict(), "count": report.count}
        )
        return
    for finding in found[:limit]:
        output.say(output.bold(finding.kind), f"  {finding.id}")
        output.paragraph("  ", finding.message)
        output.paragraph("  ", finding.hint, body=output.dim)
    call.warn(report.warnings)
    files = counted(report.files, "file")
    count = counted(len(found), "finding")
    output.say(f"{count} in {counted(report.records, 'record')} of {files}")


class _Jobs(Group):
    """`jobs` alone lists them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Options in front of the action, which is `list` if there is none."""
        rest = click.Group.parse_args(self, ctx, args)
        if not ctx._protected_args:  # noqa: SLF001 - click has no other name for the action
            ctx._protected_args = ["list"]  # noqa: SLF001
        return rest


@click.group("jobs", cls=_Jobs)
def jobs() -> None:
    """See what jobs did or propose; apply it, undo it.

    Jobs tidy the memory. Each is stored with its changes: list them (also without an action), show one,
    see its diff, undo it byte for byte. With jobs.review = "ask" a job waits as a proposal until you
    apply or decline it. An id may be shortened; --last means the newest.
    """


jobs.examples = """\
memolith jobs list
memolith jobs diff --last
memolith jobs apply --last
memolith jobs undo 20261115T030000.000Z-compact"""


@jobs.command("list", cls=Command)
@limit_option(20, "how many, the newest; 0 is all")
@click.pass_obj
def list_jobs(call: Call, limit: int) -> None:
    """The jobs that are stored, newest last."""
    with call.open() as memory:
        is_there = memory.profile.exists
        stored = memory.jobs.list() if is_there else ()
        runs = memory.jobs.scheduled() if is_there else ()
        damaged = memory.jobs.damaged() if is_there else ()
        shown = stored[-limit:]
        if call.json:
            scheduled = tuple(
                ScheduledRun(job=run.job, at=run.at, came_of=run.came_of or None) for run in runs
            )
            listed = JobList(jobs=tuple(shown), scheduled=scheduled, warnings=tuple(damaged))
            output.say_json(listed.to_dict())
            return
        rows = ((report.id or "", report.status, _in_short(report)) for report in shown)
        output.table(rows, ("job", "status", "what it did"))
        if not shown and not damaged:
            output.note(_NONE_KEPT if runs else _NO_JOBS)
        call.warn(damaged)
        for run in runs:
            at = memory.jobs.clock.local(run.at)
            result = _result_of_run(run.came_of, {report.id or "" for report in stored})
            output.note(f"{run.job}, last run by the schedule on {at:%Y-%m-%d %H:%M}: ", result)
        from memolith.jobs.overfull import told_of_limits

        if limits := told_of_limits(memory.config, memory.profile):
            output.note(f"{limits}.")


def _result_of_run(text: str, stored: Collection[str]) -> str:
    """The result of a run; a proposal that it left may have been declined or withdrawn since."""
    proposal = text.removeprefix("proposed: ")
    if proposal != text and proposal not in stored:
        return "a proposal, which was declined or withdrawn since"
    return text.removeprefix("skipped: ") or "it runs, or its process died"


def _in_short(report: JobReport) -> str:
    counts = ", ".join(
        f"{_label(report.job, name)} {number:,}"
        for name, number in report.counts.items()
        if name in _RESULTS and number
    )
    text = report.reason or counts or ", ".join(report.files)
    return text if len(text) <= _MAX_CHARS else f"{text[:_MAX_CHARS].rstrip()} …"


def _action(name: str, text: str) -> None:
    """Add an action on one job to `jobs`."""

    def run(call: Call, /, job_id: str | None, last: bool, include_secret: bool = False) -> None:
        if bool(job_id) == last:
            raise UsageError(
                "Which job? Give its id, or --last.", hint="List them with: memolith jobs list"
            )
        with call.open() as memory:
            if name != "diff":
                report: JobReport = getattr(memory.jobs, name)(job_id or "last")
                show_report(call, report, max_lines=0 if name == "show" else _MAX_LINES)
                return
            job = memory.jobs.show(job_id or "last")
            changes = memory.jobs.diff(job, include_secret=include_secret)
        if call.json:
            output.say_json({"id": job.id, "diff": changes})
        else:
            output.diff(changes)

    made = jobs.command(name, cls=Command, help=text)(click.pass_obj(run))
    made.params[:0] = [
        click.Argument(["job_id"], metavar="ID", required=False, help="the job"),
        click.Option(["--last"], is_flag=True, help="the newest job"),
    ]
    if name == "diff":
        made.params.insert(
            2, click.Option(["--include-secret"], is_flag=True, help="also secret ones")
        )


for _name, _text in {
    "show": "What a job did.",
    "diff": "The changes of a job, line by line.",
    "apply": "Do what a proposal says.",
    "decline": "Delete a proposal.",
    "undo": "Take back what a job changed; what came later stays.",
}.items():
    _action(_name, _text)


@command(
    examples="""\
memolith restore
memolith restore 20261115T120000.000Z-trim
memolith restore --latest"""
)
@click.argument("name", metavar="NAME", required=False, help="the backup to bring back")
@click.option("--latest", is_flag=True, help="bring back the newest, which undoes the last change")
@click.pass_obj
def restore(call: Call, name: str | None, latest: bool) -> None:
    """List the backups, newest last; with a name, put the files of that backup back.

    They come back byte for byte. Records written since the backup are appended to them. The current
    files are saved first, so a restore can be undone by another.
    """
    if name and latest:
        raise UsageError("Both a name and --latest are given.", hint="Leave one of them out.")
    with call.open() as memory:
        backups = memory.files.backups()
        if not name and not latest:
            _list_backups(call, backups)
            return
        if not name and not backups:
            raise BackupNotFoundError(
                "There is no backup to bring back yet.", name="latest", hint=_NO_BACKUPS
            )
        report = memory.files.restore(name or backups[-1].name)
    if call.json:
        output.say_json(report.to_dict())
        return
    output.say(output.bold("Restored"), f"  {report.backup}")
    for path in report.files:
        output.say("  ", path)
    if report.appended:
        output.say("  kept  ", f"{counted(report.appended, 'newer record')}, appended at the end")
    output.say("  undo  ", call.again(f"restore {report.replaced_saved_as}"))


def _list_backups(call: Call, backups: Sequence[Backup]) -> None:
    if call.json:
        output.say_json({"backups": [backup.to_dict() for backup in backups]})
        return
    rows = []
    for backup in backups:
        made = backup.created.astimezone().strftime("%Y-%m-%d %H:%M")
        rows.append((backup.name, made, f"before {backup.reason}", ", ".join(backup.files)))
    output.table(rows, ("backup", "made", "why", "files"))
    if not backups:
        output.note(f"No backups yet. {_NO_BACKUPS}")
