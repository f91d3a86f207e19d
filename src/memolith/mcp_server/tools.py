"""The tools: what each does, and its answer as text for a model and as values for a program.

Both are quotations of memory, because a host may hand a model either of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import accumulate
from typing import Annotated, Any, Literal

from mcp_types import CallToolResult, ListToolsResult
from pydantic import Field

from memolith.config.sections import Config
from memolith.config.setting import tool_names
from memolith.jobs.reports import DreamStatus, ForgetReport, JobReport
from memolith.mcp_server.tool import (
    MAX_CHARS,
    SECRETS,
    ArgumentError,
    Call,
    Json,
    Moment,
    Nothing,
    Tool,
    allows_secrets,
    json_types,
    record_line,
    record_values,
    reply,
    shortened,
)
from memolith.memory import Memory
from memolith.reports import SyncReport
from memolith.results import Hit, Passage, SearchResult, TurnContext
from memolith.text.cleaning import shown_path
from memolith.text.lines import handle
from memolith.text.quotation import fence, quoted, quoted_line, quoted_lines
from memolith.types import SESSION_KINDS, Citation, Progress, Record, Sensitivity

Question = Annotated[str, Field(max_length=8000)]
Asked = Annotated[str, Field(min_length=1, max_length=8000)]
Text = Annotated[str, Field(min_length=1)]
RecordId = Annotated[str, Field(min_length=4, max_length=100)]
Count = Annotated[int, Field(ge=1, le=100)]
Few = Annotated[int, Field(ge=1, le=20)]
Whole = Annotated[int, Field(ge=1)]
Confidence = Annotated[float, Field(ge=0, le=1)]

DEFAULT_SENSITIVITY: Sensitivity = "private-user"
_PRIVATE_KINDS = tuple(kind for kind in SESSION_KINDS if kind != "group")
MAX_NAME = 100  # characters of a category, chat or group
MAX_NEWEST = 3  # records of a group
MAX_QUESTION = 300  # characters of the question that are repeated
MAX_HEAD = 5_000  # of a hit: a path may be long
_OF_HIT = ("text", "category", "dated", "score", "citation", "trust")  # in the original tools
LINES = 50  # of a file, if only the first line was named


def session_start(call: Call) -> CallToolResult:
    """What a session starts with."""
    context = call.memory.session_start(kind=call.kind)
    nothing = "Nothing here is public." if call.kind == "group" else "The memory is empty."
    if context.warnings and call.memory.profile.exists:
        nothing = "Nothing is handed over."  # and they say why
    content: Json = {"text": context.text, "left_out": context.left_out}
    return reply(context.text or f"({nothing})", content, context.warnings, fenced=("text",))


def memory_context(
    call: Call,
    message: Annotated[str, Field(max_length=100_000)],
    known: list[str] = [],  # noqa: B006 - it stays empty
    chat: Annotated[str, Field(max_length=200)] = "",
) -> CallToolResult:
    """What is worth knowing before a message is answered."""
    context = call.memory.context(message, kind=call.kind, chat=chat or None, known=known)
    shown = replace(  # of each hit as much as the text beside it shows
        context,
        hits=tuple(shortened(context.hits, message, 0)),
        experiences=tuple(shortened(context.experiences, message, 0)),
    )
    text = context.text or "(There is no relevant prior context.)"
    return reply(text, shown.to_dict(), context.warnings, fenced=("text",))


def recall_memory(call: Call, query: Asked, top_k: Few = 5) -> CallToolResult:
    """Hits for a question, in the shape of the original tool."""
    result = call.memory.recall(query, limit=top_k)
    return _results(query, result, lambda hit: {"recordId": hit.record_id})


def query_experiences(call: Call, query: Asked, top_k: Few = 5) -> CallToolResult:
    """Past experiences that bear on a question, in the shape of the original tool."""
    result = call.memory.jobs.query_experiences(query, top_k)

    def more(hit: Hit) -> Json:
        # The category of its source says more than "experience".
        return {"sessionId": hit.session, "category": hit.source_category or hit.category}

    return _results(query, result, more)


def _results(query: str, result: SearchResult, more: Callable[[Hit], Json]) -> CallToolResult:
    found = list[Json]()
    for hit in shortened(result.hits, query):
        values = hit.to_dict()
        found.append({**{key: values[key] for key in _OF_HIT}, **more(hit)})
    text = json.dumps({"results": found}, ensure_ascii=False)
    return reply(fence(quoted(text)), {"results": found}, result.warnings)


def relationships(
    call: Call,
    by: Literal["entity", "category", "session"] = "entity",
    limit: Annotated[int, Field(ge=1, le=30)] = 20,
) -> CallToolResult:
    """What is known of people, places and habits: the largest groups, of each the newest."""
    external = call.memory.config.trust.external
    found = call.memory.jobs.relationships()
    groups: Mapping[str, tuple[Record, ...]] = getattr(found, f"by_{by}")
    room = MAX_CHARS // max(1, min(limit, len(groups)))
    lines, content = list[str](), list[Json]()
    for name in list(groups)[:limit]:
        newest = groups[name][-MAX_NEWEST:]
        lines.append(f"{quoted_line(name, MAX_NAME)} ({len(groups[name])})")
        lines += [record_line(record, external) for record in newest]
        records = [record_values(one, external) for one in shortened(newest, chars=room)]
        content.append({"name": name, "count": len(groups[name]), "records": records})
    text = fence("\n".join(lines)) if lines else "(There is nothing to group yet.)"
    return reply(text, {"groups": content}, found.warnings)


def memory_search(
    call: Call,
    query: Question,
    maxResults: Count = 10,  # noqa: N803 - the name of the original tool
    include_secret: bool = False,
) -> CallToolResult:
    """Hits for a question, best first."""
    result = call.memory.search(query, maxResults, include_secret=include_secret)
    return _found(call, query, result)


def _found(call: Call, question: str, result: SearchResult) -> CallToolResult:
    cited = call.memory.config.context.citations != "off"
    head = f'Found {len(result.hits)} results for: "{quoted_line(question, MAX_QUESTION)}"'
    hits = shortened(result.hits, question)
    pieces = [_hit_text(number, hit, cited=cited) for number, hit in enumerate(hits, 1)]
    body = fence("\n---\n".join(pieces)) if pieces else ""
    # Without the words of chats: a model would read most of them again in the hits.
    chats = tuple(replace(chat, text="") for chat in result.sessions)
    content = replace(result, hits=tuple(hits), sessions=chats).to_dict()
    return reply("\n\n".join(filter(None, (head, body))), content, result.warnings)


def _hit_text(number: int, hit: Hit, *, cited: bool) -> str:
    known = [f"score: {hit.score:.3f}", hit.trust]
    if hit.chat:
        known.append(quoted_line(f"{hit.role or 'turn'} in chat {hit.chat}", MAX_NAME))
    known += [quoted_line(hit.category or "", MAX_NAME), str(hit.dated or "")]
    if hit.superseded:
        known.append(hit.past if cited and hit.past else "superseded")
    if hit.record_id:
        known.append(f"id {handle(hit.record_id)}")
    place = f"[{number}] {shown_path(str(hit.citation))}" if cited else f"[{number}]"
    head = quoted_line(f"{place} ({', '.join(filter(None, known))})", MAX_HEAD)
    shown = f"{head}\n{quoted_lines(hit.text)}"
    if hit.other_side:
        other = "assistant" if hit.role == "user" else "user"
        shown += f"\n({other} in the same turn)\n{quoted_lines(hit.other_side)}"
    return shown


def memory_get(
    call: Call,
    path: Annotated[str, Field(min_length=1, max_length=1000)],
    first: Annotated[Whole | Nothing, Field(alias="from")] = None,
    lines: Whole | Nothing = None,
    include_secret: bool = False,
) -> CallToolResult:
    """Lines of a file with their numbers, as many as fit; a line that is too long by itself is cut."""
    count = lines or (LINES if first else None)
    passage = call.memory.get(path, first or 1, count, include_secret=include_secret)
    first = passage.citation.first_line
    there = passage.text.split("\n") if passage.text else []
    ends = accumulate(len(line) + 1 for line in there)
    shown = [line for line, end in zip(there, ends, strict=True) if end <= MAX_CHARS]
    shown = shown or [f"{line[:MAX_CHARS]} …" for line in there[:1]]
    last = first + len(shown) - 1
    numbered = [f"{number}\t{line}" for number, line in enumerate(shown, first)]
    text = fence(quoted("\n".join(numbered)))
    if not shown:
        text = f"(There are no such lines: the file has {passage.total_lines}.)"
    elif last < passage.total_lines:
        text += f"\n({passage.total_lines - last} more lines; from={last + 1} goes on)"
    cited = Citation(passage.citation.path, first, last)
    return reply(text, replace(passage, citation=cited, text="\n".join(shown)).to_dict())


def remember_this(  # noqa: PLR0913 - each names one field of the record
    call: Call,
    *,
    text: Text,
    category: Annotated[str, Field(min_length=1, max_length=100)] = "note",
    sensitivity: Sensitivity = DEFAULT_SENSITIVITY,
    supersedes: RecordId | Nothing = None,
    confidence: Confidence = 1,
    timestamp: Moment | Nothing = None,
) -> CallToolResult:
    """Write a record, or a newer one in the place of an older."""
    if supersedes:
        # Some clients fill in defaults: those must not bring a secret into the open.
        mark = None if sensitivity == DEFAULT_SENSITIVITY else sensitivity
        record = call.memory.supersede(supersedes, text, sensitivity=mark)
    else:
        record = call.memory.remember(
            text,
            category=category,
            sensitivity=sensitivity,
            confidence=confidence,
            timestamp=timestamp,
        )
    return _written("remembered", record)


def _written(done: str, record: Record, kind: str = "") -> CallToolResult:
    """What really happened: written, merged into what says the same, or already there."""
    if any(warning.startswith("Merged into") for warning in record.warnings):
        done = "merged"
    elif record.reused:
        done = f"already {done}"
    done = f"{done[:1].upper()}{done[1:]}{kind}"
    place = str(record.citation)
    return reply(
        f"{done}: {place} (id {record.id})",
        {"ok": True, "reused": record.reused, "id": record.id, "citation": place},
        record.warnings,
    )


def memory(  # noqa: PLR0913 - each action takes some of them
    call: Call,
    *,
    action: Literal["save", "search", "list", "index", "delete"],
    content: Text | Nothing = None,
    category: Literal["fact", "preference", "event", "summary"] | Nothing = None,
    keywords: list[str] = [],  # noqa: B006 - it stays empty
    metadata: Json = {},  # noqa: B006 - it stays empty
    confidence: Confidence = 1,
    timestamp: Moment | Nothing = None,
    query: Question | Nothing = None,
    limit: Count = 20,
    offset: Annotated[int, Field(ge=0)] = 0,
    id: RecordId | Nothing = None,  # noqa: A002 - as clients say
    confirm: bool = False,
) -> CallToolResult:
    """Save, search, list, index or delete."""
    name, needed = {
        "save": ("content", content), "search": ("query", query), "delete": ("id", id)
    }.get(action, ("", ""))  # fmt: skip
    if needed is None:
        message = f"action {action} needs the argument {name}."
        raise ArgumentError(message, hint=f"Call again with {name}.")
    match action:
        case "save":
            record = call.memory.save_note(
                needed,
                category=category or "fact",
                keywords=keywords,
                metadata=metadata,
                confidence=confidence,
                timestamp=timestamp,
            )
            kind = f" [{quoted_line(record.category, MAX_NAME)}]"
            answer = _written("saved to memory", record, kind)
        case "search":
            answer = _found(call, needed, call.memory.search(needed, limit, category=category))
        case "list":
            answer = _page(call, category, limit, offset)
        case "index":
            report = call.memory.index.rebuild(call.progress)
            text = f"Indexed {report.files} files, {report.chunks} chunks."
            answer = reply(text, report.to_dict(), report.warnings)
        case _:
            answer = _delete(call, needed, confirm)
    answer.structured_content = {"action": action, **(answer.structured_content or {})}
    return answer


def _page(call: Call, category: str | None, limit: int, offset: int) -> CallToolResult:
    """A page of records, and how to get the next one."""
    found = call.memory.records(category=category, limit=limit, offset=offset)
    external, page = call.memory.config.trust.external, found[::-1]
    text = f"(No more: there are {found.total} in all.)" if found.total else "No records."
    if page:
        text = fence("\n".join(record_line(record, external) for record in page))
    if (left := found.total - offset - len(page)) > 0:
        text += f"\n({left} more; offset={offset + len(page)} goes on)"
    records = [record_values(record, external) for record in shortened(page)]
    content: Json = {"records": records, "total": found.total, "hidden": found.hidden}
    return reply(text, content, found.warnings)


def _delete(call: Call, record_id: str, confirm: bool) -> CallToolResult:
    if not confirm:
        raise ArgumentError(
            "Deleting cannot be undone: the record leaves every file and backup.",
            hint="If the user wants that, call again with confirm: true.",
        )
    report = call.memory.forget(record_id)
    text = f"Deleted {report.record_id} from {', '.join(map(shown_path, report.files))}"
    return reply(text, report.to_dict() | {"id": report.record_id}, report.warnings)


def dream(call: Call, action: Literal["status", "run", "dry-run"]) -> CallToolResult:
    """Say what a dream would do, or dream."""
    # Few clients dream, and none should wait for it at the start.
    from memolith.jobs.api import Jobs
    from memolith.jobs.worker import run_in_process

    done: Json = {"action": action}
    if action == "status":
        status = run_in_process(call.memory.jobs, Jobs.dream_status)
        text = f"{status.tracked} statements are tracked; a dream would promote {len(status.next)} of them."
        return reply(text, done | status.to_dict(), status.warnings)
    dry_run = action == "dry-run"
    report = run_in_process(call.memory.jobs, Jobs.dream, progress=call.progress, dry_run=dry_run)
    call.progress(1, 1)
    text = f"Dream: {report.status}{report.reason and f' ({report.reason})'}"
    if report.lines:
        text += f"\n{fence(quoted(chr(10).join(report.lines)))}"
    return reply(text, done | report.to_dict(), report.warnings)


_HITS = json_types(SearchResult)
_WRITTEN = {"ok": "boolean", "reused": "boolean", "id": "string", "citation": "string"}
_RECORDS = {"records": "array", "total": "integer", "hidden": "integer"}
_ACTION = {"action": "string"}
# Each action answers with some of these: `files` is how many were indexed, or those of a forgotten record.
_MANAGED = {**_ACTION, **_WRITTEN, **_RECORDS, **_HITS, **json_types(SyncReport)} | {
    **json_types(ForgetReport), "files": ["integer", "array"],
}  # fmt: skip
_STARTED = {"text": "string", "left_out": "integer"}
_DREAMT = _ACTION | json_types(DreamStatus) | json_types(JobReport)

_reads = partial(Tool, read_only=True)
_reads_in_session = partial(_reads, in_session=True)
_reads_for_all = partial(_reads_in_session, for_groups=True)
_ALL = (
    _reads_for_all(session_start, "Start a session", _STARTED),
    _reads_for_all(memory_context, "Context for a message", json_types(TurnContext)),
    _reads_in_session(recall_memory, "Recall", {"results": "array"}),
    _reads_in_session(query_experiences, "Past experiences", {"results": "array"}),
    _reads(relationships, "Who and what is known", {"groups": "array"}),
    _reads(memory_search, "Search memory", _HITS),
    _reads(memory_get, "Read a memory file", json_types(Passage)),
    Tool(remember_this, "Remember", _WRITTEN, in_session=True, idempotent=True),
    Tool(memory, "Manage memory", _MANAGED, destructive=True),
    Tool(dream, "Dream", _DREAMT),
)
TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in _ALL}
# What an agent needs every day. Nothing here can destroy anything.
CORE = ("session_start", "memory_context", "memory_search", "memory_get", "remember_this")


def chosen(config: Config) -> dict[str, Tool]:
    """The tools that the settings ask for, by name."""
    names = tool_names(config.mcp.tools)
    if names == ("all",):
        names = tuple(TOOLS)
    elif names == ("core",):
        names = CORE
        names += ("query_experiences",) if config.experiences.enabled else ()
        names += ("dream",) if config.dream.enabled else ()
    return {name: TOOLS[name] for name in names}


def list_tools(memory: Memory, _: object = None) -> ListToolsResult:
    """The tools that the settings ask for, as they are listed."""
    config = memory.config
    return ListToolsResult(tools=[one.definition(config) for one in chosen(config).values()])


def answer(
    memory: Memory, name: str, given: Mapping[str, object], progress: Progress
) -> CallToolResult:
    """Run a call; whatever is wrong with it is a MemolithError."""
    offered = chosen(memory.config)  # at every call: what was forbidden a moment ago is forbidden
    if name not in offered:
        raise ArgumentError(
            f"There is no tool {name[:60]!a}.", hint=f"There are: {', '.join(offered)}"
        )
    return run(memory, offered[name], given, progress)


def run(
    memory: Memory,
    tool: Tool,
    given: Mapping[str, object],
    progress: Progress = lambda done, total: None,
) -> CallToolResult:
    """Run a call of a tool that is offered."""
    arguments = tool.parse(given, memory.config)
    if arguments.get(SECRETS) and not allows_secrets(memory):
        raise ArgumentError(
            "This server shows no secret records.",
            hint="The user may allow it: memolith config set trust.allow_secret true",
        )
    # A caller may say that others are listening; it cannot say that they are not.
    of_server, of_call = memory.config.mcp.session_kind, arguments.pop("session_kind", None)
    kind: Any = "group" if "group" in (of_server, of_call) else of_call or of_server
    if kind == "group" and not tool.for_groups:
        # Where the server is for groups no argument changes that, so none is named.
        raise ArgumentError(
            f"{tool.name} is not for group sessions: others would read along.",
            hint="The user has this server answer groups only: session_start and memory_context."
            if of_server == "group"
            else f"It works in sessions of the kinds {', '.join(_PRIVATE_KINDS)}.",
        )
    return tool.run(Call(memory=memory, progress=progress, kind=kind), **arguments)
