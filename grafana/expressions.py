"""The shorthand that expressions are written in, so that none forgets a matcher."""

from __future__ import annotations

from typing import Final

_JOB: Final = 'job=~"$job"'
_RELEASE: Final = 'release=~"$release"'
_INSTANCE: Final = 'instance=~"$instance"'
SHORTHAND: Final = {
    "@by_release": f"{_JOB},{_INSTANCE},{_RELEASE}",
    "@all": f"{_JOB},{_INSTANCE}",
    "@rule_by_release": f"{_JOB},{_RELEASE}",
    "@rule": _JOB,
}
"""Longer names first; recorded series are sums over instances and have no such label."""


def written_out(expression: str) -> str:
    """The expression with its matchers, on one line."""
    for short, matchers in SHORTHAND.items():
        expression = expression.replace(short, matchers)
    return " ".join(expression.split())


def share(part: str, whole: str) -> str:
    """`part` of `whole`; absent rather than not a number where there was nothing."""
    return f"{part} / ({whole} > 0)"


def quantile(level: float, metric: str, by: str, matchers: str = "@by_release") -> str:
    """A quantile of a histogram within the window; absent where nothing was observed."""
    rates = f"sum by ({by}) (rate({metric}_bucket{{{matchers}}}[$window]))"
    return f"histogram_quantile({level}, {rates}) >= 0"
