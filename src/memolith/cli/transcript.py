"""The transcript of a chat that the host of an agent names to a hook."""

from __future__ import annotations

import os
import stat

# Of a longer transcript the end is read: what came before was there at an earlier hook.
_MOST_BYTES = 16_777_216
# How Claude Code and Codex mark that a chat was shortened.
_SHORTENED = ('"compact_boundary"', '"type":"compacted"')
# How hosts mark what the agent said, with and without blanks.
_ANSWERS = ('"assistant"', '"gemini"')
# No agent has more before it.
_MOST_CHARS = 1_000_000


def read_transcript(path: str) -> tuple[str, str]:
    """The lines of JSON of a transcript, or "" and why it was not read.

    Only a regular file of this user is read: the path comes from outside.
    """
    if not path:
        return "", "The hook names no transcript (transcript_path): nothing was saved."
    try:
        fd = os.open(
            os.path.expanduser(path), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no path"
        return "", f"The transcript cannot be read ({reason}): nothing was saved."
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid():
            return "", "The transcript is no regular file of yours: nothing was saved."
        data = _end_of(fd, found.st_size)
    finally:
        os.close(fd)
    if not data.lstrip().startswith(b"{"):
        return "", "The transcript has no lines of JSON: nothing was saved."
    return data.decode("utf-8", "surrogateescape"), ""


def handed_over(path: str) -> str:
    """What stands in a transcript since the chat was shortened last: the agent still has it before it.

    Hosts write down what hooks print. A transcript that cannot be read tells nothing.
    """
    text, _ = read_transcript(path)
    shortened = max(map(text.rfind, _SHORTENED))
    rest = text[max(shortened, len(text) - _MOST_CHARS, 0) :]
    return rest.replace("\\n", "\n").replace('\\"', '"')


def is_begun(text: str) -> bool:
    """Whether a transcript has an answer of the agent, or was shortened."""
    return any(mark in text for mark in (*_ANSWERS, *_SHORTENED))


def _end_of(fd: int, size: int) -> bytes:
    with open(fd, "rb", closefd=False) as file:
        if size > _MOST_BYTES:
            file.seek(size - _MOST_BYTES)
            file.readline()  # the rest of a line that began before
        return file.read(_MOST_BYTES)
