"""The tokens of chunks, one row after the other: how their texts begin, for who looks at passages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from memolith.index.nearest import stretches

if TYPE_CHECKING:
    from collections.abc import Sequence

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

    def of(self, rows: NDArray[np.integer[Any]]) -> tuple[Tokens, NDArray[np.int64]]:
        """The tokens of some rows, one after the other, and how many each has."""
        starts, stops = self.starts[rows].astype(np.int64), self.starts[rows + 1].astype(np.int64)
        return self.tokens[stretches(starts, stops)], stops - starts
