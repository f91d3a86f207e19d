"""Put Memolith into a host, and take it out again so that every file is as it was."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from memolith.errors import MemolithError, RefusedError
from memolith.files import atomic_write
from memolith.files.folder import FILE_MODE, our_errors
from memolith.hosts.catalog import Host, Program
from memolith.hosts.entries import OURS, Part, value_at, with_part, without_part
from memolith.types import Plain

_STATE = "hosts.json"  # below MEMOLITH_HOME: the digest of each file that we changed, as we left it
_BACKUPS = "host-backups"  # there too: what these files were before


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit(Plain):
    """One file as it is and as it will be; None where it does not exist."""

    path: str
    before: bytes | None = field(repr=False)
    after: bytes | None = field(repr=False)
    folders: int = field(default=0, repr=False)  # above it, that go with it if they are empty then

    @property
    def diff(self) -> tuple[str, ...]:
        """The change, as `diff -u` prints it."""
        sides = ((side or b"").decode("utf-8", "replace") for side in (self.before, self.after))
        old, new = (side.splitlines() for side in sides)
        return tuple(difflib.unified_diff(old, new, self.path, self.path, lineterm=""))


def read_file(path: str) -> bytes | None:
    """The bytes of a host's file, or None if there is none; links of the user are followed."""
    with our_errors(path), suppress(FileNotFoundError):
        return Path(path).read_bytes()
    return None


def write(edit: Edit) -> None:
    """Make one change; a file that has changed since it was read is left as it is."""
    if read_file(edit.path) != edit.before:
        raise RefusedError(
            f"{edit.path} was changed by somebody else. It was left as it is.",
            hint="Run the command again.",
        )
    if edit.after == edit.before:
        return
    path = os.path.realpath(edit.path)
    with our_errors(edit.path):
        if edit.after is None:
            atomic_write.remove_elsewhere(edit.path, edit.folders)
        else:
            mode = FILE_MODE if edit.before is None else stat.S_IMODE(os.stat(path).st_mode)
            atomic_write.write_elsewhere(path, edit.after, mode=mode)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Plain):
    """What an installation or its removal will change."""

    of: Host = field(repr=False)
    edits: tuple[Edit, ...] = field(repr=False)
    left: tuple[str, ...] = ()  # sentences on files that stay as they are

    @property
    def host(self) -> str:
        """The name of the host."""
        return self.of.name

    @property
    def todo(self) -> str:
        """What the user must still do."""
        return self.of.todo

    @property
    def changes(self) -> tuple[Edit, ...]:
        """The edits that change something."""
        return tuple(edit for edit in self.edits if edit.before != edit.after)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure(Plain):
    """A host that could not be changed."""

    host: str
    error: str
    why: MemolithError = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallReport(Plain):
    """What an installation or its removal did, or with `dry_run` would do, to each host."""

    hosts: tuple[Plan, ...]
    failed: tuple[Failure, ...]
    dry_run: bool


class Installations:
    """What was installed into the hosts of one user."""

    def __init__(self, memolith_home: str, user_home: str, environment: Mapping[str, str]) -> None:
        self._folder = memolith_home
        self._home = user_home
        self._environment = environment

    def folder(self, host: Host) -> str:
        """Where a host keeps its settings."""
        return host.path(self._home, self._environment)

    def has(self, host: Host) -> bool:
        """Whether we installed into a host."""
        return host.name in self._known()

    def change(
        self, hosts: Iterable[Host], program: Program, *, removes: bool, dry_run: bool
    ) -> InstallReport:
        """Put what is ours into these hosts, or take it out; one that fails does not stop the others."""
        plans, failed = [], []
        make, do = (self._plan_removal, self._remove) if removes else (self._plan, self._apply)
        for host in hosts:
            try:
                plan = make(host, program)
                if not dry_run:
                    do(plan)
                plans.append(plan)
            except MemolithError as error:
                failed.append(Failure(host=host.name, error=error.message, why=error))
        return InstallReport(hosts=tuple(plans), failed=tuple(failed), dry_run=dry_run)

    def _plan(self, host: Host, program: Program) -> Plan:
        """What it takes that a host has all of ours; nothing is written."""
        edits, left = [], []
        for path, part, folders in self._files(host, program.like(self._server_entry(host))):
            now = read_file(path)
            if part.text and now is not None and OURS.encode() not in now:
                left.append(f"{path} is somebody else's, and was left as it is.")
                continue
            after = with_part(now, path, part)
            edits.append(Edit(path=path, before=now, after=after, folders=folders))
        return Plan(of=host, edits=tuple(edits), left=tuple(left))

    def _plan_removal(self, host: Host, program: Program) -> Plan:
        """What it takes that every file is as it was before; nothing is written."""
        known, edits, left = self._known().get(host.name, {}), [], []
        for path, part, folders in reversed(self._files(host, program)):
            now, after = read_file(path), None
            if now is None:
                continue
            if known.get(path) == _digest(now):
                after = read_file(self._backup(host, path))
            elif not part.text:
                after = without_part(now, path, part)
            elif path in known or OURS.encode() not in now:
                left.append(f"{path} was changed by somebody else, and was left as it is.")
                continue
            edits.append(Edit(path=path, before=now, after=after, folders=folders))
        return Plan(of=host, edits=tuple(edits), left=tuple(left))

    def _apply(self, plan: Plan) -> None:
        """Make the changes; what each file was before is kept first."""
        if not plan.changes:
            return
        state = self._known()
        known = state.setdefault(plan.host, {})
        for edit in plan.edits:
            backup = self._backup(plan.of, edit.path)
            if edit.path not in known and edit.before is None:
                atomic_write.remove_elsewhere(backup)  # of an installation nobody remembers
            elif edit.path not in known:
                atomic_write.write_elsewhere(backup, edit.before or b"")
            # A file that others changed meanwhile is never put back to what it was before.
            if known.get(edit.path) in (None, _digest(edit.before or b"")):
                known[edit.path] = _digest(edit.after or b"")
        self._save(state)  # before the files: a half-made installation can be taken back
        for edit in plan.edits:
            write(edit)

    def _remove(self, plan: Plan) -> None:
        """Take our entries out, and forget that they were there."""
        state = self._known()
        for edit in plan.edits:
            write(edit)
        for path in state.pop(plan.host, {}):
            atomic_write.remove_elsewhere(self._backup(plan.of, path), 1)
        self._save(state)

    def backups(self, plan: Plan) -> list[str]:
        """Where the files that were there before are kept."""
        paths = (self._backup(plan.of, edit.path) for edit in plan.edits)
        return [path for path in paths if os.path.exists(path)]

    def _server_entry(self, host: Host) -> Mapping[str, object]:
        """Our entry among the servers of a host; nothing if there is none, or nobody can read it."""
        found: object = None
        with suppress(ValueError, RecursionError):
            found = setting(os.path.join(self.folder(host), host.servers), *host.place, OURS)
        return found if isinstance(found, dict) else {}

    def _files(self, host: Host, program: Program) -> list[tuple[str, Part, int]]:
        """The files of a host, what of them is ours, and how many folders may be there for it."""
        folder, above = self.folder(host), len(Path(host.folder).parts)
        return [
            (os.path.join(folder, name), part, name.count("/") + above)
            for name, part in host.files(program).items()
        ]

    def _backup(self, host: Host, path: str) -> str:
        name = f"{host.name}-{_digest(path.encode())[:8]}-{os.path.basename(path)}"
        return os.path.join(self._folder, _BACKUPS, name)

    def _known(self) -> dict[str, dict[str, str]]:
        known: dict[str, dict[str, str]] = {}
        with suppress(ValueError):  # entries can be taken out without it
            known = json.loads(read_file(os.path.join(self._folder, _STATE)) or b"{}")
        return known

    def _save(self, state: Mapping[str, Mapping[str, str]]) -> None:
        path = os.path.join(self._folder, _STATE)
        if state:
            atomic_write.write_elsewhere(path, json.dumps(state, indent=2).encode() + b"\n")
        else:
            atomic_write.remove_elsewhere(path, 1)


def setting(path: str, *keys: str) -> object:
    """What a host's file has at a place; None if there is nothing. Raises ValueError."""
    return value_at(read_file(path), path, keys)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
