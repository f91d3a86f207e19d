"""The one way in which files are changed by hand: by their version, with a backup, in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256

from memolith.errors import VersionConflictError
from memolith.files import gate
from memolith.files.backup import NOTES, prune_backups, save_backup
from memolith.files.folder import Folder
from memolith.files.transaction import Transaction
from memolith.store import Store
from memolith.text.cleaning import shown_path
from memolith.types import Record, Stamp
from memolith.visibility import Patterns, raises_trust, trust


@dataclass(frozen=True, slots=True)
class Seen:
    """A file as it was read; nothing else is ever replaced. Without data there is no such file."""

    path: str
    data: bytes | None
    stamp: Stamp | None

    @property
    def version(self) -> str:
        """The version of its bytes; "" when there is no file."""
        return version_of(self.data)


def look(folder: Folder, path: str) -> Seen:
    """A file as it is now; its stamp is older than its bytes, so that no edit made meanwhile is lost."""
    stamp = folder.stamp(path)
    return Seen(path, folder.read(path), stamp)


def version_of(data: bytes | None) -> str:
    """The version of a file's bytes; "" when there is no file."""
    return "" if data is None else sha256(data).hexdigest()


def require_version(seen: Seen, given: str | None) -> None:
    """Refuse to replace a file that is not what was read; "" means no file, None any."""
    if given is not None and given != seen.version:
        is_new = not given
        what = "exists already" if is_new else "is not what was read: somebody has changed it since"
        read_again = "Read it again, and make the change there."
        raise VersionConflictError(
            f"{shown_path(seen.path)} {what}.",
            path=seen.path,
            given=given,
            current=seen.version,
            hint="Choose another path, or delete that one first." if is_new else read_again,
        )


def is_raised(old: Record, new: Record, external: Patterns) -> bool:
    """Whether a record would get a lower mark or more trust, which only the user may give it."""
    mark = gate.mark_after(old, new.sensitivity, by_user=False)
    channels = new.provenance.channel, old.provenance.channel
    return mark != new.sensitivity or raises_trust(*channels, external)


def admitted(
    store: Store, transaction: Transaction, old: Record, new: Record, channel: str
) -> Record:
    """A changed record as it may be written; raises an error if it may not."""
    if new == old:
        return old
    # What an agent changes is the agent's from then on.
    if raises_trust(old.provenance.channel, channel, store.config.trust.external):
        new = replace(new, provenance=replace(new.provenance, channel=channel))
    new = gate.checked_record(new)
    if new.text != old.text:
        gate.admit_forgotten(transaction, new, by_user=trust(channel) == "user")
    return new


def changed_files(
    folder: Folder, paths: Iterable[str], change: Callable[[str, bytes], bytes | None]
) -> dict[Seen, bytes | None]:
    """The files that a change makes different, with what it makes of each."""
    files = (look(folder, path) for path in paths)
    return {
        file: data
        for file in files
        if file.data is not None and (data := change(file.path, file.data)) != file.data
    }


def replace_files(
    store: Store,
    transaction: Transaction,
    changes: Mapping[Seen, bytes | None],
    *,
    reason: str | None,
) -> str | None:
    """Put new bytes in the place of files, None to delete one, and commit.

    Returns the name of the backup of what was there; without a reason there is none.
    """
    backup = None
    if reason:
        before = {seen.path: seen.data for seen in changes if seen.data is not None}
        backup = save_backup(transaction.folder, before, reason=reason, now=store.clock.now())
    for seen, data in changes.items():
        if data is None:
            transaction.remove(seen.path, seen.stamp)
        else:
            transaction.replace(seen.path, data, seen.stamp)
    transaction.commit()
    often = NOTES if reason == NOTES else ""
    prune_backups(transaction.folder, store.config.store.backups_kept, reason=often)
    return backup
