"""Change a record or note: a new text replaces a record, everything else is rewritten with a backup."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from memolith.errors import MemolithError, RefusedError
from memolith.files import gate
from memolith.files.document import Document
from memolith.files.folder import Folder
from memolith.files.front_matter import HeaderValue, header_lines, split_note
from memolith.files.journal import is_same
from memolith.files.ledger import Ledger, every_file, find_newest, find_record
from memolith.files.notes import is_note_path, readable_note
from memolith.files.transaction import Transaction
from memolith.jobs.changes import with_values
from memolith.jobs.replace import admitted, changed_files, replace_files
from memolith.store import Store, with_warnings
from memolith.types import Record, Sensitivity
from memolith.visibility import raises_trust, trust

_KEY = re.compile(rb"""["']?([A-Za-z_][\w-]*)["']?[ \t]*:""")
_FIELDS = (
    "text", "category", "session", "sensitivity", "keywords", "metadata", "expires", "confidence", "timestamp",
)  # fmt: skip


def update(  # noqa: PLR0913 - each names one field of the record
    store: Store,
    record_id: str,
    channel: str,
    *,
    text: str | None,
    keywords: Sequence[str] | None,
    metadata: Mapping[str, object] | None,
    sensitivity: Sensitivity | None,
) -> Record:
    """Give a record or note new values."""
    words = None if keywords is None else gate.text_list("keywords", keywords)
    if (text, words, metadata, sensitivity) == (None, None, None, None):
        raise RefusedError(
            "There is nothing to change.", hint="Give a text, keywords, metadata or a sensitivity."
        )
    draft = None if text is None else store.draft(text.replace("\r\n", "\n").strip(), channel)
    with store.existing() as folder:
        old = _newest(folder, record_id)
    if draft is not None and draft.text != old.text and not _is_note(old):
        return supersede(store, record_id, draft, sensitivity, keywords=words, metadata=metadata)
    with store.changing() as transaction:
        old = _newest(transaction.folder, record_id)
        mark = gate.mark_after(old, sensitivity, by_user=trust(channel) == "user")
        new = replace(
            _with_provenance(old, sensitivity=mark),
            text=draft.text if draft else old.text,
            keywords=old.keywords if words is None else words,
            metadata=old.metadata if metadata is None else metadata,
        )
        new = admitted(store, transaction, old, new, channel)
        return _rewrite(store, transaction, old, new, reason="update")


def supersede(
    store: Store,
    record_id: str,
    draft: Record,
    sensitivity: Sensitivity | None,
    *,
    keywords: tuple[str, ...] | None = None,
    metadata: Mapping[str, object] | None = None,
) -> Record:
    """Write a draft in the place of an older record; what is not given stays as it was there."""
    by_user = trust(draft.provenance.channel) == "user"

    def successor(folder: Folder) -> Record:
        old = _newest(folder, record_id)
        mark = gate.mark_after(old, sensitivity, by_user=by_user)
        is_opened = old.sensitivity == "secret" != mark  # then its words stay secret
        kept = replace(old, keywords=(), metadata={}) if is_opened else old
        is_over = old.expires is not None and old.expires <= store.clock.now()
        new = replace(
            kept,
            id=draft.id,
            text=draft.text,
            created=draft.created,
            provenance=replace(old.provenance, channel=draft.provenance.channel, sensitivity=mark),
            keywords=kept.keywords if keywords is None else keywords,
            metadata=kept.metadata if metadata is None else metadata,
            supersedes=old.id,
            expires=None if is_over else old.expires,
            citation=None,
        )
        return old if is_same(old, new, store.clock.now()) else new

    store.existing().close()
    record, is_over_limit = store.append(draft, successor)
    return finish(store, record, None, is_over_limit=is_over_limit)


def _newest(folder: Folder, record_id: str) -> Record:
    """The record, or the last of those that took its place, as secret as its strictest copy."""
    return Ledger.of(folder).strictest(find_newest(folder, record_id))


def _with_provenance(record: Record, **values: str) -> Record:
    return replace(record, provenance=replace(record.provenance, **values))  # type: ignore[arg-type]


def remember_many(
    store: Store, items: Iterable[str | Mapping[str, object] | Record], channel: str
) -> tuple[Record, ...]:
    """Write several records in one transaction: all, or none if one is refused."""
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
        raise RefusedError(f"This is not a list of records but {items!r:.60}.")
    drafts = [gate.checked_record(_draft(store, item, channel)) for item in items]
    if not drafts:
        return ()
    with store.writing() as transaction:
        gate.admit_forgotten(transaction, *drafts, by_user=trust(channel) == "user")
        records = store.journal.append(transaction, drafts)
        is_over_limit = store.may_be_over_limit(transaction)
    done = [
        finish(store, with_warnings(record, draft, transaction), draft)
        for record, draft in zip(records, drafts, strict=True)
    ]
    if is_over_limit:
        finish(store, done[-1], None, is_over_limit=True)
    return tuple(done)


def _draft(store: Store, item: str | Mapping[str, object] | Record, channel: str) -> Record:
    if isinstance(item, Record):
        own = {name: getattr(item, name) for name in _FIELDS[:-2]}
        item = {**own, "confidence": item.provenance.confidence, "timestamp": item.created}
    elif isinstance(item, str):
        item = {"text": item}
    elif not isinstance(item, Mapping):
        raise RefusedError(f"This is not a text, a mapping or a record: {item!r:.60}.")
    unknown = sorted(map(str, item.keys() - _FIELDS))
    if unknown or "text" not in item:
        what = f"{unknown[0]!r} is not a field" if unknown else "There is no text"
        raise RefusedError(f"{what}: {item!r:.60}.", hint=f"Fields are: {', '.join(_FIELDS)}.")
    draft: Callable[..., Record] = store.draft  # which checks each value
    return draft(channel=channel, **item)


def finish(
    store: Store, record: Record, draft: Record | None, *, is_over_limit: bool = False
) -> Record:
    """Trim MEMORY.md if it is over its limits, and merge the words of a text that was saved again."""
    if is_over_limit:
        from memolith.jobs.run import trim  # seldom needed, and slow to load

        with suppress(MemolithError):  # the record is on disk, and the next append tries again
            trim(store)
    if draft is None or not record.reused or not (draft.keywords or draft.metadata):
        return record
    return merge_words(store, record, draft)


def merge_words(store: Store, known: Record, draft: Record) -> Record:
    """A record that was saved again, with the keywords and metadata that it did not have.

    A channel from outside adds nothing to our own records; what an agent adds to the user's makes the
    record the agent's.
    """
    folded = set(map(str.casefold, known.keywords))
    keywords = tuple(word for word in draft.keywords if word.casefold() not in folded)
    there = known.metadata.items()
    metadata = {name: value for name, value in draft.metadata.items() if (name, value) not in there}
    words = {"keywords": keywords, "metadata": metadata}
    added = "; ".join(f"{kind} {', '.join(some)}" for kind, some in words.items() if some)
    if not added:
        return known
    external, channel = store.config.trust.external, draft.provenance.channel
    is_external = trust(channel, external) == "external"
    if is_external and raises_trust(known.provenance.channel, channel, external):
        warning = f"Not added to {known.citation}, which is not from outside: {added}."
        return replace(known, warnings=(*known.warnings, warning))
    with store.changing() as transaction:
        old = find_record(transaction.folder, known.id)
        all_words = {**old.metadata, **metadata}
        new = replace(old, keywords=(*old.keywords, *keywords), metadata=all_words)
        new = admitted(store, transaction, old, new, channel)
        merged = _rewrite(store, transaction, old, new, reason="update")
    warning = f"Merged into {known.citation}, which says the same (id {known.id}): {added}."
    return replace(merged, reused=True, warnings=(*known.warnings, *merged.warnings, warning))


def _rewrite(
    store: Store, transaction: Transaction, old: Record, new: Record, *, reason: str
) -> Record:
    """Write into every copy of a record in what it differs from the old one; the rest stays."""
    if new == old:
        return replace(old, reused=True)

    def decided(record: Record) -> tuple[Record, Record] | None:
        is_copy = not _is_note(old) or record.citation == old.citation
        return (old, new) if record.id == old.id and is_copy else None

    def change(path: str, data: bytes) -> bytes:
        may_hold = old.id.encode() in data or (old.citation and old.citation.path == path)
        return with_changes(path, data, decided) if may_hold else data

    changes = changed_files(transaction.folder, every_file(transaction.folder), change)
    replace_files(store, transaction, changes, reason=reason)
    return new


def with_changes(
    path: str, data: bytes, decided: Callable[[Record], tuple[Record, Record] | None]
) -> bytes:
    """A file with what differs between the two versions that `decided` has of a record; the rest stays."""
    document = Document.parse(path, data)
    pairs = {line.number: decided(record) for line, record in document.records()}
    data = b"".join(
        changed_line(line.data, *pair) if (pair := pairs.get(line.number)) else line.data
        for line in document.lines
    )
    note = readable_note(path, data) if is_note_path(path) else None
    pair = decided(note) if note else None
    return changed_note(path, data, *pair) if pair else data


def _differences(old: Record, new: Record) -> dict[str, HeaderValue]:
    """What of a record is not its text and differs, by its name in front matter."""

    def values(one: Record) -> dict[str, HeaderValue]:
        return {
            "category": one.category,
            "channel": one.provenance.channel,
            "sensitivity": one.sensitivity,
            "keywords": one.keywords,
            "metadata": one.metadata,
            "supersedes": one.supersedes or "",
        }

    before = values(old)
    return {name: value for name, value in values(new).items() if value != before[name]}


def changed_line(line: bytes, old: Record, new: Record) -> bytes:
    """The line of a record with what differs between two versions of it; the rest stays as it is."""
    values: dict[str, object] = dict(_differences(old, new))
    places = {"channel": "sourceChannel", "sensitivity": "sensitivity"}
    marks = {name: values.pop(key) for key, name in places.items() if key in values}
    if marks:
        values["provenance"] = marks
    if "metadata" in values:
        line = with_values(line, metadata=None)  # or the old keys would stay
    return with_values(line, **values)


def changed_note(path: str, data: bytes, old: Record, new: Record) -> bytes:
    """The bytes of a note with what differs between two records; the rest stays as it is."""
    header = _differences(old, new)
    changed = _with_header(data, header, None if new.text == old.text else new.text)
    read = readable_note(path, changed)
    mark = new.sensitivity if "sensitivity" in header else None
    if (
        read is None
        or replace(read, provenance=new.provenance) != new
        or (mark not in (None, read.sensitivity))
    ):
        raise RefusedError(
            f"{path} cannot be changed like that: its front matter cannot hold it.",
            hint=f"Edit the file by hand, or replace it: memolith supersede {old.id} TEXT",
        )
    return changed


def _is_note(record: Record) -> bool:
    return record.citation is not None and is_note_path(record.citation.path)


def _with_header(data: bytes, values: Mapping[str, HeaderValue], text: str | None = None) -> bytes:
    """A note with other values of some keys, and another text if one is given; the rest stays.

    >>> _with_header(b"---\\nid: 1\\nkeywords:\\n  - tea\\n---\\nTea\\n", {"keywords": ("a", "b")})
    b'---\\nid: 1\\nkeywords: [a, b]\\n---\\nTea\\n'
    """
    parts = split_note(data)
    if parts is None:
        return data
    header, body = parts
    names = {name.encode() for name in values}
    kept, is_kept = [], True
    for line in header.split(b"\n") if header else []:
        key = _KEY.match(line)
        if key is not None:  # other lines go with the key above them
            is_kept = key[1].lower() not in names
        if is_kept:
            kept.append(line)
    fence = data.partition(b"\n")[0]
    body = body if text is None else f"\n{text}\n".encode()
    return b"\n".join([fence, *kept, *header_lines(values), b"---", body])


def supersede_by(store: Store, record_id: str, newer_id: str) -> Record:
    """Let a record that is there already take the place of an older one, which stays as history."""
    with store.changing() as transaction:
        old, new = _choose(transaction.folder, record_id, newer_id)
        marked = new if old.id == new.id else replace(new, supersedes=old.id)
        return _rewrite(store, transaction, new, marked, reason="supersede")


def _choose(folder: Folder, old_id: str, new_id: str) -> tuple[Record, Record]:
    """The record whose place is taken, or its successor, and the record that takes it."""
    old, new = find_newest(folder, old_id), find_record(folder, new_id)
    if find_record(folder, old_id).id == new.id:
        raise RefusedError(
            f"{new.id} cannot take its own place.", hint="Name the older record first: OLD --by NEW"
        )
    if old.id != new.id and (new.supersedes or find_newest(folder, new.id).id != new.id):
        what = "replaces another record" if new.supersedes else "was replaced itself"
        raise RefusedError(
            f"{new.id} {what} already, so it cannot take the place of {old.id}.",
            hint=f"The current record is {old.id}. To read it: memolith get {old.id}",
        )
    return old, new
