"""Summaries by a language model behind any OpenAI-compatible endpoint: Ollama, vLLM, a cloud."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from contextlib import suppress
from itertools import accumulate

from memolith.config.sections import LlmConfig
from memolith.errors import SummariserError
from memolith.http_client import NoAnswerError, Server, TooLargeError, TooLateError
from memolith.interfaces import Statement, Summary
from memolith.llm.prompts import load_prompt
from memolith.text.cleaning import clean
from memolith.text.lines import read_lines, summary_lines
from memolith.text.open_secrets import holds_secret, surely_holds_secret

_MAX_BYTES = 2_000_000  # of an answer
_MAX_NOTES_CHARS = 100_000  # of one question; the rules write of older notes
_RETRIED = (408, 409, 425, 429, 500, 502, 503, 504)
_PAUSE_SECONDS = 0.5
_MAX_MESSAGE_CHARS = 160
_WHAT_TO_DO = {
    **dict.fromkeys((401, 403), "It does not accept the key: see MEMOLITH_LLM_KEY."),
    404: "There is no such address or model: see llm.url and llm.model.",
    **dict.fromkeys(range(300, 400), "It redirects, and redirects are not followed: see llm.url."),
    429: "It is asked too often, or its quota is used up.",
}


class OpenAiCompatible:
    """Asks a chat completions endpoint; without an answer it raises SummariserError."""

    timeout_seconds = 60.0
    max_retries = 2

    def __init__(self, config: LlmConfig, key: str = "") -> None:
        """Nothing is sent before the first summary."""
        self.name = config.model
        self._config = config
        self._key = key

    def summarise(self, statements: Sequence[Statement], max_chars: int) -> Summary:
        """Ask once; a statement that holds a key or password is never sent."""
        notes = _newest([one for one in statements if not holds_secret(one.text)])
        prompt = load_prompt("summarise", max_chars=str(max_chars), notes=summary_lines(notes))
        answer = self._ask(prompt)
        tokens = _tokens(answer)  # of a useless answer too: it is paid all the same
        match answer:
            case {"choices": [{"message": {"content": str(content)}}, *_]}:
                return Summary(statements=tuple(read_lines(content)), tokens=tokens)
        raise SummariserError("The answer has no message.", tokens=tokens)

    def _ask(self, prompt: str) -> object:
        server = Server(
            url=f"{self._config.url.rstrip('/')}/chat/completions",
            key=self._key,
            seconds=self.timeout_seconds,
            max_bytes=_MAX_BYTES,
        )
        messages = [{"role": "user", "content": prompt}]
        asked = {"model": self._config.model, "messages": messages, "temperature": 0}
        problem = ""
        for attempt in range(self.max_retries + 1):
            if attempt:
                threading.Event().wait(_PAUSE_SECONDS * 2 ** (attempt - 1))
            try:
                answer = server.post({**asked, "stream": False})
            except TooLargeError as error:
                raise SummariserError(f"{self._config.url}: {error}.") from error
            except NoAnswerError as error:
                problem = f"No answer from {self._config.url}: {error}."
                if isinstance(error, TooLateError):
                    break
                continue
            if answer.status == 200:
                with suppress(ValueError, RecursionError):
                    return json.loads(answer.body)
                raise SummariserError("The answer is not JSON.")
            problem = refusal(self._config.url, answer.status, answer.body)
            if answer.status not in _RETRIED:
                break
        raise SummariserError(problem)


def _newest(statements: Sequence[Statement]) -> Sequence[Statement]:
    """As many of the last statements as fit one question; the rules write of the others."""
    sizes = accumulate(len(summary_lines([one])) + 1 for one in reversed(statements))
    fitting = sum(size <= _MAX_NOTES_CHARS for size in sizes)
    return statements[len(statements) - fitting :]


def _tokens(answer: object) -> int:
    """What an answer cost; some servers name the parts alone."""
    match answer:
        case {"usage": {"total_tokens": int(total)}}:
            return max(0, total)
        case {"usage": {"prompt_tokens": int(asked), "completion_tokens": int(answered)}}:
            return max(0, asked) + max(0, answered)
    return 0


def refusal(url: str, status: int, body: bytes) -> str:
    """Why there is no summary, of an answer with another status than 200; what the endpoint says is never a key.

    >>> refusal("http://localhost/v1", 404, b'{"error": {"message": "model not found"}}')
    'http://localhost/v1 answered with status 404: “model not found”. There is no such address or model: see llm.url and llm.model.'
    """
    content, said = None, ""
    with suppress(ValueError, RecursionError):
        content = json.loads(body[:10_000])
    match content:
        case {"error": {"message": str(text)}} | {"error": str(text)} | {"message": str(text)}:
            line = " ".join(clean(text).split())
            said = "" if surely_holds_secret(line) else line[:_MAX_MESSAGE_CHARS].rstrip(" .")
    message = f"{url} answered with status {status}" + (f": “{said}”." if said else ".")
    return f"{message} {_WHAT_TO_DO.get(status, '')}".rstrip()
