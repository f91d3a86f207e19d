"""How long a text is for the host of an agent: most are written in JavaScript, which counts UTF-16."""

from __future__ import annotations


def utf16_units(text: str) -> int:
    """The length of the text in UTF-16 units: an emoji has two.

    >>> utf16_units("tea"), utf16_units("té"), utf16_units("🍵")
    (3, 2, 2)
    """
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
