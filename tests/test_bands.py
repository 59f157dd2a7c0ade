"""The band that decides nothing: what it promises of sources held out, and how its decisions are counted."""

import numpy as np
import pytest

from forensix.metrics import decided, inconclusive_band, supported


def scores(seed=0):
    rng = np.random.default_rng(seed)
    sources = np.repeat([f"s{i}" for i in range(10)], 100)
    fake = np.repeat([0, 0, 0, 0, 0, 1, 1, 1, 1, 1], 100)
    level = np.repeat(rng.normal(0, 0.7, 10), 100)
    logits = rng.normal(0, 1, 1000) + level + np.where(fake, 1.2, -1.2)
    return fake, 1 / (1 + np.exp(-logits)), sources


@pytest.mark.parametrize("seed", range(5))
def test_no_source_of_real_files_and_no_more_fakes_than_promised_lie_beyond_the_bounds(seed):
    fake, values, sources = scores(seed)
    lower, upper = inconclusive_band(fake, values, sources)
    assert 0 <= lower <= upper <= 1
    for source in set(sources[fake == 0]):
        assert (values[(sources == source)] >= upper).mean() <= 0.05
    assert (values[fake == 1] <= lower).mean() <= 0.10
    # And no wider than that: a little less would break the promise.
    worst = max((values[sources == s] >= upper - 0.002).mean() for s in set(sources[fake == 0]))
    assert worst > 0.05 and (values[fake == 1] <= lower + 0.002).mean() > 0.10


def test_one_bad_source_moves_the_upper_bound_and_small_ones_count_together():
    fake, values, sources = scores()
    _, upper = inconclusive_band(fake, values, sources)
    shifted = values.copy()
    shifted[sources == "s0"] = np.clip(shifted[sources == "s0"] + 0.3, 0, 1)
    assert inconclusive_band(fake, shifted, sources)[1] > upper
    strays = np.concatenate([values, [0.999] * 3])
    alone = np.concatenate([sources, ["a", "b", "c"]])
    assert inconclusive_band(np.append(fake, [0, 0, 0]), strays, alone)[1] == pytest.approx(1.0)


def test_one_kind_of_fakes_that_is_hard_to_find_moves_the_lower_bound():
    fake, values, sources = scores()
    lower, upper = inconclusive_band(fake, values, sources)
    hard = np.where(sources == "s9", "copies", "")
    missed = np.where(hard == "copies", values / 4, values)
    by_kind = inconclusive_band(fake, missed, sources, kinds=hard.tolist())
    assert by_kind[0] < inconclusive_band(fake, missed, sources)[0] <= lower and by_kind[1] == upper
    assert (missed[hard == "copies"] <= by_kind[0]).mean() <= 0.10
    # People's own kind says nothing, and one kind is as none.
    assert inconclusive_band(fake, values, sources, kinds=np.where(fake, "", sources).tolist()) == (lower, upper)


def test_what_is_promised_holds_in_every_condition_also_of_sources_that_are_small():
    rng = np.random.default_rng(0)
    fake = np.tile(np.repeat([0, 1], 90), 3)
    conditions = np.repeat(["as it is", "jpeg", "resize"], 180)
    sources = np.tile([f"s{i // 3}" for i in range(180)], 3)
    moved = np.select([conditions == "jpeg", conditions == "resize"], [0.25, -0.25], 0.0)
    values = np.clip(rng.normal(np.where(fake, 0.6, 0.4) + moved, 0.1), 0, 1)
    lower, upper = inconclusive_band(fake, values, sources.tolist(), conditions=conditions.tolist())
    for condition in set(conditions):
        of = conditions == condition
        assert (values[of & (fake == 0)] >= upper).mean() <= 0.05
        assert (values[of & (fake == 1)] <= lower).mean() <= 0.10


def test_bounds_that_would_cross_meet():
    fake = np.repeat([0, 1], 100)
    values = np.concatenate([np.linspace(0, 0.2, 100), np.linspace(0.8, 1, 100)])
    lower, upper = inconclusive_band(fake, values, ["a"] * 200)
    assert lower == upper and 0.2 < lower < 0.83
    assert decided(fake, values, (lower, upper)).wrong == 0


def test_decisions_are_counted_by_class():
    fake = [0, 0, 0, 0, 1, 1, 1, 1]
    values = [0.1, 0.5, 0.9, 0.15, 0.1, 0.5, 0.9, 0.95]
    counted = decided(fake, values, (0.2, 0.8))
    assert counted.real_decided == 0.75 and counted.fake_decided == 0.75
    assert counted.real_called_fake == 0.25 and counted.fake_called_real == 0.25
    assert counted.wrong == pytest.approx(2 / 6)
    assert np.isnan(decided(fake, [0.5] * 8, (0.2, 0.8)).wrong)
    on_the_bounds = decided([0, 1], [0.2, 0.8], (0.2, 0.8))
    assert on_the_bounds.real_decided == on_the_bounds.fake_decided == 1 and on_the_bounds.wrong == 0
    held = decided(fake, values, (0.5, 0.5), withheld=[False, False, True, False, False, False, True, True])
    assert held.real_called_fake == 0.25 and held.fake_decided == 0.5 and held.fake_called_real == 0.25


def test_one_class_alone_has_no_band():
    with pytest.raises(ValueError, match="both real and fake"):
        inconclusive_band([1, 1], [0.1, 0.9], ["a", "a"])


@pytest.mark.parametrize("fake", [[1, 1], [0, 0], []])
def test_what_a_band_decides_is_told_of_both_classes(fake):
    with pytest.raises(ValueError, match="both real and fake"):
        decided(fake, [0.5] * len(fake), (0.2, 0.8))


@pytest.mark.parametrize(
    ("real_below", "fake_below", "fake_above", "real_above", "kept"),
    [
        (20, 2, 20, 2, (0.2, 0.9)),
        (10, 10, 20, 2, (0.0, 0.9)),
        (20, 2, 3, 3, (0.2, 1.0)),
        # Twice as common, but chance does that with so few.
        (2, 1, 2, 1, (0.0, 1.0)),
    ],
)
def test_a_bound_beyond_which_its_class_is_not_shown_to_be_commoner_is_opened(
    real_below, fake_below, fake_above, real_above, kept
):
    def scores(below, above):
        return [0.1] * below + [0.5] * (40 - below - above) + [0.95] * above

    fake = np.repeat([0, 1], 40)
    values = scores(real_below, real_above) + scores(fake_below, fake_above)
    assert supported(fake, values, (0.2, 0.9)) == kept


def test_a_bound_is_supported_by_groups_not_by_the_files_of_one_of_them():
    fake = np.repeat([0, 1], 60)
    groups = [f"g{i // 10}" for i in range(120)]
    values = np.full(120, 0.5)
    values[60:70] = 0.95
    assert supported(fake, values, (0.2, 0.9)) == (0.0, 0.9), "ten fakes to none, if they had nothing in common"
    assert supported(fake, values, (0.2, 0.9), groups=groups) == (0.0, 1.0), "of six groups of fakes it is one"
    values[60::2] = 0.95
    assert supported(fake, values, (0.2, 0.9), groups=groups) == (0.0, 0.9)
    assert supported(fake, values, (0.2, 0.9), groups=["a", "b"] * 60) == (0.0, 1.0)
    assert supported(fake, values, (0.2, 0.9), groups=["a"] * 60 + ["b"] * 60) == (0.0, 1.0)
