"""Digests, without the ciphers that `hashlib` loads for them: those cost a new process milliseconds."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hashlib import blake2b, sha1
else:
    try:
        from _blake2 import blake2b
        from _sha1 import sha1
    except ImportError:  # a Python that is built another way
        from hashlib import blake2b, sha1

__all__ = ["blake2b", "sha1"]
