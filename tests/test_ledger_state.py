"""The pipeline's state as a mapping."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from building_reports import abandon
from hypothesis import given
from hypothesis import strategies as st

from monitor.ledger.database import Database
from monitor.ledger.state import PAGE_KEYS, StateStore


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    database = Database.open(tmp_path / "ledger.db", durable=False)
    yield database
    database.close()


def test_it_behaves_as_a_dict_within_and_after_a_transaction(db: Database) -> None:
    state = StateStore(db)
    with db.transaction():
        state["t:1"] = b"one"
        state["t:2"] = b"two"
        state["t:1"] = b"uno"
        assert state["t:1"] == b"uno"
        del state["t:2"]
        assert "t:2" not in state
        assert list(state) == ["t:1"]
        state["c:9"] = b""

    assert dict(state) == {"c:9": b"", "t:1": b"uno"}
    assert dict(StateStore(db)) == {"c:9": b"", "t:1": b"uno"}
    assert len(state) == 2
    assert state.get("absent") is None
    assert 7 not in state


def test_a_missing_key_is_a_key_error(db: Database) -> None:
    state = StateStore(db)
    with pytest.raises(KeyError):
        state["absent"]
    with db.transaction(), pytest.raises(KeyError):
        del state["absent"]


def test_a_rollback_takes_every_change_back(db: Database) -> None:
    state = StateStore(db)
    with db.transaction():
        state["kept"] = b"1"

    def overwrite() -> None:
        state["kept"] = b"2"
        state["new"] = b"3"
        list(state)
        state["newer"] = b"4"

    abandon(db, overwrite)

    assert dict(state) == {"kept": b"1"}


def test_keys_can_be_asked_for_by_prefix(db: Database) -> None:
    state = StateStore(db)
    with db.transaction():
        for key in ("c:1", "t:", "t:1", "t:2", "u:1", "t%:3"):
            state[key] = b""

    assert list(state.keys_from("t:")) == ["t:", "t:1", "t:2"]


def test_iteration_goes_by_pages_and_stands_changes_on_the_way(db: Database) -> None:
    state = StateStore(db)
    keys = [f"t:{number:06d}" for number in range(2 * PAGE_KEYS + 3)]
    with db.transaction():
        state.update(dict.fromkeys(keys, b""))

    seen = []
    with db.transaction():
        for key in state:
            seen.append(key)
            del state[key]

    assert seen == keys
    assert len(state) == 0


def test_writing_outside_a_transaction_is_a_defect(db: Database) -> None:
    state = StateStore(db)
    with pytest.raises(RuntimeError, match="inside a transaction"):
        state["a"] = b""


@given(
    st.lists(
        st.lists(
            st.tuples(st.sampled_from("abcde"), st.none() | st.binary(max_size=3)), max_size=6
        ),
        max_size=6,
    )
)
def test_any_writes_leave_what_they_leave_in_a_dict(
    transactions: list[list[tuple[str, bytes | None]]],
) -> None:
    db = Database.open(":memory:")
    state = StateStore(db)
    model: dict[str, bytes] = {}
    for writes in transactions:
        with db.transaction():
            for key, value in writes:
                if value is not None:
                    state[key] = model[key] = value
                else:
                    assert state.pop(key, None) == model.pop(key, None)
    assert list(state.items()) == sorted(model.items())
    db.close()
