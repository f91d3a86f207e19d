"""Messages for which memory has nothing to add: looking would cost time and fill the context."""

from __future__ import annotations

import re

from memolith.text.folding import fold
from memolith.text.stopwords import is_stop_word
from memolith.text.tokens import words

# Said alone, they ask for nothing. Folded: without case, accents and marks.
_SMALL_TALK = frozenset(
    """hi|hello|hey|hey there|hi there|hello there|good morning|good afternoon|good evening|good night
    |bye|goodbye|see you|see you later|see you tomorrow|thanks|thank you|thanks a lot|thank you very much
    |thank you so much|many thanks|thx|ty|cheers|ok|okay|ok thanks|okay thanks|ok thank you|k|kk|yes|yep
    |yeah|yes please|no|nope|no thanks|no thank you|sure|sure thing|fine|great|nice|cool|perfect|awesome
    |excellent|good|very good|sounds good|looks good|looks good to me|lgtm|got it|i see|understood
    |all right|alright|right|exactly|agreed|done|go|go ahead|go on|continue|please continue|keep going
    |next|please|lol|haha|hmm|wow|how are you|whats up|never mind|nevermind|no problem|youre welcome
    |hola|hola que tal|que tal|buenas|buenos dias|buenas tardes|buenas noches|adios|chao|chau
    |hasta luego|hasta manana|nos vemos|gracias|muchas gracias|mil gracias|vale|vale gracias|ok gracias
    |si|si por favor|claro|claro que si|por supuesto|bueno|bien|muy bien|genial|perfecto|estupendo
    |excelente|de acuerdo|entendido|listo|hecho|sigue|continua|adelante|siguiente|por favor|jaja|jajaja
    |de nada|no gracias|como estas|esta bien|no importa""".replace("\n", "")
    .replace("    ", "")
    .split("|")
)
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
_FEWEST_WORDS = 3
_NAMES_NOTHING = "it names nothing to look for"


def skip_reason(message: str) -> str:
    """Why nothing is searched for a message; empty when it is worth a search.

    >>> skip_reason("Thanks!"), skip_reason("/compact"), skip_reason("deploy it")
    ('it is a greeting or a short answer', 'it is a command', 'it has fewer than 3 words')
    >>> skip_reason("Which port does staging use?")
    ''
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
    said = re.findall(r"\w+", fold(text).replace("'", ""))
    if " ".join(said) in _SMALL_TALK:
        return "it is a greeting or a short answer"
    found = words(text)
    if _asks(text):  # "What?" alone would find whatever begins with it
        return _NAMES_NOTHING if len(found) == 1 and is_stop_word(found[0]) else ""
    if len(found) < _FEWEST_WORDS:
        return f"it has fewer than {_FEWEST_WORDS} words"
    if _ASKING.isdisjoint(found) and all(map(is_stop_word, found)):
        return _NAMES_NOTHING
    return ""
