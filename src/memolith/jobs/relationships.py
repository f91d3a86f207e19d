"""The relationship view: what is known of people, places and habits, in groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from memolith.files.document import Document
from memolith.jobs.reports import Relationships
from memolith.text.entities import small_words
from memolith.text.known_names import KnownNames
from memolith.types import Record

# Besides experiences: what says how somebody is, likes things or has decided.
_TELLING = ("preference", "user-preference", "learned", "decision")


def stored_experiences(path: str, data: bytes | None) -> list[Record]:
    """The experiences of their file, oldest first."""
    records = [record for _, record in Document.parse(path, data or b"").records()]
    return sorted(records, key=lambda record: record.created)


def relationships(records: Iterable[Record], experiences: Sequence[Record]) -> Relationships:
    """Group experiences and preferences; an experience stands for the record it was made of."""
    copied = {experience.metadata.get("source") for experience in experiences}
    everything = [
        *(record for record in records if record.category in _TELLING and record.id not in copied),
        *experiences,
    ]
    texts = [record.text for record in everything]
    names = KnownNames(texts, small_words(texts))
    return Relationships(
        by_category=_grouped(everything, lambda record: [_category(record)]),
        by_session=_grouped(everything, lambda record: [record.session]),
        by_entity=_grouped(everything, lambda record: names.of(record.text)),
    )


def _category(record: Record) -> str:
    """Of an experience, the category of what it was made of."""
    if record.category != "experience":
        return record.category
    return str(record.metadata.get("category", "experience"))


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
