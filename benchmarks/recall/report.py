"""Prints what was measured: means with their intervals, by kind of question, and paired differences."""

from __future__ import annotations

from benchmarks.recall.metrics import interval

Rows = list[dict[str, object]]
SHOWN = ("recall@5", "any@5", "all@5", "recall@10", "ndcg@10", "mrr")
LEVELS = ("turn", "session")


def summary(rows: Rows) -> dict[str, dict[str, list[float]]]:
    """Mean and bootstrap interval of every measure, at both levels."""
    result: dict[str, dict[str, list[float]]] = {}
    for level in LEVELS:
        scored = [row[level] for row in rows if row[level]]
        if scored:
            result[level] = {
                name: [round(value, 4) for value in interval([row[name] for row in scored])]
                for name in scored[0]
            }
            result[level]["n"] = [len(scored)]
    return result


def show(name: str, found: dict[str, dict[str, list[float]]]) -> None:
    """One line per level."""
    for level, figures in found.items():
        print(f"{name:<34}{level:<9}n={figures['n'][0]:<5}", end="")
        for measure in SHOWN:
            mean, low, high = figures[measure]
            print(f"{measure} {mean:.3f} [{low:.3f}–{high:.3f}]  ", end="")
        print(flush=True)


def show_kinds(rows: Rows) -> None:
    """The same for each kind of question, without intervals: they are few of each."""
    for kind in sorted({str(row["kind"]) for row in rows}):
        of_kind = [row for row in rows if row["kind"] == kind]
        for level in LEVELS:
            scored = [row[level] for row in of_kind if row[level]]
            if scored:
                means = (sum(row[name] for row in scored) / len(scored) for name in SHOWN)
                figures = "  ".join(
                    f"{name} {mean:.3f}" for name, mean in zip(SHOWN, means, strict=True)
                )
                print(f"    {kind:<30}{level:<9}n={len(scored):<5}{figures}")


def compare(name: str, rows: Rows, others: Rows) -> None:
    """Paired differences: the same questions, these rows minus the others."""
    before = {row["id"]: row for row in others}
    for level in LEVELS:
        for measure in ("recall@5", "all@5", "recall@10"):
            changes = [
                row[level][measure] - before[row["id"]][level][measure]
                for row in rows
                if row[level] and row["id"] in before
            ]
            if changes:
                mean, low, high = interval(changes)
                print(f"{name:<34}{level:<9}{measure:<10}{mean:+.4f} [{low:+.4f}, {high:+.4f}]")
