"""`memolith config` shows what is in effect and why, and changes only what it was asked to."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from memolith.cli.main import main
from memolith.config.sections import SECTIONS, SETTINGS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def config(root: str, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run `memolith config` on the profile in `root`; returns exit code, output and notes."""

    def run(*words: str) -> tuple[int, str, str]:
        code = main(["config", *words, "--root", root])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def test_every_setting_is_shown(config: Run) -> None:
    code, out, _ = config("show")
    assert code == 0
    names = [line.split(" = ")[0] for line in out.splitlines() if line[0] not in " ["]
    assert names == list(SETTINGS)
    assert [line[1:-1] for line in out.splitlines() if line[0] == "["] == list(SECTIONS)
    assert all(f"\n    {setting.doc}\n" in out for setting in SETTINGS.values())
    assert 'trim.archive_path = ".memolith/archive/MEMORY-archive.md"\n' in out
    assert "chat.enabled = true\n" in out


def test_one_section_or_what_differs_from_the_defaults_is_shown(config: Run) -> None:
    _, out, _ = config("show", "trim")
    assert out.startswith("[trim]\ntrim.max_records = 0\n")
    assert "search." not in out
    _, out, _ = config("show", "--changed", "--set", "trim.max_records=7")
    assert "[trim]\ntrim.max_records = 7\n" in out
    assert "trim.max_chars" not in out
    assert "search." not in out
    code, _, err = config("show", "serach")
    assert (code, err.splitlines()[-1]) == (2, "Did you mean search?")


def test_a_suggestion_is_like_what_was_typed(config: Run) -> None:
    _, _, err = config("set", "backend", "qmd")
    assert "Did you mean index.backend?" in err  # and not index.watch
    _, _, err = config("set", "trim.max_record", "5")
    assert "Did you mean trim.max_records?" in err


def test_every_setting_is_shown_with_its_origin(
    config: Run, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    config("set", "trim.max_chars", "5")
    monkeypatch.setenv("MEMOLITH_SEARCH__MMR_LAMBDA", "0.2")
    _, out, _ = config("show", "--origin", "--set", "trim.max_records=7")
    origins = {line.split(" = ")[0]: line.split("  ")[-1].strip() for line in out.splitlines()}
    assert origins["trim.max_records"] == "argument"
    assert origins["search.mmr_lambda"] == "environment"
    assert origins["trim.max_chars"] == f"{root}/memolith.toml"
    assert origins["chat.enabled"] == "default"


def test_programs_get_every_value_in_its_own_type(config: Run) -> None:
    _, out, _ = config("show", "--json", "--set", "search.mmr_lambda=0.5")
    shown = {setting["name"]: setting for setting in json.loads(out)["settings"]}
    assert list(shown) == list(SETTINGS)
    assert shown["search.mmr_lambda"] == {
        "name": "search.mmr_lambda",
        "value": 0.5,
        "origin": "argument",
        "default": 0.7,
        "doc": SETTINGS["search.mmr_lambda"].doc,
        "restart": False,
    }
    assert shown["chat.enabled"]["value"] is True


def test_one_value_is_printed_bare_for_scripts(config: Run) -> None:
    assert config("get", "jobs.review") == (0, "auto\n", "")
    assert config("get", "chat.enabled") == (0, "true\n", "")
    assert config("get", "search.mmr_lambda", "--origin") == (
        0,
        "search.mmr_lambda = 0.7  default\n",
        "",
    )
    assert json.loads(config("get", "search.mmr_lambda", "--json")[1])["value"] == 0.7


def test_a_value_is_set_and_says_where(config: Run, root: str) -> None:
    file = f"{root}/memolith.toml"
    assert config("set", "trim.max_records", "500") == (
        0,
        f"Set  trim.max_records = 500  in {file}\n",
        "",
    )
    assert config("get", "trim.max_records")[1] == "500\n"
    written = json.loads(config("set", "trim.max_records", "6", "--json")[1])
    assert (written["written"], written["value"], written["file"]) == (6, 6, file)


@pytest.mark.parametrize("job", ["compact", "dream", "experiences"])
def test_a_job_that_is_switched_on_says_what_will_run_it(config: Run, job: str) -> None:
    told = config("set", f"{job}.enabled", "true")[2]
    assert told.count("\n") == 1
    assert "as long as memolith mcp, serve or maintain runs" in told
    assert config("set", f"{job}.enabled", "false")[2] == ""
    assert config("set", "context.long_memory", "true")[2] == ""


def test_a_setting_is_taken_out_again_and_everything_else_stays(config: Run, root: str) -> None:
    file = os.path.join(root, "memolith.toml")
    config("set", "trim.max_chars", "7")
    with open(file, "a") as settings:
        settings.write("# kept\n")
    config("set", "trim.max_records", "5")
    code, out, _ = config("unset", "trim.max_records")
    assert (code, out.splitlines()[1]) == (0, "  It is now: trim.max_records = 0  (default)")
    assert config("get", "trim.max_chars")[1] == "7\n"
    with open(file) as settings:
        assert "# kept" in settings.read()
    code, out, notes = config("unset", "trim.max_records")
    assert (code, out) == (0, "")
    assert notes == f"trim.max_records is not set in {file}; it comes from: default\n"
    _, out, _ = config("unset", "trim.max_chars", "--json")
    assert (json.loads(out)["removed"], json.loads(out)["origin"]) == (True, "default")
    assert config("unset", "trim.no_such")[0] != 0


def test_options_may_stand_anywhere(config: Run, tmp_path: Path) -> None:
    user_file = tmp_path / "home" / ".memolith" / "config.toml"
    for words in (("--user", "trim.max_chars", "5"), ("trim.max_chars", "6", "--user")):
        code, out, _ = config("set", *words)
        assert (code, out.endswith(f"in {user_file}\n")) == (0, True)
    assert user_file.read_text() == "[trim]\nmax_chars = 6\n"


def test_a_value_that_has_no_effect_here_says_why(
    config: Run, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    config("set", "trim.max_records", "1")
    assert config("set", "trim.max_records", "2", "--user")[2] == (
        f"Not in effect here, because of: {root}/memolith.toml\n"
        "There it says: trim.max_records = 1\n"
    )
    monkeypatch.setenv("MEMOLITH_TRIM__MAX_RECORDS", "3")
    code, out, err = config("set", "trim.max_records", "4", "--json")
    assert (code, err) == (0, "")
    assert (json.loads(out)["value"], json.loads(out)["written"]) == (3, 4)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("get", "search.mmr_lamda"), "Unknown setting search.mmr_lamda\nDid you mean search.mmr_lambda?"),
        (("set", "search.mmr_lamda", "1"), "Unknown setting search.mmr_lamda\nDid you mean search.mmr_lambda?"),
        (
            ("set", "trim.max_records", "-1"),
            "trim.max_records = '-1': expected a whole number, at least 0",
        ),
        (("show", "--set", "search.mmr_lambda"), "--set 'search.mmr_lambda' has no value\n"
         "Write it as: --set section.key=value"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_and_changes_nothing(
    config: Run, root: str, words: tuple[str, ...], message: str
) -> None:
    assert config(*words) == (3, "", f"memolith: {message}\n")
    assert not os.path.exists(root)


@pytest.mark.parametrize(
    "words", [(), ("frob",), ("get",), ("set", "search.mmr_lambda"), ("show", "--ori")]
)
def test_a_line_that_makes_no_sense_is_a_usage_error(config: Run, words: tuple[str, ...]) -> None:
    code, out, err = config(*words)
    assert (code, out) == (2, "")
    helps = ("memolith config", "Did you mean --origin?", "Use one of show, get, set, unset, path.")
    assert any(words in err.splitlines()[-1] for words in helps)


def test_both_files_are_named(config: Run, root: str, tmp_path: Path) -> None:
    files = {"profile": f"{root}/memolith.toml", "user": f"{tmp_path}/home/.memolith/config.toml"}
    assert json.loads(config("path", "--json")[1]) == files
    assert config("path")[1] == f"  profile  {files['profile']}\n  user     {files['user']}\n"


def test_who_sets_what_a_running_server_cannot_take_is_told(config: Run) -> None:
    assert "a server is restarted" in config("set", "serve.port", "9999")[2]
    assert config("set", "chat.max_entries", "99")[2] == ""
