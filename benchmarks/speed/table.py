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


def table() -> str:
    """The table of the README, and the command that measured it."""
    stored = json.loads(RESULTS.read_text())
    sizes = stored["results"]
    heads = [f"{size['chunks']:,} chunks" for size in sizes]
    lines = [
        f"| search | {' | '.join(heads)} |",
        f"|---|{'---|' * len(sizes)}",
        f"| **Memolith** | {' | '.join(_times(size, 'memolith') for size in sizes)} |",
    ]
    for name, title in RIVALS.items():
        lines.append(f"| {title} | {' | '.join(_times(size, name) for size in sizes)} |")
    lines += [
        "",
        f"CPU ms, p50 / p99, by `{stored['command']}` on {stored['date']}.",
    ]
    return "\n".join(lines)


def written(readme: str) -> str:
    """The README with the table in its place."""
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
