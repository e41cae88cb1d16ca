"""The default encoder: wordllama's static vectors, read from its own package, never the network."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from importlib import metadata, util
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from monitor.errors import BackendUnavailable

_DIMENSIONS: Final = 256
_TINY: Final = 1e-12
TEXT_LIMIT: Final = 8_192
"""Characters of each text that are encoded; static vectors average, so the head suffices."""


class WordLlamaEncoder:
    """256 dimensions of static word vectors; loads on first use, about one second and 80 MB."""

    dimensions = _DIMENSIONS

    def __init__(self) -> None:
        """Nothing is loaded yet; a missing package shows on first use."""
        self.version = f"wordllama-{_release()}-{_DIMENSIONS}"
        """Names the package's release, so that vectors of two releases never mix."""
        self._model: Any = None
        self._broken: str | None = None

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """One unit-length row per text, in order; a text without words gives zeros."""
        if not texts:
            return np.zeros((0, _DIMENSIONS), dtype=np.float32)
        model = self._loaded()
        # Lone surrogates cannot be tokenised.
        clean = [text[:TEXT_LIMIT].encode("utf-8", "replace").decode() or " " for text in texts]
        try:
            rows = np.stack([_mean(model, text) for text in clean])
        except Exception as error:  # a foreign library, any failure means no answer
            raise BackendUnavailable(f"wordllama failed to encode: {error}") from error
        finite: npt.NDArray[np.float32] = np.where(np.isfinite(rows), rows, np.float32(0))
        lengths = np.linalg.norm(finite, axis=1, keepdims=True)
        return np.asarray(finite / np.maximum(lengths, _TINY), dtype=np.float32)

    def _loaded(self) -> Any:
        if self._model is None:
            if self._broken is not None:
                raise BackendUnavailable(self._broken)
            try:
                self._model = _load()
            except Exception as error:  # a foreign library, any failure means none
                self._broken = f"wordllama cannot be loaded: {error}"
                raise BackendUnavailable(self._broken) from error
        return self._model


def _mean(model: Any, text: str) -> npt.NDArray[np.float32]:
    """The mean of the text's word vectors, as `embed` gives it, without a batch's padding."""
    tokens = model.tokenizer.encode(text, add_special_tokens=False).ids
    vectors = model.embedding.take(np.asarray(tokens, dtype=np.intp), axis=0, mode="clip")
    total: npt.NDArray[np.float32] = vectors.sum(axis=0, dtype=np.float32)
    return total / np.float32(max(len(tokens), 1))


def _release() -> str:
    try:
        return metadata.version("wordllama")
    except metadata.PackageNotFoundError:
        return "none"


def _load() -> Any:
    spec = util.find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("package wordllama is not installed")
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    from wordllama import WordLlama  # heavy, and not needed by every role

    # The import configures the root logger; a library has no business there.
    root.handlers[:] = handlers
    root.setLevel(level)
    # It looks for its tokenizer in a folder that the wheel names otherwise, unless the package's
    # own folder is given as the cache.
    return WordLlama.load(
        dim=_DIMENSIONS, cache_dir=Path(spec.origin).parent, disable_download=True
    )
