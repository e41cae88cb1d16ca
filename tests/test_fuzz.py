"""A short form of the fuzzing of every decoder, the same payloads each time."""

from __future__ import annotations

from fuzz.fuzz_decoders import Fuzz, run

EXECUTIONS = 3_000


async def test_no_payload_breaks_a_decoder_or_the_receiver() -> None:
    fuzz = Fuzz(seed=7)
    await run(fuzz, EXECUTIONS)
    assert dict(fuzz.broken) == {}
    assert sum(fuzz.done.values()) == EXECUTIONS
    # Payloads that are all refused, or all taken, would find nothing.
    assert EXECUTIONS // 10 < fuzz.refused < EXECUTIONS * 9 // 10
    assert len(fuzz.done) == len(fuzz.decoders) >= 13
    assert fuzz.spans > EXECUTIONS // 2
    assert {200, 207, 400} <= set(fuzz.answers)
