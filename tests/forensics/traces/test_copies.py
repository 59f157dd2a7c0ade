"""Areas that look alike: what was drawn twice is no copy, and a copy is told wherever it was put."""

from pathlib import Path

import numpy as np
import pytest
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


@pytest.mark.parametrize(("even", "shift", "copied"), [(0.9, 8, False), (0.9, 4, True), (0.2, 8, True)])
def test_only_what_is_even_and_lies_on_the_grid_can_be_drawn(even: float, shift: int, copied: bool) -> None:
    found = {"area_px": 3000, "alike": 0.99, "aside": 0.2, "overlap": 0.0, "grain": 0.9, "grain_aside": 0.1}
    assert image_copies.is_copied(found | {"even": even, "shift": [-10 * shift, shift]}) is copied


def test_the_share_of_even_blocks() -> None:
    grey = np.full((64, 64), 200, np.uint8)
    assert copy_move.even_share(grey) == 1
    grey[:32] += np.tile(np.array([0, 9], np.uint8), 32)
    assert copy_move.even_share(grey) == 0.5
