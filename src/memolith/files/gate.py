"""The write gate: what may become a record."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import wraps
from math import isnan
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, TypeVar, cast

from memolith.config.sections import ProfileConfig
from memolith.errors import ForgottenError, RefusedError, TextTooLargeError
from memolith.files import layout
from memolith.files.record_format import (
    MAX_LINE_BYTES,
    RecordFormatError,
    encode_json,
    encode_line,
    parse_line,
)
from memolith.files.transaction import Transaction
from memolith.text.cleaning import FENCE_BEGINS, SOURCE_ENDS, has_nothing_to_see
from memolith.text.lines import handle
from memolith.text.quotation import without_recalled
from memolith.types import MAX_LEVELS, SENSITIVITIES, Record, Sensitivity

if TYPE_CHECKING:
    from memolith.files.ledger import Tombstone

Class = TypeVar("Class")
Method = TypeVar("Method", bound=Callable[..., object])

# The types of arguments that are checked, as annotations spell them.
_KINDS: Mapping[str, tuple[type | tuple[type, ...], str]] = {
    "str": (str, "text"),
    "SessionKind": (str, "text"),
    "bool": (bool, "True or False"),
    "int": (int, "a whole number"),
    "float": ((int, float), "a number"),
    "datetime": (datetime, "a datetime"),
    "Mapping": (Mapping, "a mapping"),
    "Callable": (Callable, "a function"),  # type: ignore[dict-item]
    "Progress": (Callable, "a function"),  # type: ignore[dict-item]
}
NOT_YET = datetime.min.replace(tzinfo=UTC)  # of a draft: its time is taken under the lock
MAX_RECORD_BYTES = 65_536
_MAX_NAME = 200
_MAX_NUMBER = 10**15
# A text of this size fits into a line even if every byte has to be spelled with six.
_SURELY_SHORT = MAX_LINE_BYTES // 7


def new_id() -> str:
    """A random UUID (version 4). The uuid module would cost more to import than the rest of us."""
    text = os.urandom(16).hex()
    variant = "89ab"[int(text[16], 16) % 4]
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-{variant}{text[17:20]}-{text[20:]}"


def whole_characters(text: str) -> str:
    """The text with each pair of surrogates joined to the character it means.

    JSON cannot tell such a pair from the character it spells, so a record keeps the character.
    """
    if text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def own_words(text: str) -> str:
    """The text without quotations from memory itself; refused if nothing else is in it.

    An agent that saves what it recalled would fill the memory with copies of itself.
    """
    has_marks = SOURCE_ENDS in text or FENCE_BEGINS in text
    own = without_recalled(text) if has_marks else text
    if own == text:
        return text
    if not own.strip():
        raise RefusedError(
            "This is a quotation from memory itself, so it was not remembered again.",
            hint="Remember only what is new.",
        )
    return own.strip()


def check_enabled(config: ProfileConfig) -> None:
    """Raise RefusedError if the user switched the memory off."""
    if not config.enabled:
        raise RefusedError(
            "This memory is switched off (profile.enabled).",
            hint="To use it again: memolith config set profile.enabled true",
        )


def _check_record(record: Record) -> None:
    """Raise RefusedError for what cannot be a record."""
    if _is_blank(record.text):
        raise RefusedError(
            "There is nothing to remember: the text is empty.", hint="Give some text."
        )
    size = _size(record.text)
    check_fits("text", size, MAX_RECORD_BYTES)
    check_sensitivity(record.sensitivity)
    _check_spelling(record, size)
    for keyword in record.keywords:
        if _is_blank(keyword) or not _size(keyword):
            raise RefusedError("A keyword is empty.", hint="Leave it out, or give a word.")
    confidence = record.provenance.confidence
    if not 0 <= confidence <= 1:
        raise RefusedError(f"The confidence is not a number from 0 to 1 but {confidence!r:.60}.")
    check_name("category", record.category)
    check_name("session", record.session)


def check_sensitivity(mark: object) -> None:
    """Refuse a mark that does not exist."""
    if mark not in SENSITIVITIES:
        raise RefusedError(
            f"{mark!r} is not a sensitivity.", hint=f"Use one of {', '.join(SENSITIVITIES)}."
        )


def mark_after(old: Record, mark: Sensitivity | None, *, by_user: bool) -> Sensitivity:
    """The mark of a successor. Only the user may lower one: nobody else ends a secret or makes text public."""
    if mark is None or (not by_user and (old.sensitivity == "secret" or mark == "public")):
        return old.sensitivity
    return mark


def checked_record(draft: Record, title: str = "") -> Record:
    """The record, secret if it holds a key or token known by its form; RefusedError if it is not a record.

    Its `warnings` say what was found. A password in words is only a guess: the mark stays, and the writer is warned.
    """
    from memolith.text.open_secrets import key_kinds, open_secrets

    _check_record(draft)
    if draft.sensitivity == "secret":
        return draft
    parts = [draft.text, title, *draft.keywords]
    if draft.metadata:
        parts.append(encode_json(draft.metadata).decode(errors="replace"))
    text = "\n".join(parts)
    if kinds := key_kinds(text):
        provenance = replace(draft.provenance, sensitivity="secret")
        warning = (
            f"Saved as secret, because it holds {' and '.join(kinds)}."
            f" The user can change that: memolith approve {handle(draft.id)} --sensitivity private-user"
        )
        return replace(draft, provenance=provenance, warnings=(*draft.warnings, warning))
    if kinds := tuple(open_secrets(text)):
        warning = (
            f"It seems to hold {' and '.join(kinds)}."
            f" To hide it: memolith update {handle(draft.id)} --sensitivity secret"
        )
        return replace(draft, warnings=(*draft.warnings, warning))
    return draft


def _is_blank(text: str) -> bool:
    """Whether there is nothing to see: also a zero-width space alone."""
    return not any(char.isalnum() for char in text) and has_nothing_to_see(text)


def _size(text: str) -> int:
    """The size in UTF-8; raises RefusedError for a text that UTF-8 cannot spell."""
    try:
        return len(text.encode())
    except UnicodeEncodeError as error:
        raise RefusedError(
            f"The text holds half a character, or a byte that is not UTF-8, at character {error.start + 1}.",
            hint="Give it as UTF-8, for example: iconv -f ISO-8859-1 -t UTF-8",
        ) from error


def checks_types(of: type[Class]) -> type[Class]:
    """A class whose public methods refuse arguments of another type, by name, with an error of ours.

    Not `remember`: on its way to the disk each frame counts, and `Store.draft` checks the same.
    """
    for name, method in list(vars(of).items()):
        if isinstance(method, FunctionType) and not name.startswith("_") and name != "remember":
            setattr(of, name, check_types(method))
    return of


def check_types(method: Method) -> Method:
    """The same for one method."""
    kinds = {}
    for name, annotation in method.__annotations__.items():
        kind, _, other = annotation.partition(" | ")
        kind = kind.partition("[")[0]
        if kind in _KINDS and other in ("", "None") and name != "return":
            kinds[name] = kind, bool(other)
    code: CodeType = method.__code__
    names = code.co_varnames[: code.co_argcount]

    @wraps(method)
    def call(*values: object, **named: object) -> object:
        for name, value in (*zip(names, values, strict=False), *named.items()):
            kind, is_optional = kinds.get(name, ("", True))
            if kind and not (is_optional and value is None):
                _check(name, value, kind)
        return method(*values, **named)

    return cast("Method", call)


def _check(name: str, value: object, kind: str) -> None:
    of, words = _KINDS[kind]
    is_nan = isinstance(value, float) and isnan(value)
    if not isinstance(value, of) or is_nan or (isinstance(value, bool) and of is not bool):
        raise RefusedError(f"The {name} is not {words} but {value!r:.60}.")
    if of is int and isinstance(value, int) and abs(value) > _MAX_NUMBER:
        raise RefusedError(f"The {name} is larger than any number that makes sense.")


def text_list(name: str, values: Iterable[str]) -> tuple[str, ...]:
    """The texts; a single text is refused, because it would become a list of letters."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise RefusedError(f"The {name} must be a list of texts, not {values!r:.60}.")
    found = tuple(values)
    for value in found:
        _check(name, value, "str")
    return found


def check_name(name: str, value: str) -> None:
    """Raise RefusedError for what cannot be the name of a category, session, chat or platform."""
    if not value.strip() or len(value) > _MAX_NAME or not value.isprintable():
        raise RefusedError(
            f"{value[:40]!r} cannot be a {name}.", hint=f"A {name} is one short line of text."
        )


def _check_spelling(record: Record, size: int) -> None:
    """Refuse a record that could not be read back as it was given."""
    if not record.keywords and not record.metadata and size < _SURELY_SHORT:
        return
    try:
        line = encode_line(record)
        check_fits("whole record", len(line), MAX_LINE_BYTES)
        read = parse_line(line)
    except RecordFormatError as error:
        raise RefusedError(error.message, hint=error.hint) from error
    if read is not None and read.to_dict()["metadata"] != read.metadata:
        raise RefusedError(
            f"The metadata has more than {MAX_LEVELS} levels of objects and lists.",
            hint="Make it flatter, or keep it as one text.",
        )
    if read is None or (read.keywords, read.metadata) != (record.keywords, record.metadata):
        raise RefusedError(
            "Keywords must be texts, and metadata an object with texts as keys.",
            hint='For example: keywords=["auth"], metadata={"ticket": 12}.',
        )


def check_fits(what: str, size: int, limit: int) -> None:
    """Raise TextTooLargeError for more bytes than something may have."""
    if size > limit:
        raise TextTooLargeError(
            f"The {what} has {size:,} bytes; it may have {limit:,}. Nothing was changed.",
            size=size,
            limit=limit,
            hint="Keep the essence, or split it.",
        )


def whole_moment(moment: datetime) -> datetime:
    """A moment in UTC and whole milliseconds, as records keep it."""
    try:
        moment = moment.astimezone(UTC)
    except (OverflowError, ValueError) as error:
        raise RefusedError(
            f"{moment!r} is beyond the calendar.", hint="Give a nearer date."
        ) from error
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def later_moment(moment: datetime, now: datetime) -> datetime:
    """When a record expires; the past is refused, because nobody would ever see the record."""
    rounded = whole_moment(moment)
    if rounded <= now:
        raise RefusedError(
            f"It would have expired already: {moment.isoformat(timespec='seconds')} lies in the past.",
            hint="Leave the expiry out, or give a later moment.",
        )
    return rounded


def past_moment(moment: datetime, now: datetime) -> datetime:
    """When a record was learned; the future is refused."""
    rounded = whole_moment(moment)
    if rounded > now:
        raise RefusedError(
            f"The timestamp {moment.isoformat(timespec='seconds')} lies in the future.",
            hint="Leave it out, or give a moment of the past.",
        )
    if rounded - NOT_YET < timedelta(days=2):  # in some zones its day is before the calendar
        raise RefusedError(f"{moment!r} is beyond the calendar.", hint="Give a later date.")
    return rounded


def admit_forgotten(transaction: Transaction, *records: Record, by_user: bool) -> None:
    """Refuse an agent what the user had forgotten; the user may bring it back.

    Plans the removal of the tombstones into the same transaction as the records.
    """
    folder = transaction.folder
    stamp = folder.stamp(layout.TOMBSTONES)
    if stamp is None:
        return
    from memolith.files.ledger import digest, tombstones, without_tombstones

    digests = {digest(one.text) for one in records}
    stones = [stone for stone in tombstones(folder.read) if stone.digest in digests]
    if stones and not by_user:
        refuse_forgotten(stones[0])
    if stones:
        transaction.replace(layout.TOMBSTONES, without_tombstones(folder, stones), stamp)


def refuse_forgotten(stone: Tombstone | None) -> None:
    """Raise ForgottenError for a text of which there is a tombstone."""
    if stone is not None:
        raise ForgottenError(
            f"The user had this forgotten at {stone.forgotten_at}, so it was not remembered again.",
            record_id=stone.id,
            hint="Only the user may bring it back: memolith remember TEXT",
        )
