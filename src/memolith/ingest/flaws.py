"""What of a file cannot be found, kept in the index beside its digest: every search tells it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace

from memolith.files.chat_log import parse_turn
from memolith.files.document import describe_damage
from memolith.files.record_format import claims_to_be_record, is_utf16, not_utf8
from memolith.ingest.preparing import MOST_CHARS
from memolith.results import Chunk
from memolith.text.cleaning import shown_path

# Of the characters of a passage, more than so many unreadable ones are no mistake of a writer.
_MOST_ODD = 0.3
_FEW_ODD = 64
_MOST_NAMED = 5
_DOCTOR = "`memolith doctor` says why"


@dataclass(frozen=True, slots=True)
class Flaws:
    """What is wrong with a file, in numbers."""

    utf16: int = 0
    is_found: int = 0  # whether anything of it can be
    no_text: int = 0  # passages of bytes that are no text
    damaged: int = 0  # lines that were meant to be records or turns
    first_damaged: int = 0
    long: int = 0  # texts of which only the beginning is searched
    first_long: int = 0
    longest: int = 0
    odd_line: int = 0  # the first that is read, but is not UTF-8 throughout

    @classmethod
    def spelled(cls, text: str) -> Flaws:
        """Those that `str` has written; none for anything else."""
        try:
            return cls(*map(int, text.split()))
        except (ValueError, TypeError):
            return cls()

    def __str__(self) -> str:
        """Empty if nothing is wrong."""
        is_fine = not (self.utf16 or self.no_text or self.damaged or self.long or self.odd_line)
        return "" if is_fine else " ".join(map(str, astuple(self)))

    def behind(self, before: Flaws) -> Flaws:
        """Those of a file that had these before, and has got ours at its end.

        Only what stands behind a record is cut by itself, and that record can be found.
        """
        return Flaws(
            utf16=self.utf16,
            is_found=1,
            no_text=before.no_text + self.no_text,
            damaged=before.damaged + self.damaged,
            first_damaged=before.first_damaged or self.first_damaged,
            long=before.long + self.long,
            first_long=before.first_long or self.first_long,
            longest=max(before.longest, self.longest),
            odd_line=before.odd_line or self.odd_line,
        )

    def sentences(self, path: str) -> Iterator[str]:
        """A sentence for each."""
        if self.utf16:
            error = not_utf8(path, "it is left out of search")
            yield f"{error.message} {error.hint}"
        if self.no_text:
            some = (
                "1 passage of it is"
                if self.no_text == 1
                else f"{self.no_text:,} passages of it are"
            )
            part = some if self.is_found else "it is"
            yield f"{shown_path(path)} is no UTF-8 text; {part} left out of search."
        if self.odd_line:
            yield (
                f"{shown_path(path)} line {self.odd_line} is not UTF-8, so its words with other letters"
                " than a to z are not found. Save the file as UTF-8 in your editor."
            )
        if self.damaged:
            yield f"{describe_damage(path, self.damaged, self.first_damaged)}; {_DOCTOR}."
        if self.long:
            more = f", and {self.long - 1:,} more texts of it are as long" if self.long > 1 else ""
            yield (
                f"{shown_path(path)}#L{self.first_long} has {self.longest:,} characters{more};"
                f" the first {MOST_CHARS:,} are searched."
            )


def without_noise(path: str, data: bytes, chunks: Sequence[Chunk]) -> tuple[list[Chunk], Flaws]:
    """The chunks that are text, and what is wrong with the file they were cut from."""
    readable = [chunk for chunk in chunks if chunk.kind != "prose" or not _is_noise(chunk.text)]
    long = [chunk for chunk in readable if len(chunk.text) > MOST_CHARS]
    damaged = _damaged_turns(data, chunks) if path.endswith(".jsonl") else _damaged_records(chunks)
    flaws = Flaws(
        is_found=int(bool(readable)),
        no_text=len(chunks) - len(readable),
        damaged=len(damaged),
        first_damaged=damaged[0] if damaged else 0,
        long=len(long),
        first_long=long[0].first_line if long else 0,
        longest=max((len(chunk.text) for chunk in long), default=0),
        odd_line=_odd_line(data, readable),
    )
    return readable, replace(flaws, utf16=1) if is_utf16(data) else flaws


def flaw_warnings(flawed: Mapping[str, str]) -> tuple[str, ...]:
    """What is wrong with some files: of the first few in sentences, of others how many they are."""
    told = [
        sentence
        for path in sorted(flawed)[:_MOST_NAMED]
        for sentence in Flaws.spelled(flawed[path]).sentences(path)
    ]
    more = len(flawed) - _MOST_NAMED
    return (*told, *([f"And {more:,} more files like these: memolith doctor."] if more > 0 else ()))


def _is_noise(text: str) -> bool:
    """Whether bytes were no text in UTF-8: a picture, a program, another encoding of Unicode."""
    odd = text.count("\ufffd") + text.count("\0")
    return odd > max(_FEW_ODD, _MOST_ODD * len(text))


def _odd_line(data: bytes, chunks: Sequence[Chunk]) -> int:
    """The first line of prose with bytes that are not UTF-8, as a file in Latin-1 has them; 0 is none."""
    for chunk in chunks:
        before, odd, _ = chunk.text.partition("\ufffd")
        if odd and chunk.kind == "prose" and not _is_utf8(data):
            return chunk.first_line + before.count("\n")
    return 0


def _is_utf8(data: bytes) -> bool:
    """Whether a sign for what cannot be read was written as such."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _damaged_records(chunks: Sequence[Chunk]) -> list[int]:
    """The lines that were meant to be records; each is cut as a chunk of its own that may be secret."""
    return [
        chunk.first_line
        for chunk in chunks
        if chunk.kind == "prose"
        and chunk.sensitivity == "secret"
        and claims_to_be_record(chunk.text.encode(errors="replace"))
    ]


def _damaged_turns(data: bytes, chunks: Sequence[Chunk]) -> list[int]:
    """The lines of a chat history of which nothing was cut, and that are no turn."""
    cut = {chunk.first_line for chunk in chunks}
    lines = enumerate(data.split(b"\n"), 1)
    return [at for at, line in lines if at not in cut and line.strip() and parse_turn(line) is None]
