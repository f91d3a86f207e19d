"""Summaries by a language model behind any OpenAI-compatible endpoint: Ollama, vLLM, a cloud."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence

from memolith.config.sections import LlmConfig
from memolith.errors import SummariserError
from memolith.http_client import Answer, NoAnswerError, Server, TooLargeError, TooLateError
from memolith.interfaces import Statement, Summary
from memolith.llm.prompts import load_prompt
from memolith.text.cleaning import clean
from memolith.text.open_secrets import holds_secret, surely_holds_secret
from memolith.text.summary_text import read_lines, summary_lines

_MAX_BYTES = 2_000_000  # of an answer
_MAX_NOTES_CHARS = 60_000  # of one question
_MAX_PARTS = 12  # questions for one summary; the rules write of what is beyond
_MIN_CHARS = 300  # that may be answered to a part
_RETRIED = (408, 409, 425, 429, 500, 502, 503, 504)
_PAUSE_SECONDS = 0.5
_MAX_FAILURES = 2  # in a row; then the rules write the rest of the job at once
_MAX_MESSAGE_CHARS = 160
_WHAT_TO_DO = {
    401: "It does not accept the key: see MEMOLITH_LLM_KEY.",
    403: "It does not accept the key: see MEMOLITH_LLM_KEY.",
    404: "There is no such address or model: see llm.url and llm.model.",
    413: "The question is too long for it.",
    429: "It is asked too often, or its quota is used up.",
}


class OpenAiCompatible:
    """Asks a chat completions endpoint; without an answer it raises SummariserError."""

    timeout_seconds = 60.0
    max_retries = 2
    max_questions = 200  # of one job, retries included

    def __init__(self, config: LlmConfig, key: str = "") -> None:
        """Nothing is sent before the first summary."""
        self._config = config
        self._key = key
        self._failures = 0
        self._questions = 0

    @property
    def name(self) -> str:
        """The model."""
        return self._config.model

    def summarise(self, statements: Sequence[Statement], max_chars: int) -> Summary:
        """Ask once, or part by part if there is too much; a statement that holds a key or password is never sent."""
        harmless = [one for one in statements if not holds_secret(one.text)]
        parts = list(_parts(harmless))[:_MAX_PARTS]
        share = max(_MIN_CHARS, max_chars // max(1, len(parts)))
        lines: list[Statement] = []
        tokens = 0
        for part in parts:
            try:
                answer = self._ask(
                    load_prompt("summarise", max_chars=str(share), notes=summary_lines(part))
                )
                tokens += _tokens(answer)
                lines += _read(answer)
            except SummariserError as error:  # what was answered before it is paid all the same
                self._failures += 1
                raise SummariserError(error.message, hint=error.hint, tokens=tokens) from error
            self._failures = 0
        return Summary(statements=tuple(lines), tokens=tokens)

    def _ask(self, prompt: str) -> object:
        if self._failures >= _MAX_FAILURES:
            raise SummariserError("It was not asked: it had failed before, or was too slow.")
        problem = ""
        for attempt in range(self.max_retries + 1):
            if attempt:
                threading.Event().wait(_PAUSE_SECONDS * 2 ** (attempt - 1))
            try:
                answer = self._send(prompt)
            except TooLateError as error:
                self._failures = (
                    _MAX_FAILURES  # a server that is slow once is slow for the whole job
                )
                raise SummariserError(f"No answer from {self._config.url}: {error}.") from error
            except NoAnswerError as error:
                problem = f"No answer from {self._config.url}: {error}."
                continue
            except TooLargeError as error:
                raise SummariserError(f"{self._config.url}: {error}.") from error
            if answer.status == 200:
                return _parse(answer.body)
            problem = refusal(self._config.url, answer.status, answer.body)
            if answer.status not in _RETRIED:
                break
        raise SummariserError(problem)

    def _send(self, prompt: str) -> Answer:
        if self._questions >= self.max_questions:
            self._failures = _MAX_FAILURES
            raise SummariserError(
                f"It was asked {self.max_questions:,} times, as often as one job may."
            )
        self._questions += 1
        server = Server(
            url=f"{self._config.url.rstrip('/')}/chat/completions",
            key=self._key,
            seconds=self.timeout_seconds,
            max_bytes=_MAX_BYTES,
        )
        messages = [{"role": "user", "content": prompt}]
        return server.post(
            {"model": self._config.model, "messages": messages, "temperature": 0, "stream": False}
        )


def _parts(statements: Sequence[Statement]) -> Iterator[list[Statement]]:
    """The statements in order, as many together as fit one question."""
    part: list[Statement] = []
    room = _MAX_NOTES_CHARS
    for statement in statements:
        chars = len(summary_lines([statement])) + 1
        if chars > room and part:
            yield part
            part, room = [], _MAX_NOTES_CHARS
        part.append(statement)
        room -= chars
    if part:
        yield part


def _parse(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise SummariserError("The answer is not JSON.") from error


def _read(answer: object) -> tuple[Statement, ...]:
    match answer:
        case {"choices": [{"message": {"content": str(content)}}, *_]}:
            return tuple(read_lines(content))
    raise SummariserError("The answer has no message.")


def _tokens(answer: object) -> int:
    """What an answer cost; some servers name the parts alone."""
    usage = answer.get("usage") if isinstance(answer, dict) else None
    counts = [
        usage.get(name) if isinstance(usage, dict) else 0
        for name in ("total_tokens", "prompt_tokens", "completion_tokens")
    ]
    total, asked, answered = (max(0, n) if type(n) is int else 0 for n in counts)
    return total or asked + answered


def refusal(url: str, status: int, body: bytes) -> str:
    """Why there is no summary, of an answer with another status than 200.

    >>> refusal("http://localhost/v1", 404, b'{"error": {"message": "model not found"}}')
    'http://localhost/v1 answered with status 404: “model not found”. There is no such address or model: see llm.url and llm.model.'
    """
    said = _message(body)
    message = f"{url} answered with status {status}" + (f": “{said}”." if said else ".")
    if 300 <= status < 400:
        return f"{message} It redirects, and redirects are not followed: see llm.url."
    return f"{message} {_WHAT_TO_DO.get(status, '')}".rstrip()


def _message(body: bytes) -> str:
    """What the endpoint itself says, if it says it as such endpoints do; never a key."""
    try:
        content = json.loads(body[:10_000])
    except (ValueError, RecursionError):
        return ""
    match content:
        case {"error": {"message": str(said)}} | {"error": str(said)} | {"message": str(said)}:
            line = " ".join(clean(said).split())
            return "" if surely_holds_secret(line) else line[:_MAX_MESSAGE_CHARS].rstrip(" .")
    return ""
