"""Ordinary turns of real conversations get their verdicts: caution costs less than 1 in 100."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest

from monitor import wiring
from monitor.config import Settings
from monitor.judging.interview import Interview, concluded, interview
from monitor.judging.sight import CUT
from monitor.judging.suspicion import REMOVED
from monitor.model import Conversation
from monitor.pipeline import Pipeline
from monitor.roles.files import lines
from monitor.verdict import Judgement

SETS = ("tau1_airline_gpt4o", "tau2_retail_gpt-4.1", "bfcl_mt_corrupt", "tau2_telecom_gpt-4.1")
TURNS = 130
NONCES = ("0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210")


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


def honest(asked: Interview) -> list[str]:
    """Passes the turn and quotes its longest passage."""
    replies = []
    for question in asked.questions:
        turn = json.loads(question.prompt.user.partition("\n\nnonce: ")[0])["turn"]
        parts = re.split(f"{re.escape(REMOVED)}|{re.escape(CUT)}", turn["text"])
        said = {"verdict": "pass", "reason": None, "field": None, "score": 0.9, "upstream": None}
        quote = max((part.strip() for part in parts), key=len)[:100]
        said |= {"nonce": question.nonce, "quote": quote, "source": turn["number"]}
        replies.append(json.dumps(said))
    return replies


@pytest.mark.parametrize("name", SETS)
def test_an_honest_judge_is_believed_about_ordinary_turns(shared_data, name: str):
    talks = conversations_of(shared_data / "trajectories" / name / "traces.jsonl.gz", 30)
    places = [(talk, at) for talk in talks for at in range(len(talk.turns))]
    random.Random(3).shuffle(places)
    results = []
    for talk, at in places[:TURNS]:
        asked = interview(talk, at, NONCES)
        if asked.decided != "evidence_cut":
            results.append(concluded(asked, honest(asked), "honest").result)
    abstained = [result for result in results if not isinstance(result, Judgement)]
    assert len(results) > TURNS * 0.9
    assert len(abstained) < 0.01 * TURNS, abstained
