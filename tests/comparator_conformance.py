"""What every comparator keeps to; an implementation inherits the class and builds itself."""

from __future__ import annotations

import math

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from monitor.ports import Comparator, Hint

# Each implementation runs the same inherited method on its own instance.
SHARED = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.differing_executors]
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=40)
    | st.sampled_from(
        ["Q3 2024", "$5", "5 kg", "03/04/2024", "NYC", "", " ", "not ok", "10:30", "1e999"]
    )
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
HINTS = st.builds(
    Hint,
    field=st.none()
    | st.sampled_from(["id", "city", "amount", "rate", "date", "a.b", "", "password", "x"]),
    kind=st.none() | st.sampled_from(["exact", "number", "date", "enum", "text", "odd"]),
    schema=st.none()
    | st.sampled_from(
        [
            {"type": "integer"},
            {"enum": ["a", "b"]},
            {"type": 5},
            {"items": 1},
            {"enum": []},
            {"type": []},
        ]
    ),
    query=st.none() | st.text(max_size=10),
    tolerance=st.none() | st.sampled_from([0.0, 0.5, -1.0, float("nan")]),
)


class ComparatorConformance:
    """Inherit, and set `comparator`."""

    comparator: Comparator

    @SHARED
    @given(VALUES, VALUES, HINTS)
    def test_any_two_values_give_a_score_in_range_or_none(self, expected, actual, hint):
        found = self.comparator.compare(expected, actual, hint)
        assert found.why
        assert found.score is None or 0.0 <= found.score <= 1.0

    @SHARED
    @given(SCALARS, SCALARS, HINTS)
    def test_two_scalars_compare_alike_in_either_order(self, expected, actual, hint):
        if hint.field is None:
            return  # a reply is held against its answer, not the answer against the reply
        one, other = (
            self.comparator.compare(expected, actual, hint),
            self.comparator.compare(actual, expected, hint),
        )
        if one.score is None or other.score is None:
            assert one.score is other.score
        else:
            assert math.isclose(one.score, other.score, abs_tol=1e-6)

    @SHARED
    @given(VALUES, HINTS)
    def test_a_value_never_differs_from_itself(self, value, hint):
        assert self.comparator.compare(value, value, hint).score in (1.0, None)

    def test_the_version_is_a_name(self):
        assert self.comparator.version
        assert isinstance(self.comparator.version, str)
