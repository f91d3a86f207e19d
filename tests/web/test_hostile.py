"""Memory text is hostile: two hundred attacks as records, notes, file names and turns, in every area."""

from __future__ import annotations

import json
import re
import time
from contextlib import suppress
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

from memolith import Memory
from memolith.errors import RefusedError
from memolith.web.rendering import brief, markdown

if TYPE_CHECKING:
    from tests.web.test_browser import Start

PAYLOADS: list[str] = json.loads(Path(__file__).with_name("payloads.json").read_text("utf-8"))


def fill(memory: Memory) -> None:
    root = Path(memory.root)
    agent = memory.via("mcp")
    for number, payload in enumerate(PAYLOADS):
        memory.remember(f"{payload} attack {number}", keywords=[payload[:60]])
        with suppress(RefusedError):  # a name of several lines is refused, which is as well
            agent.chats.log(payload, f"answer to {payload}", chat=f"chat {payload[:40]}")
        name = payload.replace("/", "∕").replace("\0", "")[:80]
        note = root / "memory" / "fact" / f"{name}.md"
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(f"# {payload}\n\n{payload}\n", "utf-8")
        if number % 4 == 0:
            memory.save_note(payload, title=f"{payload} note {number}", category="decision")
    prose = "\n\n".join(PAYLOADS)
    file = memory.files.read("MEMORY.md")
    memory.files.write("MEMORY.md", f"{file.content}\n{prose}\n", file.version)
    agent.search("attack answer alert script")
    memory.jobs.extract_experiences()
    with Memory(memory.root, settings={"jobs.review": "ask", "trim.max_records": 50}) as asking:
        asking.jobs.trim()


class Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


def test_there_are_two_hundred() -> None:
    assert len(set(PAYLOADS)) >= 200


def test_markdown_has_no_active_element_left() -> None:
    harmless = set(
        "a blockquote br code del em h1 hr li ol p pre strong table tbody td th thead tr ul".split()
    )
    for payload in PAYLOADS:
        found = Elements()
        found.feed(markdown(payload))
        assert {tag for tag, _ in found.seen} <= harmless, payload
        for _, attributes in found.seen:
            assert set(attributes) <= {"href", "rel"}, payload
            scheme = re.match(r"[a-z][a-z0-9+.-]*:", (attributes.get("href") or "").lower())
            assert scheme is None or scheme[0] in ("http:", "https:", "mailto:"), payload


def test_no_attack_opens_a_dialog_asks_another_server_or_breaks_the_page(site: Start) -> None:
    at = site(fill)  # it notes dialogs, requests elsewhere and errors, and fails at its end
    page = at.page
    with Memory(at.root) as memory:
        files = [entry.path for entry in memory.files.tree()]
        job = memory.jobs.list()[-1].id
    page.set_viewport_size({"width": 1280, "height": 900})
    for path in (
        "/", "/search?q=attack%20alert&limit=100", "/search?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E",
        "/files?path=MEMORY.md", "/files?path=MEMORY.md&view=source", "/files?path=MEMORY.md&from=301",
        "/files?all=1", "/files?path=conversation-history.jsonl", "/files/edit?path=MEMORY.md",
        "/timeline", "/chats", "/chats?about=alert", "/experiences", "/experiences?by=session",
        "/experiences?by=entity", "/experiences?q=alert", "/proposals", f"/proposals/diff?job={job}",
        "/receipts", "/plots", "/forget?q=alert", "/backups", "/settings",
    ):  # fmt: skip
        at.go(f"/ui{path}")
        page.wait_for_load_state("networkidle") if path in ("/", "/plots") else None
        page.evaluate(
            "[...document.querySelectorAll('main details')].slice(0, 9).map((one) => { one.open = true })"
        )
        page.wait_for_timeout(150)
    for number in range(0, len(PAYLOADS), 10):
        at.go("/ui/chats")
        link = page.locator(".tree a").nth(number)
        if link.count():
            link.click()
    for file in [path for path in files if path.startswith("memory/fact/")][::10]:
        page.goto(at.url + "/ui/files")
        page.evaluate(
            "(path) => { location.href = '/ui/files?path=' + encodeURIComponent(path) }", file
        )
        page.wait_for_url("**/ui/files?path=**")
    page.goto(at.url + "/ui/search")
    for payload in PAYLOADS[::20]:
        page.locator("[data-search]").fill(payload[:200])
        page.wait_for_timeout(100)
    assert page.evaluate("window.attacked") is None


def test_a_line_of_marks_does_not_stop_a_page() -> None:
    began = time.monotonic()
    for marks in ("x" + "`" * 16_000, " *a" * 16_000):
        assert len(brief(marks)) <= 200
    assert time.monotonic() - began < 5
