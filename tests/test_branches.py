"""Bare clients: what branches off, and whose conversation a trace may continue."""

from __future__ import annotations

from assembly_builders import said, user
from stitching_run import ENDED, OPENING, SECOND, Run, bare, conversation_of


def test_words_asked_anew_and_side_questions_are_conversations_of_their_own():
    anew = [*OPENING, user("When does it arrive?")]
    ended = [*anew, said("On Monday, at noon.")]
    traces = [
        bare("a", 0, OPENING[:1], OPENING[1]),
        bare("title", 2, [*OPENING, user("Give this chat a title")], said("Order 7")),
        bare("b", 10, SECOND, said("On Monday.")),
        bare("c", 20, anew, ended[-1]),
    ]
    rest = {"b": ["b"], "title": ["title"]}
    assert conversation_of(*traces) == {"a": ["a", "c"], **rest}
    traces.append(bare("d", 30, [*ended, user("Thanks!")], said("Welcome.")))
    assert conversation_of(*traces) == {"a": ["a", "c", "d"], **rest}


def test_a_conversation_that_went_on_keeps_its_words_when_they_are_edited_later():
    anew = [*OPENING, user("When does it arrive?")]
    run = Run().feed(
        bare("a", 0, OPENING[:1], OPENING[1]),
        bare("b", 10, SECOND, said("On Monday.")),
        bare("c", 20, [*ENDED, user("Thanks!")], said("Welcome.")),
        bare("x", 30, anew, said("At noon.")),
        bare("y", 40, [*anew, said("At noon."), user("Fine.")], said("Welcome.")),
    )
    assert run.traces() == {"a": ["a", "b", "c"], "x": ["x", "y"]}
    assert run.counts["branched"] == 1
    assert run.found["x"].queries == ("When does it arrive?", "Fine.")
    assert (run.found["a"].unheard, run.found["x"].unheard) == (0, 1)


def test_a_reply_made_anew_takes_the_place_of_the_first_unless_that_was_continued():
    traces = [
        bare("a", 0, OPENING[:1], OPENING[1]),
        bare("b1", 10, SECOND, said("On Monday.")),
        bare("b2", 20, SECOND, said("On Tuesday.")),
    ]
    assert conversation_of(*traces) == {"a": ["a", "b2"], "b1": ["b1"]}
    monday = bare("c", 30, [*ENDED, user("Thanks!")], said("Welcome."))
    assert conversation_of(*traces, monday) == {"a": ["a", "b1", "c"], "b2": ["b2"]}


def test_users_with_equal_openings_are_told_apart_by_their_ids():
    traces = []
    for number in range(40):
        for at, name in enumerate(("u", "v")):
            who = {"user_id": f"{name}{number}"}
            start = number + 0.25 * at
            traces += [
                bare(f"a-{name}{number}", start, OPENING[:1], OPENING[1], **who),
                bare(f"b-{name}{number}", 100 + start, SECOND, said("On Monday."), **who),
            ]
    assert conversation_of(*traces) == {
        f"a-{name}{number}": [f"a-{name}{number}", f"b-{name}{number}"]
        for name in ("u", "v")
        for number in range(40)
    }


def test_a_user_never_continues_another_though_the_opening_of_the_own_is_missing():
    assert conversation_of(
        bare("a", 0, OPENING[:1], OPENING[1], user_id="u1"),
        bare("b", 10, SECOND, said("On Monday."), user_id="u2"),
    ) == {"a": ["a"], "b": ["b"]}


def test_a_trace_that_names_no_user_may_be_any_ones_but_not_either_of_two():
    one = bare("a", 0, OPENING[:1], OPENING[1], user_id="u1")
    two = bare("x", 1, OPENING[:1], OPENING[1], user_id="u2")
    more = bare("b", 10, SECOND, said("On Monday."))
    assert conversation_of(one, more) == {"a": ["a", "b"]}
    assert conversation_of(one, two, more) == {"a": ["a"], "b": ["b"], "x": ["x"]}


def test_the_same_words_in_two_services_are_two_conversations():
    assert conversation_of(
        bare("a", 0, OPENING[:1], OPENING[1], service="shop"),
        bare("x", 1, OPENING[:1], OPENING[1], service="bank"),
        bare("b", 10, SECOND, said("On Monday."), service="bank"),
        bare("c", 20, SECOND, said("On Monday."), service="shop"),
    ) == {"a": ["a", "c"], "x": ["x", "b"]}


def test_a_trace_that_moves_after_a_restart_takes_its_turns_along():
    run = Run().feed(bare("b", 60, SECOND, said("On Monday."))).restart()
    run.feed(bare("a", 0, OPENING[:1], OPENING[1]))
    assert run.traces() == {"a": ["a", "b"]}
