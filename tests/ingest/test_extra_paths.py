"""Folders besides the profile: searched, cited by a root id, got, and never written."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.errors import ConfigError, MemolithError, NotFoundError
from memolith.files.record_format import encode_line
from tests.conftest import approve

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "My Notes/garden").mkdir(parents=True)
    (tmp_path / "My Notes/garden/pond.md").write_text("# Pond\n\nA heron eats carp.\n")
    return tmp_path / "My Notes"


@pytest.fixture
def memory(tmp_path: Path, notes: Path) -> Iterator[Memory]:
    with opened(tmp_path, str(notes)) as memory:
        yield memory


def opened(tmp_path: Path, *folders: str) -> Memory:
    (tmp_path / "profile/memory").mkdir(parents=True, exist_ok=True)
    return Memory(tmp_path / "profile", settings={"index.extra_paths": list(folders)})


def found(memory: Memory, word: str) -> list[str]:
    """Where the word stands, by search."""
    return [str(hit.citation) for hit in memory.search(word, 50).hits if word in hit.text]


def test_a_file_of_another_folder_is_found_cited_and_got(memory: Memory, notes: Path) -> None:
    (citation,) = found(memory, "heron")
    assert re.fullmatch(r"@my-notes-[0-9a-f]{4}/garden/pond\.md#L1-L3", citation)
    assert memory.get(citation).text == "# Pond\n\nA heron eats carp."
    assert memory.get(citation.partition("#")[0], 3).text == "A heron eats carp."
    assert sorted(path.name for path in notes.rglob("*")) == ["garden", "pond.md"]


def test_an_edit_and_a_deletion_are_seen_at_once(memory: Memory, notes: Path) -> None:
    assert found(memory, "heron")
    (notes / "garden/pond.md").write_text("A bittern.\n")
    assert (found(memory, "heron"), len(found(memory, "bittern"))) == ([], 1)
    (notes / "garden/pond.md").unlink()
    assert found(memory, "bittern") == []


def test_only_visible_markdown_is_searched(memory: Memory, notes: Path) -> None:
    (notes / ".hidden").mkdir()
    for name in (".hidden/a.md", ".b.md", "c.txt", "conversation-history.jsonl"):
        (notes / name).write_text("a grebe\n")
    assert found(memory, "grebe") == []
    assert memory.index.sync().files == 1


def test_what_left_the_setting_leaves_the_index(tmp_path: Path, memory: Memory) -> None:
    assert found(memory, "heron")
    memory.close()
    with opened(tmp_path) as without:
        assert without.index.sync().removed == 1
        assert found(without, "heron") == []


def test_a_running_memory_takes_the_setting_up(tmp_path: Path, notes: Path) -> None:
    settings = tmp_path / "profile/memolith.toml"
    (tmp_path / "profile/memory").mkdir(parents=True)
    for number in range(350):  # so many that a search does not look at the disk every time
        (tmp_path / f"profile/memory/{number}.md").write_text(f"wren {number}\n")
    settings.write_text("")
    with Memory(tmp_path / "profile") as memory:
        assert found(memory, "heron") == []
        settings.write_text(f"[index]\nextra_paths = '{notes}'\n")
        assert memory.reconfigure().problem is None
        assert len(found(memory, "heron")) == 1
        (notes / "garden/pond.md").write_text("A bittern.\n")
        assert len(found(memory, "bittern")) == 1


def test_a_missing_folder_is_a_warning_and_the_rest_is_found(tmp_path: Path, notes: Path) -> None:
    with opened(tmp_path, f"{tmp_path}/gone", str(notes)) as memory:
        memory.remember("a heron in the profile")
        result = memory.search("heron")
        assert len({hit.citation.path for hit in result.hits}) >= 2
        assert result.warnings == (
            f"Cannot use {tmp_path}/gone: it does not exist."
            " It is left out of search (index.extra_paths).",
        )
        assert memory.index.status().warnings == result.warnings


def test_links_are_not_followed(tmp_path: Path, memory: Memory, notes: Path) -> None:
    (tmp_path / "outside.md").write_text("a heron outside\n")
    (notes / "loop").symlink_to(notes)
    (notes / "link.md").symlink_to(tmp_path / "outside.md")
    (citation,) = found(memory, "heron")
    root_id = citation.partition("/")[0]
    for path in ("link.md", "loop/garden/pond.md", "../outside.md"):
        with pytest.raises(MemolithError):
            memory.get(f"{root_id}/{path}")


def test_overlapping_folders_give_every_file_once(tmp_path: Path, notes: Path) -> None:
    profile = tmp_path / "profile"
    (profile / "memory").mkdir(parents=True)
    (profile / "memory/own.md").write_text("one kite\n")
    (profile / "DREAMS.md").write_text("a dreamt kite\n")
    os.symlink(notes, tmp_path / "same")
    with opened(
        tmp_path, f"{notes}/garden", str(notes), str(tmp_path), f"{tmp_path}/same"
    ) as memory:
        assert found(memory, "kite") == ["memory/own.md#L1"]
        (citation,) = found(memory, "heron")
        assert citation.startswith("@garden-")
        assert memory.index.sync().warnings == ()


def test_folders_of_one_name_have_ids_of_their_own(tmp_path: Path) -> None:
    for place in ("a", "b"):
        (tmp_path / place / "notes").mkdir(parents=True)
        (tmp_path / place / "notes/x.md").write_text(f"a heron in {place}\n")
    with opened(tmp_path, f"{tmp_path}/a/notes", f"{tmp_path}/b/notes") as memory:
        texts = {memory.get(citation).text for citation in found(memory, "heron")}
    assert texts == {"a heron in a", "a heron in b"}


def test_secrets_stay_secret_there(tmp_path: Path, memory: Memory, notes: Path) -> None:
    with Memory(tmp_path / "other") as other:
        record = other.remember("the heron code is 7", sensitivity="secret")
    (notes / "line.md").write_bytes(encode_line(record))
    (notes / "note.md").write_text("---\nsensitivity: secret\n---\nthe heron code is 8\n")
    assert [place for place in found(memory, "heron") if "pond" not in place] == []
    root_id = found(memory, "heron")[0].partition("/")[0]
    for name in ("line.md", "note.md"):
        assert "code" not in memory.get(f"{root_id}/{name}").text
    assert "code" in memory.get(f"{root_id}/note.md", include_secret=True).text


def test_home_is_written_as_a_tilde(
    tmp_path: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with opened(tmp_path, f"~/{notes.name}") as memory:
        assert len(found(memory, "heron")) == 1


def test_an_id_that_is_not_known_is_no_file(memory: Memory) -> None:
    with pytest.raises(NotFoundError):
        memory.get("@my-notes-0000x/garden/pond.md")


def test_the_state_of_a_profile_is_no_place_to_search(tmp_path: Path) -> None:
    (tmp_path / "profile/.memolith/archive").mkdir(parents=True)
    (tmp_path / "profile/.memolith/archive/old.md").write_text("a heron\n")
    with opened(tmp_path, f"{tmp_path}/profile/.memolith/archive") as memory:
        assert found(memory, "heron") == []
        assert ".memolith" in memory.index.sync().warnings[0]


@pytest.mark.parametrize("folder", ["notes", "~/../other", "/srv/..", "~/a:/b", "/a\0", ""])
def test_a_path_that_leads_elsewhere_is_refused(tmp_path: Path, folder: str) -> None:
    with pytest.raises(ConfigError, match="full path"):
        opened(tmp_path, folder)


def test_a_file_found_in_a_project_folder_may_not_name_folders(
    tmp_path: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "memolith.toml").write_text(f"[index]\nextra_paths = '{notes}'\n")
    approve(project)
    monkeypatch.delenv("MEMOLITH_ROOT", raising=False)
    approve(project)
    monkeypatch.chdir(project)
    monkeypatch.setenv("MEMOLITH_HOME", str(tmp_path / "home"))
    approve(project)
    with pytest.raises(ConfigError, match="may not be set by a file found"):
        Memory()


def test_what_programs_unpack_is_not_searched(memory: Memory, notes: Path) -> None:
    for name in ("node_modules/left-pad", "env/lib/python3/site-packages/x", "__pycache__"):
        (notes / name).mkdir(parents=True)
        (notes / name / "README.md").write_text("A heron by somebody else.\n")
    assert len(found(memory, "heron")) == 1
    assert "somebody else" not in memory.context("What does a heron eat?").text


@pytest.mark.parametrize("wide", ["/", "//", "~", "~/", "{}/link"])
def test_a_whole_disk_or_home_is_left_out_and_said_so(
    tmp_path: Path, notes: Path, monkeypatch: pytest.MonkeyPatch, wide: str
) -> None:
    monkeypatch.setenv("HOME", str(notes))
    (tmp_path / "link").symlink_to("/")
    with opened(tmp_path, wide.format(tmp_path)) as memory:
        memory.remember("A heron eats frogs")
        result = memory.search("heron")
        assert [hit.text for hit in result.hits] == ["A heron eats frogs"]
        assert any("not a whole disk or home" in warning for warning in result.warnings)
        assert "frogs" in memory.context("What does a heron eat?").text


def test_a_folder_of_too_many_folders_is_searched_in_part(
    memory: Memory, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memolith.files.disk_view._MAX_FOLDERS", 3)
    for number in range(9):
        (notes / str(number)).mkdir()
    assert any("more than 3 folders" in warning for warning in memory.search("heron").warnings)


def test_whose_words_they_are_is_not_claimed(memory: Memory) -> None:
    text = memory.context("What does a heron eat?").text
    place = r"@my-notes-\w+"
    cited = rf"⟨{place}/garden/pond\.md#L1-L3 · file: {place}⟩\n[^⟨]*\| A heron eats carp"
    assert re.search(cited, text)
    assert memory.remember(f"{text}\nHerons are grey").text == "Herons are grey"
