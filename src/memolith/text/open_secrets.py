"""Keys, tokens and passwords that stand in the open. A helper for people, not a wall."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Each is bounded and has nothing to try twice, so that no text takes long.
_KINDS = {
    "an AWS access key": re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    "a GitHub token": re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{30,255})\b"),
    "a GitLab token": re.compile(r"\bglpat-[A-Za-z0-9_-]{20,60}"),
    "a Slack token": re.compile(r"\bxox[abprs]-[A-Za-z0-9-]{10,100}"),
    "an API key": re.compile(r"\b(?:sk|pk|rk)[-_](?:live|test|proj|ant|or)?[-_A-Za-z0-9]{20,200}"),
    "a Google API key": re.compile(r"\bAIza[A-Za-z0-9_-]{35}\b"),
    "a web token (JWT)": re.compile(r"\beyJ[A-Za-z0-9_-]{8,2000}\.eyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,1000}"),
    "a private key": re.compile(r"-----BEGIN (?:[A-Z]{2,12} ){0,2}PRIVATE KEY-----"),
    "a password in an address": re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{1,80}:[^\s:/@]{3,80}@[\w.-]{1,200}"),
    "a password": re.compile(
        r"\b(?:password|passwd|passphrase|contrase(?:ñ|n)a|clave|pin|secret|api[_ -]?key|access[_ -]?token|token)\b"
        r"(?P<of>\s+(?:of|for|del?|para)(?:\s+[\w'’-]{1,30}){1,6}?)?"
        r"(?:\s+(?:is|es)\s+|\s*[:=]\s*)[\"'`]?(?P<value>[^\s\"'`,;]{4,200})",
        re.IGNORECASE,
    ),
}  # fmt: skip
_HARMLESS = re.compile(
    r"(?i)(?:on|in|at|the|a|not|stored|kept|under|with|env:\S+|\$\{?\w+\}?|<.*>|\*+|x+|\.+|required|needed|"
    r"expired|changed|rotated|redacted|here|there|same|written|missing|wrong|invalid|too|now|de|en|la|el)"
)


def open_secrets(text: str) -> Iterator[str]:
    """What kinds of secrets stand in a text; the secret itself is not given back.

    >>> list(open_secrets("the password is hunter22")), list(open_secrets("the password is on the fridge"))
    (['a password'], [])
    """
    for kind, pattern in _KINDS.items():
        if any(_is_secret(match.groupdict()) for match in pattern.finditer(text[:100_000])):
            yield kind


def surely_holds_secret(text: str) -> bool:
    """Whether a text holds a key, or a password with a digit or sign in it: too much to be told again.

    >>> surely_holds_secret("the password is hunter22"), surely_holds_secret("la clave es escuchar")
    (True, False)
    """
    return any(
        _is_secret({**match.groupdict(), "of": "anything"})
        for pattern in _KINDS.values()
        for match in pattern.finditer(text[:100_000])
    )


def _is_secret(found: dict[str, str | None]) -> bool:
    """Whether what follows the word is a password; «the pin of the map is red» is only a sentence."""
    value = (found.get("value") or "").rstrip(".!?)")
    if not value:
        return "value" not in found
    return not _HARMLESS.fullmatch(value) and not (found.get("of") and value.isalpha())
