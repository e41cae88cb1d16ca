"""Panels as SVG and HTML, drawn from what a Prometheus answered."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

from drawn_values import PALETTE, TEXT, clock, colour_of, shown, step_colour, ticks

LEFT, RIGHT, TOP, BOTTOM = 54, 20, 8, 18
LEGEND_PX, LEGEND_LINE, CHARACTER_PX = 10, 13, 5.6


class Series(NamedTuple):
    """One line, bar or number: its name, its labels, and its values by time."""

    name: str
    labels: dict[str, str]
    reference: str
    points: list[tuple[float, float]]


class Frame(NamedTuple):
    """A panel of a size, and the time that it shows."""

    panel: dict[str, Any]
    width: int
    height: int
    start_s: float
    end_s: float
    marks: list[tuple[float, str, str]]
    """When, what, and in which colour."""

    @property
    def defaults(self) -> dict[str, Any]:
        return self.panel["fieldConfig"]["defaults"]

    def text(self, value: float) -> str:
        for mapping in self.defaults.get("mappings", []):
            found = mapping["options"].get(f"{value:g}")
            if found:
                return str(found["text"])
        return shown(value, self.defaults["unit"], self.defaults.get("decimals"))


def named(legend: str, labels: dict[str, str]) -> str:
    """The legend with the series' labels in it."""
    if legend == "__auto":
        return ", ".join(value for name, value in labels.items() if name != "__name__")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: labels.get(found[1], ""), legend)


def drawn(frame: Frame, series: Sequence[Series]) -> str:
    """The panel's inside."""
    if not series:
        return f'<div class="empty">{escape(frame.defaults["noValue"])}</div>'
    kinds = {"timeseries": _lines, "stat": _numbers, "bargauge": _bars, "table": _rows}
    return kinds.get(frame.panel["type"], _heat)(frame, series)


def _colours(frame: Frame, series: Sequence[Series]) -> list[str]:
    fixed = {}
    for override in frame.panel["fieldConfig"]["overrides"]:
        for each in override["properties"]:
            if each["id"] == "color":
                fixed[override["matcher"]["options"].strip("/")] = each["value"]["fixedColor"]
    return [
        colour_of(fixed[one.name]) if one.name in fixed else PALETTE[n % len(PALETTE)]
        for n, one in enumerate(series)
    ]


def _lines(frame: Frame, series: Sequence[Series]) -> str:
    custom = frame.defaults.get("custom", {})
    stacked = custom.get("stacking", {}).get("mode", "none") != "none"
    colours = _colours(frame, series)
    legend, legend_height = _legend(frame, series, colours)
    lows, highs = _stack(series) if stacked else ([], [list(one.points) for one in series])
    every = [value for points in highs for _, value in points]
    low, high = _limits(frame, every)
    inner = frame.height - legend_height - BOTTOM

    def x(at_s: float) -> float:
        width = frame.width - LEFT - RIGHT
        return LEFT + (at_s - frame.start_s) / (frame.end_s - frame.start_s) * width

    def y(value: float) -> float:
        return inner - (value - low) / (high - low) * (inner - TOP)

    parts = [_grid(frame, x, y, ticks(low, high), inner)]
    for number, one in reversed(list(enumerate(series))):
        path = " ".join(f"{x(at):.1f},{y(value):.1f}" for at, value in highs[number])
        if stacked:
            under = " ".join(f"{x(at):.1f},{y(v):.1f}" for at, v in reversed(lows[number]))
            parts.append(
                f'<polygon points="{path} {under}" fill="{colours[number]}" opacity=".75"/>'
            )
        else:
            dashes = ' stroke-dasharray="6 5"' if one.name == "threshold" else ""
            parts.append(
                f'<polyline points="{path}" fill="none" stroke="{colours[number]}" '
                f'stroke-width="1.8"{dashes}/>'
            )
    for at_s, _, colour in frame.marks:
        if frame.start_s < at_s < frame.end_s:
            parts.append(
                f'<line x1="{x(at_s):.1f}" x2="{x(at_s):.1f}" y1="{TOP}" y2="{inner}" '
                f'stroke="{colour_of(colour)}" stroke-dasharray="3 3"/>'
            )
    return _svg(frame, "".join(parts) + legend)


def _limits(frame: Frame, values: Sequence[float]) -> tuple[float, float]:
    """Where the axis begins and ends: as the panel says, else a little beyond the values."""
    low, high = min(values), max(values)
    margin = (high - low) * 0.08 or abs(high) * 0.05 or 1.0
    least, most = frame.defaults.get("min"), frame.defaults.get("max")
    low = low - margin if least is None else min(least, low)
    return low, min(high + margin, most) if most is not None and most >= high else high + margin


def _stack(series: Sequence[Series]) -> tuple[list[Any], list[Any]]:
    """Lower and upper edges, each series on those before it."""
    base: dict[float, float] = {}
    lows, highs = [], []
    for one in series:
        lows.append([(at, base.get(at, 0.0)) for at, _ in one.points])
        for at, value in one.points:
            base[at] = base.get(at, 0.0) + value
        highs.append([(at, base[at]) for at, _ in one.points])
    return lows, highs


def _grid(frame: Frame, x: Any, y: Any, at: Sequence[float], inner: float) -> str:
    parts = []
    for value in at:
        parts.append(
            f'<line x1="{LEFT}" x2="{frame.width - RIGHT}" y1="{y(value):.1f}" '
            f'y2="{y(value):.1f}" stroke="#e4e7eb"/>'
            f'<text x="{LEFT - 5}" y="{y(value) + 3:.1f}" text-anchor="end">'
            f"{shown(value, frame.defaults['unit'])}</text>"
        )
    span = frame.end_s - frame.start_s
    step = next(s for s in (300, 600, 900, 1200, 1800, 3600, 7200, 86_400) if span / s <= 7)
    first = -(-int(frame.start_s) // step) * step
    for at_s in range(first, int(frame.end_s) + 1, step):
        parts.append(
            f'<text x="{x(at_s):.1f}" y="{inner + 13}" text-anchor="middle">{clock(at_s)}</text>'
        )
    return "".join(parts)


def _legend(frame: Frame, series: Sequence[Series], colours: Sequence[str]) -> tuple[str, int]:
    """Names below the chart, in as many lines as they need, three at most."""
    rows: list[list[tuple[float, int]]] = [[]]
    left = 8.0
    for number, one in enumerate(series):
        width = 18 + len(one.name) * CHARACTER_PX
        if left + width > frame.width and rows[-1]:
            rows.append([])
            left = 8.0
        rows[-1].append((left, number))
        left += width
    rows = rows[:3]
    parts = []
    for line, row in enumerate(rows):
        top = frame.height - (len(rows) - line) * LEGEND_LINE + 8
        for at, number in row:
            parts.append(
                f'<rect x="{at:.0f}" y="{top - 6}" width="9" height="3" fill="{colours[number]}"/>'
                f'<text x="{at + 13:.0f}" y="{top}">{escape(series[number].name)}</text>'
            )
    return "".join(parts), len(rows) * LEGEND_LINE


def _numbers(frame: Frame, series: Sequence[Series]) -> str:
    steps = frame.defaults["thresholds"]["steps"]
    big = 30 if len(series) == 1 else 21
    cells = []
    for one in series[:6]:
        value = one.points[-1][1]
        cells.append(
            f'<div class="number"><span style="font-size:{big}px;color:'
            f'{step_colour(value, steps)}">{escape(frame.text(value))}</span>'
            f"<small>{escape(one.name)}</small></div>"
        )
    return f'<div class="numbers">{"".join(cells)}</div>'


def _bars(frame: Frame, series: Sequence[Series]) -> str:
    steps = frame.defaults["thresholds"]["steps"]
    most = frame.defaults.get("max") or max(max(one.points[-1][1] for one in series), 1e-9)
    room = max(int((frame.height - 8) / len(series)), 11)
    longest = min(max(len(one.name) for one in series) * CHARACTER_PX + 12, frame.width * 0.5)
    parts = []
    for number, one in enumerate(series):
        value, top = one.points[-1][1], 4 + number * room
        width = max((frame.width - longest - 70) * value / most, 0.0)
        colour = step_colour(value, steps)
        colour = PALETTE[2] if colour == TEXT else colour
        parts.append(
            f'<text x="{longest - 6:.0f}" y="{top + room / 2 + 3:.0f}" text-anchor="end">'
            f"{escape(one.name)}</text>"
            f'<rect x="{longest:.0f}" y="{top + room * 0.15:.0f}" width="{width:.1f}" '
            f'height="{min(room * 0.7, 26):.0f}" fill="{colour}" opacity=".85"/>'
            f'<text x="{longest + width + 5:.0f}" y="{top + room / 2 + 3:.0f}">'
            f"{escape(frame.text(value))}</text>"
        )
    return _svg(frame, "".join(parts))


def _rows(frame: Frame, series: Sequence[Series]) -> str:
    """Queries joined on the labels that all of them have, as the merge transformation does."""
    (organise,) = [t for t in frame.panel["transformations"] if t["id"] == "organize"]
    order = organise["options"]["indexByName"]
    renamed = organise["options"]["renameByName"]
    names = {name: renamed[name] for name in sorted(order, key=lambda name: order[name])}
    units = {
        override["matcher"]["options"]: each["value"]
        for override in frame.panel["fieldConfig"]["overrides"]
        for each in override["properties"]
        if each["id"] == "unit"
    }
    several = len({one.reference for one in series}) > 1
    shared = set.intersection(*(set(one.labels) for one in series))
    found: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}
    for one in series:
        key = tuple(sorted((name, one.labels[name]) for name in shared))
        row = found.setdefault(key, {})
        row.update(one.labels)
        column = f"Value #{one.reference}" if several else "Value"
        value, unit = one.points[-1][1], units.get(names.get(column, ""))
        row[column] = (
            shown(value, unit, frame.defaults.get("decimals")) if unit else frame.text(value)
        )
    head = "".join(f"<th>{escape(name)}</th>" for name in names.values())
    room = int((frame.height - 24) / 20)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(row.get(name, ''))}</td>" for name in names) + "</tr>"
        for row in list(found.values())[:room]
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _heat(frame: Frame, series: Sequence[Series]) -> str:
    """Counts between neighbouring bounds of a cumulative histogram."""
    ordered = sorted(series, key=lambda one: float(one.labels["le"]))
    cells: list[tuple[int, float, float]] = []
    below: dict[float, float] = {}
    for number, one in enumerate(ordered):
        for at, value in one.points:
            cells.append((number, at, max(value - below.get(at, 0.0), 0.0)))
            below[at] = value
    most = max((count for *_, count in cells), default=0.0) or 1.0
    inner = frame.height - BOTTOM
    room = (inner - TOP) / len(ordered)
    wide = (frame.width - LEFT - RIGHT) / max(len({at for _, at, _ in cells}), 1)

    def x(at_s: float) -> float:
        width = frame.width - LEFT - RIGHT
        return LEFT + (at_s - frame.start_s) / (frame.end_s - frame.start_s) * width

    parts = [
        f'<rect x="{x(at):.1f}" y="{inner - (number + 1) * room:.1f}" width="{wide:.1f}" '
        f'height="{room - 1:.1f}" fill="#2f74b5" opacity="{count / most:.2f}"/>'
        for number, at, count in cells
        if count
    ]
    for number, one in enumerate(ordered):
        parts.append(
            f'<text x="{LEFT - 5}" y="{inner - (number + 0.4) * room:.1f}" text-anchor="end">'
            f"≤ {one.labels['le'].removesuffix('.0')}</text>"
        )
    parts.append(_grid(frame, x, lambda _: 0.0, (), inner))
    return _svg(frame, "".join(parts))


def _svg(frame: Frame, inside: str) -> str:
    return f'<svg width="{frame.width}" height="{frame.height}">{inside}</svg>'
