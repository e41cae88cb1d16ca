"""What the detectors keep between two commits, and after a restart."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from released import NEW, NEXT, OLD, closed, fed, swapped, traffic

from monitor.codec import seal
from monitor.errors import StateError
from monitor.releases.pairs import Rules
from monitor.releases.watch import RECORDS_LIMIT, Watch


def standings(watch: Watch) -> list[tuple[str, str]]:
    return [(s.release, s.baseline) for s in watch.shown().standings]


def kept(watch: Watch) -> dict[str, bytes]:
    return {key: value for key, value in watch.changes().items() if value is not None}


def test_a_restart_in_mid_swap_gives_equal_evidence_to_the_last_bit() -> None:
    stream = [*traffic(OLD, 2100, 20), *traffic(NEW, 777, 7, inherited=1)]
    whole = fed(Watch(), stream)
    second = fed(Watch(kept=kept(fed(Watch(), stream[:2400]))), stream[2400:])

    assert second.shown() == whole.shown()
    last = kept(second)
    assert set(last) == {"watch", f"release:{NEW}", f"pair:{NEW}"}
    assert last == {key: value for key, value in kept(whole).items() if key in last}


CONVERSATIONS = st.lists(
    st.builds(
        closed,
        st.sampled_from([OLD, NEW, NEXT]),
        st.integers(0, 2),
        st.integers(2, 30),
        chain=st.integers(0, 3),
        intent=st.integers(-1, 9),
        inherited=st.integers(0, 4),
        latency_bucket=st.none() | st.integers(0, 9),
        day=st.none() | st.integers(0, 90),
    ),
    max_size=60,
)


@settings(max_examples=60, deadline=None)
@given(CONVERSATIONS, st.sets(st.integers(0, 60)))
def test_restarts_at_any_place_change_nothing(stream: list[Any], cuts: set[int]) -> None:
    rules = Rules(swap_conversations=3, baseline_conversations=5)
    plain = fed(Watch(rules), stream)
    watch = Watch(rules)
    stored: dict[str, bytes] = {}
    for number, each in enumerate(stream):
        if number in cuts:
            for key, value in watch.changes().items():
                if value is None:
                    stored.pop(key, None)
                else:
                    stored[key] = value
            watch = Watch(rules, stored)
        watch.observe(each)

    assert watch.shown() == plain.shown()


def test_what_is_kept_is_bounded() -> None:
    watch = Watch()
    for number in range(RECORDS_LIMIT + 20):
        fed(watch, traffic(f"release-{number}", 60, 5))

    assert len(watch.shown().qualities) == RECORDS_LIMIT
    assert len(kept(watch)) <= 2 * RECORDS_LIMIT


def test_what_is_forgotten_is_told_to_the_keeper() -> None:
    watch = swapped()
    watch.changes()
    fed(watch, traffic(OLD, 201, 20))

    assert watch.changes()[f"pair:{NEW}"] is None


DAMAGE = [b"", b"am", b"amD\x01abcgarbage", seal(b"D", {"total": 7}), seal(b"D", [1, 2])]


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize(
    ("key", "left"),
    [
        ("watch", []),
        (f"release:{OLD}", [NEW]),
        (f"release:{NEW}", [OLD]),
        (f"pair:{NEW}", [OLD, NEW]),
    ],
)
def test_damaged_state_costs_its_own_release_only(key: str, left: list[str], damage: bytes) -> None:
    stored = kept(swapped())
    stored[key] = damage

    watch = Watch(kept=stored)

    assert [q.release for q in watch.shown().qualities] == left
    assert standings(watch) == []
    assert watch.damaged == 1
    assert watch.changes()[key] is None
    assert fed(watch, traffic(NEXT, 100, 4)).damaged == 1


@pytest.mark.parametrize(("key", "kind"), [("watch", b"W"), (f"release:{OLD}", b"D")])
def test_state_of_a_newer_release_is_refused(key: str, kind: bytes) -> None:
    stored = kept(swapped())
    stored[key] = seal(kind, {}, version=9)

    with pytest.raises(StateError, match="version 9"):
        Watch(kept=stored)
