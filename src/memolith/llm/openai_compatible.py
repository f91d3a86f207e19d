"""Summaries by a language model behind any OpenAI-compatible endpoint: Ollama, vLLM, a cloud.

Its answer is read as lines of a summary and checked like that of any summariser (`checking.py`).
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence

from memolith.config.sections import LlmConfig
from memolith.errors import SummariserError
from memolith.http_client import Answer, NoAnswerError, Server, TooLargeError, TooLateError
from memolith.interfaces import Statement, Summary
from memolith.llm.prompt_files import load_prompt
from memolith.llm.refusals import refusal
from memolith.llm.rule_based import RuleBased
from memolith.text.open_secrets import holds_secret
from memolith.text.summary_text import read_lines, summary_lines

_MOST_BYTES = 2_000_000  # of an answer: more is no summary
_MOST_NOTES_CHARS = 60_000  # of one question
_MOST_QUESTIONS = (
    12  # of one summary; of what is longer, the rules leave out chatter and copies first
)
_LEAST_CHARS = 300  # that may be answered to a part
_AGAIN = (408, 409, 425, 429, 500, 502, 503, 504)
_PAUSE_SECONDS = 0.5
# So often in a row without an answer, and the rest of the job is written by rules at once.
_PATIENCE = 2


class OpenAiCompatible:
    """Asks a chat completions endpoint; without an answer it raises SummariserError."""

    timeout_seconds = 60.0
    max_retries = 2
    max_questions = 200  # of one job, retries included; then the rules write the rest

    def __init__(self, config: LlmConfig, key: str = "") -> None:
        """Nothing is sent before the first summary."""
        self._config = config
        self._key = key
        self._failures = 0
        self._questions = 0
        self._tokens = 0  # of the summary that is being asked for

    @property
    def name(self) -> str:
        """The model."""
        return self._config.model

    def summarise(self, statements: Sequence[Statement], max_chars: int) -> Summary:
        """Ask once, or part by part if there is too much for one question, and then for the whole.

        A statement that holds a key, password or PIN is never sent.
        """
        self._tokens = 0
        harmless = [one for one in statements if not holds_secret(one.text)]
        try:
            lines = self._lines(harmless, max_chars)
        except SummariserError as error:  # what was answered before it is paid all the same
            raise SummariserError(error.message, hint=error.hint, tokens=self._tokens) from error
        return Summary(statements=lines, tokens=self._tokens)

    def _lines(self, statements: Sequence[Statement], max_chars: int) -> tuple[Statement, ...]:
        parts = list(_parts(statements))
        if len(parts) > _MOST_QUESTIONS:
            parts = list(_parts(_shortened(parts)))
        if len(parts) == 1:
            return self._summarise_part(parts[0], max_chars)
        share = max(_LEAST_CHARS, 2 * max_chars // len(parts))
        lines = [line for part in parts for line in self._summarise_part(part, share)]
        if _chars(lines) > _MOST_NOTES_CHARS:
            raise SummariserError("Its answers to the parts are much longer than asked for.")
        return self._summarise_part(lines, max_chars)

    def _summarise_part(
        self, statements: Sequence[Statement], max_chars: int
    ) -> tuple[Statement, ...]:
        """Ask for a summary of so many as fit a question; retried while the endpoint is busy."""
        if not statements:
            raise SummariserError("There was nothing in its answers.")
        if self._failures >= _PATIENCE:
            raise SummariserError("It was not asked: it had failed before, or was too slow.")
        notes = summary_lines(statements)
        prompt = load_prompt("summarise", max_chars=str(max_chars), notes=notes)
        try:
            answer = self._ask(prompt)
            self._tokens += _tokens(answer)
            lines = _read(answer)
        except SummariserError:
            self._failures += 1
            raise
        self._failures = 0
        return lines

    def _ask(self, prompt: str) -> object:
        problem = ""
        for attempt in range(self.max_retries + 1):
            if attempt:
                threading.Event().wait(_PAUSE_SECONDS * 2 ** (attempt - 1))
            try:
                answer = self._send(prompt)
            except TooLateError as error:
                self._failures = _PATIENCE  # whoever is slow once is slow for the whole job
                raise SummariserError(f"No answer from {self._config.url}: {error}.") from error
            except NoAnswerError as error:
                problem = f"No answer from {self._config.url}: {error}."
                continue
            except TooLargeError as error:
                raise SummariserError(f"Of {self._config.url}, {error}.") from error
            if answer.status == 200:
                return _parse(answer.body)
            problem = refusal(self._config.url, answer.status, answer.body)
            if answer.status not in _AGAIN:
                break
        raise SummariserError(problem)

    def _send(self, prompt: str) -> Answer:
        if self._questions >= self.max_questions:
            self._failures = _PATIENCE
            raise SummariserError(
                f"It was asked {self.max_questions:,} times, as often as one job may."
            )
        self._questions += 1
        server = Server(
            url=f"{self._config.url.rstrip('/')}/chat/completions",
            key=self._key,
            seconds=self.timeout_seconds,
            max_bytes=_MOST_BYTES,
        )
        message = {"role": "user", "content": prompt}
        return server.post(
            {
                "model": self._config.model,
                "messages": [message],
                "temperature": 0,
                "stream": False,
            }
        )


def _parts(statements: Sequence[Statement]) -> Iterator[list[Statement]]:
    """The statements in order, as many together as fit one question."""
    part: list[Statement] = []
    room = _MOST_NOTES_CHARS
    for statement in statements:
        chars = _chars([statement])
        if chars > room and part:
            yield part
            part, room = [], _MOST_NOTES_CHARS
        part.append(statement)
        room -= chars
    yield part


def _shortened(parts: Sequence[Sequence[Statement]]) -> list[Statement]:
    """What the rules keep of each part, as much as may be asked for in all."""
    share = (_MOST_QUESTIONS - 1) * _MOST_NOTES_CHARS // (2 * len(parts))
    return [line for part in parts for line in RuleBased().summarise(part, share).statements]


def _chars(statements: Sequence[Statement]) -> int:
    return len(summary_lines(statements)) + 1


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
    match answer:
        case {"usage": {**usage}}:
            total = _count(usage, "total_tokens")
            return total or _count(usage, "prompt_tokens") + _count(usage, "completion_tokens")
    return 0


def _count(usage: Mapping[object, object], name: str) -> int:
    value = usage.get(name)
    return max(0, value) if isinstance(value, int) and not isinstance(value, bool) else 0
