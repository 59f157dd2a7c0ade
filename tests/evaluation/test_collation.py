"""Many evaluations beside each other: what is told apart, what is paired, and what is refused."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forensix import Evaluation, Manifest, evaluate
from forensix.errors import UsageError
from forensix.evaluation.collation import collate
from tests.evaluation.detectors import Grey, Odd, pictures

TASK = "quick"


class Dark(Grey):
    """The opposite of Grey."""

    def score(self, rgb: np.ndarray) -> float:
        return 1 - super().score(rgb)


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Manifest:
    return pictures(tmp_path_factory.mktemp("few"), 12)


def scored(manifest: Manifest, folder: Path, **options: object) -> Evaluation:
    return evaluate(manifest, TASK, cache=False, executor="here", output=folder, **options)  # type: ignore[arg-type]


def test_runs_are_called_after_components_and_their_folders_where_that_is_not_enough(
    few: Manifest, tmp_path: Path
) -> None:
    scored(few, tmp_path / "first", component={"light": Grey(), "dark": Dark()})
    scored(few, tmp_path / "deep" / "second", component={"light": Grey(version="2")})
    collation = collate(tmp_path)
    assert collation.runs["run"].tolist() == ["light (deep/second)", "light (first)", "dark"]
    assert collation.runs["n_files"].tolist() == [12, 12, 12]
    assert repr(collation) == "Collation(light (deep/second), light (first), dark)"
    assert collate([tmp_path / "first"]).runs["run"].tolist() == ["light", "dark"]
    named = collate({"a": tmp_path / "first", "b": Evaluation.load(tmp_path / "deep" / "second")})
    assert named.runs["run"].tolist() == ["light (a)", "dark", "light (b)"]
    assert len(collation.scores) == 36 and collation.scores.columns[0] == "run"
    auc = collation.summary(n_bootstrap=0).query("metric == 'auc'").set_index("run")["value"]
    assert auc.to_dict() == {"light (deep/second)": 1.0, "light (first)": 1.0, "dark": 0.0}
    assert [curve.name for curve in collation.roc().curves] == collation.runs["run"].tolist()
    assert len(collation.det().curves) == 3


def test_files_are_paired_by_content_wherever_they_lie(few: Manifest, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    moved.mkdir()
    table = few.table.iloc[2:].assign(path=[f"x{path}" for path in few.table["path"].iloc[2:]])
    for old, new in zip(few.paths()[2:], table["path"], strict=True):
        (moved / new).write_bytes(old.read_bytes())
    first = scored(few, tmp_path / "one", component={"light": Grey()}, degradations={"blur": [1]})
    other = scored(Manifest(table, root=moved), tmp_path / "other", component={"dark": Dark()})
    collation = collate({"one": first, "other": other})
    paired = collation.compare(n_bootstrap=50)
    assert set(paired["run"]) == {"dark"} and set(paired["baseline"]) == {"light"}
    row = paired.query("metric == 'auc' and degradation == 'none'").iloc[0]
    assert (row["value"], row["baseline_value"], row["difference"]) == (0, 1, -1)
    assert (row["n_real"], row["n_fake"], row["n_left_out"]) == (5, 5, 2)
    assert "These runs were made with different manifests." in collation.notes


def test_p_values_are_corrected_for_the_number_of_runs(few: Manifest, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    runs = {}
    base = scored(few, tmp_path / "base", component={"base": Grey()})
    for i in range(3):
        scores = base.scores.assign(component=f"r{i}", score=rng.uniform(size=len(base.scores)))
        info = {**base.info, "components": {f"r{i}": base.info["components"]["base"]}}
        runs[f"e{i}"] = Evaluation(scores, base.frames, info, base.overlap)
    paired = collate({"base": base, **runs}).compare(n_bootstrap=200).query("metric == 'brier'")
    p = np.sort(paired["p"].to_numpy())
    expected = np.minimum(np.maximum.accumulate(p * [3, 2, 1]), 1)
    np.testing.assert_allclose(np.sort(paired["p_holm"].to_numpy()), expected)
    assert (paired["p_holm"] >= paired["p"]).all()


def test_failures_are_left_out_of_pairs_and_counted(tmp_path: Path) -> None:
    listed = pictures(tmp_path, 12, first={3: (1, 0, 0)})
    collation = collate({"a": scored(listed, tmp_path / "a", component={"light": Grey(), "odd": Odd()})})
    assert collation.runs["n_failed"].tolist() == [0, 1]
    row = collation.compare(n_bootstrap=20).query("metric == 'auc'").iloc[0]
    assert (row["n_real"] + row["n_fake"], row["n_left_out"]) == (11, 1)


def test_pairs_share_groups_where_one_run_knows_none_and_labels_must_agree(few: Manifest, tmp_path: Path) -> None:
    first = scored(few, tmp_path / "one", component={"light": Grey()})
    bare = Manifest(few.table.drop(columns="group_id"), root=few.root)
    other = scored(bare, tmp_path / "other", component={"same": Grey()})
    for runs in ({"one": first, "other": other}, {"other": other, "one": first}):
        row = collate(runs).compare(n_bootstrap=50).query("metric == 'brier'").iloc[0]
        assert (row["difference"], row["low"], row["high"], row["p"]) == (0, 0, 0, 1)
    table = few.table.assign(label=few.table["label"].where(few.table["path"] != "003.png", "real"))
    turned = scored(Manifest(table, root=few.root), tmp_path / "turned", component={"turned": Grey()})
    with pytest.raises(UsageError, match="1 files are real for one side and fake for the other"):
        collate({"one": first, "turned": turned}).compare(n_bootstrap=20)


def test_what_cannot_be_put_side_by_side_is_said(few: Manifest, tmp_path: Path) -> None:
    scored(few, tmp_path / "a" / "x", component={"light": Grey()})
    scored(few, tmp_path / "b" / "x", component={"dark": Dark()})
    with pytest.raises(UsageError, match="two evaluations are called x"):
        collate([tmp_path / "a" / "x", tmp_path / "b" / "x"])
    with pytest.raises(UsageError, match="no evaluation in"):
        collate(tmp_path / "c")
    with pytest.raises(UsageError, match="no evaluation to put"):
        collate([])
    with pytest.raises(UsageError, match="two runs of one task"):
        collate(tmp_path / "a").compare()
    with pytest.raises(UsageError, match="two runs of one task, 'light' among them, which scored the same files"):
        collate(tmp_path / "a").compare(baseline="light")
    with pytest.raises(UsageError, match="no run is called 'y'; there are: light, dark"):
        collate(tmp_path).compare(baseline="y")
    assert set(collate(tmp_path).compare(baseline="dark", n_bootstrap=0)["run"]) == {"light"}
    broken = tmp_path / "a" / "x" / "scores.parquet"
    broken.write_bytes(b"PAR1")
    with pytest.raises(UsageError, match="damaged"):
        collate(tmp_path)


def test_tables_survive_the_disk(few: Manifest, tmp_path: Path) -> None:
    collation = collate({"a": scored(few, tmp_path / "a", component={"light": Grey(), "dark": Dark()})})
    for name, table in (("summary", collation.summary(n_bootstrap=5)), ("paired", collation.compare(n_bootstrap=5))):
        table.to_parquet(tmp_path / f"{name}.parquet", index=False)
        loaded = pd.read_parquet(tmp_path / f"{name}.parquet")
        pd.testing.assert_frame_equal(loaded, pd.DataFrame(table), check_dtype=False)
