"""Claims: what a sentence says of a subject, so that two sentences can be seen to contradict each other.

Only what has one answer at a time is read as a claim: the port of something, who owns it, where somebody
lives, whether somebody likes a thing. «Ana is a doctor» and «Ana is from Madrid» do not clash.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from memolith.text.alternatives import choice
from memolith.text.amounts import plain_amounts
from memolith.text.folding import fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST_CHARS = 400
# «Mrs. Keller» is one sentence with what stands before it.
SENTENCE_ENDS = re.compile(
    r"(?<=[.!?])(?<!\b[DMS]r\.)(?<!\bMrs\.)(?<!\bSra\.)(?<!\bDra\.)\s+(?=\w)|\n+|;\s+"
)
_ARTICLE = re.compile(
    r"^(?:the|a|an|our|my|your|his|her|their|its|el|la|los|las|un|una|mi|nuestro|nuestra|su|"
    r"der|die|das|den|dem|ein|eine|einen|mein|meine|unser|unsere|sein|seine|ihr|ihre)\s+"
)
# «is on 9 May» and «is 9 May» say the same.
_BEFORE_VALUE = re.compile(r"^(?:on|at|from|del?|el|am|um|bei)\s+(?=(?:the\s+|el\s+|las?\s+)?\d)")
_IS = re.compile(
    r"^(?P<subject>[^.!?;,]{2,80}?)\s*(?:\s(?:is|are|was|es|son|esta|ist|sind|lautet|betragt|=)|:)\s+"
    r"(?:now\s+|ahora\s+|always\s+|jetzt\s+)?(?P<not>not\s+|no\s+longer\s+|no\s+|nicht\s+|kein\w{0,2}\s+)?(?P<value>[^.!?;]{1,80}(?:\.\d[^.!?;]{0,40}){0,4})"
)
# Things that have one value at a time.
_SINGLE = re.compile(
    r"\b(?:port|name|address|password|deadline|birthday|owner|colou?r|theme|time ?zone|version|price|rent|"
    r"salary|email|phone|number|url|host(?:name)?|default|limit|budget|capital|editor|language|framework|"
    r"database|branch|status|age|size|weight|date|day|time|location|region|plan|boss|manager|lead|landlord|landlady|"
    r"puerto|nombre|direccion|contrasena|plazo|cumpleanos|dueno|duena|precio|alquiler|correo|telefono|"
    r"idioma|fecha|version|jefe|jefa|caser[oa]|edad|favou?rite \w+|\w+ favorit[oa]|"
    r"adresse|passwort|frist|geburtstag|besitzer(?:in)?|farbe|preis|miete|gehalt|telefonnummer|nummer|hauptstadt|"
    r"sprache|datum|chef(?:in)?|leiter(?:in)?|vermieter(?:in)?|alter|grosse|gewicht|beitrag|lieblings\w+)\b"
)
_VALUE_OF_ITS_KIND = re.compile(
    r"\d[\d.,:/-]*\s*(?:%|€|\$|£|[a-z]{0,10})|v?\d+(?:\.\d+)+|https?://\S+|[\w.+-]+@[\w-]+\.\w+|/[\w./-]+"
)
# Who does it is the answer: only one can.
_BY_ONE = re.compile(
    r"^(?P<value>[^.!?;,]{2,40}?)\s+(?P<verb>owns|leads|manages|maintains|is responsible for|is in charge of|"
    r"es dueno de|es duena de|dirige|gestiona|lleva|"
    r"leitet|besitzt|verwaltet|betreut|ist verantwortlich fur|ist zustandig fur)\s+(?P<subject>[^.!?;]{2,80})"
)
# What or where is the answer: one at a time for each.
_OF_ONE = re.compile(
    r"^(?P<subject>[^.!?;,]{2,40}?)\s+(?P<verb>lives in|works at|works for|was born in|reports to|is married to|"
    r"runs on|listens on|deploys to|uses port|vive en|trabaja en|nacio en|"
    r"wohnt in|lebt in|arbeitet bei|arbeitet fur|heisst|liegt in|lauft auf|ist verheiratet mit)\s+(?P<value>[^.!?;,]{2,60})"
)
_FOR = re.compile(
    r"^(?P<who>[^.!?;,]{1,40}?)\s+(?:really\s+)?(?P<verb>likes|loves|prefers|wants|enjoys|like|love|prefer|want|"
    r"dislikes|hates|avoids|dislike|hate|avoid|prefiere|odia|quiere|evita|le gusta|detesta|"
    r"(?:does not|doesnt|do not|dont|never|no)\s+(?:likes?|wants?|enjoys?|eats?|drinks?|prefiere|quiere|le gusta)|"
    r"no le gusta|eats|drinks|(?:mag|isst|trinkt|will|mochte)(?:\s+(?:kein\w{0,2}|nicht))?|liebt|hasst|bevorzugt)\s+(?:to\s+)?(?P<thing>[^.!?;,]{2,60})"
)
_AGAINST = re.compile(
    r"^(?:dis|hate|avoid|odia|evita|detesta|does not|doesnt|do not|dont|never|no\b|hasst|"
    r"\w+\s+(?:kein|nicht))"
)


@dataclass(frozen=True, slots=True)
class Claim:
    """What is said of a subject; two claims with one key and different values contradict each other."""

    key: str
    value: str


def claims(text: str) -> Iterator[Claim]:
    """The claims of a text; most texts have none.

    >>> [(claim.key, claim.value) for claim in claims("The API port is 8080")]
    [('api port is', '8080')]
    >>> next(claims("Ana owns the release key")).key == next(claims("Ben owns the release key")).key
    True
    """
    for sentence in SENTENCE_ENDS.split(text[:2000]):
        plain = " ".join(fold(plain_amounts(sentence)).replace("'", "").replace("’", "").split())
        if 5 <= len(plain) <= _MOST_CHARS:
            bare = plain.rstrip(" .!;,")
            found = _claim(bare)
            if found is not None:
                yield found
            if chosen := choice(bare):
                who, about, what = chosen
                yield Claim(f"{_bare(who)} chooses {about}", what)


def _claim(plain: str) -> Claim | None:
    if match := _BY_ONE.match(plain):
        return Claim(f"{_bare(match['subject'])} < {match['verb']}", _bare(match["value"]))
    if match := _OF_ONE.match(plain):
        return Claim(f"{_bare(match['subject'])} {match['verb']}", _bare(match["value"]))
    if match := _FOR.match(plain):
        side = "against" if _AGAINST.match(match["verb"]) else "for"
        return Claim(f"{_bare(match['who'])} ~ {_bare(match['thing'])}", side)
    return _is_claim(plain)


def _is_claim(plain: str) -> Claim | None:
    match = _IS.match(plain)
    if match is None or plain.startswith(
        (
            "if ",
            "when ",
            "si ",
            "cuando ",
            "wenn ",
            "falls ",
            "this ",
            "that ",
            "it ",
            "es ",
            "there ",
        )
    ):
        return None
    subject, value = _bare(match["subject"]), _bare(_BEFORE_VALUE.sub("", match["value"]))
    if match["not"]:
        return Claim(f"{subject} is {value}", "no")
    if _SINGLE.search(subject) or (
        _VALUE_OF_ITS_KIND.fullmatch(value) and len(subject.split()) > 1
    ):
        return Claim(f"{subject} is", value)
    return Claim(f"{subject} is {value}", "yes")


def _bare(text: str) -> str:
    bare = " ".join(text.split()).strip(" .,:;!\"'")
    while (shorter := _ARTICLE.sub("", bare)) != bare:
        bare = shorter
    return bare
