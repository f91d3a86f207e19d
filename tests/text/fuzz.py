"""Random texts that look for trouble: every plane of Unicode, and the words our code looks at."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.crash.tier import size

RUNS = size(20_000, long=100_000)

# Letters of many scripts, marks that need company, and what no well-meant text contains.
CHARACTERS = (
    "abcxyzABCXYZ019 _-./\\@&'’:,+#*\"()[]{}<>|~^%$!?¿¡\t\r\n\0"
    "ñáéíóúüßæøłİıčΩςжйёїאبَंக์ไทยកខလာ日本語カナｶﾞ한국어ㅎ"
    "\u0301\u0316\u0323\u200b\u200c\u200d\ufe0f\ufeff\u00ad\u2028\u3000\ufdfa"
    "😀👍🏽👩🇲🇽①Ⅳ½²\ud800\udfff\U0010ffff\ue000"
)


def texts(pieces: tuple[str, ...], *, seed: int, runs: int = RUNS) -> Iterator[str]:
    """Texts of pieces, odd characters and anything Unicode has, the same for the same seed."""
    chance = random.Random(seed)
    for _ in range(runs):
        yield "".join(_piece(chance, pieces) for _ in range(chance.randrange(12)))


def _piece(chance: random.Random, pieces: tuple[str, ...]) -> str:
    kind = chance.random()
    if kind < 0.5:
        return chance.choice(pieces) + chance.choice(("", " ", " "))
    if kind < 0.8:
        return chance.choice(CHARACTERS) * chance.choice((1, 1, 1, 2, 3, 70))
    return chr(chance.randrange(0x110000))
