"""How much of the evidence is found: recall on chats, through the public API.

Run:  python -m benchmarks.recall.run FOLDER_WITH_SETS [--set NAME] [--off STAGE …] [--against RESULT.json]

Chats come in as a user's would: every exchange by `Memory.log_turn`, every question by
`Memory.search` with the default install: no LLM, no network, one CPU.
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
from benchmarks.recall.metrics import interval, measures
from memolith import Memory, __version__
from memolith.clock import Clock

# Evidence is whole messages, so none is cut; syncing to disk is measured elsewhere.
SETTINGS = {
    "store.durability": "fast",
    "chat.max_entries": 1_000_000,
    "chat.max_chars_per_entry": 1_000_000,
}
DEPTH = 50


@dataclass
class Store:
    """A memory that holds some sessions, and which message each of its lines is.

    Its clock shows the moment of the question: chats were said before it.
    """

    memory: Memory
    now: list[datetime]
    sessions: set[str] = field(default_factory=set)
    lines: list[dict[str, str]] = field(default_factory=list)

    def add(self, name: str, messages: list[Message], day: str) -> None:
        """Log a session's messages in pairs, as an agent host would."""
        for user, assistant in pairs(messages):
            self.memory.log_turn(
                user.text if user else "",
                assistant.text if assistant else "",
                chat=name,
                said=moment(day),
            )
            self.lines.append(
                {side.role: side.name for side in (user, assistant) if side is not None}
            )
        self.sessions.add(name)

    def ask(self, question: Question) -> tuple[list[str], list[str]]:
        """The messages found and the sessions they belong to, best first."""
        found = self.memory.search(question.text, DEPTH)
        messages = [self.lines[hit.citation.first_line - 1].get(hit.role, "") for hit in found.hits]
        return list(dict.fromkeys(messages)), [session.chat for session in found.sessions]


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
    data: RecallSet, settings: dict[str, object], folder: Path, limit: int | None
) -> list[dict[str, object]]:
    """Ask every question in its own store; stores that only grow are not built anew."""
    rows = []
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
            root = folder / str(number)
            now = [moment(question.asked)]
            clock = Clock("UTC", now=lambda now=now: now[0])
            store = Store(Memory(root, settings={**SETTINGS, **settings}, clock=clock), now)
        for name in wanted:
            if name not in store.sessions:
                day = data.store_dates[question.store].get(name) or data.dates[name]
                store.add(name, data.sessions[name], day)
        store.now[0] = moment(question.asked)
        messages, sessions = store.ask(question)
        rows.append(
            {
                "id": question.name,
                "kind": question.kind,
                "turn": measures(messages, question.messages) if question.messages else None,
                "session": measures(sessions, question.sessions),
            }
        )
        if sys.stderr.isatty():
            print(f"\r{number + 1}/{len(questions)} ", end="", file=sys.stderr, flush=True)
    return rows


def summary(rows: list[dict[str, object]]) -> dict[str, dict[str, list[float]]]:
    """Mean and bootstrap interval of every measure, at both levels."""
    result: dict[str, dict[str, list[float]]] = {}
    for level in ("turn", "session"):
        scored = [row[level] for row in rows if row[level]]
        if scored:
            result[level] = {
                name: [round(value, 4) for value in interval([row[name] for row in scored])]
                for name in scored[0]
            }
            result[level]["n"] = [len(scored)]
    return result


def main() -> None:
    """Run the sets and print what was found; results go to benchmarks/results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--set", action="append", dest="sets")
    parser.add_argument("--off", action="append", default=[], help="a search setting to switch off")
    parser.add_argument("--limit", type=int, help="only the first questions")
    parser.add_argument("--save", help="name of the result file")
    parser.add_argument(
        "--against", type=Path, help="a result file to compare with, question by question"
    )
    args = parser.parse_args()
    settings: dict[str, object] = {f"search.{name}": False for name in args.off}
    names = args.sets or sorted(path.name for path in args.folder.iterdir() if path.is_dir())
    results = {}
    for name in names:
        work = Path(tempfile.mkdtemp(prefix="memolith-recall-"))
        started = time.process_time()
        try:
            rows = run(load(args.folder / name), settings, work, args.limit)
        finally:
            shutil.rmtree(work)
        results[name] = {
            "summary": summary(rows),
            "rows": rows,
            "cpu_seconds": round(time.process_time() - started),
        }
        show(name, results[name]["summary"])
    if args.against:
        compare(results, json.loads(args.against.read_text())["sets"])
    if args.save:
        path = Path(__file__).parent.parent / "results" / f"{args.save}.json"
        command = "python -m benchmarks.recall.run DATA " + " ".join(
            f"--off {name}" for name in args.off
        )
        content = {
            "version": __version__,
            "date": str(date.today()),
            "command": command.strip(),
            "sets": results,
        }
        path.write_text(json.dumps(content) + "\n")


def show(name: str, found: dict[str, dict[str, list[float]]]) -> None:
    """One line per level."""
    for level, figures in found.items():
        print(f"{name:<18}{level:<9}n={figures['n'][0]:<5}", end="")
        for measure in ("recall@5", "any@5", "all@5", "recall@10", "ndcg@10", "mrr"):
            mean, low, high = figures[measure]
            print(f"{measure} {mean:.3f} [{low:.3f}–{high:.3f}]  ", end="")
        print(flush=True)


def compare(results: dict[str, dict[str, object]], stored: dict[str, dict[str, object]]) -> None:
    """Paired differences: the same questions, this run minus the stored one."""
    for name in results.keys() & stored.keys():
        before = {row["id"]: row for row in stored[name]["rows"]}
        for level in ("turn", "session"):
            for measure in ("recall@5", "all@5", "recall@10"):
                changes = [
                    row[level][measure] - before[row["id"]][level][measure]
                    for row in results[name]["rows"]
                    if row[level] and row["id"] in before
                ]
                mean, low, high = interval(changes)
                print(f"{name:<18}{level:<9}{measure:<10}{mean:+.3f} [{low:+.3f}, {high:+.3f}]")


if __name__ == "__main__":
    main()
