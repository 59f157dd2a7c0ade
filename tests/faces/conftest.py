"""Faces from packages that are installed anyway, and clips made of them."""

from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image

Picture = np.ndarray


@pytest.fixture(scope="session")
def astronaut() -> Picture:
    from skimage.data import astronaut

    return np.ascontiguousarray(astronaut()[:320, 80:400])


@pytest.fixture(scope="session")
def hopper() -> Picture:
    from matplotlib.cbook import get_sample_data

    with get_sample_data("grace_hopper.jpg") as file:
        return np.asarray(Image.open(file).convert("RGB"))


@pytest.fixture(scope="session")
def head(astronaut: Picture) -> Picture:
    """A head with little around it, 120 x 100."""
    return np.asarray(Image.fromarray(astronaut[20:200, 70:220]).resize((100, 120)))


@pytest.fixture(scope="session")
def other_head(hopper: Picture) -> Picture:
    """Another head, 120 x 100."""
    return np.asarray(Image.fromarray(hopper[30:390, 100:400]).resize((100, 120)))


@pytest.fixture(scope="session")
def paste() -> Callable[..., Picture]:
    """Return a function that puts heads, given as (picture, left, top), on a grey frame of 240 x 360."""

    def put(*heads: tuple[Picture, float, float]) -> Picture:
        frame = np.full((240, 360, 3), 110, np.uint8)
        for picture, left, top in heads:
            x, y = round(left), round(top)
            frame[y : y + picture.shape[0], x : x + picture.shape[1]] = picture
        return frame

    return put
