"""The scrubber: each position of the slider shows its frame and the scores there."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import skimage.data

import forensix
from forensix.errors import UsageError
from forensix.explorer import scrub
from tests.making import write_image, write_video

TASK = ["face_manipulation"]


class Rising:
    """A classifier whose scores rise over the crops."""

    def score(self, crops: np.ndarray) -> np.ndarray:
        return np.linspace(0.2, 0.8, len(crops))


@pytest.mark.parametrize("rate", [10, Fraction(30_000, 1001)])
def test_the_slider_goes_through_the_frames_and_their_scores(rate: int | Fraction, tmp_path: Path) -> None:
    face = skimage.data.astronaut()[:300, 90:390]
    frames = np.full((30, 340, 480, 3), 127, dtype=np.uint8)
    for i, frame in enumerate(frames):
        frame[20:320, 10 + 3 * i : 310 + 3 * i] = face
    write_video(tmp_path / "a.mp4", 30, (480, 340), rate, paint=frames.__getitem__)
    scrubber = scrub(forensix.analyze(tmp_path / "a.mp4", TASK, face_classifier=Rising()))
    assert scrubber.slider.max + 1 == round(30 / float(rate) * 5)
    assert "face 0" in scrubber.caption.value and ">0.20<" in scrubber.caption.value
    first = scrubber.picture.value
    scrubber.slider.value = scrubber.slider.max
    assert scrubber.picture.value != first and bytes(scrubber.picture.value).startswith(b"\xff\xd8")
    assert ">0.80<" in scrubber.caption.value
    assert "application/vnd.jupyter.widget-view+json" in str(scrubber._repr_mimebundle_())


def test_a_report_without_a_film_is_refused(tmp_path: Path) -> None:
    write_image(tmp_path / "a.png", np.zeros((60, 60, 3), np.uint8))
    with pytest.raises(UsageError, match="holds no film"):
        scrub(forensix.analyze(tmp_path / "a.png", TASK))
