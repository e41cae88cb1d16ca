"""Values, times and scales as a reader of a chart sees them."""

from __future__ import annotations

import math
from datetime import UTC, datetime

PALETTE = (
    *("#3f8f4f", "#c78a1b", "#2f74b5", "#b5452f", "#7a4fb0", "#2a9a9a"),
    *("#b0407f", "#6b7a1e", "#5b5fc7", "#8a5a3a", "#4a4a4a", "#d06a9a"),
)
COLOURS = {"green": "#3f8f4f", "red": "#c0392b", "orange": "#d98324", "blue": "#2f74b5"}
TEXT = "#24292f"


def colour_of(name: str) -> str:
    """Of a Grafana colour's name; hex stays as it is."""
    return COLOURS.get(name, TEXT if name == "text" else name)


def step_colour(value: float, steps: list[dict[str, object]]) -> str:
    """The colour of the highest threshold that the value reaches."""
    found = TEXT
    for step in steps:
        at = step["value"]
        if at is None or (isinstance(at, int | float) and value >= at):
            found = colour_of(str(step["color"]))
    return found


def shown(value: float, unit: str, decimals: int | None = None) -> str:
    """The value in its unit, as short as it can be read."""
    if unit == "percentunit":
        return f"{value * 100:.{1 if decimals is None else decimals}f}%"
    if unit == "dateTimeAsIso":
        return datetime.fromtimestamp(value / 1000, UTC).strftime("%Y-%m-%d %H:%M")
    if unit == "currencyUSD":
        return f"${value:.{2 if decimals is None else decimals}f}"
    if unit == "bytes":
        return f"{value:.0f} B" if abs(value) < 1024 else f"{value / 1024:.1f} KiB"
    text = _plain(value, decimals)
    return text + {"s": " s", "ops": "/s"}.get(unit, "")


def _plain(value: float, decimals: int | None) -> str:
    if abs(value) >= 10_000:
        return f"{value / 1000:.1f}k"
    if decimals is not None:
        return f"{value:.{decimals}f}"
    return f"{value:.3g}" if value else "0"


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round values from low to high."""
    width = (high - low) or 1.0
    raw = width / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw)
    first = math.ceil(low / step - 1e-9)
    return [n * step for n in range(first, math.floor(high / step + 1e-9) + 1)]


def clock(at_s: float) -> str:
    return datetime.fromtimestamp(at_s, UTC).strftime("%H:%M")
