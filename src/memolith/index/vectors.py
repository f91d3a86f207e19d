"""Vectors as signed bytes, and as one bit per dimension: the bits select, the bytes decide."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.int8]
Bits = NDArray[np.uint64]
Floats = NDArray[np.float32]

# Instead of a vector: the model was asked and gave none that can be used.
REFUSED: Floats = np.zeros(0, np.float32)


def quantise(vectors: Floats) -> Bytes:
    """Vectors of length 1 as bytes; zeros stay zeros."""
    top = np.abs(vectors).max(axis=1, keepdims=True)
    return np.rint(vectors / np.where(top == 0, 1, top) * 127).astype(np.int8)


def normalised(vectors: Floats) -> Floats:
    """Vectors of length 1; zeros stay zeros, and what is no number becomes zero."""
    vectors = np.nan_to_num(vectors, nan=0.0, posinf=0.0, neginf=0.0)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)


def scales(vectors: Bytes) -> Floats:
    """1 / length of each vector; 0 for one without meaning."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float32))
    found: Floats = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return found


def bits_of(vectors: NDArray[Any]) -> Bits:
    """The signs of vectors, 64 to a number; one row of numbers for every 64 dimensions."""
    signs = np.packbits(vectors > 0, axis=1)
    short = -signs.shape[1] % 8
    return np.pad(signs, ((0, 0), (0, short))).view(np.uint64).T
