"""What of a chat is worth a record: every statement of the user that is not a question or a request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from memolith.errors import RefusedError
from memolith.files import gate
from memolith.files.document import Document
from memolith.files.layout import daily_log
from memolith.files.ledger import Tombstone, digest, tombstones
from memolith.jobs.changes import replaced
from memolith.jobs.chat import Chat, Message
from memolith.jobs.history import UNDONE, encode_report, job_path, new_job_id, prune_jobs, undone_by
from memolith.jobs.job import Workplace
from memolith.jobs.known import Known
from memolith.jobs.reports import Flushed, FlushReport, Hunk, JobReport
from memolith.store import Store
from memolith.text.budget import cut
from memolith.text.cues import CATEGORIES, begins, is_small_talk, kind_of, plain, says
from memolith.text.date_phrases import MONTHS, WEEKDAYS
from memolith.text.host_text import own_text
from memolith.text.names import names_and_numbers
from memolith.text.open_secrets import surely_holds_secret
from memolith.text.quotation import without_recalled
from memolith.text.sentences import sentences
from memolith.text.tokens import words
from memolith.text.wording import counted
from memolith.types import Record

NAME = "flush"

_MAX_CHARS = 500
_MAX_QUESTION = 160  # characters of an agent's question that is saved with its answer
_CORRECTION_WORDS, _BARE_WORDS, _ANSWER_WORDS = 8, 4, 12
_MIN_FACT_WORDS = 4
_MIN_INSIGHT_WORDS = 6
# «My», «our» and «we»: of the user's own life or work.
_OWN = re.compile(
    r"\b(?:my|our|ours|we|weve|ive|im|i|mine|mi|mis|nuestr\w+|hemos|tenemos|tengo|soy|vivo|trabajo|somos|"
    r"mein\w*|unser\w*|wir|ich|mir|uns)\b"
)
_SHARED = re.compile(r"\b(?:we|you|your|our|hemos|tu|tus|nuestr\w+|wir|du|dein\w*|unser\w*)\b")
_BECAUSE = re.compile(r"(?:because|weil|porque)\b")
# «The bill was 412 dollars, how do we get it down?»
_THEN_ASKS = re.compile(
    r", (?=(?:how|what|where|when|why|who|which|can|could|should|do|does|is|are|any|shall)\b[^,]*\?$)",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(r"\b[\w]+[-_/.@][\w./-]*\w\b")
_OFFER = re.compile(
    r"\b(?:shall|should i|want me|do you want|would you like|need (?:a|any|help)|can i|may i|do you need|"
    r"quieres|soll ich|mochtest|preparo|te lo|anything else)\b"
)


@dataclass(slots=True, kw_only=True)
class Finding:
    """A sentence worth keeping, with what corrects it; the category, and who said it."""

    text: str
    category: str
    by_user: bool
    said: datetime | None = None
    message: int = field(default=0, repr=False)
    is_open: bool = field(default=False, repr=False)  # taken back, and nothing was said instead yet
    first: str = field(default="", repr=False)  # the text without its corrections

    def add(self, sentence: str) -> None:
        """One more sentence, which corrects this one."""
        self.first = self.first or self.text
        ended = self.text if self.text[-1] in ".!?…:;)" else f"{self.text}."
        self.text = f"{ended} {sentence}"
        self.is_open = not _values(sentence)


def extract(messages: Iterable[Message]) -> Iterator[Finding]:
    """What is worth keeping, in the order in which it was said; nothing that was recalled before."""
    found: list[Finding] = []
    chat = list(messages)
    question = ""
    for number, message in enumerate(chat):
        after = chat[number + 1] if number + 1 < len(chat) else None
        said = list(sentences(own_text(without_recalled(message.text))))
        is_secret = False
        for place, whole in enumerate(said):
            asked = question if place == 0 and message.by_user else ""
            leans = place > 0 and begins("leaning", whole)  # «It should always work.»
            is_secret = _is_secret(whole, asked) or (is_secret and leans)
            if is_secret:
                continue
            sentence = _THEN_ASKS.split(whole)[0]
            is_last = bool(found) and found[-1].message == number and leans
            if _belongs(
                found, number, sentence, asked if message.by_user else None, is_last=is_last
            ):
                found[-1].add(sentence)
                continue
            saved = _of_user(sentence, asked) if message.by_user else _of_agent(sentence, after)
            if saved[1]:
                found.append(_finding(saved, message, number))
        last = said[-1] if said and not message.by_user else ""
        question = last if last.endswith("?") and len(last) <= _MAX_QUESTION else ""
    for one in found:
        one.first, one.text = _one_line(one.first or one.text), _one_line(one.text)
        yield one


def _finding(saved: tuple[str, str], message: Message, number: int) -> Finding:
    text, category = saved
    return Finding(
        text=text, category=category, by_user=message.by_user, said=message.at, message=number
    )


def _belongs(
    found: Sequence[Finding], number: int, sentence: str, asked: str | None, *, is_last: bool
) -> bool:
    """Whether a sentence goes with the one found last: it leans on it, or the user corrects it (`asked`)."""
    if is_last and not is_small_talk(sentence) and not sentence.endswith("?"):
        return True
    return asked is not None and _corrects(found, number, sentence, asked)


def _one_line(text: str) -> str:
    return " ".join(cut(text, _MAX_CHARS).text.split())


def _of_user(sentence: str, question: str) -> tuple[str, str]:
    """What to save of a sentence of the user, and its category; "" if nothing."""
    kind = kind_of(sentence)
    if question and (answer := _answer(sentence, question, kind)):
        return answer
    if is_small_talk(sentence) or (sentence.endswith("?") and kind != "open"):
        return "", ""
    if begins("request", sentence) and kind not in ("preference", "open"):
        return "", ""
    if kind:
        is_moment = (
            kind in ("open", "insight") and says("moment", sentence) and not _is_fact(sentence)
        )
        return ("", "") if is_moment else (sentence, CATEGORIES.get(kind, kind))
    return (sentence, "fact") if _is_fact(sentence) and not says("moment", sentence) else ("", "")


def _is_fact(sentence: str) -> bool:
    """Whether it names something, or is about the user's own life, in a few words."""
    length = len(sentence.split())
    if _values(sentence) or names_and_numbers(sentence) or _IDENTIFIER.search(sentence):
        return length >= 3
    return length >= _MIN_FACT_WORDS and bool(
        _OWN.search(plain(sentence)) or length > _MIN_FACT_WORDS
    )


def _answer(sentence: str, question: str, kind: str) -> tuple[str, str] | None:
    """A short answer with its question; None if it is a whole sentence, or only says yes to an offer."""
    length = len(sentence.split())
    is_offer = bool(_OFFER.search(plain(question)))
    if length > _ANSWER_WORDS or sentence.endswith("?") or begins("request", sentence):
        return None
    if is_small_talk(sentence) or (is_offer and not (kind or _values(sentence))):
        return "", ""
    is_whole = length >= _MIN_FACT_WORDS and _OWN.search(plain(sentence))
    if is_whole or says("moment", sentence):
        return None
    return f"{question} {sentence}", CATEGORIES.get(kind, kind) or "fact"


def _of_agent(sentence: str, after: Message | None) -> tuple[str, str]:
    """An agent's findings, what it knows of the user, and decisions that the user agrees to."""
    kind = kind_of(sentence)
    length = len(sentence.split())
    if sentence.endswith("?") or length < _MIN_FACT_WORDS or is_small_talk(sentence):
        return "", ""
    is_shared = bool(_SHARED.search(plain(sentence)))
    if kind == "insight" and length >= _MIN_INSIGHT_WORDS and not _BECAUSE.match(plain(sentence)):
        return sentence, "learned"
    if kind in ("decision", "deadline") and is_shared:
        agrees = after is not None and after.by_user and _assents(after.text)
        return (sentence, "decision") if agrees else ("", "")
    is_fact = not kind and is_shared and len(names_and_numbers(sentence)) >= 3
    return (sentence, "fact") if is_fact and not says("moment", sentence) else ("", "")


def _assents(text: str) -> bool:
    first = next(iter(sentences(text)), "")
    return is_small_talk(first) and not begins("correction", first)


def _corrects(found: Sequence[Finding], number: int, sentence: str, question: str) -> bool:
    """Whether a short sentence belongs to the one found last, so that no first value is saved alone.

    It says so («no, the 27th»), or is nothing but another value of the same kind («16 actually»).
    """
    if not found or not found[-1].by_user or number - found[-1].message > 2:
        return False
    last, length = found[-1], len(sentence.split())
    if last.is_open and not is_small_talk(sentence) and length <= _CORRECTION_WORDS:
        return True
    if length > _CORRECTION_WORDS or sentence.endswith("?") or begins("request", sentence):
        return False
    values, before = _values(sentence), _values(last.text)
    is_cued = says("correction", sentence)
    if question:  # «no» and «the 8th» may answer it
        return is_cued and bool(values & before or (values and before)) and len(values) < length
    if is_cued:
        return length > 1 or number == last.message
    is_bare = length <= _BARE_WORDS and number > last.message
    return is_bare and bool(_kinds(sentence) & _kinds(last.text)) and not kind_of(sentence)


def _values(text: str) -> set[str]:
    return {word for word in words(text) if _kind(word)}


def _kinds(text: str) -> set[str]:
    return {kind for word in words(text) if (kind := _kind(word))}


def _kind(word: str) -> str:
    if any(char.isdigit() for char in word):
        return "number"
    return "day" if word in WEEKDAYS or word in MONTHS else ""


def _is_secret(sentence: str, question: str) -> bool:
    """Whether it holds a secret, by itself or as the answer: «What is the password?»."""
    as_asked = f"{question.rstrip(' ?')}: {sentence}" if question else sentence
    return surely_holds_secret(sentence) or surely_holds_secret(as_asked)


def flush(  # noqa: PLR0913 - each says how to save
    place: Workplace,
    store: Store,
    chat: Chat,
    channels: tuple[str, str],
    session: str,
    *,
    dry_run: bool,
    include_secret: bool,
) -> tuple[FlushReport, bool]:
    """Save what is worth it and not known yet, as a job; returns whether MEMORY.md may be over its limits now.

    `channels` are that of the user and of the agent.
    """
    findings = list(extract(chat.messages))
    known, forgotten = Known(), dict[str, Tombstone]()
    if findings and store.profile.exists:
        records = store.records(include_secret=include_secret, include_past=True)
        with place.reading() as folder:
            texts = [one.text for one in findings]
            known = Known.of(
                folder, records, texts, place.clock.now(), include_secret=include_secret
            )
            forgotten = {stone.digest: stone for stone in tombstones(folder.read)}
            undone = undone_by(folder.read(UNDONE), NAME)
    else:
        undone = frozenset()
    refused: list[str] = []
    drafts: list[Record] = []
    skipped = 0
    for one in findings:
        if known.has(one.text, one.said, session) or digest(one.text) in undone:
            skipped += 1
            continue
        try:
            gate.refuse_forgotten(forgotten.get(digest(one.text)))
            draft = _record(store, one, session, channels[not (one.by_user and chat.is_sure)])
            first = known.current(one.first, session) if one.first != one.text else None
            if first is not None and first.provenance.channel == draft.provenance.channel:
                draft = replace(draft, category=first.category, supersedes=first.id)
            gate.check_record(draft)
        except RefusedError as error:
            refused.append(error.message)
            continue
        known.add(draft)
        drafts.append(gate.mark_keys(draft))
    saved, report_id, is_over_limit = (
        (drafts, None, False) if dry_run else _save(place, store, drafts)
    )
    flushed = tuple(
        Flushed(text=one.text, category=one.category, id=None if dry_run else one.id)
        for one in saved
    )
    report = FlushReport(
        id=report_id,
        saved=flushed,
        known=skipped,
        refused=tuple(refused),
        dry_run=dry_run,
        warnings=chat.warnings,
    )
    return report, is_over_limit


def covered(path: str, hunk: Hunk) -> Iterator[str]:
    """The digests of the texts that were saved of a chat: undone, they are not saved again."""
    yield from (digest(record.text) for _, record in Document.parse(path, hunk.inserted).records())


def _record(store: Store, found: Finding, session: str, channel: str) -> Record:
    # Hosts cut texts in the middle of an emoji: U+FFFD for each lone surrogate.
    data = gate.whole_characters(found.text).encode("utf-8", "surrogatepass")
    said_by = {"said_by": "user" if found.by_user else "assistant"}
    draft = store.draft(
        data.decode("utf-8", "replace"), channel, category=found.category, session=session
    )
    return replace(draft, metadata=said_by)


def _save(
    place: Workplace, store: Store, drafts: Sequence[Record]
) -> tuple[Sequence[Record], str | None, bool]:
    """Append all records in one transaction, and keep a report by which they can be taken back."""
    if not drafts:
        return (), None, False
    now = place.clock.now()
    paths = (store.config.profile.primary, daily_log(place.clock.day_of(now)))
    report_id = None
    with store.writing() as transaction:
        folder = transaction.folder
        before = {path: folder.read(path) for path in paths}

        def plan_report(saved: Sequence[Record]) -> None:
            nonlocal report_id
            changes = [
                replaced(path, before[path], transaction.planned(path)) for path in reversed(paths)
            ]
            if not any(changes):
                return
            report_id = new_job_id(folder, NAME, now)
            report = JobReport(
                id=report_id,
                job=NAME,
                status="done",
                created=now,
                lines=(f"saved from a chat: {counted(len(saved), 'record')}",),
                counts={"saved": len(saved)},
                changes=tuple(change for change in changes if change is not None),
            )
            transaction.replace(job_path(report), encode_report(report), None)

        saved = store.journal.append(transaction, drafts, before_commit=plan_report)
        prune_jobs(folder)
        is_over_limit = store.may_be_over_limit(transaction)
    return saved, report_id, is_over_limit
