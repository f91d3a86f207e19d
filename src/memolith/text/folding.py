"""One form for every way to write the same letters: accents, widths, ligatures, invisible marks."""

from __future__ import annotations

import re
import unicodedata

# Sorting the marks after one letter takes the square of their number, so a long run would cost
# minutes; no script puts this many signs in a row.
_LONG_RUN = re.compile(r"([^\w\s]{64})[^\w\s]+")

# Marks that change how a letter sounds but not which word it is. In Cyrillic й, ў and ї are letters
# of their own, so their marks stay, while the dots of ё go, as they do in Russian print. Vowel signs
# of Indic scripts, voicing marks of kana and tone marks of Thai lie outside these ranges.
_ACCENTS = re.compile(
    "(?<![иИуУ])\u0306|(?<![іІ])\u0308|[\u0300-\u0305\u0307\u0309-\u036f"
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"  # Hebrew points
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]"  # Arabic
)

_LETTERS = {
    "ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ħ": "h", "Ħ": "H", "ı": "i",
    "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "þ": "th", "Þ": "TH", "ð": "d", "Ð": "D",
    "ى": "ي", "ی": "ي", "ک": "ك", "ة": "ه", "’": "'", "ʼ": "'",
    "¿": "?", "¡": "!", "“": '"', "”": '"', "«": '"', "»": '"', "‐": "-", "–": "-", "—": " ",
}  # fmt: skip
_INVISIBLE = "\u00ad\u200c\u200e\u200f\u2060\u2061\u2066\u2067\u2068\u2069\ufe0e\ufe0f\ufeff"
_ZEROS_OF_OTHER_DIGITS = "٠۰०০੦૦୦௦౦೦൦๐໐༠၀០"
_PLAIN: dict[int, str | None] = {
    **{ord(letter): plain for letter, plain in _LETTERS.items()},
    **dict.fromkeys(map(ord, _INVISIBLE)),
    **{ord(zero) + n: str(n) for zero in _ZEROS_OF_OTHER_DIGITS for n in range(10)},
}

# Single characters that unfold into a whole phrase; a text of nothing else would grow twentyfold.
_PHRASES = re.compile("[\ufdfa\ufdfb]")

_OTHER_THAN_LETTERS = bytes(code for code in range(128) if not chr(code).isalnum())
# What becomes a letter or digit of ASCII in a way of its own.
_OWN_WAY = re.compile(
    f"[{''.join(chr(code) for code, plain in _PLAIN.items() if plain and plain.isalnum())}]"
)


def plain(text: str) -> str:
    """The text without accents, wide forms, ligatures and invisible marks; case is kept.

    >>> plain("Año Ｎuevo, ﬁn de Шёлковый й")
    'Ano Nuevo, fin de Шелковый й'
    """
    if text.isascii():
        return text
    bounded = _PHRASES.sub(" ", _LONG_RUN.sub(r"\1", text))
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", bounded))
    return unicodedata.normalize("NFC", bare).translate(_PLAIN)


def fold(text: str) -> str:
    """The form in which words are compared: plain and without case.

    >>> fold("CUMPLEAÑOS"), fold("Straße")
    ('cumpleanos', 'strasse')
    """
    return plain(text).casefold()


def bare_letters(text: str) -> bytes | None:
    """The letters and digits of ASCII that folding leaves, without all between them; None: not known.

    Whatever word of ASCII a text has, its letters are among these, side by side; and that is known in
    a fraction of the time that words take.

    >>> bare_letters("E-mail, mañana")
    b'emailmanana'
    """
    if not text.isascii():
        if _OWN_WAY.search(text):
            return None
        text = unicodedata.normalize("NFKD", text.casefold())
    data = text.encode("ascii", "ignore").lower()
    return data.translate(None, _OTHER_THAN_LETTERS)
