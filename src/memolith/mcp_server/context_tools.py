"""The tools that hand over what an agent should know: at the start, before an answer, on a question."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from memolith.mcp_server.finding_tools import HITS, QUERY, TEXT, WARNINGS
from memolith.mcp_server.quoting import quotation, quoted_hit, shortened, told
from memolith.mcp_server.tool import SESSION_KIND, Answer, Tool
from memolith.shapes import context_json
from memolith.text.quotation import fence
from memolith.visibility import trust_label

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memolith.mcp_server.tool import Call
    from memolith.retrieval import Hit, SearchResult
    from memolith.shapes import Json

_LEAST = 0  # characters: of each hit as much as the text beside it shows


def session_start(call: Call) -> Answer:
    """What a session starts with."""
    context = call.memory.session_start(session=call.memory.config.mcp.session, kind=call.kind)
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
        session=call.memory.config.mcp.session,
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
    result = call.memory.query_experiences(query, arguments.number("top_k"))
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
                "trust": trust_label(hit.channel, hit.role, hit.citation.path),
            }
            for hit in shortened(result.hits, query)
        ],
        "warnings": told(result.warnings),
    }
    shown = quotation(content)
    text = json.dumps({name: shown[name] for name in content}, ensure_ascii=False)
    return Answer(text=fence(text), content=shown)


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
)
