"""What judging a sample tells of all turns: counters for PromQL, sums for the tuned estimate.

A conversation enters when it is settled whether it was judged: at its close when nobody will be
asked, else with the judge's answer. So the cheap probability that is added for all turns and the
one that is taken away for the judged ones are always the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Final

import msgspec

from monitor.judging.calibration import Calibration
from monitor.judging.sampling import cell
from monitor.ledger.counters import Counters
from monitor.ledger.database import Database, Participant
from monitor.ledger.labels import label_value
from monitor.ledger.tally import MICRO
from monitor.ledger.totals import Folded
from monitor.verdict import Chain, Sample, SampledTurn

PRUNE_ROWS: Final = 10_000
_ENCODE: Final = msgspec.msgpack.Encoder().encode


class Settled(msgspec.Struct, frozen=True):
    """One conversation as the estimate takes it in, over the turns of its draw."""

    slot: int
    release: str
    judge: str
    """Who was asked; empty where nobody was."""
    turns: int
    predicted: float
    probability: float = 1.0
    judged: int = 0
    judged_correct: float = 0.0
    judged_predicted: float = 0.0


class _Drawn(msgspec.Struct, frozen=True):
    """A conversation that waits for its judge."""

    chains: dict[str, Chain]
    """By turn id."""
    sample: Sample
    slot: int
    release: str


_CALIBRATION: Final = msgspec.msgpack.Decoder(Calibration)
_DRAWN: Final = msgspec.msgpack.Decoder(_Drawn)


class Sampled(Participant):
    """The judged sample in the ledger's transaction."""

    def __init__(self, db: Database, judge: str = "", drawn: int = PRUNE_ROWS) -> None:
        """Continue from what the file holds; at most `drawn` conversations wait for an answer.

        `judge` is who is asked now: what nobody is asked about counts on its side. So what two
        judges, or two versions of the rubric, said is never added up.
        """
        self._db = db
        self._judge = label_value(judge)
        self._limit = drawn
        self._counters = Counters(db)
        self._calibration = Calibration()
        self._changed = False
        self._load()
        db.join(self)

    def fold(self, folded: Folded) -> Settled | None:
        """Take in a closed conversation: what it adds to the sums; None while that is open.

        A report that comes again, or says later what is settled already, adds nothing.
        """
        self._db.require_transaction()
        report, sample = folded.report, folded.report.sample
        if folded.first and sample is not None and not _is_settled(sample):
            self._wait(folded, sample)
            return None
        if folded.first:
            turns = tuple(SampledTurn(turn.turn_id, cell(turn)) for turn in report.turns)
            return self._settle(sample or Sample(1.0, "", turns), _drawn(folded, sample))
        if sample is None or not _is_settled(sample):
            return None
        drawn = self._taken(report.conversation_id)
        if drawn is None:
            return None
        own = drawn.sample
        sample = msgspec.structs.replace(sample, probability=own.probability, policy=own.policy)
        return self._settle(sample, drawn)

    def skip(self, conversation_id: str, why: str) -> Settled | None:
        """Settle a drawn conversation that nobody will be asked about, and count it.

        None when it does not wait: then it is settled, and was counted, before.
        """
        drawn = self._taken(conversation_id)
        if drawn is None:
            return None
        return self._settle(msgspec.structs.replace(drawn.sample, skipped=why), drawn)

    def sums(self) -> dict[int, bytes]:
        """What the estimate kept by release slot, in its own encoding."""
        return dict(self._db.rows("SELECT slot, body FROM judge_sums"))

    def keep_sums(self, changed: Mapping[int, bytes]) -> None:
        """Keep the estimate's sums together with the counters."""
        self._db.require_transaction()
        self._db.executemany(
            "INSERT OR REPLACE INTO judge_sums (slot, body) VALUES (?, ?)", list(changed.items())
        )

    def before_commit(self) -> None:
        """Write what has gathered."""
        self._counters.before_commit()
        if self._changed:
            self._db.execute(
                "INSERT OR REPLACE INTO judge_state (name, body) VALUES ('calibration', ?)",
                (_ENCODE(self._calibration),),
            )

    def committed(self) -> None:
        """It is in the file."""
        self._counters.committed()
        self._changed = False

    def rolled_back(self) -> None:
        """Go back to what the file holds."""
        self._counters.rolled_back()
        self._load()

    def _load(self) -> None:
        rows = self._db.rows("SELECT body FROM judge_state WHERE name = 'calibration'")
        self._calibration = _CALIBRATION.decode(rows[0][0]) if rows else Calibration()
        self._changed = False

    def _wait(self, folded: Folded, sample: Sample) -> None:
        drawn = _drawn(folded, sample)
        self._db.execute(
            "INSERT OR REPLACE INTO judge_drawn (key, slot, body) VALUES (?, ?, ?)",
            (_key(folded.report.conversation_id), drawn.slot, _ENCODE(drawn)),
        )
        over = self._db.rows("SELECT count(*) FROM judge_drawn")[0][0] - self._limit
        if over > 0:
            self._db.execute(
                "DELETE FROM judge_drawn WHERE key IN (SELECT key FROM judge_drawn LIMIT ?)",
                (over,),
            )
            self._counters.add("judge_skipped", ("forgotten",), over)

    def _taken(self, conversation_id: str) -> _Drawn | None:
        key = _key(conversation_id)
        rows = self._db.rows("SELECT body FROM judge_drawn WHERE key = ?", (key,))
        if not rows:
            return None
        self._db.execute("DELETE FROM judge_drawn WHERE key = ?", (key,))
        return _DRAWN.decode(rows[0][0])

    def _settle(self, sample: Sample, drawn: _Drawn) -> Settled:
        if sample.skipped is not None:
            self._counters.add("judge_skipped", (label_value(sample.skipped),))
        slot = str(drawn.slot)
        probabilities = [self._calibration.probability(turn.cell) for turn in sample.turns]
        was_judged = sample.judge is not None
        judge = self._judge if sample.judge is None else label_value(sample.judge)
        judged = correct = foreseen = 0.0
        learnt: list[tuple[str, bool]] = []
        for turn, probability in zip(sample.turns, probabilities, strict=True):
            labels = (slot, drawn.chains.get(turn.turn_id, "0"), judge)
            self._add("estimated", labels, 1.0)
            self._add("predicted_correct", labels, probability)
            if not was_judged:
                continue
            said = turn.verdict if turn.verdict in ("pass", "fail") else None
            # An abstention counts as what was foreseen: it moves the estimate nowhere.
            passed = probability if said is None else float(said == "pass")
            judged, correct, foreseen = judged + 1, correct + passed, foreseen + probability
            self._add("ipw_judged_correct", labels, passed / sample.probability)
            self._add("ipw_predicted_correct", labels, probability / sample.probability)
            self._counters.add("judged", (slot, judge, said or "abstained"))
            if said is not None:
                learnt.append((turn.cell, said == "pass"))
        if learnt:
            self._calibration = self._calibration.with_turns(learnt)
            self._changed = True
        return Settled(
            drawn.slot,
            drawn.release,
            sample.judge or "",
            len(sample.turns),
            sum(probabilities),
            sample.probability if was_judged else 1.0,
            int(judged),
            correct,
            foreseen,
        )

    def _add(self, family: str, labels: tuple[str, str, str], amount: float) -> None:
        self._counters.add(family, labels, round(amount * MICRO))


def _drawn(folded: Folded, sample: Sample | None) -> _Drawn:
    chains = {turn.turn_id: turn.chain for turn in folded.report.turns}
    return _Drawn(chains, sample or Sample(1.0, ""), folded.now_at.slot, folded.release)


def _is_settled(sample: Sample) -> bool:
    return sample.judge is not None or sample.skipped is not None


def _key(conversation_id: str) -> bytes:
    text = conversation_id.encode("utf-8", "surrogatepass")
    return blake2b(text, digest_size=16).digest()
