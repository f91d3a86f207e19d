"""What a tool is: its arguments as pydantic checks them, its definition, and how answers quote memory."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from datetime import date, datetime
from functools import cache, cached_property
from importlib import resources
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import mcp_types as types
from mcp.shared.exceptions import MCPError
from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    create_model,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticCustomError

from memolith.config.sections import Config
from memolith.context.digest import excerpt
from memolith.errors import MemolithError
from memolith.memory import Memory
from memolith.results import Hit
from memolith.text.budget import cut
from memolith.text.cleaning import clean, shown_path
from memolith.text.quotation import NOTICE, quoted, quoted_line, source
from memolith.text.terms import keywords
from memolith.text.wording import leading_to
from memolith.types import Citation, Progress, Record, SessionKind, wire_names
from memolith.visibility import Patterns, trust_label

Found = TypeVar("Found", bound=Hit | Record)
Json = dict[str, object]
JsonType = str | list[str]

SECRETS = "include_secret"
MAX_CHARS = 40_000  # of one answer: more would fill a model's context
MIN_CHARS = 700  # of one hit, however many there are
MAX_SEARCHED = 100_000  # characters of a long text in which the asked words are looked for
MAX_KEYWORDS = 50
MAX_WARNING = 600
MAX_LINE = 200  # characters of a record in a list
_MAX_SHOWN = 60
_JSON_TYPES: Mapping[object, JsonType] = {
    str: "string", bool: "boolean", int: "integer", float: "number", NoneType: "null",
    Citation: "string", date: "string", datetime: "string",
}  # fmt: skip


class ArgumentError(MemolithError):
    """A call that cannot be understood; nothing was done."""

    kind = "argument"


def _is_text(value: object) -> object:
    if isinstance(value, int | float):  # which would be taken for seconds
        raise PydanticCustomError("type", "Input should be text such as 2026-11-15T12:00:00Z")
    return value


Moment = Annotated[AwareDatetime, Field(strict=False), BeforeValidator(_is_text)]
Nothing = SkipJsonSchema[None]


class Arguments(BaseModel):
    """The arguments of a tool. Those not given have their default."""

    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _as_meant(cls, given: Json) -> Json:
        """Some clients fill in every argument, with null for none, and write 5.0 for 5."""
        return {
            name: int(value) if isinstance(value, float) and value.is_integer() else value
            for name, value in given.items()
            if value is not None
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a tool: the memory it is about, the kind of session, and where to report progress."""

    memory: Memory
    progress: Progress = lambda done, total: None
    kind: SessionKind = "main"


@dataclass(frozen=True)
class Tool:
    """One tool, as it is listed and as it is run."""

    run: Callable[..., types.CallToolResult]
    title: str
    answers: Mapping[str, JsonType]  # the keys of an answer, and what each holds
    _: KW_ONLY
    in_session: bool = False  # may say in what kind of session the call is made
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    for_groups: bool = False  # shows a group only what is public; others are refused there

    @property
    def name(self) -> str:
        """What a client calls it by."""
        return self.run.__name__

    @cached_property
    def arguments(self) -> type[Arguments]:
        """Its arguments, as the signature of its function has them."""
        fields = arguments_of(self.run)
        if self.in_session:
            fields = {**fields, "session_kind": (SessionKind | Nothing, None)}
        return create_model(self.name, __base__=Arguments, **fields)

    @cached_property
    def _properties(self) -> dict[str, Json]:
        """The JSON Schema of each argument, as short as a model's context deserves."""
        found: dict[str, Json] = self.arguments.model_json_schema()["properties"]
        for schema in found.values():
            del schema["title"]
            if schema.get("default", 0) in (None, "", [], {}):
                del schema["default"]
        return found

    def properties(self, config: Config) -> dict[str, Json]:
        """The JSON Schema of each argument that these settings allow."""
        hidden = set() if config.trust.allow_secret else {SECRETS}
        return {name: one for name, one in self._properties.items() if name not in hidden}

    def definition(self, config: Config) -> types.Tool:
        """The tool as it is listed."""
        fields = self.arguments.model_fields
        input_schema: Json = {
            "type": "object",
            "properties": self.properties(config),
            "required": [name for name in fields if fields[name].is_required()],
            "additionalProperties": False,
        }
        # An answer to one of several actions has some of the keys.
        kinds = {"notice": "string", **self.answers, "warnings": "array"}
        output_schema: Json = {
            "type": "object",
            "properties": {name: {"type": kind} for name, kind in kinds.items()},
            "required": ["action"] if "action" in kinds else list(kinds),
        }
        return types.Tool(
            name=self.name,
            title=self.title,
            description=read_text(self.name),
            input_schema=input_schema,
            output_schema=output_schema,
            annotations=types.ToolAnnotations(
                read_only_hint=self.read_only,
                destructive_hint=self.destructive,
                idempotent_hint=self.read_only or self.idempotent,
                open_world_hint=False,
            ),
        )

    def parse(self, given: Mapping[str, object], config: Config) -> Json:
        """The checked arguments of a call; the first mistake is an error."""
        try:
            return dict(self.arguments.model_validate(given))
        except ValidationError as error:
            problems = error.errors(include_url=False, include_input=False)
        problem = min(problems, key=lambda each: each["type"] != "extra_forbidden")
        properties, name = self.properties(config), str(problem["loc"][0])
        hint = f"It takes: {', '.join(properties)}"
        if name in properties:
            hint = f"{name}: {json.dumps(properties[name], ensure_ascii=False)}"
        raise ArgumentError(validation_message(name[:_MAX_SHOWN], problem), hint=hint)


@cache
def read_text(name: str) -> str:
    """A text of the folder `tool_texts`, on one line per paragraph."""
    source = resources.files("memolith.mcp_server").joinpath("tool_texts", f"{name}.md")
    paragraphs = source.read_text(encoding="utf-8").strip().split("\n\n")
    return "\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def validation_message(name: str, problem: Mapping[str, Any]) -> str:
    """What is wrong with a value, as pydantic says it, in one sentence that does not repeat the value.

    >>> validation_message("limit", {"type": "int_type", "msg": "Input should be a valid integer"})
    'limit should be a valid integer.'
    """
    message = str(problem["msg"])
    match problem["type"]:
        case "missing" | "missing_argument":
            return f"{name} is missing."
        case "extra_forbidden" | "unexpected_keyword_argument":
            return f"{name} is not known here."
        case "dict_type" | "model_type" | "model_attributes_type":
            return f"{name} should be an object."
    subject, _, wish = message.partition(" should ")  # "Input", "String", …
    return f"{name} should {wish}." if wish and subject.isalpha() else f"{name}: {message}."


def arguments_of(
    call: Callable[..., object],
    omitted: Iterable[str] = (),
    types: Mapping[str, Any] | None = None,
    names: Mapping[str, Any] | None = None,
) -> Mapping[str, Any]:
    """The fields of a pydantic model for the arguments of a function, after its first.

    `types` are those of arguments of these names, whatever the signature says; `names` are those that it may use.
    """
    hints = get_type_hints(call, localns=names, include_extras=True)

    def field(one: inspect.Parameter) -> tuple[Any, object]:
        hint: Any = (types or {}).get(one.name, hints[one.name])
        hint = hint | None if NoneType in get_args(hints[one.name]) else hint
        return hint, ... if one.default is one.empty else one.default

    parameters = list(inspect.signature(call).parameters.values())[1:]
    return {one.name: field(one) for one in parameters if one.name not in {*omitted}}


def wire_hints(of: Any, names: Mapping[str, Any] | None = None) -> dict[str, object]:
    """The Python type of each key that the JSON of this type has; `names` are those that it may use."""
    hints = get_type_hints(of, localns=names)
    for name in wire_names(of):
        value = inspect.getattr_static(of, name, None)
        if isinstance(value, property):
            hints[name] = get_type_hints(value.fget, localns=names)["return"]
    return {name: hints[name] for name in wire_names(of)}


def json_types(of: type[Any]) -> dict[str, JsonType]:
    """The JSON type of each key that the JSON of this type has."""
    return {name: _json_type(hint) for name, hint in wire_hints(of).items()}


def _json_type(hint: Any) -> JsonType:
    if isinstance(hint, UnionType):
        return [str(_json_type(one)) for one in get_args(hint)]
    kind = get_origin(hint) or hint
    if kind is Literal:
        return "string"
    return _JSON_TYPES.get(kind) or ("object" if issubclass(kind, Mapping) else "array")


def reply(
    text: str, content: Json, warnings: Iterable[str] = (), fenced: Sequence[str] = ()
) -> types.CallToolResult:
    """An answer as text for a model, and the same as values for a program; warnings are in both.

    The values say that they are quotations, and none can pretend to be a fence; those in `fenced` have one.
    """
    # They are outside the fence, and may hold names that others chose.
    quoted = [quoted_line(warning, MAX_WARNING) for warning in warnings]
    lines = *(f"Warning: {warning}" for warning in quoted), text
    values = {name: value if name in fenced else _quoted(value) for name, value in content.items()}
    return types.CallToolResult(
        content=[types.TextContent(text=whole("\n".join(lines)))],
        structured_content={"notice": NOTICE, **values, "warnings": quoted},
    )


def _quoted(value: object) -> object:
    match value:
        case str():
            return quoted(value)
        case dict():
            return {quoted(str(name)): _quoted(inner) for name, inner in value.items()}
        case list() | tuple():
            return [_quoted(inner) for inner in value]
    return value


def shortened(found: Sequence[Found], question: str = "", chars: int = MAX_CHARS) -> list[Found]:
    """Hits or records, of long texts only the part that the question is about: together at most `chars` characters."""
    room = max(MIN_CHARS, chars // max(1, len(found)))
    asked = keywords(question)[:MAX_KEYWORDS]
    return [_short(one, asked, room) for one in found]


def _short(found: Found, asked: Sequence[str], room: int) -> Found:
    if isinstance(found, Hit) and found.other_side:
        other = _part(found.other_side, asked, max(room // 4, room - len(found.text)))
        found, room = replace(found, other_side=other), room - len(other)
    return replace(found, text=_part(found.text, asked, room)) if len(found.text) > room else found


def _part(text: str, asked: Sequence[str], room: int) -> str:
    return cut(excerpt(text[:MAX_SEARCHED], asked, room), room, " …")


def record_line(record: Record, external: Patterns) -> str:
    """The beginning of a record on one line, with its source."""
    trust = trust_label(record.provenance.channel, external)
    mark = source(shown_path(str(record.citation)), f"id {record.id}", trust)
    return f"- [{quoted_line(record.category, 40)}] {quoted_line(record.text, MAX_LINE)} {mark}"


def record_values(record: Record, external: Patterns) -> Json:
    """A record, and how far it is trusted."""
    return {**record.to_dict(), "trust": trust_label(record.provenance.channel, external)}


def whole(text: str) -> str:
    """The text as it can be sent and shown: without what steers or hides, and halves of characters.

    Whatever a client is sent goes through here, also names of files and its own words.
    """
    return clean(text).encode("utf-8", "replace").decode("utf-8")


def protocol_error(code: int, error: MemolithError, root: str, data: object = None) -> MCPError:
    """An error outside of tools: the protocol has one sentence for it."""
    return MCPError(code, whole(f"{error.message} {leading_to(root, error.hint)}".strip()), data)


def allows_secrets(memory: Memory) -> bool:
    """Whether this caller may see secret records.

    The settings are read again, so that turning it off acts on this very call, before a watcher
    notices. With settings that cannot be read it is off.
    """
    if not memory.config.trust.allow_secret or memory.reconfigure().problem:
        return False
    return memory.config.trust.allow_secret
