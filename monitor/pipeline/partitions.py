"""Which of several equal hosts a key belongs to."""

from __future__ import annotations

from hashlib import blake2b


def partition_of(key: bytes, partitions: int) -> int:
    """From 0, the same in every process and release; a change would part what is open."""
    digest = blake2b(key, digest_size=8).digest()
    return int.from_bytes(digest, "big") % partitions
