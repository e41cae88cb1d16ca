"""MiniLM, Titan on Bedrock, OpenAI-compatible endpoints, and the circuit before each of them."""

from __future__ import annotations

import json

import boto3
import numpy as np
import pytest
from botocore.config import Config
from embedding_server import EmbeddingServer
from encoder_conformance import EncoderConformance

from monitor.backends.bedrock_embeddings import TitanEncoder
from monitor.backends.circuit import Circuit
from monitor.backends.encoders import Wish, encoder
from monitor.backends.http_embeddings import HttpEncoder
from monitor.backends.minilm import MiniLmEncoder
from monitor.comparison import CachedEncoder
from monitor.errors import BackendUnavailable, ConfigurationError

REFUSED = b'{"message": "no", "__type": "ThrottlingException"}'


def bedrock_client(url):
    return boto3.client(
        "bedrock-runtime",
        region_name="eu-west-1",
        endpoint_url=url,
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(retries={"total_max_attempts": 1}, read_timeout=2, connect_timeout=2),
    )


@pytest.fixture
def server():
    found = EmbeddingServer()
    yield found
    found.close()


@pytest.fixture
def titan(server):
    found = TitanEncoder(client=bedrock_client(server.url))
    yield found
    found.close()


class TestMiniLm(EncoderConformance):
    encoder = MiniLmEncoder()


class TestTitan(EncoderConformance):
    @pytest.fixture(autouse=True)
    def _served(self, titan):
        self.encoder = titan


class TestHttp(EncoderConformance):
    @pytest.fixture(autouse=True)
    def _served(self, server):
        self.encoder = HttpEncoder(server.url, "some-model")


class TestCircuit(EncoderConformance):
    @pytest.fixture(autouse=True)
    def _served(self, server):
        self.encoder = Circuit(HttpEncoder(server.url, "some-model"), lambda: 0.0)


class TestCachedHttp(EncoderConformance):
    @pytest.fixture(autouse=True)
    def _served(self, server):
        self.encoder = CachedEncoder(HttpEncoder(server.url, "some-model"))


def test_minilm_knows_a_city_by_its_short_name():
    rows = MiniLmEncoder().encode(["NYC", "New York City", "a bowl of soup"])
    assert rows[0] @ rows[1] > 0.8 > rows[0] @ rows[2]


def test_minilm_without_its_package_is_an_unavailable_backend(monkeypatch):
    monkeypatch.setattr("monitor.backends.minilm.util.find_spec", lambda _name: None)
    with pytest.raises(BackendUnavailable, match="minilm"):
        MiniLmEncoder().encode(["hello"])


def test_an_endpoint_is_asked_in_batches_of_distinct_texts(server):
    encoder = HttpEncoder(f"{server.url}/v1", "some-model", key="sesame", dimensions=8)
    texts = [f"text {n}" for n in range(100)]

    rows = encoder.encode([*texts, *texts])

    assert rows.shape == (200, 8)
    assert [len(request["input"]) for request in server.requests] == [96, 4]
    assert server.paths == ["/v1/embeddings"] * 2
    assert server.headers[0]["Authorization"] == "Bearer sesame"
    assert server.requests[1] == {
        "model": "some-model",
        "input": ["text 96", "text 97", "text 98", "text 99"],
        "encoding_format": "float",
        "dimensions": 8,
    }
    assert np.allclose(rows[3], server.vector("text 3", 8), atol=1e-6)


def test_titan_is_asked_text_by_text_as_its_interface_wants(server, titan):
    rows = titan.encode(["one", "two", "one"])

    assert sorted(request["inputText"] for request in server.requests) == ["one", "two"]
    assert server.requests[0].keys() == {"inputText", "dimensions", "normalize"}
    assert set(server.paths) == {"/model/amazon.titan-embed-text-v2:0/invoke"}
    assert np.allclose(rows[0], server.vector("one", 256), atol=1e-6)


@pytest.mark.parametrize(
    ("status", "body", "why"),
    [
        (429, b"{}", "throttled"),
        (401, b"{}", "refused"),
        (500, b"oops", "down"),
        (302, b"", "down"),
        (200, b"no json", "garbage"),
        (200, b'{"data": []}', "garbage"),
        (200, b'{"data": [{"index": 0, "embedding": ["x"]}]}', "garbage"),
        (200, b'{"data": [{"index": 7, "embedding": [1.0]}]}', "garbage"),
        (200, b"[" * 100_000, "garbage"),
    ],
)
def test_what_an_endpoint_does_wrong_is_an_unavailable_backend(server, status, body, why):
    server.answer = (status, {"Location": f"{server.url}/elsewhere", "Retry-After": "7"}, body)

    with pytest.raises(BackendUnavailable) as caught:
        HttpEncoder(server.url, "some-model").encode(["a"])

    assert caught.value.why == why
    assert len(server.requests) == 1
    assert caught.value.retry_after_s == (None if status == 200 else 7)


@pytest.mark.parametrize(
    ("status", "body", "why"),
    [
        (429, REFUSED, "throttled"),
        (403, b'{"__type": "AccessDeniedException"}', "refused"),
        (200, b"{}", "garbage"),
        (200, b'{"embedding": [1.0, 2.0]}', "garbage"),
    ],
)
def test_what_bedrock_does_wrong_is_an_unavailable_backend(server, titan, status, body, why):
    kind = json.loads(body).get("__type")
    server.answer = (status, {"x-amzn-ErrorType": kind} if kind else {}, body)
    with pytest.raises(BackendUnavailable) as caught:
        titan.encode(["a"])
    assert caught.value.why == why


def test_a_backend_that_is_not_there_is_unavailable():
    server = EmbeddingServer()
    server.close()
    with pytest.raises(BackendUnavailable):
        HttpEncoder(server.url, "some-model").encode(["a"])
    titan = TitanEncoder(client=bedrock_client(server.url))
    with pytest.raises(BackendUnavailable):
        titan.encode(["a"])
    titan.close()


def test_a_circuit_spares_a_backend_that_is_down_and_closes_by_itself(server):
    now = [0.0]
    circuit = Circuit(HttpEncoder(server.url, "m"), lambda: now[0])
    server.answer = (500, {}, b"")

    for _ in range(5):
        with pytest.raises(BackendUnavailable):
            circuit.encode(["a"])
    assert (len(server.requests), circuit.failures, circuit.refused) == (1, 1, 4)
    assert circuit.is_open
    assert circuit.last_failure == "the endpoint answered 500"

    now[0] = 1.0  # the first pause is over, and the next is twice as long
    with pytest.raises(BackendUnavailable):
        circuit.encode(["a"])
    now[0] = 2.5
    with pytest.raises(BackendUnavailable):
        circuit.encode(["a"])
    assert (len(server.requests), circuit.refused) == (2, 5)

    server.answer = None
    now[0] = 3.0
    assert circuit.encode(["a"]).shape == (1, 256)
    assert (circuit.last_failure, circuit.is_open) == (None, False)


def test_a_circuit_waits_as_long_as_the_backend_asks_within_its_limit(server):
    now = [0.0]
    circuit = Circuit(HttpEncoder(server.url, "m"), lambda: now[0])
    server.answer = (429, {"Retry-After": "3600"}, b"")
    with pytest.raises(BackendUnavailable):
        circuit.encode(["a"])
    now[0] = 59.0
    assert circuit.is_open
    now[0] = 60.0
    assert not circuit.is_open


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        (Wish("http"), "url"),
        (Wish("http", url="http://127.0.0.1:1"), "model"),
        (Wish("http", url="ftp://127.0.0.1", model="m"), "no http"),
        (Wish("http", url="http://embed.example.com", model="m"), "insecure"),
        (Wish("bedrock", dimensions=100, region="eu-west-1"), "256"),
        (Wish("other"), "other"),
    ],
)
def test_a_wish_that_cannot_work_is_a_fault_of_the_configuration(wish, message):
    with pytest.raises(ConfigurationError, match=message):
        encoder(wish, lambda: 0.0)


@pytest.mark.parametrize(
    "wish",
    [
        Wish("wordllama"),
        Wish("minilm"),
        Wish("bedrock", region="eu-west-1"),
        Wish("http", url="http://embed.example.com", model="m", insecure=True),
    ],
)
def test_every_backend_is_built_by_name_without_being_asked(wish):
    assert encoder(wish, lambda: 0.0).version
