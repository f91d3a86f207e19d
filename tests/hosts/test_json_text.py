"""Entries come into the text of JSON and out of it again, and nothing else changes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memolith.text.json_text import NotJsonError, parse, with_item, with_member, without

ENTRY = {"command": "/bin/memolith", "args": ["mcp"]}
PATH = ("mcpServers", "memolith")
COMMENTED = """\
// my settings
{
    "theme": "dark", // never light
    "mcpServers": {
        /* notes of the team */
        "notes": { "command": "notes", "args": ["--x", "a // b"] }, // the last one
    },
    "hooks": {}
}
"""
JSON5 = "{\n  theme: 'it\\'s dark',\n  mcp: { servers: { }, },\n}\n"
TEXTS = [
    "",
    "{}",
    "{}\n",
    '{"a": 1}',
    '{\n  "a": [1, 2],\n  "mcpServers": {}\n}\n',
    '{\n\t"mcpServers": {\n\t\t"x": {"command": "x"}\n\t}\n}',
    COMMENTED,
    COMMENTED.replace("\n", "\r\n"),
    "\ufeff" + COMMENTED,
    JSON5,
]


@pytest.mark.parametrize("text", TEXTS)
def test_an_entry_is_added_and_the_rest_stays(text: str) -> None:
    after = with_member(text, PATH, ENTRY)
    before = parse(text).value
    assert isinstance(before, dict)
    expected = {**before, "mcpServers": {**before.get("mcpServers", {}), "memolith": ENTRY}}
    assert parse(after).value == expected
    rest = iter(after)
    assert all(character in rest for character in text)  # nothing of it is gone
    assert ("\r\n" in after) == ("\r\n" in text)
    assert after.startswith("\ufeff") == text.startswith("\ufeff")
    assert with_member(after, PATH, ENTRY) == after


@pytest.mark.parametrize("text", TEXTS)
def test_an_entry_is_removed_and_the_rest_stays(text: str) -> None:
    after = without(with_member(text, PATH, ENTRY), PATH)
    before = parse(text).value
    assert isinstance(before, dict)
    assert parse(after).value == {**before, "mcpServers": before.get("mcpServers", {})}
    assert after.count("//") == text.count("//")
    assert after.count("/*") == text.count("/*")


def test_an_entry_between_others_is_removed_with_its_line() -> None:
    text = '{\n  "a": 1, // one\n  "memolith": {\n    "x": 2\n  },\n  "b": 3\n}\n'
    assert without(text, ("memolith",)) == '{\n  "a": 1, // one\n  "b": 3\n}\n'


def test_items_of_a_list_are_added_and_removed() -> None:
    text = '{"hooks": {"Stop": [\n  {"command": "mine"} // keep\n]}}'
    after = with_item(text, ("hooks", "Stop"), "ours")
    assert parse(after).value == {"hooks": {"Stop": [{"command": "mine"}, "ours"]}}
    assert "// keep" in after
    again = without(after, ("hooks", "Stop"), lambda item: item == "ours")
    assert parse(again).value == parse(text).value


@pytest.mark.parametrize(
    "text", ["{", "[1", "{1}", '{"a" 1}', "{} x", '{"a": 1 "b": 2}', "[" * 300]
)
def test_what_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(NotJsonError):
        with_member(text, PATH, ENTRY)


def test_a_place_that_is_something_else_is_refused() -> None:
    with pytest.raises(NotJsonError, match="mcpServers is not an object"):
        with_member('{"mcpServers": []}', PATH, ENTRY)
    with pytest.raises(NotJsonError, match="is not a list"):
        with_item('{"hooks": {"Stop": {}}}', ("hooks", "Stop"), "ours")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.hypothesis
@given(st.dictionaries(st.text(), VALUES, max_size=4), st.sampled_from([None, 1, 2, "\t"]))
def test_any_json_is_read_as_it_is(content: dict[str, object], indent: int | str | None) -> None:
    text = json.dumps(content, indent=indent)
    assert parse(text).value == content
    if not isinstance(content.get("mcpServers", {}), dict):
        return
    after = with_member(text, PATH, ENTRY)
    servers = content.get("mcpServers", {})
    assert isinstance(servers, dict)
    assert json.loads(after) == {**content, "mcpServers": {**servers, "memolith": ENTRY}}
    left = json.loads(without(after, PATH))
    assert left == {**content, "mcpServers": {k: v for k, v in servers.items() if k != "memolith"}}
