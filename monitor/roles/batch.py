"""Files in, report lines out: the `score` and `replay` commands.

A line that cannot be read costs itself only: it is named on standard error, counted, and makes the
exit code 1; every other line is reported.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from monitor.codec import encode_spans, report_line
from monitor.errors import MalformedPayload, MonitorError
from monitor.model import AgentSpan
from monitor.ports import Decoded, Rejection, SpanDecoder
from monitor.references.dialogs import Dialog, parse_dialog
from monitor.roles.engine import Batch, Engine
from monitor.roles.files import lines, payloads, replacing
from monitor.verdict import Report

JSON = "application/json"
ROWS = 64
COMMIT_LINES = 64
SHOWN_FAULTS = 20
SPREAD = "a document over many lines; write one dialog per line. The rest of the file is skipped"


@dataclass(slots=True)
class Summary:
    """What a batch command did."""

    reports: int = 0
    lines: int = 0
    refused_lines: int = 0
    refused_spans: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    roots: Counter[str] = field(default_factory=Counter)
    tasks: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Turns by verdict and by how the task ended, where the trace told."""

    def add(self, report: Report) -> None:
        """Count one final report."""
        self.reports += 1
        self.verdicts.update(verdict.verdict for verdict in report.turns)
        self.roots.update(v.failure_reason for v in report.turns if v.is_root and v.failure_reason)
        if report.outcome is not None:
            task = "passed" if report.outcome.passed else "failed"
            self.tasks.update((task, verdict.verdict) for verdict in report.turns)

    def refuse(self, where: str, error: object) -> None:
        """Count one refused line, and name the first few."""
        self.refused_lines += 1
        if self.refused_lines <= SHOWN_FAULTS:
            told = str(error)
            # Most errors begin with the place, which they were given.
            text = told if told.startswith(where) else f"{where}: {told}"
            print(f"agent-monitor: {text}", file=sys.stderr)  # noqa: T201  a command

    def refuse_spans(self, where: str, rejections: Sequence[Rejection]) -> None:
        """Count refused spans or records of one line, and name the first few."""
        for why, message in rejections:
            self.refused_spans += 1
            if self.refused_spans <= SHOWN_FAULTS:
                print(f"agent-monitor: {where}: {why}: {message}", file=sys.stderr)  # noqa: T201  a command

    def text(self) -> str:
        """A few lines for the terminal."""
        scored = self.verdicts["pass"] + self.verdicts["fail"]
        rate = f"{self.verdicts['pass'] / scored:.3f}" if scored else "unknown, nothing was scored"
        roots = ", ".join(f"{reason} {count}" for reason, count in sorted(self.roots.items()))
        rows = [
            f"{self.reports} conversations, {self.verdicts.total()} turns: "
            f"{self.verdicts['pass']} pass, {self.verdicts['fail']} fail, "
            f"{self.verdicts['unscored']} unscored",
            f"success rate of scored turns: {rate}",
            f"root causes: {roots or 'none'}",
        ]
        rows += [
            f"turns of tasks that {task}: {self._told(task)}"
            for task in sorted({task for task, _ in self.tasks})
        ]
        if self.refused_lines or self.refused_spans:
            rows.append(f"refused: {self.refused_lines} lines, {self.refused_spans} spans")
        return "\n".join(rows)

    def _told(self, task: str) -> str:
        verdicts = ("pass", "fail", "unscored")
        return ", ".join(f"{self.tasks[task, verdict]} {verdict}" for verdict in verdicts)


def score(
    dialogs: Sequence[Path], evaluate: Callable[[Dialog], Report], out: Path, *, progress: bool
) -> Summary:
    """One report line per dialog line, in order."""
    summary = Summary()
    with replacing(out) as file:
        for path in dialogs:
            for number, line in lines(path, progress=progress):
                where = f"{path}, line {number}"
                summary.lines += 1
                try:
                    dialog = parse_dialog(line, where, default_id=f"{path.name}:{number}")
                    report = evaluate(dialog)
                except MonitorError as error:
                    spread = number == 1 and not line.strip(b"[{ ")
                    summary.refuse(where, SPREAD if spread else error)
                    if spread:
                        break
                    continue
                summary.add(report)
                file.write(report_line(report) + b"\n")
    return summary


def replay(
    traces: Sequence[Path],
    decoders: Sequence[SpanDecoder],
    engine: Engine,
    out: Path,
    *,
    progress: bool,
    redact: Callable[[Sequence[AgentSpan]], Sequence[AgentSpan]] = list,
) -> Summary:
    """The traces through the service's own path; one line per conversation, in order of its id.

    Trace files carry no arrival times, so all spans arrive at one instant and everything closes at
    the end of the last file. `redact` sees all spans first; the default keeps them as they are.
    """
    summary = Summary()
    final: dict[str, Report] = {}
    for path in traces:
        for batches in _batches(path, decoders, summary, redact, progress=progress):
            engine.accept(batches, 0.0)
            while engine.work(0.0, ROWS):
                pass
            _keep(final, engine.commit(0.0))
    engine.flush(0.0)
    _keep(final, engine.commit(0.0))
    with replacing(out) as file:
        for _, report in sorted(final.items()):
            summary.add(report)
            file.write(report_line(report) + b"\n")
    return summary


def _keep(final: dict[str, Report], made: Sequence[tuple[float, Report]]) -> None:
    final.update({report.conversation_id: report for _, report in made if report.closed})


def _batches(
    path: Path,
    decoders: Sequence[SpanDecoder],
    summary: Summary,
    redact: Callable[[Sequence[AgentSpan]], Sequence[AgentSpan]],
    *,
    progress: bool,
) -> Iterator[list[Batch]]:
    batches: list[Batch] = []
    for number, line in payloads(path, progress=progress):
        summary.lines += 1
        try:
            decoded = _read(line, decoders)
        except MonitorError as error:
            summary.refuse(f"{path}, line {number}", error)
            continue
        summary.refuse_spans(f"{path}, line {number}", decoded.rejections)
        spans = redact(decoded.spans)
        batches.append(Batch(spans, encode_spans(spans)))
        if len(batches) >= COMMIT_LINES:
            yield batches
            batches = []
    if batches:
        yield batches


def _read(payload: bytes, decoders: Sequence[SpanDecoder]) -> Decoded:
    """By the first decoder that finds anything. Raises what the first one said."""
    found, refusal = None, None
    for decoder in decoders:
        try:
            decoded = decoder.decode(payload, JSON)
        except MonitorError as error:
            refusal = refusal or error
            continue
        if decoded.spans:
            return decoded
        found = found or decoded
    if found is None:
        raise refusal or MalformedPayload("nothing reads this payload")
    return found
