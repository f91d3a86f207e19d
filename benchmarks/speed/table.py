"""Writes the stored results into the README, so that no figure in it is typed by hand.

Run:  python -m benchmarks.speed.table
"""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.readme import rewrite, with_table

RESULTS = Path(__file__).parent / "results" / "speed.json"
RIVALS = {
    "sqlite_vec": "sqlite-vec + FTS5",
    "chromadb": "Chroma (vectors only)",
    "lancedb": "LanceDB hybrid",
    "mem0": "mem0, `infer=False`",
    "fts5": "FTS5 alone",
}
UPKEEP = (
    ("first indexing, chunks per CPU second", "build, chunks per CPU second"),
    (
        "first indexing, chunks per second with two free cores",
        "build, chunks per second on two cores",
    ),
    ("start of a process to its first answer, CPU ms", "start to first answer, CPU ms"),
    ("`memolith search` in a new process, CPU ms", "command, cold, CPU ms"),
    ("memory of a process that searches, MB", "RSS, MB"),
)


def table() -> str:
    """Both tables of the README, and where they come from."""
    stored = json.loads(RESULTS.read_text())
    sizes = stored["results"]
    heads = [f"{size['chunks']:,} chunks" for size in sizes]
    lines = [
        f"| search, p50 / p99, CPU ms | {' | '.join(heads)} |",
        f"|---|{'---|' * len(sizes)}",
        f"| **Memolith** | {' | '.join(_times(size, 'memolith') for size in sizes)} |",
    ]
    for name, title in RIVALS.items():
        lines.append(f"| {title} | {' | '.join(_times(size, name) for size in sizes)} |")
    lines += ["", f"| Memolith | {' | '.join(heads)} |", f"|---|{'---|' * len(sizes)}"]
    for title, measure in UPKEEP:
        values = (_figure(size["memolith"].get(measure)) for size in sizes)
        lines.append(f"| {title} | {' | '.join(values)} |")
    files = stored["many files"]
    lines += [
        "",
        f"In a memory of {files['files']:,} files a sync takes"
        f" {files['sync of nothing new, CPU ms']:.0f} ms of CPU when nothing is new, and a search has found"
        f" what changed in one of them after {files['changed file found after, CPU ms']:.0f} ms.",
        f"`{stored['command']}` measures all this"
        f" (measured on {stored['date']}; load of the machine {stored['load'][0]}).",
    ]
    return "\n".join(lines)


def written(readme: str) -> str:
    """The README with the tables in their place."""
    return with_table(readme, "speed", table())


def _times(size: dict[str, dict[str, float]], name: str) -> str:
    found = size.get(name, {})
    if "search p50, CPU ms" not in found:
        return "not measured"
    mark = "**" if name == "memolith" else ""
    p50, p99 = (_figure(found[f"search {rank}, CPU ms"]) for rank in ("p50", "p99"))
    return f"{mark}{p50} / {p99}{mark}"


def _figure(value: float | None) -> str:
    if value is None:
        return "not measured"
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


if __name__ == "__main__":
    rewrite(written)
