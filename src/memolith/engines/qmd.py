"""QMD, a search program for Markdown, asked beside the built-in index: what it finds comes first.

It is run with files of its own in the folder of the index. It names a file and a line; the chunk there is
ranked, diversified and cited like any other, and its text is read from the file. Whenever QMD fails, is
slow or finds nothing, the built-in index answers alone.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from memolith.clock import monotonic
from memolith.index.sqlite import SqliteIndex
from memolith.index.words import Matches
from memolith.interfaces import Nomination, Vectors
from memolith.results import Filters
from memolith.text.terms import keywords

_COLLECTION = "memory"
_NAMED = re.compile(rf"qmd://{_COLLECTION}/(.+)")
_RESULTS = 40
_MAX_BYTES = 1 << 22  # of an answer
_PAUSE_SECONDS = 30.0  # after a failure


class QmdIndex(SqliteIndex):
    """The built-in index, with QMD's keyword search beside it."""

    def __init__(
        self,
        folder: str,
        model: tuple[str, int] | None,
        root: str,
        command: str,
        *,
        timeout_seconds: float,
    ) -> None:
        """`command` starts QMD; it indexes the Markdown files below `root`."""
        super().__init__(folder, model)
        self._root, self._command = os.path.realpath(root), shlex.split(command)
        self._seconds, self._not_before = timeout_seconds, 0.0
        self._files = os.path.join(os.path.realpath(folder), "qmd")
        # The last question, the state of the files then, and what was found.
        self._asked = ("", "", list[tuple[str, int]]())
        self._found = list[tuple[str, int]]()

    def purge(self) -> None:
        """Erase every trace of removed chunks, of which QMD keeps some: it begins again."""
        super().purge()
        shutil.rmtree(self._files, ignore_errors=True)
        self._asked = ("", "", [])

    def rank(
        self,
        words: Sequence[Mapping[str, float]],
        vector: Vectors | None,
        limit: int,
        filter_sets: Sequence[Filters],
    ) -> list[Nomination]:
        """For each set of filters the best chunks, those that QMD finds in front."""
        self._found = self._places() if words else []
        return super().rank(words, vector, limit, filter_sets)

    def _word_scores(self, matches: Matches) -> NDArray[np.float32]:
        """The scores by BM25, with the chunks that QMD names in front, in its order."""
        scores = matches.scores()
        best = float(scores.max(initial=0)) or 1.0
        found = [self._key_at(path, line, scores) for path, line in self._found]
        keys = [key for key in found if key is not None]
        for rank, key in enumerate(dict.fromkeys(keys)):
            scores[key] += best * (1 - rank / len(keys))
        return scores

    def _places(self) -> list[tuple[str, int]]:
        """The files and lines that QMD finds for the question."""
        words = " ".join(keywords(self.question))
        if not words or monotonic() < self._not_before:
            return []
        state = self._state()
        if self._asked[:2] != (words, state):
            try:
                self._update(state)
                self._asked = words, state, list(self._search(words))
                self.problem = ""
            except (OSError, ValueError, subprocess.SubprocessError) as error:
                self._asked, self._not_before = ("", "", []), monotonic() + _PAUSE_SECONDS
                self.problem = f"QMD cannot be used: {_reason(error)}. The built-in index answered."
        return self._asked[2]

    def _state(self) -> str:
        """Another one when files have changed."""
        return str(self._database.one("SELECT count(*) || ' ' || sum(mtime) FROM files"))

    def _update(self, state: str) -> None:
        """Let QMD read what has changed; the first time, everything."""
        if not os.path.exists(os.path.join(self._files, "config", "qmd", "index.yml")):
            os.makedirs(self._files, mode=0o700, exist_ok=True)
            place = (self._root, "--name", _COLLECTION, "--mask", "**/*.md")
            self._run("collection", "add", *place)
        elif self._database.meta("qmd") == state:
            return
        else:
            self._run("update")
        with self._database.writing():
            self._database.set_meta("qmd", state)

    def _key_at(self, path: str, line: int, scores: NDArray[np.float32]) -> int | None:
        """The chunk at a line of a file; if there is none, the best one of the file."""
        rows = self._db.execute(
            "SELECT key, first_line, last_line FROM chunks"
            " WHERE file = (SELECT id FROM files WHERE path = ?)",
            (os.fsencode(path),),
        )
        found = [(first <= line <= last, float(scores[key]), key) for key, first, last in rows]
        return max(found)[2] if found else None

    def _search(self, words: str) -> Iterator[tuple[str, int]]:
        found = json.loads(self._run("search", "--json", "-n", str(_RESULTS), "--", words) or b"[]")
        for one in found if isinstance(found, list) else ():
            named = _NAMED.fullmatch(str(one.get("file"))) if isinstance(one, dict) else None
            line = one.get("line") if named else None
            if named and isinstance(line, int):
                yield unquote(named[1]), line

    def _run(self, *arguments: str) -> bytes:
        folders = [f"XDG_{name.upper()}_HOME={self._files}/{name}" for name in ("config", "cache")]
        done = subprocess.run(  # noqa: S603 - the command is the user's own setting
            ["env", *folders, *self._command, *arguments],  # noqa: S607
            cwd=self._files,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=self._seconds,
            check=True,
        )
        return done.stdout[:_MAX_BYTES]


def _reason(error: Exception) -> str:
    match error:
        case FileNotFoundError():
            return f"there is no program {error.filename!r}"
        case subprocess.TimeoutExpired():
            return f"it took longer than {error.timeout:g} s"
        case subprocess.CalledProcessError(returncode=127):
            return f"there is no program {error.cmd[3]!r}: npm install -g @tobilu/qmd"
        case subprocess.CalledProcessError():
            said = (error.stderr or b"").decode(errors="replace").strip().splitlines()
            return said[-1][:200] if said else f"it ended with {error.returncode}"
    return str(error)[:200] or type(error).__name__
