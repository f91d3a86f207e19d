"""Other memories: the MCP memory server's JSON, mem0, and folders of Markdown, which stay where they are."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime

from memolith.clock import Clock
from memolith.importers.foreign import read_table
from memolith.importers.items import Item, Line, Skip, Value, line_of, moment
from memolith.importers.opening import Source


def read_mcp(source: Source) -> Iterator[Item]:
    """Each observation of an entity and each relation is a record; they have no date but the file's."""
    for name in source.expect(source.data("memory.json*", "memories.json*", "*/memory.json*")):
        for element in source.elements(name):
            yield from _graph(element, source.modified(name))


def _graph(element: object, created: datetime) -> Iterator[Item]:
    match element:
        case {"entities": list(entities), "relations": list(relations)}:
            for one in (*entities, *relations):
                yield from _graph(one, created)
        case {"name": str(name), "observations": list(observations), **rest}:
            about = {"entity": name, "type": str(rest.get("entityType") or "")}
            for text in observations:
                more = {"keywords": [name], "metadata": about}
                yield _fact(f"{name}: {text}", "mcp-memory", created, **more)
        case {"from": str(begin), "to": str(end), "relationType": str(kind)}:
            text = f"{begin} {kind.replace('_', ' ')} {end}"
            yield _fact(text, "mcp-memory", created, keywords=[begin, end])
        case _:
            yield Skip("records", "neither an entity nor a relation")


def read_mem0(source: Source) -> Iterator[Item]:
    """What holds now: of `get_all` as JSON, or of the history that mem0 keeps in SQLite."""
    for name in source.expect(source.data("memory.json*", "memories.json*", "*/memory.json*")):
        for element in source.elements(name):
            match element:
                case {"results": list(memories)} | {"memories": list(memories)} | list(memories):
                    yield from (_memory(one, source.clock) for one in memories)
                case _:
                    yield _memory(element, source.clock)
    newest: dict[object, dict[str, object]] = {}
    for row in read_table(source.on_disk("history.db"), "history"):
        key = row.get("memory_id")
        begun = newest.get(key, row).get("created_at") or row.get("created_at")
        newest[key] = row | {"id": key, "memory": row.get("new_memory"), "created_at": begun}
    for row in newest.values():
        is_gone = row.get("event") == "DELETE" or row.get("is_deleted")
        yield Skip("records", "deleted in mem0") if is_gone else _memory(row, source.clock)


def _memory(one: object, clock: Clock | None) -> Item:
    match one:
        case {"memory": str(text), **rest}:
            found = rest.get("metadata")
            about = dict(found) if isinstance(found, dict) else {}
            about |= {key: rest[key] for key in ("user_id", "agent_id", "run_id") if rest.get(key)}
            created, words = moment(rest.get("created_at"), clock), rest.get("categories")
            return _fact(text, "mem0", created, id=rest.get("id"), keywords=words, metadata=about)
    return Skip("records", "not a memory of mem0")


def _fact(text: str, channel: str, created: datetime | None, **more: object) -> Line | Skip:
    return line_of({"text": text, "category": "fact", **more}, channel, created)


def read_folder(source: Source) -> Iterator[Item]:
    """Nothing is copied: the folder is searched where it is, and stays as it is."""
    if not os.path.isdir(source.path):
        yield Skip("files", "no folder: give the one that it is in, or unpack it first")
    else:
        yield Value("index.extra_paths", [source.path])
