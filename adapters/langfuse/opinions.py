"""Annotations of Langfuse as opinions on verdicts: by the score's name, from 0 to 1."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import Final

from adapters.langfuse.client import LangfuseClient
from adapters.langfuse.labels import HumanLabel as Annotation
from adapters.langfuse.labels import human_labels
from monitor.ports import Redaction
from monitor.verdict import HumanLabel, LabelledMetric

GOOD: Final = frozenset({"pass", "passed", "correct", "good", "yes", "true", "ok", "right"})
BAD: Final = frozenset({"fail", "failed", "incorrect", "bad", "no", "false", "wrong"})


async def human_opinions(
    client: LangfuseClient,
    sub_metrics: Mapping[str, LabelledMetric],
    *,
    redaction: Redaction | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    counters: dict[str, int] | None = None,
) -> AsyncIterator[HumanLabel]:
    """What people said in scores that `sub_metrics` names, each as the sub-metric under the name.

    Pass the service's own `redaction`, so that conversations are found by their ids. `counters`
    is filled with `opinions`, `other_score`, `no_opinion` (a value that is neither from 0 to 1,
    yes or no, nor a word for good or bad), `no_subject`, and what `human_labels` counts. Raises
    as `human_labels` does.
    """
    told = counters if counters is not None else {}
    async for label in human_labels(
        client, since=since, until=until, redaction=redaction, counters=told
    ):
        sub_metric, value = sub_metrics.get(label.name), value_of(label)
        if sub_metric is None:
            outcome = "other_score"
        elif label.conversation_id is None and label.trace_id is None:
            outcome = "no_subject"
        else:
            outcome = "no_opinion" if value is None else "opinions"
        told[outcome] = told.get(outcome, 0) + 1
        if outcome == "opinions" and sub_metric is not None and value is not None:
            yield HumanLabel(
                label.label_id,
                sub_metric,
                value,
                label.conversation_id,
                None,
                None,
                label.trace_id,
                label.span_id,
                label.author,
            )


def value_of(label: Annotation) -> float | None:
    """The opinion from 0 to 1, 1 is good; None where the value tells none."""
    value = label.value
    if isinstance(value, str):
        word = value.strip().lower()
        return 1.0 if word in GOOD else 0.0 if word in BAD else None
    if value is None or not 0 <= value <= 1:
        return None
    return float(value)
