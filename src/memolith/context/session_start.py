"""What a session starts with: the layers of memory in one text, from files alone.

No index, no model and no number crunching: a hook waits for it before the first word is said.
"""

from __future__ import annotations

from datetime import timedelta

from memolith.context.sharing import Piece, choose
from memolith.context.window import Window, read_window
from memolith.context_types import SESSION_KINDS, ContextLayer, SessionContext
from memolith.errors import MemolithError, RefusedError
from memolith.files import layout
from memolith.files.folder import Folder
from memolith.files.secret_marks import daily_logs_of, secret_in
from memolith.text.quotation import fence, quoted, quoted_line, source
from memolith.text.wording import counted
from memolith.types import policy
from memolith.values import dataclass
from memolith.visibility import current, may_see, trust_in_file, trust_label

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from memolith.clock import Clock
    from memolith.config import Config
    from memolith.config_context import ContextConfig
    from memolith.labels import SessionKind
    from memolith.profile import Profile
    from memolith.types import Record

# Hosts cut injected text at about 10,000 characters.
HOOK_CHARS = 9_499
# How the budget is divided when there is not enough for all.
_WEIGHTS = {
    "user": 0.12,
    "summary": 0.20,
    "memory": 0.33,
    "today": 0.20,
    "yesterday": 0.10,
    "experiences": 0.05,
}
_RULE = "\n\n---\n\n"
_MOST_OF_A_PIECE = 1_200
# How many bytes of each file are read, for each character of the budget. What is too far back in
# the log of a day is still looked for in MEMORY.md.
_BYTES = {"memory": 2.5, "today": 1.0, "yesterday": 0.5, "experiences": 0.5}
_FEWEST_BYTES = 16_384
_MOST_SUMMARY = 8_000
# A number as long as any, and room for the numbers of the fence, which estimates of tokens vary by.
_MANY, _ROOM = "999,999,999", "x" * 60
_NOTE = "[truncated - {} more left out; to find them: memory_search, or memolith search TEXT]"
# What a record is worth at first, and after how many days half of it: protected, plain, repeating.
_WORTH = {"protected": (1.0, 365.0), "plain": (0.8, 30.0), "repeats": (0.5, 7.0)}
_SAME_SESSION = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """For whom a session start is made, and how long it may be."""

    session: str = "main"
    kind: SessionKind = "main"
    max_chars: int | None = None
    max_tokens: int | None = None
    hook: bool = False


def session_start(profile: Profile, clock: Clock, config: Config, start: Start) -> SessionContext:
    """The text a session starts with, with what was left out."""
    if start.kind not in SESSION_KINDS:
        raise RefusedError(
            f"{start.kind!r} is no kind of session.", hint=f"Use one of {', '.join(SESSION_KINDS)}."
        )
    if not profile.exists:
        return SessionContext(text="", warnings=profile.missing)
    budget, cost = _measure(config.context, start)
    with Folder(profile.root) as folder:
        reader = _Reader(folder, clock, config.context, start, budget)
        layers = reader.layers(config.profile.primary)
    chosen = choose(
        {name: pieces for name, (_, pieces) in layers.items()},
        _WEIGHTS,
        budget - cost(_around([label for label, pieces in layers.values() if pieces])),
        cost,
    )
    made = tuple(
        ContextLayer(
            name=name,
            label=label,
            text="\n".join(piece.text for piece in chosen[name]),
            shown=len(chosen[name]),
            left_out=len(pieces) - len(chosen[name]) + reader.unread.get(name, 0),
        )
        for name, (label, pieces) in layers.items()
        if pieces or reader.unread.get(name)
    )
    left_out = sum(layer.left_out for layer in made)
    return SessionContext(
        text=_text(made, left_out),
        layers=made,
        left_out=left_out,
        held=len(reader.held),
        warnings=_warnings(made, reader),
    )


def _measure(config: ContextConfig, start: Start) -> tuple[int, Callable[[str], int]]:
    """The budget, and what a text costs of it. With two limits, the dearer of the two counts."""
    chars = config.max_chars if start.max_chars is None else max(0, start.max_chars)
    if start.hook:
        chars = min(chars, HOOK_CHARS)
    tokens = config.max_tokens if start.max_tokens is None else max(0, start.max_tokens)
    if not tokens and start.max_tokens != 0:
        return chars, len
    from memolith.text.budget import estimate_tokens  # only who counts tokens pays for it

    def cost(text: str) -> int:
        return max(len(text), -(-estimate_tokens(text) * chars // max(1, tokens)))

    return chars, cost


def _text(layers: Iterable[ContextLayer], left_out: int) -> str:
    parts = [f"{layer.label}\n{layer.text}" for layer in layers if layer.text]
    if not parts:
        return ""
    body = _RULE.join(parts)
    return fence(f"{body}\n\n{_NOTE.format(f'{left_out:,}')}" if left_out else body)


def _around(labels: list[str]) -> str:
    """What is needed besides the pieces: labels, rules between layers, note and fence."""
    return fence(_RULE.join(f"{label}\n" for label in labels) + f"\n{_NOTE.format(_MANY)}\n{_ROOM}")


def _warnings(layers: tuple[ContextLayer, ...], reader: _Reader) -> tuple[str, ...]:
    found = list(reader.warnings)
    if layers and not any(layer.text for layer in layers):
        found.append("Not even one memory fits into so small a budget.")
    if reader.held:
        held = counted(len(reader.held), "record")
        found.append(f"{held} from outside channels held back; they are found by a search.")
    return tuple(found)


class _Reader:
    """Reads the layers; a record that stands in several files is part of one layer."""

    def __init__(
        self, folder: Folder, clock: Clock, config: ContextConfig, start: Start, chars: int
    ) -> None:
        self._folder = folder
        self._chars = chars
        self._config = config
        self._start = start
        self._now = clock.now()
        self._today = clock.day_of(self._now)
        self._day_of = clock.day_of
        self._seen: set[str] = set()
        self._replaced: set[str] = set()
        self._secret: set[str] = set()
        self._said: set[str] = set()  # an experience repeats the record it was made of
        self.held: set[str] = set()
        self.unread: dict[str, int] = {}
        self.warnings: list[str] = []

    def layers(self, primary: str) -> Mapping[str, tuple[str, list[Piece]]]:
        """Each layer's label and pieces, in the order they are shown."""
        yesterday = self._today - timedelta(days=1)
        # What is read first is not repeated: a day before MEMORY.md, and the record itself before the
        # experience that was made of it.
        today = self._records("today", (layout.daily_log(self._today),))
        before = self._records("yesterday", (layout.daily_log(yesterday),))
        both = (layout.ROOT_MEMORY, layout.NESTED_MEMORY)
        memory = self._records("memory", (primary, *(path for path in both if path != primary)))
        experiences = self._records("experiences", (layout.EXPERIENCES,))
        # Somebody who marks a record as secret may do so in one of its files alone.
        for pieces in (today, before, experiences, memory):
            pieces[:] = [piece for piece in pieces if piece.record_id not in self._secret]
        return {
            "user": ("About the user (USER.md):", self._prose(layout.USER)),
            "summary": ("Long-term summary (LONGMEMORY):", self._summary()),
            "memory": ("Long-term memory (MEMORY.md):", memory),
            "today": (f"Daily memory ({self._today}):", today),
            "yesterday": (f"Daily memory ({yesterday}):", before),
            "experiences": ("Past experiences:", experiences),
        }

    def _records(self, name: str, paths: Iterable[str]) -> list[Piece]:
        pieces = list[Piece]()
        for path in paths:
            window = self._window(path, _BYTES[name])
            if name == "memory" or not window.records:  # records of a day are counted there
                self.unread[name] = self.unread.get(name, 0) + window.unread
            pieces += self._prose_pieces(window, newest_last=name != "memory")
            # The newest files are read first, so whatever takes a record's place is known by now.
            self._replaced.update(r.supersedes for r in window.records if r.supersedes)
            self._seen.update(record.id for record in window.records)
            self._secret.update(window.secret)
            if name == "memory":
                self._secret |= secret_in(self._folder, daily_logs_of(window.records))
            for record in current(window.records, self._now, self._replaced):
                if record.text not in self._said and self._may_see(record):
                    self._said.add(record.text)
                    pieces.append(self._piece(record))
        return pieces

    def _may_see(self, record: Record) -> bool:
        if not may_see(record.sensitivity, self._start.kind):
            return False
        outside = trust_in_file(record.provenance.channel) == "external"
        if outside and self._config.external == "hold":
            self.held.add(record.id)
            return False
        return True

    def _piece(self, record: Record) -> Piece:
        text = quoted_line(record.text, _MOST_OF_A_PIECE)
        mark = source(
            record.id[:8],
            trust_label(record.provenance.channel),
            str(self._day_of(record.created)),
        )
        line = f"- [{quoted_line(record.category, 40)}] {text} {mark}"
        return Piece(line, self._worth(record), record.id)

    def _worth(self, record: Record) -> float:
        rules = policy(record.category)
        kind = "protected" if rules.protected else "repeats" if rules.repeats else "plain"
        worth, half_life = _WORTH[kind]
        days = max(0.0, (self._now - record.created).total_seconds() / 86_400)
        same = _SAME_SESSION if record.session == self._start.session else 1.0
        faded: float = 0.5 ** min(days / half_life, 1000.0)
        return worth * same * faded

    def _prose(self, path: str) -> list[Piece]:
        return self._prose_pieces(self._window(path))

    def _prose_pieces(self, window: Window, *, newest_last: bool = False) -> list[Piece]:
        """Paragraphs a person wrote, of which a group sees none. The first are worth most, but of a
        log the last.
        """
        if self._start.kind == "group":
            return []
        pieces = list[Piece]()
        before = 0
        for paragraph in reversed(window.prose) if newest_last else window.prose:
            pieces.append(Piece(_short(paragraph), 1.5 / (1 + before / 2_000)))
            before += len(paragraph)
        return pieces[::-1] if newest_last else pieces

    def _summary(self) -> list[Piece]:
        """The newest blocks of LONGMEMORY.md: they stand at the end."""
        if not self._config.long_memory or self._start.kind == "group":
            return []
        pieces = list[Piece]()
        room = _MOST_SUMMARY
        prose = self._window(layout.LONG_MEMORY).prose
        for age, paragraph in enumerate(reversed(prose)):
            text = _short(paragraph)
            room -= len(text)
            if room < 0:
                self.unread["summary"] = len(prose) - age
                break
            pieces.append(Piece(text, 1.2 / (1 + age / 10)))
        return pieces[::-1]

    def _window(self, path: str, bytes_a_char: float = 1.0) -> Window:
        most = max(_FEWEST_BYTES, int(self._chars * bytes_a_char))
        try:
            return read_window(self._folder, path, most, self._seen)
        except MemolithError as error:
            self.warnings.append(f"{error.message} It is left out.")
            return Window()


def _short(paragraph: str) -> str:
    text = quoted(paragraph[: _MOST_OF_A_PIECE * 4])
    return text if len(text) <= _MOST_OF_A_PIECE else f"{text[: _MOST_OF_A_PIECE - 2]} …"
