"""How fast an error budget may burn before somebody is paged."""

from __future__ import annotations

import math
from typing import Final

from monitor.errors import ConfigurationError

USUAL_FACTOR: Final = 14.4
"""What a month's budget burns at when an hour takes 2 % of it; the customary page."""
LEAST_OBJECTIVE: Final = 0.6
MOST_OBJECTIVE: Final = 0.9999


def largest_burn(objective: float) -> float:
    """The rate at which the budget burns when every turn fails."""
    return 1.0 / (1.0 - objective)


def burn_factor(objective: float) -> float:
    """How many times the budget pages: midway, by ratio, between 1 and the largest possible burn.

    The customary factor can never be reached at an objective of 90 %, where the largest burn is 10;
    this gives 3 there. It is a multiple of one half. Raises ConfigurationError.
    """
    if not LEAST_OBJECTIVE <= objective <= MOST_OBJECTIVE:
        raise ConfigurationError(
            f"the objective is {objective}: want a share of correct turns from {LEAST_OBJECTIVE} "
            f"to {MOST_OBJECTIVE}"
        )
    midway = math.floor(2.0 * math.sqrt(largest_burn(objective)) + 1e-9) / 2.0
    return min(USUAL_FACTOR, midway)
