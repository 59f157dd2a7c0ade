"""forensix-face-regions: how it learns, and a card of faces of repositories held out."""

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

from forensix.models.architectures.face_regions import FaceRegions
from forensix.training.faces.regions import Judged, logits_of, loss_of
from forensix.training.faces.regions_card import make_card
from forensix.training.faces.replay import Batch
from forensix.training.loop import learning


@pytest.fixture(scope="module")
def network() -> FaceRegions:
    torch.manual_seed(0)
    return FaceRegions()


@pytest.mark.slow
@pytest.mark.usefixtures("sixteen_bits")
def test_it_learns_to_mark_what_was_put_in(network: FaceRegions) -> None:
    rng = np.random.default_rng(0)
    recorded = torch.from_numpy(rng.uniform(-0.2, -0.1, (2, 3, 224, 224)).astype(np.float32))
    made, masks = recorded.clone(), torch.zeros(2, 28, 28)
    made[:, :, 80:144, 80:144] = torch.from_numpy(rng.uniform(-1, 1, (2, 3, 64, 64)).astype(np.float32))
    masks[:, 10:18, 10:18] = 1
    batch = Batch(torch.cat([recorded, made]), masks)
    optimizer = torch.optim.Adam(network.parameters(), lr=2e-3)
    losses = []
    for _ in range(12):
        loss = loss_of(learning(network), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.7 * losses[0]
    assert not any(module.training for module in network.modules() if isinstance(module, nn.BatchNorm2d))


@pytest.mark.usefixtures("sixteen_bits")
def test_a_face_is_judged_by_the_mean_of_its_moments(network: FaceRegions) -> None:
    crops = np.random.default_rng(1).integers(0, 255, (3, 224, 224, 3)).astype(np.uint8)
    table = pd.DataFrame({"repo": ["a", "b"]})
    apart = logits_of(network.eval(), Judged(pd.DataFrame({"repo": list("abc")}), crops, np.arange(3)))
    joined = logits_of(network, Judged(table, crops, np.array([0, 0, 1])))
    np.testing.assert_allclose(joined, [apart[:2].mean(), apart[2]], atol=0.02)


@pytest.mark.parametrize("gap", [0.0, 3.0])
def test_the_bound_stays_only_where_something_lies_beyond_it(gap: float) -> None:
    rng = np.random.default_rng(0)
    n = 400
    fake, still = np.arange(n) % 2 == 1, np.arange(n) % 4 < 2
    table = pd.DataFrame(
        {
            "repo": [f"a/{i // 4 % 5}" for i in range(n)],
            "path": [str(i // 2) for i in range(n)],
            "label": np.where(fake, "fake", "real"),
            "method": np.where(fake, "faceswap", "none"),
            "made_by": np.where(fake, "tool", ""),
            "static": still,
            "licence": "MIT",
        }
    )
    # Never so little that the classes would be told the wrong way round.
    card = make_card(table, rng.normal(0, 1, n) + np.maximum(gap, 0.1) * (fake & still), table[~fake], "command")
    assert card.inconclusive is not None and card.inconclusive_video is not None
    assert card.inconclusive[0] == 0 and (card.inconclusive[1] < 1) == (gap > 1)
    assert card.inconclusive_video == (0.0, 1.0)
    assert sum(source.n for source in card.trained_on) == 200
    assert any("a/0, held out: faceswap by tool" in figure.data for figure in card.measured)
