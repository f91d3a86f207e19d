"""A record is read by its id on every surface."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memolith import Memory
from memolith.cli.main import main
from memolith.errors import NotFoundError
from tests.rest.conftest import calling


def test_a_record_or_note_is_found_by_its_id(memory: Memory) -> None:
    record = memory.remember("Tea at four", keywords=["drinks"])
    note = memory.save_note("Releases happen on Tuesdays.")
    assert memory.get_record(record.id) == record
    assert memory.get_record(record.id[:8]) == record
    assert memory.get_record(note.id).text == note.text
    assert str(memory.get_record(record.id).citation).startswith("MEMORY.md#L")


def test_a_past_record_is_found_too(memory: Memory) -> None:
    old = memory.remember("Tea at four")
    memory.supersede(old.id, "Tea at five")
    assert memory.get_record(old.id).text == "Tea at four"


def test_a_secret_record_is_found_only_if_asked_for(memory: Memory) -> None:
    secret = memory.remember("The door code is 4711", sensitivity="secret")
    with pytest.raises(NotFoundError, match=f"No record has the id '{secret.id}'"):
        memory.get_record(secret.id)
    assert memory.get_record(secret.id, include_secret=True).text == secret.text


def test_a_mark_in_the_daily_log_alone_hides_the_record(memory: Memory) -> None:
    record = memory.remember("The door code is 4711")
    assert record.citation
    log = Path(memory.root, record.citation.path)
    log.write_text(log.read_text("utf-8").replace("private-user", "secret"), "utf-8")
    with pytest.raises(NotFoundError):
        memory.get_record(record.id)


def test_an_unknown_id_is_an_error_also_without_a_memory(memory: Memory) -> None:
    with pytest.raises(NotFoundError):
        memory.get_record("00000000")
    memory.remember("Tea at four")
    with pytest.raises(NotFoundError):
        memory.get_record("00000000")


def test_the_command_line_shows_a_record(root: str, capsys: pytest.CaptureFixture[str]) -> None:
    with Memory(root) as memory:
        record = memory.remember("Tea at four", category="fact")
        secret = memory.remember("The door code is 4711", sensitivity="secret")
    assert main(["get", record.id[:8], "--root", root]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert "MEMORY.md#L" in first
    assert record.id in first
    assert second == "Tea at four"
    assert main(["get", record.id, "--root", root, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["id"] == record.id
    assert main(["get", secret.id, "--root", root]) != 0
    assert main(["get", secret.id, "--include-secret", "--root", root]) == 0
    assert "4711" in capsys.readouterr().out


def test_rest_answers_with_a_record(root: str) -> None:
    with Memory(root, channel="rest") as memory, calling(memory) as client:
        record = memory.remember("Tea at four")
        secret = memory.remember("The door code is 4711", sensitivity="secret")
        answer = client.get(f"/api/v1/records/{record.id[:8]}")
        assert answer.status_code == 200
        assert answer.json()["text"] == "Tea at four"
        assert client.get(f"/api/v1/records/{secret.id}").status_code == 404
        asked = client.get(f"/api/v1/records/{secret.id}", params={"include_secret": True})
        assert asked.status_code == 403
