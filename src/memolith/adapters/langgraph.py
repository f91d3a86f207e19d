"""A store for LangGraph: each item is a note that people can read (extra: `langgraph`)."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from hashlib import sha256
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    SearchItem,
    SearchOp,
)

from memolith.adapters.agent import for_agent
from memolith.errors import NotFoundError, RefusedError
from memolith.files.notes import make_slug
from memolith.jobs.reports import NoteFile
from memolith.memory import Memory
from memolith.text.open_secrets import key_kinds

_log = logging.getLogger(__name__)
Namespace = tuple[str, ...]
_JSON = "```json"
_MAX_METADATA = 8_000  # characters; front matter may have 16 kB
_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda a, b: a == b,
    "$ne": lambda a, b: a != b,
    "$gt": lambda a, b: float(a) > float(b),
    "$gte": lambda a, b: float(a) >= float(b),
    "$lt": lambda a, b: float(a) < float(b),
    "$lte": lambda a, b: float(a) <= float(b),
}


class MemolithStore(BaseStore):
    """Give it to `graph.compile(store=MemolithStore(memory))`.

    The longest text of a value is the text of the note, which you may edit; the rest is its
    metadata. A search with a query is a search of the memory, by words and by meaning.
    """

    def __init__(self, memory: Memory, *, folder: str = "memory/store") -> None:
        """`folder` has a folder for each namespace."""
        self._memory = for_agent(memory, "langgraph")
        self._files = self._memory.files
        self._folder = folder.strip("/")

    def batch(self, ops: Iterable[Op]) -> list[Any]:
        """Do several operations, in order."""
        return [self._do(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Any]:
        """Do several operations, in order, in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _do(self, op: Op) -> Any:
        match op:
            case GetOp():
                return self._get(self._path(op.namespace, op.key))
            case PutOp():
                return self._put(op)
            case SearchOp():
                return self._search(op)
            case ListNamespacesOp():
                return self._namespaces(op)
        raise ValueError(f"Unknown operation: {op!r:.80}")

    def _get(self, path: str) -> Item | None:
        try:
            return _item(self._files.read_note(path), self._folder)
        except NotFoundError:
            return None

    def _put(self, op: PutOp) -> None:
        path = self._path(op.namespace, op.key)
        if op.value is None:
            if self._get(path) is not None:
                self._files.delete_notes(path)
            return
        text, about = _as_note(op.value)
        about |= {"namespace": list(op.namespace), "key": op.key}
        self._files.write_note(path, text, metadata=about)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        folder, end = self._below(op.namespace_prefix), op.offset + op.limit
        scores: dict[str, float | None] = {}
        if op.query:
            # Several hits may be of one note, and a filter may leave some out.
            found = self._memory.search(op.query, end * (20 if op.filter else 4), path=folder)
            for warning in found.warnings:
                _log.warning("%s", warning)
            for hit in found.hits:
                scores.setdefault(hit.citation.path, hit.score)
            items = [(item, scores[path]) for path in scores if (item := self._get(path))]
        else:
            items = [(item, None) for item in self._items(folder)]
            items.sort(key=lambda pair: pair[0].updated_at, reverse=True)
        passed = [pair for pair in items if _matches(pair[0].value, op.filter or {})]
        return [
            SearchItem(
                one.namespace, one.key, one.value, one.created_at, one.updated_at, score=score
            )
            for one, score in passed[op.offset : end]
        ]

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        known = {item.namespace for item in self._items(self._folder)}
        wanted = op.match_conditions or ()
        found = {name[: op.max_depth] for name in known if all(_fits(one, name) for one in wanted)}
        return sorted(found)[op.offset : op.offset + op.limit]

    def _items(self, folder: str) -> list[Item]:
        paths = self._files.notes(folder)
        return [item for path in paths if (item := self._get(path)) is not None]

    def _below(self, namespace: Namespace) -> str:
        return "/".join([self._folder, *map(_file_name, namespace)])

    def _path(self, namespace: Namespace, key: str) -> str:
        return f"{self._below((*namespace, key))}.md"


def _file_name(name: str) -> str:
    """A name as it can be in any file system; one that has to be changed gets a digest."""
    if _PLAIN.fullmatch(name):
        return name
    return f"{make_slug(name[:40])}~{sha256(name.encode()).hexdigest()[:16]}"


def _as_note(value: Mapping[str, Any]) -> tuple[str, dict[str, object]]:
    """The text and the metadata of a value: its longest text, if it comes back as it is, or JSON."""
    written = json.dumps(value, ensure_ascii=False)
    if kinds := key_kinds(written):
        raise RefusedError(
            f"This value holds {' and '.join(kinds)}, which no agent may read from a memory.",
            hint="Keep keys where your program keeps its keys.",
        )
    rest = json.loads(written)
    texts = {name: text for name, text in rest.items() if isinstance(text, str)}
    name = max(texts, key=lambda name: len(texts[name]), default="")
    text = rest.pop(name, "")
    is_short = len(json.dumps(rest)) < _MAX_METADATA
    if text and text == text.strip() and "\r" not in text and is_short:
        return text, {"field": name} | ({"value": rest} if rest else {})
    pretty = json.dumps(json.loads(written), ensure_ascii=False, indent=1)
    return f"{_JSON}\n{pretty}\n```", {}


def _item(note: NoteFile, folder: str) -> Item:
    """The item in a note; one that somebody wrote by hand is named by its path."""
    record = note.record
    about, text = record.metadata, record.text
    path = str(record.citation and record.citation.path).removeprefix(f"{folder}/")
    *above, last = path.removesuffix(".md").split("/")
    rest = about.get("value")
    value = {str(about.get("field", "text")): text, **(rest if isinstance(rest, dict) else {})}
    if text.startswith(_JSON) and "field" not in about:
        with suppress(ValueError):
            value = json.loads(text.removeprefix(_JSON).removesuffix("```"))
    names = about.get("namespace")
    return Item(
        value=value,
        key=str(about.get("key", last)),
        namespace=tuple(map(str, names if isinstance(names, list) else above)),
        created_at=record.created,
        updated_at=note.modified,
    )


def _matches(value: Any, wanted: Any) -> bool:
    """Whether a value has each of these values, or passes each of these comparisons."""
    if not isinstance(wanted, Mapping):
        return bool(value == wanted)
    if any(name.startswith("$") for name in wanted):
        return all(_COMPARE[name](value, limit) for name, limit in wanted.items())
    has = value if isinstance(value, Mapping) else {}
    return all(name in has and _matches(has[name], limit) for name, limit in wanted.items())


def _fits(condition: MatchCondition, namespace: Namespace) -> bool:
    count = len(condition.path)
    part = namespace[:count] if condition.match_type == "prefix" else namespace[-count:]
    pairs = zip(part, condition.path, strict=False)
    return len(part) == count and all(wanted in ("*", name) for name, wanted in pairs)
