"""What a dry run shows is what a person reads in the files: texts, no JSON, archives in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memolith.jobs.changes import replaced
from memolith.jobs.readable import readable_diff
from tests.files.samples import make_record

if TYPE_CHECKING:
    from memolith import Memory


def test_a_dry_run_shows_texts_first_and_archives_in_one_line(grown: Memory) -> None:
    report = grown.jobs.compact(dry_run=True)
    lines = list(readable_diff(report.changes))
    assert not any('{"id"' in line for line in lines)
    assert lines[-1] == (
        f".memolith/archive/MEMORY-archive.md: {report.counts['compacted']} records added, word for word"
    )
    removed = [line for line in lines if line.startswith("- ")]
    added = [line for line in lines if line.startswith("+ ")]
    assert any(" note: The invoice" in line for line in removed)
    assert any(" compaction: Summary of " in line for line in added)
    assert any(line.startswith("+   - 20") for line in added)
    assert len(removed) <= 14 * report.counts["summaries"]


def test_secrets_long_lines_and_broken_lines_are_harmless() -> None:
    from memolith.files.record_format import encode_line

    before = b"My own line\n- {broken\n\xff\n"
    secret = encode_line(make_record("The code is 4711", sensitivity="secret"))
    change = replaced("MEMORY.md", before, secret + encode_line(make_record("long " * 100)))
    assert change is not None
    lines = list(readable_diff([change]))
    assert "- My own line" in lines
    assert "+ (a secret record stands here)" in lines
    assert "4711" not in "".join(lines)
    assert max(map(len, lines)) < 120
