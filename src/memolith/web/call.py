"""One request to the page, and the ways to answer it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from starlette.responses import HTMLResponse, Response

from memolith.clock import Clock
from memolith.memory import Memory
from memolith.rest.events import Metrics
from memolith.web.rendering import moment, templates

# Every area: its path, its name and the letter that follows `g` on the keyboard.
AREAS = (
    ("/", "Home", "h"),
    ("/search", "Search", "s"),
    ("/files", "Files", "f"),
    ("/timeline", "Timeline", "t"),
    ("/chats", "Chats", "c"),
    ("/experiences", "Experiences", "e"),
    ("/proposals", "Proposals", "p"),
    ("/receipts", "Receipts", "r"),
    ("/plots", "Plots", "l"),
    ("/forget", "Forget", "x"),
    ("/settings", "Settings", ","),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request of somebody who is signed in; `query` and `form` have the last value of each name."""

    memory: Memory
    path: str
    query: Mapping[str, str]
    form: Mapping[str, str]
    ids: tuple[str, ...]  # what was ticked
    token: str
    part: bool  # only a part of the page is asked for
    metrics: Metrics

    @property
    def clock(self) -> Clock:
        """The user's clock."""
        return self.memory.jobs.clock

    def number(self, name: str, default: int = 0) -> int:
        """A number of the address; the default for anything else."""
        text = self.query.get(name, "")
        return int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else default

    def html(self, template: str, *, status: int = 200, **values: object) -> Response:
        """A page or a part of one."""
        shown: Mapping[str, object] = {
            "areas": AREAS,
            "here": self.path,
            "token": self.token,
            "profile": self.memory.profile.name,
            "moment": partial(moment, self.clock),
            "today": self.clock.today(),
            "notice": "",
            **values,
        }
        text = templates().get_template(template).render(shown)
        return HTMLResponse(text.encode(errors="replace"), status)  # file names may not be UTF-8

    def json(self, content: Mapping[str, object], *, status: int = 200) -> Response:
        """An answer to a script of the page."""
        return Response(json.dumps(content), status, media_type="application/json")


View = Callable[[Call], Response]
