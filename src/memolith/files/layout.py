"""Where the files of a profile stand, and what a new one starts with."""

from __future__ import annotations

import os
import re
from datetime import date

from memolith.files.locks import STATE_FOLDER

ROOT_MEMORY = "MEMORY.md"
NESTED_MEMORY = "memory/MEMORY.md"
USER = "USER.md"
SETTINGS = "memolith.toml"
LONG_MEMORY = "LONGMEMORY.md"
DREAM_DIARY = "DREAMS.md"
EXPERIENCES = "memory/experiences.md"
# Files that we write out of what stands in others: a dream learns nothing from them.
OWN_OUTPUT = (LONG_MEMORY, DREAM_DIARY, EXPERIENCES)
# Files whose first lines are ours and not the user's.
FROM_TEMPLATE = (ROOT_MEMORY, NESTED_MEMORY, USER, LONG_MEMORY, EXPERIENCES)
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
    from hashlib import blake2b

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
    """Whether Memolith keeps a file of text under this path; no folder can stand there."""
    return path in (*FROM_TEMPLATE, DREAM_DIARY, CONVERSATIONS) or is_daily_log(path)


def may_be_left_out(path: str) -> bool:
    """Whether the rest of a memory can be read without it: a daily log, a note, prose, a folder of such."""
    is_memory = path.startswith(f"{DAILY_FOLDER}/") and "/." not in path
    return is_memory and path not in (NESTED_MEMORY, EXPERIENCES)


def load_template(name: str) -> bytes:
    """What a new file of this name starts with; b"" when it starts empty."""
    path = os.path.join(os.path.dirname(__file__), "templates", os.path.basename(name))
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""
    except OSError as error:
        from memolith.files.folder import storage_error  # it needs us

        raise storage_error(error, f"the template of {name}") from error


def template_lines(path: str, data: bytes) -> int:
    """How many lines at the top of a file are the template's, and not the user's."""
    template = load_template(path) if path in FROM_TEMPLATE else b""
    return template.count(b"\n") if template and data.startswith(template) else 0
