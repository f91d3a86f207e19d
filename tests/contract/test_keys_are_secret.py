"""A key or token known by its form is saved as secret on every surface; a password in words is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.cli.main import main
from memolith.mcp_server.server import MemoryServer
from tests.embed.model_server import model_server
from tests.mcp_server.conftest import Talk
from tests.rest.conftest import calling

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.testclient import TestClient

    from memolith.types import Record

# Made up, and spelled in two parts so that nobody takes them for real ones.
KEYS = {
    "a private key": "-----BEGIN OPENSSH " + "PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAA",
    "an AWS access key": "AKIA" + "IOSFODNN7EXAMPLE",
    "a GitHub token": "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789",
    "a Stripe key": "sk_live_" + "51H8abcDEFghiJKLmnoPQRstu",
    "a web token (JWT)": "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVm",
    "a password in an address": "postgres://app:" + "s3cr3tpw@db.example.com/app",
}
KEY = KEYS["an AWS access key"]


def raised(record_id: str, kind: str = "an AWS access key") -> str:
    """The warning, with the way out."""
    way_out = f"memolith approve {record_id[:8]} --sensitivity private-user"
    return f"Saved as secret, because it holds {kind}. The user can change that: {way_out}"


SENSIBLE = Path(__file__).parents[1] / "text" / "sensible_texts.txt"


@pytest.fixture
def client(root: str) -> Iterator[TestClient]:
    with Memory(root, channel="rest") as memory, calling(memory) as client:
        yield client


def hidden(memory: Memory) -> Record:
    """The only record, which nobody sees without asking for secrets."""
    assert not memory.records()
    assert KEY not in memory.get("MEMORY.md").text
    assert all(KEY not in hit.text for hit in memory.search("the key of the bucket").hits)
    (record,) = memory.records(include_secret=True)
    assert record.sensitivity == "secret"
    return record


@pytest.mark.parametrize("kind", KEYS)
def test_a_key_known_by_its_form_is_saved_as_secret(memory: Memory, kind: str) -> None:
    record = memory.remember(f"The new one is {KEYS[kind]}")
    assert record.sensitivity == "secret"
    assert record.warnings == (raised(record.id, kind),)
    note = memory.save_note(f"The new one is {KEYS[kind]}")
    assert note.sensitivity == "secret"
    assert note.warnings == (raised(note.id, kind),)
    assert not memory.records()


def test_a_key_in_keywords_metadata_or_a_title_counts_too(memory: Memory) -> None:
    assert memory.remember("a", keywords=[KEY]).sensitivity == "secret"
    assert memory.remember("b", metadata={"key": {"id": KEY}}).sensitivity == "secret"
    note = memory.save_note("c", title=f"Key {KEY}")
    assert note.sensitivity == "secret"
    assert KEY.lower() not in str(note.citation).lower()
    old = memory.remember("The key of the bucket is not made yet")
    assert memory.supersede(old.id, f"The key is {KEY}").sensitivity == "secret"


def test_the_command_line_raises_it_and_says_so(
    memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"The key of the bucket is {KEY}"
    assert main(["remember", text, "--sensitivity", "public", "--root", memory.root]) == 0
    assert raised(hidden(memory).id) in capsys.readouterr().err
    assert main(["save", text, "--root", memory.root, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["sensitivity"], answer["warnings"]) == ("secret", [raised(answer["id"])])


def test_rest_raises_it_and_says_so(client: TestClient, memory: Memory) -> None:
    text = f"The key of the bucket is {KEY}"
    answer = client.post("/api/v1/records", json={"text": text, "sensitivity": "public"}).json()
    assert (answer["sensitivity"], answer["warnings"]) == ("secret", [raised(answer["id"])])
    hidden(memory)
    note = client.post("/api/v1/notes", json={"text": text}).json()
    assert (note["sensitivity"], note["warnings"]) == ("secret", [raised(note["id"])])


def test_a_file_that_is_replaced_has_its_new_records_raised(
    client: TestClient, memory: Memory
) -> None:
    memory.init()
    read = client.post("/rpc", json=_rpc("memory.getFile", path="MEMORY.md")).json()["result"]
    line = {
        "id": "0b8f7e1c-3f52-4f9d-9a54-9d5f1f0a2c11",
        "sessionId": "main",
        "category": "note",
        "text": f"The key of the bucket is {KEY}",
        "provenance": {
            "sourceChannel": "rest",
            "confidence": 1,
            "timestamp": "2026-11-15T12:00:00.000Z",
            "sensitivity": "private-user",
        },
        "later": "a key of a newer version",
    }
    content = f"{read['content']}- {json.dumps(line)}\n"
    body = _rpc("memory.writeFile", path="MEMORY.md", content=content, version=read["version"])
    answer = client.post("/rpc", json=body).json()["result"]
    assert [warning.partition(": ")[2] for warning in answer["warnings"]] == [raised("0b8f7e1c")]
    hidden(memory)
    assert "a key of a newer version" in Path(memory.root, "MEMORY.md").read_text("utf-8")


def test_prose_with_a_key_is_warned_of(memory: Memory) -> None:
    memory.init()
    file = memory.files.read("MEMORY.md")
    report = memory.files.write("MEMORY.md", f"{file.content}\nKey: {KEY}\n", file.version)
    assert "an AWS access key outside of a record" in report.warnings[0]


def test_an_agent_over_mcp_raises_it_and_is_told(memory: Memory) -> None:
    with Memory(memory.root, channel="mcp", settings={"mcp.tools": "all"}) as agents:
        talk = Talk(MemoryServer(agents), "legacy")
        said = talk("remember_this", text=f"The key of the bucket is {KEY}", sensitivity="public")
        record = hidden(memory)
        assert raised(record.id) in said.text
        assert said.values["warnings"] == [raised(record.id)]
        newer = talk(
            "remember_this", text="It is bronze", supersedes=record.id, sensitivity="public"
        )
        assert not newer.failed
        assert [one.sensitivity for one in memory.records(include_secret=True)] == ["secret"]
        saved = talk("memory", action="save", content=f"The key of the bucket is {KEY}")
        assert "Saved as secret, because it holds an AWS access key." in saved.text


def test_flush_saves_no_key_in_the_open(memory: Memory) -> None:
    memory.jobs.flush(f"user: We decided that the key of the bucket is {KEY}.\nassistant: Noted.")
    assert all(KEY not in record.text for record in memory.records())


@pytest.mark.parametrize(
    "text", ["The PIN of the garage is 4711", "The wifi password is heron-guest"]
)
def test_a_password_in_words_stays_visible_and_its_writer_is_warned(
    text: str, memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["remember", text, "--root", memory.root]) == 0
    (warning,) = capsys.readouterr().err.splitlines()
    assert "--sensitivity secret" in warning
    assert [record.text for record in memory.records()] == [text]
    assert memory.search(text).hits


def test_sensible_texts_stay_visible(memory: Memory) -> None:
    texts = SENSIBLE.read_text("utf-8").splitlines()
    assert len(texts) == 50
    for text in texts:
        memory.remember(text)
    assert [record.text for record in memory.records()] == texts


def test_no_key_password_or_pin_is_sent_to_a_remote_embedder(root: str) -> None:
    texts = ["The wifi password is heron-guest", f"Key: {KEY}", "The PIN of the garage is 4711"]
    with model_server() as server:
        settings = {"embed.kind": "openai", "embed.url": server.url, "embed.model": "m"}
        with Memory(root, settings=settings) as memory:
            memory.init()
            for text in texts:
                memory.remember(text)
            with Path(root, "MEMORY.md").open("a", encoding="utf-8") as file:
                file.write("\nBy hand: the password is prose-heron\n")
            memory.remember("The heron nests by the lake")
            memory.chats.log("My password is chat-heron", "I will not repeat it.")
            memory.chats.log("Where does the heron nest?", "By the lake.")
            found = memory.search("wifi password is heron-guest")
            assert "heron-guest" in found.hits[0].text
            memory.search(f"what is {KEY}")
        sent = json.dumps(server.batches)
    assert "The heron nests by the lake" in sent
    for secret in (KEY, "heron-guest", "4711", "prose-heron", "chat-heron"):
        assert secret not in sent


def _rpc(method: str, **params: str) -> dict[str, object]:
    return {"version": 1, "method": method, "params": params}
