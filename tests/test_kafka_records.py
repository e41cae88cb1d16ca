"""Records between the roles, the state of a partition, and how clients reach a broker."""

from __future__ import annotations

import ssl
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from monitor.config.kafka import KafkaSettings
from monitor.errors import ConfigurationError, DamagedState, StateError
from monitor.pipeline.partitions import partition_of
from monitor.roles.kafka.clients import connection
from monitor.roles.kafka.failpoints import Failpoints
from monitor.roles.kafka.inbox import Inbox
from monitor.roles.kafka.records import (
    Envelope,
    HandedOn,
    Origin,
    Outcome,
    compressed,
    inflated,
    packed,
    parted,
    read,
    unpacked,
    written,
)
from monitor.roles.kafka.state import (
    POSITION,
    Change,
    PartitionState,
    change_of,
    step_header,
)

RECORD_BYTES = 1_024


def origin(offset: int, number: int = 0) -> Origin:
    return Origin("t", 2, offset, number)


def state_of(*logs: list[Change]) -> PartitionState:
    found = PartitionState(RECORD_BYTES)
    found.load([change for log in logs for change in log])
    return found


def step(state: PartitionState, offset: int, **values: bytes | None) -> list[Change]:
    """The records of a step that sets these keys; None drops one."""
    for key, value in values.items():
        if value is None:
            del state[key]
        else:
            state[key] = value
    state.position.offset = offset
    return state.changes()


def test_a_partition_is_the_same_in_every_process_and_release():
    assert [partition_of(b"trace-%d" % n, 12) for n in range(5)] == [3, 5, 0, 1, 2]


def test_a_record_is_read_once_however_often_it_is_sent():
    inbox = Inbox({}, {})
    first = written(Envelope("spans", 1.0, origin(7), body=b"a"))
    later = written(Envelope("spans", 2.0, origin(7, 1), body=b"b"))
    assert [inbox.take(value) for value in (first, first, later, first)] == [
        Envelope("spans", 1.0, origin(7), body=b"a"),
        None,
        Envelope("spans", 2.0, origin(7, 1), body=b"b"),
        None,
    ]


def test_parts_are_joined_though_their_sender_began_anew():
    store: dict[str, bytes] = {}
    inbox = Inbox({}, store)
    body = bytes(range(256)) * 10
    parts = list(parted(Envelope("traces", 1.0, origin(3), body=body), RECORD_BYTES))
    assert len(parts) > 3
    assert max(map(len, parts)) <= RECORD_BYTES
    found = [inbox.take(part) for part in [*parts[:2], *parts]]
    assert [each and each.body for each in found] == [None] * (len(parts) + 1) + [body]
    assert store == {}


@given(st.binary(max_size=200))
def test_any_bytes_are_a_record_or_a_clear_error(value: bytes):
    with pytest.raises(StateError):
        read(value)


def test_a_record_of_a_later_version_names_both_versions():
    value = bytearray(written(Envelope("spans", 1.0)))
    with pytest.raises(DamagedState):
        read(bytes(value[:-1]))
    with pytest.raises(DamagedState):
        inflated(compressed(b"x" * 100)[:-3])


def test_bodies_are_what_they_were():
    outcome = Outcome([], {"accepted": 2}, {"open_spans": 1})
    assert unpacked(packed(outcome), Outcome) == outcome
    assert unpacked(packed(HandedOn([], ["c1"])), HandedOn) == HandedOn([], ["c1"])


def test_state_is_what_was_kept_and_goes_on():
    state = PartitionState(RECORD_BYTES)
    log = step(state, 4, a=b"1", b=b"2")
    log += step(state, 9, b=None, c=b"3")
    found = state_of(log)
    assert dict(found) == {"a": b"1", "c": b"3"}
    assert found.position.offset == 9
    assert [change.key for change in log] == ["a", "b", POSITION, "b", "c", POSITION]
    assert log[3] == Change("b", None, 9)


@given(st.integers(0, 3))
def test_a_step_that_was_half_written_never_was(kept: int):
    state = PartitionState(RECORD_BYTES)
    log = step(state, 4, a=b"old", b=b"old")
    half = step(state, 9, a=b"new", b=None, c=b"new")[:kept]
    found = state_of(log, half)
    assert (dict(found), found.position.offset) == ({"a": b"old", "b": b"old"}, 4)
    again = step(found, 9, a=b"new", b=None, c=b"new")
    assert dict(state_of(log, half, again)) == {"a": b"new", "c": b"new"}


def test_what_an_overtaken_worker_still_writes_changes_nothing():
    slow = PartitionState(RECORD_BYTES)
    log = step(slow, 4, a=b"1")
    quick = state_of(log)
    late = step(slow, 5, a=b"2", b=b"2")
    log += step(quick, 8, a=b"3")
    for tail in (late[:1], late[:2], late):
        found = state_of(log, tail)
        assert (dict(found), found.position.offset) == ({"a": b"3"}, 8)
        more = step(found, 9, c=b"4")
        assert dict(state_of(log, tail, more)) == {"a": b"3", "c": b"4"}


def test_state_survives_compaction():
    state = PartitionState(RECORD_BYTES)
    log = step(state, 1, a=b"1", b=b"1") + step(state, 2, a=b"2") + step(state, 3, b=None, c=b"3")
    last = {change.key: number for number, change in enumerate(log)}
    compacted = [log[number] for number in sorted(last.values())]
    assert dict(state_of(compacted)) == dict(state_of(log)) == {"a": b"2", "c": b"3"}


def test_a_large_value_is_several_records_and_shrinks_again():
    state = PartitionState(RECORD_BYTES)
    large = bytes(n * n % 251 for n in range(9_000)) + b"".join(b"%d" % n**3 for n in range(900))
    log = step(state, 1, a=large)
    assert len(log) > 3
    assert max(len(change.value or b"") + len(change.key) for change in log) <= RECORD_BYTES
    assert dict(state_of(log)) == {"a": large}
    log += step(state, 2, a=b"small")
    assert dict(state_of(log)) == {"a": b"small"}


def test_a_step_that_is_taken_back_leaves_what_was():
    state = PartitionState(RECORD_BYTES)
    step(state, 1, a=b"1", b=b"1")
    state.position.lines["t/0"] = (5, 0, 0)
    state["a"] = b"2"
    del state["b"]
    state["c"] = b"2"
    state.revert()
    assert dict(state) == {"a": b"1", "b": b"1"}
    assert state.position.lines == {}
    assert [change.key for change in step(state, 2)] == [POSITION]


def test_a_record_that_no_worker_can_have_written_tells_no_change():
    assert change_of(b"k", b"v", [("other", b"x"), step_header(7)]) == Change("k", b"v", 7)
    assert change_of(b"k", None, [step_header(-1)]) == Change("k", None, -1)
    assert change_of(b"k", b"v", []) is None
    assert change_of(None, b"v", [step_header(7)]) is None
    assert change_of(b"\xff", b"v", [step_header(7)]) is None
    assert change_of(b"k", b"v", [("step", b"7")]) is None


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"bootstrap": ["kafka:9092"]}, "would send conversations unencrypted"),
        ({"protocol": "SASL_SSL"}, "needs kafka.username"),
        ({"protocol": "SSL", "ca_file": "/nowhere.pem"}, "kafka.ca_file /nowhere.pem"),
    ],
)
def test_settings_that_cannot_work_say_so(settings: dict[str, Any], words: str):
    with pytest.raises(ConfigurationError, match=words):
        connection(KafkaSettings(**settings))


def test_tls_checks_hostnames_and_credentials_stay_out_of_what_is_shown():
    given = KafkaSettings(
        bootstrap=("kafka:9093",),
        protocol="SASL_SSL",
        username="monitor",
        password=SecretStr("hunter22"),
    )
    found = connection(given)
    assert found["sasl_plain_password"] == "hunter22"
    assert found["ssl_context"].check_hostname
    assert found["ssl_context"].verify_mode == ssl.CERT_REQUIRED
    assert "hunter22" not in repr(given)


@pytest.mark.parametrize("value", ["nowhere", "after_state:soon"])
def test_a_failpoint_that_there_is_not_stops_the_start(value: str):
    with pytest.raises(ConfigurationError, match="after_output"):
        Failpoints({"AGENT_MONITOR_FAILPOINT": value})
