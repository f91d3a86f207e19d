"""How quick the page is in Chromium: first paint, bytes of the first screen, the answer to a keystroke.

Run:  python -m benchmarks.page [--memory DIR] [--chunks N] [--rounds N]

First paints of an empty and of a large memory alternate, so that what else the machine does falls on both.
"""

from __future__ import annotations

import argparse
import gzip
import statistics
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.speed.corpus import Corpus
from memolith import Memory
from memolith.clock import Clock
from memolith.web.signing_in import write_code
from tests.rest.conftest import running
from tests.web.conftest import CHROMIUM, FLAGS, NO_BROWSER

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Response

MOST_PAINT, MOST_BYTES, MOST_MILLISECONDS = 2.0, 200_000, 100.0
PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
# From the event of a key to the frame that shows its hits.
WATCH = """
window.took = []
let typed = 0
document.addEventListener("input", () => { typed = performance.now() }, true)
document.addEventListener("htmx:after:swap", () => {
  const begun = typed
  requestAnimationFrame(() => requestAnimationFrame(() => took.push(performance.now() - begun)))
})
"""


def visit(browser: Browser, root: str, url: str) -> Page:
    page = browser.new_page()
    page.goto(write_code(root, url, Clock()))
    page.wait_for_url("**/ui/")
    return page


def first_screen(page: Page, url: str) -> int:
    """The bytes of Home and all that it loads, gzipped."""
    sizes: list[int] = []

    def note(response: Response) -> None:
        if "/ui/events" not in response.url:
            sizes.append(len(gzip.compress(response.body())))

    page.on("response", note)
    page.goto(f"{url}/ui/")
    page.wait_for_timeout(3000)  # the network is never idle: events are waited for
    page.remove_listener("response", note)
    return sum(sizes)


def paints(pages: dict[str, Page], urls: dict[str, str], rounds: int) -> dict[str, float]:
    found: dict[str, list[float]] = {name: [] for name in pages}
    for _ in range(rounds):
        for name, page in pages.items():
            page.goto(f"{urls[name]}/ui/")
            page.wait_for_timeout(300)
            found[name].append(page.evaluate(PAINT))
    return {name: statistics.median(times) for name, times in found.items()}


def keystrokes(page: Page, url: str, questions: list[str]) -> list[float]:
    """Milliseconds until the answer to each keystroke is drawn; a slower one than the next key is not counted."""
    page.goto(f"{url}/ui/search")
    page.evaluate(WATCH)
    for question in questions:
        page.locator("[data-search]").fill("")
        page.keyboard.type(question[:40], delay=180)
        page.wait_for_timeout(400)
    return sorted(page.evaluate("took"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memory", type=Path, help="use this one, instead of making one")
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=9)
    args = parser.parse_args()
    if not CHROMIUM:
        print(NO_BROWSER)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        large, empty = args.memory or Path(folder, "large"), Path(folder, "empty")
        if not args.memory:
            Corpus(args.chunks).write(large)
            Memory(large).index.sync()
        return measure(str(large), str(empty), Corpus(args.chunks).questions(8), args.rounds)


def measure(large: str, empty: str, questions: list[str], rounds: int) -> int:
    """Print the figures; the exit code says whether the limits are kept."""
    from playwright.sync_api import sync_playwright

    Memory(empty).init()
    with sync_playwright() as playwright, running(large) as full, running(empty) as bare:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        urls = {"large": full.url, "empty": bare.url}
        pages = {"large": visit(browser, large, full.url), "empty": visit(browser, empty, bare.url)}
        size = first_screen(pages["large"], full.url)
        painted = paints(pages, urls, rounds)
        times = keystrokes(pages["large"], full.url, questions)
        browser.close()
    ratio, late = painted["large"] / painted["empty"], times[int(0.95 * len(times))]
    print(f"first paint: {painted['large']:.0f} ms, empty {painted['empty']:.0f} ms: {ratio:.2f} x")
    print(f"first screen: {size / 1000:.0f} kB gzipped")
    median = statistics.median(times)
    print(f"a keystroke's answer: median {median:.0f} ms, 95 % {late:.0f} ms, of {len(times)}")
    kept = ratio <= MOST_PAINT and size <= MOST_BYTES and late <= MOST_MILLISECONDS
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
