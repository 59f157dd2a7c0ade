"""Choosing rows of a manifest: by value, by split without a leak, and so many of each label."""

import pytest

from forensix import Manifest
from forensix.errors import UsageError
from tests.test_manifest import table


def test_rows_are_chosen_by_one_value_or_several() -> None:
    manifest = Manifest(table(), root=".")
    assert len(manifest.where(source=["a", "b"])) == 100
    assert set(manifest.where(source="a", label="fake").table["label"]) == {"fake"}
    with pytest.raises(UsageError, match="no column 'split'; it has: path, label"):
        manifest.where(split="dev")


def test_counts_are_by_split_and_source() -> None:
    manifest = Manifest(table(), root=".")
    counts = manifest.counts()
    assert counts.columns.tolist() == ["source", "real", "fake"]
    assert counts[["real", "fake"]].to_numpy().sum() == 100
    assert repr(manifest).startswith(f"Manifest({counts['real'].sum()} real") and "<table" in manifest._repr_html_()


def test_splits_keep_groups_whole_and_share_out_both_classes() -> None:
    manifest = Manifest(table(400).assign(group_id=lambda t: (t.index // 5).astype(str)), root=".")
    shares = {"train": 0.7, "dev": 0.1, "test": 0.2}
    split = manifest.split(shares, seed=3)
    assert (split.table.groupby("group_id")["split"].nunique() == 1).all()
    counts = split.counts("split").set_index("split")
    for name, share in shares.items():
        for label in ("real", "fake"):
            total = counts[label].sum()
            assert abs(counts.loc[name, label] - share * total) <= 0.03 * total + 3
    shuffled = Manifest(manifest.table.sample(frac=1, random_state=1), root=".").split(shares, seed=3)
    both = split.table.merge(shuffled.table, on="path")
    assert (both["split_x"] == both["split_y"]).all()
    assert (manifest.split(shares, seed=4).table["split"] != split.table["split"]).any()
    with pytest.raises(UsageError, match="add up to 1"):
        manifest.split({"train": 0.5})


def test_samples_hold_so_many_of_each_label_in_order() -> None:
    sample = Manifest(table(), root=".").sample(7, seed=1)
    assert sample.counts("label")[["real", "fake"]].sum().tolist() == [7, 7]
    assert sample.table["path"].is_monotonic_increasing
    by_source = Manifest(table(), root=".").sample(3, by=("label", "source"))
    assert len(by_source) == 12
