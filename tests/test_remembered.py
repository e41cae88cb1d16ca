"""What is remembered is what would be decided anew."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import msgspec
import pytest
from evaluating import TableComparator, call

from monitor.comparison.ladder import Ladder
from monitor.evaluator import Evaluator
from monitor.model import ActionTurn, Conversation, ResponseTurn, Usage, turn_id
from monitor.references.contracts import ToolContracts
from monitor.references.dialogs import Dialog, parse_dialog
from monitor.references.tools_file import parse_tools
from monitor.remembered import RememberingEvaluator
from monitor.verdict import ExpectedAction, ExpectedResponse, Reference, Report


def retold(conversation: Conversation) -> Conversation:
    """The same content as another conversation: other ids, times, release and model."""
    name = f"{conversation.conversation_id} again"
    turns = [
        msgspec.structs.replace(
            turn,
            turn_id=turn_id(name, str(at)),
            span_ids=(f"{at:016x}",),
            trace_id=f"{at:032x}",
            start_ns=10**18 + at * 10**9,
            end_ns=10**18 + at * 10**9 + 5,
            model="model-b",
        )
        for at, turn in enumerate(conversation.turns)
    ]
    return msgspec.structs.replace(
        conversation,
        conversation_id=name,
        turns=tuple(turns),
        release="2@model-b",
        model="model-b",
        synthetic_id=not conversation.synthetic_id,
        usage=Usage(7, 9),
    )


def plain(comparator: Any = None) -> Evaluator:
    return Evaluator((), ToolContracts([]), comparator or TableComparator())


def shop(*, order: str = "SO-2") -> Dialog:
    turns = (
        call("find", {"order": order}, {"status": "sent"}, turn_id="a"),
        ResponseTurn(turn_id="b", text=f"Your order {order} was sent."),
    )
    expected = (
        ExpectedAction("find", args={"order": "SO-1"}),
        ExpectedAction("refund", args={"order": "SO-1"}),
        ExpectedResponse("Your order SO-1 was sent."),
    )
    reference = Reference("r", "pairs", expected, pairs=(0, 2))
    return Dialog(Conversation("c", turns, ("Refund SO-1",)), reference)


def judged(evaluator: Any, dialog: Dialog, conversation: Conversation | None = None) -> Report:
    report: Report = evaluator.evaluate(
        conversation or dialog.conversation,
        closed=True,
        revision=3,
        dialog_id="d",
        reference=dialog.reference,
    )
    return report


def test_content_that_comes_again_is_not_judged_again():
    remembering = RememberingEvaluator(plain())
    judged(remembering, shop())

    again = judged(remembering, shop(), retold(shop().conversation))

    assert (remembering.hits, remembering.misses) == (1, 1)
    assert again == judged(plain(), shop(), retold(shop().conversation))
    assert again.turns[0].latency_s == 5e-9


def test_other_content_is_judged_on_its_own():
    remembering = RememberingEvaluator(plain())
    wrong = judged(remembering, shop())
    right = judged(remembering, shop(order="SO-1"))

    assert (wrong.root_cause_count, right.root_cause_count) == (2, 1)
    assert remembering.hits == 0


def test_a_conversation_that_is_open_is_not_one_that_is_closed():
    remembering = RememberingEvaluator(plain())
    judged(remembering, shop())

    open_ = remembering.evaluate(
        shop().conversation, closed=False, revision=1, reference=shop().reference
    )

    assert remembering.hits == 0
    assert not open_.closed


def closings(conversation: Conversation) -> tuple[RememberingEvaluator, Report, Report]:
    """One that was open before, with its report once closed: as remembered, and as judged anew."""
    remembering = RememberingEvaluator(plain())
    remembering.evaluate(conversation, closed=False, revision=1)
    return (
        remembering,
        remembering.evaluate(conversation, closed=True, revision=2),
        plain().evaluate(conversation, closed=True, revision=2),
    )


def test_a_conversation_without_a_reference_is_judged_once_when_it_closes():
    remembering, found, anew = closings(shop().conversation)

    assert (remembering.hits, remembering.misses) == (1, 1)
    assert found.closed
    assert found == anew


def test_how_a_talk_among_agents_ends_is_looked_at_when_it_closes():
    said = (("planner", "Ask the expert."), ("expert", "It is 12."), ("planner", "Done: 12."))
    turns = tuple(
        ResponseTurn(turn_id=f"r{at}", text=text, agent=agent)
        for at, (agent, text) in enumerate(said)
    )
    remembering, found, anew = closings(Conversation("c", turns, ("How many?",)))

    assert (remembering.hits, remembering.misses) == (0, 2)
    assert found == anew


def test_turns_of_one_id_are_remembered_by_their_place():
    """Span ids need to differ within a trace only, so turns of two traces may share theirs."""
    turns = tuple(
        call("find", {"order": order}, {"order": order}, turn_id="a") for order in ("SO-1", "SO-2")
    )
    remembering, found, anew = closings(Conversation("c", turns, ("SO-1, SO-2?",)))

    assert remembering.hits == 1
    assert found == anew


def test_what_could_not_be_reached_is_asked_again():
    """A backend that is down makes values unsure; when it is back they must be compared."""
    comparator = TableComparator({("SO-1", "SO-2"): None})
    remembering = RememberingEvaluator(plain(comparator))
    first = judged(remembering, shop())
    comparator.table[("SO-1", "SO-2")] = 1.0

    then = judged(remembering, shop())

    assert first.turns[0].verdict == "unscored"
    assert then.turns[0].verdict == "pass"


def test_memory_is_bounded_by_turns():
    remembering = RememberingEvaluator(plain(), turns=6)
    for number in range(5):
        judged(remembering, shop(order=f"SO-{number}"))

    judged(remembering, shop(order="SO-0"))

    assert remembering.hits == 0


def test_the_first_source_that_knows_the_conversation_counts():
    dialog = shop()

    class Known:
        def reference(self, conversation: Conversation) -> Reference | None:
            return dialog.reference if conversation.conversation_id == "c" else None

    remembering = RememberingEvaluator(plain(), [Known()])

    found = remembering.evaluate(dialog.conversation, closed=True, revision=1)
    other = remembering.evaluate(retold(dialog.conversation), closed=True, revision=1)

    assert found.reference_id == "r"
    assert other.reference_id is None


def test_turns_without_bytes_of_their_own_are_judged_each_time():
    odd = Conversation("c", (call("find", {"order": "\ud800"}, turn_id="a"),), ("?",))
    remembering = RememberingEvaluator(plain())

    for _ in range(2):
        remembering.evaluate(odd, closed=True, revision=1)

    assert remembering.hits == 0


@pytest.mark.parametrize(
    "name", ["bfcl_mt_corrupt", "tau1_airline_gpt4o", "whowhen", "agentprocessbench_hotpotqa"]
)
@pytest.mark.parametrize("paired", [True, False])
def test_real_conversations_get_the_reports_that_they_would_get(
    shared_data: Path, name: str, paired: bool
):
    folder = shared_data / "trajectories" / name
    tools = folder / "tools.json"
    contracts = ToolContracts(parse_tools(tools.read_bytes(), "tools") if tools.exists() else ())
    evaluator = Evaluator((), contracts, Ladder())
    remembering = RememberingEvaluator(evaluator)
    with gzip.open(folder / "dialogs.jsonl.gz") as file:
        dialogs = [parse_dialog(line, name) for _, line in zip(range(60), file, strict=False)]
    for dialog in dialogs:
        told = dialog if paired else Dialog(dialog.conversation, None)  # type: ignore[arg-type]
        judged(remembering, told)
        conversation = retold(dialog.conversation)

        assert judged(remembering, told, conversation) == judged(evaluator, told, conversation)
    assert any(isinstance(turn, ActionTurn) for d in dialogs for turn in d.conversation.turns)
    assert remembering.hits > 0.7 * len(dialogs)


def test_what_was_not_heard_tells_conversations_apart():
    bad = call("shop.get", {"order_id": "SO-99887"}, "Error: order not found", error=True)
    whole = Conversation("c", (bad,), ("Yes.",))
    part = msgspec.structs.replace(whole, unheard=2)
    remembering = RememberingEvaluator(plain())

    found = [
        remembering.evaluate(each, closed=True, revision=1).turns[0].verdict
        for each in (whole, part, whole)
    ]

    assert found == ["fail", "unscored", "fail"]
