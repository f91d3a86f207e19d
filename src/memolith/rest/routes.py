"""The routes of `/api/v1`: a table of methods of `Memory`.

The body or query of a route is made from the signature of its method, its answer from the return type,
its description from the docstring. What is not a method yet is a function here, with `memory` as its first argument.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Any, Literal, get_args, get_type_hints

from fastapi import APIRouter, Body, Depends, Query, Request, Response
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, create_model

from memolith.config.edit import set_setting as change_setting
from memolith.config.load import known_setting
from memolith.config.sections import SETTINGS, setting_value
from memolith.config.setting import ARGUMENT
from memolith.context.chats import Chats
from memolith.context.engine import IndexCommands
from memolith.files.transaction import rewrite_file
from memolith.jobs.api import BY_NAME, Jobs
from memolith.jobs.files import Files
from memolith.jobs.reports import Experiences, FlushReport, JobDiff, JobReport
from memolith.jobs.worker import rebuild_index, run_in_process
from memolith.mcp_server.tool import Moment, allows_secrets, arguments_of
from memolith.memory import Memory
from memolith.reports import InitReport, SettingChange, Settings, SettingValue, SyncReport
from memolith.rest.answers import NAMES, V1, RequestError, answer_model
from memolith.results import Turns
from memolith.text.wording import leading_to
from memolith.types import Record, Records, SessionKind, plain_value


async def memory_of(request: Request) -> Memory:  # async: not to be run in a thread of its own
    """The memory of a request: that of the server, or of the profile whose token was shown."""
    memory: Memory = getattr(request.state, "memory", request.app.state.memory)
    return memory


TheMemory = Annotated[Memory, Depends(memory_of)]


def check_secrets(memory: Memory, asked: bool) -> bool:
    """Whether secret records are shown: the call must ask, and the user must have allowed it."""
    if asked and not allows_secrets(memory):
        hint = "The user may allow it: memolith config set trust.allow_secret true"
        raise RequestError(403, "secrets", "This server shows no secret records.", hint)
    return asked


_Question = Annotated[str, Field(max_length=8192)]
_Limit = Annotated[int, Field(ge=1, le=1000)]
_Count = Annotated[int, Field(ge=0)]
_Chars = Annotated[int, Field(ge=0, le=1_000_000)]  # as many as the setting may say
_Pairs = Annotated[  # of metadata, as ticket=12
    list[Annotated[str, Field(pattern="^[^=]+=")]],
    AfterValidator(lambda pairs: dict(pair.split("=", 1) for pair in pairs)),
]
_Value = bool | int | float | str | list[str]

# What JSON has in the place of a type: the memory reads days by itself.
_NAMES = NAMES | {
    "Iterable": list, "Mapping": dict, "Sequence": list, "date": str, "datetime": Moment,
}  # fmt: skip
# What an argument may be, by its name; without an entry, what its signature says.
_ARGUMENTS = {
    "about": _Question, "limit": _Limit, "lines": _Count, "max_chars": _Chars, "max_tokens": _Count,
    "offset": _Count, "path": str, "question": _Question,
}  # fmt: skip
# For callers in the same process.
_NOT_ASKED = ("copy_linked", "deadline_seconds", "progress", "sources")


def newest_first(found: Records) -> Records:
    """Records, the newest first, a page at a time."""
    return Records(found[::-1], found.warnings, found.total, found.hidden)


def list_turns(memory: Memory, chat: str | None = None, limit: int = 100) -> Turns:
    """The newest turns of a chat, or of all."""
    found = memory.chats.turns(chat)
    return Turns(turns=found[max(0, len(found) - limit) :], total=len(found))


def settings(memory: Memory) -> Settings:
    """Every setting, its value, and where that comes from."""
    return Settings(settings=tuple(setting(memory, name) for name in SETTINGS))


def setting(memory: Memory, name: str) -> SettingValue:
    """One setting."""
    known_setting(name, "request")
    return setting_value(memory.config, memory.origins, name)


def set_setting(memory: Memory, name: str, value: _Value) -> SettingChange:
    """Write a setting into the profile's memolith.toml; those that are the user's alone are refused."""
    known = known_setting(name, "request")
    text = ", ".join(value) if isinstance(value, list) else str(value)
    text = text.lower() if isinstance(value, bool) else text
    if known.trusted_only or known.needs_trust(known.check(text, ARGUMENT)):
        hint = f"The user may: memolith config set {name} VALUE"
        raise RequestError(403, "config", f"{name} is the user's alone to set.", hint)
    change = change_setting(memory.profile, name, text)
    rewrite_file(change.path, change.apply, memory.config.store)
    memory.reconfigure()
    written = known.check(text, ARGUMENT)
    return SettingChange(**asdict(setting(memory, name)), written=written, file=change.path)


def run_job(
    memory: Memory, job: Literal["trim", "compact", "dream", "experiences"], dry_run: bool = False
) -> JobReport:
    """Run a job now: `trim`, `compact`, `dream` or `experiences`; a dry run only says what it would do."""
    return run_in_process(memory.jobs, BY_NAME[job], dry_run=dry_run)


def diff_job(memory: Memory, job_id: str, include_secret: bool = False) -> JobDiff:
    """What a job changed, or a proposal would change; secret records are placeholder lines."""
    job = memory.jobs.show(job_id)
    return JobDiff(id=job.id, diff=memory.jobs.diff(job, include_secret=include_secret))


def init(memory: Memory) -> InitReport:
    """Make the profile's folder and its first files from templates."""
    return InitReport(profile=memory.profile.name, root=memory.root, made=memory.init())


def reindex(memory: Memory) -> SyncReport:
    """Delete the index and make it again from the files."""
    return run_in_process(memory.jobs, rebuild_index)


def flush(
    memory: Memory,
    turns: str | Sequence[Mapping[str, object]],
    session: str = "main",
    dry_run: bool = False,
) -> FlushReport:
    """Save what matters of a chat that is about to be shortened or ended, never twice: messages or text."""
    return memory.jobs.flush(
        turns, session=session, dry_run=dry_run, include_secret=allows_secrets(memory)
    )


def experiences(memory: Memory, limit: int = 20) -> Experiences:
    """The newest experiences, newest first, and how many there are."""
    kept = memory.jobs.experiences()
    return Experiences(count=len(kept), experiences=kept[::-1][:limit])


@dataclass(frozen=True, slots=True)
class Route:
    """A method and path, and what is called."""

    at: str
    call: Callable[..., Any]
    tag: str
    key: str = ""  # of the result in the answer, if it is not an object itself
    writes: bool = False  # takes the kind of session, because what a group writes is marked
    creates: bool = False
    apart: bool = False  # in a process of its own
    fixed: Mapping[str, object] = field(default_factory=dict)  # arguments that nobody sends
    then: Callable[[Any], Any] | None = None  # what is made of the result
    fields: Mapping[str, Any] = field(default_factory=dict)  # of requests, that are not as usual

    method = property(lambda self: self.at.partition(" ")[0])
    path = property(lambda self: self.at.partition(" ")[2])
    has_body = property(lambda self: self.method not in ("GET", "DELETE"))


ROUTES = (
    Route("POST /records", Memory.remember, "records", writes=True, creates=True),
    Route("GET /records", Memory.records, "records", then=newest_first, fields={"limit": (_Limit, 20), "metadata": (_Pairs | None, None)}),
    Route("POST /notes", Memory.save_note, "records", writes=True, creates=True),
    Route("GET /records/{record_id}", Memory.get_record, "records"),
    Route("PATCH /records/{record_id}", Memory.update, "records", writes=True),
    Route("DELETE /records/{record_id}", Memory.forget, "records"),
    Route("POST /records/{record_id}/supersede", Memory.supersede, "records", writes=True, creates=True),
    Route("POST /search", Memory.search, "search", fields={"text": (_Question, ...)}),
    Route("GET /session-start", Memory.session_start, "context"),
    Route("POST /context", Memory.context, "context"),
    Route("POST /recall", Memory.recall, "context"),
    Route("GET /recap", Chats.recap, "context"),
    Route("POST /used", Memory.used, "context", key="noted"),
    Route("POST /turns", Chats.log, "chats", writes=True, creates=True, fields={"platform": (str, "rest")}),
    Route("GET /turns", list_turns, "chats"),
    Route("GET /passage", Memory.get, "files"),
    Route("GET /files", Files.tree, "files", key="files"),
    Route("GET /days", Files.days, "files", key="days"),
    Route("GET /days/{day}", Files.day, "files"),
    Route("GET /logs", Files.list, "files", key="logs"),
    Route("GET /file", Files.read, "files"),
    Route("PUT /file", Files.write, "files"),
    Route("POST /init", init, "upkeep"),
    Route("POST /trim", Jobs.trim, "upkeep"),
    Route("GET /backups", Files.backups, "upkeep", key="backups"),
    Route("GET /backups/{name}/diff", Files.diff, "upkeep", key="diff"),
    Route("POST /backups/{name}/restore", Files.restore, "upkeep"),
    Route("POST /sync", IndexCommands.sync, "upkeep"),
    Route("POST /reindex", reindex, "upkeep"),
    Route("GET /index", IndexCommands.status, "upkeep"),
    Route("GET /doctor", Memory.doctor, "upkeep", fixed={"fix": False}),
    Route("POST /doctor/fix", Memory.doctor, "upkeep", fixed={"fix": True}),
    Route("GET /config", settings, "upkeep"),
    Route("GET /config/{name}", setting, "upkeep"),
    Route("PUT /config/{name}", set_setting, "upkeep"),
    Route("POST /reload", Memory.reconfigure, "upkeep"),
    Route("GET /jobs", Jobs.list, "jobs"),
    Route("POST /jobs", run_job, "jobs"),
    Route("GET /jobs/{job_id}", Jobs.show, "jobs"),
    Route("GET /jobs/{job_id}/diff", diff_job, "jobs"),
    Route("POST /jobs/{job_id}/apply", Jobs.apply, "jobs"),
    Route("POST /jobs/{job_id}/decline", Jobs.decline, "jobs"),
    Route("POST /jobs/{job_id}/undo", Jobs.undo, "jobs"),
    Route("POST /flush", flush, "jobs", writes=True),
    Route("GET /receipts", Jobs.receipts, "context", key="receipts"),
    Route("GET /scan", Jobs.scan, "jobs", apart=True),
    Route("GET /dream", Jobs.dream_status, "jobs", apart=True),
    Route("GET /dream/explain", Jobs.explain, "jobs", apart=True),
    Route("GET /experiences", experiences, "experiences"),
    Route("POST /experiences/query", Jobs.query_experiences, "experiences", fields={"text": (_Question, ...)}),
    Route("GET /relationships", Jobs.relationships, "experiences"),
    Route("GET /status", Memory.status, "health"),
)  # fmt: skip
_GROUPS = {"Chats": "chats", "Files": "files", "IndexCommands": "index", "Jobs": "jobs"}


def router() -> APIRouter:
    """Every route of the table."""
    made = APIRouter(prefix=V1)
    for route in ROUTES:
        model = _answer_of(route)
        there: Any = {200: {"model": model, "description": "It was there already."}}
        made.add_api_route(
            route.path,
            _endpoint(route),
            methods=[route.method],
            tags=[route.tag],
            response_model=model,
            status_code=201 if route.creates else 200,
            responses=there if route.creates else None,
            description=inspect.getdoc(route.then or route.call),
        )
    return made


def _answer_of(route: Route) -> Any:
    result = get_type_hints(route.call, localns=NAMES)["return"]
    if route.key:
        config = ConfigDict(extra="forbid")
        fields: Any = {route.key: (answer_model(result), ...)}
        return create_model(f"{route.call.__name__.title()}Answer", __config__=config, **fields)
    return answer_model(next(iter(get_args(result)), result))  # None becomes an error


def _endpoint(route: Route) -> Callable[..., object]:
    """The function that FastAPI calls, with the signature that it reads."""

    def endpoint(memory: Memory, response: Response, asked: BaseModel, **given: Any) -> object:
        given |= dict(asked)
        if route.writes:
            memory = memory.via(kind=given.pop("kind"))
        check_secrets(memory, bool(given.get("include_secret")))
        result = _call(memory, route, given)
        if isinstance(result, Record) and route.writes:
            result = _as_sent(result, given)
            response.status_code = 200 if result.reused or not route.creates else 201
        answer: Any = {route.key: plain_value(result)} if route.key else result.to_dict()
        for entry in answer.get("checks") or answer.get("findings") or ():
            entry["hint"] = entry["hint"] and leading_to(memory.root, entry["hint"])
        return answer

    in_path = re.findall(r"\{(\w+)\}", route.path)
    types = {"memory": TheMemory, "response": Response, **dict.fromkeys(in_path, str)}
    of = inspect.Parameter
    parameters = [of(name, of.KEYWORD_ONLY, annotation=one) for name, one in types.items()]
    model = _request_model(route, in_path)
    needs = not route.has_body or any(one.is_required() for one in model.model_fields.values())
    asked: Any = Annotated[model, Body() if route.has_body else Query()]
    default = of.empty if needs else model()
    parameters.append(of("asked", of.KEYWORD_ONLY, annotation=asked, default=default))
    endpoint.__name__ = route.call.__name__
    endpoint.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return endpoint


def _call(memory: Memory, route: Route, given: Mapping[str, Any]) -> Any:
    owner, _, name = route.call.__qualname__.partition(".")
    if not name:
        return route.call(memory, **given)
    if route.apart:
        return run_in_process(memory.jobs, route.call, **given)
    group = memory if owner == "Memory" else getattr(memory, _GROUPS[owner])
    result = getattr(group, name)(**given, **route.fixed)
    result = route.then(result) if route.then else result
    if result is None:
        hint = "The user may switch it on: memolith config set chat.enabled true"
        message = "Conversation history is switched off, so the turn was not kept."
        raise RequestError(409, "disabled", message, hint)
    return result


def _as_sent(record: Record, sent: Mapping[str, Any]) -> Record:
    """A secret record has parts that its writer did not send, and did not ask to see."""
    if record.sensitivity != "secret":
        return record
    return replace(
        record,
        text=sent.get("text") or "",
        keywords=tuple(sent.get("keywords") or ()),
        metadata=sent.get("metadata") or {},
    )


def _request_model(route: Route, in_path: Sequence[str]) -> type[BaseModel]:
    """The body of a request, or its query: exactly these names, in a body of exactly these types."""
    omitted = {*in_path, *_NOT_ASKED, *route.fixed}
    fields = {**arguments_of(route.call, omitted, _ARGUMENTS, _NAMES), **route.fields}
    if route.writes:
        fields["kind"] = (SessionKind, "main")
    title = "".join(word.capitalize() for word in route.call.__name__.split("_"))
    config = ConfigDict(extra="forbid", strict=route.has_body)
    return create_model(
        f"{title}{'Body' if route.has_body else 'Query'}", __config__=config, **fields
    )
