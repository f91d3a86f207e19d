"""Commands that tidy a memory. Each shows what it did, would do or proposes in the same form."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from memolith.cli import output
from memolith.cli.options import CODES, Call, Command, Steps, UsageError, command, group
from memolith.jobs.reports import JobDiff, JobList, JobReport
from memolith.jobs.run import ANOTHER_JOB
from memolith.memory import Memory
from memolith.reports import Backups
from memolith.text.cleaning import one_line
from memolith.text.wording import counted

_MAX_LINES = 15  # of a plan
_MAX_CHARS = 48  # of what a job did, in a list
# Others as their status.
_HEADINGS = {"planned": "Plan (nothing written)", "skipped": "Nothing to do"}
# What people read for a count, if not its name.
_LABELS = {
    "before": "records before",
    "after": "records after",
    "refused_lines": "lines of the model refused, by rules instead",
    "dropped": "removed to make room",
    "outdated": "removed (source changed)",
    "experiences.added": "taken in",
    "experiences.copies": "known already",
    "experiences.outdated": "a newer one says otherwise",
    "experiences.archived": "moved to the archive",
}
_ASIDE = ("records before", "records after", "looked at")  # in a list only what came of it
_NO_JOBS = "No job has changed anything that is kept, and no proposal waits."
_ACTIONS = {"done": ("undo",), "proposed": ("diff", "apply", "decline")}


def run_job(
    call: Call, method: str, *, dry_run: bool = False, apply: bool = False, **options: bool
) -> Steps:
    """Run a job of `Memory.jobs`, and show what it did; of a dry run also the changes."""
    if dry_run and apply:
        raise UsageError("Both --dry-run and --apply are given.", hint="Leave one of them out.")
    with call.open(settings={"jobs.review": "auto"} if apply else {}) as memory:
        with output.progress(method.removeprefix("extract_").capitalize()):
            report: JobReport = getattr(memory.jobs, method)(dry_run=dry_run, **options)
        yield report
        show_report(call, report)
        if report.changes and dry_run:
            output.diff(memory.jobs.diff(report))


def show_report(call: Call, report: JobReport, *, max_lines: int = _MAX_LINES) -> None:
    """Show what a job did or would do, with this many lines of its plan; 0 is all."""
    heading = _HEADINGS.get(report.status, report.status.capitalize())
    heading = "Not run" if report.reason == ANOTHER_JOB else heading
    output.report(heading, f"{report.job}  {report.id or ''}", ("", call.here(report.reason or "")))
    if report.status in ("undone", "declined"):  # the plan holds no longer
        changed = report.changes if report.status == "undone" else ()
        undone = [("removed" if one.created else "put back", one.path) for one in changed]
        output.pairs(*(undone or [("", "no file was changed")]))
        return
    lines = () if report.status == "skipped" else report.lines
    shown = lines[: max_lines or None]
    output.pairs(*_counts(report))
    output.pairs(*(("", line) for line in shown))
    if len(lines) > len(shown):
        where = f": {call.again(f'jobs show {report.id}')}" if report.id else ""
        output.say(f"  … and {len(lines) - len(shown):,} more{where}")
    again = shlex.join(["memolith", *(word for word in call.words if word != "--dry-run")])
    output.pairs(
        *(("changes", path) for path in report.files),
        ("to run it", again if report.status == "planned" else ""),
        *(
            (action, call.again(f"jobs {action} {report.id}"))
            for action in _ACTIONS.get(report.status, ())
        ),
    )


def _counts(report: JobReport) -> Iterator[tuple[str, str]]:
    """What a job counted, by what people call it."""
    counts = report.counts
    is_same = counts.get("before") == counts.get("after")
    for name, number in counts.items():
        label = _LABELS.get(f"{report.job}.{name}") or _LABELS.get(name) or name.replace("_", " ")
        if not (is_same and name in ("before", "after")):
            yield label, output.shown(number)


@command()
def compact(call: Call, **how: bool) -> Steps:
    """Summarise old records until MEMORY.md is under its limits.

    The limits are compact.max_records and compact.max_chars. The records go to the archive and stay in
    the daily logs; facts, preferences and decisions, secrets and what you wrote by hand are never
    touched. It can be undone: memolith jobs undo --last

    Options:
        --dry-run
        --apply

    Examples:
        memolith compact --dry-run
        memolith compact --apply
        memolith config set compact.enabled true
    """
    return run_job(call, "compact", **how)


@command()
def trim(call: Call, dry_run: bool, **limits: int | None) -> Steps:
    """Bring MEMORY.md under its limits: the oldest records go to the archive.

    Facts, preferences, decisions and summaries go last. Daily logs and what you wrote by hand stay. A backup is
    made first. With jobs.review = "ask" it waits as a proposal. The limits are settings
    (trim.max_records, trim.max_chars); options win over them this once.

    Options:
        --dry-run
        --max-records N  most records to keep; 0 is no limit
        --max-chars N  most characters to keep; 0 is no limit

    Examples:
        memolith trim --max-records 500 --dry-run
        memolith trim --max-records 500
        memolith config set trim.max_records 500
    """
    call.set += [f"trim.{name}={value}" for name, value in limits.items() if value is not None]
    return run_job(call, "trim", dry_run=dry_run)


@group(default="run")
def dream() -> None:
    """Promote what is asked for again and again.

    Dreaming puts into MEMORY.md whole facts, with their source, in marked blocks. With jobs.review = "ask"
    a dream waits as a proposal, unless --apply is given. Without an action it dreams.

    Examples:
        memolith dream --dry-run
        memolith dream status
        memolith dream explain memory/2026-04-09.md#L12
    """


@dream.action("run")
def run_dream(call: Call, **how: bool) -> Steps:
    """Dream now.

    Options:
        --dry-run
        --apply
        --again  also what you took out, undid or declined (status lists it)
    """
    return run_job(call, "dream", **how)


@dream.action("status")
def dream_status(call: Call, memory: Memory) -> Steps:
    """Show what is tracked, and what is next."""
    status = memory.jobs.dream_status()
    yield status
    is_early = status.tracked and not (status.next or status.waiting)
    output.report(
        "Dreaming",
        "" if status.tracking else "recalls are not tracked (dream.track = false)",
        *output.facts(status, "last_dream tracked promoted promoted_chars"),
        ("recalls since the last dream", output.shown(status.noted_since)),
        ("next", "nothing to promote yet" if is_early else ""),
    )
    for title, found in {
        "would be promoted now": status.next,
        "would not be promoted": status.waiting,
        f"left out; to allow it again: {call.again('dream --again')}": status.undone,
    }.items():
        if found:
            output.say(f"  {title}:")
            output.listing(found, "score citation reason snippet", "score place reason statement")


@dream.action("explain")
def explain_dream(memory: Memory, key: str) -> Steps:
    """Say why a statement is promoted or not.

    Options:
        KEY  a citation that status shows, the id of a record, or the words
    """
    found = memory.jobs.explain(key)
    yield found
    verdict = "would be promoted" if found.promotes else f"would not be promoted: {found.reason}"
    asked = "recalls questions shown used spread score"
    output.report(found.citation, verdict, ("", one_line(found.snippet)))
    output.pairs(("days", len(found.days)), *output.facts(found, asked))
    for name, value in found.signals.items():
        weight = found.weights[name]
        output.say(f"    {weight * value:.3f}  {name:<14} {value:.2f} × {weight}")
    output.say(f"  key {found.key}")


@command()
def scan(call: Call, memory: Memory, kind: str | None, limit: int) -> Steps:
    """Look for contradictions, copies and open secrets.

    It finds claims that contradict each other, records nobody has asked for in 120 days, records that
    say the same, citations that lead nowhere, and keys or passwords that are not marked secret. Each
    finding comes with a command that deals with it, or shows it if that is for you to say; nothing is
    changed.

    Options:
        --kind contradiction|duplicate|stale|broken-citation|open-secret  only these
        --limit N  how many findings (default: 50)

    Examples:
        memolith scan
        memolith scan --kind contradiction
    """
    with output.progress("Scanning"):
        report = memory.jobs.scan()
    found = [one for one in report.findings if kind in (None, one.kind)]
    shown = tuple(replace(one, hint=call.here(one.hint)) for one in found[:limit])
    yield replace(report, findings=shown, count=len(found))
    for finding in shown:
        output.report(finding.kind, finding.id, ("", finding.message))
        output.paragraph("  ", finding.hint, body=output.dim)
    among = f"{counted(report.records, 'record')} of {counted(report.files, 'file')}"
    output.say(f"{counted(len(found), 'finding')} in {among}")


@group(default="list")
def jobs() -> None:
    """See what jobs did or propose; apply it, undo it.

    Jobs tidy the memory. Each is stored with its changes: list them (also without an action), show one,
    see its diff, undo it byte for byte. With jobs.review = "ask" a job waits as a proposal until you
    apply or decline it. An id may be shortened; --last means the newest.

    Examples:
        memolith jobs list
        memolith jobs diff --last
        memolith jobs apply --last
        memolith jobs undo 20261115T030000.000Z-compact
    """


@jobs.action("list")
def list_jobs(memory: Memory, limit: int) -> Steps:
    """The jobs that are stored, newest last.

    Options:
        --limit N  how many, the newest; 0 is all (default: 20)
    """
    from memolith.jobs.scheduler import notices

    stored = memory.jobs.list()
    shown = JobList(stored[-limit:], stored.scheduled, stored.warnings)
    yield shown
    output.table(((one.id, one.status, _in_short(one)) for one in shown), "job status result")
    if not shown and not shown.warnings:
        output.note(_NO_JOBS)
    kept = {one.id for one in stored}
    for run in shown.scheduled:
        came_of = (run.came_of or "it runs, or its process died").removeprefix("skipped: ")
        if came_of.startswith("proposed: ") and came_of.removeprefix("proposed: ") not in kept:
            came_of = "a proposal, which was declined or withdrawn since"
        at = output.shown(run.at)
        output.note(f"{run.job}, last run by the schedule on {at}: {came_of}")
    for label, notice in notices(memory.config, memory.profile):
        if label != "schedule":  # what came of the last runs is above
            output.note(f"{notice}.")


@jobs.action("run")
def run_as_scheduled(call: Call, name: str, link: int | None) -> Steps:
    """Run one now as a server does; an error becomes a report, and what you undid stays undone.

    Options:
        NAME  compact, dream or experiences
        --link N
    """
    if link is not None:  # a server has started this, and hears of each step
        from memolith.jobs.worker import serve

        serve(link)
        return
    with call.open() as memory:
        report = memory.jobs.unattended(name)
    call.code = CODES["job"] if report.status == "failed" else call.code
    yield report
    show_report(call, report)


def _in_short(report: JobReport) -> str:
    counts = ", ".join(
        f"{label} {number}" for label, number in _counts(report) if number and label not in _ASIDE
    )
    text = report.reason or counts or ", ".join(report.files)
    return text if len(text) <= _MAX_CHARS else f"{text[:_MAX_CHARS].rstrip()} …"


def _on_one_job(name: str, help_text: str) -> None:
    """Add an action on one job to `jobs`."""

    def run(call: Call, memory: Memory, id_: str | None, last: bool, **how: Any) -> Steps:
        if bool(id_) == last:
            waiting = [str(one.id) for one in memory.jobs.list() if one.status == "proposed"]
            hint = f"Proposed: {', '.join(waiting) or 'none'}. To list all: memolith jobs list"
            raise UsageError("Which job? Give its id, or --last.", hint=hint)
        if name == "diff":
            job = memory.jobs.show(id_ or "last")
            changes = memory.jobs.diff(job, **how)
            yield JobDiff(id=job.id, diff=changes)
            output.diff(changes)
            return
        report: JobReport = getattr(memory.jobs, name)(id_ or "last")
        yield report
        show_report(call, report, max_lines=0 if name == "show" else _MAX_LINES)

    more = "\n--include-secret  also secret ones" if name == "diff" else ""
    options = f"[ID]  the job\n--last  the newest job{more}"
    jobs.add_command(Command(name, run, f"{help_text}\n\nOptions:\n{options}"))


for _name, _help in {
    "show": "What a job did.",
    "diff": "The changes of a job, line by line.",
    "apply": "Do what a proposal says.",
    "decline": "Delete a proposal.",
    "undo": "Take back what a job changed; what came later stays.",
}.items():
    _on_one_job(_name, _help)


@command()
def restore(call: Call, memory: Memory, name: str | None, latest: bool) -> Steps:
    """List the backups, newest last; with a name, put the files of that backup back.

    They come back byte for byte. Records written since the backup are appended to them. The current
    files are saved first, so a restore can be undone by another.

    Options:
        [NAME]  the backup to bring back
        --latest  bring back the newest, which undoes the last change

    Examples:
        memolith restore
        memolith restore 20261115T120000.000Z-trim
        memolith restore --latest
    """
    if name and latest:
        raise UsageError("Both a name and --latest are given.", hint="Leave one of them out.")
    backups = memory.files.backups()
    if latest:
        name = backups[-1].name if backups else "latest"
    if name:
        report = memory.files.restore(name)
        yield report
        newer = report.appended and counted(report.appended, "newer record")
        output.report(
            "Restored",
            report.backup,
            *(("", path) for path in report.files),
            ("kept", newer and f"{newer}, appended at the end"),
            ("undo", call.again(f"restore {report.replaced_saved_as}")),
        )
        return
    yield Backups(backups=backups)
    rows = (
        (one.name, output.shown(one.created), f"before {one.reason}", ", ".join(one.files))
        for one in backups
    )
    output.table(rows, "backup made why files")
    if not backups:
        output.note("No backups yet. One is made before a file is rewritten.")
