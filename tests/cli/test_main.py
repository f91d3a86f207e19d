"""The command line as a whole: where options may stand, what goes wrong, and how it ends."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import __version__
from memolith.cli.main import COMMANDS, main
from memolith.memory import Memory
from tests.cli.conftest import PROGRAM, program, understood

if TYPE_CHECKING:
    from tests.cli.conftest import Run


def test_options_of_every_command_may_stand_before_or_after_it(
    memolith: Run, tmp_path: Path
) -> None:
    here = str(tmp_path / "here")
    for words in (
        ["--root", here, "--json", "remember", "Tea at four"],
        ["remember", "--root", here, "Tea at four", "--json"],
        [f"--root={here}", "remember", "Tea", "at", "--json", "four"],
    ):
        outcome = memolith(*words)
        assert outcome.json["text"] == "Tea at four"
    assert Path(here, "MEMORY.md").is_file()


def test_the_last_of_two_roots_counts(memolith: Run, tmp_path: Path) -> None:
    outcome = memolith(
        "--root", str(tmp_path / "a"), "status", "--root", str(tmp_path / "b"), "--json"
    )
    assert outcome.json["root"] == str(tmp_path / "b")


def test_settings_may_be_given_several_times_and_anywhere(memolith: Run) -> None:
    outcome = memolith(
        "--set", "search.rrf_k=3", "config", "get", "search.rrf_k", "--set=search.rrf_k=5"
    )
    assert (outcome.code, outcome.out) == (0, "5\n")


def test_a_profile_is_made_by_init_and_then_found_by_name(
    memolith: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEMOLITH_ROOT", raising=False)
    missing = program("remember", "x", "--profile", "work", "--json")
    assert (missing.code, missing.error["kind"]) == (4, "profile")
    assert missing.error["hint"] == "To make it, run: memolith init --profile work"
    assert program("init", "--profile", "work").code == 0
    assert program("remember", "x", "--profile", "work").code == 0


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["help"]])
def test_help_shows_every_command_and_an_example(memolith: Run, words: list[str]) -> None:
    outcome = memolith(*words)
    assert outcome.code == 0
    for name, line in COMMANDS.items():
        assert f"  {name}  " in outcome.out
        assert line in outcome.out
    assert 'memolith remember "Ana owns the release key"' in outcome.out


def test_without_a_command_the_help_is_shown_but_a_script_sees_a_failure(memolith: Run) -> None:
    outcome = memolith()
    assert outcome.code == 2
    assert "Usage: memolith COMMAND" in outcome.out


@pytest.mark.parametrize(
    "words", [["remember", "--help"], ["--help", "remember"], ["help", "remember"]]
)
def test_help_on_a_command_is_the_same_however_it_is_asked_for(
    memolith: Run, words: list[str]
) -> None:
    outcome = memolith(*words)
    assert outcome.code == 0
    assert "Usage: memolith remember" in outcome.out
    assert "--root DIR" in outcome.out
    assert 'memolith remember "Ana owns the release key" --category fact' in outcome.out


def test_help_after_two_dashes_is_text(memolith: Run) -> None:
    assert memolith("remember", "--json", "--", "--help").json["text"] == "--help"


@pytest.mark.parametrize("words", [["--version"], ["status", "--version"]])
def test_the_version_is_shown(memolith: Run, words: list[str]) -> None:
    assert memolith(*words).out == f"memolith {__version__}\n"
    assert memolith(*words, "--json").json == {"version": __version__}


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (["remeber", "x"], "No such command 'remeber'.", "Did you mean remember?"),
        (["qqq"], "No such command 'qqq'.", "See: memolith --help"),
        (["list", "--limt", "3"], "No such option '--limt'.", "Did you mean --limit?"),
        (["list", "--jsn"], "No such option '--jsn'.", "Did you mean --json?"),
        (["config", "show", "--orgin"], "No such option '--orgin'.", "Did you mean --origin?"),
        (["remember", "-q"], "No such option '-q'.", "If it is text, put -- before it."),
        (["list", "3"], "Got unexpected extra argument (3)", "See: memolith list --help"),
        (["list", "--limit"], "Option '--limit' requires an argument.", "See: memolith list"),
        (["list", "--limit", "--past"], "'--past' is not a valid integer", "See: "),
        (["list", "--limit", "two"], "'two' is not a valid integer", "See: "),
        (["list", "--limit", "-1"], "-1 is not in the range 0<=x", "See: "),
        (["get"], "Missing argument 'PATH'.", "See: memolith get --help"),
        (["--category", "fact", "list"], "No such option '--category'.", "Options of"),
        (["--jsn", "list"], "No such option '--jsn'.", "Did you mean --json?"),
        (
            ["status", "--root"],
            "Option '--root' requires an argument.",
            "See: memolith status --help",
        ),
        (
            ["remember", "x", "--sensitivity", "hush"],
            "Invalid value for '--sensitivity': 'hush' is not one of its values. Use one of public, ",
            "See: ",
        ),
        (
            ["remember", "x", "--sensitivity", "sercet"],
            "'sercet' is not one of its values. Did you mean secret?",
            "See: ",
        ),
        (["config", "show", "--bogus"], "No such option '--bogus'.", "If it is text"),
        (["config", "path", "--origin"], "No such option '--origin'.", "If it is text"),
        (["config"], "Missing command.", "Use one of show, get, set, unset, path."),
        (["config", "sho"], "No such command 'sho'.", "Did you mean show?"),
        (
            ["config", "set", "search.mmr_lambda"],
            "Missing argument 'VALUE'.",
            "See: memolith config set",
        ),
        (["config", "set"], "Missing argument 'KEY'.", "See: memolith config set"),
    ],
)
def test_a_command_line_that_cannot_be_understood_says_why(
    memolith: Run, words: list[str], message: str, hint: str
) -> None:
    outcome = memolith(*words)
    assert (outcome.code, outcome.out) == (2, "")
    first, second = outcome.err.splitlines()
    assert first.startswith("memolith: ")
    assert message in first
    assert second.startswith(hint)


def test_programs_get_errors_as_json_beside_an_empty_output(memolith: Run) -> None:
    memolith("init")
    outcome = memolith("get", "missing.md", "--json")
    assert (outcome.code, outcome.out) == (7, "")
    assert outcome.error == {
        "kind": "not-found",
        "message": "There is no file missing.md in this profile.",
        "hint": "List records with their places: memolith list",
    }
    assert memolith("list", "--limt", "--json").error["kind"] == "usage"


def broken() -> int:
    raise ZeroDivisionError("one \x1b[31mof ours")


def test_a_bug_looks_like_one_and_says_what_to_do(
    memolith: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memolith.cli.setup.status.callback", broken)
    outcome = memolith("status")
    assert outcome.code == 1
    assert outcome.err == (
        "memolith: unexpected error: ZeroDivisionError: one �[31mof ours\n"
        "This is a bug in Memolith. Please report it, "
        "with what the same command prints with --debug.\n"
    )
    assert memolith("status", "--json").error["kind"] == "bug"


def test_debug_shows_where_an_error_came_from(
    memolith: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Traceback" not in memolith("get", "missing.md").err
    assert "Traceback" in memolith("get", "missing.md", "--debug").err
    monkeypatch.setenv("MEMOLITH_DEBUG", "1")
    assert "Traceback" in memolith("get", "missing.md").err


def test_an_interrupt_ends_in_silence(memolith: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("memolith.cli.setup.status.callback", interrupted)
    outcome = memolith("status")
    assert (outcome.code, outcome.out, outcome.err) == (130, "", "")


def test_an_interrupt_of_the_real_program_leaves_no_traceback(root: str) -> None:
    with subprocess.Popen(
        [PROGRAM, "remember", "-", "--root", root],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    ) as process:
        assert process.stdin is not None
        process.stdin.write(b"tea")
        while any(fcntl.ioctl(process.stdin, termios.FIONREAD, bytes(4))):  # not read yet
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert process.stderr is not None
        assert process.stderr.read() == b""


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_goes_early_leaves_no_traceback(
    memolith: Run, root: str, unbuffered: str
) -> None:
    for number in range(3):
        memolith("remember", f"number {number} " + "long " * 5000)
    reading, writing = os.pipe()
    os.close(reading)
    outcome = program(
        "list", "--root", root, env={"PYTHONUNBUFFERED": unbuffered},
        capture_output=False, stdout=writing, stderr=subprocess.PIPE,
    )  # fmt: skip
    os.close(writing)
    assert (outcome.code, outcome.err) == (141, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_cannot_be_written_is_an_error(root: str, unbuffered: str) -> None:
    with open("/dev/full", "wb") as full:
        outcome = program(
            "status", "--root", root, env={"PYTHONUNBUFFERED": unbuffered},
            capture_output=False, stdout=full, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert outcome.code == 12
        assert outcome.err == (
            "memolith: The output could not be written: No space left on device.\n"
        )
        silent = program("status", "--root", root, capture_output=False, stdout=full, stderr=full)
        assert silent.code == 12


def test_closed_streams_do_not_keep_a_record_from_being_remembered(
    memolith: Run, root: str
) -> None:
    command = f'exec "{PROGRAM}" remember "Nobody listens" --root "{root}" <&- >&- 2>&-'
    assert subprocess.run(["sh", "-c", command], check=False).returncode == 0
    assert memolith("list", "--json").json["records"][0]["text"] == "Nobody listens"


@pytest.mark.parametrize("locale", ["C", "POSIX", "C.UTF-8", "de_DE.ISO-8859-1", "nonsense"])
def test_any_locale_takes_any_text(root: str, locale: str) -> None:
    text = "naïve 漢字 ÿ"
    env = {"LC_ALL": locale}
    assert program("remember", text, "--root", root, env=env).code == 0
    shown = program("list", "--json", "--root", root, env=env)
    assert shown.json["records"][0]["text"] == text
    assert program("list", "--root", root, env=env).code == 0


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-16", "cp1252"])
def test_json_is_json_in_any_encoding(memolith: Run, root: str, encoding: str) -> None:
    memolith("remember", "naïve 漢字 😀")
    env = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run(
        [PROGRAM, "list", "--json", "--root", root], env=env, check=True, capture_output=True
    )
    assert json.loads(done.stdout.decode(encoding))["records"][0]["text"] == "naïve 漢字 😀"


def test_the_module_can_be_run_too(root: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "memolith", "status", "--root", root, "--json"],
        check=True,
        capture_output=True,
    )
    assert b'"records": 0' in done.stdout


def test_main_needs_no_argument_but_that_of_the_process(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["memolith", "--version"])
    assert main() == 0
    assert capsys.readouterr().out == f"memolith {__version__}\n"


@pytest.mark.parametrize("said", ["--root=/elsewhere", "--help", "--json", "-h", "--set=a.b=c"])
def test_what_was_said_is_never_taken_for_an_option(said: str, root: str) -> None:
    assert main(["log", "--root", root, "--user", said, "--assistant", said]) == 0
    with Memory(root) as memory:
        assert [(turn.user, turn.assistant) for turn in memory.chats.turns()] == [(said, said)]


@pytest.mark.parametrize("text", ["- buy milk", "-5", "--dry run of the pump"])
def test_a_text_with_spaces_and_a_number_are_no_options(text: str, root: str) -> None:
    assert main(["remember", text, "--root", root]) == 0
    with Memory(root) as memory:
        assert [record.text for record in memory.records()] == [text]


def test_the_options_of_every_command_are_read_anywhere() -> None:
    call = understood(["log", "--user", "hi", "--root", "here", "--assistant=yes", "--json"])
    assert (call.root, call.json) == ("here", True)
