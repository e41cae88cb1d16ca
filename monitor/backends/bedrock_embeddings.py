"""Amazon Titan text embeddings on Bedrock, one text a call as its interface wants it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from monitor.backends.unit_rows import clean, foreign_rows, unit_rows
from monitor.errors import BackendUnavailable, ConfigurationError

MODEL: Final = "amazon.titan-embed-text-v2:0"
SIZES: Final = (256, 512, 1024)
"""The lengths of a vector that Titan V2 offers."""
TEXT_LIMIT: Final = 8_192
"""Characters of each text that are sent."""
CALLS_AT_ONCE: Final = 8
REPLY_LIMIT_BYTES: Final = 1_048_576
THROTTLED: Final = frozenset({"ThrottlingException", "ServiceQuotaExceededException"})
REFUSED: Final = frozenset(
    {
        "AccessDeniedException",
        "ExpiredTokenException",
        "ResourceNotFoundException",
        "UnrecognizedClientException",
        "ValidationException",
    }
)


class TitanEncoder:
    """Asks with boto3's usual credentials. A failed text fails its whole batch."""

    def __init__(
        self,
        model: str = MODEL,
        dimensions: int = 256,
        region: str | None = None,
        timeout_s: float = 2.0,
        client: Any = None,
    ) -> None:
        """Raises ConfigurationError where boto3 is missing, or the region or length unknown."""
        if dimensions not in SIZES:
            raise ConfigurationError(f"Titan offers vectors of {SIZES} values, not {dimensions}")
        self.version = f"bedrock-{model}-{dimensions}"
        self.dimensions = dimensions
        self._model = model
        self._client = client or _client(region, timeout_s)
        self._calls = ThreadPoolExecutor(CALLS_AT_ONCE, thread_name_prefix="titan")

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """One unit-length row per text, in order; equal texts are sent once."""
        sent = list(dict.fromkeys(clean(text, TEXT_LIMIT) for text in texts))
        if not sent:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        found = foreign_rows(list(self._calls.map(self._row, sent)), self.dimensions, "Bedrock")
        rows = dict(zip(sent, unit_rows(found), strict=True))
        return np.stack([rows[clean(text, TEXT_LIMIT)] for text in texts])

    def close(self) -> None:
        """End the threads and the connections."""
        self._calls.shutdown(cancel_futures=True)
        self._client.close()

    def _row(self, text: str) -> object:
        from botocore.exceptions import BotoCoreError, ClientError

        body = {"inputText": text, "dimensions": self.dimensions, "normalize": True}
        try:
            reply = self._client.invoke_model(
                modelId=self._model,
                body=json.dumps(body),
                contentType="application/json",
                accept="application/json",
            )
            raw = reply["body"].read(REPLY_LIMIT_BYTES)
        except ClientError as error:
            code = str(error.response.get("Error", {}).get("Code", ""))
            why = "throttled" if code in THROTTLED else "refused" if code in REFUSED else "down"
            raise BackendUnavailable(f"Bedrock embeddings: {code}", why) from None
        except (BotoCoreError, OSError) as error:
            raise BackendUnavailable(f"Bedrock embeddings: {type(error).__name__}") from None
        try:
            return json.loads(raw)["embedding"]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise BackendUnavailable("Bedrock sent a reply without a vector", "garbage") from None


def _client(region: str | None, timeout_s: float) -> Any:
    try:
        import boto3
        from botocore.config import Config
        from botocore.exceptions import NoRegionError
    except ImportError as error:
        raise ConfigurationError("Bedrock embeddings need the extra `aws`") from error
    settings = Config(
        connect_timeout=timeout_s,
        read_timeout=timeout_s,
        # Patience is the circuit's: a retry here would hold up every verdict.
        retries={"total_max_attempts": 1},
        max_pool_connections=CALLS_AT_ONCE,
    )
    try:
        return boto3.client("bedrock-runtime", region_name=region, config=settings)
    except NoRegionError as error:
        raise ConfigurationError("Bedrock embeddings need `embedding.region`") from error
