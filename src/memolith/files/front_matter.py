"""A note's bytes: YAML front matter between `---` lines, then the text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from memolith.files.record_format import BOM, RecordFormatError, encode_json
from memolith.types import SENSITIVITIES

if TYPE_CHECKING:  # slow to load
    from yaml import SafeLoader

HeaderValue = str | float | tuple[str, ...] | Mapping[str, object]

# Real headers are a few hundred bytes; a larger one is not a header but an attack or an accident.
MAX_HEADER_BYTES = 16_384
_FENCE = b"---"
_OPENING = re.compile(rb"(?:%s)?---[\r ]*(?:\n|\Z)" % BOM)
_NOTE = re.compile(
    rb"(?:%s)?---[\r ]*\n(?:(.{0,%d}?)\n)??---[\r ]*(?:\n|\Z)" % (BOM, MAX_HEADER_BYTES), re.DOTALL
)
# Words, times and ids, which every YAML reader takes for what they are.
_PLAIN = re.compile(
    r"[A-Za-z][A-Za-z_-]*( [A-Za-z_-]+)*|\d{4}-\d\d-\d\dT[\d:.]+Z|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    re.ASCII,
)
_SENSITIVITY = re.compile(rb"""\bsensitivity["']?[ \t]*:[ \t]*["']?([a-z-]*)""")
_SCALARS = (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]{1,300}", "-+0123456789"),
    ("float", r"[-+]?[0-9]{1,300}(?:\.[0-9]{0,300})?(?:[eE][-+]?[0-9]{1,3})?", "-+0123456789"),
    ("null", r"~|null|Null|NULL|", "~nN\0"),
)
_YAML_WORDS = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}


def encode_note(header: Mapping[str, HeaderValue], text: str) -> bytes:
    """A note file."""
    return b"\n".join([_FENCE, *header_lines(header), _FENCE, b"", text.encode(), b""])


def header_lines(values: Mapping[str, HeaderValue]) -> list[bytes]:
    """The front matter; values that YAML could read as something else are written as JSON strings."""
    return [f"{name}: {_value(value)}".encode() for name, value in values.items()]


def split_note(data: bytes) -> tuple[bytes, bytes] | None:
    """Header and body of a note; None for a file without front matter."""
    found = _NOTE.match(data)
    return (found[1] or b"", data[found.end() :]) if found else None


def why_no_note(data: bytes) -> str:
    """Why a file that begins like a note is not one; "" for other files."""
    closed = not _OPENING.match(data) or split_note(data)
    return "" if closed else "the front matter has no closing ---"


def is_broken_secret(data: bytes) -> bool:
    """Whether a file that is not a readable note begins like one that was marked secret.

    A mark that nobody can read may have been meant so.
    """
    if not data.removeprefix(BOM).startswith(_FENCE):
        return False
    parts = split_note(data)  # text below the front matter says nothing about the file
    header = (parts[0] if parts else data[:MAX_HEADER_BYTES]).lower()
    marks = _SENSITIVITY.findall(header)
    return b"sensitivity" in header and (
        b"secret" in header or any(mark.decode() not in SENSITIVITIES for mark in marks)
    )


def parse_header(header: bytes) -> dict[str, object]:
    """The header's keys and values; raises RecordFormatError for what is not a plain mapping."""
    import yaml  # only notes need it

    loader = _plain_loader()
    try:
        text = header.decode()
        depth = 0
        for event in yaml.parse(text, loader):
            if isinstance(event, yaml.AliasEvent):
                raise RecordFormatError("the front matter uses YAML aliases")
            start, end = yaml.CollectionStartEvent, yaml.CollectionEndEvent
            depth += isinstance(event, start) - isinstance(event, end)
            if depth > 100:  # libyaml takes quadratic time
                raise RecordFormatError("the front matter is nested deeper than 100")
        content = yaml.load(text, loader)  # noqa: S506 — made of a safe loader
    except UnicodeDecodeError as error:
        raise RecordFormatError("the front matter is not UTF-8") from error
    except (yaml.YAMLError, RecursionError, ValueError, TypeError) as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise RecordFormatError(f"the front matter is not YAML: {reason}") from error
    if not isinstance(content, dict):
        raise RecordFormatError("the front matter is not a mapping")
    return {str(key): value for key, value in content.items()}


@cache
def _plain_loader() -> type[SafeLoader]:
    """A safe loader with the scalars of YAML 1.2; everything else stays text.

    The stock loader reads `NO` as False, `12:30:00` as 45000 and turns dates into objects.
    """
    import yaml

    base: type[SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # without libyaml
    loader: type[SafeLoader] = type("_PlainLoader", (base,), {"yaml_implicit_resolvers": {}})
    for tag, pattern, first in _SCALARS:
        whole = re.compile(f"(?:{pattern})\\Z")
        loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", whole, list(first))
    return loader


def _value(value: HeaderValue) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    if not isinstance(value, str):
        return _spell_controls(encode_json(value).decode())
    if _PLAIN.fullmatch(value) and value.lower() not in _YAML_WORDS:
        return value
    return _spell_controls(json.dumps(value, ensure_ascii=False))


def _spell_controls(text: str) -> str:
    """YAML, unlike JSON, does not take these raw."""
    return re.sub("[\x7f-\x9f\ufffe\uffff]", lambda found: f"\\u{ord(found[0]):04x}", text)
