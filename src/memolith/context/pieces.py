"""What a session start is made of, records, lines of summaries, list items and paragraphs; and which of them fit.

A piece is shown whole or not at all. A summary is taken apart, because most of what it says may be
somewhere else too, and because a part of it may be all there is room for. Layers share one budget: none
starves another, and what one does not need goes to the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any, NamedTuple

from memolith.text.lines import TRAILER, SummaryLine, read_line, read_promoted, short_id
from memolith.text.quotation import quoted, quoted_line, source
from memolith.types import PROTECTED, REPEATS, Record
from memolith.visibility import Patterns, trust_label

MAX_CHARS = 1_200  # of a record or a line; more of them is cut, at the end of a word
# What something is worth at first, and after how many days half of it.
_PROTECTED, _PLAIN, _REPEATING = (1.0, 365.0), (0.8, 30.0), (0.5, 7.0)
_SUMMARY = (0.7, 180.0)
_SAME_SESSION = 1.5
_MARKS = ("<!-- memolith:", "<!-- /memolith:")  # around what jobs write; they tell an agent nothing
_BULLETS = ("- ", "* ", "+ ")
_TITLE = "Summary of "
_NOT_SAID = "agent"  # nobody is trusted more for not being named


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Something that is shown whole or not at all; of two, the more valuable is shown first."""

    text: str
    value: float
    record_id: str = ""
    names: tuple[str, ...] = ()  # the records it is or tells of, by short ids
    retells: bool = False  # whether it tells what other records say
    says: str = ""  # its words, in a form that can be compared
    day: date | None = None  # of a line of a summary: the log of this day has what it says

    @property
    def is_by_hand(self) -> bool:
        """Whether it is neither a record nor made of records by a job."""
        return not self.record_id and not self.retells


@dataclass(frozen=True, slots=True)
class PieceMaker:
    """Makes pieces for a session, as valuable as they are for it now."""

    now: datetime
    day_of: Callable[[datetime], date]  # the user's
    session: str
    external: Patterns = ()  # the channels of strangers

    @property
    def today(self) -> date:
        """The day it is for the user."""
        return self.day_of(self.now)

    def of_record(self, record: Record) -> list[Piece]:
        """The record; of a summary each line, and what else somebody wrote into it."""
        said_by = trust_label(record.provenance.channel, self.external)
        if record.category != "compaction":
            return [self._whole(record, record.text, said_by)]
        pieces, others = list[Piece](), list[str]()
        for number, line in enumerate(record.text.split("\n")):
            found = read_line(line.strip())
            if found is not None:
                value = _faded(*_SUMMARY, (self.today - found.day).days)
                pieces.append(_of_line(record.category, found, said_by, value, record.id))
            elif number or not line.startswith(_TITLE):
                others.append(line)
        rest = "\n".join(others).strip()
        return [*pieces, self._whole(record, rest, said_by)] if rest else pieces

    def _whole(self, record: Record, text: str, said_by: str) -> Piece:
        kind, name, origin = record.category, short_id(record.id), None
        repeats = _REPEATING if kind in REPEATS else _PLAIN
        days = (self.now - record.created).total_seconds() / 86_400
        value = _faded(*(_PROTECTED if kind in PROTECTED else repeats), days)
        if record.session == self.session:
            value *= _SAME_SESSION
        if kind == "experience":  # its section says so: show what it was made of
            kind = str(record.metadata.get("category") or kind)
            origin = record.metadata.get("source")
        is_copy = isinstance(origin, str)
        return _piece(
            kind,
            text,
            (name, said_by, self.day_of(record.created).isoformat()),
            value,
            record_id=record.id,
            names=(short_id(str(origin)) if is_copy else name,),
            retells=is_copy,
        )


def _of_line(
    kind: str, line: SummaryLine, said_by: str, value: float, record_id: str = ""
) -> Piece:
    """A line of a summary, with the records that said it as its source."""
    return _piece(
        kind,
        line.text,
        (", ".join(line.names) or short_id(record_id), said_by, str(line.day)),
        value,
        record_id=record_id,
        names=line.ids,
        retells=True,
        day=line.day if line.ids else None,
    )


def _piece(kind: str, text: str, known: tuple[str, ...], value: float, **more: Any) -> Piece:
    """A line with its kind, and with what is known of where it comes from."""
    shown = quoted_line(text, MAX_CHARS)
    line = f"- [{quoted_line(kind, 40)}] {shown} {source(*known)}"
    return Piece(line, value, says=_compared(shown), **more)


def of_prose(
    paragraphs: Iterable[str], worth: tuple[float, int], *, newest_last: bool = False
) -> list[Piece]:
    """What a person wrote, and what jobs did. The first is worth most, but of a log the last.

    `worth` says how much, and after how many characters a paragraph is worth half of it.
    """
    pieces = list[Piece]()
    before = 0
    stretches = list(_stretches(paragraphs))
    for above, stretch in reversed(stretches) if newest_last else stretches:
        piece = _of_stretch(stretch, worth[0] / (1 + before / worth[1]))
        pieces.append(replace(piece, text=above + piece.text))
        before += len(stretch)
    return pieces[::-1] if newest_last else pieces


def _of_stretch(stretch: str, value: float) -> Piece:
    """A line that a job wrote, with the channel that said it; any other lines as they are."""
    fact = read_promoted(stretch) if TRAILER in stretch else None
    if fact is not None:
        name = short_id(fact.record_id)
        # Of a note several facts may have been promoted, and each is shown.
        names = (name,) if name and not fact.is_of_note else ()
        known = (name or quoted_line(fact.source, MAX_CHARS // 2), fact.said_by)
        more = {"record_id": fact.record_id, "names": names, "retells": True}
        return _piece("promoted", fact.text, known, value, **more)
    line = read_line(stretch)
    if line is not None and line.ids:
        return _of_line("summary", line, line.said_by or _NOT_SAID, value)
    # Only a line that is longer than anybody reads is cut.
    text = quoted_line(stretch, MAX_CHARS) if len(stretch) > MAX_CHARS else quoted(stretch)
    return Piece(text, value, says=_compared(quoted_line(stretch.removeprefix("- "), MAX_CHARS)))


def _stretches(paragraphs: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Whole lines that belong together: a list item, a short paragraph; and the headings above it."""
    above = ""
    for paragraph in paragraphs:
        block, after_mark = "", False
        for line in paragraph.split("\n"):
            is_heading, is_mark = line.startswith("#"), line.startswith(_MARKS)
            begins = is_heading or is_mark or line.startswith(_BULLETS)
            # A promoted fact is one line.
            if block and (begins or TRAILER in block or len(block) + len(line) > MAX_CHARS):
                yield above, block
                above, block = "", ""
            if is_heading:
                above += "" if after_mark else f"{quoted_line(line, MAX_CHARS // 2)}\n"
            elif not is_mark:
                block += f"\n{line}" if block else line
            after_mark = is_mark
        if block:
            yield above, block
            above = ""
    if above:
        yield "", above.rstrip("\n")


def _faded(worth: float, half_life: float, days: float) -> float:
    return worth * float(0.5 ** min(max(0.0, days) / half_life, 1000.0))


def _compared(text: str) -> str:
    """The form in which two texts are the same."""
    return " ".join(text.casefold().split()).rstrip(".!?")


class Chosen(NamedTuple):
    """What is shown of a layer, and how many of its pieces are shown nowhere."""

    pieces: list[Piece]
    left_out: int


def shares(wanted: Mapping[str, int], weights: Mapping[str, float], budget: int) -> dict[str, int]:
    """How much each may use: what it wants, or its weight's part of what the others leave.

    >>> shares({"a": 10, "b": 500, "c": 500}, {"a": 1, "b": 1, "c": 1}, 100)
    {'a': 10, 'b': 45, 'c': 45}
    """
    given: dict[str, int] = {}
    left, weight = max(0, budget), sum(weights[name] for name in wanted)
    for name in sorted(wanted, key=lambda name: wanted[name] / weights[name]):
        given[name] = min(wanted[name], int(left * weights[name] / weight))
        left, weight = left - given[name], weight - weights[name]
    return given


def choose(
    layers: Mapping[str, Collection[Piece]],
    weights: Mapping[str, float],
    budget: int,
    cost: Callable[[str], int],
) -> dict[str, Chosen]:
    """The pieces of each layer that fit into the budget together, in their own order.

    What several layers say is the first one's that has it itself, or else the first one's that
    retells it; if that has no room, whoever has.
    """
    layer_of = {piece: name for name, pieces in layers.items() for piece in pieces}
    costs = {piece: cost(f"{piece.text}\n") for piece in layer_of}
    by_value = sorted(layer_of, key=lambda piece: -piece.value)
    by_layer = [one for name in layers for one in by_value if layer_of[one] == name]
    told = _Told()
    # What would be shown if there were room for everything: records before what retells them.
    own = [piece for piece in sorted(by_layer, key=lambda one: one.retells) if told.adds(piece)]
    wanted = dict.fromkeys(layers, 0)
    for piece in own:
        wanted[layer_of[piece]] += costs[piece]
    given = shares(wanted, weights, budget)
    told, shown = _Told(), set[Piece]()
    for piece in own:
        if costs[piece] <= given[layer_of[piece]] and told.adds(piece):
            shown.add(piece)
            given[layer_of[piece]] -= costs[piece]
    rest = budget - sum(costs[piece] for piece in shown)
    for piece in by_value:
        if costs[piece] <= rest and piece not in shown and told.adds(piece):
            shown.add(piece)
            rest -= costs[piece]
    left_out = Counter(layer_of[one] for one in by_layer if one not in shown and told.adds(one))
    return {
        name: Chosen([one for one in pieces if one in shown], left_out[name])
        for name, pieces in layers.items()
    }


@dataclass(frozen=True, slots=True)
class _Told:
    """What is shown so far, by its words and by the records that say it."""

    texts: set[str] = field(default_factory=set)
    retold: set[str] = field(default_factory=set)
    records: set[str] = field(default_factory=set)

    def adds(self, piece: Piece) -> bool:
        """Add a piece unless a part of it would be shown twice."""
        # Two records are never told apart by short ids alone: some ids begin with the time.
        shown = (self.retold, self.records) if piece.retells else (self.retold,)
        if piece.says in self.texts or not all(one.isdisjoint(piece.names) for one in shown):
            return False
        if piece.says:
            self.texts.add(piece.says)
        (self.retold if piece.retells else self.records).update(piece.names)
        return True
