"""The page, called in this process, and in a real Chromium against a real server."""

from __future__ import annotations

import re
import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient

from memolith import Memory
from memolith.clock import Clock
from memolith.rest.app import build_app
from memolith.web.app import make_page
from memolith.web.signing_in import write_code
from tests.rest.conftest import PORT, URL, running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, Request

NO_BROWSER = (
    "There is no Chromium here, so nothing of the page was tried in a browser."
    " Install Debian's package `chromium`, or Chrome."
)
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
FLAGS = (
    "--no-sandbox --disable-background-networking --disable-component-update --disable-sync"
    " --no-first-run --disable-quic"
).split()


@contextmanager
def visiting(memory: Memory) -> Iterator[TestClient]:
    """A browser without JavaScript that nobody has signed in."""
    with TestClient(
        build_app(memory, port=PORT, page=make_page), URL, follow_redirects=False
    ) as found:
        yield found


def sign_in(client: TestClient, memory: Memory) -> str:
    """Sign in; returns the page token."""
    code = write_code(memory.root, URL, memory.jobs.clock).partition("#")[2]
    answer = client.post("/ui/sign-in", content=code, headers={"Origin": URL})
    assert answer.status_code == 204, answer.text
    found = re.search(r'name="page-token" content="([\w-]+)"', client.get("/ui/search").text)
    assert found
    return found[1]


@pytest.fixture
def memory(root: str, clock: Clock) -> Iterator[Memory]:
    with Memory(root, clock=clock) as memory:
        yield memory


@pytest.fixture
def stranger(memory: Memory) -> Iterator[TestClient]:
    with visiting(memory) as client:
        yield client


@pytest.fixture
def client(memory: Memory) -> Iterator[TestClient]:
    """Signed in; it sends what the page's script would send with each change."""
    memory.init()
    with visiting(memory) as client:
        token = sign_in(client, memory)
        client.headers.update({"Origin": URL, "X-Page-Token": token})
        yield client


@pytest.fixture(scope="module")  # its event loop must not be there for tests of other modules
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    if not CHROMIUM:
        pytest.skip(NO_BROWSER)
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)


@dataclass(slots=True)
class Site:
    """A page of a running server in a browser, and whatever should not happen there."""

    url: str
    root: str
    page: Page
    wrong: list[str] = field(default_factory=list)

    def go(self, path: str) -> Page:
        self.page.goto(self.url + path)
        return self.page


@contextmanager
def browsing(browser: Browser, root: str, **options: object) -> Iterator[Site]:
    """A real server, a real browser, signed in. Any error in the console fails the test."""
    with running(root) as server, browser.new_context(**options) as context:  # type: ignore[arg-type]
        site = Site(server.url, root, context.new_page())
        _note_wrongs(site)
        site.page.goto(write_code(root, server.url, Clock()))
        site.page.wait_for_url("**/ui/")
        yield site
        assert site.wrong == []


def _note_wrongs(site: Site) -> None:
    def dialog(shown: Dialog) -> None:
        if shown.type != "beforeunload":
            site.wrong.append(f"dialog: {shown.message}")
        shown.accept()

    def console(message: ConsoleMessage) -> None:
        # Chromium itself notes every answer of 400 and more.
        if message.type == "error" and "the server responded with a status" not in message.text:
            site.wrong.append(f"console: {message.text}")

    def request(asked: Request) -> None:
        if not asked.url.startswith((site.url, "data:")):
            site.wrong.append(f"request: {asked.url}")

    site.page.on("dialog", dialog)
    site.page.on("console", console)
    site.page.on("pageerror", lambda error: site.wrong.append(f"error: {error}"))
    site.page.on("request", request)


@pytest.fixture
def site(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[], Site]]:
    """Opens the page of the memory in `root`, once the test has filled it."""
    from contextlib import ExitStack

    with ExitStack() as stack:
        root = str(tmp_path_factory.mktemp("page") / "memory")

        def start(fill: Callable[[Memory], object] = lambda _: None) -> Site:
            with Memory(root, channel="cli") as memory:
                memory.init()
                fill(memory)
            return stack.enter_context(browsing(browser, root))

        yield start  # type: ignore[misc]
