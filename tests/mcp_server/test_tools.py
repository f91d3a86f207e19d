"""Each tool: what it answers, what it refuses, and that a refusal tells what to do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from memolith import Memory
from memolith.config.setting import TOOL_NAMES
from memolith.errors import ConfigError
from memolith.mcp_server.server import MemoryServer
from memolith.mcp_server.tools import CORE, TOOLS
from tests.mcp_server.conftest import Talk

if TYPE_CHECKING:
    pass


def test_a_remembered_text_is_found_and_comes_from_an_agent(
    talk: Talk, agent_memory: Memory
) -> None:
    said = talk("remember_this", text="Ana owns the release key", category="fact")
    assert said.values["ok"] is True
    assert "Ana owns the release key" in talk("memory_search", query="release key").text
    [record] = agent_memory.records()
    assert record.id == said.values["id"]
    assert (record.provenance.channel, record.category, record.session) == ("mcp", "fact", "main")


def test_both_protocols_give_the_same_answers(agent_memory: Memory, mode: str) -> None:
    talk = Talk(MemoryServer(agent_memory), mode)
    assert talk("remember_this", text="Tea at four").values["ok"] is True
    assert talk("memory_search", query="tea").values["hits"][0]["text"] == "Tea at four"
    assert talk("memory_get", path="../etc.md").error["kind"] == "path"


def test_the_same_question_gives_the_same_hits_as_the_library(
    talk: Talk, agent_memory: Memory
) -> None:
    for number in range(30):
        agent_memory.remember(f"On day {number} we drank tea number {number}")
    expected = [hit.to_dict() for hit in agent_memory.search("tea on day 7", 12).hits]
    said = talk("memory_search", query="tea on day 7", maxResults=12)
    assert said.values["hits"] == json.loads(json.dumps(expected))
    also = talk("memory", action="search", query="tea on day 7", limit=12)
    assert also.values["hits"] == said.values["hits"]


def test_a_correction_takes_the_place_of_the_older_record(talk: Talk, agent_memory: Memory) -> None:
    old = talk("remember_this", text="Tea at four").values["id"]
    new = talk("remember_this", text="Tea at five", supersedes=old).values["id"]
    assert [record.id for record in agent_memory.records()] == [new]


def test_a_correction_is_as_secret_as_what_it_corrects_and_only_the_user_lowers_it(
    talk: Talk, agent_memory: Memory
) -> None:
    old = agent_memory.remember("The door code is 4711", sensitivity="secret").id
    for number, given in enumerate(
        ({}, {"sensitivity": "private-user"}, {"sensitivity": "public"})
    ):
        talk("remember_this", text=f"The door code is 471{number}", supersedes=old, **given)
        assert not agent_memory.records()
    with Memory(agent_memory.root) as users:
        users.supersede(old, "The door has no code", sensitivity="public")
        assert [record.sensitivity for record in users.records()] == ["public"]


def test_the_same_text_again_is_not_written_twice(talk: Talk) -> None:
    first = talk("remember_this", text="Tea at four")
    second = talk("remember_this", text="Tea at four")
    assert first.values["id"] == second.values["id"]
    assert second.text.startswith("Already remembered")


def test_lines_have_their_numbers_and_a_range_can_be_read(talk: Talk, agent_memory: Memory) -> None:
    agent_memory.remember("Tea at four")
    whole = talk("memory_get", path="MEMORY.md")
    assert "\n1\t# MEMORY.md" in whole.text
    part = talk("memory_get", **{"path": "MEMORY.md", "from": 3, "lines": 2})
    assert (part.values["first_line"], part.values["last_line"]) == (3, 4)
    cited = talk("memory_get", path="MEMORY.md#L3-L4")
    assert cited.values["text"] == part.values["text"]


def test_only_a_first_line_means_fifty_lines(talk: Talk, agent_memory: Memory) -> None:
    for number in range(80):
        agent_memory.remember(f"tea {number}")
    said = talk("memory_get", **{"path": "MEMORY.md", "from": 10})
    assert said.values["last_line"] == 59
    assert "from=60 goes on" in said.text


def test_a_huge_file_is_read_in_pieces_that_fit_a_context(talk: Talk, agent_memory: Memory) -> None:
    for number in range(60):
        agent_memory.remember(f"{number} " + "tea " * 500)
    seen, first = 0, 1
    while first:
        said = talk("memory_get", **{"path": "MEMORY.md", "from": first, "lines": 100})
        assert len(said.text) < 42_000
        seen += said.values["text"].count("tea tea")
        first = said.values["last_line"] + 1 if "goes on" in said.text else 0
    assert seen >= 60


def test_the_dispatcher_saves_lists_indexes_and_deletes(talk: Talk, agent_memory: Memory) -> None:
    saved = talk(
        "memory", action="save", content="JWT for 24 hours", keywords=["api"], metadata={"a": 1}
    )
    assert saved.text.startswith("Saved to memory [fact]: memory/fact/2026-11-15-jwt-for-24-hours")
    [record] = agent_memory.records(category="fact")
    assert (record.keywords, dict(record.metadata)) == (("api",), {"a": 1})
    assert talk("memory", action="index").values["files"] == 1
    for number in range(25):
        agent_memory.remember(f"tea {number}")
    first = talk("memory", action="list")
    rest = talk("memory", action="list", offset=20, limit=100)
    beyond = talk("memory", action="list", offset=26)
    pages = [page.values for page in (first, rest, beyond)]
    assert [(len(page["records"]), page["total"]) for page in pages] == [(20, 26), (6, 26), (0, 26)]
    assert first.text.endswith("\n(6 more; offset=20 goes on)")
    assert "goes on" not in rest.text
    assert "26 in all" in beyond.text
    asked = talk("memory", action="delete", id=record.id)
    assert "confirm" in asked.error["hint"]
    assert len(agent_memory.records(category="fact")) == 1
    assert talk("memory", action="delete", id=record.id, confirm=True).values["id"] == record.id
    assert agent_memory.records(category="fact") == ()


MISTAKES: dict[str, tuple[str, dict[str, Any], str]] = {
    "no argument at all": ("memory_search", {}, "query is missing"),
    "a misspelt argument": ("memory_search", {"qeury": "tea"}, "It takes: query"),
    "an unknown argument": ("memory_search", {"query": "tea", "x": 1}, "It takes: query"),
    "a number for a text": ("memory_search", {"query": 5}, "valid string"),
    "no text": ("remember_this", {"text": ""}, "at least 1 character"),
    "a huge question": ("memory_search", {"query": "x" * 9000}, "8000"),
    "too many results": ("memory_search", {"query": "x", "maxResults": 101}, '"maximum": 100'),
    "no results": ("memory_search", {"query": "x", "maxResults": 0}, '"minimum": 1'),
    "half a result": ("memory_search", {"query": "x", "maxResults": 1.5}, "integer"),
    "true for a number": ("memory_search", {"query": "x", "maxResults": True}, "integer"),
    "an unknown sensitivity": ("remember_this", {"text": "x", "sensitivity": "top"}, "public"),
    "an empty text": ("remember_this", {"text": "   "}, ""),
    "an empty question": ("recall_memory", {"query": ""}, "at least 1 character"),
    "no question": ("query_experiences", {"query": ""}, "at least 1 character"),
    "an unknown record": ("remember_this", {"text": "x", "supersedes": "abcd"}, "memolith list"),
    "an unknown action": ("memory", {"action": "burn"}, '"save", "search"'),
    "no action": ("memory", {}, '"save", "search"'),
    "save without content": ("memory", {"action": "save"}, "content"),
    "search without a question": ("memory", {"action": "search"}, "query"),
    "delete without an id": ("memory", {"action": "delete"}, "id"),
    "a list over the limit": ("memory", {"action": "list", "limit": 101}, "equal to 100"),
    "a negative offset": ("memory", {"action": "list", "offset": -1}, "equal to 0"),
    "keywords that are no list": ("memory", {"action": "save", "keywords": "a"}, "valid list"),
    "metadata that is no object": ("memory", {"action": "save", "metadata": 1}, '"type": "object"'),
    "an unknown category": ("memory", {"action": "list", "category": "x"}, "preference"),
    "a path outside": ("memory_get", {"path": "../../etc/passwd"}, "relative"),
    "a file that is not there": ("memory_get", {"path": "nothing.md"}, "memolith list"),
    "a file that is no memory": ("memory_get", {"path": "memolith.toml"}, ".md"),
    "secrets without leave": (
        "memory_search",
        {"query": "x", "include_secret": True},
        "allow_secret",
    ),
    "a tool that is not there": ("rm_rf", {}, "memory_search"),
}


def test_a_whole_number_may_be_written_with_a_point(talk: Talk, agent_memory: Memory) -> None:
    for number in range(3):
        agent_memory.remember(f"Tea at {number}")
    assert len(talk("memory_search", query="tea", maxResults=2.0).values["hits"]) == 2


def test_experiences_and_dreams_are_offered_when_they_are_switched_on(root: str) -> None:
    settings = {"experiences.enabled": True, "dream.enabled": True}
    with Memory(root, channel="mcp", settings=settings) as memory:
        listed = [tool.name for tool in Talk(MemoryServer(memory), "legacy").tools()]
    assert listed == [*CORE, "query_experiences", "dream"]


def test_a_note_that_is_there_already_is_said_to_be(talk: Talk) -> None:
    told = {"confidence": 0.5, "timestamp": "2026-04-09T18:00:00Z"}
    first = talk("memory", action="save", content="JWT for 24 hours", **told)
    second = talk("memory", action="save", content="JWT for 24 hours")
    assert first.text.startswith("Saved to memory [fact]: memory/fact/2026-04-09-jwt")
    assert second.text.startswith("Already saved to memory [fact]: memory/fact/2026-04-09-jwt")
    assert first.values["id"] == second.values["id"]
    assert "zone" in talk("remember_this", text="x", timestamp="2026-04-09").error["message"]


def test_a_client_may_fill_in_every_argument(talk: Talk) -> None:
    usual = {"keywords": [], "metadata": {}, "limit": 20, "offset": 0, "id": None, "confirm": False}
    assert not talk("memory", action="list", content=None, query=None, **usual).failed


def test_lines_behind_the_end_of_a_file_are_said_not_to_be_there(
    talk: Talk, agent_memory: Memory
) -> None:
    agent_memory.remember("Tea at four")
    behind = talk("memory_get", **{"path": "memory/2026-11-15.md", "from": 50})
    assert behind.text == "(There are no such lines: the file has 1.)"


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_gives_an_error_object_with_a_hint(
    talk: Talk, agent_memory: Memory, name: str
) -> None:
    agent_memory.remember("Tea at four")
    tool, arguments, hint = MISTAKES[name]
    error = talk(tool, **arguments).error
    assert set(error) == {"kind", "message", "hint"}
    assert error["message"].endswith(".")
    assert error["hint"] or not hint
    assert hint in f"{error['message']} {error['hint']}"
    for never in ("Traceback", "http", "pydantic", "\n"):
        assert never not in error["message"]


def test_a_session_starts_with_what_the_library_says(talk: Talk, agent_memory: Memory) -> None:
    empty = talk("session_start").text
    assert empty.startswith("Warning: There is no")
    assert empty.endswith("\n(The memory is empty.)")
    agent_memory.remember("Ana owns the release key")
    assert talk("session_start").text == agent_memory.session_start().text
    assert "Ana owns the release key" in talk("session_start").text


def test_context_is_found_for_a_message_and_none_for_a_greeting(
    talk: Talk, agent_memory: Memory
) -> None:
    agent_memory.remember("Ana owns the release key")
    said = talk("memory_context", message="Who can make a release for us today?")
    assert "Ana owns the release key" in said.text
    assert said.values["hits"][0]["text"] == "Ana owns the release key"
    again = talk(
        "memory_context",
        message="Who can make a release for us today?",
        known=[said.values["hits"][0]["citation"]],
    )
    assert "Ana" not in again.text
    assert talk("memory_context", message="hello").text == "(There is no relevant prior context.)"


def test_recalled_memories_have_the_shape_of_the_original_tool(
    talk: Talk, agent_memory: Memory
) -> None:
    record = agent_memory.remember("Ana owns the release key", category="fact")
    [result] = talk("recall_memory", query="release key").values["results"]
    assert result["recordId"] == record.id
    assert (result["text"], result["category"]) == ("Ana owns the release key", "fact")
    assert result["score"] > 0
    for number in range(10):
        agent_memory.remember(f"Cup {number} is blue")
    assert len(talk("recall_memory", query="blue cup").values["results"]) == 5
    assert '"maximum": 20' in talk("recall_memory", query="x", top_k=21).error["hint"]


def test_experiences_are_found_apart_from_the_rest(talk: Talk, agent_memory: Memory) -> None:
    agent_memory.remember("The deploy failed until the cache was cleared", category="experience")
    agent_memory.remember("The deploy runs on Tuesdays", category="fact")
    [result] = talk("query_experiences", query="deploy").values["results"]
    assert result["text"].startswith("The deploy failed")
    assert (result["category"], result["sessionId"]) == ("experience", "main")


def test_an_experience_has_the_category_and_the_day_of_what_it_was_made_of(
    talk: Talk, agent_memory: Memory
) -> None:
    agent_memory.remember("We chose PostgreSQL for the orders", category="decision")
    agent_memory.jobs.extract_experiences()
    [result] = talk("query_experiences", query="which database?").values["results"]
    assert (result["category"], result["dated"]) == ("decision", "2026-11-15")


def test_the_values_of_what_is_found_say_how_far_it_is_to_be_trusted(
    talk: Talk, agent_memory: Memory
) -> None:
    agent_memory.remember("Tea at four")
    for said, name in (
        (talk("memory_search", query="tea"), "hits"),
        (talk("memory_context", message="when is tea served?"), "hits"),
        (talk("memory", action="list"), "records"),
        (talk("recall_memory", query="tea"), "results"),
    ):
        assert [found["trust"] for found in said.values[name]] == ["agent"]


def test_a_list_names_the_trust_of_each_record_and_the_id_to_delete_it_by(
    talk: Talk, agent_memory: Memory
) -> None:
    record = agent_memory.remember("Tea at four", category="fact")
    line = next(x for x in talk("memory", action="list").text.splitlines() if "Tea" in x)
    assert line.startswith("- [fact] Tea at four ⟨MEMORY.md#L")
    assert line.endswith(f" · id {record.id} · agent⟩")


def test_a_turn_that_is_found_names_its_speaker_chat_and_day(
    talk: Talk, agent_memory: Memory
) -> None:
    agent_memory.chats.log("Who has the key?", "Ana keeps the spare key", chat="door")
    text = talk("memory_search", query="who keeps the spare key").text
    assert "agent, assistant in chat door, 2026-11-15)\n| Ana keeps the spare key" in text


def test_the_default_tools_can_destroy_nothing(root: str) -> None:
    with Memory(root, channel="mcp") as memory:
        listed = Talk(MemoryServer(memory), "legacy").tools()
    assert tuple(tool.name for tool in listed) == CORE
    assert not any(tool.annotations.destructive_hint for tool in listed)


def test_a_choice_of_tools_is_all_that_is_offered(root: str) -> None:
    with Memory(root, settings={"mcp.tools": "memory_get"}) as memory:
        talk = Talk(MemoryServer(memory), "legacy")
        assert [tool.name for tool in talk.tools()] == ["memory_get"]
        assert talk("remember_this", text="x").error["hint"] == "There are: memory_get"


def test_the_settings_know_every_tool_and_no_other(root: str) -> None:
    assert tuple(TOOLS) == TOOL_NAMES
    with pytest.raises(ConfigError, match="of session_start, memory_context") as refused:
        Memory(root, settings={"mcp.tools": "memory_get,memory_gte"})
    assert refused.value.hint == "Did you mean memory_get?"
    with Memory(root, settings={"mcp.tools": "memory_get, dream"}) as memory:
        listed = Talk(MemoryServer(memory), "legacy").tools()
        assert [tool.name for tool in listed] == ["memory_get", "dream"]


def test_every_schema_is_one_and_every_tool_says_what_it_does(talk: Talk) -> None:
    listed = talk.tools()
    assert [tool.name for tool in listed] == list(TOOLS)
    for tool in listed:
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)
        assert tool.input_schema["additionalProperties"] is False
        assert tool.description
        assert tool.annotations.open_world_hint is False
        if tool.annotations.read_only_hint:
            assert not tool.annotations.destructive_hint


def test_every_answer_fits_its_output_schema(talk: Talk, agent_memory: Memory) -> None:
    record = agent_memory.remember("Tea at four")
    schemas = {tool.name: tool.output_schema for tool in talk.tools()}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("session_start", {}),
        ("memory_context", {"message": "when do we drink tea?"}),
        ("memory_context", {"message": "hi"}),
        ("recall_memory", {"query": "tea"}),
        ("query_experiences", {"query": "tea"}),
        ("relationships", {"by": "session"}),
        ("memory_search", {"query": "tea"}),
        ("memory_search", {"query": "zebra"}),
        ("memory_get", {"path": "MEMORY.md"}),
        ("remember_this", {"text": "x"}),
        ("dream", {"action": "status"}),
        ("dream", {"action": "dry-run"}),
        ("dream", {"action": "run"}),
        ("memory", {"action": "save", "content": "x"}),
        ("memory", {"action": "list"}),
        ("memory", {"action": "search", "query": "tea"}),
        ("memory", {"action": "index"}),
        ("memory", {"action": "delete", "id": record.id, "confirm": True}),
    ]
    assert {tool for tool, _ in calls} == set(schemas)
    for tool, arguments in calls:
        said = talk(tool, **arguments)
        assert not said.failed, said.text
        jsonschema.validate(said.values, schemas[tool])
        assert said.values.keys() <= schemas[tool]["properties"].keys()
        assert "action" in said.values or set(said.values) == set(schemas[tool]["required"])
