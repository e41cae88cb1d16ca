"""However reports are batched, repeated and interleaved, the totals are the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from building_reports import inherited, passed, report, root, unscored
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.ledger.database import Database
from monitor.ledger.snapshot import Totals
from monitor.ledger.statistics import Sums
from monitor.ledger.totals import Ledger, LedgerLimits
from monitor.verdict import Report, Verdict

MAKERS = {"pass": passed, "root_fail": root, "cascade_fail": inherited, "unscored": unscored}
SCORES = st.sampled_from([0.0, 0.1, 0.3, 1 / 3, 0.7, 1.0])


@st.composite
def verdicts(draw: st.DrawFn) -> tuple[Verdict, ...]:
    turns = draw(
        st.lists(
            st.tuples(st.sampled_from("abcd"), st.sampled_from(sorted(MAKERS)), SCORES),
            max_size=4,
            unique_by=lambda turn: turn[0],
        )
    )
    return tuple(MAKERS[label](turn, scores={"structural": score}) for turn, label, score in turns)


@st.composite
def histories(draw: st.DrawFn) -> list[list[Report]]:
    """Of each conversation, its revisions in their order."""
    found = []
    for conversation in range(draw(st.integers(1, 3))):
        revisions = sorted(draw(st.sets(st.integers(1, 9), min_size=1, max_size=4)))
        found.append(
            [
                report(
                    f"c{conversation}",
                    *draw(verdicts()),
                    revision=revision,
                    closed=draw(st.booleans()),
                    release=draw(st.sampled_from(["r1@m", "r2@m"])),
                    chain=draw(st.sampled_from(["0", "1", "3+"])),
                    latency_s=draw(st.none() | st.sampled_from([0.1, 0.2, 0.3, 7.7])),
                    started_s=draw(st.none() | st.just(5.0)),
                )
                for revision in revisions
            ]
        )
    return found


@st.composite
def deliveries(draw: st.DrawFn, history: list[list[Report]]) -> list[list[Report]]:
    """Batches in which each conversation's revisions rise at first sight, with repeats."""
    places = [0] * len(history)
    stream: list[Report] = []
    while any(place < len(reports) for place, reports in zip(places, history, strict=True)):
        which = draw(st.integers(0, len(history) - 1))
        repeat = draw(st.booleans())
        if repeat and places[which]:
            stream.append(history[which][draw(st.integers(0, places[which] - 1))])
        elif places[which] < len(history[which]):
            stream.append(history[which][places[which]])
            places[which] += 1
    cuts = sorted(draw(st.sets(st.integers(0, len(stream)), max_size=4)))
    return [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]


def fold(batches: Sequence[Sequence[Report]], restart: bool = False) -> Totals:
    db = Database.open(":memory:")
    limits = LedgerLimits(prune_interval_s=0.0)
    ledger = Ledger(db, limits)
    for now, batch in enumerate(batches):
        with db.transaction():
            ledger.fold(batch)
            ledger.prune(float(now))
        if restart:
            ledger = Ledger(db, limits)
    found = ledger.totals(db.reader())
    db.close()
    return found


def comparable(found: Totals) -> tuple[object, ...]:
    """Slots are given in the order of first sight, so only the names are compared."""
    strata = {(s.release, s.evaluator, s.chain): s.sums for s in found.strata if any(s.sums)}
    return found.counters, strata, {(r.name, r.first_seen_s) for r in found.releases}


@settings(max_examples=150)
@given(st.data())
def test_any_batching_and_repetition_gives_the_same_totals(data: st.DataObject) -> None:
    history = data.draw(histories())
    plain = fold([[report] for reports in history for report in reports])

    batches = data.draw(deliveries(history))

    assert comparable(fold(batches)) == comparable(plain)
    assert comparable(fold(batches + batches)) == comparable(plain)


@settings(max_examples=150)
@given(histories())
def test_totals_are_what_a_plain_reading_of_the_rules_gives(history: list[list[Report]]) -> None:
    found = fold(history)
    turns: Counter[tuple[str, str]] = Counter()
    sums: Counter[tuple[str, str]] = Counter()
    statistics: dict[tuple[str, str], Sums] = {}
    for reports in history:
        first = {v.turn_id: (r.release, label(v)) for r in reversed(reports) for v in r.turns}
        turns.update(first.values())
        closed = [r for r in reports if r.closed]
        for r in closed[-1:]:
            labels = [label(v) for v in r.turns]
            roots = labels.count("root_fail")
            at_risk = roots + labels.count("pass")
            if at_risk:
                handed = labels.count("cascade_fail")
                own = (roots, at_risk, roots**2, roots * at_risk, at_risk**2)
                one = Sums(1, *own, handed, handed**2, roots * handed, at_risk * handed)
                key = (r.release, r.chain_length)
                statistics[key] = statistics.get(key, Sums()).plus(one)
        sums.update((r.release, r.chain_length) for r in closed[:1])

    counted: Counter[tuple[str, str]] = Counter()
    for labels_, value in found.family("turns").items():
        counted[(labels_[0], labels_[3])] += value
    conversations: Counter[tuple[str, str]] = Counter()
    for labels_, value in found.family("conversations").items():
        conversations[(labels_[0], labels_[1])] += value
    assert counted == turns
    assert conversations == sums
    assert {(s.release, s.chain): s.sums for s in found.strata if any(s.sums)} == statistics


@settings(max_examples=100)
@given(histories())
def test_first_verdicts_and_corrections_lead_to_the_newest_verdicts(
    history: list[list[Report]],
) -> None:
    found = fold(history)
    now: Counter[str] = Counter()
    for labels, value in found.family("turns").items():
        now[labels[3]] += value
    for (before, after), value in found.family("corrections").items():
        now[before] -= value
        now[after] += value

    newest: Counter[str] = Counter()
    for reports in history:
        seen = {v.turn_id for r in reports for v in r.turns}
        last = {v.turn_id: label(v) for v in reports[-1].turns}
        newest.update(last.get(turn_id, "withdrawn") for turn_id in seen)
    assert +now == newest


@settings(max_examples=50)
@given(histories())
def test_a_restart_after_every_batch_changes_nothing(history: list[list[Report]]) -> None:
    batches = [[report] for reports in history for report in reports]

    assert fold(batches, restart=True) == fold(batches)


def label(verdict: Verdict) -> str:
    if verdict.verdict != "fail":
        return verdict.verdict
    return "cascade_fail" if verdict.is_inherited else "root_fail"
