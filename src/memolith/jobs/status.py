"""Count what stands in a profile, parsing as little of it as possible."""

from __future__ import annotations

from memolith.files import layout
from memolith.files.folder import Folder
from memolith.files.plain_lines import count_records
from memolith.values import dataclass
from memolith.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memolith.profile import Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What stands in a profile right now."""

    version: str
    profile: str
    root: str
    initialised: bool = False
    records: int = 0
    notes: int = 0
    daily_logs: int = 0
    turns: int = 0
    bytes: int = 0
    archived: int = 0
    backups: int = 0
    forgotten: int = 0


def read_status(profile: Profile) -> Status:
    """The numbers of a profile; all zero when it does not exist yet."""
    if not profile.exists:
        return Status(version=__version__, profile=profile.name, root=profile.root)
    with Folder(profile.root) as folder:
        memory = list(folder.walk(layout.DAILY_FOLDER))
        daily = [path for path in memory if layout.is_daily_log(path)]
        paths = (layout.ROOT_MEMORY, layout.NESTED_MEMORY)
        stamps = [
            folder.stamp(path) for path in {*memory, *paths, layout.USER, layout.CONVERSATIONS}
        ]
        return Status(
            version=__version__,
            profile=profile.name,
            root=profile.root,
            initialised=True,
            records=sum(count_records(folder.read(path) or b"") for path in paths),
            notes=sum(path.count("/") >= 2 for path in memory),
            daily_logs=len(daily),
            turns=(folder.read(layout.CONVERSATIONS) or b"").count(b"\n"),
            bytes=sum(stamp[1] for stamp in stamps if stamp),
            archived=sum(
                count_records(folder.read(path) or b"")
                for path in folder.walk(layout.ARCHIVE_FOLDER)
            ),
            backups=sum(1 for _ in folder.walk(layout.BACKUP_FOLDER, suffix="manifest.json")),
            forgotten=(folder.read(layout.TOMBSTONES) or b"").count(b"\n"),
        )
