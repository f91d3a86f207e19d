"""The list of stages, as the settings have it."""

from __future__ import annotations

from memolith.config.sections import SearchConfig
from memolith.interfaces import WordVectors
from memolith.search.candidates import Stage
from memolith.search.days import prefer_days
from memolith.search.decay import decay
from memolith.search.diversify import diversify
from memolith.search.names import prefer_names
from memolith.search.passages import TokensOf, passages
from memolith.search.phrases import require_phrases
from memolith.search.supersede import demote_superseded
from memolith.search.weigh import weigh

Stages = list[tuple[str, Stage]]


def stages(config: SearchConfig, words: WordVectors | None, tokens_of: TokensOf) -> Stages:
    """Those that go by what the index knows."""
    by_votes = config.fusion == "votes"
    found: Stages = [("weigh", weigh)] if by_votes else []
    found.append(("days", prefer_days))
    if config.decay:
        found.append(("decay", decay(config.half_life_days, config.decay_strength)))
    if by_votes and words is not None:
        found.append(("passages", passages(words, tokens_of)))
    return found


def text_stages(config: SearchConfig) -> Stages:
    """Those that go by what was read from the files."""
    found: Stages = [
        ("phrases", require_phrases),
        ("names", prefer_names),
        ("supersede", demote_superseded),
    ]
    if config.diversify:
        found.append(("diversify", diversify(config.mmr_lambda, config.mmr_floor)))
    return found
