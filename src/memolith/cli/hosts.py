"""Commands that bring Memolith into other programs, their memories in, and this one out."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from shlex import quote
from typing import Any

from memolith.cli import output
from memolith.cli.options import (
    Call,
    Steps,
    UsageError,
    at_terminal,
    command,
    confirmed,
    group,
    kind_of,
    suggestion,
)
from memolith.cli.write import parse_timestamp
from memolith.config.edit import set_setting
from memolith.config.load import settings_from_flags
from memolith.config.setting import tool_names
from memolith.errors import MemolithError, NotFoundError, RefusedError
from memolith.files.atomic_write import write_elsewhere
from memolith.files.layout import CONVERSATIONS
from memolith.files.transaction import rewrite_file
from memolith.hosts.catalog import HOSTS, Host, Program
from memolith.hosts.install import Edit, Installations, Plan, read_file, write
from memolith.hosts.skill import NAME, missing_tools, skill_text, snippet
from memolith.importers import own
from memolith.importers.run import IMPORTERS, detect, run_import, scan
from memolith.importers.writing import ImportReport
from memolith.store import Store
from memolith.text.wording import counted

_TEMPORARY = ("/archive-v0/", "/cache/uv/", "/pipx/.cache/")


@command()
def install(call: Call, choice: str, dry_run: bool, no_log: bool) -> Steps:
    """Bring Memolith into a program that runs agents: its tools, its hooks and its skill.

    Only entries of Memolith are written; comments, order and everything else stay, and a copy of each file
    is kept. Run it again after an update. `all` is every host that is on this machine; `mcp` prints the entry
    for any other client. With --root or --profile, the host is given that memory; else the one its
    entry names already, or that of the project it works in, if you approved it, or your default memory.

    Options:
        claude-code|codex|gemini|cursor|openclaw|vscode|claude-desktop|all|mcp  the program
        --dry-run  show the changes, and make none
        --no-log  do not keep what is said in chats

    Examples:
        memolith install claude-code
        memolith install codex --dry-run
        memolith install all --no-log
        memolith install mcp
    """
    program = _program(call, logs=not no_log)
    if choice == "mcp":
        output.say_json({"mcpServers": {"memolith": program.server}})
        return
    installed = installations(call)
    plans, failed = _install(installed, _chosen(installed, choice), program, dry_run=dry_run)
    if failed and choice != "all":
        raise failed[0][1]
    for one, why in failed:
        output.warn(f"{one.title}: {why.message} {call.here(why.hint)}".rstrip())
        call.code = kind_of(why)[1]
    yield {
        "hosts": [_to_dict(plan) for plan in plans],
        "failed": [{"host": one.name, "error": why.message} for one, why in failed],
        "dry_run": dry_run,
    }
    for plan in plans:
        _show(plan, dry_run=dry_run)
        if not dry_run:
            output.say(f"  To do: {plan.host.todo}")
            for path in installed.backups(plan):
                output.note(f"  A copy of what was there before: {path}")
    if any(plan.host.hooks for plan in plans) and program.logs:
        _say_that_chats_are_kept(call, choice)
    if any(part in program.path for part in _TEMPORARY):
        output.warn(
            f"{program.path} is in a temporary environment, which will be gone one day."
            " Install Memolith for good (uv tool install memolith), then run this again."
        )
    if failed:
        names = ", ".join(one.title for one, _ in failed)
        others = ", ".join(plan.host.title for plan in plans) or "none"
        output.warn(f"Left as they are: {names}. The others: {others}.")


def _install(
    installed: Installations, hosts: list[Host], program: Program, *, dry_run: bool
) -> tuple[list[Plan], list[tuple[Host, MemolithError]]]:
    """What was done, and which host could not be changed: it does not stop the others."""
    plans, failed = [], []
    for host in hosts:
        try:
            plan = installed.plan(host, program)
            if not dry_run and plan.changes:
                installed.apply(plan)
            plans.append(plan)
        except MemolithError as error:
            failed.append((host, error))
    return plans, failed


@command()
def uninstall(call: Call, choice: str, dry_run: bool) -> Steps:
    """Take Memolith out of a host: each file is as it was before, and the memory stays.

    What the host or you changed in these files meanwhile is kept.

    Options:
        claude-code|codex|gemini|cursor|openclaw|vscode|claude-desktop|all  the program
        --dry-run  show the changes, and make none

    Examples:
        memolith uninstall codex
        memolith uninstall all --dry-run
    """
    program, installed = _program(call), installations(call)
    chosen = _chosen(installed, choice)
    if choice == "all":
        chosen = [one for one in chosen if installed.has(one)]
    plans = [installed.plan_removal(one, program) for one in chosen]
    for plan in plans:
        if not dry_run:
            installed.remove(plan)
    yield {"hosts": [_to_dict(plan) for plan in plans], "dry_run": dry_run}
    for plan in plans:
        _show(plan, dry_run=dry_run)
    if not plans:
        output.note("Nothing is installed.")


def _program(call: Call, *, logs: bool = True) -> Program:
    """How a host starts us: by the whole path of the command that runs now."""
    here = os.path.abspath(sys.argv[0])
    beside = os.path.join(os.path.dirname(sys.executable), "memolith")
    found = (path for path in (here, beside) if os.path.basename(path) == "memolith")
    path = next(filter(os.path.isfile, found), None) or shutil.which("memolith") or "memolith"
    named = (("--root", call.root and os.path.abspath(call.root)), ("--profile", call.profile))
    options = [word for name, value in named if value for word in (name, value)]
    return Program(path=path, options=tuple(options), logs=logs)


def installations(call: Call) -> Installations:
    """What was installed into the hosts of this user."""
    profile, _ = call.load({}, lenient=True, use_default=True)
    return Installations(profile.home, os.path.expanduser("~"), os.environ)


def _chosen(installed: Installations, name: str) -> list[Host]:
    if name != "all":
        return [HOSTS[name]]
    found = [one for one in HOSTS.values() if os.path.isdir(installed.folder(one))]
    if not found:
        hint = f"Name it: memolith install {', '.join(HOSTS)}"
        message = "No program that runs agents was found on this machine."
        raise NotFoundError(message, name="all", hint=hint)
    return found


def _to_dict(plan: Plan) -> Mapping[str, object]:
    changes = [{"path": edit.path, "diff": list(edit.diff())} for edit in plan.changes]
    return {"host": plan.host.name, "changes": changes, "left": plan.left, "todo": plan.host.todo}


def _show(plan: Plan, *, dry_run: bool) -> None:
    """Print what changes, line by line; of a text that is ours alone, its name."""
    output.report(plan.host.title, "", ("", "" if plan.changes else "Nothing to change."))
    for edit in plan.changes:
        verbs = ("make", "made") if edit.before is None else ("change", "changed")
        verbs = ("remove", "removed") if edit.after is None else verbs
        output.say(f"  {verbs[not dry_run]}  {edit.path}")
        is_new_text = edit.before is None and (not dry_run or edit.path.endswith(".md"))
        if edit.after is not None and not is_new_text:
            for line in [*edit.diff()][2:]:
                colour = {"+": output.green, "-": output.red}.get(line[:1], output.dim)
                output.say("    ", colour(line))
    output.warn(*plan.left)


def _say_that_chats_are_kept(call: Call, host: str) -> None:
    profile, loaded = call.load({}, lenient=True, use_default=True)
    if loaded.config.chat.enabled:
        file = os.path.join(profile.root, CONVERSATIONS)
        without = f"memolith install {host} --no-log{call.chosen(settings=False)}"
        output.say(f"Chats will be kept in {file}; not to keep them: {without}")


@command()
def receipts(call: Call, limit: int) -> Steps:
    """Show which memories agents were handed before they answered, and why: newest last.

    A reason is the words that a memory shares with the message, or that it is near in meaning. The message
    itself is kept nowhere. The list comes from the log of recalls (the setting dream.track).

    Options:
        --limit N  how many (default: 20)

    Examples:
        memolith receipts
        memolith receipts --limit 50
    """
    with call.open(reads=True) as memory:
        is_kept = memory.config.dream.track
        found = memory.jobs.receipts(limit)
    yield {"receipts": found}
    for one in reversed(found):
        when = one.at.astimezone().strftime("%Y-%m-%d %H:%M")
        output.say(output.dim(when), f"  {one.surface}")
        for item in one.items:
            why = " ".join(item.words) or "by meaning"
            output.paragraph("    ", f"{item.citation}  ({why})  {item.text}")
    if not found:
        off = call.again("config set dream.track true")
        output.note("Nothing was handed over yet." if is_kept else f"Nothing is kept: {off}")


@command()
def skill(call: Call, install_: str | None, snippet_: bool) -> Steps:
    """Print what teaches an agent when to search its memory and when to write to it.

    It is a skill (SKILL.md) for every host that reads them; `memolith install` brings it along.

    Options:
        --install DIR  write DIR/memory/SKILL.md instead
        --snippet  a few sentences for AGENTS.md or CLAUDE.md

    Examples:
        memolith skill
        memolith skill --install ~/.claude/skills
        memolith skill --snippet >> AGENTS.md
    """
    if snippet_ and install_:
        raise UsageError("--snippet and --install exclude each other.", hint="Leave one out.")
    with call.open(reads=True) as memory:
        offered = tool_names(memory.config.mcp.tools)
    missing = [] if offered in (("core",), ("all",)) else missing_tools(offered)
    if missing:
        output.warn(f"mcp.tools leaves out tools that the skill names: {', '.join(missing)}.")
    text = snippet() if snippet_ else skill_text()
    if install_ is None:
        yield {"text": text}
        output.write(text)
        return
    path = os.path.join(os.path.abspath(os.path.expanduser(install_)), NAME, "SKILL.md")
    before, after = read_file(path), text.encode()
    if before not in (None, after) and b"memolith" not in (before or b""):
        message = f"{path} is another skill. Nothing was changed."
        raise RefusedError(message, hint="Choose another folder.")
    write(Edit(path=path, before=before, after=after))
    yield {"path": path}
    output.report("Installed", path)


@command("import")
def import_(call: Call, source: str | None, path: str | None, scan_: bool, **how: Any) -> Steps:
    """Bring the memory of another program into this one.

    Dates and speakers stay as they were. What is here already is not written again, so it can be repeated, and
    goes on where it was interrupted. Keys and tokens in chats are replaced by a mark. Nothing of the other
    program is changed. Without SOURCE it is recognised by its files. docs/importing.md names all sources.

    Options:
        [SOURCE]  the program, or a path to look at
        [PATH]  its folder, file or .zip
        --dry-run  count what would be written, and write nothing
        --scan  look for memories on this machine, and offer them
        --since DAY  leave out chats from before this day

    Examples:
        memolith import chatgpt ~/Downloads/export.zip --dry-run
        memolith import claude-code
        memolith import ~/agents/old-profile
        memolith import --scan
    """
    if scan_:
        yield from _scan(call, **how)
        return
    if source is None:
        raise UsageError("SOURCE is missing.", hint="See what is there: memolith import --scan")
    if source not in IMPORTERS and path is None and (os.sep in source or os.path.exists(source)):
        source, path = detect(source), source
    if source not in IMPORTERS:
        hint = suggestion(source, IMPORTERS)
        raise UsageError(f"{source!a} is not a source that can be imported.", hint=hint)
    if path is None and not IMPORTERS[source].home:
        raise UsageError("PATH is missing.", hint=f"Give the {IMPORTERS[source].what}.")
    report = _import(call, source, path or "", **how)
    yield report
    _show_import(call, report)


def _import(
    call: Call, source: str, path: str, *, dry_run: bool, since: str | None
) -> ImportReport:
    store = _store(call)
    zone = store.config.profile.timezone
    start = parse_timestamp(since, zone, "--since") if since else None
    with output.progress(f"Importing from {source}", "kB") as bar:
        return run_import(store, source, path, dry_run=dry_run, since=start, progress=bar)


def _scan(call: Call, *, dry_run: bool, since: str | None) -> Steps:
    """Show what could be imported; at a terminal, ask for each."""
    found = scan()
    yield {"found": [{"source": name, "path": path} for name, path in found]}
    if not found:
        output.say("Nothing was found in the usual places. Name a source: memolith import --help")
    for name, path in found:
        output.say(output.bold(f"{name:13}"), path)
        if not at_terminal():
            output.note(call.again(f"import {name} {quote(path)}"))
        elif confirmed("Import it?"):
            _show_import(call, _import(call, name, path, dry_run=dry_run, since=since))


def _show_import(call: Call, report: ImportReport) -> None:
    """What was done, by kind; then what was left out, and why."""
    added = "would be added" if report.dry_run else "added"
    known = {kind: counts for kind, counts in report.counts.items() if counts.read}
    for kind, counts in known.items():
        parts = [f"{counts.added:,} {added}"]
        parts += [f"{counts.known:,} already here"] * bool(counts.known)
        parts += [f"{counts.skipped:,} left out"] * bool(counts.skipped)
        output.say(output.bold(f"{kind:12}"), ", ".join(parts), output.dim(f"  of {counts.read:,}"))
    if not known:
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
    if not report.dry_run and any(counts.added for counts in known.values()):
        output.note(f"The next search indexes it; to do that now: {call.again('sync')}")


@command()
def export(call: Call, dir: str) -> Steps:  # noqa: A002
    """Write the whole memory to a folder, as Markdown and JSON lines.

    The folder is a memory of its own, without index, lock and backups. `memolith import memolith DIR` brings it
    back, or merges it into another memory.

    Options:
        DIR  a folder that is empty, or not there yet

    Examples:
        memolith export ~/backup/memory
    """
    with output.progress("Exporting", "files") as bar:
        report = own.export(_store(call), os.path.expanduser(dir), bar)
    yield report
    held = f"{counted(report.files, 'file')}, {counted(report.records, 'record')}"
    output.report("Exported", f"{held}, to {report.path}")
    if report.secret:
        secret = counted(report.secret, "record")
        output.note(f"{secret} of them secret: the folder can be opened by you alone.")


def _store(call: Call) -> Store:
    given = settings_from_flags(call.set)
    return Store(*call.load(given), given)


@command("merge-driver")
def merge_driver(call: Call, base: str, ours: str, theirs: str) -> None:
    """Merge two versions of a memory's file for git, each record once: `memolith init --git` sets it up.

    Options:
        BASE  the version that both sides began with
        OURS  this side's version; the result is written here
        THEIRS  the other side's version

    Examples:
        memolith init --git
    """
    from memolith.jobs.machines import merge_for_git

    del call
    base, ours, theirs = map(os.path.abspath, (base, ours, theirs))
    write_elsewhere(ours, merge_for_git(base, ours, theirs))


@command()
def migrate(call: Call, to: str | None, url: str | None, dry_run: bool) -> Steps:
    """Move the index to another engine, and use it from then on.

    Every file is indexed there, and what it answers is compared with the engine of today: the number of files
    and chunks, and a sample of questions. Only then the settings index.backend and index.url are written, to
    the file for all of your profiles. Stopped, it goes on where it was when it is run again; the way back is
    the same command. The files of the memory are not touched.

    Options:
        --to builtin|chroma|postgres|qmd  the engine
        --url URL  where it is, as in index.url
        --dry-run  fill it and compare, but go on using the engine of today

    Examples:
        memolith migrate --to chroma --dry-run
        memolith migrate --to postgres --url postgresql://memolith@localhost/memolith
        memolith migrate --to builtin
    """
    if to is None:
        raise UsageError("--to is missing.", hint="memolith migrate --to chroma --dry-run")
    with call.open() as memory, output.progress("Indexing", "files") as bar:
        report = memory.index.migrate(to, url=url, progress=bar)
        profile, store = memory.profile, memory.config.store
    written = {} if dry_run else {"index.backend": to, "index.url": url}
    for name, value in written.items():
        if value is not None:
            change = set_setting(profile, name, value, for_user=True)
            rewrite_file(change.path, change.apply, store)
    yield report
    output.report(
        "Compared" if dry_run else "Moved",
        f"{report.before} → {report.backend}: {counted(report.files, 'file')},"
        f" {counted(report.chunks, 'chunk')}; {report.same} of {report.asked} questions have the"
        " same first answer",
    )
    if not dry_run:
        output.note(f"index.backend = {to}  in {profile.user_settings_file}")


@group()
def model() -> None:
    """Fetch a stronger model, for the settings embed.model and search.rerank.

    It needs the extra `quality`. Nothing else ever fetches a model: a search without it says so, and goes on
    with the model that comes along.

    Examples:
        memolith model get snowflake/snowflake-arctic-embed-s
        memolith model get Xenova/ms-marco-MiniLM-L-12-v2
    """


@model.action("get")
def get_model(call: Call, name: str) -> None:
    """Fetch a model into your cache.

    Options:
        NAME  such as snowflake/snowflake-arctic-embed-s
    """
    from memolith.embed import quality

    del call
    known = quality.describe(name)
    output.note(
        f"Fetching {known.name} from {quality.HOST}: {known.gigabytes:g} GB, licence {known.licence},"
        f" to {quality.CACHE}"
    )
    quality.get_model(known)
    output.report("Fetched", known.name)
    output.note(f"Use it: memolith config set {known.setting} fastembed:{known.name} --user")
