"""How usual is a speaker's voice among real voices?

The reference population is measured on recordings of real people by ``python -m forensix.training.population``; its
numbers lie in ``population.json`` beside this module, with the collections that they come from. Speakers count alike,
and no collection counts more than 60 of them, so that a large one does not set the bounds.

A value is an outlier when it lies below the population's 1st or above its 99th percentile: of real voices like these
about 2 % do, per feature. Voices recorded otherwise (a telephone, a noisy street, another language) are outliers more
often, and a synthetic voice often is none: an outlier is something to look at, not a verdict. F0 and formants are
compared with voices of the same gender where it is known.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from forensix.errors import UsageError
from forensix.schema import AudioFeature, AudioFeatures, Gender

LOWER_PERCENTILE, UPPER_PERCENTILE = 1, 99
BY_GENDER = ("f0", "f1", "f2")


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


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(files("forensix.voice").joinpath("population.json").read_text(encoding="utf-8"))
    return table


def record() -> dict[str, Any]:
    """Return where the population comes from: command, collections, counts, licences, hash of the inputs."""
    return {key: value for key, value in _table().items() if key != "features"}


@cache
def distribution(feature: str, gender: Gender = "unknown") -> Distribution:
    """Return the population of a feature; f0, f1 and f2 have one for each gender as well.

    Raises
    ------
    UsageError
        No such feature.
    """
    features = _table()["features"]
    if feature not in features:
        raise UsageError(f"there is no feature {feature!r}; there are: {', '.join(sorted(features))}")
    groups = features[feature]["groups"]
    found = groups.get(gender, groups["all"])
    return Distribution(unit=features[feature]["unit"], **{**found, "percentiles": tuple(found["percentiles"])})


def compare(values: Mapping[str, float | None], gender: Gender = "unknown") -> AudioFeatures:
    """Set a speaker's features beside the reference population.

    Parameters
    ----------
    values
        What `forensix.voice.features.extract` returns.
    gender
        Chooses the population for f0, f1 and f2; ``unknown`` is that of all.

    Raises
    ------
    UsageError
        A feature is missing or unknown.
    """
    expected = set(AudioFeatures.model_fields)
    if set(values) != expected:
        wrong = ", ".join(sorted(set(values) ^ expected))
        raise UsageError(f"the ten features of features.extract were expected; missing or unknown: {wrong}")
    compared = {name: distribution(name, gender).compare(value) for name, value in values.items()}
    return AudioFeatures(**compared)
