"""Every engine on the same chunks: how fast it takes them in, how fast it answers, what it needs.

Run:  python -m benchmarks.engines [--chunks 10000 100000] [--engines builtin chroma chroma-server postgres qmd]

Chunks are 60 words drawn like those of a language (Zipf), with vectors of 256 numbers around 200 topics; a
question is three words and a vector. Each engine runs in a process of its own; RAM is that of the process, and of
the server of PostgreSQL or Chroma. Needs the tools of the tests: sh scripts/install_test_tools.sh
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from memolith.index.sqlite import SqliteIndex
from memolith.index.words import as_terms
from memolith.interfaces import FileChange, FileState, Index, IndexedChunk
from memolith.results import Chunk, Filters
from tests.engines import servers
from tests.engines.test_qmd import real

ENGINES = ("builtin", "chroma", "chroma-server", "postgres", "qmd")
MODEL = ("bench", 256)
PER_FILE = 100
QUESTIONS = 200
LIMIT = 64


class Corpus:
    """Chunks and questions, the same in each run."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._draw = np.random.default_rng(7)
        self._topics = self._draw.normal(size=(200, MODEL[1])).astype(np.float32)

    def files(self, folder: Path) -> Iterator[FileChange]:
        """The changes that index everything, one for each file; the files are written, too."""
        for first in range(0, self.count, PER_FILE):
            path, lines, items = f"notes/{first}.md", [], []
            for line in range(1, min(PER_FILE, self.count - first) + 1):
                text, vector = self._text(60), self._vector()
                lines.append(text)
                items.append(_indexed(path, line, text, vector))
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("\n".join(lines) + "\n", encoding="utf-8")
            yield FileChange(path, FileState((first, 1, 1), str(first)), items)

    def question(self) -> tuple[list[dict[str, float]], Any, str]:
        """Words, a vector, and the words as text."""
        words = [f"w{number}" for number in self._draw.integers(20, 5_000, 3)]
        return [{word: 1.0} for word in words], self._vector(), " ".join(words)

    def _text(self, length: int) -> str:
        numbers = np.minimum(self._draw.zipf(1.3, length), 60_000)
        return " ".join(f"w{number}" for number in numbers)

    def _vector(self) -> Any:
        topic = self._topics[self._draw.integers(len(self._topics))]
        vector = topic + self._draw.normal(size=MODEL[1]).astype(np.float32)
        return vector / np.linalg.norm(vector)


def _indexed(path: str, line: int, text: str, vector: Any) -> IndexedChunk:
    terms: dict[str, float] = {}
    for word in text.split():
        terms[word] = terms.get(word, 0.0) + 1.0
    chunk = Chunk(
        path=path, kind="prose", text="", first_line=line, last_line=line, offset=line, size=300
    )
    digest = blake2b(f"{path} {line}".encode(), digest_size=16).digest()
    return IndexedChunk(chunk, digest, digest, as_terms(terms), vector)


def open_engine(engine: str, folder: Path) -> tuple[Index, Callable[[], int], Callable[[], None]]:
    """The index, what tells the bytes it has on the disk, and what stops its server."""
    index_folder = folder / "index"

    def size(place: Path = index_folder) -> int:
        return sum(file.stat().st_size for file in place.rglob("*") if file.is_file())

    if engine.startswith("chroma"):
        from memolith.engines.chroma import ChromaIndex

        url, stop = "", lambda: None
        if engine == "chroma-server":
            url, stop = servers.start_chroma(0, str(folder / "server"))  # type: ignore[assignment]
        index = ChromaIndex(str(index_folder), MODEL, url=url, timeout_seconds=300)
        return index, lambda: size() + size(folder / "server"), stop
    if engine == "postgres":
        import psycopg

        from memolith.engines.postgres import PostgresIndex

        url, stop_server = servers.start_postgres()

        def database_size() -> int:
            with psycopg.connect(url) as connection:
                (found,) = connection.execute("SELECT pg_database_size('memolith')").fetchone()  # type: ignore[misc]
                return int(found)

        return PostgresIndex(url, "bench", MODEL, timeout_seconds=300), database_size, stop_server
    if engine == "qmd":
        from memolith.engines.qmd import QmdIndex

        made = QmdIndex(str(index_folder), MODEL, str(folder), real(), timeout_seconds=600)
        return made, size, lambda: None
    return SqliteIndex(str(index_folder), MODEL), size, lambda: None


def measure(engine: str, count: int) -> dict[str, object]:
    """Figures of one engine."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        index, size, stop = open_engine(engine, folder)
        corpus, taken = Corpus(count), 0.0
        for change in corpus.files(folder):
            taken += _timed(partial(index.replace_files, [change]))
        taken += _timed(lambda: _ask(index, corpus))  # the first one may build what is missing
        questions = 20 if engine == "qmd" else QUESTIONS
        times = np.array([_timed(lambda: _ask(index, corpus)) for _ in range(questions)]) * 1000
        found = {
            "engine": engine,
            "chunks": count,
            "p50_ms": round(float(np.percentile(times, 50)), 1),
            "p99_ms": round(float(np.percentile(times, 99)), 1),
            "chunks_per_second": int(count / taken),
            "ram_mb": _memory(),
            "disk_mb": round(size() / 1e6),
            "problem": index.problem,
        }
        index.close()
        stop()
        return found


def _ask(index: Index, corpus: Corpus) -> None:
    words, vector, text = corpus.question()
    index.question = text
    (found,) = index.rank(words, vector, LIMIT, [Filters()])
    index.fetch(found.signals.keys[:10].tolist())


def _timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def _memory() -> int:
    """Megabytes of this process and of the servers it started; pages they share are counted once."""
    own = psutil.Process()
    every = [own, *own.children(recursive=True)]
    every += [one for one in psutil.process_iter(["name", "ppid"]) if _is_postgres(one)]
    return round(sum(one.memory_full_info().pss for one in every) / 1e6)


def _is_postgres(process: psutil.Process) -> bool:
    """A server of PostgreSQL leaves the process that started it."""
    folder = os.environ.get("TMPDIR", tempfile.gettempdir())
    try:
        above = [process, *process.parents()]
        return any("postgres" in one.name() and folder in " ".join(one.cmdline()) for one in above)
    except psutil.Error:
        return False


def main() -> int:
    """Print a line of JSON for each engine and size."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--chunks", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--engines", nargs="+", default=ENGINES, choices=ENGINES)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    for count in given.chunks:
        for engine in given.engines:
            if given.here:
                print(json.dumps(measure(engine, count)), flush=True)
                continue
            command = [sys.executable, "-m", "benchmarks.engines", "--here"]
            subprocess.run(
                [*command, "--chunks", str(count), "--engines", engine],
                check=True,
                env={**os.environ, "TMPDIR": tempfile.mkdtemp(prefix="engines-")},
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
