"""The gap of fine detail joins the network's score: each source alike, weights never below 0."""

import numpy as np
import pandas as pd
import pytest

from forensix.faces.verdict import with_detail
from forensix.training.faces.figures import auc_within, over_sources, weighted_auc
from forensix.training.faces.joined import files_of, fit_joined, held_out, paired, weights


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


def test_what_tells_gets_weight_and_what_points_the_wrong_way_none() -> None:
    fitted = fit_joined(clips(network=-1.0))
    assert fitted.weight > 2 and fitted.network == 0
    assert fit_joined(clips(network=1.0)).network > 0.2
    assert fit_joined(clips(network=1.0), network=False).network == 0
    assert fitted.recorded[0] < fitted.recorded[1] < fitted.recorded[2] < fitted.recorded[3]


def test_a_source_is_scored_by_a_fit_that_did_not_see_it() -> None:
    table = clips()
    own = (table["repo"] == "a/3").to_numpy()
    turned = table.assign(label=np.where(own, table["label"].map({"real": "fake", "fake": "real"}), table["label"]))
    (logits, raised), (other, _) = held_out(table), held_out(turned)
    np.testing.assert_allclose(logits[own], other[own])
    assert not np.allclose(logits[~own], other[~own])
    rest, gaps = fit_joined(table[~own]), table["gap"].to_numpy()[own]
    np.testing.assert_allclose(logits[own], with_detail(table["logit"].to_numpy()[own], gaps, rest))
    assert raised[own].tolist() == (gaps > rest.recorded[2]).tolist()


def test_gaps_that_are_not_known_say_nothing() -> None:
    table = clips()
    table.loc[::5, "gap"] = np.nan
    fitted = fit_joined(table)
    logits = with_detail(table["logit"].to_numpy(), table["gap"].to_numpy(), fitted)
    assert np.isfinite(logits).all()
    assert logits[0] == pytest.approx(fitted.intercept + fitted.network * table["logit"][0])


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
