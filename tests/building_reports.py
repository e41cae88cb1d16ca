"""Builders for the tests of the ledger and its exposition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from monitor.ledger.database import Database
from monitor.verdict import Chain, Composition, Report, Verdict


def passed(turn_id: str, **more: Any) -> Verdict:
    return _turn(turn_id, {"verdict": "pass", "basis": "contract", **more})


def root(turn_id: str, reason: str = "missing_parameters", **more: Any) -> Verdict:
    fields = {"verdict": "fail", "failure_reason": reason, "basis": "contract", **more}
    return _turn(turn_id, fields)


def inherited(turn_id: str, **more: Any) -> Verdict:
    return root(turn_id, "prior_action_failed", **{"inherited_from": 1, **more})


def unscored(turn_id: str, why: str = "no_reference", **more: Any) -> Verdict:
    return _turn(turn_id, {"verdict": "unscored", "why": why, **more})


def report(
    conversation_id: str,
    *turns: Verdict,
    revision: int = 1,
    closed: bool = True,
    release: str = "shop-1@model-a",
    chain: Chain = "1",
    **more: Any,
) -> Report:
    scored = [turn for turn in turns if turn.verdict != "unscored"]
    passed_all = all(turn.verdict == "pass" for turn in scored) if scored else None
    fields: dict[str, Any] = {
        "conversation_id": conversation_id,
        "revision": revision,
        "closed": closed,
        "release": release,
        "success_rate": None,
        "test_pass": passed_all,
        "first_failure_turn": None,
        "root_cause": None,
        "root_cause_count": sum(turn.is_root for turn in turns),
        "cascading_count": sum(turn.is_inherited for turn in turns),
        "unscored_count": len(turns) - len(scored),
        "chain_length": chain,
        "sub_metrics": {},
        "composition": Composition("all", None, passed_all),
        "turns": turns,
        "model": release.rpartition("@")[2],
        "evaluator": "rules-1",
    }
    return Report(**{**fields, **more})


def _turn(turn_id: str, fields: dict[str, Any]) -> Verdict:
    plain: dict[str, Any] = {"turn_no": 1, "turn_type": "action", "chain": "1"}
    return Verdict(turn_id=turn_id, **{**plain, **fields})


class Abandoned(Exception):
    """Ends a transaction that must leave nothing behind."""


def abandon(db: Database, *writes: Callable[[], Any]) -> None:
    """Make the writes in one transaction, and break it off before its end."""

    def broken_off() -> None:
        with db.transaction():
            for write in writes:
                write()
            raise Abandoned

    with pytest.raises(Abandoned):
        broken_off()
