"""The settings of the index and of the model; `config.py` puts them beside the others."""

from __future__ import annotations

from memolith.config_jobs import ENDPOINT, KEY
from memolith.settings import Limit, Section, between, one_of, setting

EXTRA_PATHS = Limit(
    "folders by their full paths or from ~, with : or line ends between them",
    lambda value: all(
        part.strip()[:1] in ("", "/", "~") and "\0" not in part
        for part in str(value).replace("\n", ":").split(":")
    ),
)


class IndexConfig(Section):
    """What is searched besides the profile."""

    extra_paths: str = setting(
        "",
        "Folders whose Markdown is searched too and never written, with `:` between, as `~/notes`.",
        EXTRA_PATHS,
        trusted_only=True,
    )
    watch: bool = setting(
        True,
        "Whether a server that was searched once indexes files as they change, without a search.",
    )


class EmbedConfig(Section):
    """The model that searches by meaning. The default one comes along and sends nothing anywhere."""

    kind: str = setting(
        "default",
        "Which model: `default` comes along; `openai` (any compatible server) and `ollama` are asked. "
        "The same for all that use a memory: who uses another embeds everything anew.",
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
