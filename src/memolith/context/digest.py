"""The text an agent is handed before an answer: memories as lines, within a budget of tokens."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from memolith.context.pieces import Piece, choose
from memolith.results import Hit, TurnContext
from memolith.text.budget import estimate_tokens
from memolith.text.cleaning import one_line, shown_path
from memolith.text.lines import read_line, short_id
from memolith.text.quotation import EXPERIENCES, MEMORIES, fence, quoted_line, quoted_lines, source
from memolith.text.synonyms import choices
from memolith.text.terms import keywords, language_of, terms_of
from memolith.text.tokens import words
from memolith.text.wording import HIDDEN

_MOST_CHARS_OF_A_HIT = 700
_LOOKED_AT = 100_000
_WEIGHTS = {"experiences": 0.25, "memories": 0.75}
# The numbers of two marks may be read in more pieces than those of the fence that is measured.
_MARGIN = 24


def digest(
    question: str,
    memories: Iterable[Hit],
    experiences: Iterable[Hit],
    tokens: int,
    *,
    cited: bool,
    past: Collection[str] = (),
) -> TurnContext:
    """The lines that fit, each once, and which hits they are.

    If they are `cited`, each line names the place it is from, and else the id of its record. `past` are
    short ids of superseded records, which no summary shows any more.
    """
    asked = Asked(question)
    found = {"experiences": experiences, "memories": memories}
    layers = {name: _pieces(hits, asked, past, cited=cited) for name, hits in found.items()}
    around = fence(f"{MEMORIES}\n\n[truncated - 999 more memories available]\n\n{EXPERIENCES}\n")
    room = tokens - estimate_tokens(around) - _MARGIN
    chosen = choose(layers, _WEIGHTS, room, estimate_tokens)
    left_out = sum(one.left_out for one in chosen.values())
    some, shown = chosen["experiences"].pieces, chosen["memories"].pieces
    parts = list[str]()
    if shown or left_out:
        truncated = [f"[truncated - {left_out} more memories available]"] if left_out else []
        parts.append("\n".join([MEMORIES, "", *(piece.text for piece in shown), *truncated]))
    if some:
        parts.append("\n".join([EXPERIENCES, *(piece.text for piece in some)]))
    return TurnContext(
        text=fence("\n\n".join(parts)) if shown or some else "",
        hits=tuple(layers["memories"][piece] for piece in shown),
        experiences=tuple(layers["experiences"][piece] for piece in some),
        left_out=left_out,
    )


def _pieces(
    hits: Iterable[Hit], asked: Asked, past: Collection[str], *, cited: bool
) -> dict[Piece, Hit]:
    """The hits as they are shown, the best first."""
    pieces: dict[Piece, Hit] = {}
    for hit, names in chain.from_iterable(_lines_that_help(hit, asked, past) for hit in hits):
        piece = Piece(
            _line(hit, asked, cited=cited),
            -float(len(pieces)),
            names=names or ((short_id(hit.record_id),) if hit.record_id else ()),
            retells=bool(names),
            says=_MARKER.sub("", hit.text.strip()),
        )
        pieces[piece] = hit
    return pieces


def _hides_everything(hit: Hit) -> bool:
    """Whether nothing but titles is left of the text."""
    lines = filter(str.strip, hit.text.split("\n"))
    return HIDDEN in hit.text and all(HIDDEN in line or line.startswith("#") for line in lines)


def _lines_that_help(
    hit: Hit, asked: Asked, past: Collection[str]
) -> Iterator[tuple[Hit, tuple[str, ...]]]:
    """Of a summary each line that helps and holds, with the records it names; any other hit as it is.

    Lines about secret records were hidden by the search.
    """
    statements = filter(None, (read_line(line.strip()) for line in hit.text.split("\n")))
    is_record = hit.category == "compaction"  # else those of the long memory say whose words
    lines = [line for line in statements if line.ids and (is_record or line.said_by)]
    if not lines and not _hides_everything(hit):
        yield hit, ()
    # One that is near by its meaning alone is shown whole, but not if what was found may be hidden.
    about = [line for line in lines if asked.share(line.text)]
    for line in about if about or HIDDEN in hit.text else lines:
        if not set(past).issuperset(line.ids):
            text = f"{line.day} {line.text}"
            yield replace(hit, text=text, trust=line.said_by or hit.trust), line.ids


def _line(hit: Hit, asked: Asked, *, cited: bool) -> str:
    # The id of a note without one is its path, which is hidden like any citation.
    known = hit.record_id or hit.path
    name = short_id(known) if known != hit.path else ""
    place = shown_path(str(hit.citation)) if cited else name or "memory"
    mark = source(place, hit.trust, str(hit.dated or ""))
    kind = hit.source_category or hit.category or ("chat" if hit.chat else "file")
    before = f"- [{quoted_line(kind, 40)}]{f' {hit.role}:' if hit.role else ''}"
    text = hit.text[:_LOOKED_AT].strip()
    if "\n" not in text:
        text = excerpt(one_line(_MARKER.sub("", text)), asked.words, _MOST_CHARS_OF_A_HIT)
        return f"{before} {quoted_line(text, _MOST_CHARS_OF_A_HIT)} {mark}"
    # Markdown says something by its lines. Each is marked: none can pretend to be a line of ours.
    if not hit.record_id:  # a record is one thing
        text = asked.answering(text, hit.heading or "")
    text = excerpt(text, asked.words, _MOST_CHARS_OF_A_HIT)
    text = text if len(text) <= _MOST_CHARS_OF_A_HIT else f"{text[:_MOST_CHARS_OF_A_HIT]} …"
    return f"{before} {mark}\n{quoted_lines(text)}"


_BULLET = re.compile(r"[-*+•]\s+\S")
# A block of lines begins with an item of a list, a heading or an empty line.
_BLOCKS = re.compile(r"\n(?=[-*+•]\s+\S|#|[^\S\n]*(?:\n|\Z))")
_MARKER = re.compile(r"^[-*+•]\s+(?=\S)")
_SHARE_OF_BEST = 0.5  # items that share half as much with the question as the best one stay
# Shown before the first word that was asked for.
_BEFORE = 60
_SHORTEST = 3


def excerpt(text: str, asked: Iterable[str], most_chars: int) -> str:
    """The text from where most of the asked words are close together, to its end.

    >>> excerpt("Many words came first. " * 9 + "The port is 5433.", ["port"], 60)
    '… came first. Many words came first. The port is 5433.'
    """
    if len(text) <= most_chars:
        return text
    lower = text.lower()
    if len(lower) != len(text):  # a few letters have no small form of the same length
        lower = text
    said = [word for word in asked if len(word) >= _SHORTEST]
    before = min(_BEFORE, most_chars // 3)

    def words_from(at: int) -> list[str]:
        there = lower[at : at + most_chars - before]
        return [word for word in said if word in there]

    best = max(range(0, len(text), before), key=lambda at: len(words_from(at)))
    first = min((lower.index(word, best) for word in words_from(best)), default=0)
    start = max(0, min(first - before, len(text) - most_chars + 2))
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
        """Of a list the items that answer best, with the text around it; any other text as it is.

        If the words of the question are in the headings, all of it is asked for.

        >>> Asked("who waters the plants?").answering("# House\\n- Bins: Tuesday\\n- Ana waters the plants")
        '# House\\n- Ana waters the plants'
        """
        blocks = _BLOCKS.split(text)
        shares = {at: self.share(one) for at, one in enumerate(blocks) if _BULLET.match(one)}
        best = max(shares.values(), default=0.0)
        titles = " ".join(one.partition("\n")[0] for one in blocks if one.startswith("#"))
        if len(shares) < 2 or best <= self.share(f"{heading} {titles}"):
            return text
        enough = best * _SHARE_OF_BEST
        return "\n".join(one for at, one in enumerate(blocks) if shares.get(at, best) >= enough)
