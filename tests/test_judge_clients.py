"""The judge's clients against what really answers them, and the patience around them."""

from __future__ import annotations

import random

import pytest
from judge_server import JudgeServer

from monitor.backends.asking import Attempt, PatientJudge
from monitor.backends.judge_bedrock import BedrockJudge
from monitor.backends.judge_openai import OpenAiJudge, _require_success
from monitor.errors import BackendUnavailable
from monitor.judging.canaries import CANARIES
from monitor.judging.interview import concluded, interview
from monitor.ports import JudgePrompt, JudgeReply
from monitor.verdict import Judgement

NONCES = ("0123456789abcdef0123456789abcdef", "f" * 32)
PROMPT = JudgePrompt("rubric", "shared ", "own", "key")


class ScriptedModel:
    """Answers from a list: a text, or what to raise."""

    version = "scripted"

    def __init__(self, *script: str | BackendUnavailable) -> None:
        self.script = list(script)
        self.asked = 0

    async def ask(self, prompt: JudgePrompt) -> JudgeReply:
        self.asked += 1
        answer = self.script.pop(0) if self.script else "last"
        if isinstance(answer, BackendUnavailable):
            raise answer
        return JudgeReply(answer, 1, 1)

    async def close(self) -> None:
        """Nothing to close."""


class Clock:
    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def down(why: str = "down", after: float | None = None) -> BackendUnavailable:
    return BackendUnavailable("not now", why, after)


def patient(model: ScriptedModel, clock: Clock) -> PatientJudge:
    return PatientJudge(model, clock, clock.sleep, random.Random(1))


async def ask(judge: PatientJudge, permits: list[str | None] | None = None):
    noted: list[Attempt] = []

    async def permit() -> str | None:
        return permits.pop(0) if permits else None

    async def note(attempt: Attempt) -> None:
        noted.append(attempt)

    reply = await judge.ask(PROMPT, permit, note)
    return (None if reply is None else reply.text), [attempt.result for attempt in noted]


async def test_a_call_that_failed_is_tried_three_times_with_growing_pauses():
    clock, model = Clock(), ScriptedModel(down(), down("timeout"), "good")
    assert await ask(patient(model, clock)) == ("good", ["down", "timeout", "ok"])
    assert 0.25 <= clock.slept[0] <= 0.75
    assert 0.5 <= clock.slept[1] <= 1.5


async def test_the_backends_own_wish_to_wait_is_heard_within_reason():
    clock = Clock()
    await ask(patient(ScriptedModel(down("throttled", 5.0), down("throttled", 900.0)), clock))
    assert clock.slept == [5.0, 20.0]


async def test_a_refusal_is_not_tried_again():
    clock, model = Clock(), ScriptedModel(down("refused"), "good")
    assert await ask(patient(model, clock)) == (None, ["refused"])


async def test_no_call_is_made_without_a_permit():
    clock, model = Clock(), ScriptedModel(down(), "good")
    assert await ask(patient(model, clock), [None, "hour_calls"]) == (None, ["down"])
    assert model.asked == 1


async def test_the_circuit_opens_after_five_failures_and_probes_later():
    clock, model = Clock(), ScriptedModel(*[down()] * 5, "good")
    judge = patient(model, clock)
    await ask(judge)
    await ask(judge)
    assert judge.is_open
    assert await ask(judge) == (None, [])
    assert model.asked == 5
    clock.now += 30.0
    assert await ask(judge) == ("good", ["ok"])
    assert not judge.is_open


async def test_an_openai_endpoint_answers_through_the_real_client():
    asked = interview(CANARIES[0].conversation, 1, NONCES)
    with JudgeServer() as server:
        model = OpenAiJudge(server.url, "grader", "sk-secret", extra={"seed": 7})
        reply = await model.ask(asked.questions[0].prompt)
        await model.close()
    assert (reply.input_tokens, reply.output_tokens) == (100, 20)
    said = concluded(asked, [reply.text], model.version).result
    assert isinstance(said, Judgement)
    assert (said.verdict, said.judge) == ("pass", "grader/turn-3")
    body = server.asked[0]
    assert server.keys == ["Bearer sk-secret"]
    assert (body["model"], body["temperature"], body["seed"]) == ("grader", 0, 7)
    assert [message["role"] for message in body["messages"]] == ["system", "user"]


@pytest.mark.parametrize(
    ("trouble", "why"),
    [
        ("throttled", "throttled"),
        ("down", "down"),
        ("refusal", "refused"),
        ("garbage", "garbage"),
        ("huge", "garbage"),
        ("reset", "down"),
        ("hang", "timeout"),
    ],
)
async def test_an_openai_endpoint_in_trouble_is_unavailable_and_says_why(trouble: str, why: str):
    with JudgeServer() as server:
        server.trouble, server.hang_s = trouble, 1.0
        model = OpenAiJudge(server.url, "grader", "sk-secret", timeout_s=0.3)
        with pytest.raises(BackendUnavailable) as caught:
            await model.ask(PROMPT)
        await model.close()
    assert caught.value.why == why
    assert "sk-secret" not in str(caught.value)


def bedrock(client) -> BedrockJudge:
    return BedrockJudge("amazon.nova-lite-v1:0", cache=True, client=client)


@pytest.fixture
def stubbed():
    import boto3
    from botocore.stub import Stubber

    client = boto3.client(
        "bedrock-runtime",
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )
    with Stubber(client) as stubber:
        yield client, stubber
    client.close()


async def test_bedrock_is_asked_with_the_rubric_apart_and_what_repeats_marked(stubbed):
    client, stubber = stubbed
    mark = {"cachePoint": {"type": "default"}}
    stubber.add_response(
        "converse",
        {
            "output": {"message": {"role": "assistant", "content": [{"text": "said"}]}},
            "stopReason": "end_turn",
            "usage": {"inputTokens": 12, "outputTokens": 3, "totalTokens": 15},
            "metrics": {"latencyMs": 5},
        },
        {
            "modelId": "amazon.nova-lite-v1:0",
            "system": [{"text": "rubric"}, mark],
            "messages": [{"role": "user", "content": [{"text": "shared "}, mark, {"text": "own"}]}],
            "inferenceConfig": {"temperature": 0.0, "maxTokens": 700},
        },
    )
    assert await bedrock(client).ask(PROMPT) == JudgeReply("said", 12, 3)


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("ThrottlingException", "throttled"),
        ("AccessDeniedException", "refused"),
        ("ModelTimeoutException", "down"),
    ],
)
async def test_bedrock_in_trouble_is_unavailable_and_says_why(stubbed, code: str, why: str):
    client, stubber = stubbed
    stubber.add_client_error("converse", code)
    with pytest.raises(BackendUnavailable) as caught:
        await bedrock(client).ask(PROMPT)
    assert caught.value.why == why


@pytest.mark.parametrize(
    ("told", "wait"), [("5", 5.0), ("\u00b2", None), ("-1", None), (None, None)]
)
def test_a_pause_that_is_no_number_is_none(told: str | None, wait: float | None):
    with pytest.raises(BackendUnavailable) as raised:
        _require_success(429, told)
    assert raised.value.retry_after_s == wait


async def test_a_judge_that_refuses_is_told_of_once_and_again_when_it_answers(caplog):
    clock = Clock()
    judge = patient(ScriptedModel(down("refused"), down("refused"), "good", "good"), clock)
    for _ in range(4):
        await ask(judge)
    assert caplog.messages == ["judging waits: not now", "the judge answers again"]


async def test_failures_that_pass_by_themselves_are_not_told_of(caplog):
    await ask(patient(ScriptedModel(down(), down("timeout"), "good"), Clock()))
    assert caplog.messages == []
