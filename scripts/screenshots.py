"""Take a picture of every area of the page: light and dark, desktop and phone.

make screenshots            into build/screenshots, and docs/images/page.png
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memolith import Memory
from tests.web.conftest import CHROMIUM, FLAGS, NO_BROWSER

PROGRAM = str(Path(sys.executable).with_name("memolith"))
FOLDER = Path("build/screenshots")
BEST = Path("docs/images/page.png")
PAGES = {
    "home": "/", "search": "/search?q=who+signs+the+release", "files": "/files",
    "edit": "/files/edit?path=MEMORY.md", "backups": "/backups", "timeline": "/timeline",
    "chats": "/chats?chat=standup", "experiences": "/experiences", "proposals": "/proposals",
    "receipts": "/receipts", "plots": "/plots", "forget": "/forget", "settings": "/settings",
}  # fmt: skip
SAID = [
    ("preference", "Short answers, with the command first"),
    ("decision", "We deploy on Tuesdays, never on Fridays"),
    ("fact", "The staging database is PostgreSQL 16 on port 5433"),
    ("learned", "The flaky login test waits for the wrong redirect; a retry hides it"),
    ("fact", "Marta's birthday is on the 9th of May"),
    ("decision", "Invoices are sent in euros, also to customers in the US"),
    ("fact", "The release checklist is in docs/release.md"),
    ("event", "The 2.4 release went out with two hot fixes"),
    ("learned", "The old extension builds only with --no-build-isolation"),
    ("fact", "Cookie the dog is allergic to chicken"),
    ("decision", "Backups are kept for 90 days, in two places"),
    ("note", "Ask Ben about the certificates before they expire in March"),
    ("preference", "Tea without sugar, and no meetings before ten"),
    ("fact", "Ben has the spare release key"),
]
CHAT = [
    ("When is the next release?", "On Tuesday. Ben signs it, because Ana is on leave."),
    ("And who has the spare key?", "Ben has it."),
    ("What did we say about backups?", "They are kept for 90 days, in two places."),
]


def fill(root: str) -> None:
    """A memory of somebody who ships software."""
    chance, now = random.Random(4), datetime.now(UTC)
    with Memory(root, channel="cli") as memory:
        memory.init()
        for at, (category, text) in enumerate(SAID):
            when = now - timedelta(days=9 * (len(SAID) - at), hours=at % 7)
            memory.remember(text, category=category, timestamp=when)
        for _ in range(60):
            when = now - timedelta(days=chance.randrange(1, 330), minutes=chance.randrange(600))
            text = f"Ticket {chance.randrange(100, 999)}: {chance.choice(SAID)[1].lower()}"
            memory.remember(text, category="event", timestamp=when, session="work")
        memory.remember("Ana is on leave until the 24th; Ben signs releases", category="fact")
        memory.remember("Lunch with Marta moved to Thursday", category="event")
        agent = memory.via("mcp")
        agent.remember("The stand-up moved to 9:30", category="decision", keywords=["stand-up"])
        text = "# How we release\n\n1. Run `make check`\n2. Tag the commit\n3. Upload\n"
        memory.save_note(text, title="How we release")
        for user, assistant in CHAT:
            agent.chats.log(user, assistant, chat="standup", platform="mcp")
        for question in ("who signs the release", "when do we deploy", "what does Cookie eat"):
            agent.context(question)
            agent.search(question)
        memory.jobs.extract_experiences()
    settings = {"jobs.review": "ask", "compact.max_records": 60}
    with Memory(root, channel="cli", settings=settings) as asking:
        asking.jobs.compact()


def take(root: str) -> None:
    from playwright.sync_api import sync_playwright

    words = [PROGRAM, "open", "--link", "--json", "--root", root, "--set", "serve.port=0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        base, link = (json.loads(server.stdout.readline())["url"] for _ in range(2))
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
                page = browser.new_page(viewport={"width": 1280, "height": 860})
                page.goto(link)
                page.wait_for_url("**/ui/")
                for scheme in ("light", "dark"):
                    for width, height in ((1280, 860), (390, 844)):
                        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
                        page.set_viewport_size({"width": width, "height": height})
                        for name, path in PAGES.items():
                            page.goto(f"{base}/ui{path}")
                            if name == "search":
                                page.locator("[data-why]").first.click()
                            page.wait_for_timeout(1200)
                            page.screenshot(path=FOLDER / f"{name}-{scheme}-{width}.png")
        finally:
            server.terminate()


def main() -> int:
    if not CHROMIUM:
        print(NO_BROWSER)
        return 1
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        root = str(Path(folder) / "demo")
        fill(root)
        take(root)
    BEST.write_bytes((FOLDER / "home-light-1280.png").read_bytes())
    print(f"{len(list(FOLDER.glob('*.png')))} pictures in {FOLDER}; the best one is {BEST}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
