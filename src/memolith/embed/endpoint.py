"""Vectors from an endpoint over HTTP: batches, time-outs, retries; one bad text costs only itself.

The server is Ollama, or any that speaks OpenAI's form of embeddings: OpenAI itself, vLLM, llama.cpp …
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence

import numpy as np

from memolith import clock
from memolith.config.sections import EmbedConfig
from memolith.errors import EmbeddingError
from memolith.http_client import Answer, NoAnswerError, Server, TooLargeError
from memolith.interfaces import Vectors
from memolith.text.open_secrets import holds_secret

_MOST_BYTES = 256 * 1024 * 1024  # of one answer
BATCH_SIZE = 64  # texts in one request
_MOST_DIMENSIONS = 16_384
_ANY_TEXT = "dimensions"  # sent only to see what comes back
_LONGEST_TEXT = 8_000  # characters; what models take is less than that
_AGAIN = (408, 409, 425, 429, 500, 502, 503, 504, 529)
# The text may be at fault, so a batch is asked again in halves. Ollama says 500 of texts that its model
# gives no number for.
_REFUSED = (400, 413, 422)
_PERHAPS_REFUSED = (500,)
_KEY = (401, 403)
_PAUSE_SECONDS = 0.25
_LONGEST_PAUSE = 10.0
# After a failure nobody waits for the endpoint again before this time has passed.
_REST_SECONDS = 10.0


class _RefusedError(Exception):
    """The endpoint does not take this batch; perhaps one of its texts is at fault."""


class EndpointEmbedder:
    """An embedder that asks a server."""

    is_remote = True

    def __init__(self, config: EmbedConfig, key: str = "") -> None:
        """Nothing is sent before the first text."""
        self._config = config
        self._key = key
        self._dimensions = 0
        self._failed = float("-inf")
        self._problem = ""

    @property
    def name(self) -> str:
        """Where the model is and what it is called."""
        return f"{self._config.kind}:{self._config.url.rstrip('/')}:{self._config.model}"

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has, by the first answer."""
        if not self._dimensions:
            self.embed([_ANY_TEXT])
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text, of length 1; zeros for a blank text and for one that was refused.

        A text that holds a key, password or PIN is never sent: its row is zeros too.
        """
        asked = [
            (at, text[:_LONGEST_TEXT])
            for at, text in enumerate(texts)
            if text.strip() and not holds_secret(text)
        ]
        found: dict[int, Vectors] = {}
        for first in range(0, len(asked), BATCH_SIZE):
            batch = asked[first : first + BATCH_SIZE]
            vectors = self._embed_batch([_clean(text) for _, text in batch])
            found |= {
                at: row for (at, _), row in zip(batch, vectors, strict=True) if row is not None
            }
        result = np.zeros((len(texts), self._dimensions), np.float32)
        for at, row in found.items():
            result[at] = row
        return result

    def _embed_batch(self, texts: Sequence[str]) -> list[Vectors | None]:
        try:
            return self._checked(_vectors(self._ask(texts)), texts)
        except _RefusedError as error:
            if list(texts) == [_ANY_TEXT]:
                raise self._failure(str(error)) from error
            self._embed_batch([_ANY_TEXT])  # fails if the fault is not the texts'
        if len(texts) == 1:
            return [None]
        half = len(texts) // 2
        return self._embed_batch(texts[:half]) + self._embed_batch(texts[half:])

    def _checked(self, vectors: list[object], texts: Sequence[str]) -> list[Vectors | None]:
        if len(vectors) != len(texts):
            problem = f"it answered {len(texts)} texts with {len(vectors)} vectors"
            raise _RefusedError(problem) if len(texts) == 1 else self._failure(problem)
        rows = [_row(vector) for vector in vectors]
        sizes = {len(row) for row in rows if row is not None}
        if not self._dimensions and len(sizes) == 1:
            self._dimensions = sizes.pop()
        fitting = [
            row if row is not None and len(row) == self._dimensions else None for row in rows
        ]
        if not any(row is not None for row in fitting):
            raise _RefusedError("its answer holds no vector of numbers, or of another size")
        return fitting

    def _ask(self, texts: Sequence[str]) -> object:
        if clock.monotonic() - self._failed < _REST_SECONDS:
            raise EmbeddingError(self._problem, hint="It is asked again in a moment.")
        deadline = clock.monotonic() + self._config.timeout_seconds * (self._config.retries + 1)
        pause, problem = _PAUSE_SECONDS, ""
        answer: Answer | None = None
        for attempt in range(self._config.retries + 1):
            if attempt:
                threading.Event().wait(min(pause, max(0.0, deadline - clock.monotonic())))
                pause = min(_LONGEST_PAUSE, 2 * pause)
            try:
                answer = self._send(texts)
            except NoAnswerError as error:
                answer, problem = None, str(error)
                continue
            except TooLargeError as error:
                answer, problem = None, str(error)
                break
            if answer.status == 200:
                return self._parsed(answer.body)
            problem = f"it answered with status {answer.status}"
            problem += " (is MEMOLITH_EMBED_KEY right?)" if answer.status in _KEY else ""
            if answer.status in _REFUSED:
                raise _RefusedError(problem)
            if answer.status not in _AGAIN:
                break
            pause = max(pause, min(answer.wait_seconds, _LONGEST_PAUSE))
        if answer is not None and answer.status in _PERHAPS_REFUSED:
            raise _RefusedError(problem)
        raise self._failure(problem)

    def _send(self, texts: Sequence[str]) -> Answer:
        content: dict[str, object] = {"model": self._config.model, "input": list(texts)}
        if self._config.kind == "ollama":
            path = "/api/embed"
            content["truncate"] = True
        else:
            path = "/embeddings"
            content["encoding_format"] = "float"
        server = Server(
            url=self._config.url.rstrip("/") + path,
            key=self._key,
            seconds=self._config.timeout_seconds,
            max_bytes=_MOST_BYTES,
        )
        return server.post(content)

    def _parsed(self, body: bytes) -> object:
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            raise self._failure("its answer is not JSON") from error

    def _failure(self, problem: str) -> EmbeddingError:
        self._failed = clock.monotonic()
        self._problem = f"The model {self._config.model} at {self._config.url} fails: {problem}."
        return EmbeddingError(
            self._problem, hint="Check the settings of [embed]; embed.kind = default needs none."
        )


def _vectors(answer: object) -> list[object]:
    """The vectors in an answer, in the order of the texts; [] for any other answer."""
    match answer:
        case {"embeddings": list(vectors)}:
            return vectors
        case {"data": list(items)} if all(isinstance(item, dict) for item in items):
            found = {
                str(item.get("index", at)): item.get("embedding") for at, item in enumerate(items)
            }
            return [found[str(at)] for at in range(len(items)) if str(at) in found]
    return []


def _row(vector: object) -> Vectors | None:
    """A vector of length 1; None if it is not a vector of numbers."""
    if not isinstance(vector, list) or not 0 < len(vector) <= _MOST_DIMENSIONS:
        return None
    if not all(isinstance(value, int | float) for value in vector):
        return None
    try:
        row = np.array(vector, np.float64)
    except OverflowError:
        return None
    largest = float(np.abs(row).max())
    if not np.isfinite(largest) or not largest:
        return None
    row /= largest  # so that no square is too large for a number
    return (row / np.linalg.norm(row)).astype(np.float32)


def _clean(text: str) -> str:
    """Half a character cannot be sent."""
    return text.encode(errors="replace").decode()
