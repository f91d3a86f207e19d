"""`Memory.jobs`: everything that tidies a memory, each as plan, draft and apply."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from memolith.clock import Clock
from memolith.config.sections import SCHEDULED
from memolith.errors import JobNotFoundError, RefusedError
from memolith.files import gate, layout
from memolith.files.chat_log import parse_turn, sides
from memolith.files.ledger import Ledger, find_record
from memolith.jobs import apply, history, reports
from memolith.jobs.approve import ApproveJob
from memolith.jobs.chat import read_chat
from memolith.jobs.compact import CompactJob, passed_limits
from memolith.jobs.diffs import diff_of
from memolith.jobs.dream import DreamJob
from memolith.jobs.experiences import ExperienceJob, relationships, stored_experiences
from memolith.jobs.flush import FlushJob
from memolith.jobs.forget import forget_record, forget_turns, of_channel
from memolith.jobs.integrity import scan
from memolith.jobs.job import Job, P, index_changes, purge_index
from memolith.jobs.promotion import dream_status, explain
from memolith.jobs.reports import JobList, JobReport
from memolith.jobs.run import apply_proposal, run_job, run_unattended, trim
from memolith.jobs.scheduler import last_runs
from memolith.jobs.timeline import receipts
from memolith.jobs.trim import TrimJob
from memolith.llm.prompts import load_prompt
from memolith.results import SearchResult
from memolith.search.filters import make_filters
from memolith.store import Store
from memolith.text.wording import counted
from memolith.types import Record, Sensitivity
from memolith.visibility import channel_name, trust, trust_in_file, visible

if TYPE_CHECKING:  # it loads NumPy
    from memolith.finder import Finder

# What a proposal or report of the past is about, by the name of its job.
KINDS: Mapping[str, type[Job[Any]]] = {
    kind.name: kind for kind in (TrimJob, CompactJob, DreamJob, ExperienceJob, ApproveJob, FlushJob)
}
# A chat is open if something was said in it this lately.
_OPEN_FOR = timedelta(days=1)


@gate.checks_types
class Jobs:
    """The jobs of one memory: run them, look at what they did, apply proposals, undo."""

    def __init__(
        self, store: Store, channel: str, finder: Callable[[], Finder], *, by_hand: bool = True
    ) -> None:
        """`finder` opens the finder of the memory; without `by_hand`, a schedule runs them."""
        self.store = store
        self.channel = channel
        self._finder = finder
        self._by_hand = by_hand

    @property
    def clock(self) -> Clock:
        """The clock by which jobs are due."""
        return self.store.clock

    def trim(self, *, dry_run: bool = False) -> JobReport:
        """Bring MEMORY.md under its limits (`trim.max_records`, `trim.max_chars`)."""
        return self._synced(trim(self.store, dry_run=dry_run))

    def compact(self, *, dry_run: bool = False) -> JobReport:
        """Summarise old records until MEMORY.md is under the limits of `compact`.

        What matters of the chats of the last day is saved first, as `flush` does.
        """
        saved = 0 if dry_run else self._flush_open_chats()
        report = self._run(CompactJob(self.store), dry_run=dry_run)
        if not saved:
            return report
        line = f"saved before, from the chats of the last day: {counted(saved, 'record')}"
        return replace(report, lines=(line, *report.lines))

    def _flush_open_chats(self) -> int:
        """Save what matters of chats that are still open; returns how many records that made."""
        store = self.store
        with store.existing() as folder:
            if not passed_limits(store.config, folder):
                return 0  # nothing is going to be compacted
            lines = (folder.read(layout.CONVERSATIONS) or b"").split(b"\n")
        said: dict[tuple[str, str], list[Mapping[str, object]]] = defaultdict(list)
        for turn in filter(None, map(parse_turn, filter(None, lines))):
            is_ours = trust_in_file(turn.platform, store.config.trust.external) != "external"
            if is_ours and turn.created >= store.clock.now() - _OPEN_FOR:
                said[turn.chat, turn.platform or self.channel] += (
                    {"role": role, "content": text, "timestamp": turn.created.isoformat()}
                    for role, text in sides(turn)
                )
        return sum(
            len(Jobs(self.store, channel, self._finder).flush(turns, session=chat).saved)
            for (chat, channel), turns in said.items()
        )

    def dream(self, *, dry_run: bool = False, again: bool = False) -> JobReport:
        """Promote into MEMORY.md what is asked for again and again; see `dream_status`, `explain`.

        What is known of recalls is brought up to date too. A dry run writes nothing at all. `again`
        allows what you took out, undid or declined before (`dream_status` lists it).
        """
        return self._run(DreamJob(self.store, again=again), dry_run=dry_run)

    def dream_status(self) -> reports.DreamStatus:
        """What is tracked, and what a dream would promote now."""
        return dream_status(self.store)

    def explain(self, key: str) -> reports.DreamExplanation:
        """Why a statement is promoted or not; by its key, citation, record id or claim."""
        return explain(self.store, key)

    def extract_experiences(self, *, dry_run: bool = False) -> JobReport:
        """Take into the experience store what is new since the last run, and not said there yet."""
        return self._run(ExperienceJob(self.store), dry_run=dry_run)

    def experiences(self) -> tuple[Record, ...]:
        """Every stored experience whose source still holds, oldest first; none is secret."""
        if not self.store.profile.exists:
            return ()
        with self.store.existing() as folder:
            path = self.store.config.experiences.path
            stored = stored_experiences(path, folder.read(path))
            ledger, now = Ledger.of(folder), self.store.clock.now()
        return tuple(
            one for one in stored if ledger.holds(one, now) and visible(one, include_secret=False)
        )

    def query_experiences(
        self, text: str, limit: int = 5, *, session: str | None = None
    ) -> SearchResult:
        """Find past experiences that bear on `text`, best first; of one session, or of all."""
        profile = self.store.profile
        if not profile.exists:
            return SearchResult(hits=(), warnings=profile.missing)
        filters = make_filters(self.store.clock, category="experience", session=session)
        limit, finder = max(0, limit), self._finder()
        found = finder.search(text, limit, filters)
        if any(hit.superseded for hit in found.hits):  # copies of what no longer holds
            found = finder.search(text, 4 * limit, filters)
        held = tuple(hit for hit in found.hits if not hit.superseded)[:limit]
        self.store.note_shown(held, text, "experiences")
        return replace(found, hits=held)

    def relationships(self) -> reports.Relationships:
        """Experiences and preferences in groups: by category, by session and by name."""
        records = self.store.records()
        return replace(relationships(records, self.experiences()), warnings=records.warnings)

    def flush(
        self,
        turns: str | Sequence[Mapping[str, object]],
        *,
        session: str = "main",
        dry_run: bool = False,
        include_secret: bool = True,
    ) -> reports.FlushReport:
        """Save what matters of a chat that is about to be lost, unless it is known already.

        `turns` is a list of messages (`role` and `content`, or as JSON), lines of JSON, or text with "User:" and
        "Assistant:". The metadata of a record says who said it (`said_by`); a text that is not surely the
        user's is trusted as an agent's. Set `include_secret` to false for a caller that may not see secret
        records: `known` would show it what they say.
        """
        chat = read_chat(turns)
        job = FlushJob(self.store, chat, self.channel, session, include_secret=include_secret)
        return job.run(dry_run=dry_run)

    def flush_prompt(self) -> str:
        """What to tell an agent that is to save by itself before its context is shortened."""
        return load_prompt("flush", today=self.store.clock.today().isoformat())

    def scan(self) -> reports.ScanReport:
        """Contradictions, stale and double records, broken citations, open secrets; no fixes."""
        with self.store.existing() as folder:
            return scan(folder, self.store.clock.now())

    def unattended(self, name: str, elsewhere: Callable[[], JobReport] | None = None) -> JobReport:
        """Run the job with this name as a schedule does: an error becomes a report, which is kept.

        What somebody has undone or declined is not done again. `elsewhere` runs it in another process.
        """
        jobs = Jobs(self.store, self.channel, self._finder, by_hand=False)
        if name not in SCHEDULED:
            raise JobNotFoundError(
                f"No scheduled job is called {name[:40]!r}.",
                name=name,
                hint=f"Use {', '.join(sorted(SCHEDULED))}.",
            )
        return run_unattended(self.store, name, elsewhere or partial(BY_NAME[name], jobs))

    def list(self) -> JobList:
        """Every job that changed something, failed or waits as a proposal, oldest first.

        `scheduled` has the last run of each job by a schedule, also if there was nothing to do.
        """
        if not self.store.profile.exists:
            return JobList()
        with self.store.existing() as folder:
            runs = tuple(last_runs(folder).values())
            return JobList(history.kept_jobs(folder), runs, history.damage_messages(folder))

    def receipts(self, limit: int = 50, offset: int = 0) -> tuple[reports.Receipt, ...]:
        """What was handed to agents, when and why, newest first: the log of recalls."""
        if not self.store.profile.exists:
            return ()
        with self.store.existing() as folder:
            return receipts(folder, max(0, limit), max(0, offset))

    def show(self, job_id: str) -> JobReport:
        """One job; its id may be shortened, and `last` is the newest."""
        with self.store.existing() as folder:
            return history.find_job(folder, job_id)

    def diff(self, job: str | JobReport, *, include_secret: bool = False) -> str:
        """What a job changed, or what a dry run or a proposal would change, in lines that people read.

        Secret records are placeholder lines, unless asked for.
        """
        changes = (job if isinstance(job, JobReport) else self.show(job)).changes
        with self.store.existing() as folder:
            return diff_of(folder, changes, include_secret=include_secret)

    def approve(
        self,
        record_id: str = "",
        *,
        channel: str = "",
        sensitivity: Sensitivity | None = None,
        dry_run: bool = False,
    ) -> JobReport:
        """Let in a record, or everything of a channel, that `trust.external` holds back.

        With `sensitivity`, give it that mark instead: only here can a mark be lowered. No agent may.
        """
        self._check_user("approve text, or lower its mark")
        if sensitivity is not None:
            gate.check_sensitivity(sensitivity)
        if bool(record_id) == bool(channel):
            raise RefusedError("Name one record or one channel.", hint="memolith approve ID")
        if record_id:
            with self.store.existing() as folder:
                record_id = find_record(folder, record_id).id
        job = ApproveJob(
            self.store, record_id=record_id, channel=channel_name(channel), sensitivity=sensitivity
        )
        return self._run(job, dry_run=dry_run)

    def forget_channel(self, channel: str, *, dry_run: bool = False) -> reports.ChannelReport:
        """Remove every record and turn that came in by a channel; this cannot be undone."""
        self._check_user("forget a whole channel")
        report = of_channel(self.store, channel_name(channel))
        if dry_run:
            return report
        reports = [forget_record(self.store, record_id) for record_id in report.records]
        forget_turns(self.store, report.channel)
        warnings = dict.fromkeys(warning for one in reports for warning in one.warnings)
        return replace(report, warnings=(*warnings, *purge_index(self.store, self._finder)))

    def _check_user(self, what: str) -> None:
        if trust(self.channel) != "user":
            raise RefusedError(
                f"Only the user can {what}.", hint="Ask the user to run it: memolith approve --help"
            )

    def apply(self, job_id: str) -> JobReport:
        """Apply a proposal; if its sources changed since, it is planned again and waits once more.

        Then it raises FileChangedError, which names the new proposal.
        """
        return self._synced(apply_proposal(self.store, job_id, KINDS))

    def decline(self, job_id: str) -> JobReport:
        """Delete a proposal."""
        return apply.decline_proposal(self.store, job_id, KINDS)

    def undo(self, job_id: str) -> JobReport:
        """Take back what a job changed, byte for byte; what was written since stays."""
        return self._synced(apply.undo_job(self.store, job_id, self._check_undo, KINDS))

    def _check_undo(self, report: JobReport) -> None:
        if report.job in KINDS and KINDS[report.job].is_the_users:
            self._check_user("take this back")

    def _run(self, job: Job[P], *, dry_run: bool) -> JobReport:
        job.by_hand = self._by_hand
        return self._synced(run_job(job, dry_run=dry_run))

    def _synced(self, report: JobReport) -> JobReport:
        if report.status not in ("done", "undone"):
            return report
        return replace(
            report, warnings=(*report.warnings, *index_changes(self.store, self._finder))
        )


# The jobs that can be asked for by their names.
BY_NAME: Mapping[str, Callable[..., JobReport]] = {
    "compact": Jobs.compact,
    "dream": Jobs.dream,
    "experiences": Jobs.extract_experiences,
    "trim": Jobs.trim,
}
