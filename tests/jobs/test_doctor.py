"""`doctor` changes nothing unasked, survives any folder, and tells it in words and JSON."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import tomllib
from pathlib import Path

import pytest

from memolith import Memory
from memolith.cli import options as exit_codes
from memolith.cli.main import main
from memolith.jobs.checks import place
from memolith.jobs.checks.subject import bounded
from memolith.jobs.reports import Check
from tests.jobs.damage import GOOD, add


def test_all_is_well_with_a_memory_in_use(files: Path, memory: Memory) -> None:
    memory.save_note("The API uses JWT", keywords=("api",))
    memory.chats.log("hello", "hi")
    memory.forget(memory.remember("to be forgotten").id)
    report = memory.doctor()
    assert {check.status for check in report.checks} == {"ok", "off"}, report.checks
    assert report.healthy
    assert report.root == str(files)


def test_a_profile_that_does_not_exist_is_no_error_and_is_not_made(root: str) -> None:
    with Memory(root) as memory:
        report = memory.doctor(fix=True)
    assert report.healthy
    assert [check.id for check in report.checks if check.status == "info"] == ["profile"]
    assert not Path(root).exists()


def test_looking_changes_nothing(files: Path, memory: Memory) -> None:
    add(files / "MEMORY.md", b'- {"id":"x"}\nno newline')
    (files / "MEMORY.md").chmod(0o644)
    before = {
        path: (path.lstat(), path.is_file() and path.read_bytes()) for path in files.rglob("*")
    }
    memory.doctor()
    after = {
        path: (path.lstat(), path.is_file() and path.read_bytes()) for path in files.rglob("*")
    }
    assert [path for path in after if after[path][1] != before[path][1]] == []
    assert [path for path in after if after[path][0].st_mtime != before[path][0].st_mtime] == []
    assert [path for path in after if after[path][0].st_mode != before[path][0].st_mode] == []


def test_the_worst_comes_first(files: Path, memory: Memory) -> None:
    add(files / "MEMORY.md", b'- {"id":"x"}\n')
    (files / "MEMORY.md").chmod(0o644)
    (files / "USER.md").unlink()
    statuses = [check.status for check in memory.doctor().checks]
    assert statuses[:3] == ["error", "warn", "info"]
    assert set(statuses[3:]) == {"ok", "off"}


@pytest.mark.parametrize("kind", ["file", "link"])
def test_one_cause_that_stops_many_checks_is_named_once(
    kind: str, files: Path, memory: Memory, tmp_path: Path
) -> None:
    memory.close()
    (files / ".memolith").rename(tmp_path / "state")
    if kind == "file":
        (files / ".memolith").write_text("not a folder")
    else:
        (files / ".memolith").symlink_to(tmp_path / "state")
    with Memory(files) as opened:
        errors = [check for check in opened.doctor().checks if check.status == "error"]
    assert [check.id for check in errors if "tombstones" not in check.message] == ["shapes"]
    assert errors[0].message.startswith(".memolith is a ")


def test_a_repeated_error_is_said_once() -> None:
    first, second, other = (
        Check(id=name, label=name, status="error", message=message, hint="")
        for name, message in [
            ("a", "The disk is gone."),
            ("b", "The disk is gone."),
            ("c", "Else."),
        ]
    )
    assert list(bounded([first, second, other])) == [first, other]


def test_names_cannot_steer_the_terminal(
    files: Path, memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in (b"a\x1b[31m.md", b"b\nc.md", b"d\xff.md", "e\u202e.md".encode()):
        (files / "memory" / os.fsdecode(name)).write_bytes(b'- {"id":"x"}\n')
    assert main(["doctor", "--root", str(files)]) == exit_codes.UNHEALTHY
    printed = capsys.readouterr().out
    assert all(char.isprintable() or char == "\n" for char in printed)
    assert "a\\x1b[31m.md" in printed


def test_the_command_prints_a_list_and_its_exit_code_tells(
    files: Path, memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", "--root", str(files)]) == 0
    assert "✓ Records" in capsys.readouterr().out
    line = add(files / "MEMORY.md", b'- {"id":"x"}\n')
    (files / "MEMORY.md").chmod(0o644)
    assert main(["doctor", "--fix", "--root", str(files)]) == exit_codes.UNHEALTHY
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "Mended: 1 name can now be opened by you alone."
    assert printed[1].split(maxsplit=2)[0] == "✗"
    assert f"MEMORY.md line {line} is not a record" in printed[1]
    assert printed[-1] == "1 error."


def test_the_command_gives_programs_everything_as_json(
    files: Path, memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    add(files / "MEMORY.md", b'- {"id":"x"}\n')
    assert main(["doctor", "--json", "--root", str(files)]) == exit_codes.UNHEALTHY
    content = json.loads(capsys.readouterr().out)
    assert (content["root"], content["healthy"], content["mended"]) == (str(files), False, [])
    assert list(content["checks"][0]) == ["id", "label", "status", "message", "hint"]
    assert content["checks"][0]["status"] == "error"


NAMES = [
    "MEMORY.md", "USER.md", "memory", "memory/MEMORY.md", "memory/2026-01-01.md", ".memolith",
    "memory/fact/a.md", "memory/fact", ".memolith/write.lock", ".memolith/tombstones.jsonl",
    ".memolith/backup", ".memolith/backup/x/manifest.json", ".memolith/quarantine/x",
    ".memolith/staging/x", "conversation-history.jsonl",
    ".memolith/archive/MEMORY-archive.md", "memory/\udcff\n.md",
]  # fmt: skip


def make_a_mess(files: Path, dice: random.Random) -> None:
    """Put something that should not be there somewhere in the profile."""
    path = files / dice.choice(NAMES)
    if not path.parent.is_dir() or path.parent.is_symlink():
        return
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    contents = (
        dice.randbytes(dice.randrange(300)),
        GOOD[: dice.randrange(len(GOOD))],
        b"---\n" + dice.randbytes(20) + b"\n---\n",
        b'{"files":{"a":1},"created":"2026-01-01","reason":""}',
    )
    kind = dice.randrange(8)
    if kind == 0:
        path.mkdir()
    elif kind == 1:
        path.symlink_to(dice.choice(["/etc", "/dev/zero", ".", "MEMORY.md", "nowhere"]))
    elif kind == 2:
        os.mkfifo(path)
    else:
        path.write_bytes(dice.choice(contents))
        path.chmod(dice.choice([0, 0o444, 0o600, 0o777, 0o4755]))


@pytest.mark.usefixtures("opened_model")
@pytest.mark.parametrize("seed", range(60))
def test_whatever_stands_in_the_folder_doctor_answers(
    seed: int, files: Path, memory: Memory
) -> None:
    dice = random.Random(seed)
    for _ in range(dice.randrange(1, 8)):
        make_a_mess(files, dice)
        memory.doctor()
        assert memory.doctor(fix=True).checks


def test_folders_nested_very_deep_are_survived(files: Path, memory: Memory) -> None:
    deep = files / "memory"
    for _ in range(300):
        deep /= "d"
        deep.mkdir()
    assert memory.doctor().healthy


def test_every_check_is_explained_on_the_page_about_trouble(files: Path, memory: Memory) -> None:
    page = (Path(__file__).parents[2] / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    labels = {check.label for check in memory.doctor().checks}
    assert {label for label in labels if f"\n| {label} | " not in page} == set()


def test_the_table_of_findings_and_the_checks_name_the_same_cases() -> None:
    package = Path(place.__file__).parent
    table = tomllib.loads((package / "findings.toml").read_text("utf-8"))
    code = "".join(path.read_text("utf-8") for path in package.glob("*.py"))
    cases = {(check, case) for check, row in table.items() for case in row if case != "label"}
    unused = {
        one for one in cases if f'"{".".join(one)}"' not in code and f'"{one[1]}"' not in code
    }
    named = {tuple(one) for one in re.findall(r'"([a-z]+)\.([a-z0-9-]+)"', code)}
    unknown = {one for one in named - cases if one[0] in table and one[1] != "toml"}
    assert (unused, unknown) == (set(), set())
