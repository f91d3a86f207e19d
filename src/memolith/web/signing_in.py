"""Who may see the page: a code from a private file is exchanged for a cookie that ends with the server.

The code is made by `memolith open`, which can read the folder of the memory. It works once, for a minute,
and reaches the browser behind the `#` of an address, which is sent to no server and is in no log.
"""

from __future__ import annotations

import hmac
import html
import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from memolith.clock import Clock
from memolith.errors import MemolithError
from memolith.files import atomic_write
from memolith.files.folder import Folder, storage_error
from memolith.files.locks import STATE_FOLDER, make_state_folder
from memolith.types import Plain

OPEN = f"{STATE_FOLDER}/open.html"
SECONDS = 60
TOKEN_HEADER = "x-page-token"  # noqa: S105 - the name of a header
_MAX_SESSIONS = 100
_CODE = re.compile(r"#([\w-]{43}) (\d+)")
_PAGE = """<!doctype html>
<meta charset="utf-8"><meta http-equiv="refresh" content="0;url={url}">
<title>Memolith</title><p><a href="{url}">Open Memolith</a>
<!-- #{code} {until} -->
"""


@dataclass(frozen=True, slots=True)
class PageLink(Plain):
    """An address that signs in, once and within a minute."""

    url: str


def write_code(root: str, server: str, clock: Clock) -> str:
    """Leave a new code where the server finds it, in a file that leads a browser there; returns the address."""
    code = secrets.token_urlsafe(32)
    url = f"{server}/sign-in#{code}"
    until = int(clock.now().timestamp()) + SECONDS
    page = _PAGE.format(url=html.escape(url), code=code, until=until)
    with Folder(root) as folder:
        try:
            make_state_folder(folder)
            atomic_write.write_private_file(folder, OPEN, page.encode())
        except OSError as error:
            raise storage_error(error, OPEN) from error
    return url


def take_code(root: str, given: str, clock: Clock) -> bool:
    """Whether this is the code, which is gone afterwards if it is."""
    with Folder(root) as folder:
        try:
            found = _CODE.search((folder.read(OPEN, limit=2000) or b"").decode("ascii", "replace"))
            is_code = found is not None and hmac.compare_digest(found[1].encode(), given.encode())
            if not found or not is_code:
                return False
            atomic_write.remove(folder, OPEN)  # before anything else: a code works once
        except (OSError, MemolithError):
            return False
    return clock.now().timestamp() <= int(found[2])


@dataclass(slots=True)
class Sessions:
    """Browsers that are signed in: their cookies, and the token that each change must show."""

    root: str
    port: int
    _tokens: dict[str, str] = field(default_factory=dict)

    @property
    def cookie(self) -> str:
        """Its name; browsers keep one jar for all ports."""
        return f"memolith-{self.port}"

    def open(self) -> str:
        """A new session; the value of its cookie."""
        while len(self._tokens) >= _MAX_SESSIONS:
            del self._tokens[next(iter(self._tokens))]
        session = secrets.token_urlsafe(32)
        self._tokens[session] = secrets.token_urlsafe(32)
        return session

    def token(self, session: str) -> str:
        """The page token of a session; "" if there is no such session."""
        return self._tokens.get(session, "")


def may_change(token: str, headers: Mapping[str, str]) -> bool:
    """Whether a change comes from our own page: exact origin, port included, and the page token."""
    given = headers.get(TOKEN_HEADER, "")
    same = headers.get("origin") == f"http://{headers.get('host', '')}"
    return same and bool(token) and hmac.compare_digest(token.encode(), given.encode())


def file_url(root: str) -> str:
    """The address of the file that leads to the page."""
    return "file://" + os.path.join(os.path.realpath(root), OPEN)
