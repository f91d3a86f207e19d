"""One process that uses the store and writes down, outside of the store, what it was promised.

Usage: worker.py ROOT ORDER, where ORDER is JSON (see `workers.Order`). The settings of trims may
differ, so that a trim has something to do that no append has done before.

Standard output is the ledger: one JSON line before each call (`start`) and one after it returned
(`ack`) or raised (`error`). What the ledger acknowledges must be on disk, whatever happens next.
"""

from __future__ import annotations

import json
import os
import sys
import time

from memolith.errors import MemolithError

TYPE_CHECKING = False  # thousands of workers are started: they load only what they need
if TYPE_CHECKING:
    import random
    from typing import Any


_GROUPED = {"trim": "jobs.trim", "restore": "files.restore", "log_turn": "chats.log"}


def _method(memory: Any, name: str) -> Any:
    """A method by its name; `jobs.dream` is one of the jobs."""
    if not hasattr(memory, name):
        name = _GROUPED.get(name, name)
    for part in name.split("."):
        memory = getattr(memory, part)
    return memory


class Worker:
    """Performs steps on one store, one after the other."""

    def __init__(self, memory: Any, trimmer: Any, root: str) -> None:
        """Take the open store, twice: `trimmer` is for trims."""
        self._memory = memory
        self._trimmer = trimmer
        self._root = root
        self._ids: list[str] = []
        self._backup = ""

    def perform(self, step: dict[str, Any]) -> bool:
        """Do one step; False when the store refused it."""
        arguments = {key: value for key, value in step.items() if key != "do"}
        own = {
            "mark": self._mark,
            "traffic": self._traffic,
            "idle": self._idle,
            "elsewhere": self._elsewhere,
            "write": self._write,
            "watch": self._watch,
        }.get(step["do"])
        return own(**arguments) if own else self._call(step["do"], arguments)

    def _idle(self) -> bool:
        time.sleep(600)
        return True

    def _mark(self, path: str) -> bool:
        """Leave a trace in the list of system calls, for the rig that watches them."""
        os.path.exists(path)
        return True

    def _write(self, path: str, text: str) -> bool:
        """Write a file by hand."""
        os.makedirs(os.path.dirname(f"{self._root}/{path}"), exist_ok=True)
        with open(f"{self._root}/{path}", "w", encoding="utf-8") as file:
            file.write(text)
        return True

    def _elsewhere(self) -> bool:
        """Use another profile once, so that every import is done and our own is still untouched."""
        import tempfile

        with tempfile.TemporaryDirectory() as folder, open_store(folder, "memolith", {}) as memory:
            memory.remember("elsewhere")
        return True

    def _watch(self, until: str) -> bool:
        """Read the files over and over until a file appears; every snapshot must make sense."""
        snapshots = bad = 0
        daily_before = b""
        while not snapshots or not os.path.exists(until):
            snapshots += 1
            memory, daily = (_whole_lines(path) for path in self._files())
            bad += not _all_records_parse(memory + daily)
            bad += not daily.startswith(daily_before)  # without forget a daily log only grows
            daily_before = daily
            self._memory.records()
        say("watched", snapshots=snapshots, bad=bad)
        return bad == 0

    def _files(self) -> list[str]:
        folder = f"{self._root}/memory"
        days = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        days = [name for name in days if name.endswith(".md")]
        return [f"{self._root}/MEMORY.md", f"{folder}/{days[0]}" if days else ""]

    def _call(self, name: str, arguments: dict[str, Any]) -> bool:
        if arguments.get("record_id") == "last":
            arguments["record_id"] = self._ids[-1]
        if name == "restore":
            arguments["name"] = self._backup
            if not self._backup:
                return True
        say("start", call=name, **arguments)
        began = time.perf_counter()
        try:
            result = _method(self._trimmer if name == "trim" else self._memory, name)(**arguments)
        except (MemolithError, KeyboardInterrupt) as error:
            say("error", call=name, kind=type(error).__name__, message=str(error))
            return False
        if getattr(result, "status", "") == "skipped" and result.warnings:
            # A job that could not read a file has nothing to do, and says which file.
            say("error", call=name, kind="skipped", message="\n".join(result.warnings))
            return False
        seconds = round(time.perf_counter() - began, 6)
        found = {}
        if hasattr(result, "id") and name != "trim" and not name.startswith("jobs."):
            found["id"] = result.id
            self._ids.append(result.id)
        if name == "trim":
            self._backup = getattr(result, "backup", "")
        if name == "records":
            found["texts"] = [record.text for record in result]
        say("ack", call=name, seconds=seconds, **arguments, **found)
        return True

    def _traffic(
        self, seed: int, label: str, mix: dict[str, int], count: int | None = None
    ) -> bool:
        """Calls at random, weighted by `mix`, until `count` is reached or the store refuses."""
        import random

        chance = random.Random(seed)
        done = 0
        while count is None or done < count:
            done += 1
            name = chance.choices(list(mix), list(mix.values()))[0]
            if not all(self._call(*call) for call in self._choose(chance, name, f"{label}-{done}")):
                return False
        return True

    def _choose(
        self, chance: random.Random, name: str, text: str
    ) -> list[tuple[str, dict[str, Any]]]:
        text = f"{text} {'x' * chance.choice((5, 60, 700, 6000))}"
        if not self._ids:  # nothing of ours to forget, to supersede or to trim yet
            name = "remember"
        if name == "forget":
            return [(name, {"record_id": self._ids.pop(chance.randrange(len(self._ids)))})]
        if name == "supersede":
            return [(name, {"record_id": chance.choice(self._ids), "text": text})]
        if name == "restore":  # undo a trim at once: nothing can have been written in between
            return [("trim", {}), (name, {})]
        return [(name, {"text": text} if name == "remember" else {})]


def _whole_lines(path: str) -> bytes:
    """The file up to its last newline: what follows is a write that is happening right now."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return b""
    return data[: data.rfind(b"\n") + 1]


def _all_records_parse(data: bytes) -> bool:
    try:
        for line in data.split(b"\n"):
            if line.startswith(b"- {"):
                json.loads(line[2:])
    except ValueError:
        return False
    return b"\0" not in data


def say(word: str, **values: object) -> None:
    """One line in the ledger."""
    os.write(1, json.dumps({"word": word, **values}).encode() + b"\n")


def main(root: str, order_json: str) -> int:
    """Open the store and perform the steps; 0 when none was refused."""
    order = json.loads(order_json)
    if order["sabotage"]:
        from tests.crash.sabotage import plant

        plant(order["sabotage"])
    with (
        open_store(root, order["store"], order["settings"]) as memory,
        open_store(root, order["store"], order["trim_settings"]) as trimmer,
    ):
        worker = Worker(memory, trimmer, root)
        if order["store"] == "memolith" and '"jobs.' in order_json:
            _ = memory.jobs  # imported now, so that a kill hits the job and not the import
        say("ready")
        results = [worker.perform(step) for step in order["steps"]]
    return 0 if all(results) else 3


def open_store(root: str, store: str, settings: dict[str, Any]) -> Any:
    """The store to test, or the one that breaks the rules."""
    if store == "careless":
        from tests.crash.careless_memory import CarelessMemory

        return CarelessMemory(root, settings=settings)
    from memolith import Memory

    return Memory(root, settings=settings)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
