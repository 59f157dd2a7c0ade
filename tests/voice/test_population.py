import dataclasses
import itertools
import json
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import percentileofscore

from forensix.errors import UsageError
from forensix.schema import AudioFeatures
from forensix.voice import population
from forensix.voice.features import UNITS

FEATURES = sorted(UNITS)
RNG = np.random.default_rng(0)


@pytest.mark.parametrize("band", ["wide", "narrow"])
@pytest.mark.parametrize("feature", FEATURES)
def test_the_shipped_population_is_sound(feature: str, band: population.Band) -> None:
    d = population.distribution(feature, band=band)
    assert d.unit == UNITS[feature]
    assert len(d.percentiles) == 101 and d.count > 200
    assert all(a <= b for a, b in itertools.pairwise(d.percentiles))
    assert d.percentiles[0] == d.min_value < d.lower_bound < d.mean_value < d.upper_bound < d.max_value
    assert d.max_value == d.percentiles[100]


def test_men_speak_lower_than_women() -> None:
    for feature in ("f0", "f1", "f2"):
        men, women = (population.distribution(feature, g).percentiles[50] for g in ("male", "female"))
        assert men < population.distribution(feature).percentiles[50] < women


def test_what_a_telephone_leaves_out_is_usual_over_a_telephone() -> None:
    wide, narrow = (population.distribution("spectral_artifacts", band=band) for band in ("wide", "narrow"))
    assert wide.is_outlier(narrow.percentiles[50]) and not narrow.is_outlier(narrow.percentiles[50])


def test_where_it_comes_from_is_recorded() -> None:
    record = population.record()
    assert "forensix.training.voice.population" in record["command"]
    assert len(record["inputs_sha256"]) == 64
    assert sum(s["weight"] for s in record["sources"]) == pytest.approx(1, abs=0.01)
    assert sum(s["recordings"] for s in record["sources"]) == record["recordings"]


def test_percentile_ranks_are_those_of_scipy() -> None:
    values = RNG.normal(size=5000)
    d = population.summarise(values, np.ones(5000), "dB")
    for x in (-5.0, -1.3, 0.0, 0.4, 2.2, 5.0):
        assert abs(d.percentile_rank(x) - percentileofscore(values, x)) <= 1
    assert d.percentile_rank(values.min() - 1) == 0
    assert d.percentile_rank(values.max()) == 100


def test_ranks_never_fall() -> None:
    d = population.distribution("f0")
    ranks = [d.percentile_rank(x) for x in np.linspace(d.min_value - 10, d.max_value + 10, 500)]
    assert ranks == sorted(ranks) and set(ranks) >= set(range(101))


def test_weights_count_like_copies() -> None:
    values = RNG.normal(size=2000)
    copies = RNG.integers(1, 5, size=2000)
    weighted = population.summarise(values, copies, "dB")
    copied = population.summarise(np.repeat(values, copies), np.ones(copies.sum()), "dB")
    assert weighted.mean_value == pytest.approx(copied.mean_value)
    assert weighted.percentiles == pytest.approx(copied.percentiles, abs=0.02)


def test_two_of_a_hundred_real_values_are_outliers() -> None:
    values = RNG.normal(size=20000)
    d = population.summarise(values, np.ones(20000), "dB")
    assert np.mean([d.is_outlier(x) for x in values]) == pytest.approx(0.02, abs=0.002)


def test_compare_says_what_the_table_says() -> None:
    d = population.distribution("jitter")
    values = dict.fromkeys(UNITS) | {"jitter": d.upper_bound + 0.01, "f0": 200.0}
    compared = population.compare(values, "female")
    assert isinstance(compared, AudioFeatures)
    assert compared.jitter.is_outlier and compared.jitter.percentile_rank >= 99
    assert (compared.jitter.lower_bound, compared.jitter.upper_bound) == (d.lower_bound, d.upper_bound)
    assert compared.jitter.num_real_samples == d.count
    assert compared.f0.mean_value == population.distribution("f0", "female").mean_value
    assert compared.shimmer.sample_value is None and not compared.shimmer.is_outlier
    assert "sample_value" not in compared.to_wire()["shimmer"]


def test_bounds_themselves_are_no_outliers() -> None:
    d = population.distribution("f1")
    assert not d.is_outlier(d.lower_bound) and not d.is_outlier(d.upper_bound)
    assert d.is_outlier(np.nextafter(d.lower_bound, -np.inf))


@pytest.mark.parametrize("values", [{}, dict.fromkeys(UNITS) | {"loudness": 1.0}])
def test_missing_and_unknown_features_are_refused(values: dict[str, float | None]) -> None:
    with pytest.raises(UsageError):
        population.compare(values)
    with pytest.raises(UsageError, match="there are: background_noise"):
        population.distribution("loudness")


def test_a_distribution_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        population.distribution("f0").count = 3  # type: ignore[misc]


def test_a_population_that_is_built_anew_is_read_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "own.json"
    shipped = json.loads(files("forensix.voice").joinpath("population.json").read_text(encoding="utf-8"))
    monkeypatch.setenv("FORENSIX_POPULATION", str(own))
    for n in (100, 20_000):
        own.write_text(json.dumps(shipped | {"recordings": n}), encoding="utf-8")
        assert population.record()["recordings"] == n
    own.unlink()
    with pytest.raises(UsageError, match="cannot be read"):
        population.record()
