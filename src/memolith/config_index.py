"""The settings of the index and of the model; `config.py` puts them beside the others."""

from __future__ import annotations

from memolith.config_jobs import ENDPOINT, KEY
from memolith.settings import Section, between, one_of, setting


class EmbedConfig(Section):
    """The model that searches by meaning. The default one comes along and sends nothing anywhere."""

    kind: str = setting(
        "default",
        "Which model: `default` comes along; `openai` (any compatible server) and `ollama` are asked.",
        one_of("default", "openai", "ollama"),
        trusted_only=True,
    )
    url: str = setting(
        "",
        "Address of that server, such as https://api.openai.com/v1 or http://localhost:11434.",
        ENDPOINT,
        trusted_only=True,
    )
    model: str = setting(
        "", "The server's name for the model, such as nomic-embed-text.", trusted_only=True
    )
    key: str = setting("", "Where the key is, such as env:OPENAI_API_KEY.", KEY, trusted_only=True)
    batch_size: int = setting(
        64, "How many texts are sent at once.", between(1, 2048), trusted_only=True
    )
    timeout_seconds: float = setting(
        20.0, "How long one answer may take.", between(0.05, 600), trusted_only=True
    )
    retries: int = setting(
        2, "How often a server that is busy or away is asked again.", between(0, 10),
        trusted_only=True,
    )  # fmt: skip
