"""Search as a user meets it: through `Memory`, with real files, the real index and the real model."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memolith import Memory
from memolith.files.record_format import encode_line
from memolith.results import WEAK
from tests.pace import cpu_seconds

if TYPE_CHECKING:
    from tests.conftest import StoppedTime


def texts(memory: Memory, question: str, **filters: object) -> list[str]:
    return [hit.text for hit in memory.search(question, **filters).hits]  # type: ignore[arg-type]


@pytest.fixture
def filled(memory: Memory) -> Memory:
    memory.remember("Ana owns the release key; deploys go through staging first", category="fact")
    memory.remember("Cookie the dog weighs 12 kg and loves carrots")
    memory.remember("The door code is 4711", sensitivity="secret")
    memory.save_note("The API uses JWT tokens with a 24 h expiry", keywords=["authentication"])
    memory.chats.log("When is the deadline of the tax office?", "Friday 20 February", chat="tax")
    memory.chats.log("I am allergic to peanuts", "I will remember that", chat="health")
    with Path(memory.root, "MEMORY.md").open("a") as file:
        file.write("\n## Garden\n\nWater the tomatoes daily.\n")
    return memory


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("who can release?", "Ana owns the release key; deploys go through staging first"),
        ("carrots", "Cookie the dog weighs 12 kg and loves carrots"),
        ("authentication", "The API uses JWT tokens with a 24 h expiry"),
        ("deadline tax office", "Friday 20 February"),
        ("allergy", "I am allergic to peanuts"),
        ("¿cuánto pesa el perro?", "Cookie the dog weighs 12 kg and loves carrots"),
        ("tomato", "## Garden\n\nWater the tomatoes daily."),
    ],
)
def test_the_best_hit_is_the_one_that_answers(filled: Memory, question: str, best: str) -> None:
    assert texts(filled, question)[0] == best


def test_a_record_that_stands_in_two_files_is_one_hit(filled: Memory) -> None:
    found = texts(filled, "carrots", limit=50)
    assert found.count("Cookie the dog weighs 12 kg and loves carrots") == 1


def test_a_record_and_the_experience_made_of_it_are_one_hit_and_the_record_is_it(
    filled: Memory,
) -> None:
    text = "The vet said that Cookie must not eat carrots any more"
    record = filled.remember(text)
    copy = replace(record, id="0" * 32, category="experience", metadata={"source": record.id})
    Path(filled.root, "memory", "experiences.md").write_bytes(encode_line(copy))
    found = filled.search("what did the vet say about carrots?", limit=50).hits
    assert [hit.record_id for hit in found if hit.text == text] == [record.id]
    experiences = filled.search("what did the vet say about carrots?", category="experience").hits
    assert [hit.record_id for hit in experiences] == [copy.id]


def test_a_secret_is_found_only_by_who_asks_for_secrets(filled: Memory) -> None:
    assert not any("4711" in text for text in texts(filled, "door code", limit=50))
    assert texts(filled, "door code", include_secret=True)[0] == "The door code is 4711"


def test_filters_leave_out_everything_else(filled: Memory) -> None:
    assert set(texts(filled, "anything at all", category="fact", limit=50)) == {
        "Ana owns the release key; deploys go through staging first",
        "The API uses JWT tokens with a 24 h expiry",
    }
    assert {hit.chat for hit in filled.search("deadline", chat="tax").hits} == {"tax"}
    paths = {hit.citation.path for hit in filled.search("tokens", path="memory/fact").hits}
    assert len(paths) == 1


def test_what_was_superseded_stands_below_and_was_right_at_its_time(
    memory: Memory, stopped_time: StoppedTime
) -> None:
    old = memory.remember("Ana owns the release key")
    stopped_time.advance(days=10)
    memory.supersede(old.id, "Ben owns the release key")
    found = memory.search("who owns the release key?").hits
    assert [(hit.text, hit.superseded) for hit in found] == [
        ("Ben owns the release key", False),
        ("Ana owns the release key", True),
    ]
    then = date(2026, 11, 16)
    assert texts(memory, "who owns the release key?", as_of=then) == ["Ana owns the release key"]


def test_what_has_expired_is_not_found(memory: Memory, stopped_time: StoppedTime) -> None:
    memory.remember("The build is red", expires=stopped_time() + timedelta(hours=1))
    assert texts(memory, "build") == ["The build is red"]
    stopped_time.advance(hours=2)
    assert texts(memory, "build") == []


def test_as_of_a_day_what_had_expired_by_its_end_is_not_found(
    memory: Memory, stopped_time: StoppedTime
) -> None:
    memory.remember("The build is red", expires=stopped_time() + timedelta(hours=1))
    memory.remember("The build server is on loan", expires=stopped_time() + timedelta(days=3))
    day = stopped_time().date()
    assert set(texts(memory, "build", as_of=day)) == {
        "The build is red",
        "The build server is on loan",
    }
    stopped_time.advance(days=10)
    assert texts(memory, "build", as_of=day) == ["The build server is on loan"]
    for later in (day + timedelta(days=5), stopped_time().date(), date.max, date.min):
        assert texts(memory, "build", as_of=later) == []


def test_days_in_the_question_are_understood(memory: Memory, stopped_time: StoppedTime) -> None:
    stopped_time.advance(days=-1)
    memory.remember("Lunch with Eva about the garden")
    stopped_time.advance(days=1)
    memory.remember("Lunch with Tom about the house")
    assert texts(memory, "what was lunch about yesterday?")[0] == "Lunch with Eva about the garden"
    assert texts(memory, "¿de qué hablamos hoy?")[0] == "Lunch with Tom about the house"
    assert texts(memory, "lunch", until=date(2026, 11, 14)) == ["Lunch with Eva about the garden"]


def test_a_hand_edit_is_found_by_the_very_next_search(memory: Memory) -> None:
    memory.remember("one thing")
    assert texts(memory, "elephant") == texts(memory, "elephant")
    path = Path(memory.root, "memory", "notes", "zoo.md")
    path.parent.mkdir(parents=True)
    path.write_text("The elephant is called Rosa.\n")
    memory.close()
    assert texts(memory, "elephant")[0] == "The elephant is called Rosa."


def test_forgotten_is_forgotten_by_search_too(filled: Memory) -> None:
    cookie = filled.search("carrots").hits[0]
    filled.forget(cookie.record_id)
    assert not any("Cookie" in text for text in texts(filled, "carrots dog", limit=50))


def test_the_text_of_a_hit_comes_from_the_file_at_its_citation(filled: Memory) -> None:
    for hit in filled.search("the", limit=50).hits:
        lines = Path(filled.root, hit.citation.path).read_text().split("\n")
        cited = "\n".join(lines[hit.citation.first_line - 1 : hit.citation.last_line])
        assert hit.text in cited


def test_explain_shows_the_order_after_every_stage(filled: Memory) -> None:
    trace = filled.search("release", explain=True).trace
    assert [stage.stage for stage in trace] == [
        "question", "fuse", "weigh", "days", "decay", "passages", "own", "phrases", "asked", "replies", "names",
        "supersede", "diversify",
    ]  # fmt: skip
    assert trace[0].note.startswith("words: release")
    assert all(stage.order for stage in trace[1:])
    found = {name for stage in trace for place in stage.order for name in place.values}
    assert found >= {"bm25", "cosine", "words", "meaning", "passage_words", "superseded", "age"}
    assert filled.search("release").trace == ()


@pytest.mark.parametrize(
    "question", ["release key", "carrots", "yesterday", "what was decided?", "nothing of the kind"]
)
def test_a_score_is_a_share_of_the_best_there_can_be(filled: Memory, question: str) -> None:
    result = filled.search(question, limit=50, explain=True)
    assert all(0 <= hit.score <= 1 for hit in (*result.hits, *result.sessions))
    shown = [one.score for one in result.trace[-1].order]
    assert [hit.score for hit in result.hits] == pytest.approx(shown[: len(result.hits)])


def test_a_stage_that_had_nothing_to_do_says_so_and_repeats_no_values(filled: Memory) -> None:
    trace = {stage.stage: stage for stage in filled.search("release", explain=True).trace}
    for name in ("days", "phrases", "names", "diversify"):
        assert trace[name].note == "nothing to do"
        assert not any(place.values for place in trace[name].order)
    assert trace["weigh"].note is None
    assert all("words" in place.values for place in trace["weigh"].order)


def test_a_category_is_found_in_any_case_and_one_that_is_not_there_is_said(filled: Memory) -> None:
    filled.remember("Tea at five", category="habit")
    assert [hit.text for hit in filled.search("tea", category="Habit").hits] == ["Tea at five"]
    (warning,) = filled.search("tea", category="habits").warnings
    assert warning.startswith("No record has the category 'habits'. There are: ")
    assert "'habit'" in warning


def test_a_session_and_a_chat_that_are_not_there_are_said(filled: Memory) -> None:
    filled.remember("Tea at five", session="kitchen")
    filled.remember("The key of the cellar", session="vault", sensitivity="secret")
    filled.chats.log("Tea?", "At five.", chat="family")
    (warning,) = filled.search("tea", session="Kitchen").warnings
    assert warning.startswith("Nothing is of the session 'Kitchen'. There are: ")
    assert "kitchen" in warning
    assert "vault" not in warning
    (warning,) = filled.search("tea", chat="kitchen").warnings
    assert warning.startswith("There is no chat 'kitchen'. There are: ")
    assert "family" in warning
    assert not filled.search("tea", session="kitchen").warnings
    assert not filled.search("tea", session="kitchen", chat="family").warnings


def test_a_path_that_no_file_has_is_said(filled: Memory) -> None:
    filled.remember("Tea at five")
    for wanted in ("nope", "memory/*.md", "MEMORY"):
        (warning,) = filled.search("tea", path=wanted).warnings
        assert warning.startswith(f"No file is '{wanted}' or lies in it. There are: MEMORY.md, ")
        assert "memory/" in warning
    for known in ("MEMORY.md", "memory", "memory/", "./memory", f"{filled.root}/memory"):
        result = filled.search("tea", path=known)
        assert result.hits
        assert not result.warnings


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with Memory(root=tmp_path / "mistyped") as memory:
        said = (f"There is no memory at {tmp_path}/mistyped: the folder does not exist.",)
        assert memory.search("tea").warnings == said
        assert memory.session_start().warnings == said
        assert memory.context("Which tea do I like best?").warnings == said
        memory.remember("Tea at five")
        assert not memory.search("tea").warnings


def test_an_empty_memory_answers_nothing_and_makes_nothing(root: str) -> None:
    with Memory(root) as memory:
        assert memory.search("anything").hits == ()
    assert not Path(root).exists()


@pytest.mark.parametrize(
    "question",
    [
        "",
        " ",
        "?",
        '"',
        "AND OR NOT",
        'a" OR "b',
        "*",
        "NEAR(a b)",
        "\0",
        "\ud800",
        "👍",
        "x" * 1_000_000,
        "-" * 50,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_any_text_is_a_question(filled: Memory, question: str) -> None:
    told = {one for one in filled.search(question).warnings if "were read" not in one}
    assert told <= {WEAK, "There is nothing to search for: give at least one word."}


NONSENSE = (
    "asdf qwer zxcv uiop?",
    "flurbo wimwam grokle snibbit",
    "Does the purple monkey dishwasher sing?",
    "Xylophone zebra quantum marmalade",
    "please blorp the fizzwick into the gonkulator",
    "¿Qué tal el zumbido de los floripondios?",
)


@pytest.mark.parametrize("question", NONSENSE)
def test_nonsense_finds_only_the_nearest_and_says_so(filled: Memory, question: str) -> None:
    found = filled.search(question)
    assert found.weak
    assert found.warnings == (WEAK,)
    handed_over = filled.context(question, deadline_seconds=60)
    assert (handed_over.text, handed_over.warnings) == ("", ())


@pytest.mark.parametrize(
    "question",
    [
        "Who loves carrots?",
        "How heavy is Cookie?",
        "¿Cuánto pesa el perro?",
        "What do you know about the release?",
        "What happened yesterday?",
    ],
)
def test_a_question_that_has_to_do_with_the_memory_is_not_called_weak(
    filled: Memory, question: str
) -> None:
    assert not filled.search(question).weak


@settings(
    max_examples=200,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(question=st.text(max_size=200))
def test_no_question_raises(filled: Memory, question: str) -> None:
    filled.search(question, 3)


def test_what_stands_in_quotation_marks_must_stand_in_the_hit(filled: Memory) -> None:
    filled.remember("Carrots are what the dog loves most")
    assert texts(filled, '"loves carrots" dog') == ["Cookie the dog weighs 12 kg and loves carrots"]
    assert texts(filled, "«Loves Cárrots»") == ["Cookie the dog weighs 12 kg and loves carrots"]


def test_a_quotation_that_stands_nowhere_is_said_and_the_nearest_is_shown(filled: Memory) -> None:
    found = filled.search('"carrots loves"')
    assert found.warnings == ('Nothing found says "carrots loves" word for word.',)
    assert "carrots" in found.hits[0].text


def test_a_long_message_that_mentions_a_quotation_demands_nothing(filled: Memory) -> None:
    filled.remember("He said: these are definitely better")
    message = (
        'Okay, "definitely better" is what I would say of them all, and I can live with that. But what'
        " about the dog? I forgot how much Cookie weighs, and the vet wants to know it tomorrow."
    )
    found = filled.search(message)
    assert found.hits[0].text == "Cookie the dog weighs 12 kg and loves carrots"
    assert not found.warnings


def test_two_quotations_that_no_hit_holds_together_are_said(filled: Memory) -> None:
    filled.remember("Pedro moved to Berlin")
    found = filled.search('"loves carrots" "to Berlin"')
    assert found.warnings == ("No hit contains all of the quoted words.",)
    assert {hit.text for hit in found.hits} == {
        "Cookie the dog weighs 12 kg and loves carrots",
        "Pedro moved to Berlin",
    }


def test_a_question_about_days_alone_is_answered_by_those_days_first(
    memory: Memory, stopped_time: StoppedTime
) -> None:
    today = stopped_time().date()
    things = (
        "Visited the dentist",
        "Bought a bicycle",
        "Met Julia",
        "Fixed the login",
        "Read a novel",
    )
    folder = Path(memory.root, "memory")
    folder.mkdir(parents=True)
    for age in range(1, 41):
        day = today - timedelta(days=age)
        (folder / f"{day}.md").write_text(f"{things[age % 5]}, day {age}.\n")
    memory.remember("Releases happen on Tuesdays")
    asked = {
        "what happened yesterday?": 1,
        "qu\u00e9 pas\u00f3 anteayer": 2,
        "what did we do 12 days ago?": 12,
    }
    for question, age in asked.items():
        assert memory.search(question).hits[0].text.endswith(f"day {age}."), question


def test_a_question_of_a_megabyte_is_answered_as_fast_as_its_beginning(filled: Memory) -> None:
    filled.search("warm up")
    with cpu_seconds(4):
        for question in (
            "carrots " * 130_000,
            '"' * 1_000_000,
            "\u0301" * 500_000,
            "1/2/" * 250_000,
        ):
            filled.search(question)


def test_synonyms_of_ones_own_come_from_a_file_of_the_profile(root: str) -> None:
    with Memory(root) as memory:
        memory.remember("Zorro holds the backups")
        assert "words" not in memory.search("old server").hits[0].ranks
        Path(root, "synonyms.tsv").write_text("old server, zorro\t\nno tab\n")
        found = memory.search("old server")
        assert found.hits[0].ranks["words"] == 1
        assert found.warnings == (
            "synonyms.tsv, line 2: write English words, a tab, Spanish words.",
        )


def test_synonyms_of_ones_own_count_for_meaning_too_in_both_languages(root: str) -> None:
    own = "kestrel, quarterly tax filing\t\nmanta\tpañalera, bolsa azul\n"
    Path(root).mkdir(exist_ok=True)
    Path(root, "synonyms.tsv").write_text(own)
    with Memory(root) as memory:
        for text in (
            "Quarterly tax filing is due on the 20th",
            "The kestrel is a small falcon, she says",
            "La bolsa azul está en el armario del pasillo",
            "The library closes when the concert begins",
            "Foxes were seen in the garden on Monday",
        ):
            memory.remember(text)
        assert memory.search("When is kestrel due?").hits[0].text.startswith("Quarterly tax")
        assert memory.search("Where is the manta?").hits[0].text.startswith("La bolsa azul")
    Path(root, "synonyms.tsv").unlink()
    with Memory(root) as memory:
        assert memory.search("When is kestrel due?").hits[0].text.startswith("The kestrel")
        assert memory.search("Where is the manta?").weak


def test_a_file_of_synonyms_that_was_named_and_is_missing_is_reported(root: str) -> None:
    with Memory(root, settings={"search.synonyms_path": "mine.tsv"}) as memory:
        memory.remember("Zorro holds the backups")
        assert "mine.tsv" in memory.search("old server").warnings[0]
