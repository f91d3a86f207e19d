"""What is worth knowing before an answer: searched, chosen and quoted, within a budget and a deadline."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain

from memolith.config.sections import ContextConfig
from memolith.context.deadline import in_time
from memolith.context.digest import digest
from memolith.errors import MemolithError
from memolith.files.folder import Folder
from memolith.files.passages import parse_citation
from memolith.files.record_format import readable_record
from memolith.results import WEAK, Filters, Hit, SearchResult, TurnContext
from memolith.text.budget import cut
from memolith.text.cleaning import one_line
from memolith.text.cues import begins, expression, plain
from memolith.text.quotation import LINE_BEGINS, held_back, quoted
from memolith.text.tables import word_list
from memolith.text.terms import is_stop_word
from memolith.text.tokens import MARKS, words
from memolith.types import Citation, SessionKind
from memolith.visibility import check_is_session_kind, may_see

# Of this many turns of chats both sides are handed over, of others what was found.
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


def turn_context(
    turn: Turn,
    config: ContextConfig,
    ask: Ask,
    filters: Filters,
    known: Known,
) -> TurnContext:
    """Look for what helps with a message. What is not found in time is said in the warnings."""
    check_is_session_kind(turn.kind)
    reason = skip_reason(turn.message) if config.enabled else "context.enabled is off"
    if reason:
        return TurnContext(text="", skipped=reason)
    queries = derive(turn.message)
    held: dict[tuple[Citation, str | None], str] = {}

    def is_allowed(hit: Hit) -> bool:
        if hit.superseded or not may_see(hit.sensitivity, turn.kind) or known.has(hit):
            return False
        if turn.kind == "group" and not hit.record_id:
            return False
        # What was said in this very chat is shown, by whomever.
        if hit.external and not (hit.chat and hit.chat == turn.chat):
            held[hit.citation, hit.role] = hit.channel or hit.citation.path
            return False
        return True

    most = config.max_results if turn.limit is None else max(0, turn.limit)
    wanted = [(replace(filters, also_chat=turn.chat), most)]
    if config.experiences:
        wanted.append((replace(filters, category="experience"), config.experiences))
    seconds = config.deadline_seconds if turn.deadline_seconds is None else turn.deadline_seconds
    late = f"The search took longer than {seconds:g} seconds: this answer is without it."
    found = in_time(
        lambda: _find(ask, " ".join(queries), wanted, is_allowed, seconds),
        seconds,
        [SearchResult(hits=(), warnings=(late,))],
    )
    past = frozenset[str]().union(*(answer.past for answer in found))
    shown = digest(
        queries[0],
        _whole_turns(found[0].hits, is_allowed),
        chain.from_iterable(answer.hits for answer in found[1:]),
        config.turn_tokens if turn.max_tokens is None else max(0, turn.max_tokens),
        cited=config.citations == "on" or (config.citations == "auto" and turn.kind != "group"),
        past=past,
    )
    warnings = dict.fromkeys(warning for answer in found for warning in answer.warnings)
    warnings.pop(WEAK, None)
    return replace(
        shown, queries=queries, held=len(held), warnings=(*warnings, *held_back(held.values()))
    )


def _whole_turns(hits: Iterable[Hit], is_allowed: Callable[[Hit], bool]) -> Iterator[Hit]:
    """The hits, those of the best turns with what the other side said: a question alone says nothing."""
    turns: set[Citation] = set()
    for hit in hits:
        sides = [hit]
        if hit.other_side and len(turns) < _WHOLE_TURNS and hit.citation not in turns:
            turns.add(hit.citation)
            role = "assistant" if hit.role == "user" else "user"
            sides.append(replace(hit, role=role, text=hit.other_side, other_side=hit.text))
        yield from filter(is_allowed, sorted(sides, key=lambda side: side.role == "assistant"))


# Puts a question to the index once, for several filters, for each with a limit of hits; files
# are indexed for at most this many seconds.
Ask = Callable[[str, Sequence[Filters], Sequence[int], float], list[SearchResult]]

# More than are shown, because some must not be seen; and this many when hardly any of them may be,
# as when other chats fill the answer.
_ASKED_FOR_MORE, _ASKED_FOR_AT_LEAST = 3, 200
# Half as good as the best is not worth an agent's context: 1 of 210 messages that answered a question of
# the recall sets was less, of all that was found one in twelve. What no word of the message speaks for
# must be better, and among the nearest by meaning: something is always nearest.
_SHARE_WITH_WORDS = 0.5
_SHARE_BY_MEANING = 0.6
_NEAREST = 5
_NEAREST_OF_DAYS = 2  # what is from a day that the message names scores higher for it
# The share of the time for an answer that may go into files that changed.
_INDEXING = 0.4


def _find(
    ask: Ask,
    question: str,
    wanted: Sequence[tuple[Filters, int]],  # with the most hits of each
    is_allowed: Callable[[Hit], bool],
    seconds: float,
) -> list[SearchResult]:
    asked = [limit + limit // 2 + _ASKED_FOR_MORE for _, limit in wanted]
    answers = ask(question, [filters for filters, _ in wanted], asked, seconds * _INDEXING)
    first = answers[0]
    for at, (filters, limit) in enumerate(wanted):
        telling = _telling(answers[at].hits, first.hits)
        seen = list(filter(is_allowed, telling))
        if len(seen) < min(limit, len(telling)) and len(answers[at].hits) >= asked[at]:
            more = max(4 * limit, _ASKED_FOR_AT_LEAST)
            (answers[at],) = ask(question, [filters], [more], 0.0)
            seen = list(filter(is_allowed, _telling(answers[at].hits, first.hits)))
        # What is only the nearest is not worth anybody's context.
        is_weak = first.weak or answers[at].weak
        answers[at] = replace(answers[at], hits=() if is_weak else tuple(seen[:limit]))
    return answers


def _telling(hits: Sequence[Hit], first: Sequence[Hit]) -> list[Hit]:
    """Those that something speaks for; if the message asks for days and nothing else, what is from them.

    For what took the place of such a one speaks what it took the place of.
    """
    best = max((hit.score for hit in first if "words" in hit.ranks), default=0.0)
    if not best and any(hit.named for hit in first):
        return [hit for hit in hits if hit.named]
    newest = {hit.superseded_by for hit in hits if _is_good(hit, best)}
    return [hit for hit in hits if _is_good(hit, best) or hit.citation in newest]


def _is_good(hit: Hit, best: float) -> bool:
    """Whether it is worth showing beside the best that has words of the message."""
    if "words" in hit.ranks:
        return hit.score >= best * _SHARE_WITH_WORDS
    nearest = _NEAREST_OF_DAYS if hit.named else _NEAREST
    return hit.ranks.get("meaning", 0) <= nearest and hit.score >= best * _SHARE_BY_MEANING


# A message up to here is a question as it is. Of a longer one: its beginning, and what it asks further down.
_MOST_CHARS = 500
_LOOKED_AT = 20_000
_QUESTION = re.compile(r"[^.!?\n。！？]{8,300}[?？؟]")
_MOST_QUESTIONS = 3


def derive(message: str) -> tuple[str, ...]:
    """The queries of a message, all of them searched for in one pass.

    >>> derive("Which port does staging use?")
    ('Which port does staging use?',)
    """
    text = " ".join(message[:_LOOKED_AT].split())
    first = cut(text, _MOST_CHARS)
    questions = [found.strip() for found in _QUESTION.findall(text[len(first) :])]
    return tuple(dict.fromkeys((first, *questions[-_MOST_QUESTIONS:])))


# At the beginning: a command that a host has, or one with the name of who brought it, /agent:doctor. Any
# other word behind a slash may be a folder: /tmp.
_COMMAND = re.compile(
    r"/(?:(?P<name>[A-Za-z][A-Za-z-]*)(?:\s|$)|agent:|[A-Za-z][\w-]*:\w)", re.IGNORECASE
)
_COMMANDS = word_list("commands")
# A question may be made of words that say nothing about its subject: "where is it".
_ASKING = word_list("asking")
_LETTER = re.compile(r"\w")
_LONGEST_LOOKED_AT = 200
_MOST_WORDS = 8  # who says more says something
_NAMES_NOTHING = "it names nothing to look for"


def skip_reason(message: str) -> str:
    """Why nothing is searched for a message; empty when it is worth a search.

    >>> skip_reason("Thanks!"), skip_reason("/compact"), skip_reason("deploy it")
    ('it is a greeting or a short answer', 'it is a command', 'it names nothing to look for')
    >>> skip_reason("Which port does staging use?"), skip_reason("boiler service")
    ('', '')
    """
    text = message.strip()
    if not text:
        return "it is empty"
    asks = any(mark in text for mark in "?？؟")
    command = _COMMAND.match(text)
    # A question may begin with the name of a route: to search in vain costs less than to miss it.
    if command and (not command["name"] or (command["name"].lower() in _COMMANDS and not asks)):
        return "it is a command"
    return "" if len(text) > _LONGEST_LOOKED_AT else _too_little(text, asks=asks)


def _too_little(text: str, *, asks: bool) -> str:
    if not _LETTER.search(text):
        return "it has no words"
    found = words(text)
    if len(found) <= _MOST_WORDS and not _left_of_small_talk(plain(text)):
        return "it is a greeting or a short answer"
    telling = [word for word in found if not is_stop_word(word)]
    if asks:  # "What?" alone would find whatever begins with it
        return "" if telling or len(found) > 1 else _NAMES_NOTHING
    is_order = len(found) <= 2 and len(telling) < 2 and begins("request", text)  # "deploy it"
    is_empty = _ASKING.isdisjoint(found) and (is_order or not telling)
    return _NAMES_NOTHING if is_empty else ""


def _left_of_small_talk(said: str) -> list[str]:
    """The words of a message beside greetings and short answers, of which it may have several."""
    rest = expression("small talk").sub(" ", said)
    return words(rest) if rest == said else _left_of_small_talk(rest)


# What the agent has in its context already, so that it is not handed over again.
_NO_MARKS = str.maketrans("⟨⟩", "  ")
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){0,3}(?:-[0-9a-f]{12})?")
# A text that was cut is known by its beginning.
_BEGINNING = 200
# No agent has more in its context than this.
_MOST_KNOWN_CHARS = 2_000_000
_LONGEST_CITATION = 4_096  # a citation: a path cannot be longer


class Known:
    """Texts, citations and record ids, as the caller gave them; a text may be a whole context."""

    def __init__(self, known: Iterable[str]) -> None:
        """Anything may be given; what is neither an id nor a citation is a text."""
        ids: set[str] = set()
        self._places: dict[str, list[Citation]] = {}
        texts = list[str]()
        for text in known:
            item = text[-_MOST_KNOWN_CHARS:]
            if _ID.fullmatch(item.strip()):
                ids.add(item.strip())
                continue
            for place in _citations(item):
                self._places.setdefault(place.path, []).append(place)
            texts.append(_on_one_line(item))
        self._text, self._ids = "\n".join(texts), tuple(ids)

    def has(self, hit: Hit) -> bool:
        """Whether the agent knows this hit already."""
        # Ids that are made of the time begin alike, so only who gave a beginning means all of them.
        if hit.record_id and hit.record_id.startswith(self._ids):
            return True
        place = hit.citation
        for known in self._places.get(place.path, ()):
            if known.first_line <= place.first_line and place.last_line <= known.last_line:
                return True
        beginning = quoted(one_line(hit.text[: _BEGINNING * 2]))[:_BEGINNING]
        return bool(beginning) and beginning in self._text


def _on_one_line(text: str) -> str:
    """As a quotation would be, on one line; line by line, because most need no cleaning."""
    lines = (line.removeprefix(LINE_BEGINS) for line in text.replace("\r\n", "\n").split("\n"))
    return " ".join(filter(None, (quoted(one_line(line)) for line in lines)))


def ids_at(known: Iterable[str], root: str) -> set[str]:
    """The ids of the records at bare citations: found is the copy of a record in another file."""
    cited: dict[str, list[Citation]] = {}
    for place in map(
        parse_citation, (text.strip() for text in known if len(text) < _LONGEST_CITATION)
    ):
        if place is not None:
            cited.setdefault(place.path, []).append(place)
    ids = set[str]()
    for path, places in cited.items():
        with suppress(MemolithError), Folder(root) as folder:
            lines = (folder.read(path) or b"").split(b"\n")
            there = [line for at in places for line in lines[at.first_line - 1 : at.last_line]]
            ids |= {record.id for record in map(readable_record, there) if record}
    return ids


def _citations(text: str) -> Iterator[Citation]:
    """Those of a text; word by word, because one pattern would search a long word again and again."""
    for word in text.translate(_NO_MARKS).split():
        if (
            "#L" in word
            and len(word) < _LONGEST_CITATION
            and (place := parse_citation(word.strip(MARKS)))
        ):
            yield place
