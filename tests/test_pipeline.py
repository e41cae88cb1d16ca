"""When turns and conversations close, what is reported, and what survives a restart."""

from __future__ import annotations

import msgspec
import pytest
from assembly_builders import Trace, exchange, fake_evaluate, said, user

from monitor.codec import seal
from monitor.errors import StateError
from monitor.model import AgentSpan, Conversation
from monitor.pipeline import Pipeline, PipelineLimits
from monitor.verdict import Effects, Report


def pipeline(store: dict[str, bytes] | None = None, **limits: float) -> Pipeline:
    return Pipeline(
        fake_evaluate,
        {} if store is None else store,
        PipelineLimits(**limits),  # type: ignore[arg-type]
    )


def told(effects: Effects) -> list[tuple[str, int, bool, int]]:
    return [(r.conversation_id, r.revision, r.closed, len(r.turns)) for r in effects.reports]


def test_a_turn_is_reported_when_its_root_has_settled():
    monitor = pipeline()
    assert told(monitor.observe(exchange("a"), 100.0)) == []
    assert (monitor.open_spans, monitor.next_deadline()) == (4, 102.0)
    effects = monitor.tick(102.0)
    assert told(effects) == [("c1", 1, False, 2)]
    assert effects.counts == {"attached": 4, "usage_missing": 2}
    assert (monitor.open_spans, monitor.open_conversations) == (0, 1)


def test_children_that_trail_their_root_cost_no_revision():
    monitor, spans = pipeline(), exchange("a")
    monitor.observe([spans[3]], 100.0)
    monitor.observe(spans[:3], 101.0)
    assert told(monitor.tick(102.0)) == []
    assert told(monitor.tick(103.0)) == [("c1", 1, False, 2)]


def test_a_turn_without_a_root_is_reported_after_quiet():
    monitor = pipeline()
    monitor.observe(exchange("a")[:3], 100.0)
    assert told(monitor.tick(129.9)) == []
    assert told(monitor.tick(130.0)) == [("c1", 1, False, 2)]


def test_a_conversation_closes_after_ten_quiet_minutes():
    monitor = pipeline()
    monitor.observe(exchange("a"), 100.0)
    monitor.tick(102.0)
    assert told(monitor.tick(699.9)) == []
    assert told(monitor.tick(700.0)) == [("c1", 2, True, 2)]
    assert monitor.open_conversations == 0


def test_a_conversation_that_never_falls_quiet_closes_at_its_age():
    monitor = pipeline(max_age_s=1000.0)
    closed = []
    for number in range(12):
        effects = monitor.observe(exchange(f"t{number}", start_s=number), number * 100.0)
        closed += [number for report in effects.reports if report.closed]
    assert closed[0] == 10


def test_a_second_turn_is_a_revision_of_the_same_conversation():
    monitor = pipeline()
    monitor.observe(exchange("a"), 100.0)
    monitor.observe(exchange("b", start_s=60, query="And 8?"), 200.0)
    assert told(monitor.tick(202.0)) == [("c1", 2, False, 4)]


def test_late_spans_make_a_revision_of_a_closed_conversation():
    monitor, spans = pipeline(), exchange("a")
    monitor.observe(spans[:1] + spans[2:], 100.0)
    assert told(monitor.tick(800.0)) == [("c1", 1, True, 2)]
    monitor.observe([spans[1]], 900.0)
    (report,) = monitor.tick(902.0).reports
    assert (report.revision, report.closed) == (2, True)
    assert report.turns[0].span_ids == ("a-t1",)


def test_a_turn_that_comes_while_late_spans_are_taken_is_scored():
    monitor = pipeline()
    monitor.observe(exchange("a"), 100.0)
    monitor.tick(700.0)
    monitor.observe(exchange("b", start_s=900, query="And 8?"), 1000.0)
    assert told(monitor.tick(1002.0)) == [("c1", 2, True, 4)]


def test_spans_after_that_are_only_counted():
    monitor = pipeline()
    spans = exchange("a")
    monitor.observe(spans[:3], 100.0)
    monitor.tick(700.0)
    monitor.tick(1300.0)
    known = monitor.observe(spans[3:], 1400.0)
    new = monitor.observe(exchange("b", start_s=-60), 1400.0)
    later = monitor.tick(1500.0)
    assert known.counts == {"accepted": 1, "late": 1}
    assert (new.counts, later.counts) == ({"accepted": 4}, {"late": 4})
    assert told(later) == []


def test_a_user_who_comes_back_later_opens_the_conversation_anew():
    store: dict[str, bytes] = {}
    monitor = pipeline(store)
    monitor.observe(exchange("a"), 100.0)
    for now in (102.0, 700.0, 1300.0):
        monitor.tick(now)
    back = monitor.observe(exchange("b", start_s=5000, query="And 8?"), 5100.0)
    back = back.plus(monitor.tick(5102.0))
    late = monitor.observe(exchange("a")[:1], 5103.0)
    assert told(back) == [("c1", 1, False, 2)]
    assert back.counts == {"accepted": 4, "attached": 4, "revived": 1, "usage_missing": 2}
    assert late.counts == {"accepted": 1, "late": 1}
    assert told(monitor.tick(5703.0)) == [("c1", 2, True, 2)]
    for now in (6400.0, 100_000.0):
        monitor.tick(now)
        monitor.checkpoint()
    assert store == {}


def test_a_conversation_is_forgotten_in_the_end():
    store: dict[str, bytes] = {}
    monitor = pipeline(store)
    monitor.observe(exchange("a"), 0.0)
    for now in (2.0, 602.0, 1300.0, 90_000.0):
        monitor.tick(now)
        monitor.checkpoint()
    assert (store, monitor.next_deadline()) == ({}, None)


def test_a_report_that_says_nothing_new_is_not_given_again():
    monitor, spans = pipeline(), exchange("a")
    monitor.observe(spans, 100.0)
    monitor.tick(102.0)
    noise = Trace("a").add("http", "other", "m1").spans
    effects = monitor.observe(noise, 103.0).plus(monitor.tick(200.0))
    assert (told(effects), effects.counts) == ([], {"accepted": 1, "attached": 1})


def test_many_turns_in_one_call_are_evaluated_once():
    calls = []

    def evaluate(conversation: Conversation, *, closed: bool, revision: int) -> Report:
        calls.append(len(conversation.turns))
        return fake_evaluate(conversation, closed=closed, revision=revision)

    monitor = Pipeline(evaluate, {})
    for number in range(5):
        monitor.observe(exchange(f"t{number}", start_s=60 * number), 0.0)
    monitor.tick(10.0)
    assert calls == [10]


def test_flush_closes_everything():
    monitor = pipeline()
    monitor.observe(exchange("a") + exchange("b", "c2"), 100.0)
    assert told(monitor.flush(100.0)) == [("c1", 1, True, 2), ("c2", 1, True, 2)]
    assert (monitor.open_spans, monitor.open_conversations) == (0, 0)


def test_an_id_that_comes_late_takes_the_turns_out_of_the_stand_in():
    monitor = pipeline()
    spans = exchange("a", None)
    monitor.observe(spans, 0.0)
    assert told(monitor.tick(5.0)) == [("a", 1, False, 2)]
    tag = Trace("a", "c9").add("tag", "other", "agent").spans
    monitor.observe(tag, 6.0)
    assert told(monitor.tick(10.0)) == [("a", 2, False, 0), ("c9", 1, False, 2)]


def test_spans_in_which_no_agent_acts_are_dropped_and_keep_no_memory():
    store: dict[str, bytes] = {}
    monitor = pipeline(store)
    monitor.observe(Trace("a", None).add("http", "other").add("db", "other", "http").spans, 0.0)
    effects = monitor.tick(30.0)
    monitor.checkpoint()
    assert (effects.counts, store) == ({"dropped:no_agent": 2}, {})


def test_the_same_span_with_other_content_counts_as_a_conflict_and_the_fuller_one_stays():
    span = Trace("a").model("m", [user("Hi")], [said("Hello, how are you?")], None).spans[0]
    cut = msgspec.structs.replace(span, messages_out=(said("Hello"),))
    reports = []
    for order in ((span, cut), (cut, span)):
        monitor = pipeline()
        effects = monitor.observe((*order, span), 0.0)
        assert effects.counts == {"accepted": 3, "duplicate": 2, "conflict": 1}
        reports.append(monitor.flush(0.0).reports)
    assert reports[0] == reports[1]
    assert "how are you" in reports[0][0].evaluator


def test_clocks_that_run_backwards_are_counted():
    span = Trace("a").model("m", [user("Hi")], [said("Hello")], None, end_ns=5).spans
    assert pipeline().observe(span, 0.0).plus(Effects()).counts == {"accepted": 1}
    monitor = pipeline()
    monitor.observe(span, 0.0)
    assert monitor.flush(0.0).counts == {"attached": 1, "skew": 1, "usage_missing": 1}


def test_an_evaluation_that_fails_costs_its_conversation_only():
    def evaluate(conversation: Conversation, *, closed: bool, revision: int) -> Report:
        if conversation.conversation_id == "c1":
            raise ZeroDivisionError("no turns")
        return fake_evaluate(conversation, closed=closed, revision=revision)

    monitor = Pipeline(evaluate, {})
    monitor.observe(exchange("a") + exchange("b", "c2"), 0.0)
    effects = monitor.tick(2.0)
    assert told(effects) == [("c2", 1, False, 2)]
    assert effects.counts == {"attached": 8, "evaluation_failed": 1, "usage_missing": 4}
    assert monitor.open_turns == 2
    assert monitor.failure == "conversation 'c1': ZeroDivisionError('no turns')"


def test_a_restart_goes_on_from_the_last_checkpoint():
    store: dict[str, bytes] = {}
    before, spans = pipeline(store), exchange("a")
    before.observe(spans[:2], 100.0)
    before.checkpoint()
    after = pipeline(store)
    assert (after.open_spans, after.next_deadline()) == (2, 130.0)
    after.observe(spans[2:], 101.0)
    assert told(after.tick(103.0)) == [("c1", 1, False, 2)]
    after.checkpoint()
    again = pipeline(store)
    assert (again.open_spans, again.open_conversations) == (0, 1)
    assert again.next_deadline() == 701.0
    assert told(again.tick(701.0)) == [("c1", 2, True, 2)]


def test_what_was_not_checkpointed_never_was():
    store: dict[str, bytes] = {}
    before = pipeline(store)
    before.observe(exchange("a"), 100.0)
    before.tick(110.0)
    assert store == {}
    after = pipeline(store)
    after.observe(exchange("a"), 120.0)
    assert told(after.flush(120.0)) == [("c1", 1, True, 2)]


def test_a_snapshot_holds_the_whole_state():
    before, after = pipeline(), pipeline()
    before.observe(exchange("a"), 100.0)
    before.tick(102.0)
    before.observe(exchange("b", start_s=60)[:2], 110.0)
    after.observe(exchange("z", "other"), 100.0)
    after.restore(before.snapshot())
    assert (after.open_spans, after.open_conversations) == (2, 1)
    assert told(after.flush(120.0)) == told(before.flush(120.0)) == [("c1", 2, True, 3)]


def test_a_store_of_another_version_is_refused_at_the_start():
    store: dict[str, bytes] = {}
    monitor = pipeline(store)
    monitor.observe(exchange("a"), 100.0)
    monitor.tick(102.0)
    monitor.checkpoint()
    store["c:c1"] = seal(b"C", [], version=9)
    with pytest.raises(StateError, match="version 9"):
        pipeline(store)


def test_a_damaged_record_costs_itself_only():
    store: dict[str, bytes] = {}
    monitor = pipeline(store)
    monitor.observe(exchange("a") + exchange("b", "c2"), 100.0)
    monitor.tick(102.0)
    monitor.observe(exchange("d", "c3")[:2], 103.0)
    monitor.checkpoint()
    for key in ("c:c1", "p:d:0"):
        store[key] = store[key][:-1] + bytes((store[key][-1] ^ 1,))
    after = pipeline(store)
    effects = after.flush(110.0)
    assert told(effects) == [("c2", 2, True, 2)]
    assert effects.counts == {"damaged_state": 2}
    after.checkpoint()
    assert "c:c1" not in store


def test_a_span_that_names_a_conversation_keeps_it_from_idling():
    monitor = pipeline()
    monitor.observe(exchange("a"), 0.0)
    monitor.tick(2.0)
    monitor.observe([AgentSpan("b", "m", "model", conversation_id="c1", parent_id="x")], 599.0)
    assert told(monitor.tick(601.0)) == []
    assert told(monitor.tick(1199.0))[-1][2] is True


def test_a_late_turn_is_reported_even_if_time_stood_still_until_its_conversation_was_let_go():
    monitor = pipeline()
    monitor.observe(exchange("a"), 0.0)
    monitor.tick(600.0)
    monitor.observe(exchange("b", start_s=700), 700.0)
    # The host slept past the late spans' time: nothing came between.
    assert told(monitor.tick(9_000.0)) == [("c1", 2, True, 4)]
