"""What HTTP costs: searches through `memolith serve` under load against the same searches in-process.

Run:  python -m benchmarks.http [--memory DIR] [--chunks N] [--seconds N] [--minutes N]

The load comes from wrk (Debian: apt install wrk): a process of its own, written in C, whose CPU is printed
and counted on nobody's account. Both sides answer the same questions from the same memory, one process each,
the core with as many threads as serve it best. Rounds of the two alternate, so that what else the
machine does falls on both. `--minutes` loads the server that long afterwards and looks at its memory.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from benchmarks.speed.corpus import Corpus
from memolith import Memory

MEMOLITH = str(Path(sys.executable).with_name("memolith"))
CONNECTIONS = 16
QUESTIONS = 500
LEAST_SHARE = 0.6
MOST_GROWTH = 0.1
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")

_WRK_SCRIPT = """\
local questions = {}
for line in io.lines(%(questions)s) do questions[#questions + 1] = line end
local at = 0
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Authorization"] = "Bearer %(token)s"
request = function()
  at = at %% #questions + 1
  return wrk.format(nil, "/api/v1/search", nil, questions[at])
end
"""


@dataclass
class Side:
    """What one side did in all its rounds."""

    searches: int = 0
    seconds: float = 0.0
    cpu: float = 0.0
    errors: list[str] = field(default_factory=list)

    def add(self, searches: int, seconds: float, cpu: float) -> None:
        """Count a round."""
        self.searches += searches
        self.seconds += seconds
        self.cpu += cpu

    @property
    def rate(self) -> float:
        """Searches in a second."""
        return self.searches / self.seconds

    @property
    def cost(self) -> float:
        """CPU seconds of a search."""
        return self.cpu / self.searches


class Core:
    """`Memory.search` in a process of its own, which is told when to run."""

    def __init__(self, root: Path, questions: Path) -> None:
        command = [sys.executable, "-m", "benchmarks.http", "--core", str(root), str(questions)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._round(0.1, 1)  # opens index and model
        rates = {}
        for threads in sorted({1, os.cpu_count() or 1, CONNECTIONS}):
            searches, elapsed, _ = self._round(2, threads)
            rates[threads] = searches / elapsed
        self.threads = max(rates, key=rates.__getitem__)

    def round(self, seconds: float) -> tuple[int, float, float]:
        """Search for so long: how often, how long in fact, and the CPU it took."""
        return self._round(seconds, self.threads)

    def _round(self, seconds: float, threads: int) -> tuple[int, float, float]:
        assert self._process.stdin
        assert self._process.stdout
        print(seconds, threads, file=self._process.stdin, flush=True)
        searches, elapsed, cpu = json.loads(self._process.stdout.readline())
        return searches, elapsed, cpu

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()


def be_the_core(root: Path, questions: Path) -> None:
    """Answer questions whenever a line says how long, and with how many threads."""
    asked = [json.loads(line)["text"] for line in questions.read_text().splitlines()]
    memory = Memory(root)
    for line in sys.stdin:
        numbers, done = count(), count()
        started, before = time.monotonic(), time.process_time()
        seconds, wanted = line.split()
        until = started + float(seconds)

        def work() -> None:
            while time.monotonic() < until:  # noqa: B023 - joined in this round
                memory.search(asked[next(numbers) % len(asked)])  # noqa: B023
                next(done)  # noqa: B023

        threads = [threading.Thread(target=work) for _ in range(int(wanted))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        elapsed, cpu = time.monotonic() - started, time.process_time() - before
        print(json.dumps([next(done), elapsed, cpu]), flush=True)


class Server:
    """`memolith serve` on a memory, and wrk before it."""

    def __init__(self, root: Path, questions: Path) -> None:
        self._process = subprocess.Popen(
            [
                MEMOLITH,
                "serve",
                "--root",
                str(root),
                "--port",
                "0",
                "--json",
                "--log-level",
                "error",
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout
        told = json.loads(self._process.stdout.readline())
        self._url = told["url"]
        self._script = questions.with_suffix(".lua")
        token = Path(told["token_file"]).read_text("utf-8").strip()
        self._script.write_text(
            _WRK_SCRIPT % {"questions": json.dumps(str(questions)), "token": token}
        )
        self._script.chmod(0o600)
        self.round(2)  # opens index and model

    def round(self, seconds: float) -> tuple[int, float, float, str]:
        """Load it for so long: how often it answered, how long in fact, its CPU, and what went wrong."""
        command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{max(1, round(seconds))}s", "--latency"]
        before = self.cpu()
        told = subprocess.run(
            [*command, "--timeout", "30s", "-s", str(self._script), self._url],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        cpu = self._cpu_when_idle() - before
        done, elapsed = re.search(r"(\d+) requests in ([\d.]+m?s|[\d.]+m)", told, re.ASCII).groups()
        wrong = re.findall(r"(?:Socket errors|Non-2xx).*", told)
        return int(done), _seconds(elapsed), cpu, "; ".join(wrong)

    def _cpu_when_idle(self) -> float:
        """wrk hangs up when its time is over; what it had asked is answered all the same."""
        seen = -1.0
        while seen != (now := self.cpu()):
            seen = now
            time.sleep(0.5)
        return seen

    def cpu(self) -> float:
        """CPU seconds of the server until now."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def megabytes(self) -> float:
        """What it has in memory of its own: pages of files, such as the index, are the kernel's."""
        _, resident, shared, *_ = Path(f"/proc/{self._process.pid}/statm").read_text().split()
        return (int(resident) - int(shared)) * _PAGE / 2**20

    def close(self) -> None:
        """End the process."""
        self._cpu_when_idle()
        self._process.terminate()
        self._process.wait()


def _seconds(written: str) -> float:
    units = {"ms": 0.001, "s": 1.0, "m": 60.0}
    number, unit = re.fullmatch(r"([\d.]+)(\D+)", written).groups()
    return float(number) * units[unit]


@contextmanager
def memory_of(args: argparse.Namespace) -> Iterator[Path]:
    """A memory of our own: a copy of the given one, or a new one of real words."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "memory")
        if args.memory:
            shutil.copytree(args.memory, root)
        else:
            Corpus(args.chunks).write(root)
        Memory(root).index.sync()
        yield root


def compare(core: Core, server: Server, rounds: int, seconds: float) -> tuple[Side, Side]:
    """Both in turns."""
    inside, over_http = Side(), Side()
    for _ in range(rounds):
        inside.add(*core.round(seconds))
        searches, elapsed, cpu, wrong = server.round(seconds)
        over_http.add(searches, elapsed, cpu * searches / (searches + CONNECTIONS))
        if wrong:
            over_http.errors.append(wrong)
    return inside, over_http


def soak(server: Server, minutes: float) -> tuple[list[float], list[str]]:
    """Its memory after each part of the time, and what went wrong."""
    held, errors = [], []
    for _ in range(10):
        *_, wrong = server.round(minutes * 6)
        held.append(server.megabytes())
        errors += [wrong] if wrong else []
    return held, errors


def main() -> int:
    """Print the figures; the exit code says whether the limits are kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memory", type=Path, help="copy this one, instead of making one")
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=5, help="of each round")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--minutes", type=float, default=0.5, help="under load, to watch memory")
    parser.add_argument("--core", nargs=2, type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.core:
        be_the_core(*args.core)
        return 0
    if not shutil.which("wrk"):
        print("wrk makes the load. Debian: apt install wrk")
        return 2
    with memory_of(args) as root:
        questions = root.parent / "questions"
        asked = Corpus(args.chunks).questions(QUESTIONS)
        questions.write_text("".join(json.dumps({"text": text}) + "\n" for text in asked))
        core, server = Core(root, questions), Server(root, questions)
        try:
            inside, over_http = compare(core, server, args.rounds, args.seconds)
            core.close()
            held, errors = soak(server, args.minutes)
        finally:
            server.close()
    return report(inside, over_http, held, errors + over_http.errors)


def report(inside: Side, over_http: Side, held: list[float], errors: list[str]) -> int:
    """Print it all."""
    for name, side in (("in-process", inside), ("HTTP", over_http)):
        print(f"{name:11} {side.rate:7.1f} searches/s   {side.cost * 1000:6.2f} ms of CPU each")
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"wrk, with the core's own: {usage.ru_utime + usage.ru_stime:.1f} s of CPU, not counted")
    share = over_http.rate / inside.rate
    print(f"by CPU alone, for when others use the machine: {inside.cost / over_http.cost:.0%}")
    print(f"throughput over HTTP: {share:.0%} of in-process (at least {LEAST_SHARE:.0%})")
    growth = held[-1] / held[1] - 1
    print(f"memory of the server: {', '.join(f'{size:.0f}' for size in held)} MB: {growth:+.1%}")
    print(f"errors: {'; '.join(errors) or 'none'}")
    return 0 if share >= LEAST_SHARE and growth < MOST_GROWTH and not errors else 1


if __name__ == "__main__":
    sys.exit(main())
