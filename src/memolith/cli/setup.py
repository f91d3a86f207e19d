"""Commands that set a memory up and look after it."""

from __future__ import annotations

import os
import pwd
import shlex
import sys
from collections.abc import Iterator
from dataclasses import replace

import click

from memolith.approvals import is_approved, read_approvals
from memolith.cli import exit_codes, output
from memolith.cli.exit_codes import UsageError
from memolith.cli.options import (
    Call,
    at_terminal,
    command,
    confirmed,
    yes_option,
)
from memolith.clock import Clock
from memolith.config.load import open_profile, settings_from_flags
from memolith.errors import MemolithError, NotFoundError, RefusedError
from memolith.files.folder import SECOND_NAME
from memolith.files.locks import STATE_FOLDER
from memolith.jobs.reports import DoctorReport, Status
from memolith.jobs.trust import Survey, survey, withdraw
from memolith.jobs.trust import approve as approve_folder
from memolith.memory import Memory, open_store
from memolith.profile import Profile
from memolith.reports import IndexStatus
from memolith.store import Store
from memolith.text.wording import counted, refused_chunks


@command(
    examples="""\
memolith init
memolith init ~/notes/memory
memolith init --profile work"""
)
@click.argument("folder", metavar="[DIR]", required=False, help="as --root DIR")
@yes_option
@click.pass_obj
def init(call: Call, folder: str | None, yes: bool) -> int:
    """Make the folder of a memory, with MEMORY.md, USER.md and memolith.toml in it.

    Commands run below the folder use it then. Files that are there stay as they are; if they are a memory,
    `init` shows what it holds and asks before it approves it (see `memolith trust`). In a git work tree it
    offers lines for .gitignore that keep the memory out of git. Other commands make what they need by
    themselves, except a profile with a name of its own.
    """
    if folder and (call.root or call.profile):
        raise UsageError("DIR is given twice.", hint="Leave out --root and --profile.")
    call.root = folder or call.root
    with call.open(create=True) as memory:
        # What the environment names is approved for one process, what is typed here for good.
        is_named = memory.profile.found_by == "argument" and call.root
        if is_named and not _may_use(call, memory.profile, yes=yes):
            return exit_codes.DECLINED
        made = memory.init()
        if is_named:
            approve_folder(memory.root, memory.profile.home, Clock().now())
        _keep_out_of_git(memory.root, asks=at_terminal() and not call.json and not yes)
    if call.json:
        output.say_json({"profile": memory.profile.name, "root": memory.root, "made": made})
        return exit_codes.OK
    for path in made:
        output.say(output.bold("Made"), f"  {path}")
    output.say("This memory is in " if made else "Everything was there already, in ", memory.root)
    return exit_codes.OK


def _may_use(call: Call, profile: Profile, *, yes: bool) -> bool:
    """Whether the user approves a memory that is already in the folder."""
    if not profile.exists or is_approved(profile.root, profile.home):
        return True
    if os.path.realpath(profile.root).startswith(os.path.realpath(profile.home) + os.sep):
        return True
    found = survey(profile.root)
    again = f"memolith init {shlex.quote(profile.root)} --yes"
    return found is None or yes_to_memory(call, found, again, yes=yes)


def _keep_out_of_git(root: str, *, asks: bool) -> None:
    """Offer to ignore the private files, if git does not; without a terminal, say how."""
    from memolith.jobs.checks.place import (
        IGNORE_FILE,
        IGNORE_LINES,
        ignore_private_files,
        private_files_in_git,
    )

    _, exposed = private_files_in_git(root)
    if not exposed:
        return
    lines = " ".join(IGNORE_LINES.split())
    if not asks:
        file = os.path.join(root, IGNORE_FILE)
        output.note(f"To keep the memory out of git, add to {file}: {lines}")
        return
    output.note(f"{root} is in a git work tree, and git does not ignore the memory.")
    if confirmed(f"Add to {IGNORE_FILE}: {lines}?"):
        ignore_private_files(root)


@command(
    examples="""\
memolith trust ~/work/project
memolith trust --list
memolith trust --remove ~/work/project"""
)
@click.argument("folder", metavar="[DIR]", required=False, help="the folder of the memory")
@click.option("--list", "lists", is_flag=True, help="show the approved folders")
@click.option("--remove", is_flag=True, help="take the approval of DIR back")
@yes_option
@click.pass_obj
def trust(call: Call, folder: str | None, lists: bool, remove: bool, yes: bool) -> int:
    """Approve the memory of a folder, so that it is used wherever you work below that folder.

    Somebody else may have written it: a memory that came with a cloned project says what an agent of yours
    takes for its own. The command shows what the memory holds and asks. Without DIR it is the nearest memory
    above the current folder.
    """
    found, _ = open_profile(folder or call.root, lenient=True, use_default=True)
    if lists:
        _list_approved(call, found.home)
        return exit_codes.OK
    root = found.unapproved or found.root
    if remove:
        path = withdraw(root, found.home)
        if call.json:
            output.say_json({"root": path, "approved": False})
        else:
            output.say(output.bold("No longer approved"), f"  {path}")
        return exit_codes.OK
    memory = survey(root) if os.path.isdir(root) else None
    if memory is None:
        make = f"To make one: memolith init {shlex.quote(root)}"
        raise NotFoundError(f"There is no memory in {root}.", name=root, hint=make)
    if not yes_to_memory(call, memory, f"memolith trust {shlex.quote(root)} --yes", yes=yes):
        return exit_codes.DECLINED
    approve_folder(root, found.home, Clock("").now())
    if call.json:
        changed = memory.newest_change and memory.newest_change.isoformat()
        counts = {"records": memory.records, "files": memory.files, "newest_change": changed}
        output.say_json({"root": memory.root, **counts, "approved": True})
    else:
        output.say(output.bold("Approved"), f"  {memory.root}")
    return exit_codes.OK


def yes_to_memory(call: Call, found: Survey, again: str, *, yes: bool) -> bool:
    """Show what would be approved and ask; without a terminal, `again` is the way to say yes."""
    changed = found.newest_change.astimezone() if found.newest_change else None
    output.note(
        f"{found.root} holds {counted(found.records, 'record')}"
        f" in {counted(found.files, 'Markdown file')}"
        + (f", changed last on {changed:%Y-%m-%d %H:%M}" if changed else "")
        + (f"; it belongs to {_user_name(found.owner)}" if found.owner != os.geteuid() else "")
        + "."
    )
    if yes:
        return True
    if call.json or not at_terminal():
        raise RefusedError(
            "Only you can approve a memory, and there is no terminal to ask you on."
            " Nothing was changed.",
            hint=f"If you know who wrote it: {again}",
        )
    if confirmed("Let your agents use this memory?"):
        return True
    output.note("Nothing was changed.")
    return False


def _user_name(owner: int) -> str:
    try:
        return pwd.getpwuid(owner).pw_name
    except KeyError:
        return f"user {owner}"


def _list_approved(call: Call, home: str) -> None:
    def state(path: str) -> str:
        if not os.path.isdir(path):
            return "missing"
        return "approved" if is_approved(path, home) else "other owner"

    known = read_approvals(home)
    folders = [(path, known[path].get("approved"), state(path)) for path in sorted(known)]
    if call.json:
        names = ("root", "approved", "state")
        output.say_json({"folders": [dict(zip(names, row, strict=True)) for row in folders]})
        return
    output.table(
        (path, f"approved {str(day)[:10]}" + ("" if now == "approved" else f", not used: {now}"))
        for path, day, now in folders
    )
    if not folders:
        output.note("No folder is approved yet: memolith trust DIR")


@command(examples="memolith status")
@click.pass_obj
def status(call: Call) -> None:
    """Show which memory is used, what it holds, and how far its index is."""
    with call.open(reads=True) as memory:
        found = memory.status()
        index, problem = _index_status(memory)
        from memolith.jobs.overfull import told_of_limits

        limits = "" if call.json else told_of_limits(memory.config, memory.profile)
    if call.json:
        output.say_json({**found.to_dict(), "index": index and index.to_dict()})
        return
    for label, value in (*_status_lines(found), *_index_lines(call, found, index)):
        output.say(output.dim(f"{label:12}"), value)
    if limits:
        output.say(output.dim(f"{'compaction':12}"), limits)
    call.warn(found.warnings, see="doctor")
    call.warn((*problem, *(index.warnings if index else ())))


def _index_status(memory: Memory) -> tuple[IndexStatus | None, tuple[str, ...]]:
    """The state of the index, if there is one, or what is wrong with it."""
    if not os.path.lexists(os.path.join(memory.root, STATE_FOLDER, "index")):
        return None, ()  # which needs no library of the index
    try:
        return memory.index.status(), ()
    except MemolithError as error:
        return None, (error.message,)


def _status_lines(found: Status) -> Iterator[tuple[str, str]]:
    yield "profile", found.profile
    yield "folder", found.root
    if not found.initialised:
        yield "", "Nothing remembered yet. The first record makes the folder."
        return
    yield "records", f"{found.records:,}"
    for label, count in (
        ("notes", found.notes),
        ("daily logs", found.daily_logs),
        ("chat turns", found.turns),
        ("archived", found.archived),
        ("forgotten", found.forgotten),
        ("backups", found.backups),
    ):
        if count:
            yield label, f"{count:,}"
    yield "size", _size(found.bytes)


def _index_lines(call: Call, found: Status, index: IndexStatus | None) -> Iterator[tuple[str, str]]:
    if not found.initialised:
        return
    if index is None or not index.exists:
        yield "index", "none yet; the first search or `memolith sync` makes it"
    elif index.damaged:
        now = call.again("sync --rebuild")
        yield "index", f"damaged: the next search makes it again, or now: {now}"
    else:
        held = f"{counted(index.files, 'file')}, {counted(index.chunks, 'chunk')}"
        behind = f"{counted(index.changed, 'file')} changed since the last sync"
        state = behind if index.changed else "in line with the files"
        yield "index", f"{held}, {_size(index.bytes)}; {state}"
        yield "model", index.model or "none yet"
        if index.without_vector:
            chunks = counted(index.without_vector, "chunk")
            yield "", f"{chunks} not embedded yet: found by words only"
        if index.refused:
            yield "", refused_chunks(index.refused)


def _size(number: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "bytes" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"


@command(examples="memolith doctor\nmemolith doctor --fix")
@click.option(
    "--fix",
    is_flag=True,
    help="mend what can be mended without touching anybody's words: modes, the work of a killed writer,"
    " left-over files; asks before it copies files with a second name",
)
@yes_option
@click.pass_obj
def doctor(call: Call, fix: bool, yes: bool) -> int:
    """Look at everything that can be wrong with a memory.

    Damaged lines by file and line number, links, modes, locks, backups, what a crash left behind. Nothing is
    changed without --fix. The exit code tells whether anything is an error.
    """
    given = settings_from_flags(call.set)
    profile, loaded = open_profile(
        call.root, call.profile, given, lenient=True, use_default=not fix
    )
    call.warn_of_unapproved(profile)
    with open_store(Store(profile, loaded, given), "cli") as memory:
        report = memory.doctor(fix=fix, copy_linked=fix and yes)
        linked = [check.message for check in report.checks if SECOND_NAME in check.message]
        if fix and linked and at_terminal() and not call.json:
            for message in linked:
                output.note(message)
            if confirmed("Keep their content, each in a file of its own?"):
                mended = report.mended
                report = memory.doctor(fix=True, copy_linked=True)
                report = replace(report, mended=(*mended, *report.mended))
    checks = tuple(
        replace(check, hint=check.hint and call.here(check.hint)) for check in report.checks
    )
    report = replace(report, checks=checks)
    if call.json:
        output.say_json({**report.to_dict(), "healthy": report.healthy})
    else:
        _print_checks(report)
    return exit_codes.OK if report.healthy else exit_codes.UNHEALTHY


def _print_checks(report: DoctorReport) -> None:
    """Print what was found, worst first, in the colour of its status."""
    looks = {
        "error": ("✗", "x", output.red),
        "warn": ("!", "!", output.yellow),
        "info": ("·", ".", output.dim),
        "ok": ("✓", "+", output.green),
        "off": ("-", "-", output.dim),
    }
    for sentence in report.mended:
        output.say(f"Mended: {sentence}")
    width = max(len(check.label) for check in report.checks)
    column = 0 if _can_print("".join(look[0] for look in looks.values())) else 1
    for check in report.checks:
        look = looks[check.status]
        output.paragraph(f"{look[column]} {check.label:{width}}  ", check.message, label=look[2])
        if check.hint:
            output.paragraph(" " * (width + 4), check.hint, body=output.dim)
    statuses = [check.status for check in report.checks]
    errors, warnings = statuses.count("error"), statuses.count("warn")
    counts = [counted(errors, "error")] * bool(errors)
    counts += [counted(warnings, "warning")] * bool(warnings)
    output.say(f"{', '.join(counts)}." if counts else "Nothing is wrong.")


def _can_print(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


@command(examples="memolith sync\nmemolith sync --rebuild")
@click.option("--rebuild", is_flag=True, help="delete the index first, and make it again")
@click.pass_obj
def sync(call: Call, rebuild: bool) -> None:
    """Bring the index in line with the files.

    Every search does this too; after a large import it is nicer to do it once, and to watch. With --rebuild the
    index is made again from the files; nothing you wrote is touched.
    """
    with call.open() as memory, output.progress("Indexing", "files") as bar:
        report = memory.index.rebuild(bar) if rebuild else memory.index.sync(bar)
    if call.json:
        output.say_json(report.to_dict())
        return
    chunks = counted(report.chunks, "chunk")
    done = [f"{report.indexed:,} indexed ({chunks})"] * bool(report.indexed)
    done += [f"{report.removed:,} removed"] * bool(report.removed)
    parts = (counted(report.files, "file"), ", ".join(done))
    output.say(output.bold("In sync"), f"  {'; '.join(filter(None, parts))}")
    call.warn(report.warnings)
