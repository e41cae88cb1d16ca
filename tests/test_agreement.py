"""What people say beside what the monitor says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from building_reports import inherited, passed, report, root, unscored
from hypothesis import given
from hypothesis import strategies as st

from monitor import cli
from monitor.agreement.coefficients import agreements, cohen, pearson, ranks, spearman
from monitor.agreement.human import parse_human_label
from monitor.agreement.pairs import Pair, judged, pair
from monitor.codec import report_line
from monitor.errors import InvalidInput
from monitor.verdict import Finding, HumanLabel

WRONG_VALUE = Finding("inconsistent_parameter_values", "gold", field="metric", score=0.25)


def label(**told: Any) -> HumanLabel:
    line = {"conversation_id": "c", "label": 1, **told}
    return parse_human_label(json.dumps(line).encode(), "labels, line 1")


def opinion(made: Any, **told: Any) -> tuple[bool, float] | None:
    found = pair(label(**told), judged(made))
    return None if found is None else (found.automated, found.score)


def shop() -> Any:
    return report(
        "c",
        passed("a", turn_no=1, scores={"structural": 1.0, "truthfulness": 0.9}, trace_id="t1"),
        root(
            "b",
            "inconsistent_parameter_values",
            turn_no=2,
            scores={"structural": 1.0, "truthfulness": 0.25},
            findings=(WRONG_VALUE,),
            trace_id="t1",
            span_ids=("s2",),
        ),
        inherited("d", turn_no=3, trace_id="t2"),
        unscored("e", turn_no=4),
    )


def test_a_label_of_a_turn_meets_that_turns_score():
    assert opinion(shop(), turn_no=2, sub_metric="truthfulness") == (False, 0.25)
    assert opinion(shop(), turn_id="b", sub_metric="truthfulness") == (False, 0.25)
    assert opinion(shop(), span_id="s2", sub_metric="structural") == (True, 1.0)
    assert opinion(shop(), turn_no=1) == (True, 1.0)


def test_an_inherited_failure_fails_attribution_only_there():
    assert opinion(shop(), turn_no=3, sub_metric="attribution") == (False, 0.0)
    assert opinion(shop(), turn_no=2, sub_metric="attribution") == (True, 1.0)


def test_what_was_not_looked_at_has_no_opinion():
    assert opinion(shop(), turn_no=4) is None
    assert opinion(shop(), turn_no=1, sub_metric="completeness") is None
    assert opinion(shop(), turn_no=9) is None


def test_a_label_of_a_trace_or_conversation_is_of_all_its_turns():
    assert opinion(shop(), conversation_id=None, trace_id="t1") == (False, 0.5)
    assert opinion(shop(), sub_metric="structural") == (True, 1.0)
    assert opinion(shop()) == (False, pytest.approx(1 / 3))


def test_equal_values_share_the_mean_of_their_ranks():
    assert ranks(np.array([0.2, 0.9, 0.2, 0.5])).tolist() == [1.5, 4.0, 1.5, 3.0]


def test_coefficients_are_the_textbooks():
    """Sums of squares 10 and 10, of products 8; the ranks are the values."""
    x, y = np.array([1.0, 2, 3, 4, 5]), np.array([2.0, 1, 4, 3, 5])

    assert pearson(x, y) == pytest.approx(0.8)
    assert spearman(x**3, y) == pytest.approx(0.8)
    assert np.isnan(pearson(x, np.ones(5)))
    assert np.isnan(cohen(np.ones(5), np.ones(5)))


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=30))
def test_the_correlation_is_the_one_of_numpy(points: list[tuple[float, float]]):
    x, y = np.array(points).T

    found = pearson(x, y)

    # What hardly varies has no correlation that means anything.
    if x.std() < 1e-3 or y.std() < 1e-3:
        return
    assert found == pytest.approx(float(np.corrcoef(x, y)[0, 1]), abs=1e-9)
    assert -1 - 1e-9 <= spearman(x, y) <= 1 + 1e-9
    assert spearman(x, x) == pytest.approx(1.0)


def pairs(both: int, auto: int, human: int, neither: int) -> list[Pair]:
    kinds = [(True, True)] * both + [(True, False)] * auto
    kinds += [(False, True)] * human + [(False, False)] * neither
    return [
        Pair(f"l{n}", "overall", a, float(a), h, float(h), f"c{n}", "ann")
        for n, (a, h) in enumerate(kinds)
    ]


def test_pass_and_fail_give_phi_and_kappa():
    """20, 5, 10, 15: kappa .4 as above; phi = (300 - 50) / sqrt(25 * 25 * 30 * 20)."""
    (found,) = agreements(pairs(20, 5, 10, 15))

    assert (found.pairs, found.conversations, found.annotators) == (50, 50, 1)
    assert found.kappa.value == pytest.approx(0.4)
    assert found.pearson.value == pytest.approx(250 / 375_000**0.5)
    assert found.spearman.value == pytest.approx(250 / 375_000**0.5)
    assert found.kappa.interval is not None
    assert 0.05 < found.kappa.interval.low < 0.25
    assert 0.5 < found.kappa.interval.high < 0.7


def test_agreement_without_variation_is_not_known():
    for one_side in (pairs(8, 0, 0, 0), pairs(8, 3, 0, 0)):
        (found,) = agreements(one_side)

        assert found.kappa == found.pearson == found.spearman == (None, None)


@pytest.mark.parametrize(
    ("told", "fault"),
    [
        ({"label": 2}, "label is neither 0 nor 1"),
        ({"label": 10**400}, "label"),
        ({"label": None, "score": 1.01}, "score is not 0 to 1"),
        ({"label": None}, "needs `label`"),
        ({"score": 0.5}, "one of them"),
        ({"sub_metric": "charm"}, "sub_metric"),
        ({"conversation_id": None}, "neither a conversation_id nor a trace_id"),
        ({"turn_number": 3}, "turn_number"),
    ],
)
def test_a_line_that_is_no_label_says_why(told: dict[str, Any], fault: str):
    with pytest.raises(InvalidInput, match=fault) as refused:
        label(**told)
    assert str(refused.value).startswith("labels, line 1")


def test_a_changed_mind_is_the_same_label():
    first, then = label(turn_no=2, annotator="a"), label(turn_no=2, annotator="a", label=0)
    other = label(turn_no=2, annotator="b")

    assert first.label_id == then.label_id != other.label_id


def test_the_command_compares_files_and_costs_a_bad_line_itself_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    reports, labels = tmp_path / "reports.jsonl", tmp_path / "labels.jsonl"
    reports.write_bytes(report_line(shop()) + b"\n")
    told = [
        {"conversation_id": "c", "turn_no": 1, "label": 1, "annotator": "ann"},
        {"conversation_id": "c", "turn_no": 2, "label": 1, "annotator": "ann"},
        {"conversation_id": "c", "turn_no": 2, "label": 0, "annotator": "ann"},
        {"conversation_id": "c", "turn_no": 4, "label": 0},
        {"conversation_id": "elsewhere", "turn_no": 1, "label": 0},
    ]
    labels.write_text("\n".join(map(json.dumps, told)) + "\n{}\n")

    code = cli.main(["agreement", str(reports), str(labels)])

    out, err = capsys.readouterr()
    assert code == 1
    assert out.splitlines()[2] == "| overall | 2 | 1 | 1 | 1 | 0 | 0 | 1 | 1.000 | 1.000 | 1.000 |"
    assert "labels.jsonl, line 6" in err
    assert "1 labels are of nothing that is in the reports" in err
    assert "1 labels are of what the monitor left unscored" in err
