"""What an endpoint says when it does not answer the question, in words that help to mend it."""

from __future__ import annotations

import json

from memolith.text.cleaning import clean
from memolith.text.open_secrets import surely_holds_secret

_MOST_CHARS = 160
_WHAT_TO_DO = {
    401: "It does not accept the key: see MEMOLITH_LLM_KEY.",
    403: "It does not accept the key: see MEMOLITH_LLM_KEY.",
    404: "There is no such address or model: see llm.url and llm.model.",
    413: "The question is too long for it.",
    429: "It is asked too often, or its quota is used up.",
}


def refusal(url: str, status: int, body: bytes) -> str:
    """Why there is no summary, of an answer with another status than 200.

    >>> refusal("http://localhost/v1", 404, b'{"error": {"message": "model not found"}}')
    'http://localhost/v1 answered with status 404: “model not found”. There is no such address or model: see llm.url and llm.model.'
    """
    said = _message(body)
    told = f"{url} answered with status {status}" + (f": “{said}”." if said else ".")
    if 300 <= status < 400:
        return f"{told} It sends us elsewhere, and nothing is sent there: see llm.url."
    return f"{told} {_WHAT_TO_DO.get(status, '')}".rstrip()


def _message(body: bytes) -> str:
    """What the endpoint itself says, if it says it as such endpoints do; never a key."""
    try:
        content = json.loads(body[:10_000])
    except (ValueError, RecursionError):
        return ""
    match content:
        case {"error": {"message": str(said)}} | {"error": str(said)} | {"message": str(said)}:
            line = " ".join(clean(said).split())
            return "" if surely_holds_secret(line) else line[:_MOST_CHARS].rstrip(" .")
    return ""
