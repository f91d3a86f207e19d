"""Long-term memory for AI agents, in Markdown files the user owns."""

from __future__ import annotations

from memolith.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memolith.aio import AsyncMemory
    from memolith.context_types import Recap, SessionContext, TurnContext
    from memolith.errors import MemolithError
    from memolith.labels import Sensitivity
    from memolith.memory import Memory
    from memolith.retrieval import Hit, Passage, SearchResult, Turn
    from memolith.types import Citation, Provenance, Record

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

# Imported when they are asked for: every command imports this package, and a hook that only reads
# has no use for what writes.
_LATE = {
    "AsyncMemory": "memolith.aio",
    "Citation": "memolith.types",
    "Hit": "memolith.retrieval",
    "MemolithError": "memolith.errors",
    "Memory": "memolith.memory",
    "Passage": "memolith.retrieval",
    "Provenance": "memolith.types",
    "Recap": "memolith.context_types",
    "Record": "memolith.types",
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

    found = globals()[name] = getattr(import_module(_LATE[name]), name)
    return found
