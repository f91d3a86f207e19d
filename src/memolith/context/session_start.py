"""What a session starts with: the layers of memory in one text, from files alone.

No index, no model and no number crunching: a hook waits for it before the first word is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta

from memolith.clock import Clock
from memolith.config.sections import Config, ContextConfig
from memolith.context.pieces import MAX_CHARS, PieceMaker, of_prose
from memolith.context.sharing import Chosen, Piece, TakenBack, choose
from memolith.context.window import Window, read_window
from memolith.errors import MemolithError
from memolith.files import gate, layout
from memolith.files.folder import Folder
from memolith.files.ledger import Ledger, logs_around
from memolith.profile import Profile
from memolith.text.lines import TRAILER, read_promoted
from memolith.text.quotation import BY_HAND, LABELS, fence, held_back
from memolith.text.wording import utf16_units
from memolith.types import ContextLayer, Record, SessionContext, SessionKind
from memolith.visibility import check_is_session_kind, current, may_see, trust_in_file

# Hosts cut injected text at about 10,000 characters, as JavaScript counts them.
HOOK_CHARS = 9_499
# How the budget is divided when there is not enough for all layers.
_WEIGHTS = {
    "user": 0.12, "summary": 0.20, "memory": 0.33, "today": 0.20, "yesterday": 0.10, "experiences": 0.05,
}  # fmt: skip
# Text that several layers contain is shown in the first of these.
_FIRST_TO_TELL = ("user", "today", "yesterday", "summary", "memory", "experiences")
_WORTH_OF_SUMMARIES = (1.2, 6_000)  # see `of_prose`
_RULE = "\n\n---\n\n"
# For how much of the budget each file is read. What is too far back in the log of a day is still looked
# for in MEMORY.md, which alone has to fill all of it.
_SHARES_READ = {"memory": 1.0, "today": 0.4, "yesterday": 0.2, "experiences": 0.2}
_BYTES_OF_A_CHAR = 2.5  # of a file, for a character that is shown; short records take more
_FEWEST_BYTES = 16_384
_SOURCE = 45  # characters that a line says about its record
# A number as long as any, and room for the numbers of the fence, which estimates of tokens vary by.
_MANY, _ROOM = "999,999,999", "x" * 60
_NOTHING_FITS = "Not even one memory fits into so small a budget."
_NOTHING_PUBLIC = (
    "Nothing is public in the newest part of the files; a search finds what is public and older."
)
_NOTE = "[truncated - {} more left out; to find them: memory_search, or memolith search TEXT]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """For whom a session start is made, and how long it may be."""

    session: str = "main"
    kind: SessionKind = "main"
    max_chars: int | None = None
    max_tokens: int | None = None
    hook: bool = False

    def __post_init__(self) -> None:
        """Raise RefusedError for a value of another type."""
        gate.check_is_text(session=self.session, kind=self.kind)
        gate.check_is_number_or_none(max_chars=self.max_chars, max_tokens=self.max_tokens)


def session_start(profile: Profile, clock: Clock, config: Config, start: Start) -> SessionContext:
    """The text a session starts with, with what was left out."""
    check_is_session_kind(start.kind)
    if not (config.profile.enabled and config.context.enabled):
        return SessionContext(text="")
    if not profile.exists:
        return SessionContext(text="", warnings=profile.missing)
    budget, cost = _measure(config.context, start)
    maker = PieceMaker(clock.now(), clock.day_of, start.session, config.trust.external)
    with Folder(profile.root) as folder:
        reader = _Reader(folder, config, start.kind, budget, maker)
        layers = reader.layers()
        pieces = [piece for layer in layers.values() for piece in layer]
        days = {"today": maker.today, "yesterday": _day_before(maker.today)}
        labels = {name: label.format(**days) for name, label in LABELS.items()}
        empty = [(labels[name], "") for name in layers if layers[name]]
        around = _text(empty, _MANY, by_hand=any(piece.is_by_hand for piece in pieces))
        room = budget - cost(around + _ROOM)
        chosen = choose(layers, _WEIGHTS, room, cost)
        while reader.takes_back(layers, chosen.values()):
            chosen = choose(layers, _WEIGHTS, room, cost)
    shown = [
        ContextLayer(
            name=name,
            label=label,
            text="\n".join(piece.text for piece in chosen[name].pieces),
            shown=len(chosen[name].pieces),
            left_out=chosen[name].left_out + reader.unread[name],
        )
        for name, label in labels.items()
        if chosen[name].pieces or chosen[name].left_out + reader.unread[name]
    ]
    left_out = sum(layer.left_out for layer in shown)
    parts = [(layer.label, layer.text) for layer in shown if layer.text]
    by_hand = any(piece.is_by_hand for one in chosen.values() for piece in one.pieces)
    nothing = _NOTHING_PUBLIC if start.kind == "group" and not pieces else _NOTHING_FITS
    warnings = [*reader.warnings, nothing] if shown and not parts else reader.warnings
    return SessionContext(
        text=_text(parts, f"{left_out:,}" if left_out else "", by_hand=by_hand) if parts else "",
        layers=tuple(shown),
        left_out=left_out,
        held=len(reader.held),
        warnings=(*warnings, *held_back(reader.held.values())),
    )


def _measure(config: ContextConfig, start: Start) -> tuple[int, Callable[[str], int]]:
    """The budget, and what a text costs of it. With two limits, the dearer of the two counts."""
    chars = config.max_chars if start.max_chars is None else max(0, start.max_chars)
    length: Callable[[str], int] = len
    if start.hook:
        chars, length = min(chars, HOOK_CHARS), utf16_units
    if start.max_tokens is None:
        return chars, length
    tokens = max(1, start.max_tokens)
    from memolith.text.budget import estimate_tokens  # only who counts tokens pays for it

    def cost(text: str) -> int:
        return max(length(text), -(-estimate_tokens(text) * chars // tokens))

    return chars, cost


def _text(parts: Iterable[tuple[str, str]], left_out: str, *, by_hand: bool) -> str:
    body = f"{BY_HAND}\n\n" * by_hand + _RULE.join(f"{label}\n{text}" for label, text in parts)
    return fence(f"{body}\n\n{_NOTE.format(left_out)}" if left_out else body)


@dataclass(slots=True)
class _Reader:
    """Reads the layers; a record that stands in several files is part of one layer."""

    folder: Folder
    config: Config
    kind: SessionKind
    chars: int  # the whole budget
    maker: PieceMaker
    held: dict[str, str] = field(default_factory=dict)  # the channel by id
    unread: Counter[str] = field(default_factory=Counter)
    warnings: list[str] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)
    _replaced: set[str] = field(default_factory=set)
    _secret: set[str] = field(default_factory=set)
    _logs: set[str] = field(default_factory=set)  # that were looked at for secrets

    def layers(self) -> Mapping[str, list[Piece]]:
        """The pieces of each layer; text that several contain is shown in the first of them."""
        config, today = self.config, self.maker.today
        both = dict.fromkeys((config.profile.primary, layout.ROOT_MEMORY, layout.NESTED_MEMORY))
        summary = config.long_memory.path if config.context.long_memory else ""
        layers = {
            "today": self._records("today", (layout.daily_log(today),)),
            "yesterday": self._records("yesterday", (layout.daily_log(_day_before(today)),)),
            "memory": self._records("memory", both),
            "experiences": self._records("experiences", (config.experiences.path,)),
            "user": of_prose(self._prose("user", layout.USER)),
            "summary": of_prose(
                self._prose("summary", summary), _WORTH_OF_SUMMARIES, newest_last=True
            ),
        }
        layers = {name: layers[name] for name in _FIRST_TO_TELL}
        self._take_back(layers)
        return layers

    def takes_back(self, layers: Mapping[str, list[Piece]], chosen: Iterable[Chosen]) -> bool:
        """Whether something that was chosen is a secret by the log of its day; then the layers lose it.

        Summaries tell of many days. Only the logs of those that would be shown are looked at.
        """
        days = {piece.day for one in chosen for piece in one.pieces if piece.day}
        secret = self._secret_on(days) - self._secret
        if secret:
            self._secret |= secret
            self._take_back(layers)
        return bool(secret)

    def _secret_on(self, days: Iterable[date]) -> frozenset[str]:
        """The secret records in the logs of some days, as far as those were not looked at before."""
        logs = logs_around(days) - self._logs
        self._logs |= logs
        return Ledger.of(self.folder, logs).secret

    def _take_back(self, layers: Mapping[str, list[Piece]]) -> None:
        """Somebody who marks a record as secret may do so in one of its files alone."""
        taken_back = TakenBack(self._secret, self._replaced)
        for pieces in layers.values():
            pieces[:] = [piece for piece in pieces if not taken_back.has(piece)]

    def _records(self, name: str, paths: Iterable[str]) -> list[Piece]:
        pieces: list[Piece] = []
        for path in paths:
            window = self._window(path, _SHARES_READ[name])
            records = [record for record in window.records if record.id not in self._seen]
            unread = window.unread
            if name == "memory":  # where the records of the last days are too
                unread -= len(self._seen) - (len(window.records) - len(records))
            elif records:  # which are counted there
                unread = 0
            self.unread[name] += max(0, unread)
            if self.kind != "group":
                pieces += of_prose(window.prose, newest_last=name != "memory")
            # The newest files are read first, so whatever takes a record's place is known by now.
            self._replaced.update(record.supersedes for record in records if record.supersedes)
            self._seen.update(record.id for record in records)
            self._secret.update(
                window.secret,
                self._secret_on(record.created.date() for record in records),
                self._secret_sources(window.prose),
            )
            for record in current(records, self.maker.now, self._replaced):
                if not may_see(record.sensitivity, self.kind):
                    continue
                if self._is_external(record):
                    self.held[record.id] = record.provenance.channel
                else:
                    pieces += self.maker.of_record(record)
        return pieces

    def _secret_sources(self, prose: Iterable[str]) -> frozenset[str]:
        """The ids of secret records that promoted facts in some paragraphs are copies of."""
        lines = (line for text in prose for line in text.split("\n") if TRAILER in line)
        facts = [fact for fact in map(read_promoted, lines) if fact and fact.record_id]
        secret = Ledger.of(self.folder, {fact.path for fact in facts}).secret
        return secret | {fact.record_id for fact in facts if fact.path in secret}

    def _is_external(self, record: Record) -> bool:
        return trust_in_file(record.provenance.channel, self.maker.external) == "external"

    def _prose(self, name: str, path: str) -> list[str]:
        """Paragraphs of a file, of which a group sees none."""
        if self.kind == "group" or not path:
            return []
        window = self._window(path)
        self.unread[name] = window.unread
        return window.prose

    def _window(self, path: str, share: float = 0.4) -> Window:
        """As much of a file as fills this share of the budget with what may be shown, if it has so much."""
        chars = int(self.chars * share)
        max_bytes = max(_FEWEST_BYTES, int(chars * _BYTES_OF_A_CHAR))
        try:
            return read_window(self.folder, path, max_bytes, lambda w: self._length(w) >= chars)
        except MemolithError as error:
            self.warnings.append(f"{error.message} It is left out. {error.hint}".rstrip())
            return Window()

    def _length(self, window: Window) -> int:
        """About how many characters of it may be shown and are not shown by a layer before."""
        shown = (
            record
            for record in window.records
            if may_see(record.sensitivity, self.kind) and not self._is_external(record)
        )
        texts = (
            min(len(one.text), MAX_CHARS) + _SOURCE for one in shown if one.id not in self._seen
        )
        return sum(texts) + sum(map(len, window.prose))


def _day_before(day: date) -> date:
    return day - timedelta(days=1)
