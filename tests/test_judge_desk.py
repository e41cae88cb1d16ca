"""What the writer's side of judging makes of draws and answers."""

from __future__ import annotations

import msgspec
from evaluating import reply, talk

from monitor.comparison.ladder import Ladder
from monitor.evaluator import Evaluator
from monitor.judging.sampling import Rules, Sampler
from monitor.ledger.database import Database
from monitor.ledger.judge_book import JudgeBook, Opinions
from monitor.ledger.sampled import Sampled
from monitor.ledger.totals import Ledger
from monitor.model import Conversation
from monitor.references.contracts import ToolContracts
from monitor.roles.judge_desk import JudgeDesk, drawn
from monitor.verdict import Report, Sample


def evaluated(
    conversation: Conversation, *, closed: bool, revision: int, **known: object
) -> Report:
    evaluator = Evaluator((), ToolContracts(()), Ladder(), evidence=False)
    return evaluator.evaluate(conversation, closed=closed, revision=revision)


def test_both_hosts_draw_a_tenant_by_its_service():
    said = msgspec.structs.replace(talk(reply("It is open.")), service="acme/shop")
    report = evaluated(said, closed=True, revision=1)
    always = Sampler(0.0, rules=Rules(always_services=("acme/*",)))
    assert drawn(always, said, report) is not None
    assert drawn(Sampler(1.0, rules=Rules(never_services=("acme/*",))), said, report) is None


def answered(desk: JudgeDesk, ledger: Ledger, db: Database, name: str, judge: str) -> None:
    """One drawn conversation closes, and its judge answers."""
    said = msgspec.structs.replace(talk(reply("It is open.")), conversation_id=name)
    first = desk.evaluate(said, closed=True, revision=1)
    with db.transaction():
        desk.fold(ledger.fold([first]), 1.0)
    desk.publish()
    ((seq, _, case),) = [
        each for each in desk._book.next_cases(9) if each[2].conversation_id == name
    ]
    sample = case.sample or Sample(1.0, "")
    turns = tuple(msgspec.structs.replace(turn, verdict="pass") for turn in sample.turns)
    given = Opinions(msgspec.structs.replace(sample, turns=turns, judge=judge), ())
    assert desk.answer(seq, case, given)
    second = desk.evaluate(said, closed=True, revision=2)
    with db.transaction():
        desk.fold(ledger.fold([second]), 2.0)
    desk.publish()


def test_a_late_answer_of_the_judge_before_begins_no_series_anew():
    db = Database.open(":memory:")
    ledger, sampled = Ledger(db), Sampled(db, "new/1")
    desk = JudgeDesk(
        evaluated, Sampler(1.0, level=0.1), JudgeBook(db, 10, 10, 60.0), sampled, None, "new/1"
    )
    answered(desk, ledger, db, "a", "new/1")
    answered(desk, ledger, db, "b", "old/1")
    answered(desk, ledger, db, "c", "new/1")
    ((_, kept),) = desk._sums.items()
    assert (kept.judge, kept.sums.n, kept.sums.judged) == ("new/1", 2, 2)
