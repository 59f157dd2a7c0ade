"""ai_generated_image_detection: every field of section 2.3, present and absent where the specification says so."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import skimage.data
from PIL import Image
from PIL.PngImagePlugin import PngInfo

import forensix
from forensix.demo.marks import make_marked_pictures
from forensix.errors import ModelNotFound
from forensix.synthetic.watermark import MESSAGES
from tests.making import png_chunk, write_video
from tests.metadata.av.test_container_facts import video
from tests.synthetic.embedding import draw_squares, draw_star, embed
from tests.synthetic.test_content import strokes

TASK = "ai_generated_image_detection"


class Opinion:
    """A detector with a fixed opinion."""

    def __init__(self, score: float) -> None:
        self.fixed = score

    def score(self, rgb: np.ndarray) -> float:
        return self.fixed

    def heatmap(self, rgb: np.ndarray) -> np.ndarray:
        heat = np.zeros(rgb.shape[:2])
        heat[: rgb.shape[0] // 2] = 0.9
        return heat


class Names:
    """An attribution with a fixed answer."""

    def attribute(self, rgb: np.ndarray) -> tuple[tuple[str, float], ...]:
        return (("sdxl", 0.6), ("unknown", 0.4))


def report(path: Path, score: float, **options: object) -> forensix.Report:
    return forensix.analyze(path, [TASK], image_detector=Opinion(score), attribution=Names(), **options)


def result(path: Path, score: float, **options: object) -> dict:
    return report(path, score, **options).to_wire(TASK)["result"]


def test_a_real_picture_has_a_class_and_nothing_else(portrait: Path) -> None:
    assert result(portrait, 0.2) == {"class_name": "real"}
    actual = report(portrait, 0.2)
    assert actual.scores == {TASK: pytest.approx(0.2)}
    assert [item.title for item in actual.outcomes[TASK].evidence] == ["Looked at"], "a map of nothing shows something"


def test_a_fake_picture_is_attributed_and_explained(portrait: Path) -> None:
    actual = result(portrait, 0.9)
    assert actual["class_name"] == "fake"
    assert actual["class_probability"] == pytest.approx(0.9)
    assert actual["model_attribution"] == "sdxl"
    assert actual["model_attribution_probability"] == pytest.approx(0.6)
    assert [(item["model"], item["probability"]) for item in actual["model_attributions"]] == [
        ("sdxl", pytest.approx(0.6)),
        ("unknown", pytest.approx(0.4)),
    ]
    assert set(actual["explanation"]) == {"heatmap", "heatmap_object", "eye_mouth_overlays_image"}
    assert all(picture.startswith("data:image/") for picture in actual["explanation"].values())


def test_without_explain_there_is_no_explanation(portrait: Path) -> None:
    assert "explanation" not in result(portrait, 0.9, explain=False)


@pytest.mark.parametrize("score", [0.2, 0.9])
def test_without_explain_there_are_no_pictures_of_evidence_either(portrait: Path, score: float) -> None:
    assert report(portrait, score, explain=False).outcomes[TASK].evidence == ()


def test_without_a_face_there_is_no_overlay_of_eyes(tmp_path: Path) -> None:
    path = tmp_path / "coffee.png"
    Image.fromarray(skimage.data.coffee()).resize((900, 600)).save(path)
    assert set(result(path, 0.9)["explanation"]) == {"heatmap", "heatmap_object"}


def test_a_generators_mark_raises_the_score_and_names_it(tmp_path: Path, portrait: Path) -> None:
    marked = tmp_path / "marked.png"
    tags = PngInfo()
    tags.add_text("parameters", "a portrait\nSteps: 20, Sampler: Euler a, CFG scale: 7, Seed: 1, Size: 512x512")
    Image.fromarray(skimage.data.astronaut()).save(marked, pnginfo=tags)
    actual = report(marked, 0.3)
    assert actual.scores[TASK] > 0.9
    wire = actual.to_wire(TASK)["result"]
    assert wire["class_name"] == "fake"
    assert wire["model_attribution"] == "stable-diffusion"
    assert sum(item["probability"] for item in wire["model_attributions"]) == pytest.approx(1)
    assert any("pixels alone score 0.30" in note for note in actual.outcomes[TASK].notes)
    assert report(portrait, 0.3).scores[TASK] == pytest.approx(0.3), "absence of a mark proves nothing"


def test_a_mark_outweighs_pixels_that_look_like_a_camera(tmp_path: Path) -> None:
    path = tmp_path / "marked.png"
    tags = PngInfo()
    tags.add_text("Software", "Midjourney v6")
    Image.fromarray(skimage.data.astronaut()).save(path, pnginfo=tags)
    actual = report(path, 0.001)
    assert actual.verdicts == {TASK: "fake"} and actual.scores[TASK] > 0.9
    assert "midjourney" in actual.outcomes[TASK].summary


@pytest.mark.parametrize(("side_px", "score", "is_drawn"), [(512, 0.05, False), (1, 0.9, False), (512, 0.9, True)])
def test_a_mark_alone_draws_no_heat_map_over_pixels_that_it_outweighs(
    side_px: int, score: float, is_drawn: bool, tmp_path: Path
) -> None:
    path = tmp_path / "marked.png"
    tags = PngInfo()
    tags.add_text("Software", "Midjourney v6")
    Image.fromarray(skimage.data.astronaut()[:side_px, :side_px]).save(path, pnginfo=tags)
    actual = report(path, score)
    assert actual.verdicts == {TASK: "fake"}
    assert ("explanation" in actual.to_wire(TASK)["result"]) == is_drawn
    assert ("spoke for a generated picture" in actual.to_html()) == is_drawn


@pytest.mark.parametrize(
    ("kind", "score", "word", "said"),
    [
        (
            "compositeWithTrainedAlgorithmicMedia",
            0.1,
            "Partly generated",
            "of which a generator made or changed a part",
        ),
        ("compositeWithTrainedAlgorithmicMedia", 0.9, "Looks generated", "a picture made by a generator"),
        ("trainedAlgorithmicMedia", 0.1, "Looks generated", "a picture made by a generator"),
    ],
)
def test_a_photograph_that_was_retouched_in_part_is_not_called_generated(
    kind: str, score: float, word: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "retouched.jpg"
    Image.fromarray(skimage.data.astronaut()).save(path, xmp=source_type(kind), quality=95)
    actual = report(path, score)
    assert said in actual.headline and word in actual.to_html()
    assert actual.to_wire(TASK)["result"]["class_name"] == "fake"


def test_who_vouches_for_credentials_is_said_and_those_that_do_not_fit_decide_nothing(tmp_path: Path) -> None:
    path = next(path for path in make_marked_pictures(tmp_path) if path.name == "credentials.png")
    fits = report(path, 0.3, explain=False)
    assert fits.verdicts[TASK] == "fake" and "for whose signer nobody vouches" in fits.outcomes[TASK].summary
    assert any("signed by forensix demo" in note for note in fits.outcomes[TASK].notes)
    data = path.read_bytes()
    path.write_bytes(data[:-12] + png_chunk(b"tEXt", b"Comment\0later") + data[-12:])
    spoilt = report(path, 0.3, explain=False)
    assert spoilt.verdicts[TASK] == "inconclusive" and spoilt.to_wire(TASK)["result"]["class_name"] == "real"
    assert spoilt.scores[TASK] == pytest.approx(report(tmp_path / "unmarked.png", 0.3, explain=False).scores[TASK])
    assert "not proved to be this file's" in spoilt.outcomes[TASK].summary
    assert any("they do not fit it" in note for note in spoilt.outcomes[TASK].notes)


def source_type(kind: str) -> bytes:
    address = f"http://cv.iptc.org/newscodes/digitalsourcetype/{kind}"
    return (
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        '<rdf:Description rdf:about="" xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/" '
        f'Iptc4xmpExt:DigitalSourceType="{address}"/></rdf:RDF></x:xmpmeta>'
    ).encode()


def test_pixels_that_cannot_decide_add_nothing_to_a_mark(tmp_path: Path) -> None:
    path = tmp_path / "marked.jpg"
    Image.fromarray(skimage.data.astronaut()[:48, :48]).save(path, xmp=source_type("trainedAlgorithmicMedia"))
    assert report(path, 0.99).scores == report(path, 0.01).scores


@pytest.mark.parametrize(
    ("look", "why"),
    [
        ("tiny", ": the picture is less than 160 px high or wide"),
        ("small", ": the picture is less than 448 px high or wide"),
        ("even", ": most of the picture is even areas, as in drawings, text and plain backgrounds"),
        ("few", "as a palette holds, which removes the fine detail that detection needs"),
        ("painted", ": the picture is full of detail and of edges between colours, as paintings are"),
        ("cut out", ": parts of the picture are transparent, as no camera stores them"),
    ],
)
def test_where_a_mark_alone_decides_no_note_says_that_nothing_does(look: str, why: str, tmp_path: Path) -> None:
    photograph = skimage.data.astronaut()
    rgb = {
        "tiny": photograph[:48, :48],
        "small": photograph[:300, :300],
        "even": np.full_like(photograph, 90),
        "few": photograph // 64 * 64,
        "painted": strokes(),
        "cut out": np.dstack([photograph, np.where(photograph[..., 0] > 40, 255, 0)]).astype(np.uint8),
    }[look]
    tags = PngInfo()
    tags.add_text("Software", "Midjourney v6")
    Image.fromarray(rgb).save(tmp_path / "marked.png", pnginfo=tags)
    actual = report(tmp_path / "marked.png", 0.99)
    assert actual.verdicts == {TASK: "fake"}
    pixels, marks = actual.outcomes[TASK].notes
    assert pixels.startswith("The pixels (score 0.99) decide nothing here and do not count: ")
    assert pixels.endswith(f"{why}.")
    assert marks == "Marks of a generator alone decide; they can be forged as well as removed."


@pytest.mark.parametrize(
    ("kind", "side_px", "score", "named"),
    [
        ("compositeWithTrainedAlgorithmicMedia", 512, 0.1, "unknown"),
        ("compositeWithTrainedAlgorithmicMedia", 512, 0.9, "sdxl"),
        ("trainedAlgorithmicMedia", 512, 0.1, "sdxl"),
        ("trainedAlgorithmicMedia", 48, 0.9, "unknown"),
    ],
)
def test_pixels_name_no_generator_of_a_retouched_photograph_nor_where_they_cannot_decide(
    kind: str, side_px: int, score: float, named: str, tmp_path: Path
) -> None:
    path = tmp_path / "marked.jpg"
    Image.fromarray(skimage.data.astronaut()[:side_px, :side_px]).save(path, xmp=source_type(kind), quality=95)
    actual = result(path, score)
    assert actual["class_name"] == "fake" and actual["model_attribution"] == named
    assert sum(item["probability"] for item in actual["model_attributions"]) == pytest.approx(1)


def test_a_watermark_in_the_pixels_is_read_and_names_the_generator(tmp_path: Path) -> None:
    path = tmp_path / "watermarked.png"
    Image.fromarray(embed(skimage.data.astronaut(), MESSAGES["SDXL"][0], from_bytes=False)).save(path)
    actual = report(path, 0.02)
    wire = actual.to_wire(TASK)["result"]
    assert wire["class_name"] == "fake" and wire["class_probability"] > 0.9 and wire["model_attribution"] == "sdxl"
    outcome = actual.outcomes[TASK]
    assert "'SDXL'" in outcome.summary and not outcome.inconclusive
    assert any("48 of 48" in str(item) for item in outcome.evidence)


def test_the_reader_of_watermarks_is_a_slot(portrait: Path) -> None:
    class Blind:
        def read(self, rgb: np.ndarray) -> None:
            return None

    assert report(portrait, 0.3, watermark=Blind()).scores[TASK] == pytest.approx(0.3)
    with pytest.raises(ModelNotFound, match="dwt-dct"):
        report(portrait, 0.3, watermark="absent")


def test_a_video_is_scored_on_frames_spread_over_it(tmp_path: Path) -> None:
    path = tmp_path / "clip.mp4"
    write_video(path, n_frames=60, size=(640, 480), rate=20)
    actual = report(path, 0.9)
    (curve,) = [item for item in actual.outcomes[TASK].evidence if item.title == "Score by frame"]
    assert 8 <= len(curve.x) <= 20
    assert curve.x[-1] > 2
    assert actual.headline.startswith("Likely a video made by a generator (score ")
    wire = actual.to_wire(TASK)["result"]
    assert wire["class_name"] == "fake" and wire["model_attribution"] == "sdxl"


@pytest.mark.parametrize(("program", "generator"), [("Kling AI 2.1", "kling"), ("ElevenLabs", None)])
def test_a_video_whose_container_names_a_generator_of_videos_is_marked(
    program: str, generator: str | None, tmp_path: Path
) -> None:
    path = video(tmp_path / "clip.mp4", tags={"encoder": program, "comment": f"made with {program}"})
    actual = report(path, 0.1)
    wire = actual.to_wire(TASK)["result"]
    assert wire["class_name"] == ("fake" if generator else "real") and wire.get("model_attribution") == generator


def test_of_a_video_no_generator_of_pictures_is_named(tmp_path: Path) -> None:
    path = write_video(tmp_path / "clip.mp4", n_frames=60, size=(640, 480), rate=20)
    actual = forensix.analyze(path, [TASK], image_detector=Opinion(0.9))
    assert not any(key.startswith("model_attribution") for key in actual.to_wire(TASK)["result"])
    assert actual.outcomes[TASK].summary == "The pixels look generated (score 0.90)."
    assert "forensix-attribution" not in {model["name"] for model in actual.models}


def test_a_small_video_is_not_called_generated_by_its_frames(tmp_path: Path) -> None:
    path = write_video(tmp_path / "clip.avi", n_frames=20, size=(320, 240))
    actual = report(path, 0.99)
    assert actual.verdicts == {TASK: "inconclusive"} and actual.to_wire(TASK)["result"] == {"class_name": "real"}
    assert "undecided" in actual.headline
    (note,) = [note for note in actual.outcomes[TASK].notes if "448 px" in note]
    assert "too few pixels to call it generated" in note


@pytest.mark.parametrize(("n_black", "verdict"), [(20, "real"), (40, "inconclusive")])
def test_frames_that_cannot_be_judged_do_not_count_unless_most_are_such(
    n_black: int, verdict: str, tmp_path: Path
) -> None:
    class Afraid(Opinion):
        def score(self, rgb: np.ndarray) -> float:
            return 0.2 if rgb.mean() > 20 else 0.99

    still = skimage.data.astronaut()[:240, :320]
    black = np.zeros_like(still)
    path = write_video(tmp_path / "fade.mp4", n_frames=60, rate=20, paint=lambda i: black if i < n_black else still)
    actual = forensix.analyze(path, [TASK], image_detector=Afraid(0.2), attribution=Names())
    assert actual.verdicts == {TASK: verdict} and actual.to_wire(TASK)["result"] == {"class_name": "real"}
    notes = " ".join(actual.outcomes[TASK].notes)
    assert ("do not count" in notes) == (verdict == "real") != ("even areas" in notes)
    assert (actual.scores[TASK] == pytest.approx(0.2)) == (verdict == "real")


def test_the_shipped_detector_scores_a_portrait(portrait: Path) -> None:
    actual = forensix.analyze(portrait, [TASK])
    assert 0 <= actual.scores[TASK] <= 1
    assert actual.models[0]["name"] == "forensix-image"


@pytest.mark.parametrize(("draw", "generator"), [(draw_squares, "dall-e-2"), (draw_star, "gemini")])
def test_a_visible_mark_outweighs_the_pixels_and_is_shown(
    draw: Callable[[np.ndarray], np.ndarray], generator: str, portrait: Path, tmp_path: Path
) -> None:
    path = tmp_path / "marked.jpg"
    Image.fromarray(draw(np.asarray(Image.open(portrait)))).save(path, quality=85)
    actual = report(path, 0.2)
    wire = actual.to_wire(TASK)["result"]
    assert wire["class_name"] == "fake"
    assert wire["model_attribution"] == generator
    assert f"visible mark of {generator}" in actual.outcomes[TASK].summary
    assert "Visible mark" in [display.title for display in actual.outcomes[TASK].evidence]
    assert report(portrait, 0.2).verdicts[TASK] == "real"
