"""Areas that look alike: what was drawn twice is no copy, and a copy is told wherever it was put."""

from pathlib import Path

import numpy as np
import pytest
import skimage.data
from PIL import Image, ImageDraw, ImageFont

from forensix.forensics import claims
from forensix.forensics.findings import Finding
from forensix.forensics.rules import image_copies
from forensix.forensics.traces import copy_move
from forensix.media import open_media
from forensix.metadata.reader import read_facts
from tests.forensics.rules import pick


def findings_of(picture: Image.Image, path: Path) -> tuple[Finding, ...]:
    picture.save(path, quality=85)
    with open_media(path) as media:
        return claims(read_facts(media), media)


def messages() -> Image.Image:
    """Return a screen with the same words twice, a whole number of blocks apart, among others."""
    screen = Image.new("RGB", (640, 960), (250, 250, 250))
    draw, font = ImageDraw.Draw(screen), ImageFont.load_default(36)
    for y, words in ((80, "See you at nine, Maria"), (272, "Bring the blue folder"), (560, "See you at nine, Maria")):
        draw.text((48, y), words, fill="black", font=font)
    return screen


def test_words_that_a_screen_shows_twice_are_no_copy(tmp_path: Path) -> None:
    alike = pick(findings_of(messages(), tmp_path / "screen.jpg"), "Two areas of the picture look alike")
    assert alike.severity == "benign" and alike.claim.user_category == "integrity"
    assert "drawn alike are then compressed alike" in alike.claim.explanation
    assert alike.facts[0].value["even"] > image_copies.EVEN_SHARE


def stamped() -> Image.Image:
    """Return a photograph with a date on a black bar, whose digits repeat a whole number of blocks apart."""
    photograph = Image.fromarray(skimage.data.coffee()).resize((900, 600))
    draw = ImageDraw.Draw(photograph)
    draw.rectangle((0, 0, 900, 63), fill="black")
    for i, sign in enumerate("10-10-2023 10:10 10:10"):
        draw.text((40 + 32 * i, 4), sign, fill="white", font=ImageFont.load_default(48))
    return photograph


def test_the_date_that_a_camera_prints_on_a_bar_is_no_copy(tmp_path: Path) -> None:
    alike = pick(findings_of(stamped(), tmp_path / "stamped.jpg"), "Two areas of the picture look alike")
    assert alike.severity == "benign" and alike.facts[0].value["stark"] > image_copies.STARK_SHARE
    assert alike.facts[0].value["even"] < image_copies.EVEN_SHARE
    assert "as a date is that a camera prints on a bar" in alike.claim.explanation


@pytest.mark.parametrize(
    ("even", "stark", "shift", "copied"),
    [(0.9, 0.1, 8, False), (0.9, 0.1, 4, True), (0.2, 0.1, 8, True), (0.2, 0.9, 8, False), (0.2, 0.9, 4, True)],
)
def test_only_what_is_even_or_print_on_a_bar_and_lies_on_the_grid_can_be_drawn(
    even: float, stark: float, shift: int, copied: bool
) -> None:
    found = {"area_px": 3000, "alike": 0.99, "aside": 0.2, "overlap": 0.0, "grain": 0.9, "grain_aside": 0.1}
    found["size"] = [901, 601]
    assert image_copies.is_copied(found | {"even": even, "stark": stark, "shift": [-10 * shift, shift]}) is copied


@pytest.mark.parametrize(
    ("even", "shift", "size", "copied"),
    [
        (0.6, (317, 0), (901, 601), False),
        (0.4, (317, 0), (901, 601), True),
        (0.6, (317, 5), (901, 601), True),
        (0.1, (-300, 200), (900, 600), False),
        (0.1, (-200, 300), (900, 600), False),
        (0.1, (300, 199), (900, 600), True),
        (0.1, (45, 30), (900, 600), True),
    ],
)
def test_parts_of_a_figure_and_tiles_are_no_copies(
    even: float, shift: tuple[int, int], size: tuple[int, int], copied: bool
) -> None:
    found = {"area_px": 3000, "alike": 0.99, "aside": 0.2, "overlap": 0.0, "grain": 0.9, "grain_aside": 0.1, "scale": 1}
    found |= {"even": even, "stark": 0.1, "shift": list(shift), "size": list(size), "map": b""}
    assert image_copies.is_copied(found) is copied
    [claim] = image_copies.claims({"copy_move": found})
    assert claim.severity == ("suspect" if copied else "benign")
    assert copied or "tiles" in claim.claim.explanation or "parts of a figure" in claim.claim.explanation


@pytest.mark.parametrize(
    ("stark", "shift", "copied"),
    [(0.9, (110, 0), False), (0.9, (-110, 110), False), (0.9, (110, 52), True), (0.3, (110, 0), True)],
)
def test_the_corners_of_a_qr_code_are_no_copies(stark: float, shift: tuple[int, int], copied: bool) -> None:
    found = {"area_px": 1100, "alike": 0.99, "aside": 0.2, "overlap": 0.0, "grain": 0.6, "grain_aside": 0.1, "scale": 1}
    found |= {"even": 0.1, "stark": stark, "shift": list(shift), "size": [901, 601], "map": b""}
    [claim] = image_copies.claims({"copy_move": found})
    assert (claim.severity, "QR code" in claim.claim.explanation) == (
        ("suspect", False) if copied else ("benign", True)
    )


def test_the_share_of_even_blocks() -> None:
    grey = np.full((64, 64), 200, np.uint8)
    assert copy_move.even_share(grey) == 1
    grey[:32] += np.tile(np.array([0, 9], np.uint8), 32)
    assert copy_move.even_share(grey) == 0.5


@pytest.mark.parametrize(("shift", "copied"), [((0, 432), False), ((-5, 432), True)])
def test_the_scale_that_a_thermal_camera_draws_is_no_copy(shift: tuple[int, int], copied: bool) -> None:
    found = {"area_px": 730, "alike": 0.99, "aside": 0.2, "overlap": 0.0, "grain": 0.5, "grain_aside": 0.1, "scale": 1}
    found |= {"even": 0.3, "stark": 0.5, "shift": list(shift), "size": [640, 480], "map": b""}
    [claim] = image_copies.claims({"copy_move": found}, is_thermal=True)
    assert (claim.severity, "at its scale" in claim.claim.explanation) == (
        ("suspect", False) if copied else ("benign", True)
    )
    assert image_copies.is_copied(found)
