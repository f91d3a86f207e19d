"""What people and programs see, as transcripts that a reviewer reads.

A transcript is a file in `tests/contract/golden`: requests, each with its answer below. Ids, times and
paths of a run are replaced by names that are the same in each run, and a request may use them.

To write them again after a change on purpose: python -m tests.contract.transcripts
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

from memolith import Memory
from memolith.cli.main import main
from memolith.mcp_server.server import MemoryServer
from tests.mcp_server.conftest import Talk
from tests.rest.conftest import calling

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Ask = Callable[[str], str]

GOLDEN = Path(__file__).parent / "golden"
_REQUEST = "> "

_VARYING = (
    (r"\b\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?", "<time>"),
    (r"\b\d\d:\d\d(:\d\d)?\b", "<clock>"),
    (r"\b\d{4}-\d\d-\d\d(?=\b|_)", "<day>"),
    (r"\b\d+(\.\d+)? (ms|s|kB|MB|GB|seconds?)\b", r"<n> \2"),
    (r"\b\d+ files and folders\b", "<n> files and folders"),  # SQLite's own files come and go
    (r"\blocal \(\w+\)", "local"),  # the kind of disk
    (r"\b\d+ at their defaults(, \d+ from environment)?", "<n> at their defaults"),
    (r"\b\d{8}T\d{6}\.\d+Z", "<moment>"),
    (r"\b\d\.\d{3,}", "<score>"),
    (r"\b(no server runs|a server answers|another program answers) at port", "<server> at port"),
    (r'("bytes": )\d+', r"\1<n>"),  # of the index, among others
)
_ID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{8,64}\b")
_NAMED_ID = re.compile(r"<id-(\d+)>")


class Names:
    """Names for what differs between runs."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._ids: list[str] = []

    def plain(self, answer: str) -> str:
        """An answer that is the same in each run."""
        answer = answer.replace(self._root, "<root>").replace(
            str(Path(self._root).parent), "<home>"
        )
        for pattern, name in _VARYING:
            answer = re.sub(pattern, name, answer)
        return _ID.sub(self._name, answer)

    def _name(self, match: re.Match[str]) -> str:
        for number, known in enumerate(self._ids, 1):
            if known.startswith(match[0]) or match[0].startswith(known):
                return f"<id-{number}>"
        self._ids.append(match[0])
        return f"<id-{len(self._ids)}>"

    def real(self, request: str) -> str:
        """A request with the ids of this run."""
        return _NAMED_ID.sub(lambda match: self._ids[int(match[1]) - 1], request)


@contextlib.contextmanager
def command_line(root: str) -> Iterator[Ask]:
    """Requests are command lines; `<<<` stands before what is piped in."""

    def ask(request: str) -> str:
        line, _, piped = request.partition(" <<< ")
        out, err = io.StringIO(), io.StringIO()
        stdin, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(piped.encode()))
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = main(shlex.split(line)[1:])
        finally:
            sys.stdin = stdin
        printed = _shown(out.getvalue()) if "--json" in line else out.getvalue()
        said = "".join(f"! {line}\n" for line in err.getvalue().splitlines())
        return f"{printed}{said}" + (f"exit {code}\n" if code else "")

    yield ask


@contextlib.contextmanager
def rest(root: str) -> Iterator[Ask]:
    """Requests are a method, a path and a body."""
    with Memory(root, channel="rest") as memory, calling(memory) as client:

        def ask(request: str) -> str:
            method, path, body = (*request.split(" ", 2), "")[:3]
            content = json.loads(body) if body else None
            answer = client.request(method, path, json=content)
            return f"{answer.status_code}\n{_shown(answer.text)}"

        yield ask


@contextlib.contextmanager
def mcp(root: str) -> Iterator[Ask]:
    """Requests are a tool and its arguments."""
    with Memory(root, channel="mcp", settings={"mcp.tools": "all"}) as memory:
        talk = Talk(MemoryServer(memory), "auto")

        def ask(request: str) -> str:
            tool, _, arguments = request.partition(" ")
            said = talk(tool, **json.loads(arguments or "{}"))
            return ("failed\n" if said.failed else "") + _shown(said.text)

        yield ask


def _shown(text: str) -> str:
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=1) + "\n"
    except ValueError:
        return text.rstrip("\n") + "\n"


SURFACES = {"cli": command_line, "rest": rest, "mcp": mcp}


def replay(surface: str, transcript: str, folder: Path) -> str:
    """The transcript as it is today."""
    root = str(folder / "memory")
    names = Names(root)
    lines = []
    # Without the programs of agents that this machine has.
    home = {"HOME": str(folder), "MEMOLITH_HOME": str(folder / "home"), "PATH": os.defpath}
    with (
        mock.patch.dict(os.environ, {**home, "MEMOLITH_ROOT": root}),
        SURFACES[surface](root) as ask,
    ):
        for line in transcript.splitlines():
            if line.startswith(_REQUEST):
                request = line.removeprefix(_REQUEST)
                lines += [line, names.plain(ask(names.real(request)))]
    return "\n".join(lines)


if __name__ == "__main__":
    for surface in SURFACES:
        path = GOLDEN / f"{surface}.txt"
        with tempfile.TemporaryDirectory() as folder:
            path.write_text(replay(surface, path.read_text("utf-8"), Path(folder)), "utf-8")
