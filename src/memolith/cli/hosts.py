"""Commands that bring Memolith into the programs that run agents."""

from __future__ import annotations

import os
import shutil
import sys

import click

from memolith.cli import exit_codes, output
from memolith.cli.exit_codes import UsageError
from memolith.cli.options import Call, Choice, command, flag, limit_option
from memolith.config.load import open_profile
from memolith.config.setting import tool_names
from memolith.errors import MemolithError, NotFoundError, RefusedError
from memolith.files.layout import CONVERSATIONS
from memolith.hosts.catalog import HOSTS, Host, Program
from memolith.hosts.install import Edit, Installations, Plan, read_file, write
from memolith.hosts.skill import NAME, missing_tools, skill_text, snippet

_NAMES = (*HOSTS, "all", "mcp")
_host = click.argument("host", type=Choice(_NAMES), help=", ".join(_NAMES))
_dry_run = flag("--dry-run", help="show the changes, and make none")


@command()
@_host
@_dry_run
@flag("--no-log", help="do not keep what is said in chats")
def install(call: Call, host: str, dry_run: bool, no_log: bool) -> int:
    """Bring Memolith into a program that runs agents: its tools, its hooks and its skill.

    Only entries of Memolith are written; comments, order and everything else stay, and a copy of each file
    is kept. Run it again after an update. `all` is every host that is on this machine; `mcp` prints the entry
    for any other client. With --root or --profile, the host is given that memory; else the one its
    entry names already, or that of the project it works in, if you approved it, or your default memory.

    Examples:
        memolith install claude-code
        memolith install codex --dry-run
        memolith install all --no-log
        memolith install mcp
    """
    program = _program(call, logs=not no_log)
    if host == "mcp":
        output.say_json({"mcpServers": {"memolith": program.server}})
        return exit_codes.OK
    installed = installations(call)
    plans, failed = _install(installed, _chosen(installed, host), program, dry_run=dry_run)
    if failed and host != "all":
        raise failed[0][1]
    report = {
        "hosts": [_to_dict(plan) for plan in plans],
        "failed": [{"host": one.name, "error": why.message} for one, why in failed],
        "dry_run": dry_run,
    }
    if not call.prints_json(report):
        _show_installed(call, installed, plans, program, dry_run=dry_run)
    for one, why in failed:
        output.warn(f"{one.title}: {why.message} {call.here(why.hint)}".rstrip())
    if not failed:
        return exit_codes.OK
    names = ", ".join(one.title for one, _ in failed)
    others = ", ".join(plan.host.title for plan in plans) or "none"
    output.warn(f"Left as they are: {names}. The others: {others}.")
    return exit_codes.kind_of(failed[0][1])[1]


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


def _show_installed(
    call: Call, installed: Installations, plans: list[Plan], program: Program, *, dry_run: bool
) -> None:
    for plan in plans:
        _show(plan, dry_run=dry_run)
        if not dry_run:
            output.say(f"  To do: {plan.host.todo}")
            for path in installed.backups(plan):
                output.note(f"  A copy of what was there before: {path}")
    if any(plan.host.hooks for plan in plans) and program.logs:
        _say_that_chats_are_kept(call, plans[0].host.name if len(plans) == 1 else "all")
    _warn_of_temporary(call, program)


@command()
@_host
@_dry_run
def uninstall(call: Call, host: str, dry_run: bool) -> None:
    """Take Memolith out of a host: each file is as it was before, and the memory stays.

    What the host or you changed in these files meanwhile is kept.

    Examples:
        memolith uninstall codex
        memolith uninstall all --dry-run
    """
    if host == "mcp":
        raise UsageError(
            "What `memolith install mcp` printed is removed by hand.", hint="memolith uninstall all"
        )
    program, installed = _program(call), installations(call)
    chosen = [one for one in _chosen(installed, host) if host != "all" or installed.has(one)]
    plans = [installed.plan_removal(one, program) for one in chosen]
    for plan in plans:
        if not dry_run:
            installed.remove(plan)
    if call.prints_json({"hosts": [_to_dict(plan) for plan in plans], "dry_run": dry_run}):
        return
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
    profile, _ = open_profile(call.root, call.profile, lenient=True, use_default=True)
    home = os.path.expanduser("~")
    return Installations(profile.home, home, os.environ)


def _chosen(installed: Installations, name: str) -> list[Host]:
    if name != "all":
        return [HOSTS[name]]
    found = [one for one in HOSTS.values() if os.path.isdir(installed.folder(one))]
    if not found:
        raise NotFoundError(
            "No program that runs agents was found on this machine.",
            name="all",
            hint=f"Name it: memolith install {', '.join(HOSTS)}",
        )
    return found


def _to_dict(plan: Plan) -> dict[str, object]:
    changes = [{"path": edit.path, "diff": list(edit.diff())} for edit in plan.changes]
    return {"host": plan.host.name, "changes": changes, "left": plan.left, "todo": plan.host.todo}


def _show(plan: Plan, *, dry_run: bool) -> None:
    """Print what changes, line by line; of a text that is ours alone, its name."""
    output.say(output.bold(plan.host.title))
    if not plan.changes:
        output.say("  Nothing to change.")
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
    profile, loaded = open_profile(call.root, call.profile, lenient=True, use_default=True)
    if loaded.config.chat.enabled:
        file = os.path.join(profile.root, CONVERSATIONS)
        without = f"memolith install {host} --no-log{call.chosen(settings=False)}"
        output.say(f"Chats will be kept in {file}; not to keep them: {without}")


def _warn_of_temporary(call: Call, program: Program) -> None:
    if any(part in program.path for part in ("/archive-v0/", "/cache/uv/", "/pipx/.cache/")):
        call.warn(
            [
                f"{program.path} is in a temporary environment, which will be gone one day."
                " Install Memolith for good (uv tool install memolith), then run this again."
            ]
        )


@command()
@limit_option(20, "how many")
def receipts(call: Call, limit: int) -> None:
    """Show which memories agents were handed before they answered, and why: newest last.

    A reason is the words that a memory shares with the message, or that it is near in meaning. The message
    itself is kept nowhere. The list comes from the log of recalls (the setting dream.track).

    Examples:
        memolith receipts
        memolith receipts --limit 50
    """
    with call.open(reads=True) as memory:
        is_kept = memory.config.dream.track
        found = memory.jobs.receipts(limit)
    if call.prints_json({"receipts": [one.to_dict() for one in found]}):
        return
    for one in reversed(found):
        when = one.at.astimezone().strftime("%Y-%m-%d %H:%M")
        output.say(output.dim(when), f"  {one.surface}")
        for item in one.items:
            why = " ".join(item.words) or "by meaning"
            output.say(f"    {item.citation}  ({why})  {item.text}")
    if not found:
        off = call.again("config set dream.track true")
        output.note("Nothing was handed over yet." if is_kept else f"Nothing is kept: {off}")


@command()
@click.option("--install", "folder", metavar="DIR", help="write DIR/memory/SKILL.md instead")
@flag("--snippet", "short", help="a few sentences for AGENTS.md or CLAUDE.md")
def skill(call: Call, folder: str | None, short: bool) -> None:
    """Print what teaches an agent when to search its memory and when to write to it.

    It is a skill (SKILL.md) for every host that reads them; `memolith install` brings it along.

    Examples:
        memolith skill
        memolith skill --install ~/.claude/skills
        memolith skill --snippet >> AGENTS.md
    """
    if short and folder:
        raise UsageError("--snippet and --install exclude each other.", hint="Leave one out.")
    text = snippet() if short else skill_text()
    path = (
        os.path.join(os.path.abspath(os.path.expanduser(folder)), NAME, "SKILL.md")
        if folder
        else ""
    )
    if path:
        _write_skill(path, text)
    if call.json:
        output.say_json({"path": path} if path else {"text": text})
    elif path:
        output.say(output.bold("Installed"), f"  {path}")
    else:
        output.write(text)
    _warn_of_missing_tools(call)


def _write_skill(path: str, text: str) -> None:
    before, after = read_file(path), text.encode()
    if before not in (None, after) and b"memolith" not in (before or b""):
        raise RefusedError(
            f"{path} is another skill. Nothing was changed.", hint="Choose another folder."
        )
    write(Edit(path=path, before=before, after=after))


def _warn_of_missing_tools(call: Call) -> None:
    """Say what the skill names although the server of this memory does not offer it."""
    with call.open(reads=True) as memory:
        offered = tool_names(memory.config.mcp.tools)
    missing = [] if offered in (("core",), ("all",)) else missing_tools(offered)
    if missing:
        names = ", ".join(missing)
        call.warn([f"mcp.tools leaves out tools that the skill names: {names}."])
