"""The arguments of a call, checked against the schema of its tool. A mistake is told with a hint."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from datetime import datetime

from memolith.errors import MemolithError
from memolith.mcp_server.json_shapes import Json
from memolith.mcp_server.tool import Tool

_SHOWN = 60


class ArgumentError(MemolithError):
    """A call that cannot be understood; nothing was done."""

    kind = "argument"


class Arguments:
    """Checked arguments: what was not given has the default of the schema, or is empty."""

    def __init__(self, tool: Tool, given: Mapping[str, object]) -> None:
        """Check every argument; the first mistake is an error."""
        self._tool = tool
        self._values: Json = {
            name: schema["default"]
            for name, schema in tool.properties.items()
            if "default" in schema
        }
        for name, value in given.items():
            if value is not None:  # clients that fill in every property mean: not given
                self._values[name] = self._checked(name, value)
        self.demand(*tool.required)

    def demand(self, *names: str, reason: str = "") -> None:
        """Refuse a call without these arguments."""
        for name in names:
            if name not in self._values:
                raise ArgumentError(
                    f"The argument {name} is missing{reason and f': {reason}'}.",
                    hint=f"{name}: {_expected(self._tool.properties[name])}",
                )

    def allow(self, *names: str, whose: str) -> None:
        """Refuse what would be ignored: who gives it expects something of it."""
        for name, value in self._values.items():
            usual = self._tool.properties[name].get("default")
            # Some clients fill in every property; what is empty or as usual asks for nothing.
            if name not in names and value and value != usual:
                raise ArgumentError(
                    f"{whose} has no use for the argument {name}.",
                    hint=f"It takes: {', '.join(names) or 'nothing else'}",
                )

    def given(self, name: str) -> bool:
        """Whether there is a value."""
        return name in self._values

    def text(self, name: str) -> str:
        """A text; "" if there is none."""
        return str(self._values.get(name, ""))

    def number(self, name: str) -> int:
        """A whole number."""
        value = self._values[name]
        assert isinstance(value, int | float)  # noqa: S101 - its schema says so
        return int(value)

    def decimal(self, name: str) -> float:
        """Any number."""
        value = self._values[name]
        assert isinstance(value, int | float)  # noqa: S101 - its schema says so
        return float(value)

    def moment(self, name: str) -> datetime | None:
        """A moment with its zone; None if there is none."""
        if not self.text(name):
            return None
        try:
            moment = datetime.fromisoformat(self.text(name))
        except ValueError:
            moment = datetime.min  # noqa: DTZ901 - refused below
        if moment.tzinfo is None:
            raise ArgumentError(
                f"The argument {name} is not a moment with its zone: {_shown(self.text(name))}.",
                hint=f"{name}: for example 2026-04-09T18:00:00Z",
            )
        return moment

    def flag(self, name: str) -> bool:
        """Yes or no; no if there is none."""
        return self._values.get(name) is True

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts."""
        value = self._values.get(name, ())
        return tuple(map(str, value)) if isinstance(value, list) else ()

    def mapping(self, name: str) -> Mapping[str, object]:
        """An object."""
        value = self._values.get(name)
        return value if isinstance(value, dict) else {}

    def _checked(self, name: str, value: object) -> object:
        schema = self._tool.properties.get(name)
        if schema is None:
            near = difflib.get_close_matches(name[:_SHOWN], self._tool.properties, n=1)
            known = ", ".join(self._tool.properties)
            raise ArgumentError(
                f"{self._tool.name} has no argument {_shown(name)}.",
                hint=f"Did you mean {near[0]}?" if near else f"It takes: {known}",
            )
        if not _satisfies(schema, value):
            raise ArgumentError(
                f"The argument {name} must be {_expected(schema)}, not {_shown(value)}.",
                hint=f"{name}: {_expected(schema)}",
            )
        return value


def _satisfies(schema: Json, value: object) -> bool:
    """The few keywords of JSON Schema that our tools use."""
    if "enum" in schema:
        options = schema["enum"]
        return isinstance(value, str) and isinstance(options, list) and value in options
    match schema.get("type"):
        case "string":
            return isinstance(value, str) and _between(
                len(value), schema.get("minLength"), schema.get("maxLength")
            )
        case "integer" | "number" as kind:
            return (
                isinstance(value, int | float)
                and not isinstance(value, bool)
                and (kind == "number" or isinstance(value, int) or value.is_integer())
                and _between(value, schema.get("minimum"), schema.get("maximum"))
            )
        case "boolean":
            return isinstance(value, bool)
        case "array":
            return isinstance(value, list) and all(isinstance(item, str) for item in value)
        case _:
            return isinstance(value, dict)


def _between(value: float, least: object, most: object) -> bool:
    return (not isinstance(least, int) or value >= least) and (
        not isinstance(most, int) or value <= most
    )


def _expected(schema: Json) -> str:
    """What a value must be, in words."""
    options = schema.get("enum")
    if isinstance(options, list):
        return f"one of {', '.join(map(str, options))}"
    match schema.get("type"):
        case "integer" | "number" as kind:
            least, most = schema.get("minimum", 0), schema.get("maximum")
            whole = "whole " if kind == "integer" else ""
            return f"a {whole}number from {least}" + ("" if most is None else f" to {most}")
        case "string":
            return _expected_text(schema.get("minLength", 0), schema.get("maxLength"))
        case "array":
            return "a list of texts"
        case "boolean":
            return "true or false"
        case _:
            return "an object"


def _expected_text(least: object, most: object) -> str:
    if least and most is not None:
        return f"a text of {least} to {most} characters"
    if least:
        return "a text that is not empty"
    return "a text" if most is None else f"a text of at most {most} characters"


def _shown(value: object) -> str:
    """A value that a stranger chose, short and harmless."""
    text = ascii(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
