"""Throws damaged and made-up payloads at every decoder, and tells what broke.

By hand: `python tests/fuzz/fuzz_decoders.py --executions N --seed S`. An execution is one payload
decoded once. Broken is: any exception but the declared refusals, an answer of 500 or above but
503, a span that cannot be stored or that stops the pipeline, seconds for one payload, and memory
that grows without end.
"""

from __future__ import annotations

import argparse
import asyncio
import inspect
import resource
import sys
import time
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import aiohttp
from otlp_building import JSON, PROTOBUF

from adapters.langfuse.ingestion import LangfuseIngestion
from adapters.otlp.http import OtlpHttpReceiver
from adapters.redaction.redactor import Redactor
from fuzz.mutation import altered, damaged
from fuzz.samples import Sample, generated, samples
from monitor.codec import decode_report, decode_spans, encode_report, encode_spans
from monitor.comparison.ladder import Ladder
from monitor.entry_points import adapter_names, load_adapter
from monitor.errors import MalformedPayload, PayloadTooLarge, UnsupportedPayload
from monitor.evaluator import Evaluator
from monitor.pipeline import Pipeline
from monitor.ports import Decoded, SpanDecoder
from monitor.references.carried import CarriedReference
from monitor.references.contracts import ToolContracts

REFUSALS = (MalformedPayload, PayloadTooLarge, UnsupportedPayload)
PATHS = {
    "otlp.traces": "/v1/traces",
    "otlp.logs": "/v1/logs",
    "langfuse.ingestion": "/api/public/ingestion",
}
REMEMBERED_BYTES = 1024 * 1024
SLOW_S = 2.0
GROWTH_BYTES = 96 * 1024 * 1024
ONWARD_EVERY = 25
POSTED_EVERY = 100
PAGE_BYTES = resource.getpagesize()


class Fuzz:
    """One seeded run. `broken` counts each kind of breakage; `first` has a payload for each."""

    def __init__(self, seed: int, keep: Path | None = None) -> None:
        self.random = Random(seed)
        self.samples = samples()
        self.decoders = {name: _built(name) for name in _decoder_names()}
        self.names = sorted(self.decoders)
        self.weights = [24 if name == "otlp.traces" else 4 for name in self.names]
        self.redactor = Redactor(b"a key of the fuzzing run, not secret")
        self.done: Counter[str] = Counter()
        self.answers: Counter[int] = Counter()
        self.spans = self.refused = 0
        self.broken: Counter[str] = Counter()
        self.first: dict[str, bytes] = {}
        self._keep = keep

    def payload(self, name: str) -> Sample:
        """Something for a decoder to choke on."""
        known = self.samples.get(name) or self.samples["generic"]
        kind = self.random.random()
        if name == "otlp.traces" and kind < 0.35:
            found = generated(self.random)
        else:
            found = self.random.choice(known)
        body, media = found
        if media == JSON and self.random.random() < 0.75:
            body = altered(self.random, body)
        elif self.random.random() < 0.7:
            body = damaged(self.random, body, self.random.choice(known)[0])
        if self.random.random() < 0.01:
            media = self.random.choice((JSON, PROTOBUF, "application/x-ndjson", ""))
        return body, media

    def execute(self) -> tuple[str, bytes, str]:
        """One payload through one decoder."""
        (name,) = self.random.choices(self.names, self.weights)
        body, media = self.payload(name)
        self.done[name] += 1
        begun = time.thread_time()
        decoded = self._guarded(name, body, lambda: self._decoded(name, body, media))
        if decoded is not None:
            self.spans += len(decoded.spans)
            if sum(self.done.values()) % ONWARD_EVERY == 0:
                self._guarded(f"{name} onward", body, lambda: self._onward(decoded))
        if time.thread_time() - begun > SLOW_S:
            self._note(f"{name}: slow", body)
        return name, body, media

    def note_answer(self, name: str, body: bytes, status: int) -> None:
        """What the receiver answered."""
        self.answers[status] += 1
        if status >= 500 and status != 503:
            self._note(f"{name}: answer {status}", body)

    def note_growth(self, grown: int) -> None:
        """How much memory the run holds beyond what it held when warm."""
        if grown > GROWTH_BYTES:
            self._note(f"memory: {grown >> 20} MiB more than when warm", b"")

    def _decoded(self, name: str, body: bytes, media: str) -> Decoded:
        decoded = self.decoders[name].decode(body, media)
        if decoded.spans:
            encode_spans(decoded.spans)
        for span in decoded.spans:
            assert len(span.trace_id) == 32
            assert len(span.span_id) == 16
            assert int(span.trace_id, 16) > 0
        return decoded

    def _onward(self, decoded: Decoded) -> None:
        """As the service goes on: redacted, stored, read again, assembled, scored."""
        spans = decode_spans(encode_spans(self.redactor.spans(decoded.spans)))
        evaluator = Evaluator([CarriedReference()], ToolContracts(()), Ladder())
        pipeline = Pipeline(evaluator.evaluate, {})
        taken = pipeline.observe(spans, 0.0)
        pipeline.restore(pipeline.snapshot())
        effects = taken.plus(pipeline.flush(1.0))
        pipeline.restore(pipeline.snapshot())
        assert "evaluation_failed" not in effects.counts, pipeline.failure
        assert "damaged_state" not in pipeline.tick(2.0).counts
        for report in effects.reports:
            decode_report(encode_report(report))

    def _guarded(self, name: str, body: bytes, work: Callable[[], Any]) -> Any:
        try:
            return work()
        except REFUSALS:
            self.refused += 1
        except Exception as error:  # noqa: BLE001 - everything else is what we are looking for
            frame = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(frame.filename).name}:{frame.lineno}"
            self._note(f"{name}: {type(error).__name__} at {place}: {str(error)[:80]!r}", body)
        return None

    def _note(self, what: str, body: bytes) -> None:
        self.broken[what] += 1
        if what not in self.first:
            self.first[what] = body
            if self._keep is not None:
                (self._keep / f"{len(self.first):03}.bin").write_bytes(body)
                with (self._keep / "found.txt").open("a") as file:
                    file.write(f"{len(self.first):03} {what}\n")


def _decoder_names() -> list[str]:
    """Every adapter that implements SpanDecoder."""
    found = {name: load_adapter(name) for name in adapter_names()}
    return [
        name
        for name, adapter in found.items()
        if inspect.isclass(adapter) and callable(getattr(adapter, "decode", None))
    ]


def _built(name: str) -> SpanDecoder:
    made: Any = load_adapter(name)
    if made is LangfuseIngestion:
        return LangfuseIngestion(remembered_bytes=REMEMBERED_BYTES)
    decoder: SpanDecoder = made()
    return decoder


async def _taken(decoded: Decoded, payload_bytes: int) -> None:
    """Durable enough for a fuzzing run."""


Step = Callable[[str, bytes, str], Awaitable[None]]


async def run(fuzz: Fuzz, executions: int, until: float | None = None) -> None:
    """Execute, posting a sample of the payloads to a running receiver. `until`: epoch seconds."""
    ingest = LangfuseIngestion(remembered_bytes=REMEMBERED_BYTES).ingest
    receiver = OtlpHttpReceiver("127.0.0.1:0", ingest=ingest)
    url = await receiver.start(_taken)
    warm = None
    try:
        async with aiohttp.ClientSession() as session:
            for number in range(executions):
                name, body, media = fuzz.execute()
                if name in PATHS and number % POSTED_EVERY < 4:
                    fields = {"Content-Type": media} if media else {}
                    async with session.post(url + PATHS[name], data=body, headers=fields) as answer:
                        fuzz.note_answer(name, body, answer.status)
                if number == executions // 5:
                    warm = held_bytes()
                if until is not None and number % 1_000 == 0 and time.time() > until:
                    break
    finally:
        await receiver.stop()
    if defects := receiver.counters.get("defects", 0):
        fuzz.broken["receiver: defects counted"] += defects
    if warm is not None:
        fuzz.note_growth(held_bytes() - warm)


def held_bytes() -> int:
    """Memory of this process that is resident now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_BYTES


def story(fuzz: Fuzz) -> str:
    """The run in a few lines."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    lines = [
        f"{sum(fuzz.done.values())} executions, {fuzz.spans} spans, {fuzz.refused} refused whole",
        f"by decoder: {dict(sorted(fuzz.done.items()))}",
        f"answers: {dict(sorted(fuzz.answers.items()))}",
        f"memory: {held_bytes() >> 20} MiB held, {peak} MiB at most",
        f"{len(fuzz.broken)} kinds of breakage",
        *(f"  {count} x {what}" for what, count in fuzz.broken.most_common()),
    ]
    return "\n".join(lines)


def main(given: Sequence[str] | None = None) -> int:
    """The command; 1 when something broke."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--executions", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="folder for a payload of each breakage")
    parser.add_argument("--seconds", type=float, help="stop after so long")
    options = parser.parse_args(given)
    if options.keep is not None:
        options.keep.mkdir(parents=True, exist_ok=True)
    fuzz = Fuzz(options.seed, options.keep)
    until = None if options.seconds is None else time.time() + options.seconds
    asyncio.run(run(fuzz, options.executions, until))
    sys.stdout.write(story(fuzz) + "\n")
    return 1 if fuzz.broken else 0


if __name__ == "__main__":
    sys.exit(main())
