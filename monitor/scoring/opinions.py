"""A judge's opinion put beside a turn's own result: it decides where nothing firmer did."""

from __future__ import annotations

from monitor.scoring.judged import Judged
from monitor.verdict import SUB_METRIC_OF, Finding, Judgement, SubMetric


def with_opinion(judged: Judged, opinion: Judgement | None) -> Judged:
    """The turn's result with what a judge said of it.

    Gold and contract stand whatever a judge says. Evidence gives way, as it is the judge's own
    matter; and what nothing decided is decided by the judge. A turn that passes on what an
    earlier one got wrong inherits, if that earlier turn failed.
    """
    if opinion is None or opinion.verdict == "unscored" or judged.basis in ("gold", "contract"):
        return judged
    score = opinion.score
    if opinion.verdict == "pass":
        scores: dict[SubMetric, float] = {} if score is None else {"truthfulness": score}
        return Judged("judge", scores=scores, upstream=opinion.upstream)
    reason = opinion.reason or "inconsistent_response"
    finding = Finding(reason, "judge", field=opinion.field, score=score)
    return Judged("judge", (finding,), {SUB_METRIC_OF[reason]: 0.0 if score is None else score})
