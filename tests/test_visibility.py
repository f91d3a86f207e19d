"""The one place that decides what is shown: by sensitivity, time and successor, never by text."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memolith import Memory
from memolith.config.sections import EXTERNAL_CHANNELS
from memolith.types import SENSITIVITIES, Provenance
from memolith.visibility import (
    allowed_platform,
    current,
    may_reuse,
    may_see,
    trust,
    visible,
)
from tests.files.samples import NOON, make_record


@pytest.mark.parametrize("sensitivity", SENSITIVITIES)
def test_only_secrets_are_hidden_and_only_until_asked_for(sensitivity: str) -> None:
    record = make_record(sensitivity=sensitivity)  # type: ignore[arg-type]
    assert visible(record, include_secret=True)
    assert visible(record, include_secret=False) == (sensitivity != "secret")


def test_a_group_is_handed_only_what_is_public_and_nobody_a_secret() -> None:
    assert [label for label in SENSITIVITIES if may_see(label, "group")] == ["public"]
    assert [label for label in SENSITIVITIES if not may_see(label, "main")] == ["secret"]


@pytest.mark.parametrize(
    ("channel", "expected"),
    [
        ("cli", "user"), ("library", "user"), ("operator", "user"), ("page", "user"),
        ("mcp", "agent"), ("rest", "agent"), ("agent", "agent"), ("system", "agent"),
        ("dm:demo-session", "agent"), ("heartbeat:main", "agent"), ("telegram", "agent"),
        ("", "agent"), ("CLI", "agent"), ("cli ", "agent"), ("user\0", "agent"), ("mcp/user", "agent"),
        ("web", "external"), ("Web", "external"), ("web:news", "external"), ("webmaster", "agent"),
        ("https://example.com", "external"), ("email", "external"), ("mailbox", "external"),
        ("rss:feed", "external"), ("webhook-7", "external"), ("tool:fetch", "external"),
        ("telegram:group:7", "external"), ("public", "external"),
        ("approved:web", "agent"), ("external:slack", "external"),
    ],
)  # fmt: skip
def test_trust_follows_the_channel_and_an_unknown_one_is_the_agents(
    channel: str, expected: str
) -> None:
    assert trust(channel, EXTERNAL_CHANNELS) == expected


def test_what_a_group_or_an_importer_wrote_is_external_whatever_is_declared() -> None:
    assert trust("mcp:group") == trust("external:slack") == "external"


@pytest.mark.parametrize(
    ("platform", "channel", "allowed"),
    [
        ("telegram", "mcp", "telegram"), ("email", "mcp", "email"), ("email", "cli", "email"),
        ("cli", "mcp", "mcp"), ("user", "telegram", "telegram"), ("", "rest", "rest"),
        ("telegram", "web", "web"), ("approved:web", "web", "web"), ("cli", "library", "cli"),
    ],
)  # fmt: skip
def test_a_channel_can_lower_its_trust_and_never_raise_it(
    platform: str, channel: str, allowed: str
) -> None:
    assert allowed_platform(platform, channel, EXTERNAL_CHANNELS) == allowed


def test_a_path_in_an_extra_folder_can_be_declared_external(tmp_path: Path) -> None:
    for name in ("clippings/page.md", "own.md"):
        path = tmp_path / "notes" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("The lottery prize waits in Lagos.\n")
    settings = {
        "index.extra_paths": str(tmp_path / "notes"),
        "trust.external": ["@notes/clippings/*"],
    }
    with Memory(tmp_path / "profile", settings=settings) as memory:
        memory.remember("Tea at four")
        labels = {hit.citation.path: hit.trust for hit in memory.search("lottery prize").hits}
        found = memory.context("Where does the lottery prize wait?")
    [clipping] = [path for path in labels if path.endswith("page.md")]
    assert labels.pop(clipping) == f"external: {clipping.partition('/')[0]}"
    assert f"file: {clipping.partition('/')[0]}" in labels.values()
    assert found.held == 1
    assert f"from {clipping} held back" in found.warnings[0]


def test_a_record_of_another_channel_answers_for_the_same_words_only_if_it_is_ours() -> None:
    ours, theirs = (
        replace(make_record(), provenance=Provenance(channel=channel))
        for channel in ("mcp", "slack")
    )
    assert may_reuse(ours, theirs)
    assert not may_reuse(theirs, ours)
    assert may_reuse(theirs, theirs)


@settings(max_examples=100, deadline=None)
@given(st.text())
def test_no_made_up_channel_is_trusted_like_the_user(channel: str) -> None:
    known = {"cli", "library", "operator", "page", "user"}
    assert (trust(channel) == "user") == (channel in known)


def test_a_record_expires_at_the_very_moment_it_says() -> None:
    record = replace(make_record(), expires=NOON)
    assert list(current([record], NOON - timedelta(milliseconds=1))) == [record]
    assert list(current([record], NOON)) == []
    assert list(current([make_record()], NOON)) == [make_record()]


def test_a_superseded_record_is_past_even_if_its_successor_has_expired() -> None:
    old = make_record("old", record_id="old")
    new = replace(make_record("new", record_id="new"), supersedes="old", expires=NOON)
    assert list(current([new, old], NOON - timedelta(days=1))) == [new]
    assert list(current([old, new], NOON)) == []


def test_a_chain_of_successors_leaves_the_last() -> None:
    chain = [
        replace(make_record(str(number), record_id=f"id-{number}"), supersedes=f"id-{number - 1}")
        for number in range(1, 6)
    ]
    assert [record.text for record in current(chain, NOON)] == ["5"]


def test_order_is_kept_and_any_iterable_will_do() -> None:
    records = [make_record(str(number), record_id=str(number)) for number in range(5)]
    assert list(current(iter(records), NOON)) == records
