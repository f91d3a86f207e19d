"""The integrity scan compares claims, not categories, and changes nothing."""

from __future__ import annotations

import shlex
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.jobs.contradictions import contradicting
from tests.lifecycle.dreams import tree
from tests.pace import cpu_seconds

if TYPE_CHECKING:
    from memolith.jobs.reports import IntegrityFinding
    from tests.conftest import StoppedTime


def found(memory: Memory, kind: str) -> list[IntegrityFinding]:
    return [one for one in memory.jobs.scan().findings if one.kind == kind]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The API port is 8080", "The API port is now 9090."),
        ("Ana owns the release key", "Ben owns the release key"),
        ("Operator likes dark theme", "The operator dislikes dark theme"),
        ("Luis does not like fish", "Luis likes fish"),
        ("Ana lives in Madrid", "Ana lives in Lisbon"),
        ("rent: 950 euros", "The rent is 990 euros"),
        ("El puerto de la API es 8080", "El puerto de la API es 9090"),
        ("The backups are encrypted", "The backups are not encrypted"),
    ],
)
def test_claims_about_the_same_subject_contradict_each_other(
    memory: Memory, stopped_time: StoppedTime, one: str, other: str
) -> None:
    old = memory.remember(one)
    stopped_time.advance(days=1)
    new = memory.remember(other)
    (finding,) = found(memory, "contradiction")
    assert finding.records == (old.id, new.id)
    assert finding.hint.startswith(f"memolith supersede {old.id} ")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ana is a doctor", "Ana is from Madrid"),
        ("We talked about the release", "We talked about the garden"),
        ("Ana owns the release key", "Ana owns the parking key"),
        ("The API port is 8080", "The database port is 5432"),
        ("Luis likes fish", "Luis likes jazz"),
        ("Luis likes fish", "Ana does not like fish"),
        ("Marta's birthday is on 9 May", "Marta's birthday is 9 May"),
        ("El alquiler es de 950 euros", "El alquiler es 950 €"),
        ("Die Besprechung ist um 9:30 Uhr", "Die Besprechung ist 9:30 Uhr"),
    ],
)
def test_different_texts_of_one_category_do_not(memory: Memory, one: str, other: str) -> None:
    memory.remember(one)
    memory.remember(other)
    assert found(memory, "contradiction") == []


def test_a_superseded_claim_is_no_contradiction(memory: Memory) -> None:
    old = memory.remember("The API port is 8080")
    memory.supersede(old.id, "The API port is 9090")
    assert found(memory, "contradiction") == []


def follow(memory: Memory, hint: str) -> None:
    """Do what a hint says."""
    match shlex.split(hint):
        case ["memolith", "supersede", old, "--by", new]:
            memory.supersede_by(old, new)
        case ["memolith", "supersede", old, text]:
            memory.supersede(old, text)
        case ["memolith", "forget", old]:
            memory.forget(old)
        case _:
            raise AssertionError(hint)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The API port is 8080", "The API port is now 9090."),
        ('Luis likes "raw" fish', 'Luis does not like "raw" fish'),
        ("Ana owns the release key", "ana owns a RELEASE key."),
    ],
)
@pytest.mark.parametrize("how", ["remember", "save_note"])
def test_after_the_hinted_command_the_pair_is_settled_and_the_older_is_history(
    memory: Memory, stopped_time: StoppedTime, one: str, other: str, how: str
) -> None:
    old = memory.remember(one)
    stopped_time.advance(days=1)
    getattr(memory, how)(other)
    (finding,) = memory.jobs.scan().findings
    follow(memory, finding.hint)
    assert memory.jobs.scan().findings == ()
    assert [record.text for record in memory.records()] == [other]
    assert old.id in [record.id for record in memory.records(include_past=True)]
    assert memory.doctor().healthy


def test_what_else_a_contradicted_record_says_is_not_given_up(
    memory: Memory, stopped_time: StoppedTime
) -> None:
    old = memory.remember("The boiler is from 2014. The landlord is Mrs. Keller.")
    stopped_time.advance(days=1)
    memory.remember("The landlord is Mr. Braun")
    (finding,) = found(memory, "contradiction")
    assert finding.message.endswith(f"; supersede {old.id} with all of it that still holds")
    assert finding.hint == f"memolith get {finding.citations[0]}"
    memory.supersede(old.id, "The boiler is from 2014")
    assert memory.jobs.scan().findings == ()


def test_a_chain_of_contradictions_is_settled_by_hints(
    memory: Memory, stopped_time: StoppedTime
) -> None:
    for port in (8080, 9090, 7070):
        memory.remember(f"The API port is {port}")
        stopped_time.advance(days=1)
    while findings := memory.jobs.scan().findings:
        follow(memory, findings[0].hint)
    assert [record.text for record in memory.records()] == ["The API port is 7070"]


def test_prose_contradicts_records_too(memory: Memory) -> None:
    memory.remember("The API port is 8080")
    Path(memory.root, "USER.md").write_text("- The API port is 9090\n", encoding="utf-8")
    (finding,) = found(memory, "contradiction")
    assert "USER.md#L1" in finding.citations
    assert finding.hint == "Edit USER.md#L1"  # undated prose counts as older


def test_what_nobody_asked_for_in_120_days_is_stale(
    memory: Memory, stopped_time: StoppedTime
) -> None:
    old = memory.remember("The glacier tour was booked in June")
    asked = memory.remember("Cookie the dog weighs twelve kilos")
    stopped_time.advance(days=119)
    assert found(memory, "stale") == []
    memory.search("what does Cookie weigh?")
    memory.jobs.dream()
    stopped_time.advance(days=2)
    assert [one.records for one in found(memory, "stale")] == [(old.id,)]
    assert asked.id not in str(found(memory, "stale"))


def test_what_was_asked_for_a_moment_ago_is_not_stale_before_a_dream_has_seen_it(
    memory: Memory, stopped_time: StoppedTime
) -> None:
    memory.remember("Cookie the dog weighs twelve kilos")
    stopped_time.advance(days=130)
    (finding,) = found(memory, "stale")
    assert finding.hint == f"memolith get {finding.citations[0]}"
    memory.search("what does Cookie weigh?")
    assert found(memory, "stale") == []


def test_a_secret_that_is_marked_in_one_of_its_files_is_no_longer_open(memory: Memory) -> None:
    record = memory.remember("The database password is hunter22secret")
    (finding,) = found(memory, "open-secret")
    assert finding.hint == f"memolith get {finding.citations[0]}"
    assert finding.message.endswith(f"memolith update {record.id[:8]} --sensitivity secret")
    path = Path(memory.root, "MEMORY.md")
    path.write_text(path.read_text().replace('"private-user"', '"secret"'), encoding="utf-8")
    assert memory.jobs.scan().findings == ()


def test_records_that_say_the_same_are_duplicates_and_repeated_events_are_not(
    memory: Memory,
) -> None:
    memory.remember("Ana owns the release key", session="a")
    memory.remember("ana owns the RELEASE key.", session="b")
    memory.remember("Standup was held as usual", category="event", session="a")
    memory.remember("Standup was held as usual", category="event", session="b")
    (finding,) = found(memory, "duplicate")
    assert finding.hint == "memolith supersede {} --by {}".format(*finding.records)


def test_what_expires_is_never_offered_in_the_place_of_what_lasts(
    memory: Memory, stopped_time: StoppedTime
) -> None:
    lasting = memory.remember("The API port is 8080")
    stopped_time.advance(days=1)
    soon = stopped_time() + timedelta(days=9)
    passing = memory.remember("The API port is now 9090.", expires=soon)
    (finding,) = found(memory, "contradiction")
    assert finding.records == (lasting.id, passing.id)
    assert finding.hint == f"memolith get {finding.citations[1]}"
    assert "the newer one expires" in finding.message


def test_of_two_that_say_the_same_the_one_that_lasts_stays(
    memory: Memory, stopped_time: StoppedTime
) -> None:
    lasting = memory.remember("Marta collects stamps from Peru")
    stopped_time.advance(days=1)
    soon = stopped_time() + timedelta(days=9)
    passing = memory.remember("Marta collects the stamps from Peru.", expires=soon)
    (finding,) = found(memory, "duplicate")
    assert finding.hint == f"memolith forget {passing.id}"
    follow(memory, finding.hint)
    assert [record.id for record in memory.records()] == [lasting.id]
    stopped_time.advance(days=1)
    memory.forget(lasting.id)
    first = memory.remember("Marta collects stamps from Chile", expires=soon)
    stopped_time.advance(days=1)
    second = memory.remember("Marta collects the stamps from Chile.")
    (finding,) = found(memory, "duplicate")
    assert finding.hint == f"memolith supersede {first.id} --by {second.id}"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Backups run every night", "The backups run every night."),
        ("Las copias se hacen cada noche", "las copias, se hacen cada noche!"),
        ("Der Kurs kostet 1200 Euro", "Kurs kostet 1200 Euro"),
    ],
)
def test_the_same_but_for_small_words_is_one_duplicate_and_settled_by_its_hint(
    memory: Memory, one: str, other: str
) -> None:
    memory.remember(one)
    memory.remember(other)
    (finding,) = memory.jobs.scan().findings
    assert finding.kind == "duplicate"
    follow(memory, finding.hint)
    assert memory.jobs.scan().findings == ()


def test_another_name_day_or_order_is_no_duplicate(memory: Memory) -> None:
    for text in (
        "Ana decided that the customer call will be led by Tomás and nobody else",
        "Ana decided that the customer call will be led by Priya and nobody else",
        "The team sends its report to all customers every Friday",
        "The team sends its report to all customers every Monday",
        "The user wants the report in English and the talk in Spanish",
        "The user wants the report in Spanish and the talk in English",
    ):
        memory.remember(text)
    assert found(memory, "duplicate") == []


def test_citations_that_lead_nowhere_are_named(memory: Memory) -> None:
    memory.remember("See memory/2020-01-01.md#L3 for the plan")
    memory.remember("See MEMORY.md#L1 for the title")
    (finding,) = found(memory, "broken-citation")
    assert "memory/2020-01-01.md#L3" in finding.message


def test_secrets_in_the_open_are_found_and_never_repeated(memory: Memory) -> None:
    memory.remember("The database password is hunter22secret")
    memory.remember("token ghp_" + "a1B2" * 9, sensitivity="secret")
    memory.chats.log("my key is KEY", "ok")
    chats = Path(memory.root, "conversation-history.jsonl")  # of an older version: now it is masked
    chats.write_text(chats.read_text("utf-8").replace("KEY", "AKIAABCDEFGHIJKLMNOP"), "utf-8")
    findings = found(memory, "open-secret")
    assert len(findings) == 2
    assert "hunter22" not in str(findings)
    assert "AKIA" not in str(findings)


def test_a_record_with_a_key_is_one_finding(memory: Memory) -> None:
    secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
    memory.remember(f"aws_access_key_id = AKIAIOSFODNN7EXAMPLE aws_secret_access_key = {secret}")
    assert not found(memory, "open-secret")
    for path in (*Path(memory.root).glob("*.md"), *Path(memory.root).glob("memory/*.md")):
        path.write_text(path.read_text("utf-8").replace('"secret"', '"private-user"'), "utf-8")
    (finding,) = found(memory, "open-secret")
    assert "an AWS access key and an AWS secret access key" in finding.message
    assert secret not in str(finding)


def test_findings_have_the_same_id_every_time_and_nothing_is_changed(memory: Memory) -> None:
    memory.remember("The API port is 8080")
    memory.remember("The API port is 9090")
    before = tree(memory.root)
    first = memory.jobs.scan()
    assert [one.id for one in first.findings] == [one.id for one in memory.jobs.scan().findings]
    assert tree(memory.root) == before


def test_hostile_texts_take_no_time() -> None:
    for text in ("a " * 5000 + "is", "x:" * 20_000, "is " * 9000):
        with cpu_seconds(0.5):
            list(contradicting([text, text]))
    texts = ["a " * 100, "is " * 80, ": " * 100, "1 " * 120, "not " * 60, "moved to " * 30]
    assert list(contradicting(texts * 3)) == []


def test_every_paragraph_of_a_note_is_looked_at(memory: Memory) -> None:
    memory.save_note("The house has a red door.\n\nThe password of the router is Tq7!xV92#mL.")
    assert [finding.kind for finding in memory.jobs.scan().findings] == ["open-secret"]


def test_what_is_too_large_is_named_and_not_looked_at(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.remember("The API port is 8080")
    big = Path(memory.root, "memory/big.md")
    big.write_text("The API port is 9090.\n\n" + "And so on.\n\n" * 400, encoding="utf-8")
    assert found(memory, "contradiction")
    for module in ("memolith.jobs.integrity", "memolith.jobs.checks.content"):
        monkeypatch.setattr(f"{module}.MAX_FILE_BYTES", 4_000)
    report = memory.jobs.scan()
    assert report.findings == ()
    (warning,) = report.warnings
    assert warning.startswith("memory/big.md was not looked at")
    (told,) = (one for one in memory.doctor().checks if "neither indexed" in one.message)
    assert (told.status, told.message.partition(" ")[0]) == ("warn", "memory/big.md")


def test_of_a_text_without_end_the_beginning_is_compared(memory: Memory) -> None:
    Path(memory.root, "memory").mkdir(parents=True, exist_ok=True)
    text = "The API port is 8080.\n" + "Word after word.\n" * 200_000
    Path(memory.root, "memory/long.md").write_text(text, encoding="utf-8")
    memory.remember("The API port is 9090")
    with cpu_seconds(5):
        (finding,) = found(memory, "contradiction")
    assert finding.hint == "Edit memory/long.md#L1-L200001"


def test_doctor_compares_the_newest_and_says_so(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memolith.jobs.checks.running._MOST_COMPARED", 5)
    Path(memory.root, "memory").mkdir(parents=True, exist_ok=True)
    items = "".join(f"- Cupboard {number} holds plates\n" for number in range(50))
    Path(memory.root, "memory/list.md").write_text(items, encoding="utf-8")
    checks = [one for one in memory.doctor().checks if one.id == "integrity"]
    assert any("the newest 5 of 5" in one.message for one in checks)
    assert memory.jobs.scan().warnings == ()
