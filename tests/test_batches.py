"""Ids inside one trace: a harness's cases are conversations, a sub-agent's runs are not."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from assembly_builders import Trace, asked, call, conversations, said, story, told, user
from hypothesis import given
from hypothesis import strategies as st

from monitor.assembly.segments import segments_of
from monitor.model import AgentSpan

QUERIES = ("Where is order 7?", "Cancel my flight 9 please.", "Which shop is open today?")


def case(trace: Trace, number: int, parent: str = "root", **more: Any) -> Trace:
    """An agent with its own id that answers its own user."""
    name, query = f"case{number}", QUERIES[number % 3]
    given = [user(query)]
    trace.agent(name, parent, conversation_id=f"id-{number}", messages_in=tuple(given), **more)
    out = [said(f"Answer number {number}.")]
    return trace.model(f"m{number}", given, out, name, conversation_id=None)


def harness(kind: str, count: int = 2, **more: Any) -> Trace:
    trace = Trace("t", None).add("root", kind, **{"conversation_id": "run", **more})
    for number in range(count):
        case(trace, number)
    return trace


def told_of(trace: Trace) -> dict[str, list[str]]:
    return {name: story(found) for name, found in sorted(conversations(trace.spans).items())}


CASES = {f"id-{number}": [f'0 "Answer number {number}."'] for number in range(3)}
EVERY_INPUT = (user("Run all:\n" + "\n".join(QUERIES)),)


@pytest.mark.parametrize("kind", ["other", "agent"])
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"messages_in": (user("Run the nightly evaluation."),)},
        {"messages_in": EVERY_INPUT},
        {"messages_out": (said("2 of 3 passed."),)},
        {"messages_out": (said("\n".join(line[3:-1] for (line,) in CASES.values())),)},
        {"conversation_id": None},
    ],
)
def test_the_cases_of_a_harness_are_conversations_and_its_root_is_in_none(kind: str, more: dict):
    assert told_of(harness(kind, 3, **more)) == CASES
    found = conversations(harness(kind, 3, **more).spans)
    assert [found[name].queries for name in sorted(found)] == [(query,) for query in QUERIES]


@pytest.mark.parametrize("kind", ["other", "agent"])
def test_cases_may_stand_below_wrappers(kind: str):
    trace = Trace("t", None).add("root", kind, conversation_id="run").add("suite", kind, "root")
    for number in range(3):
        case(trace.add(f"w{number}", "other", "suite"), number, f"w{number}")
    assert told_of(trace) == CASES


def test_a_case_without_an_id_is_the_harnesss_own():
    trace = harness("agent")
    trace.agent("case9", "root").model("m9", [user("Hello?")], [said("Hi.")], "case9")
    assert told_of(trace) == {**dict(list(CASES.items())[:2]), "run": ['0 "Hi."']}


@pytest.mark.parametrize("kind", ["other", "agent"])
@pytest.mark.parametrize("name", ["app", None])
def test_sub_agents_that_tools_ran_stay_with_their_caller(kind: str, name: str | None):
    trace = Trace("t", name).add("root", kind).agent("main", "root")
    query, history = user("Plan my trip to Oslo."), [user("Plan my trip to Oslo.")]
    for number in range(3):
        made = call("expert", f"call_{number}", q=f"Part {number} of it")
        trace.model(f"m{number}", history, [asked(made)], "main")
        trace.tool(f"t{number}", made, "fine", "main")
        given = [user(f"Part {number} of it")]
        trace.agent(f"s{number}", f"t{number}", conversation_id=f"u{number}", messages_in=given[0:])
        trace.model(f"i{number}", given, [said("fine")], f"s{number}", conversation_id=f"u{number}")
        history = [*history, asked(made), told("fine", f"call_{number}")]
    trace.model("end", history, [said("All is planned.")], "main")
    (found,) = conversations(trace.spans).values()
    assert found.conversation_id == (name or "t")
    assert found.queries == (query.text,)
    assert story(found)[-1] == '0 "All is planned."'
    assert len(found.turns) == 4


def test_tools_straight_below_the_applications_span_change_nothing():
    trace = Trace("t", "app").add("root", "other")
    for number in range(2):
        made = call("expert", f"call_{number}", q=f"Part {number} of it")
        trace.model(f"m{number}", [user("Plan my trip.")], [asked(made)], "root")
        trace.tool(f"t{number}", made, "fine", "root", conversation_id=None)
        trace.agent(f"s{number}", f"t{number}", conversation_id=f"u{number}")
    assert list(told_of(trace)) == ["app"]


def test_sub_agents_inside_an_agents_own_turn_stay_with_it():
    trace = Trace("t", "app").agent("root").model("m", [user("Plan it.")], [said("So.")], "root")
    case(case(trace, 0), 1)
    assert list(told_of(trace)) == ["app"]


@pytest.mark.parametrize(
    ("mine", "asks", "replies", "reply"),
    [
        ("Plan my trip.", ("Plan my trip.", "Plan my trip."), ("a b", "c d"), None),
        ("Plan my trip.", ("The user says: Plan my trip.", "Check it now."), ("a b", "c d"), None),
        ('{"q": "Plan my trip."}', ("Plan my trip.", "Plan my trip."), ("a b", "c d"), None),
        (None, ("Plan my trip.", "Edit this: Go by train."), ("Go by train.", "c d"), None),
        (
            None,
            ("Plan my trip.", "Say it."),
            ("Go by train.", "Take the train."),
            "Take the train.",
        ),
    ],
)
def test_agents_that_hand_an_agents_turn_on_stay_with_it(mine, asks, replies, reply):
    def words(text: str | None) -> tuple | None:
        return None if text is None else (user(text),)

    out = None if reply is None else (said(reply),)
    trace = Trace("t", "app").agent("root", messages_in=words(mine), messages_out=out)
    for number, (query, answer) in enumerate(zip(asks, replies, strict=True)):
        trace.agent(
            f"a{number}", "root", conversation_id=f"u{number}", messages_out=(said(answer),)
        )
        trace.model(f"m{number}", [user(query)], [said(answer)], f"a{number}", conversation_id=None)
    assert list(told_of(trace)) == ["app"]


@pytest.mark.parametrize("kind", ["other", "agent"])
def test_one_inner_id_is_a_librarys_however_deep_its_own_agents_go(kind: str):
    trace = Trace("t", "app").add("root", kind).agent("lib", "root", conversation_id="u1")
    trace.model("m", [user(QUERIES[0])], [said("Yes, it is.")], "lib", conversation_id="u1")
    trace.agent("deep", "lib", conversation_id="u2").agent("deeper", "lib", conversation_id="u3")
    assert list(told_of(trace)) == ["app"]


def test_the_cases_of_a_harness_keep_their_own_sub_agents():
    trace = harness("agent")
    made = call("look", "call_9", q="It")
    trace.tool("tool", made, "there", "case0").agent("sub", "tool", conversation_id="u1")
    trace.model("subm", [user("It")], [said("there")], "sub", conversation_id="u1")
    assert sorted(told_of(trace)) == ["id-0", "id-1"]
    assert told_of(trace)["id-0"][-1] == '0 look {"q":"It"} -> "there"'


KINDS: Any = st.sampled_from(["other", "agent", "model", "tool"])
WORDS = st.sampled_from([None, "Plan my trip.", "Go by train.", "x"])


@st.composite
def traces(draw: st.DrawFn) -> list[AgentSpan]:
    spans = []
    for number in range(draw(st.integers(1, 8))):
        given, out = draw(WORDS), draw(WORDS)
        spans.append(
            AgentSpan(
                "t",
                f"s{number}",
                draw(KINDS),
                parent_id=f"s{draw(st.integers(0, number))}" if number else None,
                start_ns=number,
                end_ns=20,
                conversation_id=draw(st.sampled_from([None, "A", "B", "C", "D"])),
                messages_in=None if given is None else (user(given),),
                messages_out=None if out is None else (said(out),),
            )
        )
    return spans


@given(traces(), st.randoms(use_true_random=False))
def test_every_span_is_in_one_part_at_most_in_any_order(spans, random):
    shuffled = [msgspec.structs.replace(span) for span in spans]
    random.shuffle(shuffled)
    shuffled.sort(key=lambda span: (span.start_ns, span.span_id))
    found = segments_of("t", spans)
    assert found == segments_of("t", shuffled)
    inside = [span.span_id for part in found for span in part.spans]
    assert len(inside) == len(set(inside))
    assert {part.conversation_id for part in found} <= {"t", *(s.conversation_id for s in spans)}
