"""Long-term memory for AI agents, in Markdown files the user owns."""

from __future__ import annotations

from memolith.errors import MemolithError
from memolith.memory import Memory
from memolith.types import Citation, Provenance, Record
from memolith.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memolith.aio import AsyncMemory
    from memolith.context_types import Recap, SessionContext, TurnContext
    from memolith.labels import Sensitivity
    from memolith.retrieval import Hit, Passage, SearchResult, Turn

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

# Imported when they are asked for: asyncio, and classes that writing has no use for, would slow
# every hook down.
_LATE = {
    "AsyncMemory": "memolith.aio",
    "Hit": "memolith.retrieval",
    "Passage": "memolith.retrieval",
    "Recap": "memolith.context_types",
    "SearchResult": "memolith.retrieval",
    "Sensitivity": "memolith.labels",
    "SessionContext": "memolith.context_types",
    "Turn": "memolith.retrieval",
    "TurnContext": "memolith.context_types",
}


def __getattr__(name: str) -> object:
    """Find a public name that is imported late."""
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LATE[name]), name)
