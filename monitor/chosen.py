"""The evaluator and the redaction that the settings name."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from monitor.backends.ahead import ForesightedEvaluator
from monitor.backends.circuit import Circuit
from monitor.backends.encoders import Wish, encoder
from monitor.backends.vector_store import SqliteVectorStore
from monitor.comparison.cache import CachedEncoder
from monitor.comparison.calibration import Calibrations, shipped
from monitor.comparison.calibration import decoded as calibrations
from monitor.comparison.gathering import GatheringEncoder
from monitor.comparison.ladder import Ladder
from monitor.config import Settings
from monitor.config.intake import RedactionSettings
from monitor.config.judgement import ReferenceSettings, ToolSettings
from monitor.entry_points import load_adapter
from monitor.errors import ConfigurationError
from monitor.evaluator import Evaluator
from monitor.model import JsonValue, ToolDefinition
from monitor.ports import Redaction, ReferenceSource
from monitor.references.by_id import ReferenceStore, parse_reference
from monitor.references.carried import CarriedReference
from monitor.references.contracts import ToolContracts
from monitor.references.dialogs import Dialog
from monitor.references.documents import decoded
from monitor.references.golden import GoldenStore, parse_golden
from monitor.references.tools_file import parse_tools
from monitor.remembered import RememberingEvaluator
from monitor.roles.files import lines, read
from monitor.roles.redaction_key import service_key, shown_key, tried_key
from monitor.scoring.composition import composition_rule
from monitor.scoring.thresholds import FieldPolicy, Thresholds
from monitor.verdict import Report

Parsed = TypeVar("Parsed")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The evaluator with the parts of it that others look at."""

    evaluator: RememberingEvaluator
    encoder: CachedEncoder | None
    contracts: ToolContracts
    circuit: Circuit | None
    """Before the encoder; None where there is none."""


def evaluation(settings: Settings, redaction: Redaction | None = None) -> Evaluation:
    """The evaluator with every reference, contract and comparator that the settings name.

    References are redacted like the traces that they are held against.
    """
    circuit, encoder = _encoder(settings)
    gathering = (
        GatheringEncoder(encoder) if encoder is not None and _wish(settings).is_slow else None
    )
    comparator = Ladder(
        encoder=encoder if gathering is None else gathering,
        calibrations=_calibrations(settings, encoder),
    )
    contracts = _contracts(settings.tools)
    sources = _sources(settings.references, encoder, comparator, contracts, redaction)
    parts = (
        (),
        contracts,
        comparator,
        composition_rule(settings.composition.rule, settings.composition.parameters),
        _thresholds(settings),
    )
    more: dict[str, Any] = {
        "evidence": settings.evidence.enabled,
        "outcome_bar": settings.composition.outcome_bar,
    }
    evaluator = (
        ForesightedEvaluator(*parts, encoder=gathering, **more)
        if gathering
        else Evaluator(*parts, **more)
    )
    remembering = RememberingEvaluator(
        evaluator, sources, settings.limits.remembered_turns, lambda: comparator.unavailable
    )
    return Evaluation(remembering, encoder, contracts, circuit)


def dialog_evaluation(settings: Settings) -> Callable[[Dialog], Report]:
    """From a dialog with its own pairs to its report."""
    return over_dialogs(evaluation(settings).evaluator)


def over_dialogs(evaluator: RememberingEvaluator) -> Callable[[Dialog], Report]:
    """The same, with an evaluator that is there already."""

    def evaluate(dialog: Dialog) -> Report:
        return evaluator.evaluate(
            dialog.conversation,
            closed=True,
            revision=1,
            dialog_id=dialog.reference.reference_id,
            reference=dialog.reference,
        )

    return evaluate


def service_redaction(settings: Settings) -> Redaction | None:
    """Redaction under the deployment's own key; None when it is switched off."""
    chosen = settings.redaction
    beside = settings.ledger.path.with_name(f"{settings.ledger.path.name}.key")
    return _redaction(chosen, lambda: service_key(os.environ, chosen.key_file, beside))


def replay_redaction(settings: Settings) -> Redaction | None:
    """Redaction as the service of the same user does it, so that both report alike."""
    chosen = settings.redaction
    return _redaction(chosen, lambda: service_key(os.environ, chosen.key_file, None))


def shown_redaction(settings: Settings) -> Redaction | None:
    """Redaction for what is only shown: the same on every machine."""
    return _redaction(settings.redaction, lambda: shown_key(os.environ))


def tried_redaction(settings: Settings) -> Redaction | None:
    """What `service_redaction` gives, or raises, without making a key."""
    chosen = settings.redaction
    beside = settings.ledger.path.with_name(f"{settings.ledger.path.name}.key")
    return _redaction(chosen, lambda: tried_key(os.environ, chosen.key_file, beside))


def _redaction(chosen: RedactionSettings, key: Callable[[], bytes]) -> Redaction | None:
    if not chosen.enabled:
        return None
    redaction: Redaction = load_adapter("redaction")(
        key(), kinds=chosen.kinds, patterns=chosen.patterns, style=chosen.style
    )
    return redaction


def encoder_of(settings: Settings) -> CachedEncoder | None:
    """The encoder that the settings name, with its memory; None where none is wanted."""
    return _encoder(settings)[1]


def _encoder(settings: Settings) -> tuple[Circuit | None, CachedEncoder | None]:
    chosen = settings.embedding
    if chosen.backend == "none":
        return None, None
    circuit = encoder(_wish(settings), time.monotonic)
    store = SqliteVectorStore(chosen.persist_path) if chosen.persist_path else None
    return circuit, CachedEncoder(circuit, chosen.cache_entries, chosen.tenant, store)


def _wish(settings: Settings) -> Wish:
    chosen = settings.embedding
    return Wish(
        chosen.backend,
        chosen.url,
        chosen.key.get_secret_value() if chosen.key else None,
        chosen.insecure,
        chosen.model,
        chosen.dimensions,
        chosen.region,
        chosen.timeout_s,
    )


def calibrations_of(settings: Settings) -> Calibrations:
    """What a team fitted itself, else what comes with the package."""
    path = settings.comparison.calibration
    return calibrations(read(path), str(path)) if path else shipped()


def _calibrations(settings: Settings, encoder: CachedEncoder | None) -> Calibrations:
    """Calibrations of which one fits the encoder that is used. Raises ConfigurationError."""
    path = settings.comparison.calibration
    found = calibrations_of(settings)
    version = None if encoder is None else encoder.version
    if found.chosen(version) is None:
        raise ConfigurationError(
            f"{path} was fitted with another encoder than {version or 'none'}; fit it again"
        )
    return found


def _thresholds(settings: Settings) -> Thresholds:
    bars = settings.comparison
    return Thresholds(
        bars.threshold,
        bars.sub_metrics,
        bars.tools,
        {name: one.threshold for name, one in bars.fields.items() if one.threshold is not None},
        {name: FieldPolicy(one.compare, one.tolerance) for name, one in bars.fields.items()},
    )


def _contracts(tools: ToolSettings) -> ToolContracts:
    definitions = [
        definition for path in tools.files for definition in parse_tools(read(path), str(path))
    ]
    told = dict.fromkeys(tools.writes, True) | dict.fromkeys(tools.reads, False)
    return ToolContracts([*_marked(definitions, told)])


def _marked(
    definitions: Iterable[ToolDefinition], told: Mapping[str, bool]
) -> Iterator[ToolDefinition]:
    """The definitions with what the settings say of writing, and bare ones for the other names."""
    left = dict(told)
    for definition in definitions:
        writes = left.pop(definition.name, definition.writes)
        yield msgspec.structs.replace(definition, writes=writes)
    for name, writes in left.items():
        yield ToolDefinition(name, writes=writes)


def _sources(
    references: ReferenceSettings,
    encoder: CachedEncoder | None,
    comparator: Ladder,
    contracts: ToolContracts,
    redaction: Redaction | None,
) -> list[ReferenceSource]:
    """What the trace itself carries comes first, then references by id, then golden dialogs."""
    by_id = ReferenceStore(_parsed(references.by_id, parse_reference, redaction))
    golden = GoldenStore(
        _parsed(references.golden, parse_golden, redaction),
        encoder,
        comparator,
        contracts,
        references.query_similarity,
    )
    return [CarriedReference(), by_id, golden]


def _parsed(
    paths: Iterable[Path],
    parse: Callable[[JsonValue, str], Parsed],
    redaction: Redaction | None,
) -> Iterator[Parsed]:
    for path in paths:
        for number, line in lines(path):
            where = f"{path}, line {number}"
            document = decoded(line, where)
            yield parse(redaction.document(document) if redaction else document, where)
