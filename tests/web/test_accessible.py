"""Who cannot see well, or uses no mouse: axe finds nothing wrong in any area, light or dark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith.web.call import AREAS
from tests.web.test_browser import fill

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from memolith import Memory
    from tests.web.test_browser import Start

AXE = Path(".venv/web-tools/node_modules/axe-core/axe.min.js")
MORE = (
    "/search?q=release+key", "/files?path=MEMORY.md&view=source", "/files/edit?path=MEMORY.md",
    "/backups", "/chats?chat=standup", "/files?path=nowhere.md",
)  # fmt: skip
RULES = "{runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}"


def violations(page: Page) -> list[str]:
    found = page.evaluate(f"axe.run(document, {RULES})")
    return [
        f"{one['id']}: {node['html'][:160]} {node.get('failureSummary', '')[:300]}"
        for one in found["violations"]
        for node in one["nodes"]
    ]


def more(memory: Memory) -> None:
    fill(memory)
    memory.save_note("# How\n\n## To\n\n| a | b |\n|---|---|\n| 1 | 2 |", title="How")
    before = memory.files.read("MEMORY.md")
    memory.files.write("MEMORY.md", before.content + "\nMore.\n", before.version)
    memory.jobs.extract_experiences()


@pytest.mark.skipif(
    not AXE.exists(), reason="axe is not installed: sh scripts/install_test_tools.sh"
)
def test_axe_finds_nothing_in_any_area(site: Start) -> None:
    at = site(more)
    page = at.page
    wrong = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        for path in (*(path for path, _, _ in AREAS), *MORE):
            at.go(f"/ui{path}")
            page.wait_for_load_state("load")
            while page.locator("main .loading:visible").count():
                page.wait_for_timeout(50)
            if "q=release" in path:
                page.get_by_text("Why this?").first.click()
                page.locator(".waterfall li").first.wait_for()
            page.evaluate(AXE.read_text("utf-8"))
            wrong += [f"{scheme} {path} {one}" for one in violations(page)]
    page.context.clear_cookies()
    at.go("/ui/sign-in")
    page.evaluate(AXE.read_text("utf-8"))
    wrong += [f"sign-in {one}" for one in violations(page)]
    assert not wrong, "\n".join(wrong)
