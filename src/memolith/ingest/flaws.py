"""What of a file cannot be found, in sentences kept in the index beside its digest: every search says it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from memolith.files.chat_log import parse_turn
from memolith.files.document import describe_damage
from memolith.files.record_format import claims_to_be_record, is_utf16, not_utf8
from memolith.results import Chunk
from memolith.text.cleaning import shown_path

# How much of a text is searched: millions of words, each met once, would fill the memory.
MOST_CHARS = 200_000
# Above this share of unreadable characters, a passage is not text with a slip of the pen.
_MOST_ODD = 0.3
_FEW_ODD = 64
_MOST_NAMED = 5


def without_noise(path: str, data: bytes, chunks: Sequence[Chunk]) -> tuple[list[Chunk], str]:
    """The chunks that are text, and what is wrong with the file they were cut from: a line for each flaw."""
    readable = [chunk for chunk in chunks if chunk.kind != "prose" or not _is_noise(chunk.text)]
    return readable, "\n".join(_flaws(path, data, chunks, readable))


def flaw_warnings(flawed: Mapping[str, str]) -> tuple[str, ...]:
    """What is wrong with some files: of the first few in sentences, of others how many they are."""
    lines = [line for path in sorted(flawed)[:_MOST_NAMED] for line in flawed[path].split("\n")]
    more = len(flawed) - _MOST_NAMED
    return (
        *lines,
        *([f"And {more:,} more files like these: memolith doctor."] if more > 0 else ()),
    )


def _flaws(
    path: str, data: bytes, chunks: Sequence[Chunk], readable: Sequence[Chunk]
) -> Iterator[str]:
    shown, noise = shown_path(path), len(chunks) - len(readable)
    if is_utf16(data):
        error = not_utf8(path, "it is left out of search")
        yield f"{error.message} {error.hint}"
    if noise:
        passages = "1 passage of it is" if noise == 1 else f"{noise:,} passages of it are"
        part = passages if readable else "it is"
        yield f"{shown} is not UTF-8 text; {part} left out of search."
    if line := _odd_line(data, readable):
        yield (
            f"{shown} line {line} is not UTF-8, so its words with other letters"
            " than a to z are not found. Save the file as UTF-8 in your editor."
        )
    if damaged := list(_damaged_lines(path, data, chunks)):
        yield f"{describe_damage(path, len(damaged), damaged[0])}; `memolith doctor` says why."
    if long := [chunk for chunk in readable if len(chunk.text) > MOST_CHARS]:
        more = f", and {len(long) - 1:,} more texts of it are as long" if len(long) > 1 else ""
        yield (
            f"{shown}#L{long[0].first_line} has {max(len(chunk.text) for chunk in long):,}"
            f" characters{more}; the first {MOST_CHARS:,} are searched."
        )


def _is_noise(text: str) -> bool:
    """Whether bytes were no text in UTF-8: a picture, a program, another encoding of Unicode."""
    odd = text.count("\ufffd") + text.count("\0")
    return odd > max(_FEW_ODD, _MOST_ODD * len(text))


def _odd_line(data: bytes, chunks: Sequence[Chunk]) -> int:
    """The first line of prose with bytes that are not UTF-8, as a file in Latin-1 has them; 0 is none."""
    with suppress(UnicodeDecodeError):  # a sign for what cannot be read may be written as such
        data.decode()
        return 0
    for chunk in chunks:
        before, odd, _ = chunk.text.partition("\ufffd")
        if odd and chunk.kind == "prose":
            return chunk.first_line + before.count("\n")
    return 0


def _damaged_lines(path: str, data: bytes, chunks: Sequence[Chunk]) -> Iterator[int]:
    """The lines that were meant to be records or turns.

    Each damaged record is cut as a chunk of its own that may be secret; of a damaged turn nothing is cut.
    """
    if path.endswith(".jsonl"):
        cut = {chunk.first_line for chunk in chunks}
        for number, line in enumerate(data.split(b"\n"), 1):
            if number not in cut and line.strip() and parse_turn(line) is None:
                yield number
    for chunk in chunks:
        may_be_one = chunk.kind == "prose" and chunk.sensitivity == "secret"
        if may_be_one and claims_to_be_record(chunk.text.encode(errors="replace")):
            yield chunk.first_line
