"""What of a chat is worth a record: every statement of the user that is not a question or a request."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from memolith.errors import RefusedError
from memolith.files import gate
from memolith.files.document import Document
from memolith.files.layout import daily_log
from memolith.files.ledger import NO_MARKS, Ledger, digest, records_with, tombstones
from memolith.files.notes import is_note_path, records_in
from memolith.files.record_format import encode_json
from memolith.jobs.changes import replaced
from memolith.jobs.chat import Chat, Message
from memolith.jobs.history import UNDONE, encode_report, job_path, new_job_id, prune_jobs, undone_by
from memolith.jobs.job import Job, Plan, Snapshot, Workplace
from memolith.jobs.reports import Flushed, FlushReport, Hunk, JobReport
from memolith.store import Store
from memolith.text.budget import cut
from memolith.text.cues import CATEGORIES, begins, is_small_talk, kind_of, plain, says
from memolith.text.date_phrases import MONTHS, WEEKDAYS
from memolith.text.host_text import own_text
from memolith.text.lines import read_lines
from memolith.text.names import names_and_numbers
from memolith.text.open_secrets import surely_holds_secret
from memolith.text.quotation import without_recalled
from memolith.text.sentences import sentences
from memolith.text.similarity import copy_key
from memolith.text.tokens import words
from memolith.text.wording import counted
from memolith.types import Record
from memolith.visibility import visible

NAME = "flush"

_MAX_CHARS = 500
_MAX_QUESTION = 160  # characters of an agent's question that is saved with its answer
_CORRECTION_WORDS, _BARE_WORDS, _ANSWER_WORDS = 8, 4, 6
_MIN_WORDS, _MIN_WORDS_WITH_A_NAME, _MIN_WORDS_OF_AN_INSIGHT = 4, 3, 6
_SHARED = re.compile(r"\b(?:we|you|your|our|hemos|tu|tus|nuestr\w+|wir|du|dein\w*|unser\w*)\b")
_NAMES_OF_A_FACT = 3  # names and numbers in what an agent knows of the user


@dataclass(slots=True)
class Finding:
    """A sentence worth keeping, with what corrects it; the category, and who said it."""

    text: str
    category: str
    by_user: bool
    said: datetime | None = None
    message: int = field(default=0, repr=False)
    first: str = field(default="", repr=False)  # the text without its corrections

    def add(self, sentence: str) -> None:
        """One more sentence, which corrects this one."""
        self.first = self.first or self.text
        ended = self.text if self.text[-1] in ".!?…:;)" else f"{self.text}."
        self.text = f"{ended} {sentence}"


def extract(messages: Iterable[Message]) -> Iterator[Finding]:
    """What is worth keeping, in the order in which it was said; nothing that was recalled before."""
    found: list[Finding] = []
    chat = list(messages)
    question = ""
    for number, message in enumerate(chat):
        said = list(sentences(own_text(without_recalled(message.text))))
        agrees = any(map(_assents, chat[number + 1 : number + 2]))
        is_secret = False
        for place, sentence in enumerate(said):
            asked = question if place == 0 and message.by_user else ""
            leans = place > 0 and begins("leaning", sentence)  # «It should always work.»
            is_secret = _is_secret(sentence, asked) or (is_secret and leans)
            if is_secret:
                continue
            last = found[-1] if found and number - found[-1].message <= 2 else None
            if last and _belongs(last, message, number, sentence, asked, leans=leans):
                last.add(sentence)
                continue
            text, category = (
                _of_user(sentence, asked) if message.by_user else _of_agent(sentence, agrees=agrees)
            )
            if category:
                found.append(Finding(text, category, message.by_user, message.at, number))
        last_said = said[-1] if said and not message.by_user else ""
        is_asked = last_said.endswith("?") and len(last_said) <= _MAX_QUESTION
        question = last_said if is_asked else ""
    for one in found:
        one.first, one.text = _one_line(one.first or one.text), _one_line(one.text)
        yield one


def _belongs(
    last: Finding, message: Message, number: int, sentence: str, asked: str, *, leans: bool
) -> bool:
    """Whether a sentence goes with the one found last: it leans on it, or the user corrects it."""
    if leans and last.message == number and not (is_small_talk(sentence) or sentence[-1] == "?"):
        return True
    is_theirs = message.by_user and last.by_user
    return is_theirs and _corrects(last, sentence, asked, is_same=last.message == number)


def _one_line(text: str) -> str:
    return " ".join(cut(text, _MAX_CHARS).split())


def _of_user(sentence: str, question: str) -> tuple[str, str]:
    """What to save of a sentence of the user, and its category; "" if nothing."""
    kind = kind_of(sentence)
    is_question = sentence.endswith("?") and kind != "open"
    is_request = begins("request", sentence) and kind not in ("preference", "open")
    if is_small_talk(sentence) or is_question or is_request:
        return "", ""
    length = len(sentence.split())
    is_named = _has_value(sentence) or bool(names_and_numbers(sentence))
    is_fact = length >= (_MIN_WORDS_WITH_A_NAME if is_named else _MIN_WORDS)
    category = CATEGORIES.get(kind, kind)
    if question and length <= _ANSWER_WORDS:
        return f"{question} {sentence}", category or "fact"
    if kind in ("", "open", "insight") and says("moment", sentence) and not is_named:
        return "", ""
    return sentence, category or ("fact" if is_fact else "")


def _of_agent(sentence: str, *, agrees: bool) -> tuple[str, str]:
    """What an agent found out, what it knows of the user, and decisions that the user agrees to."""
    kind = kind_of(sentence)
    if sentence.endswith("?") or is_small_talk(sentence):
        return "", ""
    if kind == "insight" and len(sentence.split()) >= _MIN_WORDS_OF_AN_INSIGHT:
        return sentence, "learned"
    is_shared = bool(_SHARED.search(plain(sentence)))
    if is_shared and kind in ("decision", "deadline"):
        return sentence, "decision" if agrees else ""
    is_named = len(names_and_numbers(sentence)) >= _NAMES_OF_A_FACT
    return sentence, "fact" if is_shared and is_named and not kind else ""


def _assents(message: Message) -> bool:
    first = next(iter(sentences(message.text)), "")
    return message.by_user and is_small_talk(first) and not begins("correction", first)


def _corrects(last: Finding, sentence: str, asked: str, *, is_same: bool) -> bool:
    """Whether a short sentence belongs to the one found last, so that no first value is saved alone.

    It says so («no, the 27th»), or is nothing but another value («16 actually»).
    """
    length = len(sentence.split())
    is_request = sentence.endswith("?") or begins("request", sentence)
    if length > _CORRECTION_WORDS or is_request:
        return False
    have_values = _has_value(sentence) and _has_value(last.text)
    if says("correction", sentence):
        return have_values if asked else length > 1 or is_same
    is_bare = length <= _BARE_WORDS and not (is_same or asked or kind_of(sentence))
    return is_bare and have_values


def _has_value(text: str) -> bool:
    """Whether it has a number, a weekday or a month."""
    return any(
        word in WEEKDAYS or word in MONTHS or any(map(str.isdigit, word)) for word in words(text)
    )


def _is_secret(sentence: str, question: str) -> bool:
    """Whether it holds a secret, by itself or as the answer: «What is the password?»."""
    as_asked = f"{question.rstrip(' ?')}: {sentence}" if question else sentence
    return surely_holds_secret(sentence) or surely_holds_secret(as_asked)


class Known:
    """Texts of records, with near copies of them, and until when each held."""

    def __init__(self, ledger: Ledger, now: datetime) -> None:
        """Nothing is known yet; the ledger says what was replaced."""
        self._ledger, self._now = ledger, now
        self._said: dict[object, list[tuple[Record, datetime | None]]] = defaultdict(list)

    def add(self, record: Record) -> None:
        """One more, and the lines of a summary."""
        until = self._ledger.replaced_at(record.id)
        if until is None and record.expires is not None and record.expires <= self._now:
            until = record.expires
        lines = read_lines(record.text) if record.category == "compaction" else ()
        for text in (record.text, *(line.text for line in lines)):
            self._said[copy_key(text)].append((record, until))

    def has(self, found: Finding, session: str) -> bool:
        """Whether a record says this; one that holds no longer only if it held when this was said.

        Without a moment the session decides: a chat that is handed over again says nothing new.
        """
        said = found.said
        return any(
            until is None or (said < until if said is not None else session == record.session)
            for record, until in self._said[copy_key(found.text)]
        )

    def current(self, text: str, session: str) -> Record | None:
        """The record of this session that says exactly this and still holds."""
        for record, until in self._said[copy_key(text)]:
            if until is None and record.session == session and record.text == text:
                return record
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class FlushPlan(Plan):
    """The records that are to be saved."""

    drafts: tuple[Record, ...] = ()
    known: int = 0
    refused: tuple[str, ...] = ()  # why


class FlushJob(Job[FlushPlan]):
    """Save what is worth it of a chat and not known yet.

    It appends, so it waits for no other job; nobody is asked before a chat is lost.
    """

    name = NAME
    may_wait = False

    def __init__(
        self,
        place: Workplace,
        store: Store,
        chat: Chat,
        channels: tuple[str, str],
        session: str,
        *,
        include_secret: bool,
    ) -> None:
        """`channels` are that of the user and of the agent."""
        super().__init__(place)
        self._store, self._chat, self._session = store, chat, session
        self._channels, self._include_secret = channels, include_secret

    def plan(self, snapshot: Snapshot) -> FlushPlan:
        """What is worth a record, and was neither known, forgotten nor undone."""
        findings = list(extract(self._chat.messages))
        if not findings:
            return FlushPlan()
        ledger, known = snapshot.ledger(), Known(snapshot.ledger(), self._place.clock.now())
        # Of MEMORY.md and notes every record counts, past ones too; elsewhere those with one of these texts.
        texts = [b'"text":' + encode_json(one.text) for one in findings]
        for path in snapshot.files_and_archives():
            data = snapshot.read(path) or b""
            is_listed = path == self._place.config.profile.primary or is_note_path(path)
            for record in records_in(path, data) if is_listed else records_with(path, data, texts):
                if visible(ledger.strictest(record), include_secret=self._include_secret):
                    known.add(record)
        return self._chosen(findings, known, snapshot.read)

    def _chosen(
        self, findings: Iterable[Finding], known: Known, read: Callable[[str], bytes | None]
    ) -> FlushPlan:
        forgotten = {stone.digest: stone for stone in tombstones(read)}
        undone = undone_by(read(UNDONE), NAME)
        refused: list[str] = []
        drafts: list[Record] = []
        skipped = 0
        for one in findings:
            if known.has(one, self._session) or digest(one.text) in undone:
                skipped += 1
                continue
            try:
                gate.refuse_forgotten(forgotten.get(digest(one.text)))
                draft = self._draft(one, known)
                gate.check_record(draft)
            except RefusedError as error:
                refused.append(error.message)
                continue
            known.add(draft)
            drafts.append(gate.mark_keys(draft))
        return FlushPlan(
            lines=(f"saved from a chat: {counted(len(drafts), 'record')}",),
            counts={"saved": len(drafts)},
            drafts=tuple(drafts),
            known=skipped,
            refused=tuple(refused),
        )

    def _draft(self, found: Finding, known: Known) -> Record:
        # Hosts cut texts in the middle of an emoji: U+FFFD for each lone surrogate.
        data = gate.whole_characters(found.text).encode("utf-8", "surrogatepass")
        draft = self._store.draft(
            data.decode("utf-8", "replace"),
            self._channels[not (found.by_user and self._chat.is_sure)],
            category=found.category,
            session=self._session,
            metadata={"said_by": "user" if found.by_user else "assistant"},
        )
        first = known.current(found.first, self._session) if found.first != found.text else None
        if first is not None and first.provenance.channel == draft.provenance.channel:
            return replace(draft, category=first.category, supersedes=first.id)
        return draft

    @staticmethod
    def covered(path: str, hunk: Hunk) -> Iterator[str]:
        """The digests of the texts that were saved: undone, they are not saved again."""
        found = Document.parse(path, hunk.inserted).records()
        yield from (digest(record.text) for _, record in found)

    def run(self, *, dry_run: bool) -> tuple[FlushReport, bool]:
        """Plan and save; returns whether MEMORY.md may be over its limits now."""
        if self._store.profile.exists:
            with self._place.reading() as folder:
                plan = self.plan(Snapshot(folder))
        else:
            known = Known(NO_MARKS, self._place.clock.now())
            plan = self._chosen(extract(self._chat.messages), known, lambda path: None)
        report = FlushReport(
            saved=tuple(Flushed(text=one.text, category=one.category) for one in plan.drafts),
            known=plan.known,
            refused=plan.refused,
            dry_run=dry_run,
            warnings=self._chat.warnings,
        )
        return (report, False) if dry_run or not plan.drafts else self._saved(plan, report)

    def _saved(self, plan: FlushPlan, report: FlushReport) -> tuple[FlushReport, bool]:
        """Append all records in one transaction, and keep a report by which they can be taken back."""
        now = self._place.clock.now()
        paths = (daily_log(self._place.clock.day_of(now)), self._place.config.profile.primary)
        with self._place.writing() as transaction:
            folder = transaction.folder
            before = {path: folder.read(path) for path in paths}
            kept: list[str] = []

            def plan_report(saved: Sequence[Record]) -> None:
                del saved
                changes = [replaced(one, before[one], transaction.planned(one)) for one in paths]
                if any(changes):
                    kept.append(new_job_id(folder, NAME, now))
                    job = JobReport(
                        id=kept[0],
                        job=NAME,
                        status="done",
                        created=now,
                        lines=plan.lines,
                        counts=plan.counts,
                        changes=tuple(filter(None, changes)),
                    )
                    transaction.replace(job_path(job), encode_report(job), None)

            records = self._store.journal.append(
                transaction, plan.drafts, before_commit=plan_report
            )
            prune_jobs(folder)
            is_over_limit = self._store.may_be_over_limit(transaction)
        saved = tuple(Flushed(text=one.text, category=one.category, id=one.id) for one in records)
        return replace(report, id=next(iter(kept), None), saved=saved), is_over_limit
