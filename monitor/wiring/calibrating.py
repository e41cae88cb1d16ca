"""Calibrations from labelled pairs, with the encoder that the settings name."""

from __future__ import annotations

from pathlib import Path

from monitor.chosen import calibrations_of, encoder_of
from monitor.comparison.calibration import Calibration, Calibrations, encoded
from monitor.config import Settings
from monitor.errors import ConfigurationError, InvalidInput
from monitor.ports import Encoder
from monitor.roles.calibrating.calibrate import Wanted, calibrate
from monitor.roles.calibrating.pairs import read_pairs


def calibrated(settings: Settings, path: Path, wanted: Wanted) -> tuple[bytes, list[str]]:
    """The content of a calibration file fitted to the pairs, and the lines to show.

    Trees of one's own are fitted twice, with the encoder and for words alone.
    """
    pairs = read_pairs(path)
    encoder: Encoder | None = encoder_of(settings)
    found: list[Calibration] = []
    lines: list[str] = []
    for way in dict.fromkeys((encoder, None)) if wanted.refit else (encoder,):
        base = _base(settings, way, needed=not wanted.refit)
        which = "words" if way is None else settings.embedding.backend
        name = f"{path.name.partition('.')[0]}-{which}"
        fitted = calibrate(pairs, base, way, name, wanted)
        found.append(fitted.calibration)
        lines += [f"# {name}", *fitted.lines]
    return encoded(Calibrations(1, tuple(found))), lines


def _base(settings: Settings, encoder: Encoder | None, *, needed: bool) -> Calibration | None:
    """What is there to start from. Trees that ask for other features are no base for new ones."""
    version = None if encoder is None else encoder.version
    try:
        base = calibrations_of(settings).chosen(version)
    except InvalidInput:
        if needed:
            raise
        return None
    if base is None and needed:
        raise ConfigurationError(f"no calibration to start from fits the encoder {version}")
    return base
