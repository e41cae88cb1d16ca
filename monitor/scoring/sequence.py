"""The cheapest crossing-free alignment of two sequences (after Needleman and Wunsch)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from monitor.scoring.distance import GAP, NEVER

_Costs = npt.NDArray[np.float64]


def crossing_free(costs: _Costs, gaps: _Costs, *, closed: bool) -> list[tuple[int, int]]:
    """Row and column of each pair of the cheapest alignment in which no two pairs cross.

    A row without a pair costs `GAP`, a column what `gaps` says; unless `closed`, the rows after
    the last pair cost nothing. At equal cost a pair beats two gaps.
    """
    rows, columns = costs.shape
    best = np.empty((rows + 1, columns + 1))
    spent = np.concatenate(([0.0], np.cumsum(gaps)))
    best[0] = spent
    for row in range(1, rows + 1):
        # Skipping turns is a running minimum once the gaps spent so far are taken off.
        take = best[row - 1] + GAP
        take[1:] = np.minimum(take[1:], best[row - 1, :-1] + costs[row - 1])
        best[row] = np.minimum.accumulate(take - spent) + spent
    end = rows if closed else int(np.argmin(best[:, columns]))
    return _traced(costs[:end], gaps, best)


def _traced(costs: _Costs, gaps: _Costs, best: _Costs) -> list[tuple[int, int]]:
    pairs = []
    row, column = costs.shape
    while row and column:
        here = best[row, column] + 1e-9
        if costs[row - 1, column - 1] < NEVER and (
            best[row - 1, column - 1] + costs[row - 1, column - 1] <= here
        ):
            row, column = row - 1, column - 1
            pairs.append((row, column))
        elif best[row, column - 1] + gaps[column - 1] <= here:
            column -= 1
        else:
            row -= 1
    return pairs
