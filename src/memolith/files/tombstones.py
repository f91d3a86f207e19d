"""What the user wanted forgotten."""

from memolith.files.ledger import Tombstone, digest, tombstones

__all__ = ["Tombstone", "digest", "tombstones"]
