"""The sentences of a text, which of them are small talk, and what makes one worth keeping."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from memolith.text.cues import Sentence, without_filler_before_mark
from memolith.text.folding import fold
from memolith.text.sentence_ends import split_sentences
from memolith.text.similarity import NEGATIONS

_BULLET = re.compile(r"^\s*(?:[-*•#>]+|\d{1,2}[.)])\s+")
_SMALL_TALK = re.compile(
    r"(?:hi|hello|hey|hola|good (?:morning|evening|afternoon|night)|buen[oa]s (?:dias|tardes|noches)|"
    r"thanks?(?: you)?|thx|np|ty|yw|brb|rofl|lmao|xd|k|kk|omg|(?:muchas |mil )?gracias|(?:lol|haha|jaja\w*)(?: ok(?:ay)?)?|ok(?:ay)?|sure|yes|no|yep|nope|great|perfect|perfecto|vale|genial|"
    r"cool|nice|awesome|done|sounds good|got it|you are welcome|youre welcome|de nada|de acuerdo|"
    r"no problem|bye|goodbye|see you|adios|hasta (?:luego|manana|pronto)|se lo (?:dije|explique)|(?:(?:h+m+|oh|ah|ok)\W+)?let me (?:check|see|think|look|know)|one moment|"
    r"working on it|i am on it|im on it|still working|nothing (?:new|unusual|special|important|much|to report)|"
    r"stand-?up:? nothing|no changes?|sin (?:cambios|novedades)|(?:heartbeat|latido):?(?:[ _](?:ok|sin novedades))?|all (?:good|quiet|well)|"
    r"todo (?:bien|tranquilo)|how are you|how can i help|is there anything else|anything else|algo mas|"
    r"(?:(?:h+m+|oh|ah|wow|aja|uf|very|how|thats|muy|que)\W+)*(?:h+m+|oh|ah|wow|aja|uf|ok|good|fine|right|alright|absolutely|bueno|gut|prima|i see|interesting|makes sense|of course|no worries|"
    r"exactly|exacto|interesante|bien|ya veo|entiendo|entendido|tiene sentido|me alegro)(?=\W*$)|"
    r"(?:thats |that |it |this )?(?:works|looks (?:good|great|fine|nice))(?: (?:for|to) me| now)?(?=\W*$)|"
    r"(?:that |this |it )?did the trick|(?:nice|good|great) (?:work|job|one)(?=\W*$)|cheers|well done|"
    r"have a (?:nice|good|great)|lets call it a day|that is it for today|all (?:tests (?:are )?)?green(?=\W*$)|"
    r"happy to help|glad (?:to help|i could help)|thats (?:all|it)\b|eso es todo|(?:hoy )?(?:no (?:paso|hubo|hay) )?nada (?:nuevo|mas|especial|importante)|claro|"
    r"(?:hallo|danke\w*|vielen dank|guten (?:morgen|tag|abend)|gute nacht|alles klar|bis (?:bald|spater|morgen)|"
    r"tschuss|wie geht\w*|(?:heute )?(?:war |gab es )?nichts (?:neues|besonderes|wichtiges|weiter)|gerne|bitte|genau|passt(?=\W*(?:danke\w*\W*)?$)|sieht gut aus|schonen (?:tag|abend)|schones wochenende|bonjour|bonsoir|salut|merci|daccord|au revoir|bonne (?:nuit|journee)|de rien|"
    r"ciao|grazie|prego|va bene|buon(?:giorno|asera)|obrigad[oa]|ola|bom dia|boa (?:tarde|noite))|"
    r"(?:i ?a?m (?:back|here)|ya (?:he vuelto|estoy (?:aqui|de vuelta))|(?:ich )?bin (?:wieder )?(?:da|zuruck))(?: (?:now|again|jetzt))?(?=\W*$)|"
    r"como estas|que tal|it was (?:nice|good|fun)|as an ai|i hope this helps|no reply|no_reply)\b"
)
# A sentence that tells that people talked, and not what was said.
_TALK = re.compile(
    r"^(?:(?:today|then|later|again|hoy|luego|and|y|nice|little)\s+)*"
    r"(?:(?:i|we|they|he|she|(?:the )?(?:user|human|agent|assistant)|(?:el |la )?usuari[oa]|le|lo|nos)\s+)?"
    r"(?:had a |tuvimos una )?(?:just |briefly |also |nice |short |little )*"
    r"(?:chat(?:ted)?\b|talk(?:ed)? (?:a |about (?:the weather|the weekend|th(?:is|at) and|things|nothing))|"
    r"small talk|discussed (?:a few|some|various|several|many)|"
    r"said (?:thanks|thank you|hi|hello|hey|bye|goodbye|good)|thanked\b|greeted\b|explained (?:how|what|it)|"
    r"understood\b|looked (?:at|into|through)\b|went (?:over|through)\b|"
    r"ran the (?:tests?|build|linter)\b|"
    r"charl\w+|(?:hablamos|estuvimos hablando) (?:del tiempo|de todo|un|del fin)|saludo|dio las gracias|explique\b|entendio\b|"
    r"seguimos (?:con|igual)|comentamos (?:varias|algunas))"
)
_WEATHER = re.compile(
    r"^(?:\w+ ){0,3}(?:chatted|talked|asked|hablamos|charlamos|pregunt\w+) (?:a bit |un poco )?"
    r"(?:about the weather|(?:del|por el) tiempo)\b"
)
# Words by which somebody turns to something, which may be a decision or an agent's next step.
TURNS_TO = r"switch(?:ed|ing)? to|mov(?:ed|ing) to|go(?:ing)? with|will use"
CHOSE = r"decid\w*|eligi\w+|elegi\w+|elegido"
_DECISION = re.compile(
    rf"\b(?:{CHOSE}|{TURNS_TO}|went with|chang\w+ (?:my|our|his|her|their) minds?|after all|"
    r"signed (?!in|up|out|off)|(?:we['’]?re|we are|i['’]?m|i am) (?:taking the|buying|keeping the|hiring)|"
    r"(?:nos quedamos|me quedo|se queda) con|cambi\w+ de (?:idea|opinion)|firm(?:e|o|amos|aron)|al final(?! del?\b)|"
    r"mejor no|decision|conclu\w+|agreed?|agreement|chose[n]?|choose|picked|settled|approved?|"
    r"rejected?|cancel\w*|instead of|"
    r"deadline|due|must|postponed?|scheduled?|booked|from now on|reserv(?:ado|amos|o)|acord\w+|"
    r"aprob\w+|rechaz\w+|usaremos|quedamos|plazo|vence|debe|a partir de|"
    r"beschlossen|beschliess\w+|entschied\w*|entschlossen|vereinbart|abgemacht|ab (?:jetzt|sofort)|stattdessen|"
    r"gebucht|reserviert|verschoben|abgesagt|unterschrieben)\b"
)
# «It feels like rain», «something like that»: nobody likes anything.
_COMPARED = "feel feels felt feeling look looks looked sound sounds sounded seem seems seemed is was are be something"
_LIKES = "".join(
    rf"(?<!\b{word} )" for word in (*_COMPARED.split(), "just", "more", "much", "exactly")
)
_PREFERENCE = re.compile(
    rf"\b(?:prefer\w*|likes|(?<!^)(?<!, ){_LIKES}like|"
    r"loves?|hates?|dislikes?|favou?rite|always|never|allerg\w*|"
    # For a moment only: «wants to stop early».
    r"wants?(?! to (?:stop|pause|rest|sleep|know|see|look|continue|go on|talk|chat|take a break)\b)|needs?|"
    r"rather|can(?:['’]?t|not) (?:stand|eat|drink|tolerate)|no pued[eo] (?:comer|beber|tomar)|(?:does(?:n['’]?t| not)|do(?:n['’]?t| not)) (?:eat|drink)|vegan\w*|vegetarian\w*|"
    r"gluten|c(?:o)?eliac\w*|no (?:come|bebe|soport\w+|aguant\w+)|prefier\w*|gusta\w*|encanta\w*|odia\w*|siempre|nunca|jamas|alergi\w*|quiere\w*|necesita\w*|"
    r"bevorzug\w+|mag|mochten?|liebt|hasst|lieblings\w+|immer|nie(?:mals)?|lieber|vegetarisch\w*|glutenfrei\w*)\b"
)
_OPEN = re.compile(
    r"\btodo:|\b(?:to do|pending|open question|waiting for|(?<!nothing )(?<!nothing is )(?<!not )blocked|follow up|next step|action items?|remind\w*|"
    r"unresolved|not yet|think about it|remember to|(?:have|has) to|hay que|ten(?:go|emos) que|se (?:me|nos) olvide|still (?:to|has|have|needs?|open)|pendiente\w*|falta\w*|por hacer|por decidir|"
    r"espera\w*|recorda\w+|recuerda\w*|todavia no|"
    r"(?:noch )?offen|noch (?:nicht|zu klaren|zu tun)|muss(?:en)? noch|warte\w* auf|nicht vergessen|erinner\w+)\b"
)
_INSIGHT = re.compile(
    r"\b(?:because|root cause|turn(?:s|ed) out|learned|lesson|fixed by|works? (?:only )?(?:if|when|with)|"
    r"fails? (?:if|when|with)|caused by|the reason|solved|resolved|resuelt[oa]|solucion\w+|arreglad[oa]|porque|resulta|aprendi\w*|causa|se arregl\w+|"
    r"weil|ursache|gelernt|stellte sich heraus|gelost|behoben)\b"
)
_HEALTH = re.compile(r"\b(?:allerg\w*|alergi\w*|c(?:o)?eliac\w*|diabet\w+|intoleran\w+)\b")
_UNSURE = re.compile(
    r"\b(?:i think|maybe|might be|perhaps|not sure|creo que|quizas?|tal vez|puede que|no estoy segur[oa])\b"
)
_TELLS = re.compile(r"\w")
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_NAME = re.compile(
    r"(?<![.!?…])\s(?:[A-ZÀ-ÖØ-ÞА-ЯΑ-Ω][\w'’-]+|[a-z]+[A-Z]\w*)|https?://\S+|[\w.+-]{1,64}@[\w-]+\.\w+|"
    r"\b[\w-]{1,100}\.(?:md|py|ts|js|toml|json|ya?ml|com|org|io|net|dev)\b|\b[A-Z]{2,}[\w-]*\b|(?:/[\w.-]+){2,}"
)
_WEIGHTS = ((_DECISION, 3), (_PREFERENCE, 3), (_HEALTH, 3), (_OPEN, 2), (_INSIGHT, 2))

# A line so long that its end is where it was wrapped, if the next one goes on in small letters.
_WRAPPED = 30
_ENDED = tuple(".!?…:;,。！？")


def sentences(text: str) -> Iterator[str]:
    """The sentences and list items of a text, without marks of lists and words that only fill.

    Each is as it was written: no first letter is made large, and nothing is taken out of the middle.

    >>> list(sentences("Okay, Dr. Ruiz called. She moved the visit to 3.15 pm!\\n- Bring the X-ray"))
    ['Dr. Ruiz called.', 'She moved the visit to 3.15 pm!', 'Bring the X-ray']
    """
    for line in _lines(text):
        for sentence in split_sentences(_BULLET.sub("", line).strip()):
            yield without_filler_before_mark(sentence)


def _lines(text: str) -> Iterator[str]:
    """The lines of a text; one that was wrapped in the middle of a sentence is put together again."""
    wrapped: list[str] = []
    for line in map(str.rstrip, text.split("\n")):
        last = wrapped[-1] if wrapped else ""
        goes_on = line[:1].islower() and not last.endswith(_ENDED) and not _BULLET.match(line)
        if wrapped and not (goes_on and len(last) >= _WRAPPED):
            yield " ".join(wrapped)
            wrapped = []
        wrapped.append(line)
    yield " ".join(wrapped)


def listed_below_title(text: str) -> frozenset[str]:
    """The sentences of a list that a line above announces.

    >>> sorted(listed_below_title("The plan:\\n- Ana writes\\n- Ben reads\\nTea is hot"))
    ['Ana writes', 'Ben reads']
    """
    found = set[str]()
    is_announced = False
    for line in _lines(text):
        if is_announced and _BULLET.match(line):
            found.update(sentences(line))
        elif line.strip():
            is_announced = line.endswith(":")
    return frozenset(found)


@lru_cache(maxsize=10_000)
def worth(sentence: str) -> float:
    """How much a sentence tells: 0 for small talk; decisions, wishes, numbers and names count.

    >>> worth("Thanks, sounds good!")
    0.0
    >>> worth("Ana decided to ship on 12 May.") > worth("We talked about many things today.")
    True
    """
    plain = fold(sentence).replace("'", "").replace("’", "").lstrip("!? ")
    words = plain.split()
    numbers = len(_NUMBER.findall(sentence))
    named = len(_NAME.findall(sentence))
    called = sum(not name.strip().isupper() for name in _NAME.findall(sentence))
    most = 3 if numbers or called else 8  # longer ones have something to say as well
    if not _TELLS.search(plain) or (
        len(words) <= most and not numbers and _SMALL_TALK.match(plain)
    ):
        return 0.0
    if not numbers and (_WEATHER.match(plain) or (not called and _TALK.match(plain))):
        return 0.0
    told: float = sum(weight for pattern, weight in _WEIGHTS if pattern.search(plain))
    told += min(numbers, 2) + min(named, 3) * 0.75
    if _is_request(sentence):
        told -= 1 + 3 * bool(_PREFERENCE.search(plain))
    if _UNSURE.search(plain):
        told -= 0.5
    if len(words) < 3 and len(sentence) < 12:
        told -= 1
    return max(0.25, 1 + told)


def _is_request(sentence: str) -> bool:
    """Whether an agent is asked something, or to do something now: no wish that lasts, as one not to do it is.

    >>> _is_request("I need to see the options."), _is_request("Please don't add a greeting.")
    (True, False)
    """
    if sentence.endswith("?"):
        return True
    said = Sentence(sentence)
    if not said.begins("request") or said.says("standing"):
        return False
    return NEGATIONS.isdisjoint(word.replace("'", "") for word in said.words)


def kind_of(sentence: str) -> str:
    """What a sentence is about all: `decision`, `preference`, `open`, `insight`, or "".

    >>> kind_of("We agreed on Friday"), kind_of("Ana prefers tea"), kind_of("It rained")
    ('decision', 'preference', '')
    """
    plain = fold(sentence)
    kinds = (("open", _OPEN), ("decision", _DECISION), ("preference", _PREFERENCE))
    for kind, pattern in (*kinds, ("insight", _INSIGHT)):
        if pattern.search(plain) and not (kind == "preference" and _is_request(sentence)):
            return kind
    return ""


def matters(sentence: str) -> bool:
    """Whether a summary should not leave it out: a decision, a wish, or something still open."""
    return kind_of(sentence) not in ("", "insight")


def claims(sentence: str) -> frozenset[str]:
    """The numbers and names of a sentence, folded: what cannot be said without a source.

    >>> sorted(claims("Then on Friday Ana paid 120 euros to ACME"))
    ['120', 'acme', 'ana', 'friday']
    """
    found = {*_NUMBER.findall(sentence), *_NAME.findall(sentence)}
    return frozenset(fold(name).strip() for name in found) - _COMMON


_COMMON = frozenset(
    "the a an i we he she they it this that these those in on at for of to and or but if when"
    " i'm i've i'll i'd i’m i’ve i’ll i’d".split()
)
