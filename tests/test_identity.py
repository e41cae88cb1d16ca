"""Which id names a conversation: whose counts in a trace, and which count as none."""

from __future__ import annotations

from collections import Counter
from typing import Any, get_args

import pytest
from assembly_builders import Trace, conversations, exchange, fake_evaluate, said, user
from hypothesis import given
from hypothesis import strategies as st
from otlp_building import PROTOBUF, body, span

from adapters.otlp.decoder import OtlpDecoder
from adapters.vocabularies.identity import CONVERSATION_KEYS, Named, named
from monitor.assembly.segments import Refused, segments_of
from monitor.config import Settings
from monitor.exposition.catalogue import EVENTS_KNOWN
from monitor.model import AgentSpan, IdRemark
from monitor.pipeline import Pipeline, PipelineLimits
from monitor.pipeline.quarantine import Excess
from monitor.wiring.engines import pipeline_limits

HOUR_S = 3_600.0


def decoded(attributes: dict[str, Any], resource: dict[str, Any] | None = None) -> AgentSpan:
    payload = body(span(attributes), resource=resource)
    (found,) = OtlpDecoder().decode(payload, PROTOBUF).spans
    return found


def conversation_of(*spans: AgentSpan) -> dict[str, list[str]]:
    """The spans of each conversation, in one trace."""
    ordered = sorted(spans, key=lambda span: (span.start_ns, span.span_id))
    found = segments_of("t", ordered)
    return {part.conversation_id: [s.span_id for s in part.spans] for part in found}


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("resp_68af", "response"),
        ("chatcmpl-9", "response"),
        ("r-of-this-span", "response"),
        ("default_session", "constant"),
        (" Default ", "constant"),
        ("null", "constant"),
        ('"none"', "constant"),
        ("", "constant"),
        ("shop-agent", "service"),
        ("x" * 257, "length"),
    ],
)
def test_an_id_that_names_no_conversation_is_refused_with_its_reason(value: str, why: str):
    attributes = {"session.id": value, "gen_ai.response.id": "r-of-this-span"}
    found = named(attributes, CONVERSATION_KEYS, "shop-agent")
    assert found == Named(None, why)  # type: ignore[arg-type]


def test_the_next_key_may_name_what_the_first_does_not():
    attributes = {"session.id": "default", "gen_ai.conversation.id": "c-1"}
    assert named(attributes, CONVERSATION_KEYS) == Named("c-1")


def test_a_span_says_why_it_names_nothing():
    found = decoded({"session.id": "shop"}, {"service.name": "shop"})
    assert (found.conversation_id, found.id_remark) == (None, "service")


def test_an_id_of_the_resource_is_marked_and_gives_way():
    found = decoded({}, {"session.id": "process-1"})
    assert (found.conversation_id, found.id_remark) == ("process-1", "resource")
    own = decoded({"session.id": "c-1"}, {"session.id": "process-1"})
    assert (own.conversation_id, own.id_remark) == ("c-1", None)


def test_the_resources_id_names_a_trace_only_where_no_span_does():
    trace = Trace("t", "process").add("root", "other", id_remark="resource")
    trace.agent("one", "root", id_remark="resource")
    assert list(conversation_of(*trace.spans)) == ["process"]
    trace.model("m", None, None, "one", conversation_id="c1")
    assert conversation_of(*trace.spans) == {"c1": ["t-root", "t-one", "t-m"]}


@pytest.mark.parametrize("kind", ["agent", "other"])
def test_the_applications_id_outranks_what_a_library_inside_calls_its_session(kind: str):
    trace = Trace("t", "A").add("root", kind).agent("inner", "root", conversation_id="B")
    trace.model("m", None, None, "inner", conversation_id="B")
    assert conversation_of(*trace.spans) == {"A": ["t-root", "t-inner", "t-m"]}


def test_an_id_that_spans_inside_share_is_the_applications():
    trace = Trace("t", "A").add("root", "other").agent("one", "root")
    trace.agent("two", "root", conversation_id="B").agent("three", "root", conversation_id="C")
    assert conversation_of(*trace.spans) == {"A": ["t-root", "t-one", "t-two", "t-three"]}


def test_an_id_around_several_others_is_a_batchs():
    trace = Trace("t", "run").add("root", "other").agent("one", "root", conversation_id="B")
    trace.agent("two", "root", conversation_id="C").agent("three", "root", conversation_id=None)
    trace.model("m", None, None, "three", conversation_id="D")
    assert conversation_of(*trace.spans) == {
        "B": ["t-one"],
        "C": ["t-two"],
        "D": ["t-three", "t-m"],
    }


def test_an_id_on_one_child_names_the_agent_and_no_other_agent():
    trace = Trace("t", None).agent("one").agent("two")
    trace.model("m1", None, None, "one", conversation_id="c1")
    trace.model("m2", None, None, "two", conversation_id="c2")
    assert conversation_of(*trace.spans) == {"c1": ["t-one", "t-m1"], "c2": ["t-two", "t-m2"]}


def test_an_id_that_changes_with_every_call_of_an_agent_names_nothing():
    trace = Trace("t", None).agent()
    trace.model("m1", None, None, conversation_id="x1").model(
        "m2", None, None, conversation_id="x2"
    )
    (part,) = segments_of("t", trace.spans)
    assert (part.conversation_id, part.synthetic, part.refused) == ("t", True, ("per_call",))


def test_the_id_of_a_response_in_the_trace_names_nothing():
    trace = Trace("t", None).agent().model("m1", None, None, response_id="r1")
    trace.model("m2", None, None, response_id="r2", conversation_id="r1")
    (part,) = segments_of("t", trace.spans)
    assert (part.conversation_id, part.synthetic, part.refused) == ("t", True, ("response",))


def test_ids_that_count_as_none_are_counted_by_reason():
    pipeline = Pipeline(fake_evaluate, {})
    trace = Trace("t", None).agent(id_remark="constant")
    trace.model("m1", [user("Hi")], [said("x")], response_id="r1", id_remark="response")
    trace.model("m2", [user("Hi")], [said("x")], conversation_id="r1")
    counts = Counter(pipeline.observe([*trace.spans, trace.spans[0]], 0.0).counts)
    counts += Counter(pipeline.flush(1.0).counts)
    assert counts == {
        "accepted": 4,
        "attached": 3,
        "duplicate": 1,
        "refused_id:constant": 1,
        "refused_id:response": 2,
        "usage_missing": 2,
    }


@given(st.permutations(range(5)), st.data())
def test_whose_id_counts_is_the_same_in_any_order(order, data):
    ids = st.sampled_from([None, "A", "B", "C"])
    kinds = st.sampled_from(["other", "agent", "model", "tool"])
    spans = [
        AgentSpan(
            "t",
            f"s{n}",
            data.draw(kinds),
            parent_id=None if n == 0 else f"s{data.draw(st.integers(0, n - 1))}",
            start_ns=n,
            conversation_id=data.draw(ids),
        )
        for n in range(5)
    ]
    found = conversation_of(*[spans[n] for n in order])
    assert found == conversation_of(*spans)
    told = {span.conversation_id for span in spans}
    assert set(found) <= {*told, "t"}


def crowd(
    limits: PipelineLimits, traces: int, gap_s: float, *, restarts: bool = True
) -> tuple[Pipeline, list[str], dict[str, int]]:
    """Traces that all name one id; the conversations they came to, and what was counted."""
    names, counts = list[str](), dict[str, int]()
    store: dict[str, bytes] = {}
    pipeline, now = Pipeline(fake_evaluate, store, limits), 0.0
    for number in range(traces):
        spans = exchange(f"t{number}", "shared", start_s=now)
        for effects in (pipeline.observe(spans, now), pipeline.tick(now + 2.0)):
            names += [report.conversation_id for report in effects.reports if report.turns]
            for name, count in effects.counts.items():
                counts[name] = counts.get(name, 0) + count
        now += gap_s
        if restarts:
            pipeline.checkpoint()
            pipeline = Pipeline(fake_evaluate, store, limits)
    return pipeline, names, counts


def test_an_id_that_too_many_turns_name_in_an_hour_counts_as_none_from_then_on():
    _, names, counts = crowd(PipelineLimits(turns_per_hour=5), 5, gap_s=60.0)
    assert names == ["shared"] * 3 + ["t3", "t4"]
    assert counts["quarantine:turns_per_hour"] == 1
    assert counts["quarantine:traces"] == 2
    assert counts["attached"] == counts["accepted"] == 20


def test_restarts_change_nothing_about_a_quarantine():
    limits = PipelineLimits(turns_per_hour=5)
    through, restarted = (crowd(limits, 9, 300.0, restarts=often) for often in (False, True))
    assert through[1:] == restarted[1:]


def test_the_rate_is_taken_over_the_conversations_life():
    limits = PipelineLimits(turns_per_hour=5, idle_s=9_999.0)
    _, names, _ = crowd(limits, 8, gap_s=HOUR_S)
    assert names == ["shared"] * 8


def test_an_id_in_quarantine_is_released_when_none_has_named_it_for_long():
    limits = PipelineLimits(turns_per_hour=5, quarantine_s=2 * HOUR_S)
    pipeline, _, _ = crowd(limits, 5, gap_s=60.0)
    pipeline.observe(exchange("u1", "shared", start_s=HOUR_S), HOUR_S)
    held = pipeline.tick(HOUR_S + 2)
    pipeline.observe(exchange("u2", "shared", start_s=4 * HOUR_S), 4 * HOUR_S)
    released = pipeline.tick(4 * HOUR_S + 2)
    assert held.reports[-1].conversation_id == "u1"
    assert [r.conversation_id for r in released.reports if not r.closed] == ["shared"]
    assert released.counts["quarantine:released"] == 1


def test_what_came_before_the_quarantine_stays_with_the_id():
    pipeline, _, _ = crowd(PipelineLimits(turns_per_hour=5), 4, gap_s=60.0)
    late = Trace("t0", "shared", 5).tool("late", exchange("t0")[1].call, 1).spans  # type: ignore[arg-type]
    pipeline.observe(late, 300.0)
    assert [r.conversation_id for r in pipeline.tick(303.0).reports] == ["shared"]


def test_a_trace_that_fell_back_stays_where_it_is():
    limits = PipelineLimits(turns_per_hour=5, quarantine_s=60.0, idle_s=9_999.0)
    pipeline, _, _ = crowd(limits, 4, gap_s=20.0)
    late = Trace("t3", "shared", 70).model("late", [user("Hm?")], [said("Yes.")]).spans
    pipeline.observe(late, 500.0)
    assert [r.conversation_id for r in pipeline.tick(503.0).reports] == ["t3"]


def test_the_quarantine_is_bounded():
    limits = PipelineLimits(turns_per_hour=1, quarantined_ids=1)
    pipeline = Pipeline(fake_evaluate, {}, limits)
    pipeline.observe(exchange("a", "c1"), 0.0)
    pipeline.observe(exchange("b", "c2"), 1.0)
    counts = pipeline.tick(9.0).counts
    assert (counts["quarantine:turns_per_hour"], counts["quarantine:let_out"]) == (2, 1)


def test_an_id_that_the_operator_refuses_counts_as_none():
    pipeline = Pipeline(fake_evaluate, {}, PipelineLimits(refused_ids=("prod",)))
    pipeline.observe(exchange("a", "prod") + exchange("b", "c2"), 0.0)
    effects = pipeline.flush(9.0)
    assert sorted((r.conversation_id, r.synthetic_id) for r in effects.reports) == [
        ("a", True),
        ("c2", False),
    ]
    assert effects.counts["quarantine:traces"] == 1


def test_conversations_of_one_trace_stay_apart_when_the_id_of_one_is_refused():
    trace = Trace("t", None).agent("one", conversation_id="prod")
    trace.agent("two", conversation_id="c2")
    trace.model("m1", [user("A?")], [said("A.")], "one").model(
        "m2", [user("B?")], [said("B.")], "two"
    )
    assert sorted(conversations(trace.spans)) == ["c2", "prod"]
    pipeline = Pipeline(fake_evaluate, {}, PipelineLimits(refused_ids=("prod",)))
    pipeline.observe(trace.spans, 0.0)
    assert sorted(r.conversation_id for r in pipeline.flush(9.0).reports) == ["c2", "t:prod"]


def test_the_operator_sets_the_bounds_of_identity():
    settings = Settings.model_validate(
        {"limits": {"stitched_traces": 3, "quarantined_ids": 4, "remembered_conversations": 5}}
    )
    limits = pipeline_limits(settings)
    found = (limits.stitched_traces, limits.quarantined_ids, limits.remembered_conversations)
    assert found == (3, 4, 5)


def test_every_event_of_identity_shows_from_zero():
    named = {"stitched", "stitched_anew", "branched", "unstitched", "kept_apart"}
    named |= {f"quarantine:{why}" for why in get_args(Excess)}
    named |= {f"quarantine:{what}" for what in ("traces", "released", "let_out")}
    named |= {f"refused_id:{why}" for why in (*get_args(IdRemark), *get_args(Refused))}
    assert named - {"refused_id:resource"} <= set(EVENTS_KNOWN)
