"""One dialog of the golden layout: what the agent did, paired with what was expected."""

from __future__ import annotations

from hashlib import blake2b
from typing import NamedTuple

import msgspec

from monitor.errors import InvalidInput
from monitor.model import (
    ActionTurn,
    Conversation,
    JsonValue,
    ResponseTurn,
    ToolCall,
    Turn,
    release_name,
    turn_id,
)
from monitor.references.documents import (
    decoded,
    flag_of,
    list_at,
    object_at,
    shown,
    text_of,
    unwrapped,
)
from monitor.references.expected import expected_turn, is_action, numbers_of
from monitor.verdict import ExpectedAction, ExpectedTurn, Reference


class Dialog(NamedTuple):
    """A conversation with the reference that its source paired with it, turn by turn."""

    conversation: Conversation
    reference: Reference
    """`reference_id` is the dialog's id; a turn that was omitted is named by no pair."""


class DialogTurns(NamedTuple):
    """The head of a dialog document and its turns, still as they were written."""

    where: str
    """For error texts: file label and dialog."""
    dialog_id: str
    conversation_id: str
    named: bool
    """Whether the document itself tells an id."""
    head: dict[str, JsonValue]
    turns: list[dict[str, JsonValue]]


class Gold(NamedTuple):
    """The expected turns of a dialog."""

    turns: tuple[ExpectedTurn, ...]
    at: tuple[int | None, ...]
    """For each turn of the dialog its expected turn's index; None without a reference."""


def parse_dialog(
    source: bytes | str | JsonValue, where: str, default_id: str | None = None
) -> Dialog:
    """Read one dialog: a bare list of turns, or an object that holds it under `turns`.

    A dialog without an id of its own gets `default_id`, else one made from its content. Raises
    InvalidInput naming dialog, turn and key.
    """
    document = dialog_turns(source, where, default_id)
    gold = gold_of(document)
    turns: list[Turn] = []
    pairs: list[int | None] = []
    queries: list[str | None] = []
    for position, entry in enumerate(document.turns):
        at = turn_label(document, position)
        if "predict_turn" not in entry:
            raise InvalidInput(f"{at}: no predict_turn; write null for a turn never taken")
        query = text_of(entry, "user", at)
        if query is not None or not queries:
            queries.append(query)
        turn = _turn(document, entry, position, len(queries) - 1)
        if turn is None:
            continue
        turns.append(turn)
        pairs.append(_pair(turn, gold, gold.at[position]))
    conversation = _conversation(document, tuple(turns), tuple(queries))
    reference = Reference(document.dialog_id, match="pairs", turns=gold.turns, pairs=tuple(pairs))
    return Dialog(conversation, reference)


def dialog_turns(
    source: bytes | str | JsonValue, where: str, default_id: str | None = None
) -> DialogTurns:
    """The document's ids and its turns as objects; nothing within a turn is looked at yet."""
    document = decoded(source, where)
    head: dict[str, JsonValue] = {}
    if isinstance(document, dict):
        head, document = document, document.get("turns")
    if isinstance(document, list) and document and all(map(_is_dialog, document)):
        raise InvalidInput(f"{where}: a list of dialogs; write one dialog per line")
    dialog_id = text_of(head, "dialog_id", where) or text_of(head, "conversation_id", where)
    name = dialog_id or default_id or _content_id(document)
    at = f"{where}: dialog {shown(name)}"
    turns = [
        object_at(entry, f"{at}: turn {number}")
        for number, entry in enumerate(list_at(document, f"{at}: turns"), start=1)
    ]
    conversation_id = text_of(head, "conversation_id", where) or name
    return DialogTurns(at, name, conversation_id, dialog_id is not None, head, turns)


def gold_of(document: DialogTurns, key: str = "gold_turn") -> Gold:
    """The expected turns under `key`; a null one means that the turn has no reference."""
    index: list[int | None] = []
    number_of: dict[int, int | None] = {}
    count = 0
    for position, entry in enumerate(document.turns):
        known = entry.get(key) is not None
        index.append(count if known else None)
        count += known
        number_of[_turn_no(document, position)] = count if known else None
    turns = [
        expected_turn(
            entry[key],
            entry,
            f"{turn_label(document, position)}: {key}",
            _depends_on(document, position, number_of, key),
        )
        for position, entry in enumerate(document.turns)
        if index[position] is not None
    ]
    return Gold(tuple(turns), tuple(index))


def _is_dialog(entry: JsonValue) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("turns"), list)


def turn_label(document: DialogTurns, position: int) -> str:
    """How error texts name a turn."""
    return f"{document.where}: turn {_turn_no(document, position)}"


def _turn_no(document: DialogTurns, position: int) -> int:
    number = document.turns[position].get("turn_no", position + 1)
    if type(number) is not int or number < 1:
        raise InvalidInput(
            f"{document.where}: turn {position + 1}: turn_no must be a whole number from 1"
        )
    return number


def _depends_on(
    document: DialogTurns, position: int, number_of: dict[int, int | None], key: str
) -> tuple[int, ...]:
    entry, at = document.turns[position], turn_label(document, position)
    layout = entry[key] if isinstance(entry[key], dict) else {}
    written = numbers_of({**entry, **layout}, "depends_on", at)
    unknown = [number for number in written if number not in number_of]
    if unknown:
        raise InvalidInput(f"{at}: depends_on names turn {unknown[0]}, which does not exist")
    return tuple(found for number in written if (found := number_of[number]) is not None)


def _turn(
    document: DialogTurns, entry: dict[str, JsonValue], position: int, exchange: int
) -> Turn | None:
    at = turn_label(document, position)
    role = entry.get("turn")
    if role not in ("Agent", "Tool"):
        raise InvalidInput(f"{at}: turn must be 'Agent' or 'Tool'")
    if entry["predict_turn"] is None:
        return None
    layout = object_at(entry["predict_turn"], f"{at}: predict_turn")
    action = is_action(layout)
    if action is None:
        raise InvalidInput(f"{at}: predict_turn: neither a `response` nor an `action`")
    identity = turn_id(document.conversation_id, f"turn {_turn_no(document, position)}")
    if not action:
        return ResponseTurn(
            turn_id=identity,
            text=text_of(layout, "response", f"{at}: predict_turn"),
            exchange=exchange,
            agent=text_of(entry, "agent", at),
        )
    return ActionTurn(
        turn_id=identity,
        call=_call(layout, f"{at}: predict_turn"),
        exchange=exchange,
        result=unwrapped(entry.get("result", layout.get("result"))),
        has_result="result" in entry or "result" in layout,
        error_type="error" if flag_of(entry, "is_error", at) else None,
        agent=text_of(entry, "agent", at),
    )


def _call(layout: dict[str, JsonValue], at: str) -> ToolCall:
    tool_id, action = text_of(layout, "tool_id", at), text_of(layout, "action", at)
    name = f"{tool_id}.{action}" if tool_id and action else action or tool_id or ""
    arguments = unwrapped(layout.get("args"))
    if arguments is None:
        return ToolCall(name, arguments_state="absent")
    return ToolCall(
        name, arguments, arguments_state="parsed" if isinstance(arguments, dict) else "raw"
    )


def _pair(turn: Turn, gold: Gold, index: int | None) -> int | None:
    """The expected turn's index, unless it is of the other type: then it was omitted."""
    if index is None:
        return None
    same = isinstance(gold.turns[index], ExpectedAction) == isinstance(turn, ActionTurn)
    return index if same else None


def _conversation(
    document: DialogTurns, turns: tuple[Turn, ...], queries: tuple[str | None, ...]
) -> Conversation:
    head, where = document.head, document.where
    model = text_of(head, "agent_model", where)
    return Conversation(
        conversation_id=document.conversation_id,
        turns=turns,
        queries=queries,
        release=release_name(text_of(head, "release", where), model),
        model=model,
        synthetic_id=not document.named,
    )


def _content_id(document: JsonValue) -> str:
    try:
        content = msgspec.json.encode(document, order="sorted")
    except (TypeError, ValueError, RecursionError, UnicodeError) as error:
        raise InvalidInput(f"a dialog that is not JSON: {error}") from error
    return f"dialog-{blake2b(content, digest_size=8).hexdigest()}"
