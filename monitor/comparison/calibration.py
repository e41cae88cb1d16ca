"""How sure a likeness makes us: a fitted model, and the band in which it says nothing."""

from __future__ import annotations

import math
from functools import lru_cache
from hashlib import blake2b
from importlib import resources
from typing import Final, Literal, NamedTuple

import msgspec

from monitor.comparison.answers import ANSWER_FEATURES
from monitor.comparison.names import NAME_FEATURES
from monitor.comparison.trees import Trees
from monitor.errors import InvalidInput

SHIPPED: Final = "calibration.json"
ENCODED: Final = ("cosine", "soft", "soft_least")
"""The last features of a row, which take an encoder."""


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where labelled pairs came from."""

    source: str
    rows: int
    same: int
    """Of them, those labelled as of one meaning."""


class Band(NamedTuple):
    """Between the two chances nothing is said; 0.5 lies within."""

    low: float
    high: float


class Scale(NamedTuple):
    """Log-odds of a deployment's own data from the model's: shift + slope · odds + cosine."""

    shift: float = 0.0
    slope: float = 1.0
    cosine: float = 0.0

    def odds(self, odds: float, cosine: float) -> float:
        """The deployment's log-odds."""
        return self.shift + self.slope * odds + self.cosine * cosine


class Fitted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A model of one kind of pair."""

    trees: Trees
    band: Band
    scale: Scale = Scale()
    fitted_on: tuple[Source, ...] = ()
    scaled_on: tuple[Source, ...] = ()

    @property
    def is_encoded(self) -> bool:
        """Whether the row ends with what an encoder says."""
        return self.trees.features[-len(ENCODED) :] == ENCODED

    def chance(self, row: list[float], cosine: float) -> float:
        """The chance that both values mean the same, in [0, 1]."""
        return chance_of(self.scale.odds(self.trees.log_odds(row), cosine))

    def score(self, row: list[float], cosine: float) -> float | None:
        """The chance; None within the band."""
        chance = self.chance(row, cosine)
        return None if self.band.low < chance < self.band.high else chance


class Calibration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the last rung knows from labelled pairs, for one encoder or for none."""

    name: str
    encoder: str | None
    """Beginning of the encoder's version; None: for words alone."""
    fields: Fitted
    answers: Fitted

    @property
    def version(self) -> str:
        """The name with a digest of all that is fitted: two fits never share a version."""
        return f"{self.name}@{blake2b(msgspec.json.encode(self), digest_size=4).hexdigest()}"

    def fits(self, version: str | None) -> bool:
        """Whether it may be used beside the encoder of that version."""
        return self.encoder is None or (version is not None and version.startswith(self.encoder))


class Calibrations(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a calibration file; the first that fits is used."""

    format: Literal[1]
    calibrations: tuple[Calibration, ...]

    def chosen(self, version: str | None) -> Calibration | None:
        """The one for an encoder, else the one for words alone; None when there is neither."""
        return next((one for one in self.calibrations if one.fits(version)), None)


def decoded(document: bytes, where: str) -> Calibrations:
    """Calibrations of a file. Raises InvalidInput that names the file and the fault."""
    try:
        found = msgspec.json.decode(document, type=Calibrations)
        for one in found.calibrations:
            _require_sound(one.fields, NAME_FEATURES, one.encoder)
            _require_sound(one.answers, ANSWER_FEATURES, one.encoder)
    except (msgspec.DecodeError, RecursionError, InvalidInput) as error:
        raise InvalidInput(f"{where} is no calibration: {error}; fit it again") from error
    return found


def encoded(calibrations: Calibrations) -> bytes:
    """The file's content."""
    return msgspec.json.encode(calibrations) + b"\n"


@lru_cache(maxsize=1)
def shipped() -> Calibrations:
    """The calibrations that come with the package, as much a part of it as its code."""
    document = resources.files("monitor.comparison").joinpath(SHIPPED).read_bytes()
    return decoded(document, SHIPPED)


def chance_of(odds: float) -> float:
    """A chance from log-odds."""
    return 1 / (1 + math.exp(-max(-40.0, min(40.0, odds))))


def _require_sound(fitted: Fitted, features: tuple[str, ...], encoder: str | None) -> None:
    fitted.trees.require_sound(features if fitted.is_encoded else features[: -len(ENCODED)])
    if encoder is None and (fitted.is_encoded or fitted.scale.cosine):
        raise InvalidInput("a model for words alone asks for vectors")
    if not 0.0 <= fitted.band.low <= 0.5 <= fitted.band.high <= 1.0:
        raise InvalidInput(f"the band {tuple(fitted.band)} does not hold 0.5")
    if not all(map(math.isfinite, (*fitted.scale, fitted.trees.bias))):
        raise InvalidInput("a coefficient is not finite")
