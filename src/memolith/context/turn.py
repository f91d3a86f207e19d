"""What is worth knowing before an answer: searched, chosen and quoted, within a budget and a deadline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from memolith.config.sections import ContextConfig
from memolith.context.digest import Digest
from memolith.context.known import Known
from memolith.context.queries import derive
from memolith.context.retold import SecretOn, without_retold
from memolith.context.searching import Ask, Wanted, find
from memolith.context.skipping import skip_reason
from memolith.errors import RefusedError
from memolith.files import gate
from memolith.results import Filters, Hit, TurnContext
from memolith.text.cleaning import one_line
from memolith.text.quotation import held_back
from memolith.types import SESSION_KINDS, Citation, SessionKind
from memolith.visibility import may_see

# Of so many turns of chats both sides are handed over, of others what was found.
_WHOLE_TURNS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A message that is about to be answered, and what is known of the situation."""

    message: str
    session: str = "main"
    kind: SessionKind = "main"
    chat: str | None = None
    known: tuple[str, ...] = ()
    max_tokens: int | None = None
    limit: int | None = None
    deadline_seconds: float | None = None

    def __post_init__(self) -> None:
        """Raise RefusedError for a value of another type."""
        gate.check_is_text(message=self.message, session=self.session, kind=self.kind)
        gate.check_is_text_or_none(chat=self.chat)
        gate.check_is_number_or_none(max_tokens=self.max_tokens, limit=self.limit)
        seconds = self.deadline_seconds  # infinite is fine, NaN is not
        is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
        if seconds is not None and (not is_number or seconds != seconds):  # noqa: PLR0124
            raise RefusedError(
                f"The deadline_seconds is not a number of seconds but {seconds!r:.60}."
            )


def turn_context(
    turn: Turn,
    config: ContextConfig,
    ask: Ask,
    filters: Filters,
    known: Known,
    secret_on: SecretOn,
) -> TurnContext:
    """Look for what helps with a message. What is not found in time is said in the warnings.

    `secret_on` gives the ids of the records of some days that are marked secret.
    """
    if turn.kind not in SESSION_KINDS:
        raise RefusedError(
            f"{turn.kind!r} is no kind of session.", hint=f"Use one of {', '.join(SESSION_KINDS)}."
        )
    reason = skip_reason(turn.message) if config.enabled else "context.enabled is off"
    if reason:
        return TurnContext(text="", skipped=reason)
    queries = derive(turn.message)
    held: dict[tuple[Citation, str | None], str] = {}

    def may_see(hit: Hit) -> bool:
        if not _allowed(hit, turn) or known.has(hit):
            return False
        if _held(hit, turn):
            held[hit.citation, hit.role] = hit.channel or hit.citation.path
            return False
        return True

    seconds = config.deadline_seconds if turn.deadline_seconds is None else turn.deadline_seconds
    wanted = Wanted(
        memories=config.max_results if turn.limit is None else max(0, turn.limit),
        experiences=config.experiences,
        chat=turn.chat,
        some_known=bool(turn.known),
        seconds=seconds,
    )
    found = find(ask, filters, " ".join(queries), may_see, wanted)
    digest = Digest(
        queries[0],
        without_retold(
            list(_once(_whole_turns(found.memories, may_see))), queries[0], found.past, secret_on
        ),
        list(_once(found.experiences)),
        config.turn_tokens if turn.max_tokens is None else max(0, turn.max_tokens),
        cited=config.citations == "on" or (config.citations == "auto" and turn.kind != "group"),
    )
    return TurnContext(
        text=digest.text,
        hits=digest.hits,
        experiences=digest.experiences,
        queries=queries,
        left_out=digest.left_out,
        held=len(held),
        warnings=(*found.warnings, *held_back(held.values())),
    )


def _allowed(hit: Hit, turn: Turn) -> bool:
    """Not: secrets; what no longer holds; what a group must not see."""
    if hit.superseded or not may_see(hit.sensitivity, turn.kind):
        return False
    return turn.kind != "group" or bool(hit.record_id)


def _held(hit: Hit, turn: Turn) -> bool:
    """Whether it came from outside; what was said in this very chat is shown, by whomever."""
    if hit.chat and hit.chat == turn.chat:
        return False
    return hit.external


def _whole_turns(hits: Iterable[Hit], may_see: Callable[[Hit], bool]) -> Iterator[Hit]:
    """The hits, those of the best turns with what the other side said: a question tells nothing alone."""
    turns: set[Citation] = set()
    for hit in hits:
        if not hit.other_side or len(turns) >= _WHOLE_TURNS or hit.citation in turns:
            yield hit
            continue
        turns.add(hit.citation)
        role = "assistant" if hit.role == "user" else "user"
        other = replace(hit, role=role, text=hit.other_side, other_side=hit.text)
        for side in (hit, other) if hit.role == "user" else (other, hit):
            if side is hit or may_see(side):
                yield side


def _once(hits: Iterable[Hit]) -> Iterator[Hit]:
    """Without what says the same as one before, and without promoted facts whose source is there."""
    everything = list(hits)
    said: set[str] = set()
    for hit in everything:
        if hit.text.strip() not in said and not _is_told_by_another(hit, everything):
            said.add(hit.text.strip())
            yield hit


def _is_told_by_another(hit: Hit, others: Iterable[Hit]) -> bool:
    """Whether it was copied from prose of the same person that stands there with more around it.

    Prose has no channel, but where dreaming copied it. A copy of a record is known by its id.
    """
    if not hit.channel or hit.category or hit.chat or hit.record_id:
        return False
    fact = one_line(hit.text)
    return any(
        not (other.channel or other.category or other.chat) and fact in one_line(other.text)
        for other in others
    )
