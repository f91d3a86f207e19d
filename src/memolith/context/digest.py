"""The text an agent is handed before an answer: memories as lines, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Sequence

from memolith.context.excerpts import Asked, excerpt
from memolith.results import Hit
from memolith.text.budget import estimate_tokens
from memolith.text.cleaning import one_line, shown_path
from memolith.text.quotation import fence, quoted_line, quoted_lines, source
from memolith.text.summary_line import short_id

HEADING = "## Relevant Memories"
EXPERIENCES = "Relevant past experiences:"
_MOST_CHARS_OF_A_HIT = 700
_LOOKED_AT = 100_000
_SHARE_OF_EXPERIENCES = 0.25
# The numbers of two marks may be read in more pieces than those of the fence that is measured.
_MARGIN = 24


class Digest:
    """The lines that fit, and which hits they are."""

    def __init__(
        self,
        question: str,
        memories: Sequence[Hit],
        experiences: Sequence[Hit],
        tokens: int,
        *,
        cited: bool,
    ) -> None:
        """Experiences get a quarter of the budget at most, memories the rest.

        If they are `cited`, each line names the place it stands at, and else the id of its record.
        """
        self._cited = cited
        self._asked = Asked(question)
        around = fence(f"{HEADING}\n\n[truncated - 999 more memories available]")
        left = tokens - estimate_tokens(around) - _MARGIN
        some = self._fitting(experiences, int(left * _SHARE_OF_EXPERIENCES))
        if some:
            left -= sum(cost for _, _, cost in some) + estimate_tokens(EXPERIENCES) + 2
        # An experience repeats the record it was made of; one that did not fit must not hide it.
        said = {hit.text.strip() for hit, _, _ in some}
        shown = self._fitting([hit for hit in memories if hit.text.strip() not in said], left)
        self.hits = tuple(hit for hit, _, _ in shown)
        self.experiences = tuple(hit for hit, _, _ in some)
        found = {hit.text.strip() for hit in (*memories, *experiences)}
        self.left_out = len(found) - len(shown) - len(some)
        self.text = self._text([line for _, line, _ in shown], [line for _, line, _ in some])

    def _fitting(self, hits: Sequence[Hit], tokens: int) -> list[tuple[Hit, str, int]]:
        """The hits whose lines fit, in order; a long one does not keep shorter ones out."""
        taken: list[tuple[Hit, str, int]] = []
        for hit in hits:
            line = self._line(hit)
            cost = estimate_tokens(line) + 1
            if cost <= tokens:
                taken.append((hit, line, cost))
                tokens -= cost
        return taken

    def _line(self, hit: Hit) -> str:
        # The id of a note without one is its path, which is hidden like any citation.
        known = hit.record_id or hit.path
        name = short_id(known) if known != hit.path else ""
        place = shown_path(str(hit.citation)) if self._cited else name or "memory"
        mark = source(place, hit.trust, str(hit.dated or ""))
        kind = hit.source_category or hit.category or ("chat" if hit.chat else "file")
        before = f"- [{quoted_line(kind, 40)}]{f' {hit.role}:' if hit.role else ''}"
        text = hit.text[:_LOOKED_AT].strip()
        if "\n" not in text:
            text = excerpt(one_line(text), self._asked.words, _MOST_CHARS_OF_A_HIT)
            return f"{before} {quoted_line(text, _MOST_CHARS_OF_A_HIT)} {mark}"
        # Markdown says something by its lines. Each is marked: none can pretend to be a line of ours.
        if not hit.record_id:  # a record is one thing
            text = self._asked.answering(text, hit.heading or "")
        text = excerpt(text, self._asked.words, _MOST_CHARS_OF_A_HIT)
        text = text if len(text) <= _MOST_CHARS_OF_A_HIT else f"{text[:_MOST_CHARS_OF_A_HIT]} …"
        return f"{before} {mark}\n{quoted_lines(text)}"

    def _text(self, memories: list[str], experiences: list[str]) -> str:
        parts = list[str]()
        if memories or self.left_out:
            lines = [HEADING, "", *memories]
            if self.left_out:
                lines.append(f"[truncated - {self.left_out} more memories available]")
            parts.append("\n".join(lines))
        if experiences:
            parts.append("\n".join([EXPERIENCES, *experiences]))
        return fence("\n\n".join(parts)) if memories or experiences else ""
