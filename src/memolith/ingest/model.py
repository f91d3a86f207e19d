"""The model of a memory in one process: opened when needed, left alone for a while when it fails."""

from __future__ import annotations

from memolith import clock
from memolith.config.load import EMBED_KEY, api_key
from memolith.config.sections import EmbedConfig
from memolith.embed import choose
from memolith.errors import ConfigError, EmbeddingError
from memolith.interfaces import Embedder

_AGAIN_SECONDS = 15.0


class Model:
    """The configured embedder; while it cannot be used, search goes by words and says why."""

    def __init__(self, config: EmbedConfig, cache_path: str) -> None:
        """Nothing is opened before it is needed."""
        self._config = config
        self._cache_path = cache_path
        self._embedder: Embedder | None = None
        self._tried = float("-inf")
        self._is_default = False  # used instead of a model on this machine that is not here
        self.problem = ""

    @property
    def is_slow(self) -> bool:
        """Whether a text may take seconds: then no search waits for texts that changed."""
        is_other = self._config.kind != "default" or choose.is_local(self._config)
        return is_other and not self._is_default

    @property
    def warning(self) -> str:
        """What a search does without the configured model; "" if it can be used."""
        instead = (
            "The default model is used instead." if self._is_default else "Searched by words only."
        )
        return self.problem and f"{self.problem} {instead}"

    def open(self) -> Embedder | None:
        """The embedder; None while it cannot be used, with the reason in `problem`."""
        is_missing = self._embedder is None or self._is_default
        if is_missing and clock.monotonic() - self._tried > _AGAIN_SECONDS:
            self._tried = clock.monotonic()
            try:
                self._is_default = False
                self._embedder, self.problem = self.another(), ""
            except (EmbeddingError, ConfigError) as error:
                self.problem = _told(error)
                if choose.is_local(self._config):
                    self._embedder, self._is_default = choose.choose_embedder(), True
        return self._embedder

    def another(self) -> Embedder:
        """One more, for another thread; raises EmbeddingError or ConfigError."""
        config = None if self._is_default else self._config
        embedder = choose.choose_embedder(config, api_key(EMBED_KEY))
        if self.is_slow:
            from memolith.embed.endpoint import BATCH_SIZE
            from memolith.index.vector_cache import CachedEmbedder

            embedder = CachedEmbedder(embedder, self._cache_path, BATCH_SIZE)
        choose.check_dimensions(embedder)
        return embedder

    def ask(self) -> str:
        """What is wrong with the model right now, "" if it answers; nothing is opened or kept."""
        try:
            choose.try_embedder(self._config, api_key(EMBED_KEY))
        except (EmbeddingError, ConfigError) as error:
            return _told(error)
        return ""

    def close(self) -> None:
        """Close the embedder; the next `open` makes another."""
        if self._embedder is not None:
            self.close_cache(self._embedder)
            self._embedder, self._tried = None, float("-inf")

    def close_cache(self, embedder: Embedder | None = None) -> None:
        """Close the file of cached vectors; the embedder opens it again when it is used."""
        close = getattr(embedder or self._embedder, "close", None)
        if close is not None:
            close()


def _told(error: EmbeddingError | ConfigError) -> str:
    return f"{error.message} {error.hint}".rstrip()
