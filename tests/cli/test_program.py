"""The program ends without taking itself apart first, and nothing that matters is lost by that."""

from __future__ import annotations

import subprocess
import sys


def end_of(before: str, *words: str) -> subprocess.CompletedProcess[str]:
    """The program, run in a process that has done something else before."""
    code = (
        "import atexit, sys, threading\n"
        f"{before}\n"
        f"sys.argv = ['memolith', *{words!r}]\n"
        "from memolith.cli.main import program\n"
        "program()\n"
    )
    return subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, text=True)


def test_its_exit_code_is_that_of_the_command() -> None:
    assert end_of("", "--version").returncode == 0
    wrong = end_of("", "no-such-command")
    assert wrong.returncode == 2
    assert "no-such-command" in wrong.stderr


def test_whatever_asked_to_be_called_at_the_end_is_called() -> None:
    done = end_of("atexit.register(print, 'the end')", "--version")
    assert done.stdout.splitlines()[1:] == ["the end"]


def test_what_was_printed_comes_out_even_if_nobody_has_brought_it_out() -> None:
    done = end_of("atexit.register(sys.stdout.write, 'no newline')", "--version")
    assert done.stdout.endswith("\nno newline")


def test_a_thread_that_is_at_work_is_waited_for() -> None:
    work = (
        "def work():\n"
        "    threading.main_thread().join()\n"  # until nobody but us is left
        "    print('done')\n"
        "threading.Thread(target=work).start()"
    )
    done = end_of(work, "--version")
    assert done.returncode == 0
    assert done.stdout.splitlines()[1:] == ["done"]


def test_a_stream_that_was_closed_changes_nothing() -> None:
    assert end_of("atexit.register(sys.stdout.close)", "--version").returncode == 0


def test_nothing_is_taken_apart() -> None:
    kept = "class Kept:\n    def __del__(self): print('taken apart')\nkept = Kept()"
    assert "taken apart" not in end_of(kept, "--version").stdout
