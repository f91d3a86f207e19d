"""Long-term memory for AI agents, in Markdown files the user owns."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from memolith.aio import AsyncMemory
    from memolith.errors import MemolithError
    from memolith.memory import Memory
    from memolith.results import Hit, Passage, Recap, SearchResult, Turn, TurnContext
    from memolith.types import Citation, Provenance, Record, Sensitivity, SessionContext

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
    """Import a name when it is first used: every command imports this package."""
    for module in ("errors", "types", "memory", "results", "aio") if name in __all__ else ():
        if found := getattr(import_module(f"memolith.{module}"), name, None):
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
