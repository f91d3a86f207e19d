"""Claude's memory tool: its files under /memories are notes of a memory (extra: `anthropic`)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeAlias

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
from anthropic.types import beta

from memolith.adapters.agent import for_agent
from memolith.errors import MemolithError, NotFoundError
from memolith.memory import Memory

View: TypeAlias = beta.BetaMemoryTool20250818ViewCommand
Create: TypeAlias = beta.BetaMemoryTool20250818CreateCommand
StrReplace: TypeAlias = beta.BetaMemoryTool20250818StrReplaceCommand
Insert: TypeAlias = beta.BetaMemoryTool20250818InsertCommand
Delete: TypeAlias = beta.BetaMemoryTool20250818DeleteCommand
Rename: TypeAlias = beta.BetaMemoryTool20250818RenameCommand

ROOT = "/memories"


class MemolithMemoryTool(BetaAbstractMemoryTool):
    """The six commands of the memory tool, on the notes in one folder of a memory.

    Give it to `client.beta.messages.tool_runner`. What Claude writes is a note like any other: a
    search finds it, and you can edit it. `/memories/plan.txt` is kept as `plan.txt.md`.
    """

    def __init__(self, memory: Memory, *, folder: str = "memory/note", **options: Any) -> None:
        """`folder` is what Claude sees as /memories; `options` are those of the base class."""
        super().__init__(**options)
        self._files = for_agent(memory, "claude").files
        self._folder = folder.strip("/")

    def execute(self, command: Any) -> Any:
        """Run a command; what goes wrong is an answer for the model."""
        try:
            return super().execute(command)
        except MemolithError as error:
            raise ToolError(str(error)) from error

    def view(self, command: View) -> str:
        """The files in a folder, or the numbered lines of a file."""
        place = self._place(command.path)
        names = [] if place.endswith(".md") else self._files.notes(place)
        if names or place == self._folder:
            shown = [_shown(name.removeprefix(self._folder)) for name in names]
            return "\n".join([f"Here're the files in {command.path}:", *sorted(shown)])
        lines = self._read(command.path)[0].split("\n")
        first, last = command.view_range or (1, -1)
        first, end = max(1, first), len(lines) if last == -1 else last
        rows = [f"{n:6}\t{line}" for n, line in enumerate(lines[first - 1 : end], first)]
        return "\n".join([f"Here's the content of {command.path} with line numbers:", *rows])

    def create(self, command: Create) -> str:
        """Create a file, which must be new."""
        path = _stored(self._place(command.path))
        report = self._files.write_note(path, command.file_text, version="")
        return _with(report.warnings, f"File created successfully at: {command.path}")

    def str_replace(self, command: StrReplace) -> str:
        """Replace a text that occurs once in a file."""

        def replaced(text: str) -> str:
            count = text.count(command.old_str) if command.old_str else 0
            if count == 1:
                return text.replace(command.old_str, command.new_str)
            found = f"occurs {count} times" if count else "did not appear verbatim"
            raise ToolError(f"No replacement was performed: old_str {found} in {command.path}.")

        return self._edit(command.path, replaced)

    def insert(self, command: Insert) -> str:
        """Insert a text after a line; 0 is the beginning of the file."""

        def inserted(text: str) -> str:
            lines = text.split("\n")
            if not 0 <= command.insert_line <= len(lines):
                raise ToolError(f"Invalid insert_line: it must be from 0 to {len(lines)}.")
            lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
            return "\n".join(lines)

        return self._edit(command.path, inserted)

    def delete(self, command: Delete) -> str:
        """Delete a file or a folder; a backup keeps it."""
        self._files.delete_notes(self._existing(command.path))
        return f"Successfully deleted {command.path}"

    def rename(self, command: Rename) -> str:
        """Rename a file or a folder; the new path must be free."""
        old, new = self._existing(command.old_path), self._place(command.new_path)
        self._files.rename_notes(old, _stored(new) if old.endswith(".md") else new)
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def clear_all_memory(self) -> str:
        """Delete every file under /memories; a backup keeps them."""
        if self._files.notes(self._folder):
            self._files.delete_notes(self._folder)
        return "All memory cleared"

    def _edit(self, path: str, change: Callable[[str], str]) -> str:
        text, version = self._read(path)
        note = _stored(self._place(path))
        report = self._files.write_note(note, change(text), version=version)
        return _with(report.warnings, f"The file {path} has been edited.")

    def _read(self, path: str) -> tuple[str, str]:
        try:
            note = self._files.read_note(_stored(self._place(path)))
        except NotFoundError as error:
            raise ToolError(f"The path {path} does not exist.") from error
        return note.record.text, note.version

    def _existing(self, path: str) -> str:
        """The note or the folder with notes at a path."""
        place = self._place(path)
        if place == self._folder:
            raise ToolError(f"{ROOT} itself cannot be deleted or renamed.")
        if not place.endswith(".md") and self._files.notes(place):
            return place
        self._read(path)
        return _stored(place)

    def _place(self, path: str) -> str:
        """Where a path of the model is in the memory, which refuses what leads out of it."""
        root, slash, rest = path.rstrip("/").partition(f"{ROOT}/")
        if root != (ROOT if not slash else ""):
            raise ToolError(f"The path must start with {ROOT}, and this one is {path}.")
        return f"{self._folder}/{rest}" if rest else self._folder


class AsyncMemolithMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for `AsyncAnthropic`: each command runs in a thread."""

    def __init__(self, memory: Memory, *, folder: str = "memory/note", **options: Any) -> None:
        """See `MemolithMemoryTool`."""
        super().__init__(**options)
        self.tool = MemolithMemoryTool(memory, folder=folder)

    async def execute(self, command: Any) -> Any:
        """Run a command; what goes wrong is an answer for the model."""
        return await asyncio.to_thread(self.tool.execute, command)

    view = create = str_replace = insert = delete = rename = execute

    async def clear_all_memory(self) -> str:
        """Delete every file under /memories; a backup keeps them."""
        return await asyncio.to_thread(self.tool.clear_all_memory)


def _stored(place: str) -> str:
    return place if place.endswith(".md") else f"{place}.md"


def _shown(tail: str) -> str:
    """The path that the model gave: a name that had an ending of its own gets it back."""
    plain = tail.removesuffix(".md")
    has_ending = "." in plain.rpartition("/")[2] and not plain.endswith(".md")
    return ROOT + (plain if has_ending else tail)


def _with(warnings: tuple[str, ...], answer: str) -> str:
    return "\n".join([answer, *warnings])
