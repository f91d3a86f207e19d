"""`memolith init`: make the files of a new memory."""

from __future__ import annotations

import argparse
import os
import shlex

from memolith.approvals import is_approved
from memolith.cli import exit_codes, output
from memolith.cli.input import at_terminal, confirmed
from memolith.cli.opening import open_memory
from memolith.cli.usage import Arguments, UsageError
from memolith.clock import Clock
from memolith.profile import Profile

HELP = """\
Make the folder of a memory, with MEMORY.md, USER.md and memolith.toml in it, so that commands run below
the folder use it. Files that are there stay as they are; if they are a memory, `init` shows what it
holds and asks before it approves it (see `memolith trust`). In a git work tree it offers lines for
.gitignore that keep the memory out of git.
Other commands make what they need by themselves, except a profile with a name of its own."""
EXAMPLE = """\
memolith init
memolith init ~/notes/memory
memolith init --profile work"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    parser.add_argument("folder", metavar="DIR", nargs="?", help="as --root DIR")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run(args: Arguments) -> int:
    """Make the files and print their names."""
    if args.folder and (args.root or args.profile):
        raise UsageError("DIR is given twice.", hint="Leave out --root and --profile.")
    args.root = args.folder or args.root
    with open_memory(args, create=True) as memory:
        # What the environment names is approved for one process, what is typed here for good.
        is_named = memory.profile.found_by == "argument" and args.root
        if is_named and not _is_sure(args, memory.profile):
            return exit_codes.DECLINED
        made = memory.init()
        if is_named:
            from memolith.jobs.trust import approve

            approve(memory.root, memory.profile.home, Clock().now())
        _keep_out_of_git(args, memory.root)
    if args.json:
        output.say_json({"profile": memory.profile.name, "root": memory.root, "made": made})
        return exit_codes.OK
    for path in made:
        output.say(output.bold("Made"), f"  {path}")
    output.say("This memory is in " if made else "Everything was there already, in ", memory.root)
    return exit_codes.OK


def _is_sure(args: Arguments, profile: Profile) -> bool:
    """Whether the user approves a memory that is already in the folder."""
    from memolith.cli.trust import is_sure
    from memolith.jobs.trust import survey

    if not profile.exists or is_approved(profile.root, profile.home):
        return True
    if os.path.realpath(profile.root).startswith(os.path.realpath(profile.home) + os.sep):
        return True
    found = survey(profile.root)
    return found is None or is_sure(args, found, f"memolith init {shlex.quote(profile.root)} --yes")


def _keep_out_of_git(args: Arguments, root: str) -> None:
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
    if at_terminal() and not args.json and not args.yes:
        output.note(f"{root} is in a git work tree, and git does not ignore the memory.")
        if confirmed(f"Add to {IGNORE_FILE}: {lines}?"):
            ignore_private_files(root)
    else:
        output.note(
            f"To keep the memory out of git, add to {os.path.join(root, IGNORE_FILE)}: {lines}"
        )
