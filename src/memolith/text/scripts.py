"""Words of scripts that put no spaces between them: every pair of neighbouring characters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

_HAN = "\u2e80-\u2fd5\u3005\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_KANA = "\u3040-\u30ff\u31f0-\u31ff\U0001aff0-\U0001b16f"
_HANGUL = "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"
_SOUTH_EAST_ASIAN = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aaf\ua9e0-\ua9ff\uaa60-\uaadf"
)

_ALL = f"{_HAN}{_KANA}{_HANGUL}{_SOUTH_EAST_ASIAN}"

# What people send as a picture. Arrows and boxes are layout, and stay out.
EMOJI = (
    "[\U0001f1e6-\U0001f1ff]{2}"  # a flag is a pair of letters
    "|[\u231a\u231b\u23e9-\u23fa\u2600-\u27bf\u2b1b\u2b1c\u2b50\u2b55\U0001f000-\U0001faff]"
)
SKIN_TONE = "[\U0001f3fb-\U0001f3ff]"


# These patterns are large, so they are made when the first text that is not ASCII comes by.
@cache
def _picture() -> re.Pattern[str]:
    return re.compile(EMOJI)


@cache
def _without_spaces() -> re.Pattern[str]:
    return re.compile(f"[{_ALL}]")


@cache
def _runs() -> re.Pattern[str]:
    # Chinese characters and kana are cut apart: in Japanese one is the word, the other its ending.
    return re.compile(
        f"(?P<pairs>[{_HAN}]+|[{_KANA}]+|[{_SOUTH_EAST_ASIAN}]+)|(?P<korean>[{_HANGUL}]+)"
        f"|[^{_ALL}]+"
    )


def pictures(token: str) -> tuple[str, ...]:
    """An emoji without skin tone, and the emoji it is made of; nothing if the token is a word."""
    if not _picture().match(token):
        return ()
    toneless = re.sub(f"(?<=.){SKIN_TONE}", "", token)
    parts = tuple(part for part in toneless.split("\u200d") if part)
    return parts if len(parts) < 2 else (toneless, *parts)


def has_words_without_spaces(text: str) -> bool:
    """Whether any part of the text is in such a script."""
    return _without_spaces().search(text) is not None


def runs(text: str) -> Iterator[tuple[list[str], str]]:
    """The text cut where the script changes: terms, or a rest that has to be read as words.

    >>> list(runs("東京都tower"))
    [(['東京', '京都'], ''), ([], 'tower')]
    """
    for run in _runs().finditer(text):
        if run["pairs"]:
            yield _pairs(run[0]), ""
        elif run["korean"]:
            # Korean has spaces, but case endings stick to the noun: 서울에서 must be found by 서울.
            yield ([run[0], *_pairs(run[0])] if len(run[0]) > 2 else [run[0]]), ""
        else:
            yield [], run[0]


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def is_pair(term: str) -> bool:
    """Whether a term is two East Asian characters, which a reader may also look up one by one."""
    return len(term) == 2 and term > "\u2e7f"


@cache
def signs() -> str:
    """Vowel signs and other marks that are part of a word, though Python's `\\w` leaves them out."""
    blocks = ((0x0483, 0x1E00), (0x2DE0, 0x3100), (0xA66F, 0xAC00), (0x10A00, 0x12000))
    letters = (chr(code) for first, last in blocks for code in range(first, last))
    return "".join(c for c in letters if unicodedata.category(c)[0] == "M")
