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
from monitor.ledger.snapshot import read_totals
from monitor.ledger.totals import Ledger
from monitor.model import Conversation
from monitor.references.contracts import ToolContracts
from monitor.roles.estimating import Estimating
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


class Host:
    """A desk over a ledger, committed as the engine does."""

    def __init__(self, judge: str, cases: int = 10) -> None:
        self.db = Database.open(":memory:")
        self.ledger = Ledger(self.db)
        self.estimating = Estimating(self.db, Sampled(self.db, judge), judge)
        self.book = JudgeBook(self.db, cases, 10, 60.0)
        self.desk = JudgeDesk(evaluated, Sampler(1.0, level=0.1), self.book, self.estimating)

    def close(self, name: str, revision: int = 1) -> None:
        said = msgspec.structs.replace(talk(reply("It is open.")), conversation_id=name)
        self.commit(self.desk.evaluate(said, closed=True, revision=revision))

    def commit(self, *reports: Report) -> None:
        with self.db.transaction():
            folded = self.ledger.fold(reports)
            self.estimating.fold(folded)
            self.desk.fold(folded, 1.0)
        self.desk.publish()

    def answered(self, name: str, judge: str) -> None:
        """One drawn conversation closes, and its judge answers."""
        self.close(name)
        ((seq, _, case),) = [
            each for each in self.book.next_cases(9) if each[2].conversation_id == name
        ]
        sample = case.sample or Sample(1.0, "")
        turns = tuple(msgspec.structs.replace(turn, verdict="pass") for turn in sample.turns)
        given = Opinions(msgspec.structs.replace(sample, turns=turns, judge=judge), ())
        assert self.desk.answer(seq, case, given)
        self.close(name, 2)


def test_a_late_answer_of_the_judge_before_begins_no_series_anew():
    host = Host("new/1")
    host.answered("a", "new/1")
    host.answered("b", "old/1")
    host.answered("c", "new/1")
    kept = host.estimating.sums_of("unknown")
    assert (kept.judge, kept.sums.n, kept.sums.judged) == ("new/1", 2, 2)


def test_what_the_full_queue_drops_is_settled_and_counted_once():
    host = Host("new/1", cases=2)
    for name in "abcd":
        host.close(name)
    host.close("a", 2)
    kept = host.estimating.sums_of("unknown")
    assert (kept.sums.n, kept.sums.drawn) == (2, 0)
    skipped = read_totals(host.db.reader()).family("judge_skipped")
    assert skipped == {("queue_full",): 2}
    assert host.desk.waiting == 2


def test_an_answer_about_a_case_that_was_dropped_meanwhile_changes_nothing():
    host = Host("new/1", cases=1)
    host.close("a")
    ((seq, _, case),) = host.book.next_cases(9)
    host.close("b")
    assert case.sample is not None
    sample = msgspec.structs.replace(case.sample, judge="new/1")
    assert not host.desk.answer(seq, case, Opinions(sample, ()))
    assert not host.desk.dirty
    assert host.book.opinions("a").sample.skipped == "queue_full"
