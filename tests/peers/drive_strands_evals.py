"""Judges turns with strands-agents-evals: `Equals`, its deterministic evaluator of outputs."""

from __future__ import annotations

import importlib.metadata

from strands_evals import Case, Experiment
from strands_evals.evaluators import Equals
from strands_evals.types.evaluation import EvaluationData
from turns import PairedTurn, Run, main


def prepare(turns: list[PairedTurn]) -> dict[str, Run]:
    """The experiment as users run it, and the evaluator called by hand."""
    cases = [
        Case(name=str(at), input=str(at), expected_output=turn.expected)
        for at, turn in enumerate(turns)
    ]
    evaluator = Equals()

    def normal() -> list[bool]:
        experiment = Experiment(cases=cases, evaluators=[Equals()])
        report = experiment.run_evaluations(lambda case: {"output": turns[int(case.input)].actual})
        return list(report.test_passes)

    def bare() -> list[bool]:
        return [
            evaluator.evaluate(
                EvaluationData(
                    input=turn.query, actual_output=turn.actual, expected_output=turn.expected
                )
            )[0].test_pass
            for turn in turns
        ]

    return {"normal": normal, "bare": bare}


if __name__ == "__main__":
    main(importlib.metadata.version("strands-agents-evals"), prepare)
