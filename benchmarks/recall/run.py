"""How much of the evidence is found: recall on chats, through the public API.

Run:  python -m benchmarks.recall.run FOLDER_WITH_SETS [--set NAME] [--ablate STAGE …]
                                      [--save NAME] [--against RESULT.json] [--ranked FILE]
                                      [--setting search.rerank=fastembed:NAME …]

Chats come in as a user's would: every exchange by `Memory.log_turn`, every question by
`Memory.search` with the default install: no LLM, no network, one CPU. `--ablate` asks every question
once more with a stage switched off, in the same memory. `--ranked` keeps the names of what was found,
best first, so that others can score it.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path

from benchmarks.recall.data import Message, Question, RecallSet, load, moment
from benchmarks.recall.metrics import measures
from benchmarks.recall.report import compare, show, show_kinds, summary
from memolith import Memory, __version__
from memolith.clock import Clock

# Evidence is whole messages, so none is cut; syncing to disk is measured elsewhere.
SETTINGS = {
    "chat.max_entries": 1_000_000,
    "chat.max_chars_per_entry": 1_000_000,
}
DEPTH = 50
DEFAULT = "default"
RANKED = "ranked"
Rows = list[dict[str, object]]


@dataclass
class Store:
    """A memory that holds some sessions, and which message each of its lines is.

    Its clock shows the moment of the question: chats were said before it.
    """

    memories: dict[str, Memory]  # the same files, with other settings
    now: list[datetime]
    sessions: set[str] = field(default_factory=set)
    lines: list[dict[str, str]] = field(default_factory=list)

    @classmethod
    def make(cls, root: Path, variants: dict[str, dict[str, object]], asked: str) -> Store:
        """An empty one."""
        now = [moment(asked)]
        clock = Clock("UTC", now=lambda: now[0])
        return cls(
            {
                name: Memory(root, settings={**SETTINGS, **changed}, clock=clock)
                for name, changed in variants.items()
            },
            now,
        )

    def add(self, name: str, messages: list[Message], day: str) -> None:
        """Log a session's messages in pairs, as an agent host would."""
        for user, assistant in pairs(messages):
            self.memories[DEFAULT].chats.log(
                user.text if user else "",
                assistant.text if assistant else "",
                chat=name,
                said=moment(day),
            )
            self.lines.append(
                {side.role: side.name for side in (user, assistant) if side is not None}
            )
        self.sessions.add(name)

    def ask(self, question: Question, variant: str) -> dict[str, object]:
        """What a question finds: messages, and the sessions they belong to."""
        found = self.memories[variant].search(question.text, DEPTH)
        messages = [self.lines[hit.citation.first_line - 1].get(hit.role, "") for hit in found.hits]
        sessions = [session.chat for session in found.sessions]
        evidence = question.messages
        turns = list(dict.fromkeys(messages))
        return {
            "id": question.name,
            "kind": question.kind,
            "turn": measures(turns, evidence) if evidence else None,
            "session": measures(sessions, question.sessions),
            RANKED: {"turns": turns, "sessions": sessions},
        }

    def close(self) -> None:
        """Let go of the indexes."""
        for memory in self.memories.values():
            memory.close()


def pairs(messages: list[Message]) -> list[tuple[Message | None, Message | None]]:
    """User and assistant messages side by side; one that stands alone gets an empty partner."""
    result: list[tuple[Message | None, Message | None]] = []
    for message in messages:
        if message.role == "user":
            result.append((message, None))
        elif result and result[-1][1] is None:
            result[-1] = (result[-1][0], message)
        else:
            result.append((None, message))
    return result


def run(
    data: RecallSet, variants: dict[str, dict[str, object]], folder: Path, limit: int | None
) -> dict[str, Rows]:
    """Ask every question in its own store; stores that only grow are not built anew."""
    rows: dict[str, Rows] = {name: [] for name in variants}
    store: Store | None = None
    questions = sorted(
        data.questions,
        key=lambda item: (
            item.store.partition("@")[0].rpartition("/")[0],
            len(data.stores[item.store]),
        ),
    )
    for number, question in enumerate(questions[:limit]):
        wanted = data.stores[question.store]
        if store is None or not store.sessions <= set(wanted):
            if store is not None:
                store.close()
            store = Store.make(folder / str(number), variants, question.asked)
        new = [name for name in wanted if name not in store.sessions]
        for name in new:
            day = data.store_dates[question.store].get(name) or data.dates[name]
            store.add(name, data.sessions[name], day)
        store.now[0] = moment(question.asked)
        if new:  # a search would answer by words before all of it is embedded
            store.memories[DEFAULT].index.sync()
        for variant, found in rows.items():
            found.append(store.ask(question, variant))
        if sys.stderr.isatty():
            print(f"\r{number + 1}/{len(questions)} ", end="", file=sys.stderr, flush=True)
    return rows


def measured(
    folder: Path, variants: dict[str, dict[str, object]], limit: int | None, ranked: Path | None
) -> object:
    """The results of one set, as they are stored: measures and names, no texts."""
    work = Path(tempfile.mkdtemp(prefix="memolith-recall-"))
    started = time.process_time()
    try:
        rows = run(load(folder), variants, work, limit)
    finally:
        shutil.rmtree(work)
    seconds = round(time.process_time() - started)
    for variant, found in rows.items():
        kept = [{"id": row["id"], "variant": variant, **row.pop(RANKED)} for row in found]
        if ranked:
            with ranked.open("a", encoding="utf-8") as file:
                file.writelines(f"{json.dumps({'set': folder.name, **row})}\n" for row in kept)
    ablated = {name: summary(found) for name, found in rows.items() if name != DEFAULT}
    for name, found in rows.items():
        show(f"{folder.name} {'' if name == DEFAULT else name}", summary(found))
    show_kinds(rows[DEFAULT])
    for name, found in rows.items():
        if name != DEFAULT:
            compare(f"{folder.name} {name}", found, rows[DEFAULT])
    return {
        "summary": summary(rows[DEFAULT]),
        "ablated": ablated,
        "rows": rows[DEFAULT],
        "cpu_seconds": seconds,
    }


def main() -> None:
    """Run the sets and print what was found; results go to benchmarks/results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--set", action="append", dest="sets")
    parser.add_argument(
        "--ablate", action="append", default=[], help="a switch of search: also run without it"
    )
    parser.add_argument("--limit", type=int, help="only the first questions")
    parser.add_argument("--save", help="name of the result file")
    parser.add_argument(
        "--against", type=Path, help="a result file to compare with, question by question"
    )
    parser.add_argument("--ranked", type=Path, help="a file for what was found, one line each")
    parser.add_argument(
        "--setting", action="append", default=[], help="name=value, for all that is asked"
    )
    args = parser.parse_args()
    given: dict[str, object] = dict(item.split("=", 1) for item in args.setting)
    variants: dict[str, dict[str, object]] = {DEFAULT: given}
    variants |= {f"without {name}": {**given, f"search.{name}": False} for name in args.ablate}
    names = args.sets or sorted(path.name for path in args.folder.iterdir() if path.is_dir())
    results = {
        name: measured(args.folder / name, variants, args.limit, args.ranked) for name in names
    }
    if args.against:
        stored = json.loads(args.against.read_text())["sets"]
        for name in results.keys() & stored.keys():
            compare(
                f"{name} against {args.against.stem}", results[name]["rows"], stored[name]["rows"]
            )
    if args.save:
        save(args.save, args, results)


def save(name: str, args: argparse.Namespace, results: dict[str, object]) -> None:
    """Keep the results with the version and the command that made them; other sets stay."""
    path = Path(__file__).parent.parent / "results" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    before = json.loads(path.read_text())["sets"] if path.exists() else {}
    ablated = "".join(f" --ablate {stage}" for stage in args.ablate)
    ablated += "".join(f" --setting {item}" for item in args.setting)
    content = {
        "version": __version__,
        "date": str(date.today()),
        "command": f"python -m benchmarks.recall.run DATA{ablated}",
        "sets": {**before, **results},
    }
    path.write_text(json.dumps(content, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
