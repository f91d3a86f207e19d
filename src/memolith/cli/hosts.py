"""Commands that bring Memolith into other programs, their memories in, and this one out."""

from __future__ import annotations

import os
import shutil
import sys
from shlex import quote
from typing import Any

from memolith.cli import output
from memolith.cli.options import Call, Steps, UsageError, command, group, suggestion
from memolith.cli.write import moment
from memolith.config import edit
from memolith.config.load import settings_from_flags
from memolith.errors import NotFoundError
from memolith.files.atomic_write import write_elsewhere
from memolith.files.layout import CONVERSATIONS
from memolith.files.transaction import rewrite_file
from memolith.hosts.catalog import HOSTS, Host, Program
from memolith.hosts.install import Installations, InstallReport
from memolith.hosts.skill import SkillText, skill_text, snippet
from memolith.importers import own, run
from memolith.jobs.reports import Receipts
from memolith.memory import Memory
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
        HOST=claude-code|codex|gemini|cursor|openclaw|vscode|claude-desktop|all|mcp  the program
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
    chosen = _chosen(installed, choice)
    report = installed.change(chosen, program, removes=False, dry_run=dry_run)
    yield from _changed(call, report, choice, None if dry_run else installed)
    profile, loaded = call.load({}, lenient=True, use_default=True)
    if loaded.config.chat.enabled and program.logs and any(one.of.hooks for one in report.hosts):
        file = os.path.join(profile.root, CONVERSATIONS)
        without = f"memolith install {choice} --no-log{call.chosen(settings=False)}"
        output.say(f"Chats will be kept in {file}; not to keep them: {without}")
    if any(part in program.path for part in _TEMPORARY):
        output.warn(
            f"{program.path} is in a temporary environment, which will be gone one day."
            " Install it for good (in a clone: uv tool install .), then run this again."
        )


@command()
def uninstall(call: Call, choice: str, dry_run: bool) -> Steps:
    """Take Memolith out of a host: each file is as it was before, and the memory stays.

    What the host or you changed in these files meanwhile is kept.

    Options:
        HOST=claude-code|codex|gemini|cursor|openclaw|vscode|claude-desktop|all  the program
        --dry-run  show the changes, and make none

    Examples:
        memolith uninstall codex
        memolith uninstall all --dry-run
    """
    installed = installations(call)
    chosen = [one for one in _chosen(installed, choice) if choice != "all" or installed.has(one)]
    report = installed.change(chosen, _program(call), removes=True, dry_run=dry_run)
    yield from _changed(call, report, choice)
    if not chosen:
        output.note("Nothing is installed.")


def _changed(
    call: Call, report: InstallReport, choice: str, installed: Installations | None = None
) -> Steps:
    """Show what changes in each host, line by line; of a text that is ours alone, its name."""
    for failure in report.failed:
        if choice != "all":
            raise failure.why
        title, hint = HOSTS[failure.host].title, call.here(failure.why.hint)
        output.warn(f"{title} is left as it is: {failure.error} {hint}".rstrip())
        call.failed(failure.why)
    yield report
    for plan in report.hosts:
        output.report(plan.of.title, "" if plan.changes else "Nothing to change.")
        for one in plan.changes:
            verb = "made" if one.before is None else "removed" if one.after is None else "changed"
            output.say(f"  {'would be ' * report.dry_run}{verb}  {one.path}")
            is_new_text = one.before is None and (not report.dry_run or one.path.endswith(".md"))
            if one.after is not None and not is_new_text:
                for line in one.diff[2:]:
                    colour = {"+": output.green, "-": output.red}.get(line[:1], output.dim)
                    output.say("    ", colour(line))
        output.warn(*plan.left)
        if installed:
            output.say(f"  To do: {plan.todo}")
            for path in installed.backups(plan):
                output.note(f"  A copy of what was there before: {path}")


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


@command(reads=True)
def receipts(call: Call, memory: Memory, limit: int) -> Steps:
    """Show which memories agents were handed before they answered, and why: newest last.

    A reason is the words that a memory shares with the message, or that it is near in meaning. The message
    itself is kept nowhere. The list comes from the log of recalls (the setting dream.track).

    Options:
        --limit N  how many, the newest; 0 is all (default: 20)

    Examples:
        memolith receipts
        memolith receipts --limit 50
    """
    found = memory.jobs.receipts(limit)
    yield Receipts(receipts=found)
    for one in reversed(found):
        output.say(output.dim(output.shown(one.at)), f"  {one.surface}")
        for item in one.items:
            why = " ".join(item.words) or "by meaning"
            output.paragraph("    ", f"{item.citation}  ({why})  {item.text}")
    if not found:
        on, is_kept = call.again("config set dream.track true"), memory.config.dream.track
        output.note("Nothing was handed over yet." if is_kept else f"Nothing is kept: {on}")


@command()
def skill(snippet_: bool) -> Steps:
    """Print what teaches an agent when to search its memory and when to write to it.

    It is a skill (SKILL.md) for every host that reads them; `memolith install` brings it along.

    Options:
        --snippet  a few sentences for AGENTS.md or CLAUDE.md

    Examples:
        memolith skill > .agents/skills/memory/SKILL.md
        memolith skill --snippet >> AGENTS.md
    """
    text = snippet() if snippet_ else skill_text()
    yield SkillText(text=text)
    output.write(text)


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
    if (
        source not in run.IMPORTERS
        and path is None
        and (os.sep in source or os.path.exists(source))
    ):
        source, path = run.detect(source), source
    if source not in run.IMPORTERS:
        hint = suggestion(source, run.IMPORTERS)
        raise UsageError(f"{source!a} is neither a source nor an existing path.", hint=hint)
    if path is None and not run.IMPORTERS[source].home:
        raise UsageError("PATH is missing.", hint=f"Give the {run.IMPORTERS[source].what}.")
    yield from _import(call, source, path or "", **how)


def _import(call: Call, source: str, path: str, *, dry_run: bool, since: str | None) -> Steps:
    store = _store(call)
    start = moment(since, store.config.profile.timezone, "--since") if since else None
    with output.progress(f"Importing from {source}", "kB") as bar:
        report = run.run_import(store, source, path, dry_run=dry_run, since=start, progress=bar)
    yield report
    known = {kind: counts for kind, counts in report.counts.items() if counts.read}
    for kind, one in known.items():
        done = {f"{'would be ' * dry_run}added": one.added}
        done |= {"already here": one.known, "left out": one.skipped}
        parts = [f"{n:,} {what}" for what, n in done.items() if n or "added" in what]
        output.say(output.bold(f"{kind:12}"), ", ".join(parts), output.dim(f"  of {one.read:,}"))
    if not known:
        output.say(f"There is nothing to import in {report.path}.")
    for reason, count in report.skipped.items():
        where = report.skipped_first.get(reason)
        at = f": {'first ' * (count > 1)}{where}" if where else ""
        output.note(f"{count:,} left out: {reason}{at}")
    for number, what, done_to_it in (
        (report.keys_replaced, "key", "replaced by a mark: chats are kept as plain text"),
        (report.marked_secret, "record", "marked as secret, because of a key"),
        (report.cut, "message", "cut to chat.max_chars_per_entry"),
    ):
        if number:
            output.note(f"{counted(number, what)} {done_to_it}")
    for setting in report.settings:
        output.note(f"{'Would set' if dry_run else 'Set'} {setting}")
        if setting.startswith("index.extra_paths"):
            output.note("The Markdown in these folders stays there, and is searched there.")
    if not dry_run and any(counts.added for counts in known.values()):
        output.note(f"The next search indexes it; to do that now: {call.again('sync')}")


def _scan(call: Call, **how: Any) -> Steps:
    """Show what could be imported; at a terminal, ask for each."""
    found = run.scan()
    yield found
    if not found.found:
        output.say("Nothing was found in the usual places. Name a source: memolith import --help")
    for one in found.found:
        output.say(output.bold(f"{one.source:13}"), one.path)
        if not output.at_terminal():
            output.note(call.again(f"import {one.source} {quote(one.path)}"))
        elif output.confirmed("Import it?"):
            call.show(_import(call, one.source, one.path, **how))


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
    output.report("Exported", report.path, *output.facts(report, "files records secret"))
    if report.secret:
        output.note("Some of it is secret: the folder can be opened by you alone.")


def _store(call: Call) -> Store:
    given = settings_from_flags(call.set)
    return Store(*call.load(given), given)


@command("merge-driver")
def merge_driver(base: str, ours: str, theirs: str) -> None:
    """Merge two versions of a memory's file for git, each record once: `memolith init --git` sets it up.

    Options:
        BASE  the version that both sides began with
        OURS  this side's version; the result is written here
        THEIRS  the other side's version

    Examples:
        memolith init --git
    """
    from memolith.jobs.machines import merge_for_git

    base, ours, theirs = map(os.path.abspath, (base, ours, theirs))
    write_elsewhere(ours, merge_for_git(base, ours, theirs))


@command()
def migrate(memory: Memory, to: str | None, url: str | None, dry_run: bool) -> Steps:
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
    with output.progress("Indexing", "files") as bar:
        report = memory.index.migrate(to, url=url, progress=bar)
    written = {} if dry_run else {"index.backend": to, "index.url": url}
    for name, value in written.items():
        if value is not None:
            change = edit.set_setting(memory.profile, name, value, for_user=True)
            rewrite_file(change.path, change.apply, memory.config.store)
    yield report
    moved = f"{report.before} → {report.backend}"
    output.report("Compared" if dry_run else "Moved", moved, *output.facts(report, "files chunks"))
    output.say(f"  {report.same} of {counted(report.asked, 'question')} have the same first answer")
    if not dry_run:
        output.note(f"index.backend = {to}  in {memory.profile.user_settings_file}")


@group()
def model() -> None:
    """Fetch a stronger model, for the settings embed.model and search.rerank.

    It needs the extra `quality`. Nothing else ever fetches a model: a search without it says so, and goes on
    with the built-in model.

    Examples:
        memolith model get snowflake/snowflake-arctic-embed-s
        memolith model get Xenova/ms-marco-MiniLM-L-12-v2
    """


@model.action("get")
def get_model(name: str) -> None:
    """Fetch a model into your cache.

    Options:
        NAME  such as snowflake/snowflake-arctic-embed-s
    """
    from memolith.embed import quality

    known = quality.describe(name)
    output.note(
        f"Fetching {known.name} from {quality.HOST}: {known.gigabytes:g} GB, licence {known.licence},"
        f" to {quality.CACHE}"
    )
    quality.get_model(known)
    output.report("Fetched", known.name)
    output.note(f"Use it: memolith config set {known.setting} fastembed:{known.name} --user")
