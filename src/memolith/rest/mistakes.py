"""What is wrong with a request, in our words; what was sent is not repeated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Problem = Mapping[str, object]

_MOST = 5
_LONGEST_NAME = 100
# How pydantic calls it → what it must be; names in braces are of its context.
_MUST = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "dict_type": "an object",
    "mapping_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "list_type": "a list",
    "literal_error": "{expected}",
    "string_too_short": "at least {min_length} characters long",
    "string_too_long": "at most {max_length} characters long",
    "too_short": "a list of at least {min_length}",
    "too_long": "a list of at most {max_length}",
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
    "datetime_type": "a moment such as 2026-11-15T09:00:00Z",
    "datetime_parsing": "a moment such as 2026-11-15T09:00:00Z",
    "datetime_from_date_parsing": "a moment such as 2026-11-15T09:00:00Z",
    "date_type": "a day such as 2026-11-15",
    "date_parsing": "a day such as 2026-11-15",
    "date_from_datetime_parsing": "a day such as 2026-11-15",
    "date_from_datetime_inexact": "a day such as 2026-11-15, without a time",
    "datetime_object_invalid": "a moment such as 2026-11-15T09:00:00Z",
    "timezone_aware": "a moment with its time zone, such as 2026-11-15T09:00:00Z",
}
# Where it stood, and branches of a union: they are no names of the caller's.
_PLACES = ("body", "query", "path")
_BRANCHES = ("str", "constrained-str", "int", "float", "bool")


def in_words(problems: Sequence[Problem]) -> str:
    """What is wrong, part by part.

    >>> in_words([{"type": "string_type", "loc": ("id", "str"), "msg": "", "ctx": {}},
    ...           {"type": "int_type", "loc": ("id", "int"), "msg": "", "ctx": {}}])
    'id must be text or a whole number.'
    >>> in_words([{"type": "missing", "loc": ("body", "text"), "msg": ""}])
    'text is missing.'
    """
    wanted: dict[str, list[str]] = {}
    said: list[str] = []
    for problem in problems[:_MOST]:
        place = _place(problem["loc"])
        must = _MUST.get(str(problem["type"]))
        if must:
            context = problem.get("ctx")
            words = must.format_map(context if isinstance(context, dict) else {})
            wanted.setdefault(place or "The body", []).append(words)
        elif problem["type"] == "missing":
            said.append(f"{place or 'The body'} is missing.")
        elif problem["type"] == "extra_forbidden":
            said.append(f"{place} is not known here.")
        else:
            said.append(f"{place}: {problem['msg']}" if place else str(problem["msg"]))
    musts = [f"{place} must be {' or '.join(words)}." for place, words in wanted.items()]
    return " ".join([*musts, *said])


def _place(loc: object) -> str:
    parts = list(loc) if isinstance(loc, tuple) else []
    if parts[:1] == ["body"] or (len(parts) > 1 and parts[0] in _PLACES):
        del parts[0]
    parts = [part for part in parts if not str(part).startswith("list[")]
    if len(parts) > 1 and parts[-1] in _BRANCHES:
        del parts[-1]
    return ".".join(map(str, parts))[:_LONGEST_NAME]
