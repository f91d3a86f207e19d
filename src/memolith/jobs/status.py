"""Count what a profile holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memolith import __version__
from memolith.files import layout
from memolith.files.document import Damage, Document, damage_warnings
from memolith.files.folder import Folder
from memolith.files.ledger import archives
from memolith.files.notes import notes
from memolith.files.record_format import is_utf16
from memolith.jobs.reports import Status
from memolith.profile import Profile
from memolith.text.cleaning import shown_path


def read_status(profile: Profile) -> Status:
    """The numbers of a profile; all zero when it does not exist yet."""
    if not profile.exists:
        return Status(version=__version__, profile=profile.name, root=profile.root)
    with Folder(profile.root) as folder:
        closed = folder.leave_out_closed()
        memory = list(folder.walk(layout.DAILY_FOLDER))
        daily = [path for path in memory if layout.is_daily_log(path)]
        paths = (layout.ROOT_MEMORY, layout.NESTED_MEMORY)
        stamps = [
            folder.stamp(path) for path in {*memory, *paths, layout.USER, layout.CONVERSATIONS}
        ]
        damages: list[Damage] = []
        records, archived = (
            sum(_count_records(folder, path, damages) for path in those)
            for those in (paths, set(archives(folder)))
        )
        return Status(
            version=__version__,
            profile=profile.name,
            root=profile.root,
            initialised=True,
            records=records,
            notes=sum(1 for _ in notes(folder)),
            daily_logs=len(daily),
            turns=(folder.read(layout.CONVERSATIONS) or b"").count(b"\n"),
            bytes=sum(stamp[1] for stamp in stamps if stamp),
            archived=archived,
            backups=sum(1 for _ in folder.walk(layout.BACKUP_FOLDER, suffix="manifest.json")),
            forgotten=(folder.read(layout.TOMBSTONES) or b"").count(b"\n"),
            warnings=(*closed.values(), *_in_utf16(folder, paths), *damage_warnings(damages)),
        )


def _count_records(folder: Folder, path: str, damages: list[Damage]) -> int:
    document = Document.parse(path, folder.read(path) or b"")
    return sum(1 for _ in document.records(damages))


def _in_utf16(folder: Folder, paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        if is_utf16(folder.read(path, limit=4) or b""):
            yield f"{shown_path(path)} is UTF-16, so none of its records is read."
