"""What the adapters share: an agent writes with its own trust, never with the user's."""

from __future__ import annotations

from memolith.memory import Memory
from memolith.visibility import trust


def for_agent(memory: Memory, channel: str) -> Memory:
    """The memory for what an agent does; one that is trusted less already stays as it is."""
    return memory.via(channel) if trust(memory.channel) == "user" else memory
