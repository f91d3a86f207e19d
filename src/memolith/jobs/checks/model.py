"""The model that searches by meaning: whether it answers."""

from __future__ import annotations

from memolith.errors import ConfigError, EmbeddingError
from memolith.jobs.checks.findings import Findings, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memolith.jobs.checks.subject import Subject
    from memolith.reports import Check


def check_model(subject: Subject) -> list[Check]:
    """Whether the model answers: the default one is loaded, a server is asked for one word."""
    from memolith.config_loading import key_from
    from memolith.embed.choose import try_embedder

    found = Findings("model", "Model")
    if not subject.config.search.meaning:
        return found.checks("search.meaning is off: search goes by words only", "off")
    name, config = "", subject.config.embed
    try:
        name = try_embedder(config, key_from(config.key, "embed.key"))
    except (EmbeddingError, ConfigError) as error:
        found.add("warn", f"{shown(error.message)} Search goes by words only.", error.hint)
    return found.checks(shown(name))
