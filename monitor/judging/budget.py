"""What may be spent on judging by hour and day; spent before the call, corrected after it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

Window: TypeAlias = Literal["hour", "day"]
WINDOW_S: Final[Mapping[Window, int]] = {"hour": 3_600, "day": 86_400}


class Cost(NamedTuple):
    """What one or more calls take."""

    calls: int = 0
    tokens: int = 0
    usd: float = 0.0

    def plus(self, other: Cost, sign: int = 1) -> Cost:
        """Both together; with `sign` -1 this without the other, never below zero."""
        return Cost(
            max(0, self.calls + sign * other.calls),
            max(0, self.tokens + sign * other.tokens),
            max(0.0, self.usd + sign * other.usd),
        )


class Ceiling(NamedTuple):
    """The most that a window may take; None is no bound."""

    calls: int | None = None
    tokens: int | None = None
    usd: float | None = None

    def refuses(self, spent: Cost, further: Cost) -> str | None:
        """The bound that a further call would break."""
        then = spent.plus(further)
        for name in ("calls", "tokens", "usd"):
            bound = getattr(self, name)
            if bound is not None and getattr(then, name) > bound + 1e-9:
                return name
        return None


class Spent(msgspec.Struct, frozen=True, array_like=True):
    """What the current windows have taken; what a host writes down before each call."""

    hour: int = 0
    """Number of the hour since 1970, UTC."""
    in_hour: Cost = Cost()
    day: int = 0
    in_day: Cost = Cost()


class Budget:
    """Ceilings by hour and day, in UTC. A call is paid for at its estimate before it is made.

    A host stores `spent` durably between `reserve` and the call, so that a crash counts the call
    as made; then the ceiling is never passed, whatever stops when.
    """

    def __init__(self, hour: Ceiling, day: Ceiling, spent: Spent | None = None) -> None:
        """`spent` goes on where an earlier process stopped."""
        self._ceilings: dict[Window, Ceiling] = {"hour": hour, "day": day}
        self._spent = spent or Spent()

    @property
    def spent(self) -> Spent:
        """What the windows have taken, open reservations at their estimates."""
        return self._spent

    def reserve(self, estimate: Cost, now: float) -> str | None:
        """Pay for a call, or say which bound forbids it, as `hour_calls` or `day_usd`."""
        refused = self.would_refuse(estimate, now)
        if refused is None:
            self._add(estimate)
        return refused

    def would_refuse(self, estimate: Cost, now: float) -> str | None:
        """Which bound forbids a call now, without paying for it."""
        self._turn(now)
        for window in WINDOW_S:
            refused = self._ceilings[window].refuses(self._in(window), estimate)
            if refused:
                return f"{window}_{refused}"
        return None

    def settle(self, estimate: Cost, actual: Cost, reserved_at: float, now: float) -> None:
        """Put what the call really took in place of its estimate, in the windows it was paid in."""
        self._turn(now)
        same_hour = int(reserved_at // WINDOW_S["hour"]) == self._spent.hour
        same_day = int(reserved_at // WINDOW_S["day"]) == self._spent.day
        hour = self._in("hour").plus(estimate, -1).plus(actual) if same_hour else self._in("hour")
        day = self._in("day").plus(estimate, -1).plus(actual) if same_day else self._in("day")
        self._spent = Spent(self._spent.hour, hour, self._spent.day, day)

    def left_usd(self, now: float) -> float | None:
        """The money that may still be spent now; None without a bound in money."""
        self._turn(now)
        left = [
            ceiling.usd - self._in(window).usd
            for window, ceiling in self._ceilings.items()
            if ceiling.usd is not None
        ]
        return max(0.0, min(left)) if left else None

    def _in(self, window: Window) -> Cost:
        return self._spent.in_hour if window == "hour" else self._spent.in_day

    def _add(self, cost: Cost) -> None:
        hour, day = self._in("hour").plus(cost), self._in("day").plus(cost)
        self._spent = Spent(self._spent.hour, hour, self._spent.day, day)

    def _turn(self, now: float) -> None:
        """Begin new windows. A clock that jumps back opens none, so that it gives no money."""
        hour, day = (int(now // WINDOW_S[window]) for window in ("hour", "day"))
        spent = self._spent
        if hour > spent.hour:
            spent = Spent(hour, Cost(), spent.day, spent.in_day)
        if day > spent.day:
            spent = Spent(spent.hour, spent.in_hour, day, Cost())
        self._spent = spent
