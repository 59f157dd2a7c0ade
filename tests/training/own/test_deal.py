"""Groups stay whole, and splits that a manifest names are kept."""

from pathlib import Path

import pandas as pd
import pytest

from forensix import Manifest
from forensix.errors import UsageError
from forensix.training.own.deal import deal, groups_of


def manifest(n: int = 60, **columns: object) -> Manifest:
    rows = {"path": [f"{i}.jpg" for i in range(n)], "label": ["real", "fake"] * (n // 2)}
    return Manifest(pd.DataFrame(rows | {"group_id": [f"g{i % 10}" for i in range(n)]} | columns), ".")


def parts(split: object) -> list[Manifest]:
    return [split.learnt, split.stopping, split.held_out]


@pytest.mark.parametrize("group", [None, "source", "path"])
def test_no_group_is_in_two_parts_and_every_part_has_both_classes(group: str | None) -> None:
    whole = manifest(source=[f"s{i % 12}" for i in range(60)])
    split = deal(whole, group, 0)
    assert split.group == (group or "group_id")
    groups = [set(groups_of(part, split.group)) for part in parts(split)]
    assert not (groups[0] & groups[1] or groups[0] & groups[2] or groups[1] & groups[2])
    assert sum(map(len, parts(split))) == 60 and len(split.learnt) >= 30
    assert all(set(part.table["label"]) == {"real", "fake"} for part in parts(split))
    assert deal(whole, group, 0).learnt.paths() == split.learnt.paths()


@pytest.mark.parametrize("columns", [{}, {"split": ["train", "train", "dev"] * 20, "group_id": range(60)}])
def test_the_order_of_the_rows_does_not_matter(columns: dict[str, object]) -> None:
    whole = manifest(**columns)
    shuffled = Manifest(whole.table.sample(frac=1, random_state=1), ".")
    expected = [part.paths() for part in parts(deal(whole, None, 0))]
    assert [part.paths() for part in parts(deal(shuffled, None, 0))] == expected


def test_splits_that_are_named_are_kept_and_the_test_rows_take_no_part() -> None:
    splits = ["train"] * 30 + ["dev"] * 20 + ["test"] * 10
    groups = [f"{split}{i % 5}" for i, split in enumerate(splits)]
    split = deal(manifest(split=splits, group_id=groups), None, 0)
    assert set(split.learnt.paths()) == {Path(f"{i}.jpg") for i in range(30)}
    assert set(split.stopping.table["split"]) == set(split.held_out.table["split"]) == {"dev"}
    assert len(split.stopping) + len(split.held_out) == 20


@pytest.mark.parametrize("other", ["dev", "test"])
def test_a_group_on_both_sides_is_refused(other: str) -> None:
    with pytest.raises(UsageError, match=rf"'g0' .* is in the splits train and {other}"):
        deal(manifest(split=["train"] * 30 + [other] * 30), None, 0)


def test_rows_of_a_split_that_is_spelled_otherwise_are_not_learnt_from() -> None:
    with pytest.raises(UsageError, match="'split' names 'Test': name the splits train, dev, test"):
        deal(manifest(split=["Train"] * 30 + ["Test"] * 30), None, 0)


@pytest.mark.parametrize(
    ("columns", "group", "sentence"),
    [
        ({"label": ["real"] * 60}, None, "none that is fake"),
        ({"group_id": ["a"] * 60}, None, "of 1 group of the column 'group_id', and 3 are needed"),
        ({}, "speaker", "no column 'speaker' to group by; there are: path, label, group_id"),
    ],
)
def test_what_cannot_be_dealt_is_refused(columns: dict[str, object], group: str | None, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        deal(manifest(**columns), group, 0)


def test_without_a_column_that_groups_every_file_is_by_itself() -> None:
    alone = Manifest(manifest().table.drop(columns="group_id"), ".")
    assert deal(alone, None, 0).group == "path"


def files(folder: Path, contents: list[int]) -> Manifest:
    for i, content in enumerate(contents):
        (folder / f"{i:02}.jpg").write_bytes(b"picture %3d" % content)
    rows = {"path": [f"{i:02}.jpg" for i in range(len(contents))], "label": ["real", "fake"] * (len(contents) // 2)}
    return Manifest(pd.DataFrame(rows), folder)


def test_the_same_content_under_several_names_is_in_one_part(tmp_path: Path) -> None:
    # Ten contents, each three times: every name is a group of its own.
    whole = files(tmp_path, [i // 2 % 10 for i in range(60)])
    for seed in range(5):
        split = deal(whole, "path", seed)
        contents = [{path.read_bytes() for path in part.paths()} for part in parts(split)]
        assert not (contents[0] & contents[1] or contents[0] & contents[2] or contents[1] & contents[2])
        assert sum(map(len, contents)) == 10 and sum(map(len, parts(split))) == 60


@pytest.mark.parametrize("other", ["dev", "test"])
def test_the_same_content_in_train_and_another_split_is_refused(tmp_path: Path, other: str) -> None:
    whole = files(tmp_path, [*range(39), 4])
    table = whole.table.assign(split=["train"] * 20 + [other] * 20)
    with pytest.raises(UsageError, match=f"39.jpg of the split {other} has the same content as 04.jpg of the split"):
        deal(Manifest(table, whole.root), None, 0)


def test_that_there_are_too_few_contents_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"of 1 group of the column 'path' \(files of the same content count as one\)"):
        deal(files(tmp_path, [0, 1] * 10), None, 0)
