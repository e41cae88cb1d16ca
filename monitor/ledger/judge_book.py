"""What judging must not forget: waiting cases, opinions, answers and what the budget has spent."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

import msgspec

from monitor.judging.budget import Spent
from monitor.ledger.database import Database
from monitor.verdict import JudgeCase, Judgement, Sample

PRUNE_ROWS: Final = 1_000
_ENCODE: Final = msgspec.msgpack.Encoder().encode


class Opinions(msgspec.Struct, frozen=True):
    """All that came of drawing one conversation."""

    sample: Sample
    """With the judge's name, or why nobody was asked."""
    judgements: tuple[Judgement, ...]


_CASE: Final = msgspec.msgpack.Decoder(JudgeCase)
_OPINIONS: Final = msgspec.msgpack.Decoder(Opinions)
_SPENT: Final = msgspec.msgpack.Decoder(Spent)


class JudgeBook:
    """Tables beside the ledger's own, in the same file.

    Every method that writes does so in the transaction that is open; `spend` opens its own, so
    that what a call costs is durable before it is made.
    """

    def __init__(self, db: Database, cases: int, answers: int, keep_s: float) -> None:
        """At most `cases` wait and `answers` are remembered; opinions are kept for `keep_s`."""
        self._db = db
        self._cases = cases
        self._answers = answers
        self._keep_s = keep_s

    def wait(self, case: JudgeCase, now: float) -> list[JudgeCase]:
        """Queue a case; the ones that had to give way, oldest first. A known one is not queued."""
        key = _key(case.conversation_id)
        self._db.execute(
            "INSERT OR IGNORE INTO judge_cases (key, picked_s, body) VALUES (?, ?, ?)",
            (key, now, _ENCODE(case)),
        )
        over = self.waiting() - self._cases
        if over <= 0:
            return []
        rows = self._db.rows("SELECT seq, body FROM judge_cases ORDER BY seq LIMIT ?", (over,))
        self._db.execute("DELETE FROM judge_cases WHERE seq <= ?", (rows[-1][0],))
        return [_CASE.decode(body) for _, body in rows]

    def waiting(self) -> int:
        """Cases that nobody has answered yet."""
        return int(self._db.rows("SELECT count(*) FROM judge_cases")[0][0])

    def waits(self, seq: int) -> bool:
        """Whether a case is still in the queue."""
        return bool(self._db.rows("SELECT 1 FROM judge_cases WHERE seq = ?", (seq,)))

    def next_cases(self, limit: int) -> list[tuple[int, float, JudgeCase]]:
        """The oldest cases, each with its number and when it was queued."""
        rows = self._db.rows(
            "SELECT seq, picked_s, body FROM judge_cases ORDER BY seq LIMIT ?", (limit,)
        )
        return [(seq, picked_s, _CASE.decode(body)) for seq, picked_s, body in rows]

    def answered(self, seq: int, conversation_id: str, opinions: Opinions, now: float) -> None:
        """Take a case from the queue, and keep what was said of it."""
        self._db.execute("DELETE FROM judge_cases WHERE seq = ?", (seq,))
        self.keep(conversation_id, opinions, now)

    def keep(self, conversation_id: str, opinions: Opinions, now: float) -> None:
        """Remember what was said of a conversation."""
        self._db.execute(
            "INSERT OR REPLACE INTO judge_opinions (key, stamped_s, body) VALUES (?, ?, ?)",
            (_key(conversation_id), now, _ENCODE(opinions)),
        )

    def opinions(self, conversation_id: str) -> Opinions | None:
        """What was said of a conversation; None when nobody was asked, or it is long ago."""
        rows = self._db.rows(
            "SELECT body FROM judge_opinions WHERE key = ?", (_key(conversation_id),)
        )
        return _OPINIONS.decode(rows[0][0]) if rows else None

    def answer(self, judge: str, question: str) -> bytes | None:
        """What the judge answered to the same question before."""
        rows = self._db.rows(
            "SELECT body FROM judge_answers WHERE key = ?", (_digest(judge, question),)
        )
        return bytes(rows[0][0]) if rows else None

    def remember(self, judge: str, question: str, answer: bytes, now: float) -> None:
        """Keep an answer, in a transaction of its own."""
        with self._db.transaction():
            self._db.execute(
                "INSERT OR REPLACE INTO judge_answers (key, stamped_s, body) VALUES (?, ?, ?)",
                (_digest(judge, question), now, answer),
            )
            self._db.execute(
                "DELETE FROM judge_answers WHERE key IN (SELECT key FROM judge_answers"
                " ORDER BY stamped_s DESC, key LIMIT ? OFFSET ?)",
                (PRUNE_ROWS, self._answers),
            )

    def spent(self) -> Spent | None:
        """What the budget's windows had taken at the last call; None before the first."""
        rows = self._db.rows("SELECT body FROM judge_state WHERE name = 'spent'")
        return _SPENT.decode(rows[0][0]) if rows else None

    def spend(self, spent: Spent) -> None:
        """Make what is about to be spent durable."""
        with self._db.transaction():
            self._db.execute(
                "INSERT OR REPLACE INTO judge_state (name, body) VALUES ('spent', ?)",
                (_ENCODE(spent),),
            )

    def prune(self, now: float) -> None:
        """Drop opinions of conversations that are long over, a bounded number at a time."""
        self._db.execute(
            "DELETE FROM judge_opinions WHERE key IN (SELECT key FROM judge_opinions"
            " WHERE stamped_s < ? ORDER BY stamped_s LIMIT ?)",
            (now - self._keep_s, PRUNE_ROWS),
        )


def _key(conversation_id: str) -> bytes:
    return _digest("conversation", conversation_id)


def _digest(*parts: str) -> bytes:
    state = blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8, "big") + data)
    return state.digest()


def keyed(values: Sequence[Judgement]) -> dict[str, Judgement]:
    """Judgements by the turn that they are about."""
    return {each.turn_id: each for each in values}
