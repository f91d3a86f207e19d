"""The settings of what an agent is handed; `config.py` puts them beside the others."""

from __future__ import annotations

from memolith.settings import Section, at_least, between, one_of, setting


class ContextConfig(Section):
    """What an agent is handed at the start of a session and before an answer."""

    max_chars: int = setting(
        32000, "Longest text for the start of a session.", between(500, 1000000)
    )
    max_tokens: int = setting(
        0, "The same in tokens, as estimated; 0 leaves it to the characters.", at_least(0)
    )
    long_memory: bool = setting(True, "Whether LONGMEMORY.md is part of the start of a session.")
    external: str = setting(
        "hold",
        "Text from outside channels: `hold` keeps it out of contexts, `mark` lets it in, marked.",
        one_of("hold", "mark"),
        trusted_only=True,
    )
    citations: str = setting(
        "auto",
        "Whether quotations for an agent name file and lines: `on`, `off`, or `auto`, not in groups.",
        one_of("auto", "on", "off"),
    )
    turn_tokens: int = setting(
        2000, "Budget for the memories that are handed over before an answer.", at_least(50)
    )
    max_results: int = setting(
        20, "How many memories are looked at before an answer.", between(1, 100)
    )
    experiences: int = setting(
        3, "How many past experiences are handed over before an answer; 0 = none.", between(0, 20)
    )
    deadline_seconds: float = setting(
        1.5, "After this time an answer goes on with what was found so far.", between(0.01, 60)
    )
    cache_seconds: float = setting(
        30.0, "How long an answer is fresh; then it is renewed in the background.", between(0, 3600)
    )
    cache_entries: int = setting(
        256, "How many answers are kept in memory; 0 keeps none.", between(0, 100000)
    )
