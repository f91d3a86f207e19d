"""Ways to run the command line: in this process, which is fast, and as the real program."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click
import pytest

from memolith.cli.main import main
from memolith.cli.main import memolith as click_group
from memolith.cli.options import Call

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PROGRAM = str(Path(sys.executable).with_name("memolith"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a command line did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What was printed, which must be one piece of JSON and nothing else."""
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        """The error, printed as JSON."""
        return json.loads(self.err)["error"]


def understood(words: Sequence[str]) -> Call:
    """Read a command line without running it; a mistake in it is an error."""
    call = Call(words)
    context = click_group.make_context("memolith", list(words), obj=call)
    while isinstance(context.command, click.Group):
        name, command, rest = context.command.resolve_command(
            context, [*context._protected_args, *context.args]
        )
        assert command is not None
        context = command.make_context(name, rest, parent=context)
    return call


class Run(Protocol):
    """Run one command line; `piped` is its standard input."""

    def __call__(self, *words: str, piped: bytes = b"") -> Outcome: ...


@pytest.fixture
def memolith(root: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command line on the profile in `root`, in this process."""

    def run(*words: str, piped: bytes = b"") -> Outcome:
        monkeypatch.setenv("MEMOLITH_ROOT", root)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(piped)))
        capsys.readouterr()
        code = main(words)
        printed = capsys.readouterr()
        return Outcome(code=code, out=printed.out, err=printed.err)

    return run


def program(*words: str, env: Mapping[str, str] | None = None, **options: Any) -> Outcome:
    """Run the real program."""
    done = subprocess.run(
        [PROGRAM, *words],
        env={**os.environ, **(env or {})},
        check=False,
        **{"capture_output": True, "stdin": subprocess.DEVNULL, **options},
    )
    return Outcome(
        code=done.returncode,
        out=(done.stdout or b"").decode("utf-8", "surrogateescape"),
        err=(done.stderr or b"").decode("utf-8", "surrogateescape"),
    )


def in_terminal(*words: str, typed: bytes = b"", env: Mapping[str, str] | None = None) -> Outcome:
    """Run the real program in a terminal of 80 columns; `out` is all that the screen shows."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [PROGRAM, *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "COLUMNS": "80", "TERM": "xterm", **(env or {})},
    ) as process:
        os.close(theirs)
        os.write(ours, typed)
        screen = b""
        try:
            while piece := os.read(ours, 65536):
                screen += piece
        except OSError:  # Linux says EIO when the last user of a terminal has gone
            pass
        os.close(ours)
    return Outcome(code=process.returncode, out=screen.decode().replace("\r\n", "\n"), err="")
