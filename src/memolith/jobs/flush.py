"""What of a chat is worth a record: every statement of the user that is not a question or a request."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from memolith.errors import MemolithError, RefusedError
from memolith.files import gate
from memolith.files.document import Document
from memolith.files.layout import daily_log
from memolith.files.ledger import NO_MARKS, Ledger, digest, records_with, tombstones
from memolith.files.notes import is_note_path, records_in
from memolith.files.record_format import encode_json
from memolith.files.transaction import Transaction
from memolith.jobs.changes import replaced
from memolith.jobs.chat import Chat, Message
from memolith.jobs.history import UNDONE, encode_report, job_path, new_job_id, prune_jobs, undone_by
from memolith.jobs.job import Job, Plan, Snapshot
from memolith.jobs.reports import Flushed, FlushReport, Hunk, JobReport
from memolith.jobs.run import trim
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
from memolith.visibility import trust, visible

NAME = "flush"

_MAX_CHARS = 500
_MAX_QUESTION = 160  # characters of an agent's question that is saved with its answer
_CORRECTION_WORDS, _BARE_WORDS, _ANSWER_WORDS = 8, 4, 6
_MIN_WORDS, _MIN_WORDS_OF_AN_INSIGHT = 3, 6
_SHARED = re.compile(r"\b(?:we|you|your|our|hemos|tu|tus|nuestr\w+|wir|du|dein\w*|unser\w*)\b")


@dataclass(slots=True)
class Finding:
    """A sentence worth keeping, with what corrects it; the category, and who said it."""

    text: str
    category: str
    by_user: bool
    said: datetime | None
    message: int
    first: str  # the text without its corrections

    def add(self, sentence: str) -> None:
        """One more sentence, which corrects this one."""
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
            is_theirs = last and last.by_user and message.by_user
            goes_on = last and leans and last.message == number and not _tells_nothing(sentence)
            if last and (goes_on or (is_theirs and _corrects(last.text, sentence))):
                last.add(sentence)
                continue
            is_answer = bool(asked) and len(sentence.split()) <= _ANSWER_WORDS
            kind = kind_of(sentence)
            category = (
                _of_user(sentence, kind, is_answer=is_answer)
                if message.by_user
                else _of_agent(sentence, kind, agrees=agrees)
            )
            if category:
                text = f"{asked} {sentence}" if is_answer else sentence
                found.append(Finding(text, category, message.by_user, message.at, number, text))
        last_said = said[-1] if said and not message.by_user else ""
        is_asked = last_said.endswith("?") and len(last_said) <= _MAX_QUESTION
        question = last_said if is_asked else ""
    for one in found:
        one.first, one.text = _one_line(one.first), _one_line(one.text)
        yield one


def _one_line(text: str) -> str:
    return " ".join(cut(text, _MAX_CHARS).split())


def _tells_nothing(sentence: str) -> bool:
    return sentence.endswith("?") or is_small_talk(sentence)


def _of_user(sentence: str, kind: str, *, is_answer: bool) -> str:
    """The category of what a user said; "" if it is not worth keeping: questions, requests, small talk."""
    if is_small_talk(sentence) or (sentence.endswith("?") and kind != "open"):
        return ""
    if kind not in ("preference", "open") and begins("request", sentence):
        return ""
    is_of_the_moment = says("moment", sentence) and not names_and_numbers(sentence)
    if kind in ("", "open", "insight") and is_of_the_moment and not is_answer:
        return ""
    is_fact = is_answer or len(sentence.split()) >= _MIN_WORDS
    return CATEGORIES.get(kind, kind) or ("fact" if is_fact else "")


def _of_agent(sentence: str, kind: str, *, agrees: bool) -> str:
    """What an agent found out, and decisions for both that the user agrees to."""
    if _tells_nothing(sentence):
        return ""
    if kind == "insight":
        return "learned" if len(sentence.split()) >= _MIN_WORDS_OF_AN_INSIGHT else ""
    is_decision = kind in ("decision", "deadline") and _SHARED.search(plain(sentence))
    return "decision" if is_decision and agrees else ""


def _assents(message: Message) -> bool:
    first = next(iter(sentences(message.text)), "")
    return message.by_user and is_small_talk(first) and not begins("correction", first)


def _corrects(last: str, sentence: str) -> bool:
    """Whether a short sentence belongs to the one found last, so that no first value is saved alone.

    It says so («no, the 27th»), or is nothing but another value («the 16th»).
    """
    length = len(sentence.split())
    if length > _CORRECTION_WORDS or sentence.endswith("?") or begins("request", sentence):
        return False
    is_bare = length <= _BARE_WORDS and not kind_of(sentence)
    return says("correction", sentence) or (is_bare and _has_value(sentence) and _has_value(last))


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

    def current(self, text: str, draft: Record) -> Record | None:
        """What was saved of the same session and speaker in exactly these words, if it still holds."""
        for record, until in self._said[copy_key(text)]:
            is_same = (record.text, record.session) == (text, draft.session)
            if until is None and is_same and record.provenance.channel == draft.provenance.channel:
                return record
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class FlushPlan(Plan):
    """The records that are to be saved."""

    drafts: Sequence[Record]
    known: int
    refused: Sequence[str]  # why


class FlushJob(Job[FlushPlan]):
    """Save what is worth it of a chat and not known yet.

    It appends, so it waits for no other job; nobody is asked before a chat is lost.
    """

    name = NAME
    may_wait = False

    def __init__(
        self, store: Store, chat: Chat, channel: str, session: str, *, include_secret: bool
    ) -> None:
        """`channel` is that of the caller."""
        super().__init__(store)
        self._chat, self._channel = chat, channel
        self._session, self._include_secret = session, include_secret

    def plan(self, snapshot: Snapshot | None) -> FlushPlan:
        """What deserves a record, and was neither known, forgotten nor undone; there may be no memory yet."""
        findings = list(extract(self._chat.messages))
        known = self._known(findings, snapshot)
        forgotten = {stone.digest: stone for stone in tombstones(snapshot.read)} if snapshot else {}
        undone = undone_by(snapshot.read(UNDONE) if snapshot else None, NAME)
        drafts, refused = list[Record](), list[str]()
        for one in findings:
            if known.has(one, self._session) or digest(one.text) in undone:
                continue
            try:
                gate.refuse_forgotten(forgotten.get(digest(one.text)))
                draft = gate.checked_record(self._draft(one, known))
            except RefusedError as error:
                refused.append(error.message)
            else:
                known.add(draft)
                drafts.append(draft)
        return FlushPlan(
            lines=(f"saved from a chat: {counted(len(drafts), 'record')}",),
            counts={"saved": len(drafts)},
            drafts=drafts,
            known=len(findings) - len(drafts) - len(refused),
            refused=refused,
        )

    def _known(self, findings: Sequence[Finding], snapshot: Snapshot | None) -> Known:
        """Of MEMORY.md and notes every record, past ones too; of other files those with one of these texts."""
        if not (findings and snapshot):
            return Known(NO_MARKS, self.store.clock.now())
        ledger = snapshot.ledger()
        known = Known(ledger, self.store.clock.now())
        texts = [b'"text":' + encode_json(one.text) for one in findings]
        for path in snapshot.files_and_archives():
            data = snapshot.read(path) or b""
            is_listed = path == self.store.config.profile.primary or is_note_path(path)
            for record in records_in(path, data) if is_listed else records_with(path, data, texts):
                if visible(ledger.strictest(record), include_secret=self._include_secret):
                    known.add(record)
        return known

    def _draft(self, found: Finding, known: Known) -> Record:
        # Only what is surely the user's is trusted like the user.
        is_users = found.by_user and self._chat.is_sure
        channel = self._channel if is_users or trust(self._channel) != "user" else "agent"
        # Hosts cut texts in the middle of an emoji.
        text = gate.whole_characters(found.text).encode("utf-8", "replace").decode()
        said_by = {"said_by": "user" if found.by_user else "assistant"}
        draft = self.store.draft(
            text, channel, category=found.category, session=self._session, metadata=said_by
        )
        first = known.current(found.first, draft) if found.first != found.text else None
        return replace(draft, category=first.category, supersedes=first.id) if first else draft

    @staticmethod
    def covered(path: str, hunk: Hunk) -> Iterator[str]:
        """The digests of the texts that were saved: undone, they are not saved again."""
        found = Document.parse(path, hunk.inserted).records()
        yield from (digest(record.text) for _, record in found)

    def run(self, *, dry_run: bool) -> FlushReport:
        """Plan and save."""
        if self.store.profile.exists:
            with self.store.existing() as folder:
                plan = self.plan(Snapshot(folder))
        else:
            plan = self.plan(None)
        report = FlushReport(
            saved=tuple(Flushed(text=one.text, category=one.category) for one in plan.drafts),
            known=plan.known,
            refused=tuple(plan.refused),
            dry_run=dry_run,
            warnings=self._chat.warnings,
        )
        return report if dry_run or not plan.drafts else self._saved(plan, report)

    def _saved(self, plan: FlushPlan, report: FlushReport) -> FlushReport:
        """Append all records in one transaction, and keep a report by which they can be taken back."""
        kept: list[str] = []
        with self.store.writing() as transaction:
            records = self.store.journal.append(
                transaction,
                plan.drafts,
                before_commit=lambda _: kept.extend(self._keep_report(transaction, plan)),
            )
            prune_jobs(transaction.folder)
            is_over_limit = self.store.may_be_over_limit(transaction)
        if is_over_limit:
            with suppress(MemolithError):  # the records are on disk, and the next one tries again
                trim(self.store)
        saved = tuple(Flushed(text=one.text, category=one.category, id=one.id) for one in records)
        return replace(report, id=next(iter(kept), None), saved=saved)

    def _keep_report(self, transaction: Transaction, plan: FlushPlan) -> Iterator[str]:
        """Plan the report of what is about to be appended; gives its id, unless nothing is new."""
        folder, now = transaction.folder, self.store.clock.now()
        paths = (daily_log(self.store.clock.day_of(now)), self.store.config.profile.primary)
        changes = [replaced(one, folder.read(one), transaction.planned(one)) for one in paths]
        if any(changes):
            job_id = new_job_id(folder, NAME, now)
            job = JobReport(
                id=job_id,
                job=NAME,
                status="done",
                created=now,
                lines=plan.lines,
                counts=plan.counts,
                changes=tuple(filter(None, changes)),
            )
            transaction.replace(job_path(job), encode_report(job), None)
            yield job_id
