"""Records to test with: one that can be varied, and Hypothesis strategies for any of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from memolith.files.gate import whole_characters
from memolith.types import SENSITIVITIES, Provenance, Record

if TYPE_CHECKING:
    from memolith.types import Sensitivity

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


def make_record(
    text: str = "Ana owns the release key",
    *,
    record_id: str = "3f6f0f0e-6d0b-4c1c-9f62-2a2f0e5d7a10",
    category: str = "note",
    sensitivity: Sensitivity = "private-user",
) -> Record:
    """A record of session `main`, written at noon."""
    return Record(
        id=record_id,
        text=text,
        category=category,
        session="main",
        created=NOON,
        provenance=Provenance(channel="cli", sensitivity=sensitivity),
    )


# The record keeps milliseconds, in UTC.
MOMENTS = st.datetimes(
    min_value=datetime(1970, 1, 2), max_value=datetime(9999, 12, 30), timezones=st.just(UTC)
).map(lambda moment: moment.replace(microsecond=moment.microsecond // 1000 * 1000))

# Any characters, halves of surrogate pairs included: JSON can spell those.
ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=())).map(whole_characters)
WHOLE_TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]))

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | WHOLE_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WHOLE_TEXT, inner, max_size=4),
    max_leaves=12,
)  # fmt: skip
METADATA = st.dictionaries(WHOLE_TEXT, JSON, max_size=4)

RECORDS = st.builds(
    Record,
    id=st.uuids().map(str),
    text=ANY_TEXT,
    category=ANY_TEXT,
    session=ANY_TEXT,
    created=MOMENTS,
    provenance=st.builds(
        Provenance,
        channel=WHOLE_TEXT,
        confidence=st.floats(0, 1),
        sensitivity=st.sampled_from(SENSITIVITIES),
    ),
    keywords=st.lists(WHOLE_TEXT, max_size=4).map(tuple),
    metadata=METADATA,
    supersedes=st.none() | st.uuids().map(str),
    expires=st.none() | MOMENTS,
)

A_DAY = timedelta(days=1)
