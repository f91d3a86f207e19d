"""`memolith trust`: approve the memory of a folder that you did not name."""

from __future__ import annotations

import argparse
import os
import pwd
import shlex

from memolith.approvals import is_approved, read_approvals
from memolith.cli import exit_codes, output
from memolith.cli.input import at_terminal, confirmed
from memolith.cli.usage import Arguments
from memolith.clock import Clock
from memolith.config.load import open_profile
from memolith.errors import NotFoundError, RefusedError
from memolith.jobs.trust import Survey
from memolith.text.wording import counted

HELP = """\
Approve the memory of a folder, so that it is used wherever you work below that folder. Somebody else may
have written it: a memory that came with a cloned project says what an agent of yours takes for its own.
The command shows what the memory holds and asks. Without DIR it is the nearest memory above the
current folder."""
EXAMPLE = """\
memolith trust ~/work/project
memolith trust --list
memolith trust --remove ~/work/project"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    parser.add_argument("folder", metavar="DIR", nargs="?", help="the folder of the memory")
    parser.add_argument("--list", action="store_true", help="show the approved folders")
    parser.add_argument("--remove", action="store_true", help="take the approval of DIR back")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run(args: Arguments) -> int:
    """Approve, list or take back."""
    from memolith.jobs.trust import withdraw

    found, _ = open_profile(args.folder or args.root, lenient=True, use_default=True)
    if args.list:
        return _list(args, found.home)
    root = found.unapproved or found.root
    if args.remove:
        path = withdraw(root, found.home)
        if args.json:
            output.say_json({"root": path, "approved": False})
        else:
            output.say(output.bold("No longer approved"), f"  {path}")
        return exit_codes.OK
    return _trust(args, root, found.home)


def _trust(args: Arguments, root: str, home: str) -> int:
    from memolith.jobs import trust

    survey = trust.survey(root) if os.path.isdir(root) else None
    if survey is None:
        raise NotFoundError(
            f"There is no memory in {root}.",
            name=root,
            hint=f"To make one: memolith init {shlex.quote(root)}",
        )
    if not is_sure(args, survey, f"memolith trust {shlex.quote(root)} --yes"):
        return exit_codes.DECLINED
    trust.approve(root, home, Clock("").now())
    if args.json:
        output.say_json(
            {
                "root": survey.root,
                "records": survey.records,
                "files": survey.files,
                "newest_change": survey.newest_change and survey.newest_change.isoformat(),
                "approved": True,
            }
        )
    else:
        output.say(output.bold("Approved"), f"  {survey.root}")
    return exit_codes.OK


def is_sure(args: Arguments, survey: Survey, command: str) -> bool:
    """Show what would be approved and ask; without a terminal, `command` is the way to say yes."""
    changed = survey.newest_change.astimezone() if survey.newest_change else None
    output.note(
        f"{survey.root} holds {counted(survey.records, 'record')}"
        f" in {counted(survey.files, 'Markdown file')}"
        + (f", changed last on {changed:%Y-%m-%d %H:%M}" if changed else "")
        + (f"; it belongs to {_name(survey.owner)}" if survey.owner != os.geteuid() else "")
        + "."
    )
    if args.yes:
        return True
    if args.json or not at_terminal():
        raise RefusedError(
            "Only you can approve a memory, and there is no terminal to ask you on."
            " Nothing was changed.",
            hint=f"If you know who wrote it: {command}",
        )
    if confirmed("Let your agents use this memory?"):
        return True
    output.note("Nothing was changed.")
    return False


def _name(owner: int) -> str:
    try:
        return pwd.getpwuid(owner).pw_name
    except KeyError:
        return f"user {owner}"


def _list(args: Arguments, home: str) -> int:
    known = read_approvals(home)
    if args.json:
        folders = [
            {"root": path, "approved": known[path].get("approved"), "state": _state(path, home)}
            for path in sorted(known)
        ]
        output.say_json({"folders": folders})
        return exit_codes.OK
    output.table(
        (path, f"approved {str(known[path].get('approved'))[:10]}{_remark(path, home)}")
        for path in sorted(known)
    )
    if not known:
        output.note("No folder is approved yet: memolith trust DIR")
    return exit_codes.OK


def _state(path: str, home: str) -> str:
    if not os.path.isdir(path):
        return "missing"
    return "approved" if is_approved(path, home) else "other owner"


def _remark(path: str, home: str) -> str:
    state = _state(path, home)
    return "" if state == "approved" else f", not used: {state}"
