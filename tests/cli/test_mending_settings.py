"""Settings that are wrong in their file can be seen and mended with the commands that settings have."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Run

WRONG = '# mine\n[chat]\nmax_entries = "x"\n\n[nonsense]\na = 1\n\n[trim]\nmax_records = 500\n'


@pytest.fixture
def file(root: str) -> Path:
    """A settings file with two mistakes and a setting that is right."""
    made = Path(root) / "memolith.toml"
    made.parent.mkdir(parents=True, exist_ok=True)
    made.write_text(WRONG, encoding="utf-8")
    return made


def test_doctor_names_each_mistake_by_file_and_name_and_makes_its_other_checks(
    memolith: Run, file: Path
) -> None:
    for words in (("doctor", "--json"), ("doctor", "--fix", "--json")):
        outcome = memolith(*words)
        checks = outcome.json["checks"]
        wrong = [check for check in checks if check["id"] == "settings"]
        assert (outcome.code, [check["status"] for check in wrong]) == (20, ["error"] * 2)
        told = "\n".join(check["message"] + check["hint"] for check in wrong)
        assert str(file) in told
        assert "chat.max_entries" in told
        assert "nonsense" in told
        assert {"profile", "records", "index"} <= {check["id"] for check in checks}
    assert file.read_text(encoding="utf-8") == WRONG


def test_what_is_right_is_shown_with_what_is_wrong(memolith: Run, file: Path) -> None:
    outcome = memolith("config", "show", "--origin")
    assert outcome.code == 3
    assert "trim.max_records = 500" in outcome.out
    assert "chat.max_entries" in outcome.err
    assert "memolith config unset nonsense" in outcome.err
    shown = memolith("config", "show", "--json").json
    assert [problem["name"] for problem in shown["problems"]] == ["chat.max_entries", "nonsense"]


def test_setting_and_unsetting_mend_the_file_and_leave_the_rest(memolith: Run, file: Path) -> None:
    assert memolith("config", "set", "chat.max_entries", "50").code == 0
    assert memolith("status").code == 3
    assert memolith("config", "unset", "nonsense").out.startswith("Unset")
    assert memolith("status").code == 0
    assert memolith("config", "get", "chat.max_entries").out == "50\n"
    text = file.read_text(encoding="utf-8")
    assert "# mine" in text
    assert "max_records = 500" in text


@pytest.mark.parametrize(
    ("text", "name"),
    [("chat = 5\n", "chat"), ("[chat]\nmaxx = 1\n", "chat.maxx"), ("foo = 1\n", "foo"),
     ("[chat]\nmax_entries = \"x\"\n", "chat.max_entries")],
)  # fmt: skip
def test_whatever_is_unknown_or_wrong_can_be_taken_out(
    memolith: Run, file: Path, text: str, name: str
) -> None:
    file.write_text(text, encoding="utf-8")
    assert memolith("status").code == 3
    assert memolith("config", "unset", name, "--json").json["removed"] is True
    assert memolith("status").code == 0


def test_a_section_that_is_right_is_not_taken_out_as_a_whole(memolith: Run, file: Path) -> None:
    assert memolith("config", "unset", "trim").code == 3
    assert file.read_text(encoding="utf-8") == WRONG


def test_a_file_that_is_no_toml_is_an_error_of_doctor_with_its_line(
    memolith: Run, file: Path
) -> None:
    file.write_text("[chat\n", encoding="utf-8")
    [wrong] = [
        one for one in memolith("doctor", "--json").json["checks"] if one["id"] == "settings"
    ]
    assert (wrong["status"], "line 1" in wrong["message"]) == ("error", True)
