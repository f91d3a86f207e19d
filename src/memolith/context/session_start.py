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
from memolith.context.pieces import MAX_CHARS, Piece, PieceMaker, choose, of_prose
from memolith.context.window import Window, read_window
from memolith.errors import MemolithError
from memolith.files import layout
from memolith.files.folder import Folder
from memolith.files.ledger import Ledger, logs_around
from memolith.profile import Profile
from memolith.text.lines import TRAILER, read_promoted, short_id
from memolith.text.quotation import BY_HAND, LABELS, fence, held_back
from memolith.text.wording import utf16_units
from memolith.types import ContextLayer, Record, SessionContext, SessionKind
from memolith.visibility import check_is_session_kind, current, may_see, trust_in_file

# Hosts cut injected text at about 10,000 characters, as JavaScript counts them.
HOOK_CHARS = 9_499
# How the budget is divided when there is not enough for all layers. What several of them contain is shown
# in the first. They are read in this order too, so whatever takes a record's place is known by then.
_WEIGHTS = {
    "user": 0.12, "today": 0.20, "yesterday": 0.10, "summary": 0.20, "memory": 0.33, "experiences": 0.05,
}  # fmt: skip
_WORTH_OF_PROSE, _WORTH_OF_SUMMARIES = (1.5, 2_000), (1.2, 6_000)  # see `of_prose`
_RULE = "\n\n---\n\n"
# Of a file is read what fills this many times the share of its layer. What is too far back in the log of a
# day is still looked for in MEMORY.md, which alone has to fill all of the budget.
_SHARES_READ = 2
_FEWEST_CHARS = 4_000
_SOURCE = 45  # characters that a line says about its record
# A number as long as any, and room for the numbers of the fence, which estimates of tokens vary by.
_MANY, _ROOM = "999,999,999", "x" * 60
_NOTHING_FITS = "Not even one memory fits into so small a budget."
_NOTE = "[truncated - {} more left out; to find them: memory_search, or memolith search TEXT]"


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
    check_is_session_kind(start.kind)
    if not (config.profile.enabled and config.context.enabled):
        return SessionContext(text="")
    if not profile.exists:
        return SessionContext(text="", warnings=profile.missing)
    budget, cost = _measure(config.context, start)
    maker = PieceMaker(clock.now(), clock.day_of, start.session, config.trust.external)
    days = {"today": maker.today, "yesterday": _day_before(maker.today)}
    labels = {name: label.format(**days) for name, label in LABELS.items()}
    with Folder(profile.root) as folder:
        reader = _Reader(folder, config, start.kind, budget, maker)
        pieces = reader.layers()
        around = _text([(labels[name], "") for name in pieces if pieces[name]], _MANY)
        room = budget - cost(around + _ROOM)
        chosen = choose(pieces, _WEIGHTS, room, cost)
        while reader.finds_secrets(piece for one in chosen.values() for piece in one.pieces):
            chosen = choose(reader.without_taken_back(pieces), _WEIGHTS, room, cost)
    layers = [
        ContextLayer(
            name=name,
            label=label,
            text="\n".join(piece.text for piece in chosen[name].pieces),
            shown=len(chosen[name].pieces),
            left_out=chosen[name].left_out + reader.unread[name],
        )
        for name, label in labels.items()
    ]
    left_out = sum(layer.left_out for layer in layers)
    parts = [(layer.label, layer.text) for layer in layers if layer.shown]
    by_hand = any(piece.is_by_hand for one in chosen.values() for piece in one.pieces)
    text = _text(parts, f"{left_out:,}" if left_out else "", by_hand=by_hand) if parts else ""
    if any(pieces.values()) and not parts:
        reader.warnings.append(_NOTHING_FITS)
    return SessionContext(
        text=text,
        layers=tuple(layer for layer in layers if layer.shown or layer.left_out),
        left_out=left_out,
        held=len(reader.held),
        warnings=(*reader.warnings, *held_back(reader.held)),
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


def _text(parts: Iterable[tuple[str, str]], left_out: str, *, by_hand: bool = True) -> str:
    body = f"{BY_HAND}\n\n" * by_hand + _RULE.join(f"{label}\n{text}" for label, text in parts)
    return fence(f"{body}\n\n{_NOTE.format(left_out)}" if left_out else body)


@dataclass(slots=True)
class _Reader:
    """Reads the layers; a record that is in several files is part of one layer."""

    folder: Folder
    config: Config
    kind: SessionKind
    chars: int  # the whole budget
    maker: PieceMaker
    held: list[str] = field(default_factory=list)  # the channels of records from outside
    unread: Counter[str] = field(default_factory=Counter)
    warnings: list[str] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)
    _replaced: set[str] = field(default_factory=set)
    _secret: set[str] = field(default_factory=set)
    _looked_at: set[str] = field(default_factory=set)  # files, for secrets

    def layers(self) -> Mapping[str, list[Piece]]:
        """The pieces of each layer; text that several contain is shown in the first of them."""
        config, today = self.config, self.maker.today
        summary = config.long_memory.path if config.context.long_memory else ""
        paths = {
            "user": [layout.USER],
            "today": [layout.daily_log(today)],
            "yesterday": [layout.daily_log(_day_before(today))],
            "summary": [summary],
            "memory": [config.profile.primary, layout.ROOT_MEMORY, layout.NESTED_MEMORY],
            "experiences": [config.experiences.path],
        }
        layers: dict[str, list[Piece]] = {}
        for name in _WEIGHTS:
            layers[name] = []
            for path in filter(None, dict.fromkeys(paths[name])):
                layers[name] += self._layer(name, path)
        return self.without_taken_back(layers)

    def finds_secrets(self, chosen: Iterable[Piece]) -> bool:
        """Whether something that was chosen is a secret by the log of its day.

        Summaries cover many days. Only the logs of those that would be shown are looked at.
        """
        before = len(self._secret)
        self._look_for_secrets(logs_around(piece.day for piece in chosen if piece.day))
        return len(self._secret) > before

    def without_taken_back(self, layers: Mapping[str, list[Piece]]) -> Mapping[str, list[Piece]]:
        """Without what is secret or superseded, also if only one of the files of a record says so."""
        gone = self._secret | self._replaced
        # Summaries know records by short ids only.
        secret, replaced = set(map(short_id, self._secret)), set(map(short_id, self._replaced))

        def is_left(piece: Piece) -> bool:
            names = piece.names if piece.retells else ()
            holds = not names or (secret.isdisjoint(names) and not replaced.issuperset(names))
            return holds and piece.record_id not in gone

        return {name: list(filter(is_left, pieces)) for name, pieces in layers.items()}

    def _look_for_secrets(self, paths: set[str]) -> None:
        """Somebody who marks a record as secret may do so in the log of its day alone."""
        self._secret |= Ledger.of(self.folder, paths - self._looked_at).secret
        self._looked_at |= paths

    def _layer(self, name: str, path: str) -> list[Piece]:
        """What may be shown of a file."""
        share = 1.0 if name == "memory" else _SHARES_READ * _WEIGHTS[name]
        chars = max(_FEWEST_CHARS, int(self.chars * share))
        window = self._window(path, chars)
        records = [record for record in window.records if record.id not in self._seen]
        if name == "memory":  # the records of the last days are in it too, and were counted
            self.unread[name] += max(
                0, window.unread - len(self._seen) + len(window.records) - len(records)
            )
        elif not records:  # those of a log are counted in MEMORY.md
            self.unread[name] += window.unread
        self._replaced.update(record.supersedes for record in records if record.supersedes)
        self._seen.update(record.id for record in records)
        self._secret |= window.secret
        # Promoted facts are copies of what other files say.
        lines = (line for text in window.prose for line in text.split("\n") if TRAILER in line)
        facts = [fact for fact in map(read_promoted, lines) if fact and fact.record_id]
        logs = logs_around(record.created.date() for record in records)
        self._look_for_secrets(logs.union(fact.path for fact in facts))
        self._secret.update(fact.record_id for fact in facts if fact.path in self._secret)
        pieces: list[Piece] = []
        if self.kind != "group":
            worth = _WORTH_OF_SUMMARIES if name == "summary" else _WORTH_OF_PROSE
            pieces += of_prose(window.prose, worth, newest_last=name not in ("user", "memory"))
        for record in current(records, self.maker.now, self._replaced):
            if may_see(record.sensitivity, self.kind):
                if self._is_external(record):
                    self.held.append(record.provenance.channel)
                else:
                    pieces += self.maker.of_record(record)
        return pieces

    def _is_external(self, record: Record) -> bool:
        return trust_in_file(record.provenance.channel, self.maker.external) == "external"

    def _window(self, path: str, chars: int) -> Window:
        """The part of a file with this many characters that may be shown, if it has them."""
        try:
            return read_window(self.folder, path, chars, self._length)
        except MemolithError as error:
            self.warnings.append(f"{error.message} It is left out. {error.hint}".rstrip())
            return Window()

    def _length(self, record: Record) -> int:
        """About how many characters of it are shown, if it may be and is not by a layer before."""
        is_shown = record.id not in self._seen and may_see(record.sensitivity, self.kind)
        if not is_shown or self._is_external(record):
            return 0
        return min(len(record.text), MAX_CHARS) + _SOURCE


def _day_before(day: date) -> date:
    return day - timedelta(days=1)
