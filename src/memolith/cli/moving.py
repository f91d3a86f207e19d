"""Commands that bring another memory in, and take this one out."""

from __future__ import annotations

import os
from shlex import quote

import click

from memolith.cli import exit_codes, output
from memolith.cli.exit_codes import UsageError
from memolith.cli.options import Call, at_terminal, command, confirmed, flag, nearest
from memolith.cli.write import parse_timestamp
from memolith.config.load import open_profile, settings_from_flags
from memolith.files.atomic_write import write_elsewhere
from memolith.importers import own
from memolith.importers.run import IMPORTERS, detect, run_import, scan
from memolith.importers.writing import ImportReport
from memolith.jobs.machines import merge_for_git
from memolith.store import Store
from memolith.text.wording import counted


@command("import")
@click.argument(
    "source", metavar="[SOURCE]", required=False, help="the program, or a path to look at"
)
@click.argument("path", metavar="[PATH]", required=False, help="its folder, file or .zip")
@flag("--dry-run", help="count what would be written, and write nothing")
@click.option(
    "--scan", "scans", is_flag=True, help="look for memories on this machine, and offer them"
)
@click.option("--since", metavar="DAY", help="leave out chats from before this day")
def import_(
    call: Call, source: str | None, path: str | None, dry_run: bool, scans: bool, since: str | None
) -> int:
    """Bring the memory of another program into this one.

    Dates and speakers stay as they were. What is here already is not written again, so it can be repeated, and
    goes on where it was interrupted. Keys and tokens in chats are replaced by a mark. Nothing of the other
    program is changed. Without SOURCE it is recognised by its files. docs/importing.md names all sources.

    Examples:
        memolith import chatgpt ~/Downloads/export.zip --dry-run
        memolith import claude-code
        memolith import ~/agents/old-profile
        memolith import --scan
    """
    if scans:
        return _scan(call, dry_run=dry_run, since=since)
    if source is None:
        raise UsageError("SOURCE is missing.", hint="See what is there: memolith import --scan")
    is_path = os.sep in source or os.path.exists(source)
    if source not in IMPORTERS and path is None and is_path:
        source, path = detect(source), source
    if source not in IMPORTERS:
        near = nearest(source, IMPORTERS)
        hint = f"Did you mean {near}?" if near else f"Known: {', '.join(IMPORTERS)}."
        raise UsageError(f"{source!a} is not a source that can be imported.", hint=hint)
    if path is None and not IMPORTERS[source].home:
        raise UsageError("PATH is missing.", hint=f"Give the {IMPORTERS[source].what}.")
    _import(call, source, path or "", dry_run=dry_run, since=since)
    return exit_codes.OK


def _import(call: Call, source: str, path: str, *, dry_run: bool, since: str | None) -> None:
    store = _store(call)
    zone = store.config.profile.timezone
    start = parse_timestamp(since, zone, "--since") if since else None
    with output.progress(f"Importing from {source}", "kB") as bar:
        report = run_import(store, source, path, dry_run=dry_run, since=start, progress=bar)
    _say_report(call, report)


def _scan(call: Call, *, dry_run: bool, since: str | None) -> int:
    """Show what could be imported; at a terminal, ask for each."""
    found = scan()
    if call.json:
        output.say_json({"found": [{"source": name, "path": path} for name, path in found]})
        return exit_codes.OK
    if not found:
        output.say("Nothing was found in the usual places. Name a source: memolith import --help")
    for name, path in found:
        output.say(output.bold(f"{name:13}"), path)
        if not at_terminal():
            output.note(call.again(f"import {name} {quote(path)}"))
        elif confirmed("Import it?"):
            _import(call, name, path, dry_run=dry_run, since=since)
    return exit_codes.OK


@command()
@click.argument("folder", metavar="DIR", help="a folder that is empty, or not there yet")
def export(call: Call, folder: str) -> int:
    """Write the whole memory to a folder, as Markdown and JSON lines.

    The folder is a memory of its own, without index, lock and backups. `memolith import memolith DIR` brings it
    back, or merges it into another memory.

    Examples:
        memolith export ~/backup/memory
    """
    with output.progress("Exporting", "files") as bar:
        report = own.export(_store(call), os.path.expanduser(folder), bar)
    if call.json:
        output.say_json(report.to_dict())
        return exit_codes.OK
    output.say(
        output.bold("Exported"),
        f"  {counted(report.files, 'file')}, {counted(report.records, 'record')}, to {report.path}",
    )
    if report.secret:
        output.note(
            f"{counted(report.secret, 'record')} of them secret: the folder can be opened by you alone."
        )
    return exit_codes.OK


@command("merge-driver")
@click.argument("base", metavar="%O", help="the version that both sides began with")
@click.argument("ours", metavar="%A", help="this side's version; the result is written here")
@click.argument("theirs", metavar="%B", help="the other side's version")
def merge_driver(call: Call, base: str, ours: str, theirs: str) -> int:
    """Merge two versions of a memory's file for git, each record once: `memolith init --git` sets it up.

    Examples:
        memolith init --git
    """
    del call
    write_elsewhere(
        os.path.abspath(ours), merge_for_git(*map(os.path.abspath, (base, ours, theirs)))
    )
    return exit_codes.OK


def _store(call: Call) -> Store:
    given = settings_from_flags(call.set)
    profile, loaded = open_profile(call.root, call.profile, given)
    return Store(profile, loaded, given)


def _say_report(call: Call, report: ImportReport) -> None:
    """What was done, by kind; then what was left out, and why."""
    if call.prints_json(report):
        return
    added = "would be added" if report.dry_run else "added"
    for kind, counts in report.counts.items():
        if not counts.read:
            continue
        parts = [f"{counts.added:,} {added}"]
        parts += [f"{counts.known:,} already here"] * bool(counts.known)
        parts += [f"{counts.skipped:,} left out"] * bool(counts.skipped)
        output.say(
            output.bold(f"{kind:12}"), f"{', '.join(parts)}  ", output.dim(f"of {counts.read:,}")
        )
    if not any(counts.read for counts in report.counts.values()):
        output.say(f"There is nothing to import in {report.path}.")
    for reason, count in report.skipped.items():
        where = report.skipped_first.get(reason)
        at = f": {'first ' * (count > 1)}{where}" if where else ""
        output.note(f"{count:,} left out: {reason}{at}")
    for number, one, many, done in (
        (report.keys_replaced, "key", "keys", "replaced by a mark: chats are kept as plain text"),
        (report.marked_secret, "record", "records", "marked as secret, because of a key"),
        (report.cut, "message", "messages", "cut to chat.max_chars_per_entry"),
    ):
        if number:
            output.note(f"{counted(number, one, many)} {done}")
    for setting in report.settings:
        output.note(f"{'Would set' if report.dry_run else 'Set'} {setting}")
    call.warn(report.warnings)
    if not report.dry_run and any(counts.added for counts in report.counts.values()):
        output.note(f"The next search indexes it; to do that now: {call.again('sync')}")
