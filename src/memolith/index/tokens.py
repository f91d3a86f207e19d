"""The tokens of chunks, one row after the other: how their texts begin, for who looks at passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memolith.interfaces import Tokens


@dataclass(frozen=True, slots=True, eq=False)
class TokenLists:
    """The tokens of each row of a segment."""

    starts: NDArray[np.uint64]  # one more than rows
    tokens: Tokens

    @classmethod
    def build(cls, packed: Sequence[bytes]) -> TokenLists:
        """Put the tokens of all rows side by side."""
        sizes = np.fromiter(map(len, packed), "<u8", len(packed)) // 2
        return cls(
            np.concatenate([[0], np.cumsum(sizes)]).astype("<u8"),
            np.frombuffer(b"".join(packed), "<u2"),
        )

    def spans(self, rows: NDArray[np.integer[Any]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the tokens of some rows begin and end."""
        return self.starts.take(rows).astype(np.int64), self.starts.take(rows + 1).astype(np.int64)
