"""Claims: what a sentence says of a subject, so that two sentences can be seen to contradict each other.

Only what has one answer at a time is read as a claim: the port of something, who owns it, where somebody
lives, whether somebody likes a thing. «Ana is a doctor» and «Ana is from Madrid» do not clash.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from memolith.text.alternatives import choice, kinds
from memolith.text.amounts import plain_amounts
from memolith.text.cues import Sentence, listed, one_of, says_any
from memolith.text.entities import entities
from memolith.text.folding import fold

_MOST_CHARS = 400
# «Mrs. Keller» is one sentence with what stands before it.
SENTENCE_ENDS = re.compile(
    r"(?<=[.!?])(?<!\b[DMS]r\.)(?<!\bMrs\.)(?<!\bSra\.)(?<!\bDra\.)\s+(?=\w)"
    rf"(?!(?<=\d\.\s)(?:{'|'.join(month.title() for month in listed('months', 'claims'))})\b)|\n+|;\s+"
)
_TABLE = "claims"


def _words(section: str) -> str:
    return f"(?:{one_of(section, _TABLE)})"


_ARTICLE = re.compile(rf"^{_words('articles')}\s+")
# «the budget is», and no word that tells of what.
_THE_THING = re.compile(rf"^{_words('definite')}\s+[\w-]+\s+([^\W\d_]+)")
_LINKS = frozenset(fold(word) for word in (*listed("is", _TABLE), *listed("links", _TABLE)))
_LINK_ENDINGS = tuple(fold(ending) for ending in listed("link endings", _TABLE))
# «is on 9 May» and «is 9 May» say the same.
_BEFORE_VALUE = re.compile(rf"^{_words('before value')}\s+(?=(?:{_words('articles')}\s+)?\d)")
_ENDS_VALUE = re.compile(rf"\s+{_words('ends value')}(?!\w).*")
_IS = re.compile(
    rf"^(?P<subject>[^.!?;,]{{2,80}}?)\s*(?:\s(?P<verb>{_words('is')}|=)|:)\s+(?:{_words('now')}\s+)?"
    rf"(?P<not>{_words('not')}\s+)?(?P<value>[^.!?;]{{1,80}}(?:\.\d[^.!?;]{{0,40}}){{0,4}})"
)
_IS_ONE = re.compile(_words("is one"))
_NO_CLAIM = re.compile(rf"^{_words('no claim')}\s")
# Things that have one value at a time.
_SINGLE = says_any("single", _TABLE)
_VALUE_OF_ITS_KIND = re.compile(
    r"\d[\d.,:/-]*\s*(?:%|€|\$|£|[a-z]{0,10})|v?\d+(?:\.\d+)+|https?://\S+|[\w.+-]+@[\w-]+\.\w+|/[\w./-]+"
)
# Who does it is the answer: only one can.
_BY_ONE = re.compile(
    rf"^(?P<value>[^.!?;,]{{2,40}}?)\s+(?P<verb>{_words('by one')})\s+(?P<subject>[^.!?;]{{2,80}})"
)
# What or where is the answer: one at a time for each.
_OF_ONE = re.compile(
    rf"^(?P<subject>[^.!?;,]{{2,40}}?)\s+(?P<verb>{_words('of one')})\s+(?P<value>[^.!?;,]{{2,60}})"
)
_FOR = re.compile(
    rf"^(?P<who>[^.!?;,]{{1,40}}?)\s+(?:really\s+)?(?:(?P<against>{_words('against')})|{_words('for')})\s+"
    rf"(?:{_words('how much')}\s+)?(?P<thing>[^.!?;,]{{2,60}})"
)
# Who somebody is: their name, behind a title or not.
_ROLE = re.compile(rf"(?:^|\s){_words('roles')}$")
_TITLES = frozenset(fold(title) for title in listed("titles", _TABLE))
_TITLE_DOT = re.compile(rf"\b({_words('titles')})\.", re.IGNORECASE)
_KINDS = kinds("exclude")
_CHANGES = frozenset(fold(word) for word in listed("changes", _TABLE))


@dataclass(frozen=True, slots=True)
class Claim:
    """What is said of a subject; two claims of one thing with one key and other values contradict each other."""

    key: str
    value: str
    of: frozenset[str] = frozenset()  # the names told before, where the subject leans on them


def of_one_thing(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether «the budget» may be the same one: nothing was told before, or no other names."""
    return one <= other or other <= one


def contradict(one: Claim, other: Claim) -> bool:
    """Whether two claims with one key cannot both hold."""
    return one.value != other.value and of_one_thing(one.of, other.of)


def leaning_sentences(text: str) -> Iterator[tuple[str, frozenset[str]]]:
    """The sentences of a text, each with the names told before it if it does not say what it is about.

    >>> [sorted(of) for _, of in leaning_sentences("Ana called about Orchid; the budget is 950. My rent is 900")]
    [[], ['Ana', 'Orchid'], []]
    """
    before = ""
    for sentence in SENTENCE_ENDS.split(text[:2000]):
        leans = before and _leans(sentence)
        yield sentence, frozenset(entities(before)) if leans else frozenset()
        before += f"{sentence}; "


def _leans(sentence: str) -> bool:
    match = _THE_THING.match(fold(sentence[:200]))
    return match is not None and (match[1] in _LINKS or match[1].endswith(_LINK_ENDINGS))


def claims(text: str) -> Iterator[Claim]:
    """The claims of a text; most texts have none.

    >>> [(claim.key, claim.value) for claim in claims("The API port is 8080")]
    [('api port is', '8080')]
    >>> next(claims("Ana owns the release key")).key == next(claims("Ben owns the release key")).key
    True
    """
    for sentence, of in leaning_sentences(text):
        written = _TITLE_DOT.sub(r"\1", plain_amounts(sentence))
        plain = " ".join(fold(written).replace("'", "").replace("’", "").split())
        if 5 <= len(plain) <= _MOST_CHARS:
            bare = plain.rstrip(" .!;,")
            found = _claim(bare, written)
            if found is not None:
                yield replace(found, of=of) if of else found
            if chosen := choice(bare):
                who, about, what = chosen
                yield Claim(f"{_bare(who)} chooses {about}", what)


def _claim(plain: str, written: str) -> Claim | None:
    if match := _BY_ONE.match(plain):
        return Claim(f"{_bare(match['subject'])} < {match['verb']}", _bare(match["value"]))
    if match := _OF_ONE.match(plain):
        value = _ENDS_VALUE.sub("", match["value"])
        return Claim(f"{_bare(match['subject'])} {match['verb']}", _bare(value))
    if match := _FOR.match(plain):
        side = "against" if match["against"] else "for"
        return Claim(f"{_bare(match['who'])} ~ {_bare(match['thing'])}", side)
    return _is_claim(plain, written)


def _is_claim(plain: str, written: str) -> Claim | None:
    match = _IS.match(plain)
    if match is None or _NO_CLAIM.match(plain):
        return None
    subject, value = _bare(match["subject"]), _bare(_BEFORE_VALUE.sub("", match["value"]))
    if match["not"]:
        return Claim(f"{subject} is {value}", "no")
    if _SINGLE.search(subject) or (
        _VALUE_OF_ITS_KIND.fullmatch(value) and len(subject.split()) > 1
    ):
        return Claim(f"{subject} is", value)
    value = _bare(_ENDS_VALUE.sub("", value))
    if _ROLE.search(subject) and (name := _name(value, written)):
        return Claim(f"{subject} is who", name)
    if (kind := _KINDS.get(value)) and _is_one_thing(match):
        return Claim(f"{subject} is of kind {kind[0]}", kind[1])
    return Claim(f"{subject} is {value}", "yes")


def _name(value: str, written: str) -> str:
    """The name that a value is; "" if it may be something else, such as a noun where all have capitals."""
    words = value.split()
    names = [word for word in words if word not in _TITLES]
    capitals = {fold(word.strip(" .,!;")) for word in written.split() if word[0].isupper()}
    may_be_noun = any(language.name == "de" for language in Sentence(written).languages)
    is_sure = not may_be_noun or len(names) < len(words) or len(names) > 1
    return " ".join(names) if is_sure and names and capitals.issuperset(names) else ""


def _is_one_thing(match: re.Match[str]) -> bool:
    """Whether it is said of one thing that does not change by the hour."""
    subject = match["subject"]
    is_definite = bool(_ARTICLE.match(subject)) or " " in subject
    is_one = bool(match["verb"] and _IS_ONE.fullmatch(match["verb"]))
    return is_definite and is_one and _CHANGES.isdisjoint(subject.split())


def _bare(text: str) -> str:
    bare = " ".join(text.split()).strip(" .,:;!\"'")
    while (shorter := _ARTICLE.sub("", bare)) != bare:
        bare = shorter
    return bare
