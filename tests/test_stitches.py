"""The index of stitches: the same places for any order in which traces come and go."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.assembly.stitching import Footprint
from monitor.pipeline.stitches import COMMON, Stitch, Stitches

KEYS = st.lists(st.sampled_from([b"a", b"b", b"c"]), unique=True, max_size=3).map(tuple)
FOOTPRINTS = st.lists(
    st.builds(Footprint, st.integers(0, 6), st.integers(1, 3), KEYS, KEYS),
    min_size=1,
    max_size=10,
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
                rebuilt.restore(Stitch(name, known.footprint, known.parent, known.root))
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
