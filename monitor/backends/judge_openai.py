"""A judge behind any OpenAI-compatible endpoint: vLLM, Ollama, LiteLLM, OpenAI itself."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any, Final

import aiohttp

from monitor.errors import BackendUnavailable
from monitor.judging.prices import REPLY_TOKENS
from monitor.ports import JudgePrompt, JudgeReply

REPLY_LIMIT_BYTES: Final = 65_536
THROTTLED, REFUSED = (429,), (400, 401, 403, 404, 413, 422)


class OpenAiJudge:
    """Asks `POST {url}/chat/completions`. Redirects are not followed, nor proxies of the
    environment trusted: the only address that is ever spoken to is the operator's own.
    """  # noqa: D205  one sentence about safety belongs to the summary

    def __init__(
        self,
        url: str,
        model: str,
        key: str | None = None,
        timeout_s: float = 30.0,
        extra: dict[str, Any] | None = None,
    ) -> None:
        """`url` ends before `/chat/completions`; `extra` is added to each request's body."""
        self.version = model
        self._url = f"{url.rstrip('/')}/chat/completions"
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._timeout = aiohttp.ClientTimeout(total=timeout_s)
        self._extra = dict(extra or {})
        self._session: aiohttp.ClientSession | None = None

    async def ask(self, prompt: JudgePrompt) -> JudgeReply:
        """The first choice's text (port `JudgeModel`)."""
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=self._timeout, headers=self._headers)
        body = {
            "model": self.version,
            "messages": [
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": prompt.user},
            ],
            "temperature": 0,
            "max_tokens": REPLY_TOKENS,
            **self._extra,
        }
        try:
            async with self._session.post(self._url, json=body, allow_redirects=False) as answer:
                raw = await answer.content.read(REPLY_LIMIT_BYTES + 1)
                while len(raw) <= REPLY_LIMIT_BYTES and not answer.content.at_eof():
                    raw += await answer.content.read(REPLY_LIMIT_BYTES + 1 - len(raw))
                _require_success(answer.status, answer.headers.get("Retry-After"))
        except TimeoutError:
            raise BackendUnavailable("the judge did not answer in time", "timeout") from None
        except (aiohttp.ClientError, OSError) as error:
            reached = not isinstance(error, aiohttp.ClientConnectorError)
            name = type(error).__name__
            raise BackendUnavailable(f"the judge: {name}", reached=reached) from None
        if len(raw) > REPLY_LIMIT_BYTES:
            raise BackendUnavailable("the judge's answer is longer than 64 KiB", "garbage")
        return _reply(raw)

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            await asyncio.sleep(0)


def _require_success(status: int, retry_after: str | None) -> None:
    if status == 200:
        return
    told = re.fullmatch(r"[0-9]{1,9}", retry_after or "")
    wait = float(told[0]) if told else None
    why = "throttled" if status in THROTTLED else "refused" if status in REFUSED else "down"
    raise BackendUnavailable(f"the judge answered with status {status}", why, wait)


def _reply(raw: bytes) -> JudgeReply:
    try:
        document = json.loads(raw)
        text = document["choices"][0]["message"]["content"]
        usage = document.get("usage") or {}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        text, usage = None, {}
    if not isinstance(text, str) or not isinstance(usage, dict):
        raise BackendUnavailable("the judge's answer is no chat completion", "garbage")
    return JudgeReply(
        text, _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    )


def _count(value: Any) -> int | None:
    good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9
    return value if good else None
