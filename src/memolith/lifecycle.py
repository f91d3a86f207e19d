"""`Memory.jobs`: everything that tidies a memory, each as plan, draft and apply."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from memolith.clock import Clock
from memolith.config.load import key_from
from memolith.errors import MemolithError, RefusedError
from memolith.files import gate
from memolith.files.passages import marked_in
from memolith.files.tombstones import Tombstone, digest, tombstones
from memolith.jobs import apply, diffs, kept
from memolith.jobs.chat import read_chat
from memolith.jobs.compact import CompactJob
from memolith.jobs.dream import DreamJob
from memolith.jobs.dreaming.explain import dream_status, explain
from memolith.jobs.dreaming.settle import settle
from memolith.jobs.experiences import ExperienceJob, move_cursor
from memolith.jobs.flush import Finding, extract
from memolith.jobs.integrity import scan
from memolith.jobs.job import Job, P, Workplace
from memolith.jobs.kept_damage import damage_told
from memolith.jobs.known_texts import Known
from memolith.jobs.run import ANOTHER_JOB, run_job, run_unattended
from memolith.jobs.schedule import Run, last_runs, note_run
from memolith.jobs.told_before import told_before
from memolith.jobs.trim import TrimJob
from memolith.jobs.validation import validated
from memolith.llm.choose import choose_summariser
from memolith.llm.prompt_files import load_prompt
from memolith.opened import open_with
from memolith.reports import (
    DreamExplanation,
    DreamStatus,
    Flushed,
    FlushReport,
    JobReport,
    ScanReport,
)
from memolith.store import Store
from memolith.types import Progress
from memolith.visibility import trust


class Jobs:
    """The jobs of one memory: run them, look at what they did, apply proposals, undo."""

    def __init__(
        self, store: Store, place: Workplace, changed: Callable[[], Sequence[str]]
    ) -> None:
        """`changed` is called after files were changed; it tells what of the index is not in line."""
        self._store = store
        self._place = place
        self._changed = changed

    @property
    def clock(self) -> Clock:
        """The clock by which jobs are due."""
        return self._place.clock

    def trim(self, *, dry_run: bool = False) -> JobReport:
        """Bring MEMORY.md under its limits (`trim.max_records`, `trim.max_chars`)."""
        config = self._place.config
        return self._run(TrimJob(config.profile.primary, config.trim), dry_run=dry_run)

    def compact(self, *, dry_run: bool = False) -> JobReport:
        """Summarise old records until MEMORY.md is under the limits of `compact`."""
        config = self._place.config
        key = "" if dry_run else key_from(config.llm.key, "llm.key")  # a dry run sends nothing
        summariser = choose_summariser(config.llm, key)
        by_hand = self._place.by_hand
        job = CompactJob(config, self._place.clock, summariser, by_hand=by_hand)
        return self._validated(self._run(job, dry_run=dry_run))

    def dream(
        self, *, dry_run: bool = False, again: bool = False, progress: Progress | None = None
    ) -> JobReport:
        """Promote into MEMORY.md what is asked for again and again; see `dream_status`, `explain`.

        What is known of recalls is brought up to date too. A dry run writes nothing at all. `again`
        allows what you undid or declined before (`dream_status` lists it). `progress`
        is told steps done and in all; until files are changed, it may raise to stop the dream.
        """
        place = replace(self._place, progress=progress) if progress else self._place
        job = DreamJob(place, again=again)
        report = self._told(run_job(place, job, dry_run=dry_run))
        if dry_run or report.reason == ANOTHER_JOB:
            return report
        aside = settle(self._place, job, with_diary=report.status == "skipped")
        warnings = tuple(f"{path} could not be read in full; it was set aside." for path in aside)
        return replace(report, warnings=(*report.warnings, *warnings))

    def dream_status(self) -> DreamStatus:
        """What is tracked, and what a dream would promote now."""
        return dream_status(self._place)

    def explain(self, key: str) -> DreamExplanation:
        """Why a statement is promoted or not; by its key, citation, record id or claim."""
        gate.check_is_text(key=key)
        return explain(self._place, key)

    def extract_experiences(self, *, dry_run: bool = False) -> JobReport:
        """Take into the experience store what is new since the last run, and not said there yet."""
        started = self._place.clock.now()
        report = self._run(ExperienceJob(self._place), dry_run=dry_run)
        waits = report.status == "proposed" and bool(report.reason)  # an earlier proposal
        if not dry_run and report.reason != ANOTHER_JOB and not waits:
            move_cursor(self._place, started)
        return report

    def flush(
        self,
        turns: str | Sequence[Mapping[str, object]],
        *,
        session: str = "main",
        dry_run: bool = False,
        include_secret: bool = True,
    ) -> FlushReport:
        """Save what matters of a chat that is about to be lost, unless it is known already.

        `turns` is a list of messages (`role` and `content`, or as JSON), lines of JSON, or text with "User:" and
        "Assistant:". Who said it is in the metadata of a record (`said_by`); what is not surely the user's is
        trusted as an agent's, whoever calls.
        Whoever may not see secret records must not learn by `known` what they say: for them,
        `include_secret` is false.
        """
        gate.check_is_text(session=session)
        chat = read_chat(turns)
        found = list(extract(chat.messages))
        known, forgotten = self._known(found, include_secret=include_secret)
        saved: list[Flushed] = []
        refused: list[str] = []
        skipped = 0
        with self._for_an_agent() as by_agent:
            for one in found:
                if known.has(one.text, one.said, session):
                    skipped += 1
                    continue
                known.add(one.text)
                store = self._store if one.by_user and chat.is_sure else by_agent
                try:
                    gate.refuse_forgotten(forgotten.get(digest(one.text)))
                    record_id = "" if dry_run else _save(store, one, session)
                except RefusedError as error:
                    refused.append(error.message)
                else:
                    saved.append(Flushed(text=one.text, category=one.category, id=record_id))
        return FlushReport(
            saved=tuple(saved),
            known=skipped,
            refused=tuple(refused),
            dry_run=dry_run,
            warnings=chat.warnings,
        )

    def _known(
        self, found: Sequence[Finding], *, include_secret: bool
    ) -> tuple[Known, Mapping[str, Tombstone]]:
        """What was told before of what was found, and what was forgotten, by the digests of texts."""
        if not found or not self._store.profile.exists:
            return Known(()), {}
        records = self._store.records(include_secret=include_secret, include_past=True)
        with self._place.reading() as folder:
            known = told_before(
                folder,
                records,
                (one.text for one in found),
                now=self._place.clock.now(),
                archive=self._place.config.trim.archive_path,
                include_secret=include_secret,
            )
            return known, {stone.digest: stone for stone in tombstones(folder.read)}

    def _for_an_agent(self) -> Store:
        """The same memory, by a channel that is not the user's: trust follows the channel."""
        profile, settings, loaded, clock, channel = self._store.__getstate__()
        lower = "agent" if trust(channel) == "user" else channel
        return open_with(Store, (profile, settings, loaded, clock, lower))

    def flush_prompt(self) -> str:
        """What to tell an agent that is to save by itself before its context is shortened."""
        return load_prompt("flush", today=self._place.clock.today().isoformat())

    def scan(self) -> ScanReport:
        """Contradictions, stale and double records, broken citations, open secrets; no fixes."""
        with self._place.reading() as folder:
            return scan(folder, self._place.clock.now())

    def note_run(self, run: Run) -> None:
        """Remember that a schedule ran a job, and what came of it."""
        with self._place.writing() as transaction:
            note_run(transaction, run)

    def scheduled(self) -> tuple[Run, ...]:
        """The last run of each job by a schedule, also if there was nothing to do."""
        with self._place.reading() as folder:
            return tuple(last_runs(folder).values())

    def unattended(self, name: str, elsewhere: Callable[[], JobReport] | None = None) -> JobReport:
        """Run the job with this name as a schedule does: an error becomes a report, which is kept.

        What somebody has undone or declined is not done again. `elsewhere` has it done by another.
        """
        if elsewhere is not None:
            return run_unattended(self._place, name, elsewhere)
        jobs = Jobs(self._store, replace(self._place, by_hand=False), self._changed)
        work = {
            "compact": jobs.compact,
            "dream": jobs.dream,
            "experiences": jobs.extract_experiences,
        }[name]
        return run_unattended(self._place, name, work)

    def list(self) -> tuple[JobReport, ...]:
        """Every job that changed something, failed or waits as a proposal, oldest first."""
        with self._place.reading() as folder:
            return tuple(kept.kept_jobs(folder))

    def damaged(self) -> tuple[str, ...]:
        """What of the kept jobs cannot be read, a sentence for each file."""
        with self._place.reading() as folder:
            return damage_told(folder)

    def show(self, job_id: str) -> JobReport:
        """One job; its id may be shortened, and `last` is the newest."""
        gate.check_is_text(job_id=job_id)
        with self._place.reading() as folder:
            return kept.find_job(folder, job_id)

    def diff(self, job_id: str, *, include_secret: bool = False) -> str:
        """What a job changed, or what a proposal would change, as a unified diff.

        A line stands for each secret record, unless asked for.
        """
        made = self.show(job_id).changes
        with self._place.reading() as folder:
            marked = marked_in(folder, diffs.changed_lines(made))
        return diffs.diff(made, include_secret=include_secret, marked=marked)

    def apply(self, job_id: str) -> JobReport:
        """Apply a proposal; raises FileChangedError when its files were edited since."""
        gate.check_is_text(job_id=job_id)
        return self._validated(self._told(apply.apply_proposal(self._place, job_id)))

    def decline(self, job_id: str) -> JobReport:
        """Delete a proposal."""
        gate.check_is_text(job_id=job_id)
        return apply.decline_proposal(self._place, job_id)

    def undo(self, job_id: str) -> JobReport:
        """Take back what a job changed, byte for byte; what was written since stays."""
        gate.check_is_text(job_id=job_id)
        return self._told(apply.undo_job(self._place, job_id))

    def _run(self, job: Job[P], *, dry_run: bool) -> JobReport:
        return self._told(run_job(self._place, job, dry_run=dry_run))

    def _told(self, report: JobReport) -> JobReport:
        if report.status not in ("done", "undone"):
            return report
        return replace(report, warnings=(*report.warnings, *self._changed()))

    def _validated(self, report: JobReport) -> JobReport:
        if report.status != "done" or report.job != CompactJob.name:
            return report
        try:
            return validated(self._place, report)
        except MemolithError as error:  # the job is done, and stays so
            warning = f"The integrity scan afterwards failed: {error.message}"
            return replace(report, warnings=(*report.warnings, warning))


def _save(store: Store, found: Finding, session: str) -> str:
    said_by = {"said_by": "user" if found.by_user else "assistant"}
    text = gate.unknown_for_halves(found.text)  # hosts cut texts in the middle of an emoji
    return store.remember(text, category=found.category, session=session, metadata=said_by).id
