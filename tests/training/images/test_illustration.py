"""The rule that tells drawn pictures: what it learns from, and that no origin of pictures stands for a look."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from forensix.training.images.illustration import LABELS, PHOTOGRAPHS, fit, labelled, weights_of


def test_each_look_weighs_alike_and_so_does_each_origin_of_it() -> None:
    rows = [("drawn", "list", "fake")] * 3 + [("drawn", "corpus", "fake")] + [("photographic", "corpus", "real")] * 8
    table = pd.DataFrame(rows, columns=["look", "origin", "label"]).assign(path="a")
    weight = weights_of(table)
    np.testing.assert_allclose(weight, [1.0] * 3 + [3.0] + [0.75] * 8)


def test_a_rule_tells_what_it_was_fitted_to() -> None:
    rng = np.random.default_rng(0)
    drawn = np.arange(60) % 3 == 0
    x = rng.normal(size=(60, 4)).astype(np.float32)
    x[drawn, 1] += 5
    rule = fit(x, drawn, np.ones(60))
    with torch.inference_mode():
        logits = rule(torch.from_numpy(x))[:, 0].numpy()
    assert logits[drawn].min() > logits[~drawn].max()


def test_labels_are_of_training_rows_and_each_is_found(tmp_path: Path) -> None:
    shared = Path(__file__).parents[4] / "shared"
    if not (shared / "sources/images.csv").exists() or not (shared / "corpora/images").exists():
        pytest.skip("the list or the corpus is not there")
    table = labelled(shared / "sources/images.csv", shared / "corpora")
    assert set(table.look) == {"drawn", "photographic"}
    assert not table[table.origin == "list"].blob.duplicated().any()
    assert (table.label == "fake").sum() == len(pd.read_csv(LABELS))
    assert table[(table.label == "real") & (table.origin == "list")].groupby("repo").size().max() == PHOTOGRAPHS
