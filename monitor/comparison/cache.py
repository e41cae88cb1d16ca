"""Vectors remembered: an encoder behind a bounded cache, each text encoded once per batch."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from monitor.ports import Encoder

CACHE_LIMIT: Final = 65_536
"""Vectors kept by default; at 256 dimensions about 20 MB."""
_SCALE: Final = 127.0


class VectorStore(Protocol):
    """Vectors that outlive the process, as int8 bytes by key. Losing them costs time only."""

    def load(self, keys: Sequence[bytes]) -> Mapping[bytes, bytes]:
        """Those of the keys that are known."""
        ...

    def save(self, vectors: Mapping[bytes, bytes]) -> None:
        """Keep the vectors, bounded by the store's own limit."""
        ...


class CachedEncoder:
    """An encoder that answers from memory where it can.

    Keys hold the encoder's version, the tenant and a hash of the text. Vectors are kept as int8,
    so a cosine is off by at most about 0.005.
    """

    def __init__(
        self,
        encoder: Encoder,
        limit: int = CACHE_LIMIT,
        tenant: str = "",
        store: VectorStore | None = None,
    ) -> None:
        """`limit` is the number of vectors kept; the least recently used leaves first."""
        self.version = encoder.version
        self.limit = limit
        self.hits = 0
        self.misses = 0
        self.evictions = 0
        self._encoder = encoder
        self._store = store
        self._prefix = f"{encoder.version}\0{tenant}\0".encode()
        self._vectors: OrderedDict[bytes, bytes] = OrderedDict()

    @property
    def dimensions(self) -> int:
        """Of the encoder behind; asking may load it."""
        return self._encoder.dimensions

    def __len__(self) -> int:
        return len(self._vectors)

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """One unit-length row per text, in order. Raises BackendUnavailable only."""
        keys = [self._key(text) for text in texts]
        found: dict[bytes, bytes] = {}
        missing: dict[bytes, str] = {}
        for key, text in zip(keys, texts, strict=True):
            known = self._vectors.get(key)
            if known is not None:
                self._vectors.move_to_end(key)
                found[key] = known
            else:
                missing[key] = text
        self.hits += len(keys) - len(missing)
        if missing:
            found.update(self._fetched(missing))
        if not keys:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        packed = b"".join([found[key] for key in keys])
        return _unit(np.frombuffer(packed, dtype=np.int8).reshape(len(keys), -1))

    def unknown(self, texts: Sequence[str]) -> list[str]:
        """Those of the texts that the encoder would be asked for."""
        missing = {}
        for text in texts:
            key = self._key(text)
            if key not in self._vectors:
                missing[key] = text
        if missing and self._store is not None:
            self._keep(self._store.load(list(missing)))
            return [text for key, text in missing.items() if key not in self._vectors]
        return list(missing.values())

    def _fetched(self, missing: dict[bytes, str]) -> dict[bytes, bytes]:
        found = dict(self._store.load(list(missing))) if self._store is not None else {}
        asked = {key: text for key, text in missing.items() if key not in found}
        self.hits += len(found)
        self.misses += len(asked)
        if asked:
            vectors = np.rint(self._encoder.encode(list(asked.values())) * _SCALE).astype(np.int8)
            fresh = {key: row.tobytes() for key, row in zip(asked, vectors, strict=True)}
            if self._store is not None:
                self._store.save(fresh)
            found.update(fresh)
        self._keep(found)
        return found

    def _keep(self, found: Mapping[bytes, bytes]) -> None:
        self._vectors.update(found)
        while len(self._vectors) > self.limit:
            self._vectors.popitem(last=False)
            self.evictions += 1

    def _key(self, text: str) -> bytes:
        digest = blake2b(self._prefix, digest_size=16)
        digest.update(text.encode("utf-8", "surrogatepass"))
        return digest.digest()


def _unit(vectors: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
    rows = vectors.astype(np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    rows /= np.maximum(lengths, np.float32(1e-12))[:, None]
    return rows
