"""The model that searches by meaning: whether it can be used."""

from __future__ import annotations

from memolith.errors import EmbeddingError
from memolith.jobs.checks.findings import Findings, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memolith.jobs.checks.subject import Subject
    from memolith.reports import Check


def check_model(subject: Subject) -> list[Check]:
    """Whether the default model loads, or another one is set up; nothing is sent to its server."""
    from memolith.embed.choose import choose_embedder

    found = Findings("model", "Model")
    if not subject.config.search.meaning:
        return found.checks("search.meaning is off: search goes by words only", "off")
    name = ""
    try:
        name = choose_embedder(subject.config.embed).name
    except EmbeddingError as error:
        found.add("warn", f"{shown(error.message)} Search goes by words only.", error.hint)
    return found.checks(shown(name))
