"""The cheapest one-to-one assignment (shortest augmenting paths, after Jonker and Volgenant)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def assign(costs: npt.NDArray[np.float64]) -> list[tuple[int, int]]:
    """Row and column of each pair, by row, such that the sum of costs is least.

    Every row is paired when there are no more rows than columns, else every column. Costs are
    finite. Equal costs are settled by position, so the same matrix gives the same pairs.
    """
    rows, columns = costs.shape
    if rows == 0 or columns == 0:
        return []
    if rows > columns:
        return sorted((row, column) for column, row in assign(costs.T))
    # Index 0 of both stands for "not yet assigned", as in the textbook form.
    row_price, column_price = np.zeros(rows + 1), np.zeros(columns + 1)
    row_of = np.zeros(columns + 1, dtype=np.int64)
    for row in range(1, rows + 1):
        _augment(costs, row, row_price, column_price, row_of)
    return sorted((int(row_of[c]) - 1, c - 1) for c in range(1, columns + 1) if row_of[c])


def _augment(
    costs: npt.NDArray[np.float64],
    row: int,
    row_price: npt.NDArray[np.float64],
    column_price: npt.NDArray[np.float64],
    row_of: npt.NDArray[np.int64],
) -> None:
    """Pair one more row along the cheapest alternating path."""
    columns = costs.shape[1]
    slack = np.full(columns + 1, np.inf)
    came_from = np.zeros(columns + 1, dtype=np.int64)
    used = np.zeros(columns + 1, dtype=bool)
    row_of[0] = row
    column = 0
    while row_of[column]:
        used[column] = True
        at = int(row_of[column])
        free = np.flatnonzero(~used[1:]) + 1
        reduced = costs[at - 1, free - 1] - row_price[at] - column_price[free]
        better = reduced < slack[free]
        slack[free[better]] = reduced[better]
        came_from[free[better]] = column
        nearest = int(free[np.argmin(slack[free])])
        step = slack[nearest]
        row_price[row_of[used]] += step
        column_price[used] -= step
        slack[~used] -= step
        column = nearest
    while column:
        row_of[column] = row_of[came_from[column]]
        column = int(came_from[column])
