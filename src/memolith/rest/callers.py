"""What a caller has: a token, and an allowance of requests."""

from __future__ import annotations

import hmac
import logging
import os

from memolith import clock
from memolith.errors import MemolithError
from memolith.files.folder import Folder
from memolith.jobs.server_files import TOKEN, read_token

log = logging.getLogger("memolith.rest")


class TokenFile:
    """The token as its file has it now; a rotated one counts from the next request on."""

    def __init__(self, root: str) -> None:
        """Nothing is read before the first request."""
        self._root = root
        self._seen: tuple[int, int, int] | None = None
        self._token = ""

    def accepts(self, given: str) -> bool:
        """Whether this is the token."""
        token = self._current()
        return bool(token) and hmac.compare_digest(token.encode(), given.encode(errors="replace"))

    def _current(self) -> str:
        try:
            found = os.stat(os.path.join(self._root, TOKEN), follow_symlinks=False)
        except OSError:
            return ""
        # The change time too: taking others' rights away changes nothing else.
        seen = (found.st_ino, found.st_mtime_ns, found.st_ctime_ns)
        if seen != self._seen:
            try:
                with Folder(self._root) as folder:
                    self._token = read_token(folder)
            except MemolithError as error:
                log.warning("token refused: %s", error.message)
                self._token = ""
            self._seen = seen
        return self._token


class Allowance:
    """How many requests a token may still make: it fills up with time, to a second's worth."""

    def __init__(self) -> None:
        """Full."""
        self._left = float("inf")
        self._when = clock.monotonic()

    def take(self, per_second: float) -> bool:
        """Whether one more is within the limit."""
        now = clock.monotonic()
        most = max(1.0, per_second)
        self._left = min(most, self._left + (now - self._when) * per_second)
        self._when = now
        if self._left < 1:
            return False
        self._left -= 1
        return True
