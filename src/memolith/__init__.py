"""Long-term memory for AI agents, in Markdown files the user owns."""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"  # before our own imports, which read it

from memolith.errors import MemolithError
from memolith.types import (
    Citation,
    Hit,
    Passage,
    Provenance,
    Recap,
    Record,
    SearchResult,
    Sensitivity,
    SessionContext,
    Turn,
    TurnContext,
)

if TYPE_CHECKING:
    from memolith.aio import AsyncMemory
    from memolith.memory import Memory

__all__ = [
    "AsyncMemory",
    "Citation",
    "Hit",
    "MemolithError",
    "Memory",
    "Passage",
    "Provenance",
    "Recap",
    "Record",
    "SearchResult",
    "Sensitivity",
    "SessionContext",
    "Turn",
    "TurnContext",
    "__version__",
]


def __getattr__(name: str) -> object:
    """Import the two large classes on first use: every command imports this package."""
    if name == "Memory":
        from memolith.memory import Memory

        return Memory
    if name == "AsyncMemory":
        from memolith.aio import AsyncMemory

        return AsyncMemory
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
