"""The tools that find and show: nothing they do changes a file of the memory."""

from __future__ import annotations

from memolith.mcp_server.json_shapes import Json
from memolith.mcp_server.quoting import (
    MOST_CHARS,
    quotation,
    quoted_chat,
    quoted_hit,
    shortened,
    told,
)
from memolith.mcp_server.tool import Answer, Call, Tool
from memolith.results import Hit, Passage, SearchResult
from memolith.text.cleaning import shown_path
from memolith.text.quotation import fence, quoted, quoted_line, quoted_lines
from memolith.text.summary_line import handle
from memolith.visibility import label_of

QUERY: Json = {"type": "string", "maxLength": 8000}
TEXT: Json = {"type": "string"}
NUMBER: Json = {"type": "integer"}
HITS: Json = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"citation": TEXT, "text": TEXT, "score": {"type": "number"}},
        "required": ["citation", "text", "score"],
    },
}
CHATS: Json = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"chat": TEXT, "best": TEXT, "score": {"type": "number"}},
        "required": ["chat", "best", "score"],
    },
}
WARNINGS: Json = {"type": "array", "items": {"type": "string"}}
_LINES = 50  # of a file, where only the first line was named
_MOST_OF_A_QUESTION = 300  # characters that are said back
_MOST_OF_A_HEAD = 5_000  # of a hit: a path may be long
_MOST_OF_A_CHAT = 100  # characters of a chat's name, and of a category


def memory_search(call: Call) -> Answer:
    """Hits for a question, best first."""
    question = call.arguments.text("query")
    result = call.memory.search(
        question,
        call.arguments.number("maxResults"),
        include_secret=call.arguments.flag("include_secret"),
    )
    return found(call, question, result)


def found(call: Call, question: str, result: SearchResult) -> Answer:
    """The answer of a search; the hits are quoted, because they may hold anything."""
    cited = call.memory.config.context.citations != "off"
    head = f'Found {len(result.hits)} results for: "{quoted_line(question, _MOST_OF_A_QUESTION)}"'
    hits = shortened(result.hits, question)
    pieces = [_shown(number, hit, cited=cited) for number, hit in enumerate(hits, 1)]
    warnings = told(result.warnings)
    body = fence("\n---\n".join(pieces)) if pieces else ""
    return Answer(
        text="\n\n".join(filter(None, (head, *(f"Warning: {one}" for one in warnings), body))),
        content=quotation(
            {
                "hits": [quoted_hit(hit) for hit in hits],
                "sessions": [quoted_chat(chat) for chat in result.sessions],
                "warnings": warnings,
            }
        ),
    )


def _shown(number: int, hit: Hit, *, cited: bool) -> str:
    known = [
        f"score: {hit.score:.3f}",
        label_of(hit),
    ]
    if hit.chat:
        known.append(quoted_line(f"{hit.role or 'turn'} in chat {hit.chat}", _MOST_OF_A_CHAT))
    known += [quoted_line(hit.category, _MOST_OF_A_CHAT), str(hit.dated or "")]
    if hit.superseded:
        known.append(hit.past if cited else "superseded")
    if hit.record_id:
        known.append(f"id {handle(hit.record_id)}")
    place = f"[{number}] {shown_path(str(hit.citation))}" if cited else f"[{number}]"
    head = quoted_line(f"{place} ({', '.join(filter(None, known))})", _MOST_OF_A_HEAD)
    shown = f"{head}\n{quoted_lines(hit.text)}"
    if hit.other_side:
        other = "assistant" if hit.role == "user" else "user"
        shown += f"\n({other} in the same turn)\n{quoted_lines(hit.other_side)}"
    return shown


def memory_get(call: Call) -> Answer:
    """Lines of a file, with their numbers."""
    arguments = call.arguments
    lines = arguments.number("lines") if arguments.given("lines") else None
    if lines is None and arguments.given("from"):
        lines = _LINES
    first = arguments.number("from") if arguments.given("from") else 1
    passage = call.memory.get(
        arguments.text("path"), first, lines, include_secret=arguments.flag("include_secret")
    )
    return _passage(passage, arguments.number("column") if arguments.given("column") else 1)


def _passage(passage: Passage, column: int) -> Answer:
    """As many lines as fit. A line that is too long by itself is cut, and `column` goes on with it."""
    first = passage.citation.first_line
    lines = passage.text.split("\n") if passage.text else []
    shown: list[str] = []
    room, left = MOST_CHARS, 0
    for line in [*(line[column - 1 :] for line in lines[:1]), *lines[1:]]:
        room -= len(line) + 1
        if room < 0 and shown:
            break
        shown.append(line[:MOST_CHARS])
        left = len(line) - len(shown[-1])
    last = first + len(shown) - 1
    numbered = [f"{number}\t{line}" for number, line in enumerate(shown, first)]
    text = fence(quoted("\n".join(numbered)))
    if not shown:
        text = f"(There are no such lines: the file has {passage.total_lines}.)"
    if left:
        more = f"from={last} and column={column + MOST_CHARS} go on"
        text += f"\n({left:,} more characters of line {last}; {more})"
    if shown and last < passage.total_lines:
        text += f"\n({passage.total_lines - last} more lines; from={last + 1} goes on)"
    return Answer(
        text=text,
        content=quotation(
            {
                "path": passage.citation.path,
                "first_line": first,
                "last_line": last,
                "total_lines": passage.total_lines,
                "text": "\n".join(shown),
                "left_of_line": left,
            }
        ),
    )


FINDING_TOOLS = (
    Tool(
        name="memory_search",
        title="Search memory",
        run=memory_search,
        properties={
            "query": QUERY,
            "maxResults": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
        },
        required=("query",),
        output={"hits": HITS, "sessions": CHATS, "warnings": WARNINGS},
        read_only=True,
        idempotent=True,
        shows_secrets=True,
    ),
    Tool(
        name="memory_get",
        title="Read a memory file",
        run=memory_get,
        properties={
            "path": {"type": "string", "minLength": 1, "maxLength": 1000},
            "from": {"type": "integer", "minimum": 1},
            "lines": {"type": "integer", "minimum": 1},
            "column": {"type": "integer", "minimum": 1},
        },
        required=("path",),
        output={
            "path": TEXT,
            "first_line": NUMBER,
            "last_line": NUMBER,
            "total_lines": NUMBER,
            "text": TEXT,
            "left_of_line": NUMBER,
        },
        read_only=True,
        idempotent=True,
        shows_secrets=True,
    ),
)
