"""What argparse says about a mistake, in our words."""

from __future__ import annotations

import re

_PHRASES = (
    (r"the following arguments are required: (.+), (.+)", r"\1 and \2 are missing.", ""),
    (r"the following arguments are required: (.+)", r"\1 is missing.", ""),
    (r"argument (\S+): expected one argument", r"\1 needs a value.", ""),
    (r"argument (\S+): invalid choice: (.+) \(choose from (.+)\)", r"\2 is no \1.", r"Use one of \3."),
    (r"argument (\S+): (.+)", r"\1: \2.", ""),
)  # fmt: skip


def in_words(message: str, see: str) -> tuple[str, str]:
    """The message and a hint; `see` is the hint where there is no better one.

    >>> in_words("argument SHELL: invalid choice: 'sh' (choose from 'bash', 'zsh')", "")
    ("'sh' is no SHELL.", 'Use one of bash, zsh.')
    >>> in_words("the following arguments are required: KEY, VALUE", "See: memolith --help")
    ('KEY and VALUE are missing.', 'See: memolith --help')
    """
    for pattern, plainly, hint in _PHRASES:
        found = re.fullmatch(pattern, message, re.DOTALL)
        if found:
            said = found.expand(plainly)
            return said[:1].upper() + said[1:], found.expand(hint).replace("'", "") or see
    return message[:1].upper() + message[1:] + ".", see
