"""Every area in a real Chromium: what a person clicks, types and sees, and what is on the disk afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from memolith import Memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

    from tests.web.conftest import Site

    Start = Callable[..., Site]

SECOND = 1000


def fill(memory: Memory) -> None:
    memory.remember("Ana owns the release key", category="fact")
    memory.remember("We deploy on Tuesdays, never on Fridays", category="decision")
    memory.remember("Cookie the dog is allergic to chicken", category="fact")
    memory.chats.log("Who has the key?", "Ana has it.", chat="standup")
    memory.via("mcp").search("who owns the release key")


def seen(page: Page, text: str) -> None:
    page.get_by_text(text).first.wait_for(timeout=20 * SECOND)


def test_home_and_live_changes(site: Start) -> None:
    at = site(fill)
    page = at.go("/ui/")
    seen(page, "Ana owns the release key")
    seen(page, "No proposals are waiting.")
    seen(page, "checks passed")
    page.evaluate("window.born = performance.now()")
    with Memory(at.root, channel="cli") as memory:
        memory.remember("A fact from another process")
    seen(page, "A fact from another process")
    assert page.evaluate("Boolean(window.born)")  # the page was not loaded again


def test_search_as_somebody_types_and_why(site: Start) -> None:
    page = site(fill).go("/ui/search")
    page.locator("#q:focus").wait_for()
    page.keyboard.type("release keys")
    page.locator(".hit mark").first.wait_for()
    assert page.locator(".hit .text").first.inner_text() == "Ana owns the release key"
    assert [one.inner_text() for one in page.locator(".hit").first.locator("mark").all()] == [
        "release",
        "key",
    ]
    page.get_by_text("Why this?").first.click()
    page.locator(".waterfall li").first.wait_for()
    assert "Words and meaning" in page.locator(".waterfall").first.inner_text()
    page.reload()  # the address has the question
    assert page.locator("[data-search]").input_value() == "release keys"
    seen(page, "Ana owns the")
    page.get_by_text("Filters").click()
    page.get_by_label("Category").fill("decision")
    page.locator(".hit", has_text="Ana owns the").wait_for(state="detached")
    assert "category=decision" in page.url
    page.locator(".hit .cite").first.click()
    assert "/ui/files?path=memory" in page.url


def test_an_edit_is_saved_and_one_made_elsewhere_meanwhile_is_merged(site: Start) -> None:
    at = site(fill)
    page = at.go("/ui/files?path=MEMORY.md")
    page.get_by_role("link", name="Edit", exact=True).click()
    page.locator(".cm-content").wait_for()
    page.keyboard.press("Control+End")
    page.keyboard.type("\nMine: bring the blue folder.\n")
    page.keyboard.press("Control+s")
    seen(page, "Saved.")
    file = Path(at.root, "MEMORY.md")
    assert "Mine: bring the blue folder." in file.read_text()

    file.write_text(file.read_text() + "\nTheirs: the meeting moved.\n")
    page.keyboard.type("Mine again: and the red one.\n")
    page.get_by_role("button", name="Save").click()
    seen(page, "Somebody else changed this file meanwhile.")
    assert "red one" not in file.read_text()
    page.locator(".cm-merge-revert button").first.wait_for()
    while page.locator(".cm-merge-revert button").count():  # take over what they wrote
        page.locator(".cm-merge-revert button").first.click()
    page.get_by_label("Yours, which will be saved").click()
    page.keyboard.press("Control+End")
    page.keyboard.type("\nMine again: and the red one.\n")
    page.get_by_role("button", name="Save").click()
    seen(page, "Saved.")
    page.locator(".cm-mergeView").wait_for(state="detached")
    text = file.read_text()
    assert "Theirs: the meeting moved." in text
    assert "Mine again: and the red one." in text


def test_a_backup_is_compared_and_restored(site: Start) -> None:
    def twice(memory: Memory) -> None:
        fill(memory)
        before = memory.files.read("MEMORY.md")
        memory.files.write("MEMORY.md", before.content + "\nA line too many.\n", before.version)

    at = site(twice)
    page = at.go("/ui/backups?path=MEMORY.md")
    page.get_by_text("What restoring changes").click()
    seen(page, "- A line too many.")
    page.get_by_role("button", name="Restore").click()
    seen(page, "Restored MEMORY.md")
    assert "A line too many." not in Path(at.root, "MEMORY.md").read_text()


def test_a_proposal_is_applied_and_undone_and_another_rejected(site: Start) -> None:
    def propose(memory: Memory) -> None:
        for number in range(30):
            memory.remember(f"Fact {number} about the garden and its {number} roses")
        settings = {"jobs.review": "ask", "trim.max_records": 20}
        with Memory(memory.root, settings=settings, channel="cli") as asking:
            assert asking.jobs.trim().status == "proposed"

    at = site(propose)
    page = at.go("/ui/proposals")
    page.set_viewport_size({"width": 400, "height": 200})
    before = Path(at.root, "MEMORY.md").read_bytes()
    page.locator(".diff .del").first.wait_for()
    page.get_by_role("button", name="Apply").click()
    seen(page, "Applied.")
    page.wait_for_function("scrollY < 150")  # where that is said
    assert Path(at.root, "MEMORY.md").read_bytes() != before
    page.get_by_role("button", name="Undo").click()
    seen(page, "Taken back.")
    assert Path(at.root, "MEMORY.md").read_bytes() == before
    page.get_by_label("Job", exact=True).select_option("experiences")
    page.get_by_role("button", name="What would it do?").click()
    page.locator("#would .card").wait_for()
    page.get_by_text("What dreaming thinks").click()
    seen(page, "statements are tracked")


def test_forgetting_shows_everything_first(site: Start) -> None:
    at = site(fill)
    page = at.go("/ui/forget")
    page.get_by_label("Cookie the dog").check()
    page.get_by_role("button", name="Show what would be removed").click()
    text = page.locator("#main").inner_text()
    assert "MEMORY.md" in text
    assert "index" in text
    assert "Cookie" in Path(at.root, "MEMORY.md").read_text()
    page.get_by_role("button", name="Forget for good").click()
    seen(page, "Forgotten: 1 record")
    files = [*Path(at.root).rglob("*.md"), *Path(at.root).rglob("*.jsonl")]
    assert not [file for file in files if "Cookie" in file.read_text()]


def test_a_setting_is_changed_refused_and_reset(site: Start) -> None:
    at = site(fill)
    page = at.go("/ui/settings")
    form = page.locator("#f-search-mmr_lambda")
    form.get_by_role("textbox").fill("0.5")
    form.get_by_role("button", name="Save").click()
    seen(page, "search.mmr_lambda is saved.")
    file = Path(at.root, "memolith.toml")
    assert "mmr_lambda = 0.5" in file.read_text()
    form.get_by_role("textbox").fill("much")
    form.get_by_role("button", name="Save").click()
    why = form.locator(".notice.bad")
    assert "search.mmr_lambda = 'much': expected a number, from 0 to 1." in why.inner_text()
    assert form.get_by_role("textbox").input_value() == "much"
    assert "mmr_lambda = 0.5" in file.read_text()
    page.reload()
    form.get_by_role("button", name="Reset").click()
    seen(page, "is back to its default")
    assert "mmr_lambda" not in file.read_text()


def test_a_record_is_changed_on_its_card(site: Start) -> None:
    at = site(fill)
    page = at.go("/ui/files?path=MEMORY.md")
    card = page.locator("article", has_text="Cookie the dog")
    card.get_by_text("Edit").click()
    card.get_by_label("Text").fill("Cookie the dog eats everything")
    card.get_by_role("button", name="Save").click()
    seen(page, "Saved in memory/")
    seen(page, "Cookie the dog eats everything")
    old = page.locator("article.past", has_text="allergic to chicken")  # the page follows the files
    old.get_by_text("replaced by").wait_for()
    assert old.get_by_text("Edit").count() == 0
    page.get_by_text("Saved in memory/").wait_for()
    with Memory(at.root) as memory:
        assert "Cookie the dog eats everything" in [one.text for one in memory.records()]


def test_the_other_areas(site: Start) -> None:
    at = site(fill)
    page = at.go("/ui/timeline")
    assert page.locator(".heat rect.chosen").count() == 1
    seen(page, "We deploy on Tuesdays")
    page = at.go("/ui/chats?chat=standup")
    page.locator(".said", has_text="Ana has it.").wait_for()
    page.get_by_placeholder("Recall from this chat").fill("key")
    page.keyboard.press("Enter")
    page.locator(".said", has_text="Ana has it.").wait_for()
    page = at.go("/ui/receipts")
    seen(page, "Ana owns the release key")
    seen(page, "owns")
    page = at.go("/ui/plots")
    page.locator(".plot canvas").first.wait_for()
    seen(page, "records in")
    at.go("/ui/experiences")


def test_with_the_keyboard_alone(site: Start) -> None:
    at = site(fill)
    page = at.go("/ui/")
    page.keyboard.press("?")
    page.get_by_role("dialog").wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("s")
    page.wait_for_url("**/ui/search")
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("who deploys, Ana or Cookie")
    page.locator(".hit").nth(1).wait_for()
    page.keyboard.press("Enter")
    focused = "document.activeElement.closest('.hit') === document.querySelectorAll('.hit')[{}]"
    assert page.evaluate(focused.format(0))
    page.keyboard.press("j")
    assert page.evaluate(focused.format(1))
    page.keyboard.press("k")
    assert page.evaluate(focused.format(0))
    page.keyboard.press("w")
    page.locator(".waterfall li").first.wait_for()
    page.keyboard.press("Enter")
    page.wait_for_url("**/ui/files?**")
    page.keyboard.press("Tab")
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate(outline) != "none"  # where one is, can be seen


def test_nothing_is_wider_than_the_screen(site: Start) -> None:
    from memolith.web.call import AREAS

    at = site(fill)
    for width in (360, 800, 2560):
        at.page.set_viewport_size({"width": width, "height": 900})
        for path, name, _ in AREAS:
            page = at.go(f"/ui{path}")
            spill = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert spill <= 0, (name, width, spill)
