"""The monitor's questions to a judge, come back as traffic, are nobody's turns."""

from __future__ import annotations

import pytest

from monitor.assembly.chores import Chores
from monitor.judging.rubric import RUBRIC
from monitor.model import AgentSpan, Message

OWN = RUBRIC[:60]
USER = Message("user", "grade turn 3")
REPLY = (Message("assistant", "{}"),)


def asked(**more: object) -> AgentSpan:
    kind = more.pop("kind", "model")
    return AgentSpan("t", "s", kind, messages_out=REPLY, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "span",
    [
        asked(system=RUBRIC, messages_in=(USER,)),
        asked(messages_in=(Message("system", RUBRIC), USER)),
    ],
)
def test_a_call_with_our_rubric_is_silenced(span: AgentSpan):
    silenced = Chores((), OWN).silenced(span)
    assert (silenced.kind, silenced.messages_out) == ("other", None)


@pytest.mark.parametrize(
    "span",
    [
        asked(system="You grade essays.", messages_in=(USER,)),
        asked(messages_in=(Message("user", RUBRIC),)),
        asked(messages_in=None),
        asked(kind="agent", system=RUBRIC),
    ],
)
def test_other_calls_stay_as_they_are_whatever_users_write(span: AgentSpan):
    assert Chores((), OWN).silenced(span) is span
