"""`memolith restore`: list backups, or bring one back."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from memolith.cli import output
from memolith.cli.opening import again, open_memory
from memolith.cli.usage import Arguments, UsageError
from memolith.errors import BackupNotFoundError
from memolith.memory import Memory
from memolith.reports import Backup
from memolith.text.wording import counted
from memolith.types import iso

HELP = """\
List the backups, newest last; with a name, put the files of that backup back, byte for byte.
Records written since the backup are appended to them. The current files are saved first, so a
restore can be undone by another."""
EXAMPLE = """\
memolith restore
memolith restore 20261115T120000.000Z-trim
memolith restore --latest"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    parser.add_argument("name", metavar="NAME", nargs="?", help="the backup to bring back")
    parser.add_argument(
        "--latest", action="store_true", help="bring back the newest, which undoes the last change"
    )


def run(args: Arguments) -> int:
    """List the backups, or restore the one that is meant."""
    if args.name and args.latest:
        raise UsageError("Both a name and --latest are given.", hint="Leave one of them out.")
    with open_memory(args) as memory:
        if not args.name and not args.latest:
            _list(memory.files.backups(), as_json=args.json)
            return 0
        report = memory.files.restore(args.name or _latest(memory))
    if args.json:
        content = {name: getattr(report, name) for name in report.__slots__}
        output.say_json(content)
        return 0
    output.say(output.bold("Restored"), f"  {report.backup}")
    for path in report.files:
        output.say("  ", path)
    if report.appended:
        output.say("  kept  ", f"{counted(report.appended, 'newer record')}, appended at the end")
    output.say("  undo  ", again(args, f"restore {report.replaced_saved_as}"))
    return 0


def _list(backups: Sequence[Backup], *, as_json: bool) -> None:
    if as_json:
        output.say_json(
            {
                "backups": [
                    {
                        "name": backup.name,
                        "created": iso(backup.created),
                        "reason": backup.reason,
                        "files": dict(backup.files),
                    }
                    for backup in backups
                ]
            }
        )
    elif backups:
        output.table(
            (
                backup.name,
                backup.created.astimezone().strftime("%Y-%m-%d %H:%M"),
                f"before {backup.reason}",
                ", ".join(backup.files),
            )
            for backup in backups
        )
    else:
        output.note("No backups yet. One is made before a file is rewritten.")


def _latest(memory: Memory) -> str:
    backups = memory.files.backups()
    if not backups:
        raise BackupNotFoundError(
            "There is no backup to bring back yet.",
            name="latest",
            hint="One is made before a file is rewritten.",
        )
    return backups[-1].name
