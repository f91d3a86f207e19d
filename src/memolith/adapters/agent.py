"""What the adapters share: an agent writes with its own trust, never with the user's."""

from __future__ import annotations

from memolith.errors import RefusedError
from memolith.memory import Memory
from memolith.text.open_secrets import key_kinds
from memolith.visibility import trust


def for_agent(memory: Memory, channel: str) -> Memory:
    """The memory for what an agent does; one that is trusted less already stays as it is."""
    return memory.via(channel) if trust(memory.channel) == "user" else memory


def refuse_keys(text: str) -> None:
    """Raise RefusedError for a text with a key or token: it would be marked secret, and never be read again."""
    if kinds := key_kinds(text):
        raise RefusedError(
            f"This value holds {' and '.join(kinds)}, which no agent may read from a memory.",
            hint="Keep keys where your program keeps its keys.",
        )
