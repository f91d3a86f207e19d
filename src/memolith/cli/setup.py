"""Commands that set a memory up and look after it."""

from __future__ import annotations

import os
import pwd
import shlex
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial

from memolith import reports
from memolith.approvals import is_approved
from memolith.cli import output
from memolith.cli.options import UNHEALTHY, Call, Steps, UsageError, command, group, suggestion
from memolith.clock import Clock
from memolith.config import edit, load
from memolith.config.sections import SCHEDULED, SECTIONS, SETTINGS, setting_value
from memolith.config.setting import ARGUMENT, toml_value
from memolith.errors import NotFoundError
from memolith.files.folder import SECOND_NAME
from memolith.jobs import trust as approvals
from memolith.jobs.reports import Check
from memolith.memory import Memory, open_store
from memolith.profile import Profile
from memolith.store import Store
from memolith.text.wording import counted, refused_chunks

# Of a check: its sign, the same without Unicode, and how both look.
_SIGNS = {
    "error": ("✗", "x", output.red),
    "warn": ("!", "!", output.yellow),
    "info": ("·", ".", output.dim),
    "ok": ("✓", "+", output.green),
    "off": ("-", "-", output.dim),
}


@command()
def init(call: Call, dir: str | None, git: bool, yes: bool) -> Steps:  # noqa: A002
    """Make the folder of a memory, with MEMORY.md, USER.md and memolith.toml in it.

    Commands run below the folder use it then. Files that are there stay as they are; if they are a memory,
    `init` shows what it holds and asks before it approves it (see `memolith trust`). In a git work tree it
    offers lines for .gitignore that keep the memory out of git; with --git it becomes a repository, or part of
    the one it is in, and git learns to merge what several machines wrote: once in each clone. Other commands
    make what they need by themselves, except a profile with a name of its own.

    Options:
        [DIR]  as --root DIR
        --git  keep it in git, where two machines' records are merged
        --yes

    Examples:
        memolith init
        memolith init ~/notes/memory
        memolith init --profile work
        memolith init --git ~/notes/memory
    """
    if dir and (call.root or call.profile):
        raise UsageError("DIR is given twice.", hint="Leave out --root and --profile.")
    call.root = dir or call.root
    with call.open(create=True) as memory:
        profile = memory.profile
        in_git: tuple[str, ...] = ()
        # What the environment names is approved for one process, what is typed here for good.
        is_named = profile.found_by == "argument" and call.root
        if is_named and _is_unknown(profile) and (found := approvals.survey(profile.root)):
            again = f"memolith init {'--git ' * git}{shlex.quote(profile.root)} --yes"
            _ask_about_memory(call, found, again, yes=yes)
        made = memory.init()
        if is_named:
            approvals.approve(memory.root, profile.home, Clock().now())
        if git:
            from memolith.jobs.machines import set_up_git

            in_git = set_up_git(memory.root, memory.config.store)
        else:
            _keep_out_of_git(memory.root, asks=output.at_terminal() and not call.json and not yes)
    yield reports.InitReport(profile=profile.name, root=memory.root, made=made, git=in_git)
    for path in made:
        output.report("Made", path)
    for sentence in in_git:
        output.say(sentence)
    is_new = made or in_git
    output.say("This memory is in " if is_new else "Everything was there already, in ", memory.root)


def _is_unknown(profile: Profile) -> bool:
    """Whether the folder was there before, and neither is below the user's home nor approved."""
    ours = os.path.realpath(profile.home) + os.sep
    is_ours = os.path.realpath(profile.root).startswith(ours)
    return profile.exists and not is_ours and not is_approved(profile.root, profile.home)


def _keep_out_of_git(root: str, *, asks: bool) -> None:
    """Offer to ignore the private files, if git does not; without a terminal, say how."""
    from memolith.jobs.checks import place

    _, exposed = place.private_files_in_git(root)
    lines, file = " ".join(place.IGNORE_LINES.split()), os.path.join(root, place.IGNORE_FILE)
    if exposed and not asks:
        output.note(f"To keep the memory out of git, add to {file}: {lines}")
    elif exposed:
        output.note(f"{root} is in a git work tree, and git does not ignore the memory.")
        if output.confirmed(f"Add to {place.IGNORE_FILE}: {lines}?"):
            place.ignore_private_files(root)


@command()
def trust(call: Call, dir: str | None, list_: bool, remove: bool, yes: bool) -> Steps:  # noqa: A002
    """Approve the memory of a folder, so that it is used wherever you work below that folder.

    Somebody else may have written it: a memory that came with a cloned project says what an agent of yours
    takes for its own. The command shows what the memory holds and asks. Without DIR it is the nearest memory
    above the current folder.

    Options:
        [DIR]  the folder of the memory
        --list  show the approved folders
        --remove  take the approval of DIR back
        --yes

    Examples:
        memolith trust ~/work/project
        memolith trust --list
    """
    profile, _ = load.open_profile(dir or call.root, lenient=True, use_default=True)
    root, home = profile.unapproved or profile.root, profile.home
    if list_:
        known = approvals.approved_folders(home)
        yield known
        output.listing(known.folders, "root state approved")
        if not known.folders:
            output.note("No folder is approved yet: memolith trust DIR")
        return
    if remove:
        gone = approvals.withdraw(root, home)
        yield gone
        output.report("No longer approved", gone.root)
        return
    found = approvals.survey(root) if os.path.isdir(root) else None
    if found is None:
        make = f"To make one: memolith init {shlex.quote(root)}"
        raise NotFoundError(f"There is no memory in {root}.", name=root, hint=make)
    _ask_about_memory(call, found, f"memolith trust {shlex.quote(root)} --yes", yes=yes)
    approvals.approve(root, home, Clock("").now())
    yield replace(found, approved=True)
    output.report("Approved", found.root)


def _ask_about_memory(call: Call, found: approvals.Survey, again: str, *, yes: bool) -> None:
    """Show what would be approved and ask; without a terminal, `again` is the way to say yes."""
    files = counted(found.files, "Markdown file")
    holds = f"{found.root} holds {counted(found.records, 'record')} in {files}"
    if found.newest_change:
        holds += f", changed last on {output.shown(found.newest_change)}"
    if found.owner != os.geteuid():
        owner = f"user {found.owner}"
        with suppress(KeyError):
            owner = pwd.getpwuid(found.owner).pw_name
        holds += f"; it belongs to {owner}"
    output.note(f"{holds}.")
    if not yes:
        call.ask("Let your agents use this memory?", sure=again)


@command(reads=True)
def status(call: Call, memory: Memory) -> Steps:
    """Show which memory is used, what it holds, and how far its index is.

    Examples:
        memolith status
    """
    from memolith.jobs.scheduler import notices

    found, call.see = memory.status(), "doctor"
    yield found
    where = ("profile", found.profile), ("folder", found.root)
    if not found.initialised:
        output.pairs(*where, ("", "Nothing remembered yet. The first record makes the folder."))
        return
    held = "records notes daily_logs turns archived forgotten backups bytes"
    output.pairs(*where, *output.facts(found, held), *notices(memory.config, memory.profile))
    output.report("Index", _index_state(call, found.index))
    if index := found.index:
        unembedded = index.without_vector and counted(index.without_vector, "chunk")
        output.pairs(
            *output.facts(index, "files chunks bytes model"),
            ("", unembedded and f"{unembedded} not embedded yet: found by words only"),
            ("", index.refused and refused_chunks(index.refused)),
        )
        call.warn(index.warnings)


def _index_state(call: Call, index: reports.IndexStatus | None) -> str:
    if index is None or not index.exists:
        return "none yet; the first search or `memolith sync` makes it"
    if index.damaged:
        return f"damaged: the next search makes it again, or now: {call.again('sync --rebuild')}"
    behind = index.changed and f"{counted(index.changed, 'file')} changed since the last sync"
    return behind or "in line with the files"


@command()
def doctor(call: Call, fix: bool, yes: bool) -> Steps:
    """Look at everything that can be wrong with a memory.

    Damaged lines by file and line number, links, modes, locks, backups, what a crash left behind. Nothing is
    changed without --fix. The exit code says whether anything is an error.

    Options:
        --fix  mend what can be mended without touching anybody's words: modes, the work of a killed writer, left-over files; asks before it copies files with a second name
        --yes

    Examples:
        memolith doctor --fix
    """
    given = load.settings_from_flags(call.set)
    profile, loaded = call.load(given, lenient=True, use_default=not fix)
    with open_store(Store(profile, loaded, given), "cli") as memory:
        report = memory.doctor(fix=fix, copy_linked=fix and yes)
        linked = [check.message for check in report.checks if SECOND_NAME in check.message]
        if fix and linked and output.at_terminal() and not call.json:
            output.note("\n".join(linked))
            if output.confirmed("Keep their content, each in a file of its own?"):
                again = memory.doctor(fix=True, copy_linked=True)
                report = replace(again, mended=(*report.mended, *again.mended))
    every = _with_hosts(call, report.checks)
    checks = tuple(replace(one, hint=one.hint and call.here(one.hint)) for one in every)
    report = replace(report, checks=checks)
    call.code = call.code if report.healthy else UNHEALTHY
    yield report
    for sentence in report.mended:
        output.say(f"Mended: {sentence}")
    width = max(len(check.label) for check in checks)
    column = 0 if (sys.stdout.encoding or "").lower().startswith("utf") else 1
    for check in checks:
        look = _SIGNS[check.status]
        output.paragraph(f"{look[column]} {check.label:{width}}  ", check.message, label=look[2])
        if check.hint:
            output.paragraph(" " * (width + 4), check.hint, body=output.dim)
    statuses = [check.status for check in checks]
    counts = {"error": statuses.count("error"), "warning": statuses.count("warn")}
    found = ", ".join(counted(number, kind) for kind, number in counts.items() if number)
    output.say(f"{found}." if found else "Nothing is wrong.")


def _with_hosts(call: Call, checks: tuple[Check, ...]) -> list[Check]:
    """The checks with those of the hosts that we installed into, which take the place of a mere look."""
    from memolith.cli.hosts import installations
    from memolith.hosts.catalog import HOSTS
    from memolith.hosts.check import check_installed
    from memolith.jobs.checks.subject import WORST_FIRST

    installed = installations(call)
    ours = [host for host in HOSTS.values() if installed.has(host)]
    found = [check for host in ours for check in check_installed(host, installed)]
    titles = tuple(f"{host.title}{end}" for host in ours for end in " :")
    looks = (one for one in checks if ours and one.id == "hosts")
    replaced = [one for one in looks if one.status == "ok" or one.message.startswith(titles)]
    found += (one for one in checks if one not in replaced)
    return sorted(found, key=lambda check: WORST_FIRST.index(check.status))


@command()
def sync(memory: Memory, rebuild: bool) -> Steps:
    """Bring the index in line with the files.

    Every search does this too; after a large import it is nicer to do it once, and to watch. With --rebuild the
    index is made again from the files; nothing you wrote is touched.

    Options:
        --rebuild  delete the index first, and make it again

    Examples:
        memolith sync --rebuild
    """
    with output.progress("Indexing", "files") as bar:
        report = memory.index.rebuild(bar) if rebuild else memory.index.sync(bar)
    yield report
    output.report("In sync", "", *output.facts(report, "files indexed chunks removed"))


@group()
def config() -> None:
    """Show settings and change them.

    A change goes to the memolith.toml of the profile, or with --user to the file for all of your profiles. A
    value is checked before it is written.

    Examples:
        memolith config show
        memolith config show trim --origin
        memolith config show --changed
        memolith config set trim.max_records 500
        memolith config set profile.timezone Europe/Madrid --user
        memolith config unset trim.max_records
        memolith config path
    """


def _load(call: Call, *, writes: bool = False) -> tuple[Profile, load.LoadedConfig]:
    """Leave out what is wrong in the files: how else could one look at it here, and mend it."""
    return call.load(load.settings_from_flags(call.set), lenient=True, use_default=not writes)


def _read(call: Call) -> load.LoadedConfig:
    """The settings as they are now; what is wrong in the files is printed and shows in the exit code."""
    _, loaded = _load(call)
    for problem in loaded.problems:
        output.warn(problem.message)
        output.note(call.here(problem.hint))
        call.failed(problem)
    return loaded


def _setting(loaded: load.LoadedConfig, name: str) -> reports.SettingValue:
    return setting_value(loaded.config, loaded.origins, name)


def _assignment(setting: reports.SettingValue) -> str:
    return f"{setting.name} = {toml_value(setting.value)}"


@config.action("show")
def show(call: Call, section: str | None, origin: bool, changed: bool) -> Steps:
    """Show every setting with its value, by section.

    Options:
        [SECTION]  only this section, such as search
        --origin
        --changed  only what differs from the defaults
    """
    if section is not None and section not in SECTIONS:
        raise UsageError(f"{section!a} is not a section.", hint=suggestion(section, SECTIONS))
    loaded = _read(call)
    every = (_setting(loaded, one) for one in SETTINGS if section in (None, one.split(".")[0]))
    chosen = tuple(one for one in every if not changed or one.value != one.default)
    problems = (
        reports.SettingProblem(
            name=x.setting, file=x.origin, message=x.message, hint=call.here(x.hint)
        )
        for x in loaded.problems
    )
    yield reports.Settings(settings=chosen, problems=tuple(problems))
    part = ""
    for one in chosen:
        if part != (part := one.name.partition(".")[0]):
            output.say(output.bold(f"[{part}]"))
        output.say(_assignment(one), output.dim(f"  {one.origin}" if origin else ""))
        output.paragraph("    ", one.doc, body=output.dim)
    if not chosen:
        output.note("Every setting has its default.")


@config.action("get")
def get(call: Call, key: str, origin: bool) -> Steps:
    """Print the value of one setting.

    Options:
        KEY  such as trim.max_records
        --origin
    """
    loaded = _read(call)
    load.known_setting(key, ARGUMENT)
    found = _setting(loaded, key)
    yield found
    bare = found.value if isinstance(found.value, str) else toml_value(found.value)  # for scripts
    output.say(f"{_assignment(found)}  {found.origin}" if origin else bare)


def _write(
    call: Call, make: Callable[..., edit.SettingChange], *, user: bool
) -> tuple[str, bool, load.LoadedConfig]:
    """Change a settings file: its path, whether it changed, and the settings as they are now."""
    from memolith.files.transaction import rewrite_file

    profile, loaded = _load(call, writes=not user)
    change = make(profile, for_user=user)
    changed = rewrite_file(change.path, change.apply, loaded.config.store)
    loaded, call.code = _read(call), 0  # other mistakes do not undo it
    return change.path, changed, loaded


@config.action("set")
def set_(call: Call, key: str, value: str, user: bool) -> Steps:
    """Write a setting into its file.

    Options:
        KEY  such as trim.max_records
        VALUE  true, false, a number or text
        --user
    """
    file, _, loaded = _write(call, partial(edit.set_setting, name=key, text=value), user=user)
    written, now = SETTINGS[key].check(value, ARGUMENT), _setting(loaded, key)
    yield reports.SettingChange(**asdict(now), written=written, file=file)
    output.report("Set", f"{key} = {toml_value(written)}  in {file}")
    if now.origin != file:
        output.note(f"Not in effect here, because of: {now.origin}")
        output.note(f"There it says: {_assignment(now)}")
    elif written is True and key.removesuffix(".enabled") in SCHEDULED:
        output.note("It runs on its schedule as long as memolith mcp, serve or maintain runs.")  # fmt: skip
    elif now.restart:
        output.note("It takes effect when a server is restarted.")


@config.action("unset")
def unset(call: Call, key: str, user: bool) -> Steps:
    """Take a setting out of its file.

    Options:
        KEY  such as trim.max_records
        --user
    """
    file, removed, loaded = _write(call, partial(edit.unset_setting, name=key), user=user)
    now = _setting(loaded, key) if key in SETTINGS else None
    known = asdict(now) if now else {"name": key}
    yield reports.SettingRemoval(**known, removed=removed, file=file)
    if removed:
        is_now = now and f"It is now: {_assignment(now)}  ({now.origin})"
        output.report("Unset", f"{key}  in {file}", ("", is_now))
    else:
        output.note(f"{key} is not set in {file}; it comes from: {loaded.origins[key]}")


@config.action("path")
def path(call: Call) -> Steps:
    """Print the two files that settings are read from."""
    profile, _ = _load(call)
    files = reports.SettingFiles(profile=profile.settings_file, user=profile.user_settings_file)
    yield files
    output.pairs(*output.facts(files))
