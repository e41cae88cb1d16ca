"""What every encoder keeps to; an implementation inherits the class and builds itself."""

from __future__ import annotations

import numpy as np

from monitor.ports import Encoder


class EncoderConformance:
    """Inherit, and set `encoder`."""

    encoder: Encoder

    def test_each_text_gives_one_row_in_order(self):
        rows = self.encoder.encode(["red shoes", "a train to Rome", "red shoes"])
        assert rows.shape == (3, self.encoder.dimensions)
        assert rows.dtype == np.float32
        assert np.array_equal(rows[0], rows[2])
        assert not np.array_equal(rows[0], rows[1])

    def test_rows_have_unit_length(self):
        rows = self.encoder.encode(["red shoes", "a train to Rome"])
        assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)

    def test_no_texts_give_no_rows(self):
        assert self.encoder.encode([]).shape == (0, self.encoder.dimensions)

    def test_hostile_texts_give_finite_rows(self):
        rows = self.encoder.encode(["", " ", "\x00", "\ud800", "é" * 50_000, "\u202e\u200b", "🙂"])
        assert rows.shape == (7, self.encoder.dimensions)
        assert np.isfinite(rows).all()

    def test_a_batch_gives_what_single_texts_give(self):
        together = self.encoder.encode(["one", "two words"])
        apart = np.concatenate([self.encoder.encode(["one"]), self.encoder.encode(["two words"])])
        assert np.allclose(together, apart, atol=1e-5)

    def test_the_version_is_a_name(self):
        assert self.encoder.version
        assert isinstance(self.encoder.version, str)
