"""Digests without OpenSSL: importing `hashlib` costs a new process milliseconds."""

from __future__ import annotations

try:
    from _blake2 import blake2b
    from _sha1 import sha1  # type: ignore[import-not-found]
except ImportError:  # a Python built without its own digests
    from hashlib import blake2b, sha1

__all__ = ["blake2b", "sha1"]
