"""Fitting the comparison to labelled pairs: what is fitted, what is refused, what is written."""

from __future__ import annotations

import gzip
import json
import random

import msgspec
import numpy as np
import pytest
from embedding_server import EmbeddingServer

from monitor import chosen
from monitor.cli import main
from monitor.comparison import CachedEncoder, Ladder
from monitor.comparison.calibration import (
    Band,
    Calibrations,
    Scale,
    chance_of,
    decoded,
    encoded,
    shipped,
)
from monitor.comparison.names import NAME_FEATURES
from monitor.comparison.trees import Trees
from monitor.config import load
from monitor.errors import InvalidInput
from monitor.ports import Hint
from monitor.roles.calibrating.boosting import Shape, fit
from monitor.roles.calibrating.fitting import fitted_band, fitted_scale
from monitor.roles.calibrating.pairs import read_pairs
from monitor.roles.calibrating.reliability import Outcome, calibration_gap, table, told

NOUNS = (
    "amber basket candle dragon ember forest garden harbor island jacket kettle lantern meadow "
    "needle orchard pepper quartz ribbon saddle timber umbrella velvet willow yonder zephyr"
)
WORDS = NOUNS.split()


def pairs_file(path, count, question=False):
    """Titles of three words, the same when two are kept, different when none is."""
    dice = random.Random(7)
    lines = ["gold\tpred\tlabel\tgroup\t" + ("question" if question else "field")]
    for number in range(count):
        first = dice.sample(WORDS, 3)
        others = [word for word in WORDS if word not in first]
        same = number % 2
        second = [*first[:2], dice.choice(others)] if same else dice.sample(others, 3)
        name = "what is it called" if question else "title"
        lines.append(f"{' '.join(first)}\t{' '.join(second)}\t{same}\tg{number}\t{name}")
    path.write_text("\n".join(lines) + "\n")
    return path


def test_pairs_are_read_with_what_is_known_beside_them(tmp_path):
    path = tmp_path / "pairs.tsv.gz"
    text = (
        "id\tgold\tpred\tlabel\tctx\tgroup\tsource\n"
        'a\t"""x"""\t5\t0\t"{""param"": ""city"", ""type"": ""string""}"\tg1\tmine\n'
        'b\tplain text\t[1]\t1\t"{""question"": ""who?""}"\t\t\n'
    )
    path.write_bytes(gzip.compress(text.encode()))

    one, other = read_pairs(path)

    assert one[:5] == ("x", 5, Hint("city", None, {"type": "string"}), False, "mine")
    assert (one.group, one.is_answer) == ("g1", False)
    assert other[:3] == ("plain text", [1], Hint(query="who?"))
    assert (other.same, other.source, other.is_answer) == (True, "pairs", True)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"gold\tpred\n", "no column label"),
        (b"", "no column gold"),
        (b"gold\tpred\tlabel\tfield\na\tb\tyes\tx\n", "line 2: the label is 'yes'"),
        (b"gold\tpred\tlabel\na\tb\t1\n", "line 2: neither a field nor a question"),
        (b"gold\tpred\tlabel\tctx\na\tb\t1\t[1]\n", "line 2: ctx"),
        (b"gold\tpred\tlabel\xff\n", "UTF-8"),
        (b"\x1f\x8bnot gzip", "cannot be read"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_its_line(tmp_path, content, message):
    path = tmp_path / "pairs.tsv"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=message):
        read_pairs(path)


def test_trees_learn_a_threshold_and_never_fall_along_a_rising_feature():
    dice = np.random.default_rng(3)
    rows = dice.random((400, 2))
    same = rows[:, 0] > 0.6
    trees = fit(rows, same, ("up", "noise"), frozenset({"up"}), Shape(trees=30, rate=0.2))

    assert trees.log_odds([0.9, 0.5]) > 1 > -1 > trees.log_odds([0.1, 0.5])
    steps = [trees.log_odds([x / 50, 0.5]) for x in range(51)]
    assert steps == sorted(steps)
    assert trees == fit(rows, same, ("up", "noise"), frozenset({"up"}), Shape(trees=30, rate=0.2))


def test_trees_that_were_damaged_are_refused():
    for tree in ([0, 1.0, 0.5], [9, 1.0, 0.1, 0.2], [0, "x", 0.1, 0.2], [0, 1.0, "x", 0.2]):
        with pytest.raises(InvalidInput):
            Trees(("a",), 0.0, (tree,)).require_sound(("a",))
    with pytest.raises(InvalidInput, match="other features"):
        Trees(("a",), 0.0, ()).require_sound(("b",))


def test_the_band_leaves_out_what_is_right_too_seldom():
    # From 0.5 up: 4 of 5 right above 0.6, of which the upper 3 are all right.
    chances = np.array([0.95, 0.9, 0.8, 0.7, 0.6, 0.1, 0.2])
    same = np.array([True, True, True, False, True, False, False])
    assert fitted_band(chances, same, 1.0) == Band(0.5, 0.8)
    assert fitted_band(chances, same, 0.8) == Band(0.5, 0.5)
    assert fitted_band(np.array([0.9]), np.array([False]), 0.9) == Band(0.5, 1.0)


def test_a_scale_follows_many_labels_and_leaves_few_alone():
    odds = np.array([2.0, -2.0] * 500)
    flat = np.array([True, False, False, True] * 250)  # the model tells nothing here
    nothing = np.zeros(1000)
    assert abs(fitted_scale(odds, nothing, flat).slope) < 0.05
    few = fitted_scale(odds[:4], nothing[:4], flat[:4])
    assert few.slope > 0.7
    assert fitted_scale(odds, nothing, odds > 0).cosine == 0.0


def test_a_scale_is_shift_plus_slope_plus_cosine():
    assert Scale(0.5, 2.0, 3.0).odds(1.0, 0.25) == 3.25
    assert chance_of(0.0) == 0.5
    assert 0 < chance_of(-1e9) < chance_of(1e9) <= 1


def test_the_reliability_table_sets_stated_beside_true():
    lines = [*table([0.05, 0.05, 0.95, 0.95], [False, False, True, False])]
    assert lines == [
        "chance       pairs  stated  the same",
        "0.0 to 0.1       2   0.050     0.000",
        "0.9 to 1.0       2   0.950     0.500",
        "mean distance of stated from true: 0.250",
    ]
    gap = calibration_gap([0.05, 0.05, 0.95, 0.95], [False, False, True, False])
    assert gap == pytest.approx(0.25)


def test_accuracy_is_told_of_the_decided_with_its_interval():
    outcomes = [Outcome(True, True)] * 9 + [Outcome(False, True), Outcome(None, True)]
    # Wilson for 9 of 10: 0.596 to 0.982.
    assert told(outcomes) == ("    11 pairs, 0.909 decided, 0.900 of those right (0.596 to 0.982)")
    assert told([Outcome(None, True)]) == "     1 pairs, none decided"


@pytest.mark.parametrize("question", [False, True])
def test_a_team_fits_its_own_pairs_and_the_comparison_reads_it(tmp_path, capsys, question):
    pairs = pairs_file(tmp_path / "ours.tsv", 160, question)
    out = tmp_path / "ours.json"

    assert main(["calibrate", str(pairs), "--out", str(out)]) == 0

    said = capsys.readouterr().out
    assert "160 of them left open by the rules" in said
    assert "chance       pairs  stated  the same" in said
    assert "not fitted: 0 pairs labelled the same and 0 labelled different" in said
    (found,) = decoded(out.read_bytes(), "ours").calibrations
    fitted, untouched = (found.answers, found.fields) if question else (found.fields, found.answers)
    assert found.name == "ours-wordllama"
    assert [(s.source, s.rows, s.same) for s in fitted.scaled_on] == [("pairs", 160, 80)]
    base = shipped().calibrations[0]
    assert untouched == (base.fields if question else base.answers)
    config = tmp_path / "monitor.toml"
    config.write_text(f'[comparison]\ncalibration = "{out}"\n')
    assert main(["check", str(config)]) == 0
    assert "ours-wordllama" in capsys.readouterr().out


def test_too_few_labels_are_refused_and_nothing_is_written(tmp_path, capsys):
    pairs = pairs_file(tmp_path / "few.tsv", 60)
    out = tmp_path / "few.json"

    assert main(["calibrate", str(pairs), "--out", str(out)]) == 2

    assert not out.exists()
    assert "too few labels" in capsys.readouterr().err


def test_a_refit_needs_more_labels_than_a_scale(tmp_path, capsys):
    pairs = pairs_file(tmp_path / "some.tsv", 160)
    assert main(["calibrate", str(pairs), "--refit"]) == 2
    assert "500 are needed" in capsys.readouterr().err


@pytest.mark.parametrize(
    "options",
    [["--target", "0.2"], ["--band", "names", "0.4", "0.6"], ["--band", "fields", "0.6", "0.7"]],
)
def test_options_that_make_no_sense_are_named(tmp_path, capsys, options):
    pairs = pairs_file(tmp_path / "some.tsv", 4)
    assert main(["calibrate", str(pairs), *options]) == 2
    assert options[0] in capsys.readouterr().err


def test_a_set_band_is_taken_as_it_is(tmp_path):
    pairs = pairs_file(tmp_path / "ours.tsv", 160)
    out = tmp_path / "ours.json"
    assert main(["calibrate", str(pairs), "--out", str(out), "--band", "fields", "0.1", "0.9"]) == 0
    assert decoded(out.read_bytes(), "x").calibrations[0].fields.band == Band(0.1, 0.9)


def test_a_calibration_for_another_encoder_is_refused(tmp_path, capsys):
    calibration = tmp_path / "other.json"
    calibration.write_bytes(encoded(Calibrations(1, shipped().calibrations[:1])))
    config = tmp_path / "monitor.toml"
    config.write_text(
        f'[comparison]\ncalibration = "{calibration}"\n[embedding]\nbackend = "none"\n'
    )
    assert main(["check", str(config)]) == 2
    assert "fitted with another encoder" in capsys.readouterr().err


@pytest.mark.parametrize("damage", [b"", b"{}", b"[]", b"\xff", b'{"format": 2}'])
def test_a_damaged_calibration_is_named(tmp_path, capsys, damage):
    calibration = tmp_path / "broken.json"
    calibration.write_bytes(damage)
    config = tmp_path / "monitor.toml"
    config.write_text(f'[comparison]\ncalibration = "{calibration}"\n')
    assert main(["check", str(config)]) == 2
    assert "broken.json is no calibration" in capsys.readouterr().err


def test_a_calibration_is_what_it_was_after_writing_and_reading():
    assert decoded(encoded(shipped()), "again") == shipped()


def test_the_shipped_calibration_says_what_it_was_fitted_on():
    names = [(one.name, one.encoder) for one in shipped().calibrations]
    assert names == [("dev-wordllama", "wordllama-"), ("dev-words", None)]
    for one in shipped().calibrations:
        assert {source.source for source in one.fields.fitted_on} >= {"bfcl", "synth"}
        assert {source.source for source in one.answers.fitted_on} >= {"nq301-human"}
        assert all(source.same <= source.rows for source in one.fields.fitted_on)
        assert one.fields.band.low < 0.5 < one.fields.band.high
    assert shipped().calibrations[0].fields.trees.features == NAME_FEATURES


def test_an_encoder_that_nothing_was_fitted_with_is_left_to_words():
    class Other:
        version = "other-1"
        dimensions = 2

        def encode(self, texts):
            return np.tile(np.array([1.0, 0.0], dtype=np.float32), (len(texts), 1))

    ladder = Ladder(encoder=CachedEncoder(Other()))
    assert "dev-words" in ladder.version
    alone = Ladder().compare("alpha beta", "gamma delta", Hint("x"))
    assert ladder.compare("alpha beta", "gamma delta", Hint("x")) == alone


def test_the_shipped_calibration_is_what_the_command_makes(shared_data):
    stored = json.loads(encoded(shipped()))
    pairs = read_pairs(shared_data / "equivalence" / "dev.tsv.gz")
    fields = [pair for pair in pairs if not pair.is_answer]
    told_rows = sum(source["rows"] for source in stored["calibrations"][0]["fields"]["fitted_on"])
    assert 0 < told_rows < len(fields)


def test_two_fits_of_one_name_are_two_versions():
    one = shipped().calibrations[0]
    other = msgspec.structs.replace(
        one, fields=msgspec.structs.replace(one.fields, band=Band(0.4, 0.6))
    )
    assert one.name == other.name
    assert one.version != other.version
    assert one.version.startswith("dev-wordllama@")


def test_a_team_that_uses_another_encoder_has_its_cosine_weighed(tmp_path, capsys):
    server = EmbeddingServer(32)
    config = tmp_path / "monitor.toml"
    config.write_text(f'[embedding]\nbackend = "http"\nurl = "{server.url}"\nmodel = "m"\n')
    pairs = pairs_file(tmp_path / "ours.tsv", 160)
    out = tmp_path / "ours.json"

    assert main(["calibrate", str(pairs), "--config", str(config), "--out", str(out)]) == 0
    (found,) = decoded(out.read_bytes(), "ours").calibrations
    assert (found.name, found.encoder) == ("ours-http", "http-m-full")
    assert found.fields.scale.cosine != 0.0
    assert not found.fields.is_encoded

    config.write_text(f'{config.read_text()}[comparison]\ncalibration = "{out}"\n')
    asked = len(server.requests)
    ladder = chosen.evaluation(load(config)).evaluator
    assert found.version in ladder.version
    assert len(server.requests) == asked
    server.close()
