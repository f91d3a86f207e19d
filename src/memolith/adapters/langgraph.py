"""A store for LangGraph: each item is a note that people can read (extra: `langgraph`)."""

from __future__ import annotations

import asyncio
import json
import logging
import operator
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import sha256
from typing import Any

from langgraph.store import base

from memolith.adapters.agent import for_agent, refuse_keys
from memolith.errors import NotFoundError
from memolith.files.notes import make_slug
from memolith.jobs.reports import NoteFile
from memolith.memory import Memory

_JSON = "```json"
_MAX_METADATA = 8_000  # characters; front matter may have 16 kB
_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")
_COMPARE = {f"${name}": getattr(operator, name) for name in ("eq", "ne", "gt", "lt")}
_COMPARE |= {"$gte": operator.ge, "$lte": operator.le}


class MemolithStore(base.BaseStore):
    """Give it to `graph.compile(store=MemolithStore(memory))`.

    The longest text of a value is the text of the note, which you may edit; the rest is its
    metadata. A search with a query is a search of the memory, by words and by meaning.
    """

    def __init__(self, memory: Memory, *, folder: str = "memory/store") -> None:
        """`folder` has a folder for each namespace."""
        self._memory = for_agent(memory, "langgraph")
        self._files = self._memory.files
        self._folder = folder.strip("/")

    def batch(self, ops: Iterable[base.Op]) -> list[Any]:
        """Do several operations, in order."""
        return [self._do(op) for op in ops]

    async def abatch(self, ops: Iterable[base.Op]) -> list[Any]:
        """Do several operations, in order, in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _do(self, op: base.Op) -> Any:
        match op:
            case base.GetOp():
                return self._get(self._path(*op.namespace, op.key))
            case base.PutOp():
                return self._put(op)
            case base.SearchOp():
                return self._search(op)
            case base.ListNamespacesOp():
                return self._namespaces(op)

    def _get(self, path: str, score: float | None = None) -> base.SearchItem | None:
        try:
            return _item(self._files.read_note(f"{path}.md"), self._folder, score)
        except NotFoundError:
            return None

    def _put(self, op: base.PutOp) -> None:
        path = self._path(*op.namespace, op.key)
        if op.value is not None:
            text, about = _as_note(op.value)
            about |= {"namespace": list(op.namespace), "key": op.key}
            self._files.write_note(f"{path}.md", text, metadata=about)
        elif self._get(path) is not None:
            self._files.delete_notes(f"{path}.md")

    def _search(self, op: base.SearchOp) -> list[base.SearchItem]:
        folder, end = self._path(*op.namespace_prefix), op.offset + op.limit
        scores: dict[str, float | None] = {}
        if op.query:
            # Several hits may be of one note, and a filter may leave some out.
            found = self._memory.search(op.query, end * (20 if op.filter else 4), path=folder)
            for warning in found.warnings:
                logging.getLogger(__name__).warning("%s", warning)
            for hit in found.hits:
                scores.setdefault(hit.citation.path, hit.score)
            items = self._items(scores)
        else:
            items = self._items(dict.fromkeys(self._files.notes(folder)))
            items.sort(key=lambda item: item.updated_at, reverse=True)
        return [one for one in items if _matches(one.value, op.filter or {})][op.offset : end]

    def _namespaces(self, op: base.ListNamespacesOp) -> list[tuple[str, ...]]:
        items = self._items(dict.fromkeys(self._files.notes(self._folder)))
        known = {item.namespace for item in items}
        wanted = op.match_conditions or ()
        found = {name[: op.max_depth] for name in known if all(_fits(one, name) for one in wanted)}
        return sorted(found)[op.offset : op.offset + op.limit]

    def _items(self, scores: Mapping[str, float | None]) -> list[base.SearchItem]:
        found = (self._get(path.removesuffix(".md"), score) for path, score in scores.items())
        return [item for item in found if item is not None]

    def _path(self, *names: str) -> str:
        """The folder of a namespace; with ".md", the note of an item."""
        return "/".join([self._folder, *map(_file_name, names)])


def _file_name(name: str) -> str:
    """A name as it can be in any file system; one that has to be changed gets a digest."""
    changed = f"{make_slug(name[:40])}~{sha256(name.encode()).hexdigest()[:16]}"
    return name if _PLAIN.fullmatch(name) else changed


def _as_note(value: Mapping[str, Any]) -> tuple[str, dict[str, object]]:
    """The text and the metadata of a value: its longest text, if it comes back as it is, or JSON."""
    written = json.dumps(value, ensure_ascii=False)
    refuse_keys(written)
    rest = json.loads(written)
    texts = [name for name, text in rest.items() if isinstance(text, str)]
    text = rest.pop(name := max(texts, key=lambda name: len(rest[name]), default=""), "")
    is_short = len(json.dumps(rest)) < _MAX_METADATA
    if text and text == text.strip() and "\r" not in text and is_short:
        return text, {"field": name} | ({"value": rest} if rest else {})
    return f"{_JSON}\n{json.dumps(value, ensure_ascii=False, indent=1)}\n```", {}


def _item(note: NoteFile, folder: str, score: float | None) -> base.SearchItem:
    """The item in a note; one that somebody wrote by hand is named by its path."""
    record, text = note.record, note.record.text
    about: Any = record.metadata
    path = str(record.citation and record.citation.path).removeprefix(f"{folder}/")
    *above, last = path.removesuffix(".md").split("/")
    value = {about.get("field", "text"): text, **(about.get("value") or {})}
    if text.startswith(_JSON) and "field" not in about:
        with suppress(ValueError):
            value = json.loads(text.removeprefix(_JSON).removesuffix("```"))
    return base.SearchItem(
        value=value,
        key=str(about.get("key", last)),
        namespace=tuple(about.get("namespace", above)),
        created_at=record.created,
        updated_at=note.modified,
        score=score,
    )


def _matches(value: Any, wanted: Any) -> bool:
    """Whether a value has each of these values, or passes each of these comparisons."""
    if not isinstance(wanted, Mapping):
        return bool(value == wanted)
    if any(name.startswith("$") for name in wanted):
        return all(_COMPARE[name](value, limit) for name, limit in wanted.items())
    has = value if isinstance(value, Mapping) else {}
    return all(name in has and _matches(has[name], limit) for name, limit in wanted.items())


def _fits(condition: base.MatchCondition, namespace: tuple[str, ...]) -> bool:
    count = len(condition.path)
    part = namespace[:count] if condition.match_type == "prefix" else namespace[-count:]
    pairs = zip(part, condition.path, strict=False)
    return len(part) == count and all(wanted in ("*", name) for name, wanted in pairs)
