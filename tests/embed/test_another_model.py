"""The default model of another version of its package: it is told from ours, or refused."""

from __future__ import annotations

import json
import shutil
import struct
from pathlib import Path
from weakref import WeakValueDictionary

import numpy as np
import pytest

from memolith import Memory
from memolith.embed import choose, model_files
from memolith.embed.static_model import StaticModel
from memolith.errors import EmbeddingError
from tests.ingest.test_models import until_embedded

WEIGHTS = Path(model_files._WEIGHTS)
SETTINGS: dict[str, object] = {"dream.track": False}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the package's files, which is the one in use."""
    folder = tmp_path / "wordllama"
    for name in (model_files._WEIGHTS, model_files._TOKENIZER):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(Path(model_files._folder(), name), folder / name)
    monkeypatch.setattr(model_files, "_folder", lambda: str(folder))
    return folder


@pytest.fixture(autouse=True)
def no_shared_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process sees one installed model; these tests replace it."""
    monkeypatch.setattr(choose, "_shared", WeakValueDictionary())


def write_table(package: Path, table: np.ndarray) -> None:
    size = table.nbytes
    tensor = {"dtype": "F16", "shape": list(table.shape), "data_offsets": [0, size]}
    head = json.dumps({"embedding.weight": tensor}).encode()
    data = struct.pack("<Q", len(head)) + head + table.astype(np.float16).tobytes()
    (package / WEIGHTS).write_bytes(data)


INSTALLED = StaticModel().name


@pytest.mark.usefixtures("package")
def test_a_copy_of_the_model_is_the_same_model() -> None:
    assert StaticModel().name == INSTALLED


def test_other_weights_of_the_same_size_are_another_model(package: Path) -> None:
    write_table(package, model_files.open_table(256)[:])
    name = StaticModel().name
    write_table(package, model_files.open_table(256)[::-1])
    assert StaticModel().name != name


def test_another_tokenizer_is_another_model(package: Path) -> None:
    name = StaticModel().name
    with (package / model_files._TOKENIZER).open("ab") as file:
        file.write(b"\n")
    assert StaticModel().name != name


@pytest.mark.parametrize("shape", [(100, 128), (40_000, 256), (256,), (10, 256, 2)])
def test_a_table_that_does_not_fit_is_refused_and_says_what_to_install(
    package: Path, shape: tuple[int, ...]
) -> None:
    write_table(package, np.zeros(shape))
    with pytest.raises(EmbeddingError, match="another one") as caught:
        StaticModel()
    assert "pip install" in caught.value.hint


def test_words_answer_where_the_model_does_not_fit(package: Path, root: str) -> None:
    write_table(package, np.zeros((100, 128)))
    with Memory(root, settings=SETTINGS) as memory:
        memory.remember("A heron stands in the river")
        found = memory.search("heron")
    assert found.hits
    assert "100 by 128" in found.warnings[0]


def test_what_other_weights_embedded_is_embedded_anew(package: Path, root: str) -> None:
    with Memory(root, settings=SETTINGS) as memory:
        memory.remember("A heron stands in the river")
        memory.index.sync()
        before = memory.index.status().model
    write_table(package, model_files.open_table(256)[::-1])
    with Memory(root, settings=SETTINGS) as memory:
        until_embedded(memory, "heron")
        assert memory.search("heron").hits[0].ranks["meaning"] == 1
        status = memory.index.status()
    assert status.model == StaticModel().name != before
    assert status.without_vector == 0
