"""Clips: sources count alike, and what recorded faces lack of fine detail is told by other sources."""

import numpy as np
import pandas as pd
import pytest

from forensix.training.faces.clips import files_of, noted, paired, recorded_gaps, weights
from forensix.training.faces.figures import auc_within, over_sources, weighted_auc


def clips(n: int = 240, *, gap: float = 1.5, network: float = 0.0, seed: int = 0) -> pd.DataFrame:
    """Return clips of eight sources, two a file; fakes have higher gaps and logits by so many standard deviations."""
    rng = np.random.default_rng(seed)
    fake = np.tile([False, True], n // 2)
    return pd.DataFrame(
        {
            "repo": [f"a/{i // 2 % 8}" for i in range(n)],
            "path": [f"{i // 2}.mp4" for i in range(n)],
            "label": np.where(fake, "fake", "real"),
            "made_by": np.where(fake, [f"tool {i // 2 % 8}" for i in range(n)], ""),
            "gap": 0.1 + 0.2 * (rng.normal(size=n) + gap * fake),
            "logit": rng.normal(size=n) + network * fake,
        }
    )


def test_the_gaps_of_recorded_faces_are_those_of_other_sources() -> None:
    table = clips(gap=3.0)
    least, mean, high, most = recorded_gaps(table).recorded
    real = table.loc[table["label"] == "real", "gap"]
    assert (least, most) == pytest.approx((real.min(), real.max()), abs=1e-4) and least < mean < high < most
    assert (real > high).mean() == pytest.approx(0.05, abs=0.02)
    told = noted(table)
    assert told[table["label"] == "fake"].mean() > 0.8 and told[table["label"] == "real"].mean() < 0.1
    own = (table["repo"] == "a/3").to_numpy()
    shifted = table.assign(gap=table["gap"] + 5 * own)
    assert noted(shifted)[own].all() and recorded_gaps(shifted[~own]) == recorded_gaps(table[~own])


def test_gaps_that_are_not_known_are_not_counted_and_not_told_of() -> None:
    table = clips()
    known = recorded_gaps(table[table.index % 4 != 0])
    table.loc[::4, "gap"] = np.nan
    assert recorded_gaps(table).recorded == pytest.approx(known.recorded, abs=0.02)
    assert not noted(table)[::4].any()


def test_sources_count_as_the_root_of_their_clips_and_both_classes_alike() -> None:
    table = pd.DataFrame({"repo": ["a"] * 4 + ["b"] + ["c"], "label": ["fake"] * 5 + ["real"]})
    w = weights(table)
    assert w[:4].sum() == pytest.approx(2 * w[4]) and w[:5].sum() == pytest.approx(w[5]) == pytest.approx(0.5)


def test_figures_within_a_source_and_of_one_file() -> None:
    table = clips()
    y = (table["label"] == "fake").to_numpy(float)
    assert paired(table, y) == auc_within(table, y) == weighted_auc(table, y) == 1
    assert paired(table, -y) == 0 and paired(table, 0 * y) == 0.5
    assert np.isnan(paired(table[table["label"] == "real"], y[::2]))
    low, high = over_sources(weighted_auc, table, table["gap"].to_numpy())
    assert 0.7 < low < weighted_auc(table, table["gap"].to_numpy()) < high < 1
    assert len(files_of(table, 3)) == 48
