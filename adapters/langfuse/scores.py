"""A report as scores: the same report gives the same scores, and nothing of a customer's words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Final, Literal, TypeAlias

import msgspec

from monitor.errors import ConfigurationError
from monitor.model import JsonValue
from monitor.verdict import Report, Verdict

DataType: TypeAlias = Literal["NUMERIC", "BOOLEAN", "CATEGORICAL"]
PREFIX: Final = "agent_monitor."
NONE: Final = "none"
"""The reason of a turn that passed after all."""
COMMENT_CHARACTERS: Final = 300
_ENVIRONMENT: Final = re.compile(r"(?!langfuse)[a-z0-9_-]{1,40}")
_FIELD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}(\.[A-Za-z0-9_]{1,40}){0,4}")
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9 .:@/+_-]")


class Score(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """The body of one `POST /api/public/scores`."""

    id: str
    """The same for the same conversation, turn, metric and evaluator: writing again updates."""
    name: str
    value: float | int | str
    data_type: DataType
    environment: str
    trace_id: str | None = None
    observation_id: str | None = None
    session_id: str | None = None
    timestamp: str | None = None
    """Of the trace, never of the writing."""
    comment: str | None = None
    metadata: dict[str, JsonValue] = {}


class ScoreWriter:
    """Turns reports into scores for one environment."""

    def __init__(self, environment: str = "default", *, uuid_ids: bool = False) -> None:
        """`uuid_ids`: the project's trace ids are UUIDs, as SDKs before version 3 made them.

        Raises ConfigurationError for an environment that Langfuse refuses.
        """
        if not _ENVIRONMENT.fullmatch(environment):
            raise ConfigurationError(
                "the environment of scores must be at most 40 lower-case letters, digits, `-` or "
                "`_`, and must not start with `langfuse`; the operator must mend it"
            )
        self._environment = environment
        self._uuid_ids = uuid_ids

    def scores(self, report: Report) -> Iterator[Score]:
        """The scores of a closed report; what is unscored has none."""
        if not report.closed:
            return
        for verdict in report.turns:
            if verdict.verdict != "unscored":
                yield from self._of_turn(report, verdict)
        yield from self._of_conversation(report)

    def _of_turn(self, report: Report, verdict: Verdict) -> Iterator[Score]:
        target = self._target(report, verdict)
        if target is None:
            return
        passed = verdict.verdict == "pass"
        yield self._score(report, verdict, target, "turn_correct", "BOOLEAN", int(passed))
        if verdict.failure_reason is not None:
            reason = verdict.failure_reason
            yield self._score(report, verdict, target, "failure_reason", "CATEGORICAL", reason)
        elif report.revision > 1:
            # An earlier revision may have told a reason, which must not stay.
            yield self._score(report, verdict, target, "failure_reason", "CATEGORICAL", NONE)
        for name, score in sorted(verdict.scores.items()):
            if math.isfinite(score):
                yield self._score(report, verdict, target, name, "NUMERIC", _unit(score))

    def _of_conversation(self, report: Report) -> Iterator[Score]:
        target = self._whole(report)
        if target is None:
            return
        if report.success_rate is not None and math.isfinite(report.success_rate):
            rate = _unit(report.success_rate)
            yield self._score(report, None, target, "success_rate", "NUMERIC", rate)
        if report.test_pass is not None:
            passed = int(report.test_pass)
            yield self._score(report, None, target, "test_pass", "BOOLEAN", passed)
        cause = report.root_cause or (NONE if report.revision > 1 else None)
        if cause is not None and report.success_rate is not None:
            yield self._score(report, None, target, "root_cause", "CATEGORICAL", cause)

    def _score(
        self,
        report: Report,
        verdict: Verdict | None,
        target: dict[str, str],
        metric: str,
        data_type: DataType,
        value: float | int | str,
    ) -> Score:
        return Score(
            id=score_id(report, verdict, metric),
            name=PREFIX + metric,
            value=value,
            data_type=data_type,
            environment=self._environment,
            timestamp=_timestamp(report),
            comment=_comment(report, verdict),
            metadata=_metadata(report, verdict),
            **target,
        )

    def _target(self, report: Report, verdict: Verdict) -> dict[str, str] | None:
        """The observation; for a turn that was never taken, the conversation."""
        if verdict.trace_id is None:
            return self._whole(report)
        target = {"trace_id": self._trace(verdict.trace_id)}
        if verdict.span_ids and not self._uuid_ids:
            target["observation_id"] = verdict.span_ids[0]
        return target

    def _whole(self, report: Report) -> dict[str, str] | None:
        """The session, or the trace where the conversation has no name of its own."""
        if not report.synthetic_id:
            return {"session_id": report.conversation_id}
        first = next((turn.trace_id for turn in report.turns if turn.trace_id), None)
        return None if first is None else {"trace_id": self._trace(first)}

    def _trace(self, trace_id: str) -> str:
        if not self._uuid_ids or len(trace_id) != 32:
            return trace_id
        return "-".join(
            (trace_id[:8], trace_id[8:12], trace_id[12:16], trace_id[16:20], trace_id[20:])
        )


def score_id(report: Report, verdict: Verdict | None, metric: str) -> str:
    """32 hexadecimal digits of conversation, turn, metric and evaluator."""
    turn = "" if verdict is None else verdict.turn_id
    parts = (report.conversation_id, turn, metric, report.evaluator)
    # The lengths keep ("a", "bc") apart from ("ab", "c"), whatever the parts contain.
    text = "".join(f"{len(part)}:{part}" for part in parts)
    return blake2b(
        text.encode("utf-8", "surrogatepass"), digest_size=16, person=b"score"
    ).hexdigest()


def _unit(value: float) -> float:
    return min(1.0, max(0.0, float(value)))


def _timestamp(report: Report) -> str | None:
    if report.started_s is None or not 0 < report.started_s < 32_503_680_000:
        return None
    moment = datetime.fromtimestamp(round(report.started_s * 1_000) / 1_000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1_000:03d}Z"


def _comment(report: Report, verdict: Verdict | None) -> str:
    """Of fixed words, and of names only where they can be nothing but names."""
    if verdict is None:
        parts = [
            f"{len(report.turns)} turns",
            f"{report.root_cause_count} root causes",
            f"{report.cascading_count} inherited",
            f"{report.unscored_count} unscored",
        ]
    else:
        parts = [f"turn {verdict.turn_no}", verdict.turn_type, verdict.verdict]
        if verdict.failure_reason is not None:
            parts.append(verdict.failure_reason)
        if verdict.detail is not None:
            parts.append(verdict.detail)
        if verdict.field is not None and _FIELD.fullmatch(verdict.field):
            parts.append(f"field {verdict.field}")
        if verdict.inherited_from is not None:
            parts.append(f"from turn {verdict.inherited_from}")
        if verdict.basis is not None:
            parts.append(f"basis {verdict.basis}")
    parts.append(f"evaluator {_safe(report.evaluator)}")
    return ", ".join(parts)[:COMMENT_CHARACTERS]


def _metadata(report: Report, verdict: Verdict | None) -> dict[str, JsonValue]:
    told: dict[str, JsonValue] = {
        "revision": report.revision,
        "evaluator": _safe(report.evaluator),
        "release": _safe(report.release),
    }
    if verdict is not None:
        told |= {
            "turn_no": verdict.turn_no,
            "turn_type": verdict.turn_type,
            "exchange": verdict.exchange,
            "chain": verdict.chain,
            "basis": verdict.basis,
        }
    return told


def _safe(text: str) -> str:
    return _UNSAFE.sub("_", text[:120])
