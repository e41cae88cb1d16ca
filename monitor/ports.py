"""The seams of the house: protocols that implementations join, and nothing else.

Each port has one conformance suite in `tests/`; every implementation inherits it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from monitor.model import AgentSpan, Conversation, JsonValue
from monitor.verdict import Reference, Report, Similarity


class Rejection(NamedTuple):
    """One span that was refused while the rest of its payload was taken."""

    why: str
    """Bounded vocabulary: the name of the limit or rule, fit for a metric label."""
    message: str
    """For the sender: what was wrong with which span. Holds no content of the span."""


class Decoded(NamedTuple):
    """What a payload held: good spans, and the refusals counted beside them."""

    spans: list[AgentSpan]
    rejections: list[Rejection]
    salvaged: bool = False
    """The payload had invalid UTF-8, which was replaced."""


class SpanDecoder(Protocol):
    """Bytes of one wire format to spans. Pure: same bytes, same spans."""

    def decode(self, payload: bytes, content_type: str) -> Decoded:
        """Decode an already inflated payload.

        Raises MalformedPayload when nothing of it can be read, PayloadTooLarge at a limit of the
        whole payload, UnsupportedPayload for a content type it does not speak. Any other
        exception is a defect. A span over a limit is refused alone.
        """
        ...


class Accept(Protocol):
    """How a receiver hands over what it decoded."""

    async def __call__(self, decoded: Decoded, payload_bytes: int) -> None:
        """Return after durable acceptance, so that the sender may be acknowledged.

        Raises Overloaded, before anything was accepted, when there is no room.
        """
        ...


class Receiver(Protocol):
    """Listens for payloads of one protocol."""

    name: str

    async def start(self, accept: Accept) -> str:
        """Listen; return the address, such as `http://127.0.0.1:4318`.

        Raises ConfigurationError when the address cannot be bound.
        """
        ...

    async def stop(self) -> None:
        """Stop listening; requests under way are answered first."""
        ...


class Vocabulary(Protocol):
    """One convention's attribute names, read into the monitor's words."""

    name: str
    keys: frozenset[str]
    """The attributes that `read` looks at; a decoder need not convert any other.

    A key that ends in a dot stands for all keys that begin with it (numbered conventions).
    """

    def read(
        self,
        attributes: Mapping[str, JsonValue],
        events: Sequence[tuple[str, Mapping[str, JsonValue]]],
        span: AgentSpan,
    ) -> AgentSpan | None:
        """The span with all that this convention tells added; None when it tells nothing.

        Pure. Absent stays None, never "" or {}.
        """
        ...


class Redaction(Protocol):
    """Takes personal data and secrets out, and puts stable placeholders in. Pure."""

    @property
    def counters(self) -> dict[str, int]:
        """How many values of spans were replaced, by kind; the kinds are bounded."""
        ...

    def spans(self, spans: Sequence[AgentSpan]) -> list[AgentSpan]:
        """The spans with every string of their content redacted, in their order."""
        ...

    def name(self, text: str) -> str:
        """A conversation's or user's id redacted as in spans, to look it up by."""
        ...

    def text(self, text: str) -> str:
        """Prose redacted as in spans."""
        ...

    def document(self, document: JsonValue) -> JsonValue:
        """A reference or golden dialog redacted alike, so that it can be held against traces."""
        ...


class ReferenceSource(Protocol):
    """Where expected behaviour comes from."""

    def reference(self, conversation: Conversation) -> Reference | None:
        """What the conversation is held against; None means unscored by this source."""
        ...


class Hint(NamedTuple):
    """What is known about a value beside the value itself."""

    field: str | None = None
    """Dotted argument path."""
    kind: str | None = None
    """exact, number, date, enum, text; typed (rules only), semantic (likeness may decide, whatever
    the field is called); None: infer."""
    schema: Mapping[str, JsonValue] | None = None
    """JSON Schema of this value, where a contract tells it."""
    query: str | None = None
    tolerance: float | None = None
    """How far two numbers may lie apart, in the expected value's own unit; None: not at all."""


class Comparator(Protocol):
    """Are two values the same? Symmetric save for what the hint says; never raises on data."""

    version: str

    def compare(self, expected: JsonValue, actual: JsonValue, hint: Hint) -> Similarity:
        """Similarity in [0, 1], or None with the reason why it cannot be said."""
        ...


class Encoder(Protocol):
    """Text to vectors."""

    version: str

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        ...

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """One unit-length row per text, in order. Raises BackendUnavailable only."""
        ...


class JudgePrompt(NamedTuple):
    """One question to a judge, in the parts that a client may send or cache apart."""

    system: str
    """The rubric; the same for every call of one version."""
    shared: str
    """The user message's beginning, which later questions about the conversation repeat."""
    own: str
    """The rest of the user message."""
    key: str
    """What the answer may be cached by: all that the prompt says, the nonce apart."""

    @property
    def user(self) -> str:
        """The whole user message."""
        return self.shared + self.own


class JudgeReply(NamedTuple):
    """What a model said, and what it took."""

    text: str
    input_tokens: int | None = None
    """None where the backend does not tell."""
    output_tokens: int | None = None


class JudgeModel(Protocol):
    """A model that is asked one question at a time; may be asked several at once."""

    version: str
    """Names the model, and what of its settings changes its replies."""

    async def ask(self, prompt: JudgePrompt) -> JudgeReply:
        """The reply, whatever it says, of at most 64 KiB. Raises BackendUnavailable only."""
        ...

    async def close(self) -> None:
        """Let go of connections; nothing is asked afterwards."""
        ...


class Sink(Protocol):
    """Takes reports out of the house."""

    name: str

    def write(self, reports: Iterable[Report]) -> None:
        """Deliver, idempotent by conversation id and revision; returns when acknowledged."""
        ...
