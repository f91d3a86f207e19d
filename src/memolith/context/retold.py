"""Summaries among what was found: of each only the lines that help, still hold, and are told nowhere else.

A summary is found as a whole, for the sake of one of its lines; the others fill an agent's context. And
a line outlives its record: that may have been superseded or made a secret since.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import date
from itertools import chain

from memolith.context.excerpts import Asked
from memolith.context.taken_back import TakenBack
from memolith.results import Hit
from memolith.text.summary_line import SummaryLine, read_line, short_id
from memolith.text.wording import HIDDEN

SecretOn = Callable[[Collection[date]], Collection[str]]


def without_retold(
    hits: Sequence[Hit], question: str, past: Collection[str], secret_on: SecretOn
) -> list[Hit]:
    """The hits, summaries with those of their lines that are left.

    `past` are short ids of superseded records, `secret_on` gives the ids of secret ones of some days.
    """
    summaries = {at: lines for at, hit in enumerate(hits) if (lines := _lines(hit))}
    if not summaries:
        return list(hits)
    days = {line.day for lines in summaries.values() for line in lines}
    taken_back = TakenBack(secret_on(days), past)
    told = {short_id(hit.record_id or "") for at, hit in enumerate(hits) if at not in summaries}
    kept: list[Hit] = []
    for at, hit in enumerate(hits):
        if at not in summaries:
            kept.append(hit)
            continue
        left = [
            line
            for line in _about(question, summaries[at], hides=HIDDEN in hit.text)
            if told.isdisjoint(line.ids) and not taken_back.has_any(line.ids)
        ]
        if left:
            told.update(chain.from_iterable(line.ids for line in left))
            kept.append(_with_lines(hit, left))
    return kept


def _lines(hit: Hit) -> list[SummaryLine]:
    """The lines of a summary that name records; none of anything else."""
    found = filter(None, (read_line(line.strip()) for line in hit.text.split("\n")))
    is_record = (
        hit.category == "compaction"
    )  # else those of the long memory say whose words they are
    return [line for line in found if line.ids and (is_record or line.said_by)]


def _about(question: str, lines: Sequence[SummaryLine], *, hides: bool) -> Iterable[SummaryLine]:
    """Those with a word of the question; all of them if it is near by its meaning alone.

    Where a secret is hidden, that may be what was found, and the others were not asked for.
    """
    asked = Asked(question)
    about = [line for line in lines if asked.share(line.text)]
    return about if about or hides else lines


def _with_lines(hit: Hit, lines: Sequence[SummaryLine]) -> Hit:
    """The hit with these lines; of the long memory each says whose words it has."""
    text = "\n".join(f"{line.day} {line.text}" for line in lines)
    if hit.category:
        return replace(hit, text=text)
    is_users = all(line.said_by == "user" for line in lines)
    return replace(hit, text=text, channel="user" if is_users else "agent")
