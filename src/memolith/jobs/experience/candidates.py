"""What may become an experience: what records say, and what people said in chats."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime

from memolith.files.chat_log import parse_turn
from memolith.files.layout import CONVERSATIONS, is_daily_log
from memolith.files.ledger import secret_ids, source_of
from memolith.files.notes import records_in
from memolith.jobs.worth_saving import category_of
from memolith.text.open_secrets import surely_holds_secret
from memolith.text.pieces import bare_text, claim_key
from memolith.text.sentences import claims, sentences, worth
from memolith.text.tokens import words
from memolith.types import Provenance, Record
from memolith.visibility import Patterns, current, trust_in_file

# Made by jobs and routines, or experiences already.
_NEVER = ("experience", "compaction", "summary", "heartbeat")
_LONGEST_CHARS = 1_000
_FEWEST_WORDS = 3
_SHORT_CHARS = 12  # shorter ones must name something
_STATED = ("decision", "preference", "note")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A text that may become an experience, and all that is known of where it came from."""

    text: str
    source: str  # the id of the record; of a turn, its moment and chat
    category: str
    session: str
    created: datetime
    provenance: Provenance
    expires: datetime | None = None


def candidates_from_files(
    read: Callable[[str], bytes | None],
    paths: Iterable[str],
    *,
    now: datetime,
    external: Patterns,
    sources: Collection[str] | None = None,
) -> Iterator[Candidate]:
    """The candidates of these files, oldest first; superseded and expired records are left out.

    So is text of channels that are declared `external`. With `sources`, only those that come from there.
    """
    turns = None if sources is None else {source.rpartition("#")[0] for source in sources}
    records: dict[str, Record] = {}
    secret: set[str] = set()  # one file that says so is enough
    found: list[Candidate] = []
    for path in paths:
        data = read(path) or b""
        if path == CONVERSATIONS:
            found += _from_turns(data, turns, external)
        else:
            own = (record for record in records_in(path, data) if not source_of(record))
            records.update((record.id, record) for record in own)
            secret.update(secret_ids(data))
    open_ones = (
        one
        for one in current(records.values(), now)
        if one.id not in secret and (sources is None or one.id in sources)
    )
    found += filter(None, (_from_record(one, external) for one in open_ones))
    yield from sorted(found, key=lambda candidate: candidate.created)


def files_of_candidates(files: Iterable[str], since: date | None) -> list[str]:
    """Those of some files, and the chats, that can hold what was written since that day."""
    return [
        path
        for path in (*files, CONVERSATIONS)
        if not path.startswith(".") and _is_recent(path, since)
    ]


def _is_recent(path: str, since: date | None) -> bool:
    """Whether a file can hold what was written since that day: of daily logs, the later ones."""
    return since is None or not is_daily_log(path) or path >= f"memory/{since.isoformat()}"


def _from_record(record: Record, external: Patterns) -> Candidate | None:
    channel = record.provenance.channel
    text = bare_text(record.text)
    if (
        record.sensitivity == "secret"
        or record.category in _NEVER
        or trust_in_file(channel, external) == "external"
        or not _tells_enough(text)
        or surely_holds_secret(text)
    ):
        return None
    return Candidate(
        text=text[:_LONGEST_CHARS],
        source=record.id,
        category=record.category,
        session=record.session,
        created=record.created,
        provenance=record.provenance,
        expires=record.expires,
    )


def _from_turns(
    data: bytes, wanted: Collection[str] | None, external: Patterns
) -> Iterator[Candidate]:
    """What a person stated: decisions, wishes, what is open. Questions and small talk tell nothing."""
    for line in data.split(b"\n"):
        turn = parse_turn(line)
        if turn is None or trust_in_file(turn.platform, external) == "external":
            continue
        place = f"{turn.chat}@{turn.created.isoformat()}"
        if wanted is not None and place not in wanted:
            continue
        for sentence in sentences(turn.user):
            text = bare_text(sentence)
            kind = category_of(text, by_user=True)
            if kind in _STATED and _tells_enough(text) and not surely_holds_secret(text):
                yield Candidate(
                    text=text[:_LONGEST_CHARS],
                    source=f"{place}#{claim_key(text)}",
                    category="turn",
                    session=turn.chat,
                    created=turn.created,
                    provenance=Provenance(channel=turn.platform),
                )


def _tells_enough(text: str) -> bool:
    is_long = len(words(text)) >= _FEWEST_WORDS and (
        len(text) >= _SHORT_CHARS or not text.isascii() or bool(claims(text))
    )
    return is_long and any(worth(sentence) > 0 for sentence in sentences(text))
