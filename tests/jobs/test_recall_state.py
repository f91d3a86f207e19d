"""The state of dreaming is read as the seed writes it, and whatever else stands there harms nobody."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from memolith import Memory
from memolith.files.folder import Folder
from memolith.jobs.recalls import RECALLS, SIGNALS, RecallState, read_state

# As the seed shows it.
SEED = {
    "version": 1,
    "updatedAt": "2026-04-12T14:03:22.118Z",
    "entries": {
        "memory:memory/2026-04-09.md:12:15": {
            "path": "memory/2026-04-09.md",
            "startLine": 12,
            "endLine": 15,
            "snippet": "Cookie weighs 12 kg and loves carrots",
            "recallCount": 5,
            "totalScore": 2.31,
            "maxScore": 0.61,
            "firstRecalledAt": "2026-04-09T18:20:01.000Z",
            "lastRecalledAt": "2026-04-12T14:03:22.118Z",
            "recallDays": ["2026-04-09", "2026-04-10", "2026-04-12"],
            "conceptTags": ["cookie", "dog", "weighs", "12kg", "carrots"],
        }
    },
}


def state_of(root: str | Path, recalls: object = None, signals: object = None) -> RecallState:
    for path, content in ((RECALLS, recalls), (SIGNALS, signals)):
        if content is not None:
            data = content if isinstance(content, bytes) else json.dumps(content).encode()
            Path(root, path).parent.mkdir(parents=True, exist_ok=True)
            Path(root, path).write_bytes(data)
    with Folder(str(root), create=True) as folder:
        return read_state(folder.read)


def test_the_state_of_the_seed_is_read(root: str) -> None:
    state = state_of(root, SEED)
    (entry,) = state.entries.values()
    assert (entry.recalls, entry.total_score, entry.days[0]) == (5, 2.31, "2026-04-09")
    assert not state.is_damaged
    by_notepad = b"\xef\xbb\xbf" + json.dumps(SEED).encode()
    assert state_of(root, by_notepad) == state


def test_what_is_written_has_the_shape_of_the_seed_and_is_read_back(root: str) -> None:
    state = state_of(root, SEED)
    written = json.loads(state.files()[RECALLS])
    (entry,) = written["entries"].values()
    (seed,) = SEED["entries"].values()  # type: ignore[attr-defined]
    assert {key: entry[key] for key in seed} == seed
    assert (written["version"], written["updatedAt"]) == (1, SEED["updatedAt"])
    (signal,) = json.loads(state.files()[SIGNALS]).items()
    assert signal[0] == "memory:memory/2026-04-09.md:12:15"
    assert 0 < signal[1] <= 1
    assert state_of(root, *state.files().values()) == state


def test_a_broken_state_is_an_empty_one_and_is_named(root: str) -> None:
    for broken in (b"", b"{", b"[]", b"\xff\xfe", b"1" * 5000, b"[" * 100_000):
        state = state_of(root, broken, broken)
        assert state.entries == {}
        assert state.is_damaged


def test_one_bad_entry_spoils_no_other(root: str) -> None:
    entries = {**SEED["entries"], "bad": {"path": 7}, "worse": None}  # type: ignore[dict-item]
    state = state_of(root, {**SEED, "entries": entries})
    assert len(state.entries) == 1
    assert state.is_damaged


def test_forgetting_takes_a_record_out_of_the_state_even_if_only_its_text_is_known(
    memory: Memory,
) -> None:
    record = memory.remember("Cookie weighs 12 kg and loves carrots")
    state_of(memory.root, SEED, {"memory:memory/2026-04-09.md:12:15": 0.5})
    memory.forget(record.id)
    left = state_of(memory.root)
    assert left.entries == {}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4)
    ),
    max_leaves=12,
)
(_SEED_ENTRY,) = SEED["entries"].values()  # type: ignore[attr-defined]


@settings(max_examples=200)
@given(
    changed=st.dictionaries(st.sampled_from(sorted(_SEED_ENTRY)), json_values, max_size=4),
    signals=json_values,
)
def test_no_hand_made_state_is_fatal(
    tmp_path_factory: object, changed: dict[str, object], signals: object
) -> None:
    root = tmp_path_factory.mktemp("state")  # type: ignore[attr-defined]
    state = state_of(root, {"entries": {"key": _SEED_ENTRY | changed}}, signals)
    for entry in state.entries.values():
        assert entry.recalls >= 0
    assert all(0 <= value <= 1 for value in json.loads(state.files()[SIGNALS]).values())
    again = state_of(root, *state.files().values())
    assert again.entries.keys() == state.entries.keys()


def test_moments_survive(root: str) -> None:
    moment = datetime(2026, 11, 15, 3, tzinfo=UTC)
    state = RecallState(updated=moment)
    assert state_of(root, *state.files().values()) == state
