"""Draws the dashboards from seeded traffic, as PNG: `python tests/draw_pages.py FOLDER [PAGE...]`.

No Grafana is at hand where the tests run, so these pictures show the panels' answers in a plain
rendering of our own. Prometheus, promtool and Chromium must be installed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from asked_panels import Range, Target, answer, pages, panels
from drawn_charts import Frame, Series, drawn, named
from prometheus_server import Prometheus
from seeded_prometheus import seeded_server
from small_png import smaller

DASHBOARDS = Path(__file__).resolve().parents[1] / "grafana"
COLUMN_PX, ROW_PX, GAP_PX, HEAD_PX = 50, 26, 6, 22
STYLE = """
body { margin: 0; background: #f4f5f7; font: 11px sans-serif; color: #24292f; }
h1 { font-size: 16px; margin: 8px 10px 4px; } h1 small { font-weight: normal; color: #57606a; }
.panel { position: absolute; background: #fff; border: 1px solid #d8dee4; border-radius: 3px;
  overflow: hidden; } .panel h3 { font-size: 11.5px; margin: 5px 8px 0; height: 17px; }
.row { position: absolute; font-weight: bold; font-size: 12px; color: #57606a; }
svg text { font: 10px sans-serif; fill: #24292f; }
.numbers { display: flex; height: 100%; align-items: center; justify-content: space-evenly; }
.number { text-align: center; } .number small { display: block; color: #57606a; font-size: 9.5px; }
.empty { padding: 30px 20px; text-align: center; color: #57606a; font-size: 12px; }
table { border-collapse: collapse; width: 100%; font-size: 10.5px; }
th, td { text-align: left; padding: 2px 8px; border-bottom: 1px solid #eaeef2; height: 15px; }
"""


def answered(server: Prometheus, page: str, panel: dict[str, Any], time: Range) -> Iterator[Series]:
    for each in panel["targets"]:
        instant, legend = bool(each.get("instant")), each["legendFormat"]
        target = Target(page, panel["title"], each["refId"], each["expr"], instant, legend)
        for found in answer(server, target, time):
            points = [(float(at), float(value)) for at, value in found["values"]]
            labels = found["metric"]
            yield Series(named(legend, labels), labels, target.reference, points)


def marks(server: Prometheus, page: dict[str, Any], time: Range) -> list[tuple[float, str]]:
    """When releases were first seen."""
    (swaps,) = [each for each in page["annotations"]["list"] if each.get("useValueForTime")]
    found = server.instant(time.written_into(swaps["expr"]), time.end_s)
    return [(float(each["value"][1]) / 1000, each["metric"]["release"]) for each in found]


def pages_sent(server: Prometheus, page: dict[str, Any], time: Range) -> list[tuple[float, str]]:
    """When alerts that call somebody began to fire."""
    (alerts,) = [each for each in page["annotations"]["list"] if each["name"] == "Alerts"]
    expression = time.written_into(alerts["expr"])
    found = server.between(expression, time.start_s, time.end_s, time.step_s)
    return [
        (float(each["values"][0][0]), each["metric"]["alertname"])
        for each in found
        if each["metric"]["severity"] == "page"
    ]


def document(server: Prometheus, name: str, page: dict[str, Any], time: Range) -> tuple[str, int]:
    """The page as HTML, and its height."""
    seen = [(*mark, "blue") for mark in marks(server, page, time)]
    seen += [(*mark, "red") for mark in pages_sent(server, page, time)]
    parts, bottom = [], 0
    for panel in page["panels"]:
        place = panel["gridPos"]
        left, top = place["x"] * COLUMN_PX + GAP_PX, place["y"] * ROW_PX + 34
        if panel["type"] == "row":
            parts.append(
                f'<div class="row" style="left:{left + 2}px;top:{top + 8}px">'
                f"{escape(panel['title'])}</div>"
            )
            continue
        width, height = place["w"] * COLUMN_PX - GAP_PX, place["h"] * ROW_PX - GAP_PX
        bottom = max(bottom, top + height)
        series = list(answered(server, name, panel, time))
        frame = Frame(panel, width - 2, height - HEAD_PX - 4, time.start_s, time.end_s, seen)
        parts.append(
            f'<div class="panel" style="left:{left}px;top:{top}px;width:{width}px;'
            f'height:{height}px"><h3>{escape(panel["title"])}</h3>{drawn(frame, series)}</div>'
        )
    head = f"<h1>{escape(page['title'])} <small>{escape(page['description'])}</small></h1>"
    whole = f"<meta charset=utf-8><style>{STYLE}</style>{head}{''.join(parts)}"
    return whole, bottom + 10


def main(folder: Path, chosen: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, seeded_server(Path(scratch)) as (server, time):
        for name, page in pages(DASHBOARDS).items():
            if chosen and name not in chosen:
                continue
            assert list(panels(page))
            html, height = document(server, name, page, time)
            source = Path(scratch) / f"{name}.html"
            source.write_text(html)
            pictured(source, folder / f"{name}.png", height)


def pictured(source: Path, target: Path, height: int) -> None:
    words = [
        "chromium",
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
    ]
    size = f"--window-size={24 * COLUMN_PX + 2 * GAP_PX},{height}"
    words += [size, f"--screenshot={target}", source.as_uri()]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert target.exists(), done.stderr
    target.write_bytes(smaller(target.read_bytes()))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
