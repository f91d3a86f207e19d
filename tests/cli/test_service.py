"""`memolith service`: units that systemd and launchd read as they were meant, whatever paths hold."""

from __future__ import annotations

import configparser
import plistlib
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith.cli.service import launchd_unit, systemd_unit
from memolith.cli.usage import UsageError
from tests.cli.conftest import PROGRAM, program
from tests.conftest import approve

if TYPE_CHECKING:
    from tests.cli.conftest import Run

HARD = 'My notes 100%/$HOME "new" \\ é'


def read_unit(text: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(text)
    return parser


def words_of(line: str) -> list[str]:
    return [word.replace("%%", "%").replace("$$", "$") for word in shlex.split(line)]


def test_the_unit_for_systemd_serves_the_named_memory(memolith: Run, tmp_path: Path) -> None:
    root = tmp_path / HARD.replace("/", "-")
    root.mkdir()
    outcome = memolith("service", "systemd", "--root", str(root), "--set", "serve.port=9000")
    unit = read_unit(outcome.out)
    wanted = [PROGRAM, "serve", "--root", str(root), "--set", "serve.port=9000"]
    assert words_of(unit["Service"]["ExecStart"]) == wanted
    assert unit["Service"]["Restart"] == "on-failure"
    assert unit["Install"]["WantedBy"] == "default.target"


def test_the_unit_for_launchd_serves_the_named_memory(memolith: Run, tmp_path: Path) -> None:
    root = tmp_path / (HARD.replace("/", "-") + "<&>")
    root.mkdir()
    unit = plistlib.loads(memolith("service", "launchd", "--root", str(root)).out.encode())
    assert unit["ProgramArguments"] == [PROGRAM, "serve", "--root", str(root)]
    assert unit["KeepAlive"] == {"SuccessfulExit": False}


def test_a_profile_is_served_from_its_own_home(
    memolith: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home 5%"
    monkeypatch.setenv("MEMOLITH_HOME", str(home))
    assert memolith("init", "--profile", "work").code == 0
    unit = read_unit(memolith("service", "systemd", "--profile", "work").out)["Service"]
    assert words_of(unit["ExecStart"])[-1] == str(home / "profiles" / "work")
    assert words_of(unit["Environment"]) == [f"MEMOLITH_HOME={home}"]


def test_what_systemd_would_take_for_something_else_is_escaped() -> None:
    unit = systemd_unit(["/a b/$x", "50%n", "$HOME", 'a"b\\c', "line\nbreak", "\udcff"], {})
    line = unit.partition("ExecStart=")[2].partition("\n")[0]
    assert line == r'"/a b/$x" "50%%n" "$$HOME" "a\"b\\c" "line\x0abreak" "\xff"'


@pytest.mark.parametrize("name", ["line\x01", "\udcff"])
def test_a_path_that_no_property_list_can_hold_is_an_error(name: str) -> None:
    with pytest.raises(UsageError, match="property list"):
        launchd_unit(["/bin/memolith", name], {})


def test_a_folder_that_was_only_found_must_be_named(tmp_path: Path) -> None:
    (tmp_path / "memolith.toml").write_text("")
    approve(tmp_path)
    assert program("service", "systemd", cwd=tmp_path).code == 2
    assert program("service", "systemd", "--root", ".", cwd=tmp_path).code == 0
