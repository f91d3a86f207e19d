"""Approve the memory of a folder: what is in it, and the list of approved folders."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import starmap

from memolith.approvals import APPROVALS, PROFILE_FILE, is_approved, owners, read_approvals
from memolith.config.sections import StoreConfig
from memolith.errors import NotFoundError
from memolith.files import layout
from memolith.files.folder import Folder
from memolith.files.locks import STATE_FOLDER
from memolith.files.notes import records_in
from memolith.files.transaction import rewrite_file
from memolith.types import Plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey(Plain):
    """What the memory of a folder holds, for the user to decide on."""

    root: str
    records: int
    files: int
    newest_change: datetime | None
    owner: int
    approved: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval(Plain):
    """A folder whose memory may be used, or why it is not: it is missing, or has another owner."""

    root: str
    state: str  # approved, withdrawn, missing or other owner
    approved: str | bool  # since when


@dataclass(frozen=True, slots=True, kw_only=True)
class Approvals(Plain):
    """The folders that the user has approved."""

    folders: tuple[Approval, ...]


def holds_memory(root: str) -> bool:
    """Whether there is a memory in this folder, of any owner."""
    marks = (PROFILE_FILE, layout.ROOT_MEMORY, layout.NESTED_MEMORY, STATE_FOLDER)
    return any(os.path.lexists(os.path.join(root, mark)) for mark in marks)


def survey(root: str) -> Survey | None:
    """Count what is in a folder without writing to it; None if it holds no memory."""
    if not holds_memory(root):
        return None
    with Folder(root) as folder:
        folder.leave_out_closed()
        paths = list(folder.walk())
        changes = [found[2] for path in (*paths, PROFILE_FILE) if (found := folder.stamp(path))]
        memories = (layout.ROOT_MEMORY, layout.NESTED_MEMORY)
        return Survey(
            root=os.path.realpath(root),
            records=sum(len(records_in(path, folder.read(path) or b"")) for path in memories),
            files=len(paths),
            newest_change=datetime.fromtimestamp(max(changes) / 1e9, UTC) if changes else None,
            owner=os.fstat(folder.fd).st_uid,
        )


def approve(root: str, home: str, now: datetime) -> None:
    """Use the memory of this folder from now on wherever it is found."""
    path = os.path.realpath(root)
    approval = {"owners": owners(path), "approved": now.isoformat(timespec="seconds")}
    _write(home, lambda known: {**known, path: approval})


def approved_folders(home: str) -> Approvals:
    """The list of approved folders, by path."""

    def approval(path: str, known: Mapping[str, object]) -> Approval:
        state = "approved" if is_approved(path, home) else "other owner"
        state = state if os.path.isdir(path) else "missing"
        return Approval(root=path, state=state, approved=str(known.get("approved") or ""))

    return Approvals(folders=tuple(starmap(approval, sorted(read_approvals(home).items()))))


def withdraw(root: str, home: str) -> Approval:
    """Take the approval of a folder back, which may be gone."""
    known = read_approvals(home)
    paths = [one for one in (os.path.realpath(root), os.path.abspath(root)) if one in known]
    if not paths:
        raise NotFoundError(
            f"{root} is not approved.",
            name=root,
            hint="See those that are: memolith trust --list",
        )
    _write(home, lambda known: {one: known[one] for one in known if one != paths[0]})
    return Approval(root=paths[0], state="withdrawn", approved=False)


def _write(home: str, change: Callable[[Mapping[str, object]], Mapping[str, object]]) -> None:
    def changed(_: bytes) -> bytes:
        return (json.dumps(change(read_approvals(home)), indent=2, sort_keys=True) + "\n").encode()

    rewrite_file(os.path.join(home, APPROVALS), changed, StoreConfig())
