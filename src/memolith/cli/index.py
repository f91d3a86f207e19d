"""`memolith index status`: how the index stands to the files."""

from __future__ import annotations

import argparse

from memolith.cli import output
from memolith.cli.opening import again, open_memory
from memolith.cli.usage import Arguments
from memolith.reports import IndexStatus
from memolith.text.wording import counted, refused_chunks

HELP = (
    "Show how the index stands to the files: what it holds, which model made its vectors, and what"
    " the next search or sync will look at. Nothing is changed."
)
EXAMPLE = """\
memolith index status
memolith index status --json"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    parser.add_argument(
        "action", metavar="ACTION", nargs="?", choices=["status"], help="status (the default)"
    )


def run(args: Arguments) -> int:
    """Print how the index is."""
    with open_memory(args) as memory:
        status = memory.index.status()
    if args.json:
        output.say_json(
            {
                "folder": status.folder,
                "exists": status.exists,
                "damaged": status.damaged,
                "current": status.current,
                "files": status.files,
                "chunks": status.chunks,
                "without_vector": status.without_vector,
                "refused": status.refused,
                "changed": status.changed,
                "bytes": status.bytes,
                "model": status.model or None,
                "warnings": list(status.warnings),
            }
        )
        return 0
    _show(args, status)
    return 0


def _show(args: Arguments, status: IndexStatus) -> None:
    output.say(output.bold("Index"), f"  {status.folder}")
    if not status.exists:
        output.say("  there is none yet; the first search or `memolith sync` makes it")
    elif status.damaged:
        output.say(
            "  damaged: the next search makes it again, or now: ", again(args, "sync --rebuild")
        )
    else:
        held = f"{counted(status.files, 'file')}, {counted(status.chunks, 'chunk')}"
        output.say(f"  {held}, {status.bytes / 1e6:,.1f} MB")
        output.say(f"  model  {status.model or 'none yet'}")
    if status.without_vector:
        count = counted(status.without_vector, "chunk")
        output.say(f"  {count} not embedded yet: found by words only")
    if status.refused:
        output.say(f"  {refused_chunks(status.refused)}")
    if status.changed and not status.damaged:
        output.say(f"  {counted(status.changed, 'file')} changed since the last sync")
    elif status.exists and not status.damaged:
        output.say("  in line with the files")
    for warning in status.warnings:
        output.note(f"memolith: {warning}")
