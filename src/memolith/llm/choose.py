"""Which summariser writes: the rules, unless an endpoint is configured."""

from __future__ import annotations

from memolith.config.sections import LlmConfig
from memolith.interfaces import Summariser
from memolith.llm.rule_based import RuleBased


def choose_summariser(config: LlmConfig, key: str) -> Summariser:
    """The model of the endpoint, or the rules."""
    if not config.url:
        return RuleBased()
    from memolith.llm.openai_compatible import OpenAiCompatible  # HTTP is slow to import

    return OpenAiCompatible(config, key)
