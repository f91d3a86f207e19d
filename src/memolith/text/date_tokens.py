"""A text cut into the words, numbers and marks that dates are made of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from memolith.text.folding import fold

# Written without spaces, so they are looked for inside longer runs.
UNSPACED = (
    "今天 今日 오늘 昨天 昨日 어제 前天 一昨日 그저께 明天 明日 내일 今周 今週 本周 本週 이번주 上周 上週 先週 지난주 "
    "本月 今月 이번달 上个月 上個月 先月 지난달 今年 올해 去年 昨年 작년"
).split()


@dataclass(frozen=True, slots=True)
class Token:
    """One word, number or mark of a text, folded, and where it stands."""

    text: str
    start: int
    end: int
    is_capital: bool


@cache
def _token() -> re.Pattern[str]:
    # \u0301 and its like: letters may be written with their accents apart.
    return re.compile(
        "|".join(sorted(UNSPACED, key=len, reverse=True))
        + r"|\d+(?:[-/.]\d+)+|\d+(?:st|nd|rd|th|[ºª°]|er|ro)?(?!\w)|\d\w*"
        + r"|[぀-鿿가-힯]|(?:[^\W\d_]|[\u0300-\u036f])+|[^\w\s]"
    )


def tokens(text: str) -> list[Token]:
    """The tokens of a text, in order."""
    return [
        Token(fold(found[0]), found.start(), found.end(), found[0][0].isupper())
        for found in _token().finditer(text)
    ]
