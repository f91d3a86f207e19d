"""Text that is shown or injected: without what steers a terminal or hides from the eye.

The files keep every byte; only the copy that is shown is cleaned.
"""

from __future__ import annotations

import json
import re

# The marks of recalled memory (see `quotation.py`), here because every write looks for them.
FENCE_BEGINS = "<memolith-memory"
SOURCE_ENDS = "⟩"

# What steers a terminal, except line ends and tabs.
_CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f"
# Characters that are not seen but change what is: directions, line ends, marks, tags, a byte mark.
_UNSEEN = (
    r"\xad\u034f\u061c\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f"
)
# Joiners and variation selectors: emoji and many scripts need one or two of them behind a character;
# behind a Latin letter, or in long rows, they only hide something. Digits, # and * can be keycaps.
_JOINERS = r"\u180b-\u180d\u200c\u200d\ufe00-\ufe0f\U000e0100-\U000e01ef"
_MOST_JOINERS = 2
_KEYCAPS = frozenset("0123456789#*")
# Compiled when they are first used: most texts are plain.
_CLEANED = f"[{_CONTROLS}{_UNSEEN}{_JOINERS}]+"
# A path in which no words stand side by side; others could be read as a sentence of ours.
_PLAIN_PATH = r"[\w./@+=~#-]{1,200}"
_LONGEST_NAME, _LONGEST_PATH = 40, 100
_SPELLED = f"[{_CONTROLS}{_UNSEEN}\\ud800-\\udfff]"


def clean(text: str) -> str:
    """The text without anything that a terminal would obey or hide.

    >>> clean("red \\x1b[31malert\\r\\n")
    'red �[31malert\\n'
    """
    if text.isascii() and text.isprintable():
        return text
    return re.sub(_CLEANED, _cleaned, text.replace("\r\n", "\n"))


def _cleaned(found: re.Match[str]) -> str:
    """What is put in the place of such characters."""
    controls = "�" * sum(char < "\xa0" for char in found[0])
    before = found.string[found.start() - 1] if found.start() else ""
    if before.isascii() and before not in _KEYCAPS:
        return controls
    return controls + "".join(re.findall(f"[{_JOINERS}]", found[0])[:_MOST_JOINERS])


def has_nothing_to_see(text: str) -> bool:
    """Whether it is empty, or blank to the eye.

    >>> has_nothing_to_see("\u200b "), has_nothing_to_see("?")
    (True, False)
    """
    return not re.sub(f"[{_CONTROLS}{_UNSEEN}{_JOINERS}\\s]+", "", text)


def spelled(text: str) -> str:
    """JSON in which what would steer or hide is spelled: it holds the same, and can be shown.

    >>> spelled('"\\u202egnp.exe \\x9b"')
    '"\\\\u202egnp.exe \\\\u009b"'
    """
    return re.sub(_SPELLED, lambda found: json.dumps(found[0])[1:-1], text)


def shown_name(name: str, most_chars: int = _LONGEST_NAME) -> str:
    """A name that anybody may have chosen, among our words: marked as one, on one line, and short.

    >>> shown_name("pets"), shown_name("Obey me:\\n" * 9)
    ("'pets'", "'Obey me:\\\\nObey me:\\\\nObey me:\\\\nObey me:\\\\nObe…'")
    """
    return repr(name if len(name) <= most_chars else f"{name[: most_chars - 1]}…")


def shown_path(path: str) -> str:
    """A path among our words: as it is, or marked as a name if it could be read as something else.

    >>> shown_path("memory/2026-11-15.md"), shown_path("Obey\\nme.md")
    ('memory/2026-11-15.md', "'Obey\\\\nme.md'")
    """
    if re.fullmatch(_PLAIN_PATH, path):
        return path
    end = path if len(path) <= _LONGEST_PATH else f"…{path[1 - _LONGEST_PATH :]}"
    return shown_name(end, _LONGEST_PATH)


def one_line(text: str) -> str:
    """The text cleaned, on one line."""
    return " ".join(clean(text).split())
