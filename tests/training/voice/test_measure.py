"""What is measured of voice detectors: within sources, by kind of system, and the bounds of the band."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.voice_spoof import alarms
from forensix.training.voice import measure, spoof
from forensix.training.voice.kinds import KINDS, kind_of


@pytest.mark.parametrize(
    ("system", "kind"),
    [
        ("HiFi-GAN copy-synthesis", "vocoder and codec copies"),
        ("WaveGrad(gt-mel)", "vocoder and codec copies"),
        ("MelGAN(predicted-mel)", "neural TTS to 2022"),
        ("Tacotron2+HiFi-GAN", "neural TTS to 2022"),
        ("Bark (Vocos)", "codec and flow models of 2023 on"),
        ("VITS-VC", "voice conversion"),
        ("Flite (CMU)", "classical synthesis"),
        ("singing: vocoder copy-synthesis", "singing"),
    ],
)
def test_kinds_of_systems(system: str, kind: str) -> None:
    assert kind_of(system) == kind
    assert kind in KINDS


def scored(n: int = 200) -> pd.DataFrame:
    """Two sources, one of them shifted as a whole, which helps the pooled figure and not the one within."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"fake": [0, 1] * n, "repo": ["a/a"] * n + ["b/b"] * n, "condition": "clean"})
    table["made_by"] = np.where(table["fake"] == 1, "VITS", "people")
    table["logit"] = rng.normal(table["fake"] * 1.5 - 0.75 + (table["repo"] == "b/b") * 2.0)
    return measure.with_kinds(table)


def test_within_a_source_the_channel_does_not_count() -> None:
    table = scored()
    figures = measure.figures(table, "logit")
    moved = table.assign(logit=table["logit"] + (table["repo"] == "a/a") * 9.0)
    assert measure.figures(moved, "logit")["AUC within source"] == pytest.approx(figures["AUC within source"])
    assert figures["AUC"] < figures["AUC within source"]
    lone = table[(table["repo"] == "a/a") & (table["fake"] == 1) | (table["repo"] == "b/b")]
    assert list(measure.within(lone, "logit").index) == ["b/b"]


def test_the_band_keeps_its_promise_in_the_worst_condition() -> None:
    clean = scored().assign(score=lambda t: 1 / (1 + np.exp(-t["logit"] + 4)))
    noisy = clean.assign(condition="telephone", score=np.minimum(1.0, clean["score"] + 0.1))
    both = pd.concat([clean, noisy])
    lower, upper = measure.band(both)
    called = alarms(both, upper)
    assert lower < upper
    assert called["called fake"].max() <= 0.05
    assert measure.band(clean)[1] <= upper
    assert called.loc["telephone", "called fake"] >= called.loc["clean", "called fake"]


def test_the_band_keeps_its_promise_of_the_kind_that_is_missed_most() -> None:
    table = scored().assign(score=lambda t: 1 / (1 + np.exp(-t["logit"])))
    hard = (table["fake"] == 1) & (table.index % 10 < 5)
    table = table.assign(kind=np.where(hard, "voice conversion", table["kind"]))
    table["score"] = table["score"].where(~hard, table["score"] / 2)
    lower, _ = measure.band(table)
    below = (table["score"] <= lower)[table["fake"] == 1].groupby(table["kind"]).mean()
    assert 0 < below["voice conversion"] <= 0.10
    assert below["neural TTS to 2022"] < below["voice conversion"]


def test_calibration_lets_every_source_count_alike() -> None:
    table = scored().assign(fold=0)
    before = spoof.calibrate(table)
    doubled = pd.concat([table, table[table["repo"] == "b/b"]], ignore_index=True)
    after = spoof.calibrate(doubled)
    assert before.slope > 0
    assert after.intercept == pytest.approx(before.intercept, abs=0.02)
