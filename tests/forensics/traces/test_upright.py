"""Maps, boxes and displacements are of the picture as it is shown, whatever its orientation tag."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from forensix.forensics.traces import pixels
from forensix.forensics.traces.preview_difference import EXIF_TURNS, turned
from forensix.forensics.traces.upright import upright
from tests.forensics.traces.test_pixels import texture


def _box(mask: np.ndarray) -> list[int]:
    ys, xs = np.nonzero(mask)
    return [int(xs.min()), int(ys.min()), int(np.ptp(xs)) + 1, int(np.ptp(ys)) + 1]


@pytest.mark.parametrize("orientation", [1, *EXIF_TURNS])
def test_boxes_and_displacements_turn_with_the_picture(orientation: int) -> None:
    before, after = np.zeros((2, 75, 120), np.uint8)
    before[8:24, 16:56], after[30:46, 60:100] = 1, 1
    shown = [np.asarray(turned(Image.fromarray(mask), orientation)) for mask in (before, after)]
    boxes = [_box(mask) for mask in shown]
    traces = {"noise": {"box": _box(before), "excess": 1.0, "map": b""}, "copy_move": {"shift": [44, 22]}, "ela": b""}
    answer = upright(traces, (120, 75), orientation)
    assert answer["noise"] == {"box": boxes[0], "excess": 1.0, "map": b""}
    assert answer["copy_move"]["shift"] == [boxes[1][i] - boxes[0][i] for i in (0, 1)]


@pytest.mark.parametrize("orientation", [1, 6])
def test_a_picture_that_is_shown_turned_has_its_maps_turned(orientation: int, tmp_path: Path) -> None:
    rgb = texture(512, 640).copy()
    rgb[300:420, 340:460] = rgb[60:180, 90:210]
    exif = Image.Exif()
    exif[0x0112] = orientation
    Image.fromarray(rgb).save(tmp_path / "a.jpg", quality=97, exif=exif)
    traces = pixels.measure(str(tmp_path / "a.jpg"), "jpeg", {}, "", True)
    assert traces["copy_move"]["shift"] == ([250, 240] if orientation == 1 else [-240, 250])
    for jpeg in (traces["ela"], traces["copy_move"]["map"]):
        width, height = Image.open(io.BytesIO(jpeg)).size
        assert (width > height) == (orientation == 1)


def test_displacements_are_in_pixels_of_the_picture_however_it_was_decoded(tmp_path: Path) -> None:
    rgb = np.asarray(Image.fromarray(texture(1100, 1100)).resize((4400, 4400), Image.Resampling.BICUBIC)).copy()
    rgb[2400:3400, 2800:3800] = rgb[400:1400, 800:1800]
    Image.fromarray(rgb).save(tmp_path / "a.jpg", quality=95)
    copied = pixels.measure(str(tmp_path / "a.jpg"), "jpeg", {}, "", False)["copy_move"]
    assert copied["scale"] == 2 and copied["shift"] == [2000, 2000]
