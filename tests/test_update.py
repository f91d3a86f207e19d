"""A record or note is changed by `update`, and what stood there is kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memolith import Memory
from memolith.cli.main import main
from memolith.errors import NotFoundError, RefusedError
from tests.rest.conftest import calling


def test_a_new_text_supersedes_the_record(memory: Memory) -> None:
    old = memory.remember("Tea at four", category="fact", keywords=["tea"], metadata={"ticket": 1})
    new = memory.update(old.id[:8], text="Tea at five")
    assert (new.supersedes, new.text, new.category) == (old.id, "Tea at five", "fact")
    assert (new.keywords, new.metadata) == (("tea",), {"ticket": 1})
    assert memory.records() == (new,)
    assert [record.text for record in memory.records(include_past=True)] == [old.text, new.text]
    newest = memory.update(old.id, text="Tea at six", keywords=[], metadata={"ticket": 2})
    assert (newest.supersedes, newest.keywords, newest.metadata) == (new.id, (), {"ticket": 2})


def test_words_are_replaced_where_they_are_with_a_backup(memory: Memory) -> None:
    old = memory.remember("Tea at four", keywords=["tea"], metadata={"ticket": 1})
    new = memory.update(old.id, keywords=["drinks"], metadata={"by": "Ana"})
    assert (new.id, new.keywords, new.metadata) == (old.id, ("drinks",), {"by": "Ana"})
    assert memory.records(include_past=True) == (new,)
    assert old.citation
    assert set(memory.files.backups()[0].files) == {"MEMORY.md", old.citation.path}
    again = memory.update(old.id, keywords=["drinks"])
    assert again.reused
    assert len(memory.files.backups()) == 1


def test_a_note_is_rewritten_with_a_backup(memory: Memory) -> None:
    note = memory.save_note("Releases happen on Tuesdays.", keywords=["release"], confidence=0.5)
    assert note.citation
    new = memory.update(note.id, text="Releases happen on Fridays.\nAlways.", keywords=["days"])
    assert (new.id, new.provenance.confidence) == (note.id, 0.5)
    assert memory.records() == (new,)
    assert (
        Path(memory.root, note.citation.path)
        .read_text("utf-8")
        .endswith("\n---\n\nReleases happen on Fridays.\nAlways.\n")
    )
    (backup,) = memory.files.backups()
    memory.files.restore(backup.name)
    assert memory.records()[0].text == note.text
    assert memory.search("Releases").hits


def test_a_secret_stays_secret_but_for_the_user(memory: Memory) -> None:
    secret = memory.remember("The door code is 4711", sensitivity="secret", keywords=["door"])
    agent = memory.via("mcp")
    assert (
        agent.update(secret.id, text="The code is 4712", sensitivity="public").sensitivity
        == "secret"
    )
    assert agent.update(secret.id, keywords=["x"], sensitivity="public").sensitivity == "secret"
    assert memory.records() == ()
    shown = memory.update(secret.id, sensitivity="private-user")
    assert shown.sensitivity == "private-user"
    assert memory.records() == (shown,)
    assert agent.update(shown.id, sensitivity="public").sensitivity == "private-user"
    assert agent.update(shown.id, sensitivity="secret").sensitivity == "secret"
    assert memory.records() == ()


@pytest.mark.parametrize("change", ["supersede", "update"])
def test_only_the_user_makes_a_record_public(memory: Memory, change: str) -> None:
    known = memory.remember("Ana hides her tea in the cupboard")
    new = "Ana hides her tea in the attic"
    for channel, mark in (("mcp", "private-user"), ("rest", "private-user"), ("cli", "public")):
        via = memory.via(channel)
        if change == "supersede":
            known = via.supersede(known.id, f"{new} ({channel})", sensitivity="public")
        else:
            known = via.update(known.id, text=f"{new} ({channel})", sensitivity="public")
        assert known.sensitivity == mark
    assert memory.via("mcp").supersede(known.id, new, sensitivity="private-user").text == new
    assert memory.records()[-1].sensitivity == "private-user"


def test_words_of_a_secret_do_not_follow_an_open_text(memory: Memory) -> None:
    secret = memory.remember(
        "The door code is 4711", sensitivity="secret", keywords=["4711"], metadata={"code": 4711}
    )
    shown = memory.update(secret.id, text="The code was changed", sensitivity="public")
    assert (shown.keywords, shown.metadata) == ((), {})


def test_a_key_makes_it_secret(memory: Memory) -> None:
    record = memory.remember("The key of the build")
    new = memory.update(record.id, metadata={"key": "ghp_" + "a1B2" * 9})
    assert new.sensitivity == "secret"
    assert "Saved as secret" in new.warnings[0]
    assert memory.records() == ()


def test_what_the_user_had_forgotten_does_not_come_back_by_an_agent(memory: Memory) -> None:
    gone = memory.remember("Ana lives in the house by the lake")
    memory.forget(gone.id)
    note = memory.save_note("Ana lives in a flat")
    record = memory.remember("Ana lives somewhere")
    for known in (note, record):
        with pytest.raises(RefusedError):
            memory.via("mcp").update(known.id, text=gone.text)


@pytest.mark.parametrize(
    "values",
    [{}, {"text": 1}, {"text": " "}, {"keywords": "tea"}, {"metadata": [1]}, {"sensitivity": "x"}],
)
def test_what_cannot_be_a_value_is_refused(memory: Memory, values: dict[str, object]) -> None:
    for known in (memory.remember("Tea at four"), memory.save_note("Tea at four")):
        with pytest.raises(RefusedError):
            memory.update(known.id, **values)  # type: ignore[arg-type]
    with pytest.raises(NotFoundError):
        memory.update("00000000", text="Tea")


def test_the_command_line_updates(root: str, capsys: pytest.CaptureFixture[str]) -> None:
    with Memory(root) as memory:
        record = memory.remember("Tea at four")
        words = ["--keyword", "tea", "--meta", "ticket=12", "--root", root]
        assert main(["update", record.id[:8], *words]) == 0
        assert "Updated  MEMORY.md" in capsys.readouterr().out
        assert memory.records()[0].metadata == {"ticket": "12"}
        assert main(["update", record.id, "--text", "Tea at five", "--root", root, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["supersedes"] == record.id
        assert main(["update", record.id, "--root", root]) != 0


def test_rest_updates(root: str) -> None:
    with Memory(root, channel="rest") as memory, calling(memory) as client:
        record = memory.remember("Tea at four")
        answer = client.patch(f"/api/v1/records/{record.id}", json={"keywords": ["tea"]})
        assert answer.status_code == 200
        assert answer.json()["keywords"] == ["tea"]
        new = client.patch(f"/api/v1/records/{record.id}", json={"text": "Tea at five"}).json()
        assert new["supersedes"] == record.id
        assert client.patch("/api/v1/records/00000000", json={"text": "x"}).status_code == 404
