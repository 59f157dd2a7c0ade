"""Choosing rows of a manifest: by value, by split without a leak, and so many of each label."""

from pathlib import Path

import numpy as np
import pytest

from forensix import Manifest
from forensix.errors import UsageError
from forensix.evaluation.plan import read_manifest
from tests.test_manifest import table


def test_rows_are_chosen_by_one_value_or_several() -> None:
    manifest = Manifest(table(), root=".")
    assert len(manifest.where(source=["a", "b"])) == 100
    assert set(manifest.where(source="a", label="fake").table["label"]) == {"fake"}
    with pytest.raises(UsageError, match="no column 'split'; it has: path, label"):
        manifest.where(split="dev")


def test_numbers_are_found_as_the_text_that_a_file_holds(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("path,label,year\na,real,2020\nb,fake,2021\nc,fake,\n")
    listed = Manifest.read(tmp_path / "m.csv")
    for value, paths in ((2020, ["a"]), (np.int64(2021), ["b"]), ([2020, 2021], ["a", "b"]), ("2021", ["b"])):
        assert listed.where(year=value).table["path"].tolist() == paths
    assert listed.where(year=[None, 2020]).table["path"].tolist() == ["a", "c"]
    typed = Manifest(listed.table.assign(year=[2020, 2021, 2022]), root=".")
    assert len(typed.where(year=2020)) == 1 and len(typed.where(year="2020")) == 0


def test_where_no_row_is_left_the_values_that_there_are_are_named() -> None:
    manifest = Manifest(table(), root=".")
    for emptied, sentence in (
        (
            manifest.where(source="vctk", label="real"),
            r"no row has source='vctk' and label='real'; source is 'a' or 'b'$",
        ),
        (manifest.where(source="c").where(label="real").sample(2), "source='c'; source is 'a' or 'b'$"),
        (manifest.where(path="x"), "path is '000.wav' or .* or '004.wav' or another$"),
        (manifest.where(source="a")[:1].where(path="999.wav"), "path is '...[.]wav'$"),
        (manifest[:0], "nothing is left after filtering, or the file is empty$"),
    ):
        for look in (Manifest.check, read_manifest):
            with pytest.raises(UsageError, match=f"^the manifest has no rows: .*{sentence}"):
                look(emptied)
    one = Manifest(table(2).assign(label=["real", "fake"], source=["a", None]), root=".")
    with pytest.raises(UsageError, match=r"no rows: no row has source='a' and label='fake'$"):
        one.where(source="a", label="fake").check()


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
