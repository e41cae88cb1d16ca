"""Panels in the house's manner: none without a title, a description, a unit and an empty state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from grafana_foundation_sdk.builders import (
    bargauge,
    common,
    dashboard,
    heatmap,
    prometheus,
    stat,
    table,
    timeseries,
)
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models import common as kinds
from grafana_foundation_sdk.models import dashboard as model
from grafana_foundation_sdk.models import heatmap as heatmap_model
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

from grafana.expressions import written_out

Panel: TypeAlias = Builder[model.Panel]
Steps: TypeAlias = tuple[tuple[float | None, str], ...]
"""Colours, each from its value on; the first has no value."""

DATASOURCE: Final = model.DataSourceRef(type_val="prometheus", uid="${datasource}")
HEIGHT: Final = 8
STAT_HEIGHT: Final = 5
PLAIN: Final[Steps] = ((None, "text"),)
HIGH_IS_GOOD: Final[Steps] = ((None, "red"), (0.8, "orange"), (0.9, "green"))
LOW_IS_GOOD: Final[Steps] = ((None, "green"), (0.05, "orange"), (0.1, "red"))
NONE_IS_GOOD: Final[Steps] = ((None, "green"), (0.000001, "red"))
COLOURS: Final = {
    "pass": "green",
    "root_fail": "red",
    "fail": "red",
    "cascade_fail": "orange",
    "unscored": "#8e8e8e",
    "abstained": "#8e8e8e",
    "ok": "green",
    "root": "red",
    "inherited": "orange",
    "attached": "green",
    "threshold": "red",
}
"""What has the same colour on every page, by its name in a legend."""


@dataclass(frozen=True)
class Query:
    """One expression and how its series are called."""

    expression: str
    legend: str = ""
    exemplar: bool = False
    """Whether the panel shows traces that stand behind the series."""


@dataclass(frozen=True)
class Told:
    """What a panel says about itself in words."""

    title: str
    description: str
    empty: str
    """What is shown instead of an empty panel: what is missing, and until when."""


@dataclass(frozen=True)
class Scale:
    """The unit of a panel's values and how they are drawn."""

    unit: str = "short"
    decimals: int | None = None
    low: float | None = None
    high: float | None = None
    steps: Steps = PLAIN
    texts: Mapping[str, str] = field(default_factory=dict)
    """Words in place of values."""


SHARE: Final = Scale("percentunit", 1, 0.0, 1.0)
NEAR_ONE: Final = Scale("percentunit", 1, None, 1.0)
"""Of shares that seldom fall far: the axis begins where they are."""
RATE: Final = Scale("percentunit", 1, 0.0)
COUNT: Final = Scale("short", 0, 0.0)
PER_SECOND: Final = Scale("ops", None, 0.0)
SECONDS: Final = Scale("s", None, 0.0)


def lines(
    told: Told,
    *queries: Query,
    scale: Scale = RATE,
    stacked: Literal["normal", "percent"] | None = None,
    limit: str = "",
    width: int = 12,
) -> Panel:
    """Values over time. `limit` names the series that is drawn as a line not to be crossed."""
    panel = timeseries.Panel().legend(
        common.VizLegendOptions()
        .show_legend(True)
        .display_mode(kinds.LegendDisplayMode.LIST)
        .placement(kinds.LegendPlacement.BOTTOM)
    )
    panel = panel.tooltip(
        common.VizTooltipOptions()
        .mode(kinds.TooltipDisplayMode.MULTI)
        .sort(kinds.SortOrder.DESCENDING)
    )
    panel = panel.line_width(1 if stacked else 2).fill_opacity(60 if stacked else 0)
    panel = panel.show_points(kinds.VisibilityMode.AUTO).span_nulls(False)
    if stacked:
        panel = panel.stacking(common.StackingConfig().mode(kinds.StackingMode(stacked)))
    for name, colour in COLOURS.items():
        panel = panel.override_by_name(name, [_fixed(colour)])
    if limit:
        dashed = model.DynamicConfigValue("custom.lineStyle", {"fill": "dash", "dash": [8, 8]})
        panel = panel.override_by_regexp(f"/{limit}/", [_fixed("red"), dashed])
    return _dressed(panel, told, scale, width, HEIGHT, _asked(queries))


def numbers(
    told: Told,
    *queries: Query,
    scale: Scale = SHARE,
    width: int = 6,
    height: int = STAT_HEIGHT,
) -> Panel:
    """Values of the whole range, in large figures."""
    panel = (
        stat.Panel()
        .reduce_options(_last())
        .graph_mode(kinds.BigValueGraphMode.NONE)
        .color_mode(kinds.BigValueColorMode.VALUE)
        .text_mode(kinds.BigValueTextMode.VALUE_AND_NAME)
        .wide_layout(True)
    )
    return _dressed(panel, told, scale, width, height, _asked(queries, instant=True))


def bars(told: Told, *queries: Query, scale: Scale = COUNT, width: int = 12) -> Panel:
    """Values of the whole range beside each other."""
    panel = (
        bargauge.Panel()
        .reduce_options(_last())
        .orientation(kinds.VizOrientation.HORIZONTAL)
        .display_mode(kinds.BarGaugeDisplayMode.BASIC)
        .value_mode(kinds.BarGaugeValueMode.TEXT)
        .name_placement(kinds.BarGaugeNamePlacement.LEFT)
        .show_unfilled(False)
        .min_viz_height(12)
    )
    return _dressed(panel, told, scale, width, HEIGHT, _asked(queries, instant=True))


def rows(
    told: Told,
    columns: Mapping[str, str],
    *queries: Query,
    scale: Scale = COUNT,
    units: Mapping[str, str] | None = None,
    width: int = 24,
    height: int = HEIGHT,
) -> Panel:
    """Values as a table: one row for equal labels, one column for each query.

    `columns` names labels and, as `Value #A` and so on, queries; what it leaves out is not shown.
    `units` are those of columns by their shown name, where they are not the scale's.
    """
    values = (
        [f"Value #{_letter(n)}" for n in range(len(queries))] if len(queries) > 1 else ["Value"]
    )
    hidden = ["Time", *(name for name in values if name not in columns)]
    panel = table.Panel().show_header(True).filterable(True)
    panel = panel.with_transformation(model.DataTransformerConfig("merge", options={}))
    panel = panel.with_transformation(
        model.DataTransformerConfig(
            "organize",
            options={
                "excludeByName": dict.fromkeys(hidden, True),
                "indexByName": {name: place for place, name in enumerate(columns)},
                "renameByName": dict(columns),
            },
        )
    )
    for name, unit in (units or {}).items():
        panel = panel.override_by_name(name, [model.DynamicConfigValue("unit", unit)])
    targets = [target.format(PromQueryFormat.TABLE) for target in _asked(queries, instant=True)]
    return _dressed(panel, told, scale, width, height, targets)


def heat(told: Told, query: Query, scale: Scale = SECONDS, width: int = 12) -> Panel:
    """How often each bucket of a histogram was met over time; the query groups by `le`."""
    panel = (
        heatmap.Panel()
        .calculate(False)
        .cell_gap(1)
        .color(
            heatmap.HeatmapColorOptions()
            .mode(heatmap_model.HeatmapColorMode.SCHEME)
            .scheme("Blues")
            .steps(32)
        )
        .y_axis(heatmap.YAxisConfig().unit(scale.unit))
    )
    targets = [target.format(PromQueryFormat.HEATMAP) for target in _asked((query,))]
    return _dressed(panel, told, scale, width, HEIGHT, targets)


def _asked(queries: Iterable[Query], *, instant: bool = False) -> list[prometheus.Dataquery]:
    targets = []
    for number, query in enumerate(queries):
        target = (
            prometheus.Dataquery()
            .datasource(DATASOURCE)
            .ref_id(_letter(number))
            .expr(written_out(query.expression))
            .legend_format(query.legend or "__auto")
        )
        target = target.instant() if instant else target.range()
        targets.append(target.exemplar(True) if query.exemplar else target)
    return targets


def _dressed(
    panel: timeseries.Panel | stat.Panel | bargauge.Panel | table.Panel | heatmap.Panel,
    told: Told,
    scale: Scale,
    width: int,
    height: int,
    targets: Iterable[prometheus.Dataquery],
) -> Panel:
    panel.title(told.title).description(told.description).no_value(told.empty)
    panel.datasource(DATASOURCE).unit(scale.unit).span(width).height(height)
    panel.thresholds(
        dashboard.ThresholdsConfig()
        .mode(model.ThresholdsMode.ABSOLUTE)
        .steps([model.Threshold(value=value, color=colour) for value, colour in scale.steps])
    )
    if scale.decimals is not None:
        panel.decimals(scale.decimals)
    if scale.low is not None:
        panel.min(scale.low)
    if scale.high is not None:
        panel.max(scale.high)
    if scale.texts:
        words = {value: model.ValueMappingResult(text=text) for value, text in scale.texts.items()}
        panel.mappings([model.ValueMap(options=words)])
    for target in targets:
        panel.with_target(target)
    return panel


def _letter(number: int) -> str:
    return chr(ord("A") + number)


def _fixed(colour: str) -> model.DynamicConfigValue:
    return model.DynamicConfigValue("color", {"mode": "fixed", "fixedColor": colour})


def _last() -> common.ReduceDataOptions:
    return common.ReduceDataOptions().calcs(["lastNotNull"]).values(False).fields("")
