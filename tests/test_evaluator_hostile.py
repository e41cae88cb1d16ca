"""Whatever a trace, a contract or a reference holds: a report, in time, and no exception."""

from __future__ import annotations

import time
from typing import Any

import msgspec
import pytest
from evaluating import call, evaluated, listed, paired, reply, say, talk, want
from hypothesis import given
from hypothesis import strategies as st

from monitor.model import ToolDefinition

KEYS = st.sampled_from(["a", "b", "type", "properties", "required", "$ref", "enum", "format"])
ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats()
    | st.sampled_from(["", "a", "object", "string", "#", "#/a", "5", "null", "{", "\ud800", "\x00"])
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=10,
)
OBJECTS = st.dictionaries(KEYS, ANYTHING, max_size=4)


@given(OBJECTS, ANYTHING, OBJECTS, ANYTHING, OBJECTS, st.booleans(), st.text(max_size=30))
def test_any_values_and_any_schema_give_a_report(
    gold: dict[str, Any],
    actual: Any,
    schema: dict[str, Any],
    result: Any,
    due: dict[str, Any],
    in_pairs: bool,
    text: str,
):
    tools = [ToolDefinition("x.y", "x", "y", schema), ToolDefinition("z", None, None, schema)]
    expected = (want("x.y", gold, due), want("x.y", due, result), say(text))
    conversation = talk(
        call("x.y", actual, result),
        call("z", actual),
        call("x.y", gold, due, error=True),
        reply(text),
        queries=[text],
        system=text,
    )

    for reference in (None, paired(*expected), listed(*expected, ordered=in_pairs)):
        report = evaluated(conversation, reference, tools=tools)

        assert [v.turn_no for v in report.turns] == list(range(1, len(report.turns) + 1))
        assert all(0.0 <= score <= 1.0 for v in report.turns for score in v.scores.values())


@pytest.mark.parametrize(
    "piece", ["#", "-", " ", "\n", "'", "!", "?", ":", "1", ",", "a b ", "1,", "- "]
)
def test_a_long_monotonous_reply_is_judged_in_no_time(piece: str):
    text = piece * (65_536 // len(piece))
    started = time.perf_counter()

    evaluated(talk(reply(f"{text} one.")), paired(say(f"{text} two.")))

    assert time.perf_counter() - started < 5.0


def test_five_hundred_turns_that_all_went_wrong_are_judged_in_no_time():
    def turns(word: str) -> list[Any]:
        return [
            call(
                f"svc.act{i % 7}",
                {"metric": word, "n": i},
                {"rows": [{"k": k, "v": f"{word} {i} {k}"} for k in range(10)]},
                exchange=i // 5,
                turn_id=str(i),
            )
            for i in range(500)
        ]

    expected = [want(t.call.name, t.call.arguments, t.result) for t in turns("revenue")]
    started = time.perf_counter()

    for reference in (listed(*expected), listed(*expected, ordered=False), paired(*expected)):
        report = evaluated(talk(*turns("profit")), reference)
        assert (report.root_cause_count, report.cascading_count) == (1, 499)

    assert time.perf_counter() - started < 15.0


def test_many_results_and_many_changed_statements_are_judged_in_no_time():
    def side(word: str) -> tuple[list[Any], str]:
        results = [{"rows": [f"{word} {i} {k}" for k in range(500)]} for i in range(10)]
        return results, "; ".join(f"note {'a' * (i + 1)}: '{word} {i} odd'" for i in range(60))

    (due, gold), (given, text) = side("old"), side("new")
    started = time.perf_counter()

    conversation = talk(
        *(call("x.y", {"k": i}, result) for i, result in enumerate(given)),
        *(reply(text) for _ in range(20)),
    )
    expected = [want("x.y", {"k": i}, result) for i, result in enumerate(due)]
    evaluated(conversation, paired(*expected, *(say(gold) for _ in range(20))))

    assert time.perf_counter() - started < 15.0


def test_a_deep_value_is_judged():
    deep: Any = 1
    for _ in range(60):
        deep = {"k": [deep]}

    report = evaluated(talk(call("x.y", {"v": deep})), paired(want("x.y", {"v": deep})))

    assert report.success_rate == 1.0
    assert msgspec.json.encode(report)
