"""A judge on Amazon Bedrock, through its Converse interface: Nova, Claude and others."""

from __future__ import annotations

from typing import Any, Final

from monitor.backends.own_threads import OwnThreads
from monitor.errors import BackendUnavailable, ConfigurationError
from monitor.judging.prices import REPLY_TOKENS
from monitor.ports import JudgePrompt, JudgeReply

REPLY_LIMIT: Final = 65_536
THREADS: Final = 16
THROTTLED: Final = ("ThrottlingException", "ServiceQuotaExceededException", "TooManyRequests")
REFUSED: Final = (
    "AccessDeniedException",
    "ResourceNotFoundException",
    "ValidationException",
    "UnrecognizedClientException",
    "ExpiredTokenException",
)

NEVER_SENT: Final = (
    "ConnectTimeoutError",
    "EndpointConnectionError",
    "NoCredentialsError",
    "PartialCredentialsError",
    "ProxyConnectionError",
    "SSLError",
)
"""Failures before the question was on its way, which cost nothing."""


class BedrockJudge:
    """Asks with boto3's usual credentials; one client, and a thread of its own for each call."""

    def __init__(
        self,
        model: str,
        region: str | None = None,
        timeout_s: float = 30.0,
        *,
        cache: bool = False,
        threads: int = THREADS,
        client: Any = None,
    ) -> None:
        """`cache` marks the rubric and the shared evidence for models that cache prompts.

        A call has `timeout_s` in all: botocore's own limit begins anew with every byte.

        Raises ConfigurationError where boto3 is not installed or no region is known.
        """
        self.version = model
        self._cache = cache
        self._client = client or _client(region, timeout_s, threads)
        self._threads = OwnThreads("bedrock", threads, timeout_s)

    async def ask(self, prompt: JudgePrompt) -> JudgeReply:
        """The text of the reply's blocks (port `JudgeModel`)."""
        return await self._threads.run(lambda: self._converse(prompt))

    async def close(self) -> None:
        """Close the connections that are idle; this waits for nobody."""
        self._client.close()

    def _converse(self, prompt: JudgePrompt) -> JudgeReply:
        from botocore.exceptions import BotoCoreError, ClientError

        mark: list[dict[str, Any]] = [{"cachePoint": {"type": "default"}}] if self._cache else []
        try:
            answer = self._client.converse(
                modelId=self.version,
                system=[{"text": prompt.system}, *mark],
                messages=[
                    {
                        "role": "user",
                        "content": [{"text": prompt.shared}, *mark, {"text": prompt.own}],
                    }
                ],
                inferenceConfig={"temperature": 0.0, "maxTokens": REPLY_TOKENS},
            )
        except ClientError as error:
            raise _failure(error.response.get("Error", {}).get("Code", "")) from None
        except BotoCoreError as error:
            name = type(error).__name__
            why = "timeout" if "Timeout" in name else "down"
            reached = name not in NEVER_SENT
            raise BackendUnavailable(f"the judge: {name}", why, reached=reached) from None
        return _reply(answer)


def _client(region: str | None, timeout_s: float, connections: int) -> Any:
    try:
        import boto3
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError
    except ImportError:
        raise ConfigurationError("a judge on Bedrock needs the extra `aws`") from None
    config = Config(
        connect_timeout=min(timeout_s, 10.0),
        read_timeout=timeout_s,
        max_pool_connections=connections,
        retries={"total_max_attempts": 1},  # tries are counted and paid for by the judge role
    )
    try:
        return boto3.client("bedrock-runtime", region_name=region, config=config)
    except BotoCoreError as error:
        raise ConfigurationError(f"[judge] cannot reach Bedrock: {error}") from None


def _failure(code: str) -> BackendUnavailable:
    why = "throttled" if code in THROTTLED else "refused" if code in REFUSED else "down"
    # Any other code is the endpoint's own text, which may repeat what it was sent.
    said = code if code in THROTTLED or code in REFUSED else "with an error"
    return BackendUnavailable(f"Bedrock answered {said}", why)


def _reply(answer: Any) -> JudgeReply:
    try:
        blocks = answer["output"]["message"]["content"]
        text = "".join(block["text"] for block in blocks if "text" in block)
        usage = answer.get("usage") or {}
        return JudgeReply(text[:REPLY_LIMIT], _read(usage), _count(usage.get("outputTokens")))
    except (LookupError, TypeError, AttributeError):
        raise BackendUnavailable("Bedrock's answer is no Converse output", "garbage") from None


def _read(usage: Any) -> int | None:
    """All that the model read; Converse tells what came through its cache apart."""
    told = _count(usage.get("inputTokens"))
    apart = [_count(usage.get(f"cache{kind}InputTokens")) or 0 for kind in ("Read", "Write")]
    return None if told is None else told + sum(apart)


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and 0 <= value < 10**9 else None
