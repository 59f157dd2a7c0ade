import numpy as np
import pytest

from forensix.faces.stills import Stills
from forensix.media import Frame


@pytest.mark.parametrize(
    ("height", "width", "kept"),
    [(1080, 1920, (270, 480)), (1920, 1080, (480, 270)), (240, 320, (240, 320)), (352, 2160, (145, 892))],
)
def test_a_still_has_a_bounded_size_and_a_wide_strip_keeps_its_details(height, width, kept):
    stills = Stills()
    stills.add(Frame(0, 0.0, np.zeros((height, width, 3), np.uint8)))
    (still,) = stills.kept
    assert still.rgb.shape[:2] == kept
    assert still.scale == pytest.approx(width / kept[1], rel=0.01)
