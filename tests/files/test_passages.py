"""Lines of a file by path, range or citation; a secret is never among them unless asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memolith import Memory
from memolith.errors import MemolithError, NotFoundError, PathOutsideProfileError
from memolith.files.record_format import encode_line
from tests.files.samples import make_record

SECRET = "the launch code is 0000"
HIDDEN = "(secret record hidden)"


@pytest.fixture
def poem(memory: Memory) -> str:
    """The path of a file with five lines."""
    Path(memory.root).mkdir()
    Path(memory.root, "poem.md").write_bytes(b"one\ntwo\r\nthree\n\nfive")
    return "poem.md"


def test_a_whole_file_without_a_range(memory: Memory, poem: str) -> None:
    passage = memory.get(poem)
    assert passage.text == "one\ntwo\nthree\n\nfive"
    assert (str(passage.citation), passage.total_lines, passage.hidden) == ("poem.md#L1-L5", 5, 0)


RANGES = {
    (1, 1): "one", (2, 2): "two\nthree", (4, 9): "\nfive", (5, None): "five", (6, 2): "",
    (1, 0): "", (3, -1): "", (10**9, 10**9): "",
}  # fmt: skip


@pytest.mark.parametrize("wanted", RANGES, ids=str)
def test_lines_by_number(wanted: tuple[int, int | None], memory: Memory, poem: str) -> None:
    assert memory.get(poem, *wanted).text == RANGES[wanted]


CITATIONS = {
    "#L2": "two", "#L2-L3": "two\nthree", "#L2-3": "two\nthree", "#L1-L99": "one\ntwo\nthree\n\nfive",
    "#L9": "", "#L0": "one", "#L000002": "two",
}  # fmt: skip


@pytest.mark.parametrize("mark", CITATIONS)
def test_lines_by_citation(mark: str, memory: Memory, poem: str) -> None:
    assert memory.get(poem + mark).text == CITATIONS[mark]


@pytest.mark.parametrize(
    "mark", ["#L", "#Lx", "#L１", "#L1-", "#L-1", "#L1-L2-L3", "#l1", "#", "#L3-L2"]
)
def test_what_is_no_citation_is_no_file(mark: str, memory: Memory, poem: str) -> None:
    with pytest.raises((NotFoundError, PathOutsideProfileError)):
        memory.get(poem + mark)


def test_a_citation_that_remember_printed_leads_back_to_the_line(memory: Memory) -> None:
    records = [memory.remember(f"number {number}") for number in range(3)]
    for record in records:
        passage = memory.get(str(record.citation))
        assert passage.text.encode() + b"\n" == encode_line(record)
        assert passage.citation == record.citation


@pytest.mark.parametrize(
    "path",
    ["memolith.toml", "conversation-history.jsonl", ".memolith/write.lock", ".memolith/a.md",
     ".hidden.md", "memory/.hidden/a.md", "memory", "MEMORY", "MEMORY.MD", "a.md.txt"],
)  # fmt: skip
def test_only_visible_markdown_is_served(path: str, memory: Memory) -> None:
    memory.remember("x")
    target = Path(memory.root, path)
    target.parent.mkdir(exist_ok=True, parents=True)
    if not target.exists():
        target.write_text("not for readers")
    with pytest.raises(PathOutsideProfileError):
        memory.get(path)


def test_a_missing_file_is_an_error_that_says_so(memory: Memory) -> None:
    memory.remember("x")
    with pytest.raises(NotFoundError, match=r"memory/2020-01-01\.md"):
        memory.get("memory/2020-01-01.md")


def test_bytes_that_are_not_utf_8_are_shown_as_such(memory: Memory) -> None:
    Path(memory.root).mkdir()
    Path(memory.root, "a.md").write_bytes(b"caf\xe9\n\0zero\n\xe2\x80\xa8sep")
    assert memory.get("a.md").text == "caf\ufffd\n\0zero\n\u2028sep"


@pytest.mark.parametrize("name", ["USER.md", "memory/a.md", "memory/fact/a.md"])
def test_front_matter_may_stand_in_any_file(name: str, memory: Memory) -> None:
    file = Path(memory.root, name)
    file.parent.mkdir(parents=True)
    file.write_text("---\ntitle: mine\n---\n\nprose\n")
    assert memory.get(name).text == "---\ntitle: mine\n---\n\nprose"
    file.write_text(f"---\nsensitivity: secret\n---\n\n{SECRET}\n")
    assert SECRET not in memory.get(name).text


def secrets_everywhere(memory: Memory) -> None:
    """Put the secret into each kind of place it can stand in."""
    memory.remember("before")
    memory.remember(SECRET, sensitivity="secret")
    memory.save_note(SECRET, sensitivity="secret")
    memory.supersede(memory.remember(f"{SECRET}!", sensitivity="secret").id, f"{SECRET}?")
    memory.remember("after")
    line = encode_line(make_record(SECRET, record_id="by-hand", sensitivity="secret"))
    Path(memory.root, "memory", "MEMORY.md").write_bytes(line)
    Path(memory.root, "memory", "2020-01-01.md").write_bytes(b"\xef\xbb\xbf  " + line)
    Path(memory.root, "memory", "2020-01-02.md").write_bytes(line.replace(b"\n", b"\r\n"))
    Path(memory.root, "memory", "2020-01-03.md").write_bytes(line[:-1])


def test_no_reader_shows_a_secret_unasked(memory: Memory) -> None:
    secrets_everywhere(memory)
    shown = [
        *(record.text for record in memory.records()),
        *(record.text for record in memory.records(include_past=True)),
        *(record.text for record in memory.records(session="main")),
        *(record.text for record in memory.records(limit=100)),
        *(memory.get(str(path.relative_to(memory.root))).text for path in visible(memory)),
        str(memory.status()),
        str(memory.doctor()),
    ]
    assert not any(SECRET in text for text in shown)
    assert any("after" in text for text in shown)


def visible(memory: Memory) -> list[Path]:
    files = Path(memory.root).rglob("*.md")
    return [path for path in files if ".memolith" not in path.parts]


def test_every_reader_shows_it_when_asked(memory: Memory) -> None:
    secrets_everywhere(memory)
    assert any(SECRET in found.text for found in memory.records(include_secret=True))
    assert any(
        SECRET in found.text for found in memory.records(session="main", include_secret=True)
    )
    assert any(SECRET in found.text for found in memory.records(limit=100, include_secret=True))
    for path in visible(memory):
        name = str(path.relative_to(memory.root))
        if SECRET in path.read_text():
            assert SECRET in memory.get(name, include_secret=True).text


def test_the_line_of_a_secret_keeps_its_number_and_is_counted(memory: Memory) -> None:
    memory.remember("before")
    memory.remember(SECRET, sensitivity="secret")
    memory.remember("after")
    passage = memory.get("memory/2026-11-15.md")
    assert passage.text.split("\n")[1] == HIDDEN
    assert (passage.hidden, passage.total_lines) == (1, 3)
    assert memory.get("memory/2026-11-15.md", 3, 1).hidden == 0
    assert memory.get("memory/2026-11-15.md#L2").text == HIDDEN


LINE = encode_line(make_record(SECRET, sensitivity="secret"))
DAMAGED = {
    "cut before its mark": LINE[: LINE.index(b',"provenance"')] + b"\n",
    "cut in the text": LINE[: LINE.index(b"0000") + 4] + b"\n",
    "cut without a newline": LINE[: LINE.index(b"0000") + 4],
    "behind a byte order mark": b"\xef\xbb\xbf" + LINE[:-4] + b"\n",
    "no session": LINE.replace(b'"sessionId"', b'"session"'),
    "two marks": LINE.replace(b'"sensitivity":', b'"sensitivity":"public","sensitivity":'),
    "a spelled mark": LINE.replace(b'"secret"', b'"\\u0073ecret"').replace(b'"id"', b'"key"'),
    "bad bytes": LINE.replace(b"code", b"code\xff"),
    "indented": b"   " + LINE[:-4] + b"\n",
    "too long": LINE.replace(b'"}}', b'","x":"' + b"y" * 1_000_000 + b'"}}'),
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_a_damaged_line_that_may_be_a_secret_is_not_shown(kind: str, memory: Memory) -> None:
    Path(memory.root, "memory").mkdir(parents=True)
    file = Path(memory.root, "memory", "2026-01-01.md")
    file.write_bytes(DAMAGED[kind] if kind.startswith("behind") else b"prose\n" + DAMAGED[kind])
    passage = memory.get("memory/2026-01-01.md")
    assert passage.text.split("\n")[-1] == "(damaged record; it may be secret)"
    assert passage.hidden == 1
    assert "0000" in memory.get("memory/2026-01-01.md", include_secret=True).text


@pytest.mark.parametrize(
    "mark", ["secret", '"secret"', "'secret'", "secret # comment", "Secret", "SECRET"]
)
def test_every_line_of_a_secret_note_is_hidden(mark: str, memory: Memory) -> None:
    file = Path(memory.root, "memory", "fact", "2026-01-01-x.md")
    file.parent.mkdir(parents=True)
    file.write_text(f"---\nkeywords: [launch]\nsensitivity: {mark}\n---\n\n{SECRET}\n")
    passage = memory.get("memory/fact/2026-01-01-x.md")
    assert set(passage.text.split("\n")) == {HIDDEN}


@pytest.mark.parametrize("size", [None, -4])
def test_a_note_with_a_secret_record_inside_is_secret(size: int | None, memory: Memory) -> None:
    memory.save_note(f"About the doors of the house\n\n{LINE[:size].decode()}")
    memory.jobs.extract_experiences()
    shown = (memory.records(), memory.jobs.experiences(), memory.session_start())
    assert "0000" not in str(shown)
    assert "0000" in str(memory.records(include_secret=True))


def test_a_note_that_quotes_a_record_anybody_may_see_is_shown(memory: Memory) -> None:
    memory.save_note(f"About doors\n\n{encode_line(make_record('The door is red')).decode()}")
    assert "The door is red" in str(memory.records())


UNREADABLE = [
    "sensitivity: confidential", "sensitivity: Top-Secret", "Sensitivity: secret", "sensitivity:",
    "sensitivity: [public]", "{sensitivity: hush}", "sensitivity: public\nSENSITIVITY: hush",
    '"sensitivity" : 3', "sensitivity: confidential\n[",
]  # fmt: skip


@pytest.mark.parametrize("header", UNREADABLE)
def test_a_note_whose_sensitivity_nobody_can_read_is_secret(header: str, memory: Memory) -> None:
    for name in ("memory/fact/2026-01-01-x.md", "memory/topic.md"):
        file = Path(memory.root, name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"---\n{header}\n---\n\n{SECRET}\n")
        assert SECRET not in memory.get(name).text
    assert memory.records() == ()
    assert memory.search("launch code").hits == ()
    if header != "Sensitivity: secret":  # which can be read
        checks = [check.message for check in memory.doctor().checks if check.id == "notes"]
        assert any("memory/fact/2026-01-01-x.md line 1" in message for message in checks)


@pytest.mark.parametrize("mark", ["Public", "private-user", '"OPERATIONAL"'])
def test_a_note_that_is_not_secret_is_shown_however_it_says_so(mark: str, memory: Memory) -> None:
    file = Path(memory.root, "memory", "fact", "2026-01-01-x.md")
    file.parent.mkdir(parents=True)
    file.write_text(f"---\nsensitivity: {mark}\n---\n\nprose\n")
    assert memory.records()[0].sensitivity == mark.strip('"').lower()
    file.write_text(f"---\nsensitivity: {mark}\n[\n---\n\nprose\n")
    assert "prose" in memory.get("memory/fact/2026-01-01-x.md").text


@pytest.mark.parametrize("broken", ["[", "a: &b", "\t- x", "sensitivity: hush"])
def test_a_broken_note_that_speaks_of_a_secret_is_hidden(broken: str, memory: Memory) -> None:
    file = Path(memory.root, "memory", "fact", "2026-01-01-x.md")
    file.parent.mkdir(parents=True)
    file.write_text(f"---\nsensitivity: secret\n{broken}\n---\n\n{SECRET}\n")
    assert SECRET not in memory.get("memory/fact/2026-01-01-x.md").text


def test_a_front_matter_without_end_that_speaks_of_a_secret_is_hidden(memory: Memory) -> None:
    file = Path(memory.root, "memory", "fact", "2026-01-01-x.md")
    file.parent.mkdir(parents=True)
    for header in ("sensitivity: secret\n", "sensitivity: secret\n" + "k: v\n" * 5000 + "---\n"):
        file.write_text(f"---\n{header}\n{SECRET}\n")
        assert SECRET not in memory.get("memory/fact/2026-01-01-x.md").text


def test_of_a_hundred_secrets_among_others_not_one_is_seen(root: str) -> None:
    with Memory(root) as memory:
        for number in range(300):
            sensitivity = "secret" if number % 3 == 0 else "private-user"
            memory.remember(f"canary-{number}-{sensitivity}", sensitivity=sensitivity)  # type: ignore[arg-type]
        shown = json.dumps(
            [record.text for record in memory.records()] + [memory.get("MEMORY.md").text]
        )
    assert "-secret" not in shown
    assert shown.count("-private-user") == 400


def test_a_turn_that_was_cited_is_shown_to_be_read(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory")) as memory:
        memory.chats.log("Who has\nthe key?", "Ana has it", chat="door")
        memory.chats.log("Thanks", "Bye", chat="door")
        [first, second] = memory.get("conversation-history.jsonl", 1, 9).text.split("\n")
        cited = memory.get("conversation-history.jsonl#L1")
        assert first.endswith(", chat door] user: Who has the key? | assistant: Ana has it")
        assert (cited.text, str(cited.citation)) == (first, "conversation-history.jsonl#L1")
        assert (memory.get("conversation-history.jsonl", 2, 9).text, cited.total_lines) == (
            second,
            2,
        )
        assert memory.get("conversation-history.jsonl#L7").text == ""


def test_of_a_turn_only_what_was_said_is_shown(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        memory.chats.log("Wednesdays at five", "", chat="friends")
        shown = memory.get("conversation-history.jsonl#L1").text
    assert shown.endswith(", chat friends] user: Wednesdays at five")


def test_what_is_no_turn_is_not_shown_and_other_files_of_turns_neither(tmp_path: Path) -> None:
    root = tmp_path / "memory"
    with Memory(str(root)) as memory:
        memory.chats.log("Hello", "Bye")
        (root / "conversation-history.jsonl").write_text('{"password": "hunter22"}\n')
        (root / "other.jsonl").write_text("{}\n")
        assert memory.get("conversation-history.jsonl#L1").text == "(not a turn)"
        with pytest.raises(PathOutsideProfileError):
            memory.get("other.jsonl#L1")


def test_a_full_path_and_one_with_a_tilde_name_a_file_of_the_memory(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.remember("Tea at four")
    full = str(Path(memory.root, "MEMORY.md"))
    assert memory.get(full).citation.path == "MEMORY.md"
    assert "Tea at four" in memory.get(f"{full}#L1-L99").text
    monkeypatch.setenv("HOME", str(Path(memory.root).parent))
    assert "Tea at four" in memory.get(f"~/{Path(memory.root).name}/MEMORY.md").text
    outside = tmp_path / "elsewhere.md"
    outside.write_text("not ours", "utf-8")
    for path in (str(outside), "/etc/hosts.md", "~/elsewhere.md"):
        with pytest.raises(MemolithError):
            memory.get(path)


def test_the_memory_file_below_answers_where_there_is_none_above(memory: Memory) -> None:
    Path(memory.root, "memory").mkdir(parents=True)
    Path(memory.root, "memory", "MEMORY.md").write_text("# Old\n\nTea at four\n", "utf-8")
    passage = memory.get("MEMORY.md")
    assert (passage.citation.path, "Tea at four" in passage.text) == ("memory/MEMORY.md", True)
