"""The judge that the settings name: its desk beside the writer, and its worker."""

from __future__ import annotations

import ipaddress
import os
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from monitor.backends.asking import PatientJudge
from monitor.backends.judge_bedrock import BedrockJudge
from monitor.backends.judge_openai import OpenAiJudge
from monitor.config import Settings
from monitor.config.judge import CeilingSettings, JudgeSettings
from monitor.errors import ConfigurationError
from monitor.exposition.judge_families import Judging
from monitor.judging.budget import Budget, Ceiling
from monitor.judging.prices import REPLY_TOKENS, Price, price_of
from monitor.judging.rubric import RUBRIC_VERSION
from monitor.judging.sampling import Rules, Sampler
from monitor.ledger.database import Database
from monitor.ledger.judge_book import JudgeBook
from monitor.ledger.labels import label_value
from monitor.ledger.sampled import Sampled
from monitor.model import Conversation
from monitor.ports import JudgeModel
from monitor.roles.engine import Engine
from monitor.roles.estimating import Estimating
from monitor.roles.judge_desk import JudgeDesk
from monitor.roles.judge_purse import Purse
from monitor.roles.judge_worker import JudgeWorker, Settle
from monitor.roles.label_reader import wall_clock
from monitor.verdict import Reference, Report

KEYS = ("AGENT_MONITOR_JUDGE_KEY", "OPENAI_API_KEY")
FIXED = frozenset({"model", "messages", "stream", "n"})
"""Of a request's body; one that an operator changed would make replies unreadable or misnamed."""
LOOPBACK = ("localhost", "127.0.0.1", "::1")


def judge_worker(
    given: JudgeSettings,
    book: JudgeBook,
    settle: Settle,
    is_answered: Callable[[int], bool],
) -> JudgeWorker:
    """What asks, in the background. Raises ConfigurationError."""
    model = judge_model(given)
    return JudgeWorker(
        book,
        PatientJudge(
            model,
            time.monotonic,
            concurrency=given.concurrency,
            timeout_s=given.timeout_s + 5.0,
            pause_s=given.pause_s,
        ),
        Purse(
            book,
            Budget(_ceiling(given.per_hour), _ceiling(given.per_day), book.spent()),
            price_of(model.version, own_prices(given)),
            wall_clock,
            reply_tokens(given.body),
        ),
        settle,
        is_answered,
        clock=wall_clock,
        nonce=lambda: secrets.token_hex(16),
        canary_every=given.canary_every,
        give_up_s=given.give_up_s,
        control=given.control,
    )


@dataclass(slots=True)
class JudgeParts:
    """What judging adds to an engine."""

    desk: JudgeDesk
    estimating: Estimating
    book: JudgeBook
    judge: str
    """Who is asked, as a label."""
    worker: JudgeWorker | None = None
    """Set once it is built, for the metrics."""

    def hire(self, settings: Settings, engine: Engine) -> JudgeWorker:
        """Build what asks, in the background. Raises ConfigurationError."""
        self.worker = judge_worker(
            settings.judge,
            self.book,
            lambda seq, case, outcome: engine.orders.ask(
                lambda: engine.settle(seq, case, outcome, wall_clock())
            ),
            self.desk.is_answered,
        )
        return self.worker

    def judging(self) -> Judging:
        """The judge as the metrics show it."""
        worker = self.worker
        corrected = {
            name: (found.judge, (found.estimate, found.lower, found.upper))
            for name, found in self.estimating.shown.items()
        }
        if worker is None:
            return Judging(corrected=corrected, waiting=self.desk.waiting, judge=self.judge)
        return Judging(
            dict(worker.counters),
            corrected,
            worker.left_usd(),
            self.desk.waiting,
            worker.circuit_open,
            self.judge,
        )


def judge_parts(
    settings: Settings,
    database: Database,
    evaluate: Callable[..., Report],
    reference: Callable[[Conversation], Reference | None],
) -> JudgeParts | None:
    """The desk and its book; None where no judge is configured."""
    given = settings.judge
    if given.backend == "none":
        return None
    keep_s = settings.conversation.late_s + settings.ledger.retain_s
    book = JudgeBook(database, given.queue, given.answers, keep_s)
    judge = f"{given.model}/{RUBRIC_VERSION}"
    estimating = Estimating(database, Sampled(database, judge), judge)
    desk = JudgeDesk(evaluate, sampler_of(given), book, estimating, reference)
    return JudgeParts(desk, estimating, book, label_value(judge))


def own_prices(given: JudgeSettings) -> dict[str, Price]:
    """The operator's prices."""
    return {name: Price(each.input_usd, each.output_usd) for name, each in given.prices.items()}


def reply_tokens(body: Mapping[str, Any]) -> int:
    """The longest reply that calls with these further fields ask for, together."""
    own = [body.get(name) for name in ("max_tokens", "max_completion_tokens")]
    limits = [value for value in own if isinstance(value, int) and value > 0]
    copies = body.get("n")
    times = copies if isinstance(copies, int) and copies > 0 else 1
    return times * max(limits, default=REPLY_TOKENS)


def sampler_of(given: JudgeSettings) -> Sampler:
    """Which conversations are drawn."""
    rules = Rules(
        frozenset(given.always_tools),
        frozenset(given.never_tools),
        frozenset(given.always_releases),
        frozenset(given.never_releases),
        given.always_services,
        given.never_services,
    )
    return Sampler(given.rate, given.rates, rules, given.seed, given.usual_doubt)


def judge_model(given: JudgeSettings) -> JudgeModel:
    """The client that the settings name. Raises ConfigurationError where something is missing."""
    if not given.model:
        raise ConfigurationError("`judge.model` is missing: name the model that is to judge")
    if given.backend == "bedrock":
        return BedrockJudge(
            given.model,
            given.region,
            given.timeout_s,
            cache=given.prompt_cache,
            # As many again as may be asked at once: for those that do not end in time.
            threads=2 * given.concurrency,
        )
    if not given.url:
        raise ConfigurationError("`judge.url` is missing: the endpoint, up to and including /v1")
    require_safe(given.url, insecure=given.insecure)
    if fixed := sorted(FIXED & given.body.keys()):
        raise ConfigurationError(f"`judge.body` must not set {', '.join(fixed)}: the judge does")
    key = next((os.environ[name] for name in KEYS if os.environ.get(name)), None)
    if key is not None and (not key.isascii() or not key.isprintable()):
        raise ConfigurationError(f"the judge's key in {' or '.join(KEYS)} cannot be sent")
    return OpenAiJudge(given.url, given.model, key, given.timeout_s, given.body)


def require_safe(url: str, *, insecure: bool) -> None:
    """Raise ConfigurationError for an address that customers' text should not be sent to."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        raise ConfigurationError("`judge.url` is no address") from None
    if parts.scheme not in ("http", "https") or not host or parts.username or parts.query:
        raise ConfigurationError("`judge.url` must be http(s)://host/path, without credentials")
    try:
        local = ipaddress.ip_address(host)
        local = getattr(local, "ipv4_mapped", None) or local
    except ValueError:
        local = None
    if local is not None and (local.is_link_local or local.is_unspecified or local.is_multicast):
        raise ConfigurationError("`judge.url` names an address that is never a model's")
    if parts.scheme == "http" and host not in LOOPBACK and not insecure:
        raise ConfigurationError(
            "`judge.url` would send conversations unencrypted; use https, or set judge.insecure"
        )


def _ceiling(given: CeilingSettings) -> Ceiling:
    return Ceiling(given.calls, given.tokens, given.usd)
