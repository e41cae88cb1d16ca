"""What compares releases: the detectors' rules, and which requests are alike."""

from __future__ import annotations

from typing import Any

import msgspec

from monitor.chosen import Evaluation
from monitor.config import Settings
from monitor.model import Conversation
from monitor.pipeline import Evaluate
from monitor.ports import Encoder
from monitor.releases.betting import drift_threshold
from monitor.releases.identity import named_by_tools
from monitor.releases.intents import PHRASES, Intents
from monitor.releases.pairs import Rules
from monitor.releases.watch import Watch
from monitor.roles.watching import Watching
from monitor.verdict import Report


def compared(settings: Settings, chosen: Evaluation) -> tuple[Evaluate, Watching]:
    """The evaluation that tells what comparison needs, and the detectors that it feeds."""
    intents = intents_of(settings, chosen.encoder)
    evaluate = chosen.evaluator.evaluate
    from_tools = settings.releases.from_tools
    return identified(evaluate, intents, from_tools=from_tools), watching_of(settings, intents)


def watching_of(settings: Settings, intents: Intents | None) -> Watching:
    """The detectors of regressions, under the rules that the settings give."""
    given = settings.releases
    rules = Rules(
        swap_conversations=given.swap_conversations,
        baseline_conversations=given.baseline_conversations,
        tolerance=given.tolerance,
        page_evidence=given.page_evidence,
        drift_evidence=drift_threshold(given.monthly_conversations, given.monthly_drift_alarms),
    )
    return Watching(lambda kept: Watch(rules, kept), intents.version if intents else "")


def intents_of(settings: Settings, encoder: Encoder | None) -> Intents | None:
    """The clusters of requests; None where none are wanted, or nothing gives vectors."""
    phrases = settings.releases.intents
    if encoder is None or phrases == ():
        return None
    return Intents(encoder, PHRASES if phrases is None else phrases)


def identified(evaluate: Evaluate, intents: Intents | None, *, from_tools: bool) -> Evaluate:
    """The same evaluation, whose reports tell what the comparison of releases needs beside."""
    if intents is None and not from_tools:
        return evaluate

    def evaluated(
        conversation: Conversation, *, closed: bool, revision: int, **judged: Any
    ) -> Report:
        report = evaluate(conversation, closed=closed, revision=revision, **judged)
        intent = intents.of(conversation.queries) if closed and intents else None
        release = named_by_tools(conversation) if from_tools else report.release
        return msgspec.structs.replace(report, intent=intent, release=release)

    return evaluated
