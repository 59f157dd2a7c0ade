"""A portrait, and a video of a face that moves."""

from pathlib import Path

import numpy as np
import pytest
import skimage.data
from PIL import Image

from tests.making import write_video


@pytest.fixture(scope="module")
def portrait(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("faces") / "portrait.png"
    Image.fromarray(skimage.data.astronaut()).save(path)
    return path


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two seconds of a face that moves over grey."""
    face = skimage.data.astronaut()[:300, 90:390]
    frames = np.full((50, 360, 640, 3), 127, dtype=np.uint8)
    for i, frame in enumerate(frames):
        frame[30:330, 10 + 5 * i : 310 + 5 * i] = face
    path = tmp_path_factory.mktemp("faces") / "clip.mp4"
    write_video(path, len(frames), (640, 360), rate=25, paint=frames.__getitem__)
    return path
