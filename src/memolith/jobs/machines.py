"""One memory on several machines: merges by git, and of the copies that file synchronisers leave."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from memolith.clock import Clock
from memolith.config.sections import StoreConfig
from memolith.errors import RefusedError
from memolith.files import layout
from memolith.files.backup import save_backup
from memolith.files.chat_log import ARCHIVE
from memolith.files.folder import Folder
from memolith.files.gate import new_id
from memolith.files.ledger import archives, tombstones
from memolith.files.notes import encode_record, is_note_path, readable_note
from memolith.files.record_format import readable_record
from memolith.files.transaction import Transaction, rewrite_file
from memolith.jobs.checks.subject import CONFLICT, Subject
from memolith.text.cleaning import shown_path
from memolith.text.wording import counted

ATTRIBUTES = ".gitattributes"
# Files of lines, which are only appended to; a note is one text, which git merges as it does any other.
_MERGED = ("MEMORY.md", "memory/*.md", "LONGMEMORY.md", "DREAMS.md", layout.CONVERSATIONS)
_LINES = "".join(f"/{pattern} merge=memolith\n" for pattern in _MERGED)
_GIT_TIMEOUT_SECONDS = 30.0
_ID = re.compile(rb'"id": ?"([^"\n]{1,200})"')


def merge_three(base: bytes, ours: bytes, theirs: bytes, union: bytes) -> bytes:
    """The union that git made of two versions, with each record once, and without what one side removed.

    Of a record that one side has changed, that version stays; if both did, the one that is secret.
    """
    before, mine, other = map(_by_key, (base, ours, theirs))
    chosen: dict[bytes, bytes] = {}
    for key in mine.keys() | other.keys():
        if key in before and (key not in mine or key not in other):
            continue  # one side removed it
        versions = [side[key] for side in (mine, other) if key in side]
        changed = [line for line in versions if line != before.get(key)] or versions
        secret = [line for line in changed if b'"sensitivity":"secret"' in line]
        chosen[key] = (secret or changed)[0]
    lines = []
    for line in union.split(b"\n"):
        if (name := _key(line)) is None:
            lines.append(line)
        elif name in chosen:
            lines.append(chosen.pop(name))
    return b"\n".join(lines)


def _by_key(data: bytes) -> dict[bytes, bytes]:
    found = ((_key(line), line.rstrip(b"\r")) for line in data.split(b"\n"))
    return {key: line for key, line in found if key is not None}


def _key(line: bytes) -> bytes | None:
    """By what a line is known: a record by its id, a turn by itself; None for prose."""
    if line.startswith(b'{"timestamp":'):
        return line.rstrip(b"\r")
    record = readable_record(line)
    return record.id.encode(errors="replace") if record else None


def merge_for_git(base: str, ours: str, theirs: str) -> bytes:
    """What git is to put in the place of `ours`; the three are paths of files it made."""
    union = git(["git", "merge-file", "-p", "--union", ours, base, theirs], os.path.dirname(ours))
    before, mine, other = (Path(path).read_bytes() for path in (base, ours, theirs))
    return merge_three(before, mine, other, union)


def set_up_git(root: str, store: StoreConfig) -> tuple[str, ...]:
    """Make git merge this memory record by record, in a repository that is made if there is none.

    Returns what was done, in sentences.
    """
    done = []
    if b"true" not in git(["git", "rev-parse", "--is-inside-work-tree"], root, check=False):
        git(["git", "init", "-q"], root)
        done.append("Made a git repository.")
    program = shutil.which("memolith")
    command = shlex.quote(program) if program else f"{shlex.quote(sys.executable)} -m memolith"
    driver = f"{command} merge-driver %O %A %B"
    if _driver(root) != driver:
        git(["git", "config", "merge.memolith.name", "Memolith: each record once"], root)
        git(["git", "config", "merge.memolith.driver", driver], root)
        done.append("Git merges the records of this memory in this clone (merge.memolith.driver).")
    if add_lines(os.path.join(root, ATTRIBUTES), _LINES.encode(), store):
        done.append(f"Wrote to {ATTRIBUTES} which files git merges so: commit it.")
    return tuple(done)


def add_lines(path: str, lines: bytes, store: StoreConfig) -> bool:
    """Put lines at the end of a file, unless it has them; returns whether it is different now."""

    def added(data: bytes) -> bytes:
        glue = b"\n" if data and not data.endswith(b"\n") else b""
        return data if lines in data else data + glue + lines

    return rewrite_file(path, added, store)


def has_driver(root: str) -> bool | None:
    """Whether this clone has the driver by which git is to merge this memory; None if it needs none."""
    with Folder(root) as folder:
        is_wanted = b"merge=memolith" in (folder.read(ATTRIBUTES) or b"")
    return bool(_driver(root)) if is_wanted else None


def remotes(root: str) -> tuple[str, ...]:
    """The names of the repositories that git pushes to from here."""
    return tuple(git(["git", "remote"], root, check=False).decode(errors="replace").split())


def _driver(root: str) -> str:
    known = git(["git", "config", "--get", "merge.memolith.driver"], root, check=False)
    return known.decode(errors="replace").strip()


def git(command: Sequence[str], folder: str, *, check: bool = True) -> bytes:
    """What git prints; if it fails, RefusedError, or nothing if that is not an error."""
    try:
        return subprocess.run(  # noqa: S603 - arguments of our own
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_GIT_TIMEOUT_SECONDS,
            check=check,
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        if not check:
            return b""
        output = getattr(error, "stderr", None) or b""
        reason = output.decode(errors="replace").strip() or str(error)
        message = f"git could not do its part: {reason}"
        raise RefusedError(message, hint="Check git --version.") from error


def merge_copies(subject: Subject) -> Iterator[str]:
    """Bring what only a conflict copy has into the file it is a copy of; the copy goes to a backup."""
    copies = [one.path for one in subject.entries if one.is_conflict and one.kind == "file"]
    for path in copies:
        original = CONFLICT.sub("", path)
        if original == path or not original.endswith((".md", ".jsonl")):
            continue
        with (
            Folder(subject.root) as folder,
            Transaction(folder, subject.config.store.lock_timeout_seconds) as transaction,
        ):
            added = _merge_copy(transaction, path, original)
        yield f"{shown_path(path)} was merged into {shown_path(original)} ({added})."


def _merge_copy(transaction: Transaction, path: str, original: str) -> str:
    folder = transaction.folder
    stamp, theirs, ours = folder.stamp(path), folder.read(path) or b"", folder.read(original)
    save_backup(folder, {original: theirs}, reason="copy", now=Clock("").now())
    added = "nothing new"
    note = readable_note(original, theirs) if is_note_path(original) else None
    if ours is None:
        transaction.replace(original, theirs, None)
        added = "it was missing"
    elif note is not None:
        known = readable_note(original, ours)
        if known is None or known.text != note.text:
            stem = original.removesuffix(".md")
            names = (f"{stem}-{number}.md" for number in range(2, 10_000))
            free = next(name for name in names if folder.stamp(name) is None)
            transaction.replace(free, encode_record(replace(note, id=new_id())), None)
            added = f"its text differs, and is now {shown_path(free)}"
    elif missing := list(_missing(folder, ours, theirs)):
        transaction.append(original, b"".join(line + b"\n" for line in missing))
        added = counted(len(missing), "line")
    transaction.remove(path, stamp)
    transaction.commit()
    return added


def _missing(folder: Folder, ours: bytes, theirs: bytes) -> Iterator[bytes]:
    """The lines that this memory does not have: a record that is archived or forgotten is not missing."""
    lines = set(ours.split(b"\n")) | set((folder.read(ARCHIVE) or b"").split(b"\n"))
    known = {stone.id.encode() for stone in tombstones(folder.read)} | set(_ID.findall(ours))
    for name in archives(folder):
        known.update(_ID.findall(folder.read(name) or b""))
    for line in theirs.replace(b"\r\n", b"\n").split(b"\n"):
        record = readable_record(line)
        is_known = line in lines if record is None else record.id.encode() in known
        if line.strip() and not is_known:
            yield line
