"""Labels of people in the running service: files in, counters on the metrics page out."""

from __future__ import annotations

import json
import time
from pathlib import Path

from running import Running

from monitor.roles.demo.traffic import BEFORE, TOOLS, traffic

PAIRS = 'agent_monitor_label_pairs_total{automated="pass",human="fail",sub_metric="overall"} '


def test_a_label_of_a_served_conversation_is_counted_once_and_survives(tmp_path: Path):
    played = next(one for one in traffic(BEFORE, 9, 3) if one.reference is None)
    (tmp_path / "tools.json").write_text(json.dumps({"tools": TOOLS}))
    labels = tmp_path / "labels.jsonl"
    labels.write_text(
        json.dumps({"conversation_id": played.conversation_id, "label": 0, "annotator": "ann"})
    )
    (tmp_path / "config.toml").write_text(
        '[labels]\nfiles = ["labels.jsonl"]\ninterval_s = 0.2\n'
        '[tools]\nfiles = ["tools.json"]\n[conversation]\nsettle_s = 0.1\nidle_s = 0.3\n'
    )
    config = ("--config", str(tmp_path / "config.toml"))

    with Running(tmp_path, *config) as service:
        assert service.post(json.dumps(played.request).encode()) == 200
        counted = until(service, f"{PAIRS}1.0")
        assert service.stop() == 0
    with Running(tmp_path, *config) as service:
        again = until(service, f"{PAIRS}1.0")

    assert f"{PAIRS}1.0" in counted
    assert f"{PAIRS}1.0" in again


def until(service: Running, text: str) -> str:
    """The metrics page once the text is on it, or as it is after a while."""
    end, page = time.monotonic() + 20, ""
    while time.monotonic() < end and text not in page:
        page = service.page("/metrics")[1]
        time.sleep(0.1)
    return page
