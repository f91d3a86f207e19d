"""Stronger models as an option, by the library fastembed: an embedder, and a re-ranker of hits.

A model is loaded from the user's cache, or from a folder with an ONNX file and its tokenizer. Nothing is
fetched here: only `memolith model get` does that.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from memolith.errors import EmbeddingError
from memolith.interfaces import Vectors

SCHEME = "fastembed:"
CACHE = "~/.cache/memolith/models"
HOST = "huggingface.co"
# The prefix of a question and of a text, as the makers of a model trained it; and how far above
# the usual a cosine must be to count fully, which is 0.2 for the default model.
_SEARCHING = "Represent this sentence for searching relevant passages: "
_TRAINED: Mapping[str, tuple[str, str, float]] = {
    "arctic-embed": (_SEARCHING, "", 0.05),
    "bge-": (_SEARCHING, "", 0.1),
    "mxbai-embed": (_SEARCHING, "", 0.15),
    "e5-": ("query: ", "passage: ", 0.05),
    "nomic-embed": ("search_query: ", "search_document: ", 0.15),
}
_OTHERS = ("", "", 0.15)
# Where those who publish models put them.
_FILES = ("onnx/model.onnx", "model.onnx", "model_optimized.onnx", "onnx/model_quantized.onnx")
_BATCH = 16
_LONGEST_TEXT = 4_000  # characters; these models take less than that
_guard = threading.Lock()


class FastEmbedder:
    """An embedder in this process, with the names and the loading of fastembed."""

    is_remote = False

    def __init__(self, named: str) -> None:
        """`named` is the setting; raises EmbeddingError if the model is not here."""
        self.name = named
        place = os.path.expanduser(named.removeprefix(SCHEME))
        self._model = _loaded(place, reranks=False)
        before = next((found for part, found in _TRAINED.items() if part in place), _OTHERS)
        self._question, self._text, self.near = before
        if prompts := _read(place, "config_sentence_transformers.json").get("prompts"):
            self._question = prompts.get("query", "")
            self._text = prompts.get("document", prompts.get("passage", ""))

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has."""
        return int(self._model.embedding_size)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text, of length 1; zeros for a blank one."""
        return self._embed([self._text + text if text.strip() else "" for text in texts])

    def embed_question(self, question: str) -> Vectors:
        """A question as the model was trained to read one."""
        return self._embed([self._question + question if question.strip() else ""])

    def _embed(self, texts: Sequence[str]) -> Vectors:
        result = np.zeros((len(texts), self.dimensions), np.float32)
        said = [at for at, text in enumerate(texts) if text]
        if said:
            with _guard:
                read = self._model.embed([texts[at][:_LONGEST_TEXT] for at in said], _BATCH)
                result[said] = np.array(list(read), np.float32)
        lengths = np.linalg.norm(result, axis=1, keepdims=True)
        result /= np.where(lengths > 0, lengths, 1.0)
        return result


class CrossEncoder:
    """Reads a question and a text together, and says how well the text answers."""

    def __init__(self, named: str) -> None:
        """`named` is the setting; raises EmbeddingError if the model is not here."""
        self.name = named
        self._model = _loaded(os.path.expanduser(named.removeprefix(SCHEME)), reranks=True)

    def scores(self, question: str, texts: Sequence[str]) -> Vectors:
        """A number for each text; more is better."""
        with _guard:
            read = self._model.rerank(question, [text[:_LONGEST_TEXT] for text in texts], _BATCH)
            return np.array(list(read), np.float32)


@dataclass(frozen=True, slots=True)
class KnownModel:
    """What the library knows of a model, and the setting that it is for."""

    name: str
    setting: str
    gigabytes: float
    licence: str


def describe(name: str) -> KnownModel:
    """A model that can be fetched; raises EmbeddingError for others."""
    _check_installed()
    for kind, setting in zip(_kinds(), ("embed.model", "search.rerank"), strict=True):
        for known in kind.list_supported_models():
            if name.lower() == known["model"].lower():
                return KnownModel(known["model"], setting, known["size_in_GB"], known["license"])
    raise EmbeddingError(
        f"fastembed knows no model {name!a}.",
        hint="Such as snowflake/snowflake-arctic-embed-s, or Xenova/ms-marco-MiniLM-L-12-v2.",
    )


def get_model(model: KnownModel) -> None:
    """Fetch a model into the cache of the user; raises EmbeddingError."""
    kind = _kinds()[model.setting == "search.rerank"]
    _made(kind, model.name, cache_dir=os.path.expanduser(CACHE))


@cache
def _loaded(place: str, *, reranks: bool) -> Any:
    """A model of the library, from a folder or from the cache; one for all memories of this process."""
    _check_installed()
    kind = _kinds()[reranks]
    if not os.path.isabs(place):
        return _made(kind, place, cache_dir=os.path.expanduser(CACHE), local_files_only=True)
    from fastembed.common.model_description import ModelSource, PoolingType

    model_file = next(
        (one for one in _FILES if os.path.exists(os.path.join(place, one))), _FILES[0]
    )
    source = ModelSource(hf=place)
    is_mean = _read(place, "1_Pooling/config.json").get("pooling_mode_mean_tokens")
    pooling = PoolingType.MEAN if is_mean else PoolingType.CLS
    size = _read(place, "config.json").get("hidden_size", 0)
    with suppress(ValueError):  # known since it failed before
        if reranks:
            kind.add_custom_model(place, source, model_file)
        else:
            kind.add_custom_model(place, pooling, True, source, size, model_file)
    return _made(kind, place, specific_model_path=place)


def _made(kind: Any, name: str, **options: Any) -> Any:
    from loguru import logger
    from onnxruntime.capi import onnxruntime_pybind11_state as onnx

    damaged = (onnx.NoSuchFile, onnx.InvalidArgument, onnx.InvalidProtobuf, onnx.InvalidGraph)
    logger.disable("fastembed")  # it tells on stderr what the error says
    try:
        return kind(name, threads=1, **options)
    except (*damaged, onnx.Fail, OSError, ValueError, KeyError, RuntimeError) as error:
        get = "" if os.path.isabs(name) else f" To fetch it: memolith model get {name}"
        raise EmbeddingError(
            f"The model {name} cannot be loaded.", hint=f"{str(error).splitlines()[0][:200]}{get}"
        ) from error


def _check_installed() -> None:
    try:
        import fastembed  # noqa: F401 - whether it is there
    except ImportError as error:
        raise EmbeddingError(
            "The library fastembed is not installed.", hint='pip install "memolith[quality]"'
        ) from error


def _kinds() -> tuple[Any, Any]:
    from fastembed import TextEmbedding
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    return TextEmbedding, TextCrossEncoder


def _read(place: str, name: str) -> Mapping[str, Any]:
    """A JSON file of a folder; {} if there is none."""
    with suppress(OSError, ValueError), open(os.path.join(place, name), encoding="utf-8") as file:
        found = json.load(file)
        return found if isinstance(found, dict) else {}
    return {}
