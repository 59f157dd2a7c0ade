"""How usual is a speaker's voice among real voices?

The reference population is measured on recordings of real people by ``python -m forensix.training.voice.population``;
its numbers lie in ``population.json`` beside this module, with the collections that they come from. Speakers count
alike, and no collection counts more than 60 of them, so that a large one does not set the bounds.

A value is an outlier when it lies below the population's 1st or above its 99th percentile: of real voices like these
about 2 % do, per feature. Voices recorded otherwise (a telephone, a noisy street, another language) are outliers more
often, and a synthetic voice often is none: an outlier is something to look at, not a verdict.

A value is compared with the narrowest stratum that holds at least 50 recordings: voices of the same gender and band
(`band_of`: a telephone's or wider), of the same gender, of the same band, all. The shipped file has every feature for
all voices and for a telephone's band, F0 and formants by gender within either. A population of your own (``forensix
population build MANIFEST``) has every feature in every stratum, and takes the place of the shipped one where the
variable ``FORENSIX_POPULATION`` names its file.
"""

import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from forensix.errors import UsageError
from forensix.folders import expanded
from forensix.schema import AudioFeature, AudioFeatures, Gender
from forensix.voice.speech import RATE_HZ, Segment, spread

LOWER_PERCENTILE, UPPER_PERCENTILE = 1, 99
SETTING = "FORENSIX_POPULATION"
LEAST_RECORDINGS = 50
"""Recordings that bounds rest on: those of fewer call most other real voices outliers."""
LEAST_SPEECH_S = 1.0
"""Speech that each recording of the population holds: less has no rhythm and no melody to set beside theirs."""

NARROW_DB = -50.0
"""The level in 4.5 to 7.5 kHz beside that in 0.3 to 3.4 kHz below which a recording has a telephone's band."""

Band = Literal["narrow", "wide"]


@dataclass(frozen=True)
class Distribution:
    """How one feature is distributed over a population of real voices."""

    unit: str
    count: int
    """Recordings measured."""
    min_value: float
    max_value: float
    mean_value: float
    percentiles: tuple[float, ...]
    """The 0th to the 100th, 101 numbers that never fall."""

    @property
    def lower_bound(self) -> float:
        """Smallest value that is no outlier."""
        return self.percentiles[LOWER_PERCENTILE]

    @property
    def upper_bound(self) -> float:
        """Largest value that is no outlier."""
        return self.percentiles[UPPER_PERCENTILE]

    def is_outlier(self, value: float) -> bool:
        """Tell whether a value lies outside the bounds."""
        return not self.lower_bound <= value <= self.upper_bound

    def percentile_rank(self, value: float) -> int:
        """Return the percentage of the population that lies at or below a value, rounded down, 0 to 100."""
        return max(0, int(np.searchsorted(self.percentiles, value, side="right")) - 1)

    def compare(self, value: float | None) -> AudioFeature:
        """Return a value beside this population; a missing one is no outlier and has no rank."""
        return AudioFeature(
            is_outlier=value is not None and self.is_outlier(value),
            lower_bound=self.lower_bound,
            upper_bound=self.upper_bound,
            min_value=self.min_value,
            max_value=self.max_value,
            mean_value=self.mean_value,
            sample_value=value,
            num_real_samples=self.count,
            percentile_rank=None if value is None else self.percentile_rank(value),
            unit=self.unit,
        )


def summarise(values: ArrayLike, weights: ArrayLike, unit: str) -> Distribution:
    """Describe weighted measurements.

    Parameters
    ----------
    values, weights
        Shape (n,), n at least 2; weights are positive.

    Returns
    -------
    A distribution with a weighted mean and percentiles that interpolate between the midpoints of the weights.
    """
    x, w = np.asarray(values, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    order = np.argsort(x)
    x, w = x[order], w[order]
    middle = (np.cumsum(w) - w / 2) / w.sum()
    percentiles: NDArray[np.float64] = np.interp(np.linspace(0, 1, 101), middle, x)
    percentiles[0], percentiles[-1] = x[0], x[-1]
    return Distribution(
        unit=unit,
        count=len(x),
        min_value=float(x[0]),
        max_value=float(x[-1]),
        mean_value=float(np.average(x, weights=w)),
        percentiles=tuple(map(float, percentiles)),
    )


def band_of(samples: NDArray[Any], segments: Sequence[Segment]) -> Band:
    """Return whether speech has a telephone's band (up to 4 kHz) or a wider one.

    Parameters
    ----------
    samples
        Shape (n,), int16 or float, mono, 16 kHz; at most 20 s of it are looked at.
    segments
        Where this speaker speaks; without speech the band is wide.
    """
    low = high = 0.0
    for piece in spread(segments, at_most_s=20.0) if segments else ():
        x = piece.of(samples)
        if len(x) >= 512:
            windows = np.lib.stride_tricks.sliding_window_view(x, 512)[::256] * np.hanning(512)
            power = (np.abs(np.fft.rfft(windows)) ** 2).sum(axis=0)
            hz = np.arange(257) * RATE_HZ / 512
            low += float(power[(hz >= 300) & (hz <= 3400)].mean())
            high += float(power[(hz >= 4500) & (hz <= 7500)].mean())
    return "narrow" if low > 0 and 10 * np.log10(max(high, 1e-30) / low) < NARROW_DB else "wide"


def _read(path: str | None) -> dict[str, Any]:
    state = None
    if path:
        with contextlib.suppress(OSError):
            found = expanded(path).stat()
            state = found.st_mtime_ns, found.st_size
    return _read_once(path, state)


@cache
def _read_once(path: str | None, _state: tuple[int, int] | None) -> dict[str, Any]:
    """Return what the file at a path holds; in another state, as one that was built anew has, it is read again."""
    source = expanded(path) if path else files("forensix.voice").joinpath("population.json")
    try:
        table: dict[str, Any] = json.loads(source.read_text(encoding="utf-8"))
        units = {name: feature["unit"] for name, feature in table["features"].items()}
        n = int(table["recordings"])
        if not (table["inputs_sha256"] and all(_is_sound(one["groups"]) for one in table["features"].values())):
            raise ValueError
    except OSError as error:
        raise UsageError(f"{SETTING} names {path}, which cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{SETTING} names {path}, which 'forensix population build' did not write") from error
    if path and set(units) != set(AudioFeatures.model_fields):
        raise UsageError(f"{path} is a population of other features: build it again")
    if path and n < LEAST_RECORDINGS:
        raise UsageError(f"{path} rests on {n} recordings; {too_few()}: build it again")
    return table


def _is_sound(groups: dict[str, dict[str, Any]]) -> bool:
    """Tell whether the strata of a feature are what `build` writes: one of all voices, and numbers that never fall."""
    for group in groups.values():
        told = np.asarray([group[name] for name in ("count", "min_value", "max_value", "mean_value")], np.float64)
        percentiles = np.asarray(group["percentiles"], np.float64)
        if (
            percentiles.shape != (101,)
            or not np.isfinite([*told, *percentiles]).all()
            or (np.diff(percentiles) < 0).any()
        ):
            return False
    return "all" in groups


def named() -> str:
    """Return what ``FORENSIX_POPULATION`` names: the file, and the hash of its recordings; empty without it."""
    path = os.environ.get(SETTING)
    return f"{Path(path).name} (SHA-256 of its recordings {record()['inputs_sha256']})" if path else ""


def too_few() -> str:
    """Return why a few recordings are no population, in words."""
    return f"a population takes {LEAST_RECORDINGS} or more, since the bounds of fewer call other real voices outliers"


def check(path: str) -> None:
    """Raise `UsageError` unless the file at ``path`` is a population that ``FORENSIX_POPULATION`` may name."""
    _read(path)


def _table() -> dict[str, Any]:
    return _read(os.environ.get(SETTING) or None)


def record() -> dict[str, Any]:
    """Return where the population comes from: command, collections, counts, licences, hash of the inputs."""
    return {key: value for key, value in _table().items() if key != "features"}


def stratum(feature: str, gender: Gender = "unknown", band: Band = "wide") -> str:
    """Return the narrowest stratum of this gender and band with enough recordings, such as ``"female narrow"``.

    Raises
    ------
    UsageError
        No such feature.
    """
    features = _table()["features"]
    if feature not in features:
        raise UsageError(f"there is no feature {feature!r}; there are: {', '.join(sorted(features))}")
    groups = features[feature]["groups"]
    strata = (f"{gender} {band}", gender, band, "all")
    return next(s for s in strata if s == "all" or (s in groups and groups[s]["count"] >= LEAST_RECORDINGS))


def distribution(feature: str, gender: Gender = "unknown", band: Band = "wide") -> Distribution:
    """Return the population of a feature: of its `stratum` for this gender and band.

    Raises
    ------
    UsageError
        No such feature.
    """
    name = stratum(feature, gender, band)
    table = _table()["features"][feature]
    group = table["groups"][name]
    return Distribution(unit=table["unit"], **{**group, "percentiles": tuple(group["percentiles"])})


def compare(values: Mapping[str, float | None], gender: Gender = "unknown", band: Band = "wide") -> AudioFeatures:
    """Set a speaker's features beside the reference population.

    Parameters
    ----------
    values
        What `forensix.voice.features.extract` returns.
    gender, band
        Choose the stratum; an ``unknown`` gender is compared with all.

    Raises
    ------
    UsageError
        A feature is missing or unknown.
    """
    expected = set(AudioFeatures.model_fields)
    if set(values) != expected:
        wrong = ", ".join(sorted(set(values) ^ expected))
        raise UsageError(f"the ten features of features.extract were expected; missing or unknown: {wrong}")
    compared = {name: distribution(name, gender, band).compare(value) for name, value in values.items()}
    return AudioFeatures(**compared)
