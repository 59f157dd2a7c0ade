"""Networks together: averaged over a fold, weighed by kind, and as one ensemble."""

import pandas as pd
import pytest
import torch

from forensix.models.architectures.lcnn import build
from forensix.training.voice import spoof


def test_networks_that_share_a_fold_are_averaged() -> None:
    one = pd.DataFrame({"fold": [0, 0, 1], "condition": ["clean", "telephone", "clean"], "clip": [3, 3, 4]})
    averaged = spoof.together([one.assign(logit=[1.0, 2.0, 3.0]), one[:2].assign(logit=[3.0, 6.0])])
    assert averaged["logit"].tolist() == [2.0, 4.0, 3.0]
    assert averaged[["fold", "condition", "clip"]].equals(one)


def test_the_two_kinds_are_weighed_row_by_row() -> None:
    light = pd.DataFrame({"fold": 0, "condition": ["clean", "telephone"], "clip": 3, "logit": [1.0, 2.0]})
    weighed = spoof.both(light, light.assign(logit=[5.0, 6.0])[::-1])
    assert weighed["logit"].tolist() == pytest.approx([1 + 4 * spoof.SHARE, 2 + 4 * spoof.SHARE])
    assert list(weighed) == list(light)


def test_an_ensemble_is_the_mean_of_its_members() -> None:
    ensemble = build(channels=((4, 4), (4, 4)), n_bands=40, n_hidden=8).eval()
    waves = torch.randn(2, 8_000, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        apart = torch.stack([one(waves) for one in ensemble.members])
        assert torch.allclose(ensemble(waves), apart.mean(0))
