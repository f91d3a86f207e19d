"""Amounts in one form, however they are written: 1.200 €, €1,200.00 and 1200 Euro are the same."""

from __future__ import annotations

import re

_NUMBER = r"\d{1,3}(?:\.\d{3})+(?:,\d{1,2})?|\d{1,3}(?:,\d{3})+(?:\.\d{1,2})?|\d+(?:[.,]\d{1,2})?"
_NAMES = {"€": "euro", "eur": "euro", "euros": "euro", "$": "dollar", "usd": "dollar", "dollars": "dollar",
          "£": "pound", "gbp": "pound", "pounds": "pound"}  # fmt: skip
_BEFORE = re.compile(rf"(?<!\w)([€$£])\s?({_NUMBER})(?![\w.,:/]*\d)")
_BEHIND = re.compile(
    rf"(?<![\w.,:/-])({_NUMBER})\s?([€$£]|(?:euros?|eur|dollars?|usd|pounds?|gbp)\b)", re.IGNORECASE
)
_GROUPED = re.compile(r"(?<![\w.,:/-])\d{1,3}(?:\.\d{3})+(?![\w.,:/]*\d)|(?<![\w.,:/-])\d{1,3}(?:,\d{3})+(?![\w,:/]*\d)")  # fmt: skip


def plain_amounts(text: str) -> str:
    """The text with its amounts in one form, and without marks between thousands.

    >>> plain_amounts("kostet 1.200,00 €"), plain_amounts("costs €1,200"), plain_amounts("12,000 users")
    ('kostet 1200 euro', 'costs 1200 euro', '12000 users')
    >>> plain_amounts("Python 3.11 at 10.0.0.1")
    'Python 3.11 at 10.0.0.1'
    """
    if not any(char.isdigit() for char in text):
        return text
    text = _BEFORE.sub(lambda found: _amount(found[2], found[1]), text)
    text = _BEHIND.sub(lambda found: _amount(found[1], found[2]), text)
    return _GROUPED.sub(lambda found: re.sub("[.,]", "", found[0]), text)


def _amount(number: str, currency: str) -> str:
    whole, part = number, ""
    if found := re.fullmatch(r"(.*)[.,](\d{1,2})", number):
        whole, part = found[1], found[2].rstrip("0")
    whole = re.sub("[.,]", "", whole)
    name = _NAMES.get(currency.lower(), currency.lower())
    return f"{whole}.{part} {name}" if part else f"{whole} {name}"
