"""The default encoder, the vector cache before it and the vector file behind it."""

from __future__ import annotations

import logging
import socket
import sqlite3

import numpy as np
import pytest
from encoder_conformance import EncoderConformance

from monitor.backends.vector_store import SqliteVectorStore
from monitor.backends.wordllama import WordLlamaEncoder
from monitor.comparison import CachedEncoder
from monitor.errors import BackendUnavailable


class CountingEncoder:
    """Two dimensions made from the text's length; remembers what it was asked."""

    version = "counting"
    dimensions = 2

    def __init__(self):
        self.asked = []

    def encode(self, texts):
        self.asked.append(list(texts))
        rows = np.array([[len(text) + 1.0, 1.0] for text in texts], dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class TestWordLlama(EncoderConformance):
    encoder = WordLlamaEncoder()


class TestCached(EncoderConformance):
    encoder = CachedEncoder(WordLlamaEncoder())


def test_wordllama_opens_no_socket_and_leaves_logging_alone(monkeypatch):
    def refuse(*_args, **_kwargs):
        raise AssertionError("the encoder reached for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    root = logging.getLogger()
    before = (list(root.handlers), root.level)
    WordLlamaEncoder().encode(["hello"])
    assert (list(root.handlers), root.level) == before


def test_a_missing_package_is_an_unavailable_backend(monkeypatch):
    monkeypatch.setattr("monitor.backends.wordllama.util.find_spec", lambda _name: None)
    with pytest.raises(BackendUnavailable, match="not installed"):
        WordLlamaEncoder().encode(["hello"])


def test_a_text_is_encoded_once():
    inner = CountingEncoder()
    cached = CachedEncoder(inner)
    cached.encode(["a", "bb", "a"])
    cached.encode(["bb", "ccc"])
    assert inner.asked == [["a", "bb"], ["ccc"]]
    assert (cached.hits, cached.misses) == (2, 3)


def test_the_cache_keeps_its_limit_and_drops_the_longest_unused():
    inner = CountingEncoder()
    cached = CachedEncoder(inner, limit=2)
    cached.encode(["a"])
    cached.encode(["bb"])
    cached.encode(["a"])
    cached.encode(["ccc"])
    assert (len(cached), cached.evictions) == (2, 1)
    cached.encode(["a"])
    assert inner.asked == [["a"], ["bb"], ["ccc"]]


def test_a_batch_larger_than_the_limit_is_still_answered_whole():
    cached = CachedEncoder(CountingEncoder(), limit=1)
    assert cached.encode(["a", "bb", "ccc"]).shape == (3, 2)


def test_cached_vectors_are_close_to_the_encoders_own():
    texts = ["red shoes", "a train to Rome", "please cancel my order"]
    exact = WordLlamaEncoder().encode(texts)
    kept = CachedEncoder(WordLlamaEncoder()).encode(texts)
    assert np.abs(exact @ exact.T - kept @ kept.T).max() < 0.01


def test_vectors_survive_a_restart(tmp_path):
    path = tmp_path / "vectors.sqlite"
    store = SqliteVectorStore(path)
    CachedEncoder(CountingEncoder(), store=store).encode(["a", "bb"])
    store.close()
    inner = CountingEncoder()
    rows = CachedEncoder(inner, store=SqliteVectorStore(path)).encode(["a", "bb"])
    assert inner.asked == []
    assert rows.shape == (2, 2)


def test_another_tenant_or_version_shares_no_vector(tmp_path):
    store = SqliteVectorStore(tmp_path / "vectors.sqlite")
    CachedEncoder(CountingEncoder(), store=store, tenant="one").encode(["a"])
    other = CountingEncoder()
    CachedEncoder(other, store=store, tenant="two").encode(["a"])
    newer = CountingEncoder()
    newer.version = "counting-2"
    CachedEncoder(newer, store=store, tenant="one").encode(["a"])
    assert (other.asked, newer.asked) == ([["a"]], [["a"]])


def test_the_store_keeps_its_limit(tmp_path):
    store = SqliteVectorStore(tmp_path / "vectors.sqlite", limit=2)
    for key in (b"1", b"2", b"3"):
        store.save({key: b"v"})
    assert set(store.load([b"1", b"2", b"3"])) == {b"2", b"3"}


def test_a_damaged_file_is_written_afresh(tmp_path):
    path = tmp_path / "vectors.sqlite"
    path.write_bytes(b"this is no database at all" * 100)
    store = SqliteVectorStore(path)
    store.save({b"1": b"v"})
    assert store.load([b"1"]) == {b"1": b"v"}
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM vectors").fetchone() == (1,)
    connection.close()


def test_a_disk_that_refuses_costs_time_only(tmp_path):
    store = SqliteVectorStore(tmp_path / "missing" / "vectors.sqlite")
    cached = CachedEncoder(CountingEncoder(), store=store)
    assert cached.encode(["a"]).shape == (1, 2)
    assert store.failures == 2
