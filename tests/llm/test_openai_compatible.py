"""A language model may write summaries; whatever it does, the memory is whole and the rules stand by."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from memolith import Memory
from memolith.clock import Clock
from memolith.config.sections import LlmConfig
from memolith.errors import ConfigError, SummariserError
from memolith.interfaces import Statement
from memolith.llm import model as openai_compatible
from memolith.llm.model import OpenAiCompatible
from memolith.llm.prompts import load_prompt
from memolith.llm.rules import Rules
from tests.conftest import StoppedTime
from tests.lifecycle.life import live
from tests.llm.checked import checked_summary
from tests.llm.endpoint import Endpoint

NOTES = [
    Statement(text=f"Ana decided to pay {n}0 euros to Ben", ids=(f"id{n}",), day=date(2026, 11, n))
    for n in range(1, 9)
]


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_compatible, "_PAUSE_SECONDS", 0.01)


def model(endpoint: Endpoint, **limits: float) -> OpenAiCompatible:
    made = OpenAiCompatible(LlmConfig(url=endpoint.url, model="small"), "the-key")
    for name, value in {"timeout_seconds": 300.0, **limits}.items():
        setattr(made, name, value)
    return made


def test_a_good_answer_is_taken_with_its_cost() -> None:
    with Endpoint("good").running() as endpoint:
        checked = checked_summary(model(endpoint), NOTES, 2000)
    assert (checked.problem, checked.taken, checked.refused.total()) == ("", len(NOTES), 0)
    summary = checked.summary
    assert [line.text for line in summary.statements] == [note.text for note in NOTES]
    assert summary.tokens == 321
    path, headers, asked = endpoint.asked[0]
    assert (path, asked["model"]) == ("/v1/chat/completions", "small")
    assert headers["Authorization"] == "Bearer the-key"


def test_a_cost_of_which_only_the_parts_are_named_is_their_sum() -> None:
    with Endpoint("parts of the cost").running() as endpoint:
        checked = checked_summary(model(endpoint), NOTES, 2000)
    assert (checked.problem, checked.summary.tokens) == ("", 321)


def test_no_password_told_in_words_is_sent() -> None:
    told = [*NOTES, replace(NOTES[0], text="The wifi password is heron-guest")]
    with Endpoint("good").running() as endpoint:
        model(endpoint).summarise(told, 600)
    (asked,) = endpoint.asked
    assert "Ana decided" in str(asked)
    assert "heron-guest" not in str(asked)


MANY = [
    Statement(
        text=f"Ana decided to pay {n} euros to the shop in street number {n}",
        ids=(f"id{n}",),
        day=date(2026, 11, 1 + n % 28),
    )
    for n in range(3_000)
]


def test_of_what_is_too_long_for_one_question_the_rules_write() -> None:
    with Endpoint("every tenth").running() as endpoint:
        checked = checked_summary(model(endpoint), MANY, 50_000)
    (prompt,) = [str(asked["messages"]) for _, _, asked in endpoint.asked]
    assert len(prompt) < 110_000
    assert f"[{MANY[-1].ids[0]}]" in prompt
    assert f"[{MANY[0].ids[0]}]" not in prompt
    assert checked.taken > 100
    assert checked.by_rules > 100
    assert checked.summary.tokens == 321


def test_words_around_the_lines_are_left_out() -> None:
    with Endpoint("chatty").running() as endpoint:
        checked = checked_summary(model(endpoint), NOTES, 2000)
    assert (checked.problem, len(checked.summary.statements)) == ("", len(NOTES))


@pytest.mark.parametrize("busy", ["429", "503", "hangs up"])
def test_a_busy_endpoint_is_asked_again(busy: str) -> None:
    with Endpoint(busy, busy, "good").running() as endpoint:
        checked = checked_summary(model(endpoint, max_retries=2), NOTES, 2000)
    assert (checked.problem, len(endpoint.asked)) == ("", 3)
    assert len(checked.summary.statements) == len(NOTES)


BAD_WAYS = [
    "empty", "half", "invented ids", "invented number", "controls", "wrong day", "10 MB", "400",
    "401", "500", "redirect", "not JSON", "nested", "other shape", "hangs up", "gzip bomb", "silent",
    "drips", "drips headers", "half JSON", "ends early", "not UTF-8", "a stream",
]  # fmt: skip


@pytest.mark.parametrize("way", BAD_WAYS)
def test_a_bad_answer_is_not_taken_and_the_rules_write(way: str) -> None:
    with Endpoint(way).running() as endpoint:
        patience = 0.4 if way in ("silent", "drips", "drips headers") else 300.0
        writer = model(endpoint, max_retries=0, timeout_seconds=patience)
        checked = checked_summary(writer, NOTES, 600)
        endpoint.wait_until_asked()
    assert checked.summary.statements == Rules().summarise(NOTES, 600).statements
    assert checked.taken == 0
    assert checked.problem.startswith("small: ")
    assert checked.problem.endswith("The rules wrote the summary.")
    assert "the-key" not in checked.problem
    assert len(endpoint.asked) == 1


@pytest.mark.parametrize("way", ["half", "invented ids", "invented number", "wrong day"])
def test_what_a_refused_answer_cost_is_counted(way: str) -> None:
    with Endpoint(way).running() as endpoint:
        checked = checked_summary(model(endpoint, max_retries=0), NOTES, 600)
    assert checked.problem
    assert checked.summary.tokens == 321


def test_an_endpoint_that_is_not_there_is_said() -> None:
    writer = OpenAiCompatible(LlmConfig(url="http://127.0.0.1:9/v1", model="small"))
    writer.max_retries = 0
    with pytest.raises(SummariserError, match="No answer"):
        writer.summarise(NOTES, 600)


@pytest.mark.parametrize("way", ["invented ids", "500", "not JSON", "silent"])
def test_a_model_of_which_nothing_can_be_taken_is_not_asked_for_every_summary(
    root: str,
    clock: Clock,
    stopped_time: StoppedTime,
    monkeypatch: pytest.MonkeyPatch,
    way: str,
) -> None:
    monkeypatch.setattr(OpenAiCompatible, "max_retries", 0)
    monkeypatch.setattr(OpenAiCompatible, "timeout_seconds", 0.4 if way == "silent" else 300.0)
    with Endpoint(way).running() as endpoint:
        settings = {"llm.url": endpoint.url, "compact.max_records": 60}
        memory = Memory(root, clock=clock, settings=settings)
        live(memory, stopped_time, 40)
        report = memory.jobs.compact()
    assert report.counts["summaries"] > 3
    assert len(endpoint.asked) == 2
    assert report.counts["tokens"] == (2 * 321 if way == "invented ids" else 0)


def test_a_model_that_is_too_slow_is_not_asked_the_same_again() -> None:
    with Endpoint("silent").running() as endpoint:
        writer = model(endpoint, max_retries=5, timeout_seconds=0.4)
        with pytest.raises(SummariserError, match="no complete answer"):
            writer.summarise(NOTES, 600)
    assert len(endpoint.asked) <= 1


def test_a_whole_compaction_with_a_model(
    root: str, clock: Clock, stopped_time: StoppedTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMOLITH_LLM_KEY", "the-key")
    monkeypatch.setattr(OpenAiCompatible, "max_retries", 0)
    with Endpoint("good", "500", "invented ids", "good").running() as endpoint:
        settings = {
            "llm.url": endpoint.url,
            "compact.max_records": 60,
        }
        memory = Memory(root, clock=clock, settings=settings)
        memory.remember("The door code is xyzzy", sensitivity="secret")
        live(memory, stopped_time, 40)
        assert memory.jobs.compact(dry_run=True).status == "planned"
        assert endpoint.asked == []
        report = memory.jobs.compact()
    assert report.status == "done"
    assert report.counts["tokens"] >= 321
    assert report.counts["model_lines"] >= 1
    assert report.counts["rule_lines"] >= 1
    assert any(one.metadata.get("by") == "model" for one in memory.records(category="compaction"))
    assert report.counts["refused_lines"] >= 1
    assert memory.jobs.show("last").counts == report.counts
    assert any("The rules wrote the summary." in warning for warning in report.warnings)
    assert "xyzzy" not in str(endpoint.asked)
    holders = [p for p in Path(root).rglob("*") if p.is_file() and b"the-key" in p.read_bytes()]
    assert holders == []


@pytest.mark.parametrize(
    "url",
    ["http://example.com/v1", "ftp://localhost", "https://a:b@example.com", "localhost:11434", "http://[::1"],
)  # fmt: skip
def test_memories_are_sent_nowhere_in_the_open(root: str, url: str) -> None:
    with pytest.raises(ConfigError):
        Memory(root, settings={"llm.url": url})


def test_a_prompt_and_its_caller_must_agree() -> None:
    with pytest.raises(KeyError, match="notes"):
        load_prompt("summarise", max_chars="5")
    assert "$" not in load_prompt("summarise", max_chars="5", notes="x")
