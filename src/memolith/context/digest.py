"""The text an agent is handed before an answer: memories as lines, within a budget of tokens."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice

from memolith.results import Hit, TurnContext
from memolith.text.budget import estimate_tokens
from memolith.text.cleaning import one_line, shown_path
from memolith.text.lines import SummaryLine, read_line, short_id
from memolith.text.quotation import EXPERIENCES, MEMORIES, fence, quoted_line, quoted_lines, source
from memolith.text.synonyms import choices
from memolith.text.terms import keywords, language_of, terms_of
from memolith.text.tokens import words
from memolith.text.wording import HIDDEN

_MOST_CHARS_OF_A_HIT = 700
_LOOKED_AT = 100_000
_SHARE_OF_EXPERIENCES = 0.25
# The numbers of two marks may be read in more pieces than those of the fence that is measured.
_MARGIN = 24


def digest(
    question: str, memories: Sequence[Hit], experiences: Sequence[Hit], tokens: int, *, cited: bool
) -> TurnContext:
    """The lines that fit, and which hits they are: experiences get a quarter of the budget at most.

    If they are `cited`, each line names the place it is from, and else the id of its record.
    """
    line = partial(_line, asked=Asked(question), cited=cited)
    around = fence(f"{MEMORIES}\n\n[truncated - 999 more memories available]")
    left = tokens - estimate_tokens(around) - _MARGIN
    some = _fitting(experiences, line, int(left * _SHARE_OF_EXPERIENCES))
    if some:
        left -= sum(estimate_tokens(text) + 1 for text in some.values())
        left -= estimate_tokens(EXPERIENCES) + 2
    # An experience repeats the record it was made of; one that did not fit must not hide it.
    said = {experiences[at].text.strip() for at in some}
    memories = [hit for hit in memories if hit.text.strip() not in said]
    shown = _fitting(memories, line, left)
    found = said.union(hit.text.strip() for hit in (*memories, *experiences))
    left_out = len(found) - len(shown) - len(some)
    parts = list[str]()
    if shown or left_out:
        lines = [MEMORIES, "", *shown.values()]
        if left_out:
            lines.append(f"[truncated - {left_out} more memories available]")
        parts.append("\n".join(lines))
    if some:
        parts.append("\n".join([EXPERIENCES, *some.values()]))
    return TurnContext(
        text=fence("\n\n".join(parts)) if shown or some else "",
        hits=tuple(memories[at] for at in shown),
        experiences=tuple(experiences[at] for at in some),
        left_out=left_out,
    )


def _fitting(hits: Sequence[Hit], line: Callable[[Hit], str], tokens: int) -> dict[int, str]:
    """The lines that fit, by the place of their hits; a long one does not keep shorter ones out."""
    taken: dict[int, str] = {}
    for at, text in enumerate(map(line, hits)):
        cost = estimate_tokens(text) + 1
        if cost <= tokens:
            taken[at] = text
            tokens -= cost
    return taken


def _line(hit: Hit, *, asked: Asked, cited: bool) -> str:
    # The id of a note without one is its path, which is hidden like any citation.
    known = hit.record_id or hit.path
    name = short_id(known) if known != hit.path else ""
    place = shown_path(str(hit.citation)) if cited else name or "memory"
    mark = source(place, hit.trust, str(hit.dated or ""))
    kind = hit.source_category or hit.category or ("chat" if hit.chat else "file")
    before = f"- [{quoted_line(kind, 40)}]{f' {hit.role}:' if hit.role else ''}"
    text = hit.text[:_LOOKED_AT].strip()
    if "\n" not in text:
        text = excerpt(one_line(text), asked.words, _MOST_CHARS_OF_A_HIT)
        return f"{before} {quoted_line(text, _MOST_CHARS_OF_A_HIT)} {mark}"
    # Markdown says something by its lines. Each is marked: none can pretend to be a line of ours.
    if not hit.record_id:  # a record is one thing
        text = asked.answering(text, hit.heading or "")
    text = excerpt(text, asked.words, _MOST_CHARS_OF_A_HIT)
    text = text if len(text) <= _MOST_CHARS_OF_A_HIT else f"{text[:_MOST_CHARS_OF_A_HIT]} …"
    return f"{before} {mark}\n{quoted_lines(text)}"


_BULLET = re.compile(r"[-*+•]\s+\S")
_SHARE_OF_BEST = 0.5  # items that share half as much with the question as the best one stay
# Shown before the first word that was asked for.
_BEFORE = 60
# Beyond this, places are not looked for: nobody's text repeats a word more often to say something.
_MOST_PLACES = 200
_SHORTEST = 3


def excerpt(text: str, asked: Iterable[str], most_chars: int) -> str:
    """The text from where most of the asked words stand within so many characters, to its end.

    >>> excerpt("Many words came first. " * 9 + "The port is 5433.", ["port"], 60)
    '… came first. Many words came first. The port is 5433.'
    """
    if len(text) <= most_chars:
        return text
    lower = text.lower()
    if len(lower) != len(text):  # a few letters have no small form of the same length
        lower = text
    places = sorted(
        (found.start(), number)
        for number, word in enumerate(asked)
        if len(word) >= _SHORTEST
        for found in islice(re.finditer(re.escape(word), lower), _MOST_PLACES)
    )
    before = min(_BEFORE, most_chars // 3)
    start = _fullest(places, most_chars - before)
    start = max(0, min(start - before, len(text) - most_chars + 2))
    if not start:
        return text
    space = text.find(" ", start, start + before)
    return f"… {text[space + 1 if space >= 0 else start :]}"


class Asked:
    """What a question asks for, by the words, stems and synonyms that a search goes by."""

    def __init__(self, question: str) -> None:
        self.words = keywords(question)
        self._terms: Sequence[Mapping[str, float]] = choices(
            self.words, language=language_of(words(question))
        )

    def share(self, text: str) -> float:
        """How many of its words a text has; one in other words counts for less."""
        found = set(chain.from_iterable(terms[1] for terms in terms_of(text.split())))
        return sum(
            max((word[term] for term in found & word.keys()), default=0.0) for word in self._terms
        )

    def answering(self, text: str, heading: str = "") -> str:
        """Of a list the items that answer best, with what stands around it; any other text as it is.

        If the words of the question are in the headings, all of it is asked for.

        >>> Asked("who waters the plants?").answering("# House\\n- Bins: Tuesday\\n- Ana waters the plants")
        '# House\\n- Ana waters the plants'
        """
        blocks: list[list[str]] = []
        for line in text.split("\n"):
            if not blocks or not line.strip() or _BULLET.match(line) or line.startswith("#"):
                blocks.append([])
            blocks[-1].append(line)
        shares = [self.share("\n".join(block)) for block in blocks]
        is_item = [bool(_BULLET.match(block[0])) for block in blocks]
        best = max((share for share, item in zip(shares, is_item, strict=True) if item), default=0)
        titles = " ".join(block[0] for block in blocks if block[0].startswith("#"))
        if sum(is_item) < 2 or best <= self.share(f"{heading} {titles}"):
            return text
        return "\n".join(
            line
            for block, share, item in zip(blocks, shares, is_item, strict=True)
            if not item or share >= best * _SHARE_OF_BEST
            for line in block
        )


def _fullest(places: Sequence[tuple[int, int]], reach: int) -> int:
    """Where the most different words stand within so many characters, the first such place."""

    def words_from(at: int) -> int:
        inside = places[bisect_left(places, (at,)) : bisect_left(places, (at + reach,))]
        return len({number for _, number in inside})

    return max((at for at, _ in places), key=words_from, default=0)


def without_retold(hits: Sequence[Hit], question: str, past: Collection[str]) -> list[Hit]:
    """The hits; of summaries those of their lines that help, hold, and are told by no other hit.

    `past` are short ids of superseded records. Lines about secret records were hidden by the search.
    """
    asked = Asked(question)
    told = {short_id(hit.record_id) for hit in hits if hit.record_id and not _lines(hit)}
    kept: list[Hit] = []
    for hit in hits:
        lines = _lines(hit)
        # One that is near by its meaning alone is told whole, but not if what was found is hidden.
        about = [line for line in lines if asked.share(line.text)]
        left = [
            line
            for line in (about if about or HIDDEN in hit.text else lines)
            if told.isdisjoint(line.ids) and not set(past).issuperset(line.ids)
        ]
        told.update(name for line in left for name in line.ids)
        if left or not lines:
            kept.append(_with_lines(hit, left) if left else hit)
    return kept


def _lines(hit: Hit) -> list[SummaryLine]:
    """The lines of a summary that name records; none of anything else."""
    found = filter(None, (read_line(line.strip()) for line in hit.text.split("\n")))
    is_record = hit.category == "compaction"  # else those of the long memory say whose words
    return [line for line in found if line.ids and (is_record or line.said_by)]


def _with_lines(hit: Hit, lines: Sequence[SummaryLine]) -> Hit:
    """The hit with these lines; of the long memory each says whose words it has."""
    text = "\n".join(f"{line.day} {line.text}" for line in lines)
    if hit.category:
        return replace(hit, text=text)
    is_users = all(line.said_by == "user" for line in lines)
    return replace(hit, text=text, channel="user" if is_users else "agent")
