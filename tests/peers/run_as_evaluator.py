"""Runs AEM inside the Strands evaluation SDK, beside one of its own evaluators; JSON on stdout."""

from __future__ import annotations

import json
import sys

# Behind the SDK's own environment, so that its versions go first.
sys.path += sys.argv[1:3]

from strands_evals import Case, Experiment
from strands_evals.evaluators import Equals

from monitor.strands import AgentEvaluationMetric


def turn(number: int, action: str, gold: dict, done: dict) -> dict:
    sides = {"gold_turn": gold, "predict_turn": done}
    return {
        "turn_no": number,
        "turn": "Tool",
        **{key: {"tool_id": "shop", "action": action, "args": args} for key, args in sides.items()},
    }


WRONG = [
    turn(1, "find", {"order_id": "SO-10012"}, {"order_id": "SO-10034"}),
    turn(2, "refund", {"order_id": "SO-10012"}, {"order_id": "SO-10034"}),
]
CALL = {"tool_id": "shop", "action": "find", "args": {"order_id": "SO-10012"}}
CASES = [
    Case(name="wrong", input="Refund SO-10012", expected_output="x", metadata={"dialog": WRONG}),
    Case(name="aligned", input="Find it", expected_output="x", expected_trajectory=[CALL]),
    Case(name="empty", input="Hello", expected_output="x", metadata={"dialog": []}),
    Case(name="bare", input="Hello", expected_output="x"),
]


def task(case: Case) -> dict:
    return {"output": "x", "trajectory": [CALL] if case.name == "aligned" else None}


def main() -> None:
    experiment = Experiment(cases=CASES, evaluators=[AgentEvaluationMetric(), Equals()])
    report = experiment.run_evaluations(task)
    rows = []
    for row, score, passed, outputs in zip(
        report.cases, report.scores, report.test_passes, report.detailed_results, strict=True
    ):
        if row["evaluator"] == "correctness":
            first = outputs[0]
            rows.append([row["name"], score, passed, first.label, first.reason])
    told = {"rows": rows, "evaluators": sorted({row["evaluator"] for row in report.cases})}
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main()
