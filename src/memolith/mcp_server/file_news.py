"""Which resources changed, when files did: what subscribers are told, and whether the list is another."""

from __future__ import annotations

import os
from collections.abc import Iterable

from anyio import to_thread

from memolith.mcp_server import resources
from memolith.mcp_server.notices import Notices
from memolith.memory import Memory


class FileNews:
    """What clients know of the list of resources; nobody is told of a list that nobody has seen."""

    def __init__(self, memory: Memory) -> None:
        """Nobody has seen a list yet."""
        self.memory = memory
        self._known: frozenset[str] | None = None

    async def seen(self) -> None:
        """Somebody is about to know the list as it is now."""
        if self._known is None:
            self._known = await self._now()

    def seen_none(self) -> None:
        """Somebody was shown an empty list."""
        self._known = frozenset()

    async def tell_files(self, notices: Notices, changed: Iterable[str]) -> None:
        """Tell of files that changed on the disk."""
        paths = [path for path in map(self._own, changed) if path]
        if not paths or resources.for_groups(self.memory):
            return
        await notices.files_changed(map(resources.uri_of, paths))
        known = self._known or frozenset()
        if any(self._is_there(path) != (path in known) for path in paths):
            await self.tell_list(notices)

    async def tell_list(self, notices: Notices) -> None:
        """Tell that the list is another, if it is."""
        if self._known is None:
            return
        before, self._known = self._known, await self._now()
        if self._known != before:
            await notices.resources_changed()

    async def _now(self) -> frozenset[str]:
        return frozenset(await to_thread.run_sync(resources.paths_of, self.memory))

    def _own(self, path: str) -> str:
        """The path inside the memory, if a resource may be there; else ""."""
        inner = os.path.relpath(os.path.realpath(path), os.path.realpath(self.memory.root))
        hidden = any(part.startswith(".") for part in inner.split(os.sep))
        return "" if hidden or not inner.endswith(".md") else inner

    def _is_there(self, path: str) -> bool:
        return os.path.lexists(os.path.join(self.memory.root, path))
