"""Messages for which memory has nothing to add: looking would cost time and fill the context."""

from __future__ import annotations

import re

from memolith.text.cues import begins, expression, plain
from memolith.text.stopwords import is_stop_word
from memolith.text.tokens import words

# At the beginning: a command that a host has, or one with the name of who brought it, /agent:doctor. Any
# other word behind a slash may be a folder: /tmp.
_COMMAND = re.compile(
    r"/(?:(?P<name>[A-Za-z][A-Za-z-]*)(?:\s|$)|agent:|[A-Za-z][\w-]*:\w)", re.IGNORECASE
)
_COMMANDS = frozenset(
    """about add-dir agents apps approvals auth bashes branch btw bug chat clear commands compact compress config
    context copy cost diff directory doctor editor effort exit export extensions fast feedback fork help hooks
    ide init keybindings login logout loop mcp memory mention model models new output-style permissions plan
    plugin plugins pr-comments privacy prompts quit release-notes reload rename reset restart restore resume
    review rewind rules sandbox schedule security-review settings shortcuts skills start stats status
    statusline stop summarize tasks terminal-setup theme think todos tools undo upgrade usage verbose vim
    voice""".split()
)
# A question may be made of words that say nothing about its subject: "where is it".
_ASKING = frozenset(
    "what who whom whose where when why how which que quien quienes donde cuando como cual cuales".split()
)
_LETTER = re.compile(r"\w")
_LONGEST_LOOKED_AT = 200
_MOST_WORDS = 8  # who says more says something
_NAMES_NOTHING = "it names nothing to look for"


def skip_reason(message: str) -> str:
    """Why nothing is searched for a message; empty when it is worth a search.

    >>> skip_reason("Thanks!"), skip_reason("/compact"), skip_reason("deploy it")
    ('it is a greeting or a short answer', 'it is a command', 'it names nothing to look for')
    >>> skip_reason("Which port does staging use?"), skip_reason("boiler service")
    ('', '')
    """
    text = message.strip()
    if not text:
        return "it is empty"
    if _is_command(text):
        return "it is a command"
    return "" if len(text) > _LONGEST_LOOKED_AT else _too_little(text)


def _is_command(text: str) -> bool:
    found = _COMMAND.match(text)
    if found is None or not found["name"]:
        return found is not None
    # A question may begin with the name of a route: to search in vain costs less than to miss it.
    return found["name"].lower() in _COMMANDS and not _asks(text)


def _asks(text: str) -> bool:
    return any(mark in text for mark in "?？؟")


def _too_little(text: str) -> str:
    if not _LETTER.search(text):
        return "it has no words"
    found = words(text)
    if len(found) <= _MOST_WORDS and not _left_of_small_talk(plain(text)):
        return "it is a greeting or a short answer"
    if _asks(text):  # "What?" alone would find whatever begins with it
        return _NAMES_NOTHING if len(found) == 1 and is_stop_word(found[0]) else ""
    telling = [word for word in found if not is_stop_word(word)]
    is_order = len(found) <= 2 and len(telling) < 2 and begins("request", text)  # "deploy it"
    if _ASKING.isdisjoint(found) and (is_order or not telling):
        return _NAMES_NOTHING
    return ""


def _left_of_small_talk(said: str) -> list[str]:
    """The words of a message beside greetings and short answers, of which it may have several."""
    rest = expression("small talk").sub(" ", said)
    return words(rest) if rest == said else _left_of_small_talk(rest)
