"""The one place that decides what is shown: by sensitivity, time and successor, never by text."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memolith.types import SENSITIVITIES
from memolith.visibility import current, may_see, trust, visible
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
        ("import", "external"), ("web", "external"), ("telegram", "external"), ("", "external"), ("CLI", "external"),
        ("cli ", "external"), ("user\0", "external"), ("mcp/user", "external"),
    ],
)  # fmt: skip
def test_trust_follows_the_channel_and_an_unknown_one_has_none(channel: str, expected: str) -> None:
    assert trust(channel) == expected


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
