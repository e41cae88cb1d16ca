"""Judges turns with deepeval: exact match of replies, tool correctness with arguments of calls."""

from __future__ import annotations

import contextlib
import importlib.metadata
import io
import os
import tempfile

os.environ |= {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
    "DEEPEVAL_NO_INSPECT_PROMPT": "1",
    "DEEPEVAL_DISABLE_DOTENV": "1",
}
os.chdir(tempfile.mkdtemp(prefix="deepeval-"))

from deepeval import evaluate  # noqa: E402  it reads the environment when it is imported
from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig  # noqa: E402
from deepeval.metrics import ExactMatchMetric, ToolCorrectnessMetric  # noqa: E402
from deepeval.models import DeepEvalBaseLLM  # noqa: E402
from deepeval.test_case import LLMTestCase, ToolCall, ToolCallParams  # noqa: E402
from turns import PairedTurn, Run, main  # noqa: E402


class NoModel(DeepEvalBaseLLM):
    """Stands where a model is asked for; the metrics used here never call it."""

    def load_model(self):
        """Nothing to load."""
        return self

    def generate(self, *_, **__):
        """A call would make the comparison meaningless."""
        raise AssertionError("a deterministic metric asked a model")

    a_generate = generate

    def get_model_name(self):
        """For the metric's own records."""
        return "none"


def tool_correctness() -> ToolCorrectnessMetric:
    return ToolCorrectnessMetric(
        threshold=1,
        model=NoModel(),
        async_mode=False,
        should_exact_match=True,
        evaluation_params=[ToolCallParams.INPUT_PARAMETERS],
    )


def calls(told: dict | None) -> list[ToolCall]:
    if told is None or "tool" not in told:
        return []
    return [ToolCall(name=told["tool"], input_parameters=told["args"])]


def case_of(turn: PairedTurn) -> LLMTestCase:
    if "response" in (turn.expected or turn.actual or {}):
        return LLMTestCase(
            input=turn.query,
            actual_output=(turn.actual or {}).get("response", ""),
            expected_output=(turn.expected or {}).get("response", ""),
        )
    return LLMTestCase(
        input=turn.query,
        actual_output="",
        tools_called=calls(turn.actual),
        expected_tools=calls(turn.expected),
    )


def prepare(turns: list[PairedTurn]) -> dict[str, Run]:
    """The library's `evaluate` as users call it, and the metrics called by hand."""
    cases = [case_of(turn) for turn in turns]
    replies = [at for at, case in enumerate(cases) if case.expected_output is not None]
    actions = [at for at, case in enumerate(cases) if case.expected_output is None]

    def normal() -> list[bool]:
        passed = [False] * len(cases)
        for places, metric in ((replies, ExactMatchMetric()), (actions, tool_correctness())):
            if not places:
                continue
            with contextlib.redirect_stdout(io.StringIO()):
                result = evaluate(
                    test_cases=[cases[at] for at in places],
                    metrics=[metric],
                    async_config=AsyncConfig(run_async=False),
                    display_config=DisplayConfig(show_indicator=False, print_results=False),
                    cache_config=CacheConfig(write_cache=False),
                )
            for at, found in zip(places, result.test_results, strict=True):
                passed[at] = bool(found.success)
        return passed

    def bare() -> list[bool]:
        exact, tools = ExactMatchMetric(), tool_correctness()
        passed = []
        for case in cases:
            metric = tools if case.expected_output is None else exact
            metric.measure(case, _show_indicator=False)
            passed.append(bool(metric.success))
        return passed

    return {"normal": normal, "bare": bare}


if __name__ == "__main__":
    main(importlib.metadata.version("deepeval"), prepare)
