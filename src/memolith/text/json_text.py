"""Changes in the text of a JSON file with comments: all that is not ours stays byte for byte.

Hosts read JSON, JSON with comments, or JSON5 (OpenClaw); a text of each can be changed here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

_BLANK = re.compile(r"(?:\s|\ufeff|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'', re.DOTALL)
_WORD = re.compile(r"[^\s,:\[\]{}\"'/]+")
_ESCAPE = re.compile(r"\\(\r?\n|.)", re.DOTALL)


class NotJsonError(ValueError):
    """A text that is not JSON, not even with comments."""


@dataclass(slots=True, kw_only=True)
class Node:
    """A value and where it is in the text; the members of an object have keys, the items of a list none."""

    start: int
    end: int
    value: object
    key: str = ""
    key_start: int = 0
    children: list[Node] | None = field(default=None)

    def member(self, key: str) -> Node | None:
        """The last member with this key, which is the one that counts."""
        found = [child for child in self.children or () if child.key == key]
        return found[-1] if found and isinstance(self.value, dict) else None


def parse(text: str) -> Node:
    """The value that a text is; an empty text is an empty object."""
    parser = _Parser(text)
    if parser.skip() == len(text):
        return Node(start=len(text), end=len(text), value={}, children=[])
    node = parser.value()
    if parser.skip() != len(text):
        raise parser.problem("something follows its end")
    return node


def with_member(text: str, path: Sequence[str], value: object) -> str:
    """The text with a member of an object set; objects on the way to it are made where they are missing."""
    if not text.strip("\ufeff \t\r\n"):
        text += "{}\n"
    node, depth = parse(text), 0
    while depth < len(path) - 1 and (inner := node.member(path[depth])) is not None:
        node, depth = inner, depth + 1
    if not isinstance(node.value, dict):
        raise NotJsonError(f"{'.'.join(path[:depth]) or 'it'} is not an object")
    for key in reversed(path[depth + 1 :]):
        value = {key: value}
    old = node.member(path[depth])
    if old is not None:
        return text[: old.start] + _dumped(text, value, depth + 1) + text[old.end :]
    return _inserted(
        text, node, f"{json.dumps(path[depth])}: {_dumped(text, value, depth + 1)}", depth
    )


def with_item(text: str, path: Sequence[str], item: object) -> str:
    """The text with one more item at the end of a list, which is made where it is missing."""
    node: Node | None = parse(text)
    for key in path:
        node = node and node.member(key)
    if node is None:
        return with_member(text, path, [item])
    if not isinstance(node.value, list):
        raise NotJsonError(f"{'.'.join(path)} is not a list")
    return _inserted(text, node, _dumped(text, item, len(path) + 1), len(path))


def without(text: str, path: Sequence[str], is_ours: Callable[[object], bool] | None = None) -> str:
    """The text without a member; with `is_ours`, without the items of a list for which it is true."""
    *above, last = path
    node: Node | None = parse(text)
    for key in above if is_ours is None else path:
        node = node and node.member(key)
    if node is None or node.children is None:
        return text
    children = node.children
    for at in reversed(range(len(children))):
        child = children[at]
        if child.key == last if is_ours is None else is_ours(child.value):
            text = _cut(text, node, children, at)
            del children[at]
    return text


def _cut(text: str, node: Node, children: list[Node], at: int) -> str:
    """The text without a child; its line goes if nothing else is on it, and so does one comma."""
    start, end = children[at].key_start, children[at].end
    after = _skip(text, end)
    if text[after : after + 1] == ",":
        end = after + 1
    elif at:  # the last one: the comma before it goes
        comma = text.index(",", _skip(text, children[at - 1].end))
        text = text[:comma] + text[comma + 1 :]
        start, end = start - 1, end - 1
    blanks = len(text[:start]) - len(text[:start].rstrip(" \t\r\n"))
    if "\n" in text[start - blanks : start]:
        start -= blanks
        if len(children) == 1 and text[end:].lstrip()[:1] in ("}", "]"):
            end += len(text[end:]) - len(text[end:].lstrip())
    return text[:start] + text[end:]


def _inserted(text: str, node: Node, entry: str, depth: int) -> str:
    """The text with an entry behind the last child of an object or list."""
    newline = "\r\n" if "\r\n" in text else "\n"
    indent = _indent(text)
    closing = node.end - 1
    children = node.children or []
    if children:
        last = children[-1].end
        if text[_skip(text, last)] != ",":
            text, closing = f"{text[:last]},{text[last:]}", closing + 1
    at = len(text[:closing].rstrip())
    rest = text[at:closing] if "\n" in text[at:closing] else newline + indent * depth
    return f"{text[:at]}{newline}{indent * (depth + 1)}{entry}{rest}{text[closing:]}"


def _dumped(text: str, value: object, depth: int) -> str:
    lines = json.dumps(value, indent=_indent(text), ensure_ascii=False).splitlines()
    newline = "\r\n" if "\r\n" in text else "\n"
    return (newline + _indent(text) * depth).join(lines)


def _indent(text: str) -> str:
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "


def _skip(text: str, at: int) -> int:
    """Behind blanks and comments."""
    match = _BLANK.match(text, at)
    return match.end() if match else at


class _Parser:
    """Reads one value after the other, from the beginning of a text on."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def problem(self, what: str = "it cannot be parsed") -> NotJsonError:
        """The error for the place where it is."""
        return NotJsonError(f"{what} (line {self.text.count(chr(10), 0, self.at) + 1})")

    def skip(self) -> int:
        """Go on behind blanks and comments."""
        self.at = _skip(self.text, self.at)
        return self.at

    def takes(self, mark: str) -> bool:
        """Go on behind a mark, if it is next."""
        is_next = self.text.startswith(mark, self.skip())
        self.at += is_next
        return is_next

    def value(self) -> Node:
        """The value that is next."""
        start = self.skip()
        for opening, closing in ("{}", "[]"):
            if self.takes(opening):
                children = list(self._children(closing))
                value: object = [child.value for child in children]
                if closing == "}":
                    value = {child.key: child.value for child in children}
                return Node(start=start, end=self.at, value=value, children=children)
        scalar = self._scalar()  # which goes on behind it
        return Node(start=start, end=self.at, value=scalar)

    def _children(self, closing: str) -> Iterator[Node]:
        while not self.takes(closing):
            key_start, key = self.at, ""
            if closing == "}":
                key = str(self._scalar())
                if not self.takes(":"):
                    raise self.problem()
            child = self.value()
            child.key, child.key_start = key, key_start
            yield child
            if not self.takes(",") and not self.text.startswith(closing, self.at):
                raise self.problem()

    def _scalar(self) -> object:
        match = _STRING.match(self.text, self.at) or _WORD.match(self.text, self.at)
        if match is None:
            raise self.problem()
        self.at = match.end()
        try:
            return json.loads(match[0])
        except ValueError:
            # Of JSON5: a bare key, a number, or a string with single quotes and lines that go on.
            inside = match[0][1:-1] if match[0][0] in "\"'" else match[0]
            return _ESCAPE.sub(lambda found: "" if "\n" in found[1] else found[1], inside)
