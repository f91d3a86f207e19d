"""Where the files of a profile are, and what a new one starts with."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from datetime import date
from functools import cache
from hashlib import blake2b

from memolith.config.sections import Config
from memolith.files.folder import our_errors
from memolith.files.locks import STATE_FOLDER

ROOT_MEMORY = "MEMORY.md"
NESTED_MEMORY = "memory/MEMORY.md"
USER = "USER.md"
SETTINGS = "memolith.toml"
DREAM_DIARY = "DREAMS.md"
# Where these two are unless `long_memory.path` and `experiences.path` say otherwise.
LONG_MEMORY = "LONGMEMORY.md"
EXPERIENCES = "memory/experiences.md"
SUMMARY_MARK = b"<!-- memolith:summary "
DAILY_FOLDER = "memory"
_DAILY_LOG = re.compile(r"memory/\d{4}-\d{2}-\d{2}\.md", re.ASCII)
CONVERSATIONS = "conversation-history.jsonl"
ARCHIVE_FOLDER = f"{STATE_FOLDER}/archive"
BACKUP_FOLDER = f"{STATE_FOLDER}/backup"
INDEX_FOLDER = f"{STATE_FOLDER}/index"
EMBEDDINGS = f"{STATE_FOLDER}/embeddings.db"
JOBS_FOLDER = f"{STATE_FOLDER}/jobs"
PROPOSALS_FOLDER = f"{STATE_FOLDER}/proposals"
SCHEDULE = f"{STATE_FOLDER}/schedule.json"
ARCHIVES = f"{STATE_FOLDER}/archives.jsonl"
TOMBSTONES = f"{STATE_FOLDER}/tombstones.jsonl"


def index_folder(root: str, path: str) -> str:
    """The folder of the index: among the files of the memory, or below `index.path`."""
    if not path:
        return os.path.join(root, INDEX_FOLDER)
    real = os.path.realpath(root)
    name = f"{os.path.basename(real)}-{blake2b(os.fsencode(real), digest_size=8).hexdigest()}"
    return os.path.join(os.path.realpath(os.path.expanduser(path)), name)


def daily_log(day: date) -> str:
    """The daily log of a day.

    >>> from datetime import date
    >>> daily_log(date(2026, 11, 15))
    'memory/2026-11-15.md'
    """
    return f"{DAILY_FOLDER}/{day.isoformat()}.md"


def is_daily_log(path: str) -> bool:
    """Whether the path is that of a daily log; only ASCII digits make a date."""
    return _DAILY_LOG.fullmatch(path) is not None


def is_file_of_ours(path: str) -> bool:
    """Whether Memolith keeps a file of text under this path; a folder cannot be there."""
    known = (ROOT_MEMORY, NESTED_MEMORY, USER, LONG_MEMORY, EXPERIENCES, DREAM_DIARY, CONVERSATIONS)
    return path in known or is_daily_log(path)


def own_output(config: Config) -> frozenset[str]:
    """The files made from the texts of others: no job learns from them.

    The default places count as well: a file stays where it is when the setting changes.
    """
    paths = (config.long_memory.path, config.experiences.path)
    return frozenset((LONG_MEMORY, DREAM_DIARY, EXPERIENCES, *paths))


def is_long_memory(path: str, data: bytes) -> bool:
    """Whether a file, or a backup of it, has the summaries of months, whatever it is called."""
    return path.endswith(LONG_MEMORY) or SUMMARY_MARK in data


def may_be_left_out(path: str) -> bool:
    """Whether the rest of a memory can be read without it: a daily log, a note, prose, a folder of such."""
    is_memory = path.startswith(f"{DAILY_FOLDER}/") and "/." not in path
    return is_memory and path not in (NESTED_MEMORY, EXPERIENCES)


def load_template(name: str) -> bytes:
    """What a new file of this name starts with; b"" when it starts empty."""
    path = os.path.join(os.path.dirname(__file__), "templates", os.path.basename(name))
    with our_errors(path), suppress(FileNotFoundError), open(path, "rb") as file:
        return file.read()
    return b""


def template_lines(data: bytes) -> int:
    """How many lines at the top of a file are a template's, and not the user's."""
    return next((text.count(b"\n") for text in _templates() if data.startswith(text)), 0)


@cache
def _templates() -> list[bytes]:
    return list(filter(None, map(load_template, (ROOT_MEMORY, USER, LONG_MEMORY, EXPERIENCES))))
