"""AEM as an evaluator inside the Strands evaluation SDK, beside its own in one run.

Needs the extra `strands`. The dialog rides in the case's metadata under `dialog`, in the golden
layout with `gold_turn` and `predict_turn`; or the expected and the actual trajectory are lists of
turns, `{"response": text}` or `{"tool_id", "action", "args"}`, which are then aligned.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Final

import msgspec

from monitor import chosen
from monitor.config import Settings, load
from monitor.errors import ConfigurationError, InvalidInput
from monitor.model import Conversation, JsonValue
from monitor.references.dialogs import Dialog, parse_dialog
from monitor.verdict import Report, Verdict

try:
    from strands_evals.evaluators import Evaluator
    from strands_evals.types import EvaluationData, EvaluationOutput
except ImportError as error:
    raise ConfigurationError(
        "the Strands evaluation SDK is missing; the operator must install the extra `strands`"
    ) from error

LABEL: Final = "correctness"
NOT_APPLICABLE: Final = "not_applicable"
"""The SDK leaves rows of this label out of its means."""


class AgentEvaluationMetric(Evaluator):  # type: ignore[misc]  # the SDK tells no types
    """One output a case: the success rate, whether every turn passes, and the reasons why not."""

    def __init__(
        self, threshold: float = 0.5, name: str = LABEL, config: Path | str | None = None
    ) -> None:
        """`threshold`: from which similarity on two values mean the same.

        `config` is a TOML file of the monitor's settings, such as tool contracts. Raises
        ConfigurationError.
        """
        super().__init__(name=name)
        if not 0 <= threshold <= 1:
            raise ConfigurationError(f"a threshold lies in 0 to 1, and {threshold!r} does not")
        self.threshold = threshold
        self.aggregator = self._aggregate_dropping_na
        self._evaluator = chosen.evaluation(_settings(threshold, config)).evaluator

    def evaluate(self, evaluation_case: EvaluationData) -> list[EvaluationOutput]:
        """Never raises for a case: one that cannot be read is `not_applicable` and says why."""
        try:
            dialog = _dialog(evaluation_case)
        except InvalidInput as fault:
            return [_without_verdict(str(fault))]
        report = self._evaluator.evaluate(
            dialog.conversation,
            closed=True,
            revision=1,
            dialog_id=dialog.reference.reference_id,
            reference=dialog.reference,
        )
        rate = report.success_rate
        if rate is None or not math.isfinite(rate) or report.test_pass is None:
            return [_without_verdict("no turn has anything to be held against")]
        return [
            EvaluationOutput(
                score=rate,
                test_pass=report.test_pass,
                reason=_reason(report),
                label=LABEL,
                metadata=msgspec.to_builtins(report),
            )
        ]

    async def evaluate_async(self, evaluation_case: EvaluationData) -> list[EvaluationOutput]:
        """The same; it never waits for anything."""
        return self.evaluate(evaluation_case)


def _settings(threshold: float, config: Path | str | None) -> Settings:
    settings = load(Path(config) if config else None)
    comparison = settings.comparison.model_copy(update={"threshold": threshold})
    return settings.model_copy(update={"comparison": comparison})


def _dialog(case: EvaluationData) -> Dialog:
    where = f"case {case.name or 'without a name'}"
    document = (case.metadata or {}).get("dialog")
    if document is not None:
        return parse_dialog(document, where, default_id=case.name)
    expected, actual = case.expected_trajectory, case.actual_trajectory
    if not isinstance(expected, list) or not isinstance(actual, list):
        raise InvalidInput(f"{where}: no `dialog` in its metadata, and no trajectories of turns")
    told = _paired_dialog(actual, "predict_turn", case, where)
    gold = _paired_dialog(expected, "gold_turn", case, where)
    reference = msgspec.structs.replace(gold.reference, match="carried", pairs=None)
    return Dialog(_asked(told.conversation, case), reference)


def _paired_dialog(turns: list[JsonValue], key: str, case: EvaluationData, where: str) -> Dialog:
    """The turns of one side as a dialog whose other side is empty."""
    empty = {"gold_turn": None, "predict_turn": None}
    entries = [
        {"turn_no": number, "turn": _role(turn), **empty, key: turn}
        for number, turn in enumerate(turns, start=1)
    ]
    return parse_dialog(entries, f"{where}: {key}", default_id=case.name or "case")


def _role(turn: JsonValue) -> str:
    return "Agent" if isinstance(turn, dict) and "response" in turn else "Tool"


def _asked(conversation: Conversation, case: EvaluationData) -> Conversation:
    query = case.input if isinstance(case.input, str) else None
    return msgspec.structs.replace(conversation, queries=(query,))


def _reason(report: Report) -> str:
    failed = [turn for turn in report.turns if turn.verdict == "fail"]
    return "; ".join(map(_failure, failed)) or "every scored turn passes"


def _failure(verdict: Verdict) -> str:
    told = f"turn {verdict.turn_no}: {verdict.failure_reason}"
    told += f" ({verdict.field})" if verdict.field else ""
    if verdict.inherited_from is not None:
        told += f" from turn {verdict.inherited_from}"
    return told


def _without_verdict(why: str) -> EvaluationOutput:
    return EvaluationOutput(score=0.0, test_pass=False, reason=why, label=NOT_APPLICABLE)
