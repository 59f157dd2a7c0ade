"""What is no ordinary photograph: a verdict on whether it was generated, ``inconclusive``, or one clear sentence."""

import dataclasses
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import skimage.data
from PIL import Image, ImageDraw
from scipy import ndimage

import forensix
from forensix.errors import LimitExceeded
from forensix.media import open_media
from forensix.synthetic.content import KINDS
from forensix.tasks import load_task
from forensix.tasks.task import Options
from tests.making import raw_png, write_video

TASK = "ai_generated_image_detection"


class Sure:
    """A detector that calls everything generated."""

    def score(self, rgb: np.ndarray) -> float:
        assert rgb.dtype == np.uint8 and rgb.ndim == 3 and rgb.shape[2] == 3
        return 0.95

    def heatmap(self, rgb: np.ndarray) -> np.ndarray:
        return np.linspace(0, 1, rgb.shape[0])[:, None] * np.ones(rgb.shape[1])


class Names:
    def attribute(self, rgb: np.ndarray) -> tuple[tuple[str, float], ...]:
        return (("unknown", 1.0),)


def report(path: Path) -> forensix.Report:
    return forensix.analyze(path, [TASK], image_detector=Sure(), attribution=Names())


PORTRAIT = Image.fromarray(skimage.data.astronaut()[:448, 60:508])
VEIL = PORTRAIT.convert("L").point(lambda value: max(value, 1))
"""Hides something of every pixel, and nothing wholly."""


def turned() -> list[Image.Image]:
    return [PORTRAIT.rotate(9 * turn) for turn in (1, 2, 3)]


def grey() -> np.ndarray:
    return np.asarray(PORTRAIT.convert("L")).astype(np.uint16) * 257


def deep() -> bytes:
    values = np.asarray(PORTRAIT).astype(">u2") * 257
    return raw_png(448, 448, b"".join(b"\0" + row.tobytes() for row in values), bits=16)


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("animated.webp", lambda path: PORTRAIT.save(path, save_all=True, append_images=turned(), duration=80)),
        ("deep.png", lambda path: path.write_bytes(deep())),
        ("deep-grey.png", lambda path: Image.fromarray(grey()).save(path)),
        ("cmyk.jpg", lambda path: PORTRAIT.convert("CMYK").save(path, quality=90)),
        ("translucent.png", lambda path: Image.merge("RGBA", (*PORTRAIT.split(), VEIL)).save(path)),
    ],
)  # fmt: skip
def test_every_way_of_storing_a_picture_has_a_verdict(name: str, write, tmp_path: Path) -> None:
    path = tmp_path / name
    write(path)
    actual = report(path)
    assert actual.verdicts == {TASK: "fake"} and not actual.outcomes[TASK].inconclusive
    explanation = actual.to_wire(TASK)["result"]["explanation"]
    assert {"heatmap", "heatmap_object"} <= set(explanation)


def painting(path: Path) -> None:
    noise = np.random.default_rng(0).normal(size=(500, 500, 3))
    colours = ndimage.gaussian_filter(noise, (4, 4, 0))
    Image.fromarray((128 + 50 * colours / colours.std()).clip(0, 255).astype(np.uint8)).save(path)


def page(path: Path) -> None:
    paper = Image.new("RGB", (600, 800), "white")
    draw = ImageDraw.Draw(paper)
    for top in range(40, 760, 24):
        draw.text((40, top), "Only text stands on this page, and nobody photographed it.", fill=(20, 20, 20))
    paper.save(path)


def drawing(path: Path) -> None:
    paper = Image.new("RGB", (500, 400), (240, 240, 255))
    ImageDraw.Draw(paper).ellipse((100, 50, 400, 350), fill=(250, 200, 60), outline=(0, 0, 0), width=6)
    paper.save(path)


def screen(path: Path) -> None:
    window = Image.new("RGB", (1000, 700), (245, 245, 245))
    window.paste(PORTRAIT, (300, 200))
    window.save(path)


@pytest.mark.parametrize(
    ("name", "write", "words"),
    [
        ("text.png", page, "even areas"),
        ("drawing.png", drawing, "even areas"),
        ("screen.png", screen, "even areas"),
        ("one.png", lambda path: Image.new("RGB", (1, 1), (9, 9, 200)).save(path), "less than 160 px"),
        ("thin.png", lambda path: PORTRAIT.crop((0, 0, 200, 3)).save(path), "less than 160 px"),
        ("small.jpg", lambda path: PORTRAIT.resize((212, 159)).save(path), "less than 160 px"),
        ("web.jpg", lambda path: PORTRAIT.resize((600, 447)).save(path), "too few pixels to call it generated"),
        ("painting.png", painting, "whether a person or a generator made such a one"),
        ("palette.png", lambda path: PORTRAIT.quantize(64).save(path), "palette"),
        ("was_a_palette.png", lambda path: PORTRAIT.quantize(256).convert("RGB").save(path), "palette"),
        ("animated.gif", lambda path: PORTRAIT.save(path, save_all=True, append_images=turned()), "palette"),
    ],
)
def test_what_holds_too_little_to_judge_is_inconclusive_and_says_why(
    name: str, write, words: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    write(path)
    actual = report(path)
    assert actual.verdicts == {TASK: "inconclusive"}
    assert any(words in note for note in actual.outcomes[TASK].notes)
    assert actual.to_wire(TASK)["result"] == {"class_name": "real"}, "nothing is called fake that cannot be judged"


def test_whether_it_is_by_the_score_that_a_picture_stays_undecided_is_told_apart(tmp_path: Path) -> None:
    page(tmp_path / "text.png")
    PORTRAIT.save(tmp_path / "portrait.png")
    unsure = Sure()
    unsure.card = SimpleNamespace(
        name="unsure", version="", threshold=0.9, inconclusive=(0.2, 0.99), sha256="", limits=""
    )
    found = {
        name: forensix.analyze(tmp_path / name, [TASK], image_detector=unsure).outcomes[TASK]
        for name in ("text.png", "portrait.png")
    }
    assert [(outcome.inconclusive, outcome.unjudged) for outcome in found.values()] == [(True, True), (True, False)]


def test_a_small_picture_can_be_told_from_a_generated_one_but_not_the_other_way_round(tmp_path: Path) -> None:
    PORTRAIT.resize((600, 447)).save(tmp_path / "web.jpg")
    low = Sure()
    low.score = lambda rgb: 0.1
    outcome = forensix.analyze(tmp_path / "web.jpg", [TASK], image_detector=low).outcomes[TASK]
    assert not outcome.inconclusive and outcome.notes == ("The picture is small: pixels carry little evidence.",)


def test_a_detector_whose_card_says_that_it_was_measured_on_such_pictures_may_call_them_generated(
    tmp_path: Path,
) -> None:
    PORTRAIT.resize((600, 447)).save(tmp_path / "web.jpg")
    page(tmp_path / "text.png")
    measured = Sure()
    measured.card = SimpleNamespace(name="measured", version="", threshold=0.9, sha256="", limits="", judges=KINDS)
    for name in ("web.jpg", "text.png"):
        actual = forensix.analyze(tmp_path / name, [TASK], explain=False, image_detector=measured)
        assert actual.verdicts == {TASK: "fake"} and actual.outcomes[TASK].notes == ()


def test_a_picture_of_half_a_gigapixel_is_refused_with_its_size(tmp_path: Path) -> None:
    path = tmp_path / "huge.png"
    path.write_bytes(raw_png(2560, 200_000, b"\0" * 7681))
    with pytest.raises(LimitExceeded, match=r"2560 x 200000 pixels \(512 megapixels\); the limit is 128"):
        report(path)


def test_frames_are_spread_over_a_video_whose_header_does_not_tell_its_length(tmp_path: Path) -> None:
    path = write_video(tmp_path / "clip.mkv", n_frames=70, rate=1, size=(96, 80))
    options = Options(explain=False, components={"image_detector": Sure(), "attribution": Names()})
    with open_media(path) as media:
        media.info = dataclasses.replace(media.info, duration_s=None)
        outcome = load_task(TASK).run(media, options)
    times_s = [ms / 1000 for ms, _ in outcome.frame_scores]
    assert 16 <= len(times_s) <= 35 and times_s[0] == 0 and times_s[-1] >= 60
    assert len(set(np.diff(times_s).round(3))) == 1, "evenly"
