"""What is no well-kept video of a face: followed all the same, not judged with its size said, or one clear sentence."""

import io
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
import skimage.data
from PIL import Image, ImageDraw
from scipy import ndimage

import forensix
from forensix.models import Pooling, get_card
from forensix.perturb.image import smooth
from forensix.tasks.evidence import Outcome
from tests.making import drawn_scene, write_image, write_video

TASK = "face_manipulation"
HEAD = Image.fromarray(skimage.data.astronaut()[:300, 90:390])


class Sure:
    """A classifier that calls every face fake."""

    def score(self, crops: np.ndarray) -> np.ndarray:
        assert crops.dtype == np.uint8 and crops.shape[1:] == (224, 224, 3)
        return np.full(len(crops), 0.95)


def frame_of(i: int, size: tuple[int, int] = (480, 360), side_px: int = 240, head: Image.Image = HEAD) -> np.ndarray:
    """Return a frame with a head that moves slowly to the right."""
    frame = Image.new("RGB", size, (110, 120, 130))
    frame.paste(head.resize((side_px, side_px)), (20 + i, (size[1] - side_px) // 2))
    return np.asarray(frame)


def result(path: Path) -> Outcome:
    report = forensix.analyze(path, [TASK], face_classifier=Sure())
    assert not report.failed and report.outcomes[TASK].summary.endswith(".")
    return report.outcomes[TASK]


@pytest.mark.parametrize(
    ("name", "reduce"),
    [
        ("palette.gif", lambda image: image.convert("P")),
        ("kept.png", lambda image: image.convert("P").convert("RGB")),
        ("greys.png", lambda image: image.convert("L").quantize(64).convert("RGB")),
    ],
)
def test_a_face_of_which_a_palette_left_no_detail_is_not_judged(name: str, reduce, tmp_path: Path) -> None:
    HEAD.save(tmp_path / "head.png")
    assert result(tmp_path / "head.png").result.class_name == "fake"
    reduce(HEAD).save(tmp_path / name)
    outcome = result(tmp_path / name)
    assert outcome.inconclusive and outcome.score is None and outcome.result.class_name == "real"
    assert "as few colours as a palette holds" in outcome.summary


def test_a_grey_photograph_has_few_colours_and_is_judged(tmp_path: Path) -> None:
    HEAD.convert("L").save(tmp_path / "grey.png")
    assert result(tmp_path / "grey.png").result.class_name == "fake"


def test_a_face_in_what_looks_painted_is_called_nothing(tmp_path: Path) -> None:
    colours = ndimage.gaussian_filter(np.random.default_rng(0).normal(size=(900, 900, 3)), (4, 4, 0))
    canvas = Image.fromarray((128 + 50 * colours / colours.std()).clip(0, 255).astype(np.uint8))
    canvas.paste(HEAD, (300, 300))
    canvas.save(tmp_path / "painting.png")
    outcome = result(tmp_path / "painting.png")
    assert outcome.inconclusive and outcome.unjudged and outcome.score > 0.9
    assert outcome.result.class_name == "real" and outcome.result.explanation is None
    assert not any("heat map" in item.title for item in outcome.evidence)
    assert "as paintings are" in outcome.notes[0] and "undecided" in outcome.summary


def test_a_face_in_what_looks_drawn_is_called_nothing(tmp_path: Path) -> None:
    canvas = drawn_scene(900, 900)
    canvas.paste(HEAD.resize((300, 300)), (300, 500))
    canvas.save(tmp_path / "comic.png")
    outcome = result(tmp_path / "comic.png")
    assert outcome.inconclusive and outcome.unjudged and outcome.score > 0.9
    assert outcome.result.class_name == "real" and outcome.result.explanation is None
    assert "as illustrations and comics do" in outcome.notes[0] and "undecided" in outcome.summary


def test_a_face_on_a_screen_of_even_areas_is_called_nothing(tmp_path: Path) -> None:
    screen = Image.new("RGB", (1200, 900), "white")
    screen.paste(HEAD, (300, 300))
    screen.save(tmp_path / "screen.png")
    outcome = result(tmp_path / "screen.png")
    assert outcome.inconclusive and outcome.unjudged and outcome.score > 0.9
    assert outcome.result.class_name == "real" and outcome.result.explanation is None
    assert "even areas" in outcome.notes[0] and "undecided" in outcome.summary


def test_a_face_that_was_drawn_or_cut_out_on_nothing_is_called_nothing(tmp_path: Path) -> None:
    head = HEAD.convert("RGBA")
    head.save(tmp_path / "whole.png")
    head.paste((0, 0, 0, 0), (0, 0, head.width // 10, head.height))
    head.save(tmp_path / "cut out.png")
    assert result(tmp_path / "whole.png").result.class_name == "fake"
    outcome = result(tmp_path / "cut out.png")
    assert outcome.inconclusive and outcome.unjudged and outcome.result.class_name == "real"
    assert "transparent" in outcome.notes[0]


class Wary(Sure):
    """One whose card asks for texture."""

    card = get_card("forensix-face").model_copy(
        update={"fusion": None, "parts": None, "pooling": Pooling(min_texture=2.5)}
    )


def test_a_smoothed_portrait_is_not_called_manipulated_and_it_says_why(tmp_path: Path) -> None:
    smoothed = Image.fromarray(smooth(np.asarray(HEAD.resize((260, 260))), 1.0, radius_px=6, detail=25))
    smoothed.save(tmp_path / "smooth.png")
    HEAD.save(tmp_path / "sharp.png")
    sharp, outcome = (
        forensix.analyze(tmp_path / f"{name}.png", [TASK], face_classifier=Wary()).outcomes[TASK]
        for name in ("sharp", "smooth")
    )
    assert sharp.result.class_name == "fake" and not any("hardly any fine detail" in note for note in sharp.notes)
    assert outcome.inconclusive and outcome.unjudged and outcome.score == sharp.score
    assert outcome.result.class_name == "real" and outcome.result.explanation is None
    assert not any("heat map" in item.title for item in outcome.evidence)
    assert "hardly any fine detail between its edges" in outcome.notes[0] and "undecided" in outcome.summary


def test_beside_a_sharp_face_a_smooth_one_is_told_of_and_not_counted(tmp_path: Path) -> None:
    smoothed = Image.fromarray(smooth(np.asarray(HEAD.resize((260, 260))), 1.0, radius_px=6, detail=25))
    pair = Image.new("RGB", (640, 300), (110, 120, 130))
    pair.paste(HEAD, (0, 0))
    pair.paste(smoothed, (340, 20))
    pair.save(tmp_path / "pair.png")
    outcome = forensix.analyze(tmp_path / "pair.png", [TASK], face_classifier=Wary()).outcomes[TASK]
    assert outcome.summary == "Of 2 faces, 1 looks manipulated." and not outcome.inconclusive
    assert sum("hardly any fine detail between its edges" in note for note in outcome.notes) == 1
    assert sorted(face.class_name for face in outcome.result.explanation) == ["fake", "real"]


@pytest.mark.parametrize("rotation", [90, 180, -90])
def test_a_turned_phone_video_is_seen_upright(rotation: int, tmp_path: Path) -> None:
    turned = {90: 3, 180: 2, -90: 1}[rotation]
    frames = [np.rot90(frame_of(3 * i, (360, 480)), turned) for i in range(20)]
    height, width = frames[0].shape[:2]
    write_video(tmp_path / "a.mp4", 20, (width, height), 10, paint=frames.__getitem__, rotation=rotation)
    (face,) = result(tmp_path / "a.mp4").result.explanation
    boxes = np.array([track.bbox for track in face.tracks])
    assert len(boxes) >= 8 and boxes[:, 2].max() < 360, "in the frame as it is shown, which is upright"
    assert (np.diff(boxes[:, 0]) > 0).all()


def test_times_of_a_variable_frame_rate_are_those_of_the_frames(tmp_path: Path) -> None:
    times_ms = [0, 40, 80, 600, 640, 1500, 1540, 2400, 2410, 3000]
    with av.open(str(tmp_path / "a.mp4"), "w") as container:
        stream = container.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = 480, 360, "yuv420p"
        stream.time_base = stream.codec_context.time_base = Fraction(1, 1000)
        for i, ms in enumerate(times_ms):
            frame = av.VideoFrame.from_ndarray(frame_of(4 * i), format="rgb24")
            frame.pts, frame.time_base = ms, Fraction(1, 1000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    (face,) = result(tmp_path / "a.mp4").result.explanation
    assert [track.frame_ms for track in face.tracks] == pytest.approx(
        [times_ms[t.frame_idx] for t in face.tracks], abs=1
    )
    assert face.tracks[-1].frame_ms >= 2400


def jpegs(path: Path, pictures: list[bytes], size: tuple[int, int]) -> None:
    """Write motion JPEG whose frames are these files."""
    with av.open(str(path), "w", format="matroska") as container:
        stream = container.add_stream("mjpeg", rate=10)
        stream.width, stream.height, stream.pix_fmt = *size, "yuvj420p"
        for i, data in enumerate(pictures):
            packet = av.Packet(data)
            packet.stream, packet.time_base = stream, Fraction(1, 10)
            packet.pts = packet.dts = i
            packet.is_keyframe = True
            container.mux(packet)


def jpeg(rgb: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(rgb).save(buffer, "JPEG", quality=90)
    return buffer.getvalue()


def test_frames_that_change_size_keep_one_face_and_are_told(tmp_path: Path) -> None:
    small = [np.asarray(Image.fromarray(frame_of(2 * i)).resize((240, 180))) for i in range(10, 20)]
    jpegs(tmp_path / "a.mkv", [jpeg(rgb) for rgb in [*(frame_of(2 * i) for i in range(10)), *small]], (480, 360))
    report = forensix.analyze(tmp_path / "a.mkv", [TASK], face_classifier=Sure())
    (face,) = report.outcomes[TASK].result.explanation
    assert len(face.tracks) >= 8
    widths = [track.bbox[2] - track.bbox[0] for track in face.tracks]
    assert max(widths) < 1.2 * min(widths)
    (fields,) = [warning for warning in report.warnings if "picture size changes" in warning]
    assert "in 5 of the 10 frames looked at" in fields, "of the twenty frames there are"


def test_a_broken_frame_in_the_middle_does_not_end_the_face(tmp_path: Path) -> None:
    pictures = [jpeg(frame_of(2 * i)) for i in range(20)]
    pictures[9] = pictures[9][:200] + bytes(200)
    jpegs(tmp_path / "a.mkv", pictures, (480, 360))
    (face,) = result(tmp_path / "a.mkv").result.explanation
    assert face.tracks[-1].frame_ms >= 1700


def test_forty_faces_are_all_listed(tmp_path: Path) -> None:
    wall = Image.new("RGB", (8 * 300, 5 * 300))
    for i in range(40):
        wall.paste(HEAD.resize((200, 200)), (i % 8 * 300, i // 8 * 300))
    write_image(tmp_path / "a.png", np.asarray(wall))
    outcome = result(tmp_path / "a.png")
    assert len(outcome.result.explanation) == 40
    assert outcome.score == pytest.approx(0.95), "all alike: as one"
    assert outcome.n_subjects == 40


class Fixed:
    """A classifier with one score for every face, and nothing between the classes."""

    def __init__(self, score: float) -> None:
        self.fixed = score

    def score(self, crops: np.ndarray) -> np.ndarray:
        return np.full(len(crops), self.fixed)


@pytest.mark.parametrize(
    ("score", "summary", "headline"),
    [
        (0.1, "Of 3 faces, 2 can be judged: none looks manipulated.", "Nothing in the 2 faces points to a fake"),
        (0.95, "Of 3 faces, 2 can be judged: 2 look manipulated.", "Likely a manipulated or generated face"),
    ],
)
def test_a_face_that_is_not_judged_counts_for_nothing_but_is_told(
    score: float, summary: str, headline: str, tmp_path: Path
) -> None:
    group = Image.new("RGB", (900, 300), (110, 120, 130))
    for side_px, left in ((280, 0), (280, 300), (100, 700)):
        group.paste(HEAD.resize((side_px, side_px)), (left, 10))
    write_image(tmp_path / "a.png", np.asarray(group))
    report = forensix.analyze(tmp_path / "a.png", [TASK], face_classifier=Fixed(score))
    assert report.outcomes[TASK].summary == summary
    assert report.headline.startswith(headline)
    page = report.to_html()
    assert ("looks manipulated, score 0.95" in page) == (score > 0.5)
    # Of the face that is not judged nobody says that it is real.
    assert ("not called fake" in page) == (score > 0.5) and ">real" not in page


def test_of_very_many_faces_it_is_told_how_many_are_drawn(tmp_path: Path) -> None:
    crowd = Image.new("RGB", (1400, 900), (110, 120, 130))
    for i in range(15):
        crowd.paste(HEAD.resize((260, 260)), (10 + 275 * (i % 5), 10 + 290 * (i // 5)))
    write_image(tmp_path / "a.png", np.asarray(crowd))
    told = "Of the 15 faces the 12 that score highest are drawn one by one."
    undecided, fake = (forensix.analyze(tmp_path / "a.png", [TASK], face_classifier=Fixed(s)) for s in (0.1, 0.95))
    assert told in undecided.outcomes[TASK].notes and undecided.to_html().count("<strong><bdi>Face ") == 12
    assert not any("15 faces" in note for note in fake.outcomes[TASK].notes), "all of them are drawn"


def test_twelve_pixels_are_no_face_or_too_few_to_judge(tmp_path: Path) -> None:
    crowd = Image.new("RGB", (640, 480), (110, 120, 130))
    for i in range(12):
        crowd.paste(HEAD.resize((40, 40)), (20 + 50 * i, 200))
    write_image(tmp_path / "a.png", np.asarray(crowd))
    outcome = result(tmp_path / "a.png")
    assert outcome.result.class_name == "no_faces" or outcome.inconclusive
    assert "No face was found" in outcome.summary or "can be judged" in outcome.summary


def masked() -> Image.Image:
    head = HEAD.copy()
    ImageDraw.Draw(head).rectangle((95, 115, 185, 200), fill=(200, 215, 230))
    return head


def sideways() -> Image.Image:
    narrow = Image.new("RGB", HEAD.size, (110, 120, 130))
    narrow.paste(HEAD.resize((130, 300)), (85, 0))
    return narrow


def cartoon() -> Image.Image:
    paper = Image.new("RGB", (300, 300), (250, 230, 120))
    draw = ImageDraw.Draw(paper)
    draw.ellipse((60, 40, 240, 260), fill=(255, 205, 160), outline=(0, 0, 0), width=5)
    for x in (115, 185):
        draw.ellipse((x - 18, 105, x + 18, 145), fill=(255, 255, 255), outline=(0, 0, 0), width=4)
        draw.ellipse((x - 7, 118, x + 7, 132), fill=(0, 0, 0))
    draw.arc((105, 150, 195, 215), 20, 160, fill=(160, 0, 0), width=7)
    return paper


@pytest.mark.parametrize("make", [masked, sideways, cartoon])
def test_masks_narrow_faces_and_cartoons_have_an_answer(make, tmp_path: Path) -> None:
    write_image(tmp_path / "a.png", frame_of(60, head=make()))
    outcome = result(tmp_path / "a.png")
    assert (outcome.result.class_name == "no_faces") == ("No face was found" in outcome.summary)
    assert (outcome.score is None) == ("No face was found" in outcome.summary or "be judged" in outcome.summary)


def test_a_face_in_2560p_is_found_with_a_full_crop(tmp_path: Path) -> None:
    frames = [frame_of(40 * i, (3840, 2560), 1400) for i in range(4)]
    write_video(tmp_path / "a.mp4", 4, (3840, 2560), 5, paint=frames.__getitem__, options={"preset": "ultrafast"})
    (face,) = result(tmp_path / "a.mp4").result.explanation
    assert face.bbox_average_size[0] > 300 and len(face.tracks) == 4


def test_interlaced_frames_are_followed(tmp_path: Path) -> None:
    def woven(i: int) -> np.ndarray:
        frame = frame_of(12 * i).copy()
        frame[1::2] = frame_of(12 * i + 6)[1::2]
        return frame

    write_video(
        tmp_path / "a.mp4", 20, (480, 360), 10, paint=woven, options={"flags": "+ildct+ilme", "x264-params": "tff=1"}
    )
    (face,) = result(tmp_path / "a.mp4").result.explanation
    assert len(face.tracks) >= 8
