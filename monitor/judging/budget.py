"""What may be spent on judging by hour and day: paid before the call, settled after it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
    """Ceilings by hour and day, in UTC. A call is paid for at its most before it is made.

    A host stores `spent` durably between `reserve` and the call, so that a crash counts the call
    as made. However many calls are open at once and whatever stops when, a ceiling is passed by
    less than one call takes: a further call is held against all that the open ones may come to.
    """

    def __init__(self, hour: Ceiling, day: Ceiling, spent: Spent | None = None) -> None:
        """`spent` goes on where an earlier process stopped."""
        self._ceilings: dict[Window, Ceiling] = {"hour": hour, "day": day}
        self._spent = spent or Spent()
        self._open: dict[Window, Cost] = {"hour": Cost(), "day": Cost()}
        """Tokens and money of reservations that are not settled; their calls are certain."""

    @property
    def spent(self) -> Spent:
        """What the windows have taken, open reservations at their most."""
        return self._spent

    def reserve(self, likely: Cost, now: float, most: Cost | None = None) -> str | None:
        """Pay `most` for a call, or say which bound forbids it, as `hour_calls` or `day_usd`.

        The call itself is held against the bounds as it is `likely` to be, so that a small budget
        is not lost to a call that might have been larger. A refusal may end with the open calls:
        see `would_refuse`.
        """
        self._turn(now)
        most = most or likely
        refused = self._refused(likely, {window: Cost() for window in WINDOW_S})
        if refused is None:
            hour, day = self._in("hour").plus(most), self._in("day").plus(most)
            self._spent = Spent(self._spent.hour, hour, self._spent.day, day)
            self._hold(most, ("hour", "day"))
        return refused

    def would_refuse(self, likely: Cost, now: float) -> str | None:
        """Which bound forbids a call even if the open ones turn out to cost nothing."""
        self._turn(now)
        return self._refused(likely, self._open)

    def settle(self, most: Cost, actual: Cost, reserved_at: float, now: float) -> None:
        """Put what the call really took in place of what was paid, in the windows of then."""
        self._turn(now)
        numbers: dict[Window, int] = {"hour": self._spent.hour, "day": self._spent.day}
        same = [each for each in WINDOW_S if int(reserved_at // WINDOW_S[each]) == numbers[each]]
        taken = {
            window: self._in(window).plus(most, -1).plus(actual)
            if window in same
            else self._in(window)
            for window in WINDOW_S
        }
        self._spent = Spent(self._spent.hour, taken["hour"], self._spent.day, taken["day"])
        self._hold(most, same, -1)

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

    def _refused(self, likely: Cost, uncertain: Mapping[Window, Cost]) -> str | None:
        for window in WINDOW_S:
            spent = self._in(window).plus(uncertain[window], -1)
            refused = self._ceilings[window].refuses(spent, likely)
            if refused:
                return f"{window}_{refused}"
        return None

    def _hold(self, most: Cost, windows: Iterable[Window], sign: int = 1) -> None:
        for window in windows:
            self._open[window] = self._open[window].plus(most._replace(calls=0), sign)

    def _turn(self, now: float) -> None:
        """Begin new windows. A clock that jumps back opens none, so that it gives no money."""
        hour, day = (int(now // WINDOW_S[window]) for window in ("hour", "day"))
        spent = self._spent
        if hour > spent.hour:
            spent = Spent(hour, Cost(), spent.day, spent.in_day)
            self._open["hour"] = Cost()
        if day > spent.day:
            spent = Spent(spent.hour, spent.in_hour, day, Cost())
            self._open["day"] = Cost()
        self._spent = spent
