"""The model that searches by meaning: whether it answers."""

from __future__ import annotations

from urllib.parse import urlsplit

from memolith.errors import ConfigError, EmbeddingError
from memolith.jobs.checks.findings import Findings, is_loopback, shown
from memolith.jobs.checks.subject import Subject
from memolith.jobs.reports import Check


def check_model(subject: Subject) -> list[Check]:
    """Whether the model answers: the default one is loaded, a server on this machine asked for one word.

    Doctor connects to no other host.
    """
    from memolith.config.load import EMBED_KEY, api_key
    from memolith.embed.choose import try_embedder

    found = Findings("model", "Model")
    if not subject.config.search.meaning:
        return found.checks("search.meaning is off: search goes by words only", "off")
    name, config = "", subject.config.embed
    if config.kind != "default" and config.url and not is_loopback(urlsplit(config.url).hostname):
        found.add(
            "info",
            f"{shown(config.url)} is not asked: doctor connects to no host but this one.",
            "To try it: memolith status",
        )
        return found.checks(shown(config.model))
    try:
        name = try_embedder(config, api_key(EMBED_KEY))
    except (EmbeddingError, ConfigError) as error:
        found.add("warn", f"{shown(error.message)} Search goes by words only.", error.hint)
    return found.checks(shown(name))
