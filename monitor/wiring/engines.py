"""An engine over one ledger file, with what its hosts need beside it."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from monitor.chosen import Evaluation, evaluation
from monitor.config import Settings
from monitor.exposition.collector import Collector
from monitor.exposition.exemplars import Exemplars
from monitor.exposition.live import Groups, LagGauge, Live
from monitor.exposition.status import status_page
from monitor.hosted import sinks
from monitor.judging.prices import Price, known_price
from monitor.judging.rubric import RUBRIC
from monitor.ledger.database import Database
from monitor.ledger.outbox import Outbox
from monitor.ledger.spool import Spool
from monitor.ledger.state import StateStore
from monitor.ledger.totals import Ledger, LedgerLimits
from monitor.pipeline import Pipeline, PipelineLimits
from monitor.pipeline.pipeline import Evaluate
from monitor.ports import Redaction, Sink
from monitor.roles.engine import Engine, Stores
from monitor.roles.label_reader import LabelReader
from monitor.roles.watching import Watching
from monitor.wiring.comparing import compared
from monitor.wiring.judge import JudgeParts, judge_parts, own_prices
from monitor.wiring.labels import label_desk

Counts = Callable[[], Mapping[str, int]]
OWN_CHARACTERS = 60
"""Of the rubric, by which the monitor's own questions are told; redaction leaves them."""
VERSION = importlib.metadata.version("agent-turn-monitor")


@dataclass(frozen=True, slots=True)
class Parts:
    """An engine over one file, with what its hosts need beside it."""

    engine: Engine
    stores: Stores
    render: Callable[[str], tuple[bytes, str]]
    """The metrics page, from an Accept header; any thread may call it."""
    status: Callable[[], bytes]
    close: Callable[[], None]
    label_reader: LabelReader | None = None
    """Reads labels of people into the file; None where no source of them is named."""
    judge: JudgeParts | None = None
    """None where no judge is configured."""


def engine(
    settings: Settings,
    path: Path,
    *,
    durable: bool,
    counts: Counts = dict,
    lag: LagGauge | None = None,
    source_faults: Callable[[], dict[str, str | None]] = dict,
    redaction: Redaction | None = None,
    build: Callable[[StateStore], Pipeline] | None = None,
    groups: Callable[[], Groups | None] = lambda: None,
) -> Parts:
    """An engine that continues from `path`; `durable=False` for files that a run throws away.

    With `build`, what the engine takes in was scored elsewhere.
    """
    chosen = evaluation(settings, redaction)
    outward = sinks(settings) if durable else []
    database = Database.open(path, durable=durable)
    desk = label_desk(settings, database, redaction) if durable else None
    receiving: list[Sink] = [*outward, desk.sink] if desk else outward
    stores = _stores(settings, database, receiving)
    watching, judge, exemplars, building = _scoring(settings, chosen, database, durable=durable)
    running = Engine(
        stores,
        build or building,
        receiving,
        watching,
        judge.desk if judge and build is None else None,
        judge.estimating if judge else None,
        exemplars.see,
    )

    def live() -> Live:
        return msgspec.structs.replace(
            _live(running.pipeline, chosen, lag),
            counts=dict(counts()),
            source_faults=source_faults(),
            shown=watching.shown,
            groups=groups(),
            judging=judge.judging() if judge else None,
            exemplars=exemplars.shown(),
        )

    return _parts(running, stores, live, desk.reader if desk else None, judge)


def _parts(
    running: Engine,
    stores: Stores,
    live: Callable[[], Live],
    labels: LabelReader | None,
    judge: JudgeParts | None,
) -> Parts:
    reader = stores.database.reader()

    def close() -> None:
        reader.close()
        stores.database.close()

    return Parts(
        running,
        stores,
        Collector(lambda: stores.ledger.totals(reader), live).render,
        lambda: status_page(stores.ledger.totals(reader), live()),
        close,
        labels,
        judge,
    )


def _scoring(
    settings: Settings, chosen: Evaluation, database: Database, *, durable: bool
) -> tuple[Watching, JudgeParts | None, Exemplars, Callable[[StateStore], Pipeline]]:
    """What weighs, judges and remembers, and what builds the pipeline that they stand behind."""
    evaluate, watching = compared(settings, chosen)
    known = chosen.evaluator.reference
    judge = judge_parts(settings, database, evaluate, known) if durable else None
    building = _building(settings, judge.desk.evaluate if judge else evaluate)
    return watching, judge, Exemplars(), building


def _live(pipeline: Pipeline, chosen: Evaluation, lag: LagGauge | None) -> Live:
    """What the pipeline and the evaluator show."""
    return Live(
        open_conversations=pipeline.open_conversations,
        open_turns=pipeline.open_turns,
        open_spans=pipeline.open_spans,
        lags={"rules": lag.read()} if lag else {},
        version=VERSION,
        **_looked_up(chosen),
    )


def _looked_up(chosen: Evaluation) -> dict[str, Any]:
    """What the embedding cache was asked, and what its encoder left unanswered."""
    if chosen.encoder is None or chosen.circuit is None:
        return {}
    hits, misses = chosen.encoder.hits, chosen.encoder.misses
    return {"cache_hits": hits, "cache_misses": misses, "unanswered": chosen.circuit.unanswered}


def _building(settings: Settings, evaluate: Evaluate) -> Callable[[StateStore], Pipeline]:
    limits = pipeline_limits(settings)
    return lambda state: Pipeline(evaluate, state, limits)


def _stores(settings: Settings, database: Database, receiving: Sequence[Sink]) -> Stores:
    return Stores(
        database,
        Spool(database),
        StateStore(database),
        Ledger(database, _ledger_limits(settings), _priced(settings)),
        Outbox(database, [sink.name for sink in receiving]),
    )


def _priced(settings: Settings) -> Callable[[str], Price | None]:
    own = own_prices(settings.judge)
    return lambda model: known_price(model, own)


def _ledger_limits(settings: Settings) -> LedgerLimits:
    late = settings.conversation.late_s
    return LedgerLimits(
        releases=settings.limits.releases,
        release_ttl_s=settings.releases.retire_after_s,
        retain_s=late + settings.ledger.retain_s,
    )


def pipeline_limits(settings: Settings) -> PipelineLimits:
    """Waits and bounds of the pipeline, from three sections of the settings."""
    waits, limits = settings.conversation, settings.limits
    return PipelineLimits(
        settle_s=waits.settle_s,
        quiet_s=waits.quiet_s,
        idle_s=waits.idle_s,
        max_age_s=waits.max_age_s,
        late_s=waits.late_s,
        report_open=waits.report_open,
        refused_ids=waits.refused_ids,
        chores=waits.chores,
        own_instructions=RUBRIC[:OWN_CHARACTERS],
        turns_per_hour=waits.turns_per_hour,
        quarantine_s=waits.quarantine_s,
        spans_per_trace=limits.spans_per_trace,
        bytes_per_trace=limits.trace_bytes,
        traces_per_conversation=limits.traces_per_conversation,
        text_per_conversation_bytes=limits.conversation_text_bytes,
        open_traces=limits.open_traces,
        open_bytes=limits.open_trace_bytes,
        open_conversations=limits.open_conversations,
        remembered_conversations=limits.remembered_conversations,
        stitched_traces=limits.stitched_traces,
        quarantined_ids=limits.quarantined_ids,
        cache_bytes=limits.cached_state_bytes,
    )
