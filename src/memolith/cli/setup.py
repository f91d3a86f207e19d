"""Commands that set a memory up and look after it."""

from __future__ import annotations

import math
import os
import pwd
import shlex
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import click

from memolith.approvals import is_approved, read_approvals
from memolith.cli import exit_codes, output
from memolith.cli.exit_codes import UsageError
from memolith.cli.options import Call, at_terminal, command, confirmed, flag, yes_option
from memolith.clock import Clock
from memolith.config.load import open_profile, settings_from_flags
from memolith.errors import NotFoundError, RefusedError
from memolith.files.folder import SECOND_NAME
from memolith.jobs.reports import Check, DoctorReport, Status
from memolith.jobs.trust import Survey, survey, withdraw
from memolith.jobs.trust import approve as approve_folder
from memolith.memory import open_store
from memolith.profile import Profile
from memolith.reports import InitReport
from memolith.store import Store
from memolith.text.wording import counted, refused_chunks


@command()
@click.argument("folder", metavar="[DIR]", required=False, help="as --root DIR")
@flag("--git", help="keep it in git, where two machines' records are merged")
@yes_option
def init(call: Call, folder: str | None, git: bool, yes: bool) -> int:
    """Make the folder of a memory, with MEMORY.md, USER.md and memolith.toml in it.

    Commands run below the folder use it then. Files that are there stay as they are; if they are a memory,
    `init` shows what it holds and asks before it approves it (see `memolith trust`). In a git work tree it
    offers lines for .gitignore that keep the memory out of git; with --git it becomes a repository, or part of
    the one it is in, and git learns to merge what several machines wrote: once in each clone. Other commands
    make what they need by themselves, except a profile with a name of its own.

    Examples:
        memolith init
        memolith init ~/notes/memory
        memolith init --profile work
        memolith init --git ~/notes/memory
    """
    if folder and (call.root or call.profile):
        raise UsageError("DIR is given twice.", hint="Leave out --root and --profile.")
    call.root = folder or call.root
    with call.open(create=True) as memory:
        # What the environment names is approved for one process, what is typed here for good.
        is_named = memory.profile.found_by == "argument" and call.root
        if is_named and not _may_use(call, memory.profile, git=git, yes=yes):
            return exit_codes.DECLINED
        made = memory.init()
        if is_named:
            approve_folder(memory.root, memory.profile.home, Clock().now())
        in_git: tuple[str, ...] = ()
        if git:
            from memolith.jobs.machines import set_up_git

            in_git = set_up_git(memory.root, memory.config.store)
        else:
            _keep_out_of_git(memory.root, asks=at_terminal() and not call.json and not yes)
    report = InitReport(profile=memory.profile.name, root=memory.root, made=made, git=in_git)
    if not call.prints_json(report):
        for path in made:
            output.say(output.bold("Made"), f"  {path}")
        for sentence in in_git:
            output.say(sentence)
        is_new = made or in_git
        output.say(
            "This memory is in " if is_new else "Everything was there already, in ", memory.root
        )
    return exit_codes.OK


def _may_use(call: Call, profile: Profile, *, git: bool, yes: bool) -> bool:
    """Whether the user approves a memory that is already in the folder."""
    if not profile.exists or is_approved(profile.root, profile.home):
        return True
    if os.path.realpath(profile.root).startswith(os.path.realpath(profile.home) + os.sep):
        return True
    found = survey(profile.root)
    again = f"memolith init {'--git ' * git}{shlex.quote(profile.root)} --yes"
    return found is None or yes_to_memory(call, found, again, yes=yes)


def _keep_out_of_git(root: str, *, asks: bool) -> None:
    """Offer to ignore the private files, if git does not; without a terminal, say how."""
    from memolith.jobs.checks import place

    _, exposed = place.private_files_in_git(root)
    if not exposed:
        return
    lines = " ".join(place.IGNORE_LINES.split())
    if not asks:
        file = os.path.join(root, place.IGNORE_FILE)
        output.note(f"To keep the memory out of git, add to {file}: {lines}")
        return
    output.note(f"{root} is in a git work tree, and git does not ignore the memory.")
    if confirmed(f"Add to {place.IGNORE_FILE}: {lines}?"):
        place.ignore_private_files(root)


@command()
@click.argument("folder", metavar="[DIR]", required=False, help="the folder of the memory")
@flag("--list", "lists", help="show the approved folders")
@flag("--remove", help="take the approval of DIR back")
@yes_option
def trust(call: Call, folder: str | None, lists: bool, remove: bool, yes: bool) -> int:
    """Approve the memory of a folder, so that it is used wherever you work below that folder.

    Somebody else may have written it: a memory that came with a cloned project says what an agent of yours
    takes for its own. The command shows what the memory holds and asks. Without DIR it is the nearest memory
    above the current folder.

    Examples:
        memolith trust ~/work/project
        memolith trust --list
        memolith trust --remove ~/work/project
    """
    profile, _ = open_profile(folder or call.root, lenient=True, use_default=True)
    root, home = profile.unapproved or profile.root, profile.home
    if lists:
        _list_approved(call, home)
    elif remove:
        path = withdraw(root, home)
        if not call.prints_json({"root": path, "approved": False}):
            output.say(output.bold("No longer approved"), f"  {path}")
    else:
        found = survey(root) if os.path.isdir(root) else None
        if found is None:
            make = f"To make one: memolith init {shlex.quote(root)}"
            raise NotFoundError(f"There is no memory in {root}.", name=root, hint=make)
        if not yes_to_memory(call, found, f"memolith trust {shlex.quote(root)} --yes", yes=yes):
            return exit_codes.DECLINED
        approve_folder(root, home, Clock("").now())
        if not call.prints_json({**found.to_dict(), "approved": True}):
            output.say(output.bold("Approved"), f"  {found.root}")
    return exit_codes.OK


def yes_to_memory(call: Call, found: Survey, again: str, *, yes: bool) -> bool:
    """Show what would be approved and ask; without a terminal, `again` is the way to say yes."""
    files = counted(found.files, "Markdown file")
    holds = f"{found.root} holds {counted(found.records, 'record')} in {files}"
    if found.newest_change:
        holds += f", changed last on {found.newest_change.astimezone():%Y-%m-%d %H:%M}"
    if found.owner != os.geteuid():
        owner = f"user {found.owner}"
        with suppress(KeyError):
            owner = pwd.getpwuid(found.owner).pw_name
        holds += f"; it belongs to {owner}"
    output.note(f"{holds}.")
    if yes:
        return True
    if call.json or not at_terminal():
        message = "Only you can approve a memory, and there is no terminal to ask you on. Nothing was changed."  # fmt: skip
        raise RefusedError(message, hint=f"If you know who wrote it: {again}")
    if confirmed("Let your agents use this memory?"):
        return True
    output.note("Nothing was changed.")
    return False


def _list_approved(call: Call, home: str) -> None:
    folders = []
    for path, known in sorted(read_approvals(home).items()):
        state = "approved" if is_approved(path, home) else "other owner"
        state = state if os.path.isdir(path) else "missing"
        folders.append({"root": path, "approved": known.get("approved"), "state": state})
    if call.prints_json({"folders": folders}):
        return
    unused = {"missing": ", not used: missing", "other owner": ", not used: other owner"}
    output.table(
        (
            str(one["root"]),
            f"approved {str(one['approved'])[:10]}{unused.get(str(one['state']), '')}",
        )
        for one in folders
    )
    if not folders:
        output.note("No folder is approved yet: memolith trust DIR")


@command()
def status(call: Call) -> None:
    """Show which memory is used, what it holds, and how far its index is.

    Examples:
        memolith status
    """
    from memolith.jobs.scheduler import notices

    with call.open(reads=True) as memory:
        found = memory.status()
        schedule = list(notices(memory.config, memory.profile))
    if call.prints_json(found):
        return
    for label, value in (*_status_lines(found), *_index_lines(call, found), *schedule):
        if value:
            output.say(output.dim(f"{label:12}"), value)
    call.warn(found.warnings, see="doctor")
    call.warn(found.index.warnings if found.index else ())


def _status_lines(found: Status) -> Iterator[tuple[str, str]]:
    yield "profile", found.profile
    yield "folder", found.root
    if not found.initialised:
        yield "", "Nothing remembered yet. The first record makes the folder."
        return
    yield "records", f"{found.records:,}"
    for name in ("notes", "daily_logs", "turns", "archived", "forgotten", "backups"):
        if count := getattr(found, name):
            yield "chat turns" if name == "turns" else name.replace("_", " "), f"{count:,}"
    yield "size", _size(found.bytes)


def _index_lines(call: Call, found: Status) -> Iterator[tuple[str, str]]:
    index = found.index
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
    if number < 1000:
        return f"{number:.0f} bytes"
    power = min(int(math.log10(number)) // 3, 3)
    return f"{number / 1000**power:.1f} {('', 'kB', 'MB', 'GB')[power]}"


@command()
@flag("--fix", help="mend what can be mended without touching anybody's words: modes, the work of a killed writer, left-over files; asks before it copies files with a second name")  # fmt: skip
@yes_option
def doctor(call: Call, fix: bool, yes: bool) -> int:
    """Look at everything that can be wrong with a memory.

    Damaged lines by file and line number, links, modes, locks, backups, what a crash left behind. Nothing is
    changed without --fix. The exit code tells whether anything is an error.

    Examples:
        memolith doctor
        memolith doctor --fix
    """
    given = settings_from_flags(call.set)
    profile, loaded = call.load(given, lenient=True, use_default=not fix)
    with open_store(Store(profile, loaded, given), "cli") as memory:
        report = memory.doctor(fix=fix, copy_linked=fix and yes)
        linked = [check.message for check in report.checks if SECOND_NAME in check.message]
        if fix and linked and at_terminal() and not call.json:
            output.note("\n".join(linked))
            if confirmed("Keep their content, each in a file of its own?"):
                again = memory.doctor(fix=True, copy_linked=True)
                report = replace(again, mended=(*report.mended, *again.mended))
    report = replace(report, checks=_with_hosts(call, report.checks))
    hints = (check.hint and call.here(check.hint) for check in report.checks)
    checks = (replace(one, hint=hint) for one, hint in zip(report.checks, hints, strict=True))
    report = replace(report, checks=tuple(checks))
    if not call.prints_json(report):
        _print_checks(report)
    return exit_codes.OK if report.healthy else exit_codes.UNHEALTHY


def _with_hosts(call: Call, checks: tuple[Check, ...]) -> tuple[Check, ...]:
    """The checks with those of the hosts that we installed into, which take the place of a mere look."""
    from memolith.cli.hosts import installations
    from memolith.hosts.catalog import HOSTS
    from memolith.hosts.check import check_installed
    from memolith.jobs.checks.subject import WORST_FIRST

    installed = installations(call)
    ours = [host for host in HOSTS.values() if installed.has(host)]
    found = [check for host in ours for check in check_installed(host, installed)]
    titles = tuple(f"{host.title}{end}" for host in ours for end in " :")
    others = [
        one
        for one in checks
        if not (
            ours and one.id == "hosts" and (one.status == "ok" or one.message.startswith(titles))
        )
    ]
    both = [*others, *found]
    return tuple(sorted(both, key=lambda check: WORST_FIRST.index(check.status)))


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
    counts = {"error": statuses.count("error"), "warning": statuses.count("warn")}
    found = ", ".join(counted(number, kind) for kind, number in counts.items() if number)
    output.say(f"{found}." if found else "Nothing is wrong.")


def _can_print(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


@command()
@flag("--rebuild", help="delete the index first, and make it again")
def sync(call: Call, rebuild: bool) -> None:
    """Bring the index in line with the files.

    Every search does this too; after a large import it is nicer to do it once, and to watch. With --rebuild the
    index is made again from the files; nothing you wrote is touched.

    Examples:
        memolith sync
        memolith sync --rebuild
    """
    with call.open() as memory, output.progress("Indexing", "files") as bar:
        report = memory.index.rebuild(bar) if rebuild else memory.index.sync(bar)
    if call.prints_json(report):
        return
    indexed = f"{report.indexed:,} indexed ({counted(report.chunks, 'chunk')})"
    done = [indexed] * bool(report.indexed) + [f"{report.removed:,} removed"] * bool(report.removed)
    parts = (counted(report.files, "file"), ", ".join(done))
    output.say(output.bold("In sync"), f"  {'; '.join(filter(None, parts))}")
    call.warn(report.warnings)
