"""Long-term memory for AI agents, in Markdown files the user owns."""

from __future__ import annotations

from memolith.errors import MemolithError
from memolith.memory import Memory
from memolith.types import Citation, Passage, Provenance, Record, Turn
from memolith.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memolith.aio import AsyncMemory

__all__ = [
    "AsyncMemory",
    "Citation",
    "MemolithError",
    "Memory",
    "Passage",
    "Provenance",
    "Record",
    "Turn",
    "__version__",
]


def __getattr__(name: str) -> object:
    """Import AsyncMemory when it is asked for: asyncio would slow every hook down."""
    if name == "AsyncMemory":
        from memolith.aio import AsyncMemory

        return AsyncMemory
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
