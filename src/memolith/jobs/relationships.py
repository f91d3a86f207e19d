"""The relationship view: what is known of people, places and habits, in groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from memolith.files.document import Document
from memolith.files.ledger import source_of
from memolith.jobs.experiences import category_of, replaced_by_newer
from memolith.jobs.reports import Relationships
from memolith.text.names import entities, small_words
from memolith.types import Record

# Besides experiences: what says how somebody is, likes things or has decided.
_CATEGORIES = ("preference", "user-preference", "learned", "decision")


def stored_experiences(path: str, data: bytes | None) -> list[Record]:
    """The experiences of their file, oldest first."""
    records = [record for _, record in Document.parse(path, data or b"").records()]
    return sorted(records, key=lambda record: record.created)


def relationships(records: Iterable[Record], experiences: Sequence[Record]) -> Relationships:
    """Group experiences and preferences that hold now; an experience takes the place of its record."""
    copied = {source_of(experience) for experience in experiences}
    everything = [
        *(one for one in records if one.category in _CATEGORIES and one.id not in copied),
        *experiences,
    ]
    outdated = set(replaced_by_newer(everything))
    left = [one for one in everything if one.id not in outdated]
    small = small_words([one.text for one in left])
    return Relationships(
        by_category=_grouped(left, lambda record: [category_of(record)]),
        by_session=_grouped(left, lambda record: [record.session]),
        by_entity=_grouped(left, lambda record: entities(record.text, small)),
    )


def _grouped(
    records: Sequence[Record], names: Callable[[Record], Iterable[str]]
) -> Mapping[str, tuple[Record, ...]]:
    groups: dict[str, list[Record]] = {}
    for record in records:
        for name in names(record):
            groups.setdefault(name, []).append(record)
    ordered = sorted(groups, key=lambda name: (-len(groups[name]), name))
    return {
        name: tuple(sorted(groups[name], key=lambda record: record.created)) for name in ordered
    }
