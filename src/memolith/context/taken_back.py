"""What must not be told again: it became a secret since, or something newer holds."""

from __future__ import annotations

from collections.abc import Collection

from memolith.context.sharing import Piece
from memolith.text.summary_line import short_id


class TakenBack:
    """Which pieces go by the records that are secret or superseded."""

    def __init__(self, secret: Collection[str], replaced: Collection[str]) -> None:
        """Summaries know records by short ids only."""
        self._secret = secret
        self._replaced = replaced
        self._secret_names = set(map(short_id, secret))
        self._replaced_names = set(map(short_id, replaced))

    def has(self, piece: Piece) -> bool:
        """Whether all or a part of it must not be told."""
        if piece.record_id in self._secret:
            return True
        if not piece.retells:
            return False
        return piece.record_id in self._replaced or self.has_any(piece.names)

    def has_any(self, names: Collection[str]) -> bool:
        """Whether what these records say, by short ids, must not be told or holds no more."""
        return bool(names) and (
            not self._secret_names.isdisjoint(names) or self._replaced_names.issuperset(names)
        )
