"""Every area without a browser: what it shows of an empty memory, of a full one, and of mistakes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from starlette.routing import Route
from starlette.testclient import TestClient

from memolith.rest.app import build_app
from memolith.web.app import VIEWS, make_page
from memolith.web.call import AREAS
from memolith.web.finding import STAGES
from memolith.web.signing_in import write_code
from tests.rest.conftest import PORT, URL

if TYPE_CHECKING:
    from memolith import Memory

READS = [path for at, _ in VIEWS for method, path in [at.split()] if method == "GET"]
WITHOUT_QUERY = {"/backups/diff", "/files/edit", "/proposals/diff"}  # they need one


def fill(memory: Memory) -> None:
    memory.remember("Ana owns the release key", category="fact", keywords=["release"])
    memory.remember("We deploy on Tuesdays", category="decision")
    memory.remember("The vault opens with 1234", sensitivity="secret")
    memory.save_note("# Release\n\nTag the commit", title="Release")
    memory.chats.log("Who has the key?", "Ana has it.", chat="standup")
    memory.via("mcp").search("who owns the release key")
    memory.jobs.extract_experiences()


def test_every_area_has_something_to_say_about_an_empty_memory(client: TestClient) -> None:
    for path in READS:
        answer = client.get(f"/ui{path}")
        expected = 200 if path not in WITHOUT_QUERY else answer.status_code
        assert answer.status_code == expected, path
        assert answer.headers["content-type"].startswith("text/html")


def test_every_area_shows_a_full_memory_and_no_secret(memory: Memory, client: TestClient) -> None:
    fill(memory)
    asked = {"/search": "?q=vault release", "/search/why": "?q=release", "/forget": "?q=vault"}
    for path in READS:
        answer = client.get(f"/ui{path}{asked.get(path, '')}")
        assert answer.status_code < 500, path
        assert "1234" not in answer.text, path
    assert "Ana owns the release key" in client.get("/ui/").text
    assert "Ana has it." in client.get("/ui/chats").text
    assert "release" in client.get("/ui/receipts").text


def test_who_looks_for_a_record_to_forget_is_told_that_nothing_is_close(
    memory: Memory, client: TestClient
) -> None:
    fill(memory)
    assert "No strong match" in client.get("/ui/forget?q=zzqqxx").text
    assert "No strong match" not in client.get("/ui/forget?q=vault release").text


def test_every_stage_of_a_search_is_explained(memory: Memory) -> None:
    fill(memory)
    stages = {one.stage for one in memory.search("release", explain=True).trace}
    assert {"fuse", "replies"} <= stages <= {"question", *STAGES}


def test_the_bar_at_home_is_scaled_to_the_limit(memory: Memory, client: TestClient) -> None:
    fill(memory)
    memory.remember("word " * 800, category="fact")
    text = memory.session_start().text
    bar = client.get("/ui/").text.partition('<svg class="bar"')[2].partition("</svg>")[0]
    widths = [float(width) for width in re.findall(r'width="([\d.]+)"', bar)]
    share = 100 * len(text) / memory.config.context.max_chars
    assert widths
    assert share - 1 < sum(widths) < share + len(widths)


def test_latency_has_plain_numbers_and_no_open_stream(memory: Memory, client: TestClient) -> None:
    metrics = client.app._app.state.metrics  # type: ignore[attr-defined]
    for path, seconds in (("/slow", 0.9), ("/events", 900)):
        scope = {"route": Route(path, lambda _: None), "method": "GET"}
        metrics.note_request(scope, 200, seconds)
    text = client.get("/ui/plots").text
    assert "<code>/slow</code></th><td>1</td><td>1,000 ms</td>" in text
    assert "/events<" not in text


def test_every_area_is_in_the_menu_and_there(client: TestClient) -> None:
    text = client.get("/ui/").text
    for path, name, _ in AREAS:
        assert re.search(rf'href="/ui{path}"[^>]*>{name}<', text)
        assert client.get(f"/ui{path}").status_code == 200


def test_what_is_not_there_is_said_on_a_page(client: TestClient) -> None:
    for path, status in (
        ("/nowhere", 404),
        ("/files?path=../etc/passwd", 403),
        ("/files?path=/etc/passwd", 403),
        ("/files?path=.memolith/server-token", 403),
        ("/files?path=memory/2020-01-01.md", 404),
        ("/backups/diff?name=../x", 404),
        ("/proposals/diff?job=none", 404),
        ("/search?q=x&since=nonsense", 422),
    ):
        answer = client.get(f"/ui{path}")
        assert answer.status_code == status, path
        assert "That did not work" in answer.text
        assert "root:" not in answer.text


def test_looking_is_not_recalling(memory: Memory, client: TestClient) -> None:
    """Else whatever a person looks at on the page would be promoted by the next dream."""
    fill(memory)
    before = memory.jobs.receipts()
    client.get("/ui/search?q=release key")
    client.get("/ui/files?path=MEMORY.md&line=3")
    assert memory.jobs.receipts() == before


def test_what_was_saved_has_the_trust_of_the_user(memory: Memory, client: TestClient) -> None:
    record = memory.remember("Ana owns the key")
    form = {"record": record.id, "text": "Ben owns the key"}
    assert client.post("/ui/records/update", data=form).status_code == 200
    (hit,) = memory.search("who owns the key", 1)
    assert (hit.text, hit.trust) == ("Ben owns the key", "user")


def test_a_replaced_record_leads_to_the_newest_which_may_be_secret(
    memory: Memory, client: TestClient
) -> None:
    first = memory.remember("Ana owns the key")
    newest = memory.update(memory.update(first.id, text="Ben owns the key").id, text="Cem owns it")
    page = client.get("/ui/files").text
    assert page.count(f"replaced by {newest.id[:8]}") == 2
    assert page.count("<summary>Edit") == 1
    memory.update(newest.id, sensitivity="secret")
    page = client.get("/ui/files").text
    assert newest.id[:8] not in page
    assert page.count(">replaced</span>") == 2


def test_a_setting_of_the_user_alone_is_not_changed_here(
    memory: Memory, client: TestClient
) -> None:
    form = {"name": "llm.url", "value": "http://evil.example/v1"}
    answer = client.post("/ui/settings", data=form)
    assert answer.status_code == 403
    assert "llm.url is the user&#39;s alone to set." in answer.text
    assert "evil" not in Path(memory.root, "memolith.toml").read_text()


def test_receipts_say_which_words_the_question_had(memory: Memory) -> None:
    memory.remember("Ana owns the release key")
    memory.via("mcp").search("Tell me confidentially: who owns it?")
    (receipt,) = memory.jobs.receipts()
    assert receipt.surface == "search"
    assert receipt.items[0].words == ("owns",)
    log = Path(memory.root, ".memolith/recalls.jsonl").read_text()
    assert "confidentially" not in log


def test_a_forgotten_record_takes_its_words_out_of_the_receipts(memory: Memory) -> None:
    record = memory.remember("Ana owns the zeppelin")
    memory.remember("Ben owns a zeppelin too")
    memory.search("zeppelin owner Ana")
    memory.forget(record.id)
    log = Path(memory.root, ".memolith/recalls.jsonl").read_text()
    assert "ana" not in log.lower()
    assert "Ben" in log


def test_a_dry_run_of_forgetting_names_the_files_and_changes_none(memory: Memory) -> None:
    record = memory.remember("Ana owns the key", category="decision")
    memory.jobs.extract_experiences()
    files = {path: path.read_bytes() for path in Path(memory.root).rglob("*.md")}
    named = memory.forget(record.id, dry_run=True).files
    assert {path: path.read_bytes() for path in Path(memory.root).rglob("*.md")} == files
    assert {"MEMORY.md", "memory/experiences.md"} <= set(named)
    assert set(memory.forget(record.id).files) == set(named)


def test_a_note_is_edited_with_the_version_that_was_read(
    memory: Memory, client: TestClient
) -> None:
    note = memory.save_note("The blue folder", title="Folder")
    assert note.citation
    path = note.citation.path
    page = client.get(f"/ui/files/edit?path={path}").text
    version = re.search(r'data-version="(\w+)"', page)
    assert version
    assert "The blue folder" in page
    form = {"path": path, "content": "The red folder", "version": version[1]}
    saved = client.post("/ui/files/save", data=form)
    assert saved.status_code == 200, saved.text
    conflict = client.post("/ui/files/save", data={**form, "content": "The green folder"})
    assert conflict.status_code == 409
    assert conflict.json()["content"].strip() == "The red folder"
    assert memory.get_record(note.id).text == "The red folder"


def test_a_file_name_need_not_be_utf_8(memory: Memory, client: TestClient) -> None:
    note = Path(memory.root, "memory/\udcff.md")
    note.parent.mkdir(exist_ok=True)
    note.write_text("# Zeppelin\n\nThe zeppelin is blue\n")
    memory.via("mcp").search("zeppelin")
    page = client.get("/ui/files")
    assert "/ui/files?path=memory%2F%FF.md" in page.text
    assert "The zeppelin is blue" in client.get("/ui/files?path=memory/%FF.md").text
    for path in READS:
        answer = client.get(f"/ui{path}?q=zeppelin&path=memory/%FF.md&about=%FF&chat=%FF")
        assert answer.status_code < 500, path
    note.unlink()
    assert client.get("/ui/receipts").status_code == 200


def test_a_bug_is_told_on_a_page(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    memory.init()
    monkeypatch.setattr("memolith.web.app.VIEWS", (("GET /broken", broken),))
    app = build_app(memory, port=PORT, page=make_page)
    with TestClient(app, URL, raise_server_exceptions=False) as client:
        code = write_code(memory.root, URL, memory.jobs.clock).partition("#")[2]
        client.post("/ui/sign-in", content=code, headers={"Origin": URL})
        answer = client.get("/ui/broken")
        notice = client.get("/ui/broken", headers={"HX-Request-Type": "partial"})
    assert answer.status_code == notice.status_code == 500
    assert "The server failed." in answer.text
    assert "<nav" in answer.text
    assert notice.text.startswith('<p class="notice bad"')
    assert "ZeroDivisionError" in caplog.text
