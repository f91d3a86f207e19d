"""The tools that hand over what an agent should know: at the start, before an answer, on a question."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from memolith.mcp_server.finding_tools import HITS, QUERY, TEXT, WARNINGS
from memolith.mcp_server.json_shapes import Json, context_json
from memolith.mcp_server.quoting import (
    quotation,
    quoted_hit,
    quoted_record,
    record_line,
    short_records,
    shortened,
    told,
)
from memolith.mcp_server.tool import SESSION_KIND, Answer, Call, Tool
from memolith.results import Hit, SearchResult
from memolith.text.quotation import fence, quoted_line
from memolith.types import Record
from memolith.visibility import label_of

_NEWEST = 3  # records of a group
_MOST_OF_A_NAME = 60
_LEAST = 0  # characters: of each hit as much as the text beside it shows


def session_start(call: Call) -> Answer:
    """What a session starts with."""
    context = call.memory.session_start(kind=call.kind)
    nothing = "Nothing here is public." if call.kind == "group" else "The memory is empty."
    if context.warnings and call.memory.profile.exists:
        nothing = "Nothing is handed over."  # and they say why
    return Answer(
        text=_with_warnings(context.text or f"({nothing})", context.warnings),
        content={
            "text": context.text,
            "left_out": context.left_out,
            "warnings": told(context.warnings),
        },
    )


def memory_context(call: Call) -> Answer:
    """What is worth knowing before a message is answered."""
    arguments = call.arguments
    message = arguments.text("message")
    context = call.memory.context(
        message,
        kind=call.kind,
        chat=arguments.text("chat") or None,
        known=arguments.texts("known"),
    )
    text = context.text or "(There is no relevant prior context.)"
    return Answer(
        text=_with_warnings(text, context.warnings),
        content={
            **context_json(context),
            "warnings": told(context.warnings),
            "hits": [quoted_hit(hit) for hit in shortened(context.hits, message, _LEAST)],
            "experiences": [
                quoted_hit(hit) for hit in shortened(context.experiences, message, _LEAST)
            ],
        },
    )


def _with_warnings(text: str, warnings: Sequence[str]) -> str:
    """Some hosts hand a model nothing but the text."""
    return "\n".join([text, *(f"Warning: {warning}" for warning in told(warnings))])


def recall_memory(call: Call) -> Answer:
    """Hits for a question, in the shape of the original tool."""
    arguments = call.arguments
    query = arguments.text("query")
    result = call.memory.recall(query, limit=arguments.number("top_k"))
    return _results(query, result, lambda hit: {"recordId": hit.record_id or None})


def query_experiences(call: Call) -> Answer:
    """Past experiences that bear on a question, in the shape of the original tool."""
    arguments = call.arguments
    query = arguments.text("query")
    result = call.memory.jobs.query_experiences(query, arguments.number("top_k"))
    return _results(query, result, lambda hit: {"sessionId": hit.session or None})


def _results(query: str, result: SearchResult, more: Callable[[Hit], Json]) -> Answer:
    content: Json = {
        "results": [
            {
                **more(hit),
                "text": hit.text,
                "category": hit.category or None,
                "score": hit.score,
                "citation": str(hit.citation),
                "trust": label_of(hit),
            }
            for hit in shortened(result.hits, query)
        ],
        "warnings": told(result.warnings),
    }
    shown = quotation(content)
    text = json.dumps({name: shown[name] for name in content}, ensure_ascii=False)
    return Answer(text=fence(text), content=shown)


def relationships(call: Call) -> Answer:
    """What is known of people, places and habits: the largest groups, of each the newest."""
    arguments, external = call.arguments, call.memory.config.trust.external
    found = call.memory.jobs.relationships()
    groups: Mapping[str, tuple[Record, ...]] = {
        "entity": found.by_entity,
        "category": found.by_category,
        "session": found.by_session,
    }[arguments.text("by")]
    largest = list(groups)[: arguments.number("limit")]
    newest = {name: groups[name][-_NEWEST:] for name in largest}
    short = iter(short_records([record for group in newest.values() for record in group]))
    lines = list[str]()
    for name, group in newest.items():
        lines.append(f"{quoted_line(name, _MOST_OF_A_NAME)} ({len(groups[name])})")
        lines += [record_line(record, external) for record in group]
    return Answer(
        text=_with_warnings(
            fence("\n".join(lines)) if lines else "(There is nothing to group yet.)",
            found.warnings,
        ),
        content=quotation(
            {
                "groups": [
                    {
                        "name": name,
                        "count": len(groups[name]),
                        "records": [quoted_record(next(short), external) for _ in group],
                    }
                    for name, group in newest.items()
                ],
                "warnings": told(found.warnings),
            }
        ),
    )


_ASKED: Json = {**QUERY, "minLength": 1}
_TOP_K: dict[str, object] = {"type": "integer", "minimum": 1, "maximum": 20, "default": 5}

CONTEXT_TOOLS = (
    Tool(
        name="session_start",
        title="Start a session",
        run=session_start,
        properties={"session_kind": SESSION_KIND},
        output={"text": TEXT, "left_out": {"type": "integer"}, "warnings": WARNINGS},
        read_only=True,
        idempotent=True,
        for_groups=True,
    ),
    Tool(
        name="memory_context",
        title="Context for a message",
        run=memory_context,
        properties={
            "message": {"type": "string", "maxLength": 100_000},
            "known": {"type": "array", "items": {"type": "string"}},
            "chat": {"type": "string", "maxLength": 200},
            "session_kind": SESSION_KIND,
        },
        required=("message",),
        output={"text": TEXT, "hits": HITS, "warnings": WARNINGS},
        read_only=True,
        idempotent=True,
        for_groups=True,
    ),
    Tool(
        name="recall_memory",
        title="Recall",
        run=recall_memory,
        properties={"query": _ASKED, "top_k": _TOP_K, "session_kind": SESSION_KIND},
        required=("query",),
        output={"results": HITS},
        read_only=True,
        idempotent=True,
    ),
    Tool(
        name="query_experiences",
        title="Past experiences",
        run=query_experiences,
        properties={"query": _ASKED, "top_k": _TOP_K, "session_kind": SESSION_KIND},
        required=("query",),
        output={"results": HITS},
        read_only=True,
        idempotent=True,
    ),
    Tool(
        name="relationships",
        title="Who and what is known",
        run=relationships,
        properties={
            "by": {"enum": ["entity", "category", "session"], "default": "entity"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 30, "default": 20},
        },
        output={"groups": {"type": "array", "items": {"type": "object"}}, "warnings": WARNINGS},
        read_only=True,
        idempotent=True,
    ),
)
