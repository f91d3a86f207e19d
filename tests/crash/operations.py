"""The operations that are hit at every system call, each with the state it starts from."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests.crash import rig_strace
from tests.crash.oracle import archive_files, read_records, snapshot
from tests.crash.workers import Order, run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Step = Mapping[str, object]

TRIM = {"trim.max_records": 3}
COMPACT = {"compact.max_records": 2, "compact.min_age_days": 0}
AFTER = "the next call works"
_WRITTEN = [{"do": "remember", "text": f"written before {n}"} for n in range(6)]
# The same kind of call once before, so that no import falls into the window.
_LOG = {"do": "log_turn", "user": "hello", "assistant": "hi"}
# From the fourth turn on, each one sends the oldest to the archive.
CHAT = {"chat.max_entries": 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One call, and what is done in the same process before it."""

    name: str
    call: Step
    warm_up: Sequence[Step] = field(default=())
    starts_empty: bool = False
    settings: Mapping[str, object] = field(default_factory=dict)
    every: int = 1  # of hundreds of calls, the short run under strace hits one in so many

    def fresh_root(self, template: Path) -> Path:
        """What the operation starts from, in a folder of its own."""
        folder = Path(tempfile.mkdtemp(dir=template.parent))
        if not self.starts_empty:
            shutil.copytree(template, folder / "root")
        return folder / "root"

    def order(self, root: Path, *, sabotage: str = "") -> Order:
        """The worker that warms up, makes the call inside the window, and one more call."""
        after = [{"do": "remember", "text": AFTER}]
        steps = rig_strace.window(self.warm_up, self.call, after)
        return Order(
            root=root,
            settings=self.settings,
            trim_settings=TRIM,
            steps=steps,
            sabotage=sabotage,
        )


_NEW = {"do": "remember", "text": "the new record"}
_FACT = "Quokkas live on Rottnest and smile at every visitor"
_RECALLED = json.dumps(
    {
        "version": 1,
        "entries": {
            "memory:memory/zoo.md:1:1": {
                "path": "memory/zoo.md",
                "startLine": 1,
                "endLine": 1,
                "snippet": _FACT,
                "recallCount": 5,
                "totalScore": 4.0,
                "maxScore": 0.9,
                "firstRecalledAt": "2000-01-01T00:00:00.000Z",
                "lastRecalledAt": "2099-01-01T00:00:00.000Z",
                "recallDays": ["2026-11-11", "2026-11-14"],
                "conceptTags": ["quokkas"],
            }
        },
    }
)
OPERATIONS = {
    operation.name: operation
    for operation in [
        # In a process that has written before, and in a new one.
        Operation(
            name="append", call=_NEW,
            warm_up=[{"do": "remember", "text": "warm-up"}],
        ),
        Operation(name="append of a new process", call=_NEW, warm_up=[{"do": "elsewhere"}]),
        Operation(
            name="trim", call={"do": "trim"}, every=3,
            warm_up=[{"do": "trim"}, *({"do": "remember", "text": f"more {n}"} for n in range(4))],
        ),
        Operation(
            name="forget", call={"do": "forget", "record_id": "last"}, every=2,
            warm_up=[_NEW, {"do": "forget", "record_id": "last"}, {"do": "remember", "text": "doomed"}],
        ),
        Operation(
            name="supersede",
            call={"do": "supersede", "record_id": "last", "text": "the new record"},
            warm_up=[
                {"do": "remember", "text": "warm-up"},
                {"do": "supersede", "record_id": "last", "text": "warmer"},
            ],
        ),
        Operation(
            name="restore", call={"do": "restore"}, every=3,
            warm_up=[{"do": "trim"}, {"do": "restore"}, {"do": "trim"}],
        ),
        Operation(
            name="save_note",
            call={"do": "save_note", "text": "the new note", "title": "Second"},
            warm_up=[{"do": "save_note", "text": "an old note", "title": "First"}],
        ),
        Operation(name="first append", call=_NEW, starts_empty=True, warm_up=[{"do": "elsewhere"}]),
        Operation(name="log_turn", call=dict(_LOG, user="the new turn"), warm_up=[_LOG]),
        Operation(
            name="chat rotation", call=dict(_LOG, user="the new turn"), settings=CHAT, every=4,
            warm_up=[dict(_LOG, user=f"turn {n}") for n in range(5)],
        ),
    ]
}  # fmt: skip


# Jobs make hundreds of calls.
JOBS = {
    operation.name: operation
    for operation in [
        Operation(
            name="dream", call={"do": "jobs.dream"}, every=9,
            warm_up=[
                {"do": "remember", "text": "warm-up"},
                {"do": "write", "path": "memory/zoo.md", "text": f"- {_FACT}\n"},
                {"do": "jobs.dream", "dry_run": True},
                {"do": "write", "path": "memory/.dreams/short-term-recall.json", "text": _RECALLED},
                {"do": "jobs.dream", "dry_run": True},
            ],
        ),
        Operation(
            name="experiences", call={"do": "jobs.extract_experiences"}, every=9,
            warm_up=[
                {"do": "remember", "text": "The zebra crossing was painted by Ana"},
                {"do": "jobs.extract_experiences", "dry_run": True},
            ],
        ),
        Operation(
            name="compact", call={"do": "jobs.compact"}, every=17, settings=COMPACT,
            warm_up=[
                {"do": "jobs.compact"}, *({"do": "remember", "text": f"more {n}"} for n in range(4)),
            ],
        ),
        Operation(
            name="undo", call={"do": "jobs.undo", "job_id": "last"}, every=9, settings=COMPACT,
            warm_up=[
                {"do": "jobs.compact"}, {"do": "jobs.undo", "job_id": "last"}, {"do": "jobs.compact"},
            ],
        ),
        Operation(
            name="apply", call={"do": "jobs.apply", "job_id": "last"}, every=17,
            settings={**COMPACT, "jobs.review": "ask"},
            warm_up=[
                {"do": "jobs.compact"}, {"do": "jobs.apply", "job_id": "last"},
                *({"do": "remember", "text": f"more {n}"} for n in range(4)),
                {"do": "jobs.compact"},
            ],
        ),
        Operation(
            name="apply a trim", call={"do": "jobs.apply", "job_id": "last"}, every=17,
            # The limit leaves room for one more record: the next call proposes nothing.
            settings={"trim.max_records": 10, "jobs.review": "ask"},
            warm_up=[
                *({"do": "remember", "text": f"more {n}"} for n in range(5)),
                {"do": "jobs.apply", "job_id": "last"},
                *({"do": "remember", "text": f"even more {n}"} for n in range(3)),
                {"do": "jobs.decline", "job_id": "last"}, {"do": "jobs.trim"},
            ],
        ),
        Operation(
            name="apply experiences", call={"do": "jobs.apply", "job_id": "last"}, every=17,
            settings={"jobs.review": "ask"},
            warm_up=[
                {"do": "remember", "text": "The zebra crossing was painted by Ana"},
                {"do": "jobs.extract_experiences"},
            ],
        ),
        Operation(
            name="apply a dream", call={"do": "jobs.apply", "job_id": "last"}, every=17,
            settings={"jobs.review": "ask"},
            warm_up=[
                {"do": "remember", "text": "warm-up"},
                {"do": "write", "path": "memory/zoo.md", "text": f"- {_FACT}\n"},
                {"do": "write", "path": "memory/.dreams/short-term-recall.json", "text": _RECALLED},
                {"do": "jobs.dream"},
            ],
        ),
        Operation(
            name="flush", call={"do": "jobs.flush", "turns": "User: We decided to use Kotlin."},
            every=9,
            warm_up=[{"do": "jobs.flush", "turns": "User: We decided to go with Postgres."}],
        ),
    ]
}  # fmt: skip


def make_template(folder: Path) -> Path:
    """A profile with some records; every run starts from a copy of it."""
    root = folder / "template"
    code, said = run(
        Order(root=root, trim_settings=TRIM, steps=_WRITTEN), folder / "template.ledger"
    )
    if code:
        raise AssertionError(said)
    return root


def both_states(operation: Operation, template: Path) -> tuple[State, State]:
    """The state when the call is not made, and when it is made and nothing goes wrong."""
    states = []
    for steps in (operation.warm_up, [*operation.warm_up, operation.call]):
        root = operation.fresh_root(template)
        order = Order(root=root, settings=operation.settings, trim_settings=TRIM, steps=steps)
        code, said = run(order, root.with_name("plain.ledger"))
        if code:
            raise AssertionError(said)
        states.append(state_of(root))
    if states[0] == states[1]:
        raise AssertionError("the operation does nothing")
    return states[0], states[1]


@dataclass(frozen=True, slots=True)
class State:
    """What can be told apart of a profile: record ids are new in every run, so texts stand in."""

    memory: tuple[str, ...]
    daily: tuple[str, ...]
    archive: frozenset[str]
    others: tuple[str, ...]  # notes
    turns: tuple[str, ...]  # of history and archive together: none lost, none twice
    written: tuple[bool, bool]  # the promoted fact and the diary, which come together
    experiences: frozenset[str]
    long_memory: str
    jobs: tuple[str, ...]  # what is kept of jobs comes together with what they changed


def state_of(root: Path) -> State:
    """The profile's state, without what the next call added; fails when a line is torn."""
    memory = read_records([root / "MEMORY.md"])
    daily = read_records(sorted((root / "memory").glob("????-??-??.md")))
    archive = read_records(archive_files(root))
    if torn := memory.torn + daily.torn + archive.torn:
        raise AssertionError(f"torn: {torn}")
    others = [
        data.decode(errors="replace")
        for path, data in snapshot(root).items()
        if path.startswith("memory/")
        and path.count("/") > 1
        and "/." not in path
        and path.endswith(".md")
    ]
    return State(
        memory=tuple(_without_ids(text) for text in memory.texts.values() if text != AFTER),
        daily=tuple(text for text in daily.texts.values() if text != AFTER),
        archive=frozenset(map(_without_ids, archive.texts.values())),
        others=tuple(_without_time(other) for other in others),
        turns=_turns(root),
        written=(_holds(root / "MEMORY.md", _FACT), _holds(root / "DREAMS.md", "Promoted: 1")),
        experiences=frozenset(read_records([root / "memory/experiences.md"]).texts.values()),
        long_memory=_without_ids(_read(root / "LONGMEMORY.md")),
        jobs=tuple(sorted(_job(path) for path in root.glob(".memolith/*/*Z-*.json"))),
    )


def _job(path: Path) -> str:
    try:
        report = json.loads(path.read_bytes())
    except ValueError as error:
        raise AssertionError(f"torn: {path}") from error
    return f"{path.parent.name}: {report['job']} {report['status']}"


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def _holds(path: Path, text: str) -> bool:
    return text in _read(path)


def _turns(root: Path) -> tuple[str, ...]:
    name = "conversation-history.jsonl"
    files = [path for path in (root / name, root / ".memolith/archive" / name) if path.exists()]
    lines = [line for path in files for line in path.read_bytes().splitlines()]
    return tuple(sorted(json.loads(line)["user_message"] for line in lines))


def _without_ids(text: str) -> str:
    """Summaries name records, whose ids are new in every run."""
    return re.sub(r" \[(?:\w+: )?[0-9a-f, +]+\]", "", text)


def _without_time(text: str) -> str:
    """Notes carry the time of the run; the words are enough to compare."""
    words = ("the new note", "an old note")
    return " ".join(word for word in words for _ in range(text.count(f"{word}")))
