"""A POST request with a total deadline and a size limit."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import httpx2

from memolith import clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A whole answer, whatever its status."""

    status: int
    body: bytes
    wait_seconds: float = 0.0  # the server's Retry-After


class NoAnswerError(Exception):
    """No complete answer came; a retry may help."""


class TooLateError(NoAnswerError):
    """No complete answer came in time; a retry would take as long."""


class TooLargeError(Exception):
    """The answer is larger than allowed; a retry will not help."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Where to ask, with which key, and how long and how large an answer may be."""

    url: str
    key: str
    seconds: float
    max_bytes: int

    def post(self, content: Mapping[str, object]) -> Answer:
        """Send JSON and read the answer; raises NoAnswerError (TooLateError if time is over) or TooLargeError."""
        deadline = clock.monotonic() + self.seconds
        try:
            return self._post(content, deadline)
        except httpx2.HTTPError as error:
            if clock.monotonic() >= deadline or isinstance(error, httpx2.TimeoutException):
                raise TooLateError(self._late) from error
            raise NoAnswerError(_reason(error)) from error
        except (RuntimeError, ValueError) as error:  # a client closed meanwhile may raise them
            if clock.monotonic() < deadline:
                raise
            raise TooLateError(self._late) from error

    def _post(self, content: Mapping[str, object], deadline: float) -> Answer:
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        pieces, size = [], 0
        # No redirects: text and key go to the address that was configured, and nowhere else.
        with (
            httpx2.Client(timeout=self.seconds, follow_redirects=False, trust_env=False) as client,
            _closing(client, self.seconds),
            client.stream("POST", self.url, json=content, headers=headers) as response,
        ):
            for piece in response.iter_bytes():
                pieces.append(piece)
                size += len(piece)
                if size > self.max_bytes:
                    raise TooLargeError(f"the answer is larger than {self.max_bytes:,} bytes")
                if clock.monotonic() > deadline:
                    raise TooLateError(self._late)
            wait = response.headers.get("retry-after", "")
            return Answer(
                status=response.status_code,
                body=b"".join(pieces),
                wait_seconds=float(wait) if wait.isdecimal() else 0.0,
            )

    @property
    def _late(self) -> str:
        return f"no complete answer within {self.seconds:g} s"


def _reason(error: httpx2.HTTPError) -> str:
    """Why there is no answer, in plain words; whatever the library says comes last."""
    if isinstance(error, httpx2.ConnectError):
        reason = "it cannot be reached"
    elif isinstance(error, httpx2.RemoteProtocolError | httpx2.ReadError | httpx2.WriteError):
        reason = "it closed the connection before its answer was complete"
    else:
        reason = "its answer cannot be read"
    more = " ".join(f"{error}".split()).rstrip(". ")[:200]
    return f"{reason} ({more})" if more else reason


@contextmanager
def _closing(client: httpx2.Client, seconds: float) -> Iterator[None]:
    """Close the client at the deadline: headers that arrive byte by byte would block for ever."""
    timer = threading.Timer(seconds, client.close)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
