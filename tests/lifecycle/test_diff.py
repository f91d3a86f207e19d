"""A diff shows what a person reads in the files: texts, no JSON, archives in one line."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from memolith.files.record_format import encode_line
from memolith.jobs.changes import replaced
from memolith.jobs.diffs import diff
from tests.files.samples import make_record

if TYPE_CHECKING:
    from memolith import Memory


def test_a_dry_run_shows_texts_first_and_archives_in_one_line(grown: Memory) -> None:
    report = grown.jobs.compact(dry_run=True)
    lines = grown.jobs.diff(report).splitlines()
    assert not any('{"id"' in line for line in lines)
    assert lines[-1] == (
        f".memolith/archive/MEMORY-archive.md: {report.counts['compacted']} records added, word for word"
    )
    removed = [line for line in lines if line.startswith("- ")]
    added = [line for line in lines if line.startswith("+ ")]
    assert any(" note: The invoice" in line for line in removed)
    assert any(" compaction: Summary of " in line for line in added)
    assert any(line.startswith("+   - 20") for line in added)
    assert len(removed) >= report.counts["compacted"]


def test_a_kept_job_has_the_same_diff_as_its_dry_run(grown: Memory) -> None:
    def removed(diff: str) -> list[str]:
        return [line for line in diff.splitlines() if line.startswith("- ")]

    planned = grown.jobs.diff(grown.jobs.compact(dry_run=True))
    assert removed(grown.jobs.diff(grown.jobs.compact().id)) == removed(planned) != []


def test_of_a_record_whose_marks_alone_change_only_these_are_shown() -> None:
    before = make_record("The boat is red", sensitivity="public")
    after = replace(before, keywords=("boat",))
    change = replaced("MEMORY.md", encode_line(before), encode_line(after))
    assert change is not None
    lines = list(diff([change]))
    assert lines[1].endswith(" note: The boat is red")
    assert lines[1:] == [lines[1], "~   keywords: none → boat"]
    assert lines[1].startswith("~ ")


def test_secrets_and_broken_lines_are_harmless() -> None:
    before = b"My own line\n- {broken\n\xff\n"
    secret = encode_line(make_record("The code is 4711", sensitivity="secret"))
    change = replaced("MEMORY.md", before, secret)
    assert change is not None
    lines = list(diff([change]))
    assert "- My own line" in lines
    assert "+ (secret record hidden)" in lines
    assert "4711" not in "".join(lines)
    assert any("4711" in line for line in diff([change], include_secret=True))
