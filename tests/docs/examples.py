"""The examples of a Markdown document: what a reader would type, and what the document shows."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field

FENCE = re.compile(r"^ *(?P<ticks>`{3,})(?P<language>\w*)")
DATE = r"\d{4}-\d\d-\d\d"


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One fenced block; `line` is where its text begins."""

    language: str
    line: int
    lines: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A command, or a whole Python script, and the output shown below it."""

    line: int
    command: str = ""
    script: str = ""
    shown: list[str] = field(default_factory=list)


def blocks(text: str) -> Iterator[Block]:
    """Every fenced block of a document, in order."""
    lines = iter(enumerate(text.splitlines(), start=1))
    for number, line in lines:
        if start := FENCE.match(line):
            indent = len(line) - len(line.lstrip(" "))
            inside = []
            for _, content in lines:
                if content.strip() == start["ticks"]:
                    break
                inside.append(content[indent:])
            yield Block(language=start["language"], line=number + 1, lines=inside)


def examples(text: str) -> Iterator[Example]:
    """Every example that can be run: commands of `console` blocks, and `python` blocks whole."""
    for block in blocks(text):
        if block.language == "console":
            yield from _commands(block)
        elif block.language == "python":
            yield Example(line=block.line, script="\n".join(block.lines) + "\n")


def _commands(block: Block) -> Iterator[Example]:
    command, shown, start = "", list[str](), block.line
    for number, line in enumerate(block.lines, start=block.line):
        if line.startswith("$ "):
            if command:
                yield Example(line=start, command=command, shown=shown)
            command, shown, start = line[2:], [], number
        elif command and not shown and _is_unfinished(command):
            command += "\n" + line.removeprefix("> ")
        elif command:
            shown.append(line)
        else:
            raise ValueError(f"line {number}: a console block starts with `$ command`")
    if command:
        yield Example(line=start, command=command, shown=shown)


def _is_unfinished(command: str) -> bool:
    try:
        shlex.split(command)
    except ValueError:  # an open quote, or a backslash at the end
        return True
    return command.endswith("\\")


def matches(shown: list[str], printed: str) -> bool:
    """Whether the output is what the document shows.

    `…` stands for anything, a line of only `…` for any lines, and a date for any date.
    """
    pattern = "".join(_line_pattern(line.rstrip()) for line in _without_blank_ends(shown))
    lines = _without_blank_ends([line.rstrip() for line in printed.splitlines()])
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in lines)) is not None


def _line_pattern(line: str) -> str:
    if line.strip() == "…":
        return r"(?:.*\n)*"
    escaped = re.escape(line).replace("…", ".*")
    return re.sub(DATE.replace("-", r"\\-"), lambda _: DATE, escaped) + r"\n"


def _without_blank_ends(lines: list[str]) -> list[str]:
    return "\n".join(lines).strip("\n").split("\n") if any(lines) else []
