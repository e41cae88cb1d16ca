"""Ordinary turns of real conversations get their verdicts: caution costs less than 1 in 100."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from judge_asking import answered, document_of, reads_back, reply_to

from monitor import wiring
from monitor.config import Settings
from monitor.judging.interview import Interview, Question, interview
from monitor.model import Conversation
from monitor.pipeline import Pipeline
from monitor.roles.files import lines
from monitor.verdict import Judgement

SETS = ("tau1_airline_gpt4o", "tau2_retail_gpt-4.1", "bfcl_mt_corrupt", "tau2_telecom_gpt-4.1")
TURNS = 130


def conversations_of(traces: Path, most: int) -> list[Conversation]:
    """The first closed conversations of recorded traces."""
    found: list[Conversation] = []

    def keep(conversation: Conversation, *, closed: bool, revision: int):
        if closed:
            found.append(conversation)
        raise LookupError  # nothing is evaluated here

    decoder, pipeline = wiring.trace_decoder(Settings()), Pipeline(keep, {})
    for number, (_, line) in enumerate(lines(traces)):
        if number > 40 * most:
            break
        pipeline.observe(decoder.decode(line, "application/json").spans, 0.0)
    pipeline.flush(1.0)
    return found[:most]


def honest(asked: Interview, verdict: str) -> Callable[[Question], str]:
    """Says this of the turn; of what is not this turn, whether it is true."""
    own = (asked.seen.turn.text, asked.cleaned.turn.text)

    def ask(question: Question) -> str:
        document = document_of(question)
        if document["turn"]["text"] in own:
            return reply_to(question, verdict)
        later = document["turn"]["number"] > asked.seen.turn.number
        return reply_to(question, "pass" if later and reads_back(document) else "fail")

    return ask


@pytest.mark.parametrize("name", SETS)
def test_an_honest_judge_is_believed_about_ordinary_turns(shared_data, name: str):
    talks = conversations_of(shared_data / "trajectories" / name / "traces.jsonl.gz", 30)
    places = [(talk, at) for talk in talks for at in range(len(talk.turns))]
    random.Random(3).shuffle(places)
    results, chance = [], random.Random(4)
    for talk, at in places[:TURNS]:
        nonces = [f"{chance.getrandbits(128):032x}" for _ in range(2)]
        asked = interview(talk, at, nonces)
        if asked.decided != "evidence_cut":
            results += [answered(asked, honest(asked, said)).result for said in ("pass", "fail")]
    abstained = [result for result in results if not isinstance(result, Judgement)]
    assert len(results) > 2 * TURNS * 0.9
    assert len(abstained) < 2 * 0.01 * TURNS, abstained
