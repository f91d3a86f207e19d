"""Put Memolith into a host, and take it out again so that every file is as it was."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field

from memolith.errors import FileFormatError, RefusedError
from memolith.files import atomic_write
from memolith.files.folder import FILE_MODE, our_errors
from memolith.hosts.catalog import Host, Program
from memolith.hosts.changes import (
    OURS,
    Change,
    Whole,
    is_empty,
    parse_toml,
    with_changes,
    without_changes,
)
from memolith.text import json_text

_MAX_BYTES = 64_000_000  # some hosts keep chats beside their settings
_STATE = "hosts.json"  # below MEMOLITH_HOME: which files of which host were changed
_BACKUPS = "host-backups"


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One file as it is and as it will be; None where it does not exist."""

    path: str
    before: bytes | None
    after: bytes | None

    def diff(self) -> Iterator[str]:
        """The change, as `diff -u` prints it."""
        names = (
            self.path if side is not None else "/dev/null" for side in (self.before, self.after)
        )
        old_name, new_name = names
        yield from difflib.unified_diff(
            _lines(self.before), _lines(self.after), old_name, new_name, lineterm=""
        )


def _lines(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8", "replace").splitlines()


def read_file(path: str) -> bytes | None:
    """The bytes of a host's file, or None if there is none; links of the user are followed."""
    with our_errors(path):
        try:
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError:
            return None
        with open(fd, "rb") as file:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise RefusedError(f"{path} is not a file.", hint="Move it away.")
            data = file.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise RefusedError(f"{path} is too large to be changed safely.", hint="Change it by hand.")
    return data


def write(edit: Edit, *, made_folders: int = 0) -> None:
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
            atomic_write.remove_elsewhere(edit.path, made_folders)
        else:
            mode = FILE_MODE if edit.before is None else stat.S_IMODE(os.stat(path).st_mode)
            atomic_write.write_elsewhere(path, edit.after, mode=mode)


def setting(path: str, keys: Sequence[str]) -> object:
    """What a host's file has at a place; None if there is nothing. Raises ValueError."""
    text = (read_file(path) or b"").decode("utf-8-sig")
    found = parse_toml(text) if path.endswith(".toml") else json_text.parse(text).value
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def server_entry(host: Host, folder: str) -> Mapping[str, object]:
    """Our entry among the servers of a host; nothing if there is none, or nobody can read it."""
    name, place = host.servers
    found: object = {}
    with suppress(ValueError, RecursionError):
        found = setting(os.path.join(folder, name), (*place, OURS))
    return found if isinstance(found, dict) else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """One file as we left it, and how to bring back what it was before."""

    after: str  # the digest of the file with our entries
    backup: str = ""  # the name of the copy of what it was; "" if there was no file
    folders: int = 0  # that were made for it


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What an installation or its removal will change."""

    host: Host
    edits: tuple[Edit, ...]
    bases: Mapping[str, bytes | None] = field(default_factory=dict)  # each file without our entries
    left: tuple[str, ...] = ()  # sentences on files that stay as they are

    @property
    def changes(self) -> tuple[Edit, ...]:
        """The edits that change something."""
        return tuple(edit for edit in self.edits if edit.before != edit.after)


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
        return bool(self._known().get(host.name))

    def plan(self, host: Host, program: Program) -> Plan:
        """What it takes that a host has all of ours; nothing is written."""
        known, edits, left = self._known().get(host.name, {}), [], []
        program = program.like(server_entry(host, self.folder(host)))
        bases: dict[str, bytes | None] = {}
        for path, changes in self._files(host, program).items():
            now = read_file(path)
            if isinstance(changes[0], Whole) and now is not None and b"memolith" not in now:
                left.append(f"{path} is somebody else's, and was left as it is.")
                continue
            bases[path] = self._base(path, now, changes, known.get(path))
            edits.append(Edit(path=path, before=now, after=with_changes(now, path, changes)))
        return Plan(host=host, edits=tuple(edits), bases=bases, left=tuple(left))

    def plan_removal(self, host: Host, program: Program) -> Plan:
        """What it takes that every file is as it was before; nothing is written."""
        known, edits, left = self._known().get(host.name, {}), [], []
        for path, changes in reversed(self._files(host, program).items()):
            now, record = read_file(path), known.get(path)
            if now is None:
                continue
            is_whole = isinstance(changes[0], Whole)
            if is_whole and (record.after != _digest(now) if record else b"memolith" not in now):
                left.append(f"{path} was changed by somebody else, and was left as it is.")
                continue
            base = self._base(path, now, changes, record or Installed(after=""))
            edits.append(Edit(path=path, before=now, after=None if is_whole else base))
        return Plan(host=host, edits=tuple(edits), left=tuple(left))

    def apply(self, plan: Plan) -> None:
        """Make the changes; what each file was before is kept first."""
        state = self._known()
        known = state.setdefault(plan.host.name, {})
        for edit in plan.edits:
            base, old = plan.bases[edit.path], known.get(edit.path)
            name = ""
            if base is not None:
                of_path = hashlib.sha256(edit.path.encode()).hexdigest()[:8]
                name = f"{plan.host.name}-{of_path}-{os.path.basename(edit.path)}"
                atomic_write.write_elsewhere(os.path.join(self._folder, _BACKUPS, name), base)
            folders = old.folders if old else _missing_folders(edit.path)
            known[edit.path] = Installed(
                after=_digest(edit.after or b""), backup=name, folders=folders
            )
        self._save(state)  # before the files: a half-made installation can be taken back
        for edit in plan.edits:
            write(edit)

    def remove(self, plan: Plan) -> None:
        """Take our entries out, and forget that they were there."""
        state = self._known()
        known = state.pop(plan.host.name, {})
        for edit in plan.edits:
            record = known.get(edit.path)
            write(edit, made_folders=record.folders if record else 0)
        self._save(state)
        for record in known.values():
            if record.backup:
                atomic_write.remove_elsewhere(self._backup(record), 1)

    def backups(self, plan: Plan) -> list[str]:
        """Where the files that were there before are kept."""
        records = self._known().get(plan.host.name, {}).values()
        return [self._backup(record) for record in records if record.backup]

    def _files(self, host: Host, program: Program) -> dict[str, tuple[Change, ...]]:
        folder = self.folder(host)
        return {os.path.join(folder, name): them for name, them in host.files(program).items()}

    def _base(
        self, path: str, now: bytes | None, changes: Sequence[Change], record: Installed | None
    ) -> bytes | None:
        """A file without our entries: as it was, if nobody changed it since."""
        if now is None or record is None:
            return now
        if _digest(now) == record.after:
            return read_file(self._backup(record)) if record.backup else None
        if isinstance(changes[0], Whole):
            return None
        rest = without_changes(now, path, changes)
        return None if not record.backup and record.after and is_empty(rest) else rest

    def _backup(self, record: Installed) -> str:
        return os.path.join(self._folder, _BACKUPS, record.backup)

    def _known(self) -> dict[str, dict[str, Installed]]:
        path = os.path.join(self._folder, _STATE)
        try:
            content = json.loads(read_file(path) or b"{}")
            return {
                host: {file: Installed(**record) for file, record in files.items()}
                for host, files in content.items()
            }
        except (ValueError, TypeError, AttributeError) as error:
            raise FileFormatError(
                f"{path} cannot be read.", path=path, hint="Delete it; uninstall works without it."
            ) from error

    def _save(self, state: Mapping[str, Mapping[str, Installed]]) -> None:
        content = {
            host: {path: asdict(record) for path, record in files.items()}
            for host, files in state.items()
        }
        data = json.dumps(content, indent=2).encode() + b"\n"
        path = os.path.join(self._folder, _STATE)
        if content:
            atomic_write.write_elsewhere(path, data)
        else:
            atomic_write.remove_elsewhere(path)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _missing_folders(path: str) -> int:
    """How many of the folders above a file will be made for it."""
    count = 0
    while not os.path.isdir(path := os.path.dirname(path)):
        count += 1
    return count
