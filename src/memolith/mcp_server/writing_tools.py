"""The tools that write: one that remembers, and `memory`, which does everything by `action`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from memolith.mcp_server.arguments import ArgumentError
from memolith.mcp_server.finding_tools import QUERY, TEXT, WARNINGS, found
from memolith.mcp_server.json_shapes import Json
from memolith.mcp_server.quoting import quotation, quoted_record, record_line, short_records, told
from memolith.mcp_server.tool import SESSION_KIND, Answer, Call, Tool
from memolith.text.cleaning import shown_path
from memolith.text.quotation import fence
from memolith.types import SENSITIVITIES, Record, Sensitivity

_USUAL: Sensitivity = "private-user"


def remember_this(call: Call) -> Answer:
    """Write a record, or a newer one in the place of an older."""
    arguments = call.arguments
    sensitivity = _sensitivity(arguments.text("sensitivity"))
    if arguments.given("supersedes"):
        # Some clients fill in what is usual: that must not bring a secret into the open.
        given = None if sensitivity == _USUAL else sensitivity
        record = call.memory.supersede(
            arguments.text("supersedes"), arguments.text("text"), sensitivity=given
        )
    else:
        record = call.memory.remember(
            arguments.text("text"),
            category=arguments.text("category"),
            sensitivity=sensitivity,
            confidence=arguments.decimal("confidence"),
            timestamp=arguments.moment("timestamp"),
        )
    return _written("Already remembered" if record.reused else "Remembered", record)


def _written(done: str, record: Record) -> Answer:
    warnings = told(record.warnings)
    return Answer(
        text="\n".join((f"{done}: {record.citation} (id {record.id})", *warnings)),
        content={
            "ok": True,
            "id": record.id,
            "citation": str(record.citation),
            "warnings": warnings,
        },
    )


def _sensitivity(name: str) -> Sensitivity:
    return next((known for known in SENSITIVITIES if known == name), _USUAL)


def memory(call: Call) -> Answer:
    """Save, search, list, index or delete."""
    action = call.arguments.text("action")
    run, takes = _ACTIONS[action]
    call.arguments.allow("action", *takes, whose=f"action {action}")
    return run(call)


def _save(call: Call) -> Answer:
    arguments = call.arguments
    arguments.demand("content", reason="action save needs what to save")
    record = call.memory.save_note(
        arguments.text("content"),
        category=arguments.text("category") or "fact",
        keywords=arguments.texts("keywords"),
        metadata=arguments.mapping("metadata"),
    )
    answer = _written(f"Saved to memory [{record.category}]", record)
    return Answer(text=answer.text, content={"action": "save", **answer.content})


def _search(call: Call) -> Answer:
    arguments = call.arguments
    arguments.demand("query", reason="action search needs a question")
    question = arguments.text("query")
    result = call.memory.search(
        question, arguments.number("limit"), category=arguments.text("category") or None
    )
    answer = found(call, question, result)
    return Answer(text=answer.text, content={"action": "search", **answer.content})


def _list(call: Call) -> Answer:
    """A page of records; who reads it learns how to get the next one."""
    offset = call.arguments.number("offset")
    every = call.memory.records(category=call.arguments.text("category") or None)
    page = every[::-1][offset : offset + call.arguments.number("limit")]
    warnings = told(every.warnings)
    said = [f"Warning: {one}" for one in warnings]
    external = call.memory.config.trust.external
    lines = [record_line(record, external) for record in page]
    said.append(fence("\n".join(lines)) if lines else _no_page(len(every)))
    if (left := len(every) - offset - len(page)) > 0:
        said.append(f"({left} more; offset={offset + len(page)} goes on)")
    return Answer(
        text="\n".join(said),
        content=quotation(
            {
                "action": "list",
                "records": [quoted_record(record, external) for record in short_records(page)],
                "total": len(every),
                "warnings": warnings,
            }
        ),
    )


def _no_page(records: int) -> str:
    return f"(No more: there are {records} in all.)" if records else "No records."


def _index(call: Call) -> Answer:
    report = call.memory.index.rebuild(call.progress)
    return Answer(
        text=f"Indexed {report.files} files, {report.chunks} chunks.",
        content={
            "action": "index",
            "files": report.files,
            "chunks": report.chunks,
            "warnings": told(report.warnings),
        },
    )


def _delete(call: Call) -> Answer:
    arguments = call.arguments
    arguments.demand("id", reason="action delete needs the id of a record")
    if not arguments.flag("confirm"):
        raise ArgumentError(
            "Deleting cannot be undone: the record leaves every file and backup.",
            hint="If the user wants that, call again with confirm: true.",
        )
    report = call.memory.forget(arguments.text("id"))
    return Answer(
        text="\n".join(
            (
                f"Deleted {report.record_id} from {', '.join(map(shown_path, report.files))}",
                *told(report.warnings),
            )
        ),
        content={"action": "delete", "id": report.record_id, "files": list(report.files)},
    )


_ACTIONS: Mapping[str, tuple[Callable[[Call], Answer], tuple[str, ...]]] = {
    "save": (_save, ("content", "category", "keywords", "metadata")),
    "search": (_search, ("query", "category", "limit")),
    "list": (_list, ("category", "limit", "offset")),
    "index": (_index, ()),
    "delete": (_delete, ("id", "confirm")),
}
_CATEGORY: Json = {"enum": ["fact", "preference", "event", "summary"]}

WRITING_TOOLS = (
    Tool(
        name="remember_this",
        title="Remember",
        run=remember_this,
        properties={
            "text": {"type": "string", "minLength": 1},
            "category": {"type": "string", "minLength": 1, "maxLength": 100, "default": "note"},
            "sensitivity": {"enum": list(SENSITIVITIES), "default": _USUAL},
            "supersedes": {"type": "string", "minLength": 4, "maxLength": 100},
            "confidence": {"type": "number", "minimum": 0, "maximum": 1, "default": 1},
            "timestamp": {"type": "string", "maxLength": 40},
            "session_kind": SESSION_KIND,
        },
        required=("text",),
        output={"ok": {"type": "boolean"}, "id": TEXT, "citation": TEXT, "warnings": WARNINGS},
        idempotent=True,
    ),
    Tool(
        name="memory",
        title="Manage memory",
        run=memory,
        properties={
            "action": {"enum": list(_ACTIONS)},
            "content": {"type": "string", "minLength": 1},
            "category": _CATEGORY,
            "keywords": {"type": "array", "items": {"type": "string"}},
            "metadata": {"type": "object"},
            "query": QUERY,
            "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
            "offset": {"type": "integer", "minimum": 0, "default": 0},
            "id": {"type": "string", "minLength": 4, "maxLength": 100},
            "confirm": {"type": "boolean"},
        },
        required=("action",),
        output={"action": TEXT},
        destructive=True,
    ),
)
