"""The index of stitches: the same places for any order in which traces come and go."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.assembly.stitching import Footprint
from monitor.pipeline.stitches import COMMON, Stitch, Stitches

KEYS = st.lists(st.sampled_from([b"a", b"b", b"c"]), unique=True, max_size=3).map(tuple)
NAMES = st.sampled_from([b"", b"", b"u", b"v"])
FOOTPRINTS = st.lists(
    st.builds(Footprint, st.integers(0, 6), st.integers(1, 3), KEYS, KEYS, NAMES, KEYS, NAMES),
    min_size=1,
    max_size=12,
)


def places(stitches: Stitches, count: int) -> dict[str, tuple[str | None, str]]:
    found = [stitches.find(f"t{number}") for number in range(count)]
    return {stitch.trace_id: (stitch.parent, stitch.root) for stitch in found if stitch}


@settings(max_examples=300)
@given(st.data(), FOOTPRINTS)
def test_any_order_gives_the_same_places_and_tells_every_move(data, footprints):
    in_order = Stitches()
    for number, footprint in enumerate(footprints):
        in_order.put(f"t{number}", footprint)
    for name, (parent, root) in places(in_order, len(footprints)).items():
        stitch, before = in_order.find(name), in_order.find(parent or "")
        assert stitch is not None
        if before is None:
            assert root == name
            continue
        assert before.order < stitch.order
        users = {before.footprint.user, stitch.footprint.user} - {b""}
        assert len(users) < 2
        heirs = [in_order.find(order[2]) for order in before.children]
        heirs = [heir for heir in heirs if heir is not None and heir.footprint.offers]
        assert sum(heir.root == before.root for heir in heirs) == bool(heirs)
        assert root == before.root if stitch not in heirs else root in (name, before.root)
    shuffled, roots = Stitches(), dict[str, str]()
    gone = data.draw(st.sets(st.integers(0, len(footprints) - 1)))
    for number in data.draw(st.permutations(range(len(footprints)))):
        for changed in shuffled.put(f"t{number}", footprints[number]):
            roots[changed.trace_id] = changed.root
    for number in gone:
        for changed in shuffled.remove(f"t{number}"):
            roots[changed.trace_id] = changed.root
    for number in gone:
        for changed in shuffled.put(f"t{number}", footprints[number]):
            roots[changed.trace_id] = changed.root
    expected = places(in_order, len(footprints))
    assert places(shuffled, len(footprints)) == expected
    assert roots == {name: root for name, (_, root) in expected.items()}


@settings(max_examples=100)
@given(FOOTPRINTS, st.integers(0, 9))
def test_an_index_that_is_rebuilt_goes_on_as_before(footprints, cut):
    whole, rebuilt = Stitches(), Stitches()
    for number, footprint in enumerate(footprints):
        if number == cut:
            for name in [f"t{n}" for n in range(number)]:
                known = whole.find(name)
                assert known is not None
                rebuilt.restore(Stitch(name, known.footprint, known.parent, known.root, known.tree))
            rebuilt.link()
        whole.put(f"t{number}", footprint)
        if number >= cut:
            rebuilt.put(f"t{number}", footprint)
    if cut < len(footprints):
        assert places(rebuilt, len(footprints)) == places(whole, len(footprints))


def test_an_ending_that_too_many_share_joins_nothing():
    stitches = Stitches()
    for number in range(COMMON + 1):
        stitches.put(f"a{number}", Footprint(number, 1, (), (b"key",)))
    stitches.put("t0", Footprint(99, 3, (b"key",), ()))
    assert places(stitches, 1) == {"t0": (None, "t0")}


def test_what_continued_a_forgotten_trace_stays_where_it_is():
    stitches = Stitches()
    stitches.put("a", Footprint(1, 1, (), (b"key",)))
    stitches.put("t0", Footprint(3, 3, (b"key",), (b"more",)))
    stitches.drop("a")
    stitches.put("b", Footprint(2, 1, (), (b"key",)))
    stitches.put("t1", Footprint(5, 5, (b"more",), ()))
    assert places(stitches, 2) == {"t0": ("a", "a"), "t1": ("t0", "a")}


def after(*keys: bytes, at: int, then: bytes, **more: Any) -> Footprint:
    return Footprint(at, at, keys, (then,), **more)


def test_the_latest_continuation_is_the_trunk_until_one_is_continued_itself():
    stitches = Stitches()
    stitches.put("a", after(at=1, then=b"A"))
    stitches.put("b1", after(b"A", at=2, then=b"B1"))
    assert [s.trace_id for s in stitches.put("b2", after(b"A", at=3, then=b"B2"))] == ["b2", "b1"]
    assert {
        name: root for name in ("b1", "b2") if (s := stitches.find(name)) and (root := s.root)
    } == {
        "b1": "b1",
        "b2": "a",
    }
    stitches.put("c", after(b"B1", at=4, then=b"C"))
    stitches.put("d", after(b"B2", at=5, then=b"D"))
    roots = {s.trace_id: s.root for name in ("b1", "b2", "c", "d") if (s := stitches.find(name))}
    assert roots == {"b1": "a", "c": "a", "b2": "b2", "d": "b2"}


def test_a_side_question_under_other_instructions_is_never_preferred():
    stitches = Stitches()
    stitches.put("a", after(at=1, then=b"A", voice=b"main"))
    stitches.put("b", after(b"A", at=2, then=b"B", voice=b"main"))
    stitches.put("title", after(b"A", at=3, then=b"T", voice=b"other"))
    roots = {s.trace_id: s.root for name in ("b", "title") if (s := stitches.find(name))}
    assert roots == {"b": "a", "title": "title"}


def test_the_same_user_comes_before_one_who_is_not_known_and_no_other_comes_at_all():
    stitches = Stitches()
    stitches.put("u", after(at=1, then=b"A", user=b"u"))
    stitches.put("v", after(at=2, then=b"A", user=b"v"))
    stitches.put("?", after(at=3, then=b"A"))
    for number, user in enumerate((b"u", b"v", b"w", b"")):
        stitches.put(f"t{number}", after(b"A", at=4 + number, then=b"B", user=user))
    assert {name: parent for name, (parent, _) in places(stitches, 4).items()} == {
        "t0": "u",
        "t1": "v",
        "t2": "?",
        "t3": None,
    }


def test_what_was_forgotten_moves_nothing():
    stitches = Stitches()
    stitches.put("a", after(at=1, then=b"A"))
    stitches.put("b1", after(b"A", at=2, then=b"B1"))
    stitches.put("b2", after(b"A", at=3, then=b"B2"))
    stitches.drop("b2")
    assert stitches.put("x", after(at=9, then=b"X")) == [stitches.find("x")]
