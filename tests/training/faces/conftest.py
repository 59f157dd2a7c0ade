"""What the tests of training on faces share."""

import numpy as np
import pytest
from skimage.data import astronaut

from forensix.training.faces import blends, crops, figures


@pytest.fixture(autouse=True)
def _few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw the sources of a card's intervals a few times: how wide they are is no matter here."""
    monkeypatch.setattr(figures, "DRAWS", 20)


@pytest.fixture(scope="module")
def recorded_face() -> blends.Seen:
    cut = crops.cut_faces([astronaut()], (0.0, 0.0, 1.0, 1.0))
    assert cut is not None
    softer = blends.taken_down(cut.rgb[0], 0.4, np.random.default_rng(0))
    return blends.Seen(cut.rgb[0], cut.landmarks[0].astype(np.float64), softer)
