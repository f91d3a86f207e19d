"""Under which category a sentence of a chat is saved, if at all; English and Spanish. Pure functions."""

from __future__ import annotations

import re

from memolith.text.folding import fold
from memolith.text.sentences import CHOSE, TURNS_TO, kind_of, worth

# Of an assistant's sentence without decision or open end: how much it must tell to be a fact.
_WORTH_OF_A_FACT = 3.0
_CATEGORIES = {
    "decision": "decision",
    "preference": "preference",
    "open": "note",
    "insight": "learned",
}
_AGENT_ITSELF = re.compile(
    rf"\b(?:i|ill|ive|im|yo|let me|voy a|he (?:{CHOSE})|decidi|elegi)\b|^(?:{TURNS_TO})\b"
)
# Words of a decision in a sentence that has not decided anything.
_UNDECIDED = re.compile(
    r"\b(?:maybe|perhaps|not sure|i wonder|wondering (?:if|whether)|might|"
    r"if (?:i|we|you|they|he|she) (?:had )?(?:decided|chose|chosen|picked|went)|"
    r"(?:not|didnt|havent|hasnt|have yet to) (?:\w+ )?(?:decide|decided|chosen|choose)|"
    r"quizas?|tal vez|a lo mejor|no se si|no estoy segur[oa]|no (?:he|ha|hemos|han) decidido|"
    r"(?:aun|todavia) no)\b"
)
_TOGETHER = re.compile(r"\b(?:you|your|we|our|user|tu|usted|nosotros|usuari[oa])\b")
_REQUEST = re.compile(
    r"(?:please|(?:can|could|would|will) you|lets|let us|por favor|puedes|podrias|vamos a|"
    r"fix|run|open|show|write|add|make|check|look|try|give|tell|explain|find|update|change|create|delete|"
    r"remove|rename|move|read|commit|push|arregla|ejecuta|abre|muestra\w*|escribe|anade|haz|comprueba|mira|"
    r"prueba|dame|dime|explica\w*|busca|actualiza|cambia|crea|borra|quita|lee)\b"
)
_STATES = re.compile(
    r"\b(?:is|are|was|were|am|im|has|have|had|lives?|lived|works?|worked|stud(?:y|ies|ied)|owns?|costs?|"
    r"speaks?|uses?|runs on|starts?|ends?|called|named|born|married|es|son|era|eran|soy|esta|estan|estoy|"
    r"tiene\w*|tengo|vive\w*|vivo|vivia|trabaj\w+|estudi\w+|llama\w*|llamo|nacio|naci|cuesta\w*|habla\w*|"
    r"hablo|usa|usan|uso|empieza|termina)\b"
)
_ABOUT_A_LIFE = re.compile(
    r"^(?:i (?:live|work|study|own|speak|was born|grew up|quit (?:my|the) |(?:broke|lost|sold|started|bought|got) (?:my|our|a new)|"
    r"got (?:married|divorced|engaged|fired|promoted))|(?:i am|im) an? \w+|"
    r"(?:my|our) (?:\w+ ){1,3}(?:is|are|was|were|has|have|had|lives?|works?|got|died|left|leaves?|starts?|started|moved|turn(?:s|ed))|"
    r"(?:yo )?(?:vivo|trabajo|estudio|naci)|(?:yo )?soy \w+|me (?:rompi|mude|mudo|case|caso|jubil\w+|divorci\w+|separ\w+|despidieron)|"
    r"nos (?:mudamos|casamos|separamos|divorciamos)|deje (?:mi|el) trabajo|"
    r"(?:mis?|nuestr[oa]s?) (?:\w+ ){1,3}(?:es|son|esta|estan|era|eran|tienen?|tuvo|viven?|trabajan?|se llaman?|murio|empiezan?|"
    r"empezo|cumplen?|cumplio|salen?))\b"
)
_CLOCK = re.compile(r"\b\d{1,2}:\d\d\b|\b\d{1,2} ?(?:am|pm)\b")
_CORRECTION = re.compile(
    r"\b(?:change that|scratch that|i meant|correction|cambia eso|quise decir|queria decir|correccion|"
    r"mejor dicho|rectifico)\b|, (?:and )?(?:not|no) (?:(?:on|at|in|the|el|la|en|a) )*[\w:.]+[.!]*$"
)
_DAY = re.compile(
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|lunes|martes|miercoles|jueves|viernes|sabados?|"
    r"domingos?|tomorrow|manana)\b"
)
_ONE_NAME = 1.75  # what `worth` gives a sentence that names one thing
_FEWEST_WORDS = 4


def category_of(sentence: str, *, by_user: bool) -> str:
    """The category to save it under; "" for small talk, questions, requests and an agent's own plans.

    >>> category_of("My sister Marta lives in Oulu.", by_user=True)
    'fact'
    >>> category_of("I will use tabs.", by_user=False)
    ''
    """
    kind = kind_of(sentence)
    if sentence.endswith("?") and kind != "open":
        return ""
    if not by_user and (
        kind == "preference" or (kind == "decision" and _is_of_the_agent(sentence))
    ):
        return ""  # what an agent likes or will do is no preference and no decision of the user
    if kind == "decision" and _UNDECIDED.search(_plain(sentence)):
        return _CATEGORIES["open"]
    if kind in _CATEGORIES:
        return _CATEGORIES[kind]
    told = worth(sentence)
    is_fact = told >= _WORTH_OF_A_FACT or (by_user and told > 0 and _states_something(sentence))
    return "fact" if is_fact else ""


def _is_of_the_agent(sentence: str) -> bool:
    plain = _plain(sentence)
    return bool(_AGENT_ITSELF.search(plain)) and not _TOGETHER.search(plain)


def _states_something(sentence: str) -> bool:
    plain = _plain(sentence)
    if _ABOUT_A_LIFE.search(plain):
        return True
    if len(plain.split()) >= _FEWEST_WORDS and _CORRECTION.search(plain):
        return True
    if _REQUEST.match(plain):
        return False
    on_a_day = bool(_DAY.search(plain))
    if on_a_day and _CLOCK.search(plain):
        return True
    return (on_a_day or worth(sentence) >= _ONE_NAME) and bool(_STATES.search(plain))


def _plain(sentence: str) -> str:
    return fold(sentence).replace("'", "").replace("’", "")
