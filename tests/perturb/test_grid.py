"""The registry of degradations: equal content gives equal results, severe ones do more, files are degraded whole."""

from pathlib import Path

import numpy as np
import pytest

from forensix import open_media
from forensix.errors import LimitExceeded, UnsupportedMedia, UsageError
from forensix.media import Frame
from forensix.perturb import KINDS, Degradation, degrade_file, find, grid, image, names, ordered, rawboost, registry
from tests import making
from tests.media.test_times import retimed
from tests.perturb.test_audio import power_between, speech_like


@pytest.fixture(scope="module")
def data() -> dict[str, np.ndarray]:
    return {"image": making.picture(160, 120), "audio": speech_like()}


@pytest.mark.parametrize("kind", ["image", "audio"])
def test_every_degradation_is_fixed_by_content_and_seed(kind: str, data: dict[str, np.ndarray]) -> None:
    before = data[kind].copy()
    for name, strength, function in grid(kind):
        once, again = function(data[kind]), function(data[kind].copy())
        assert once.dtype == data[kind].dtype, name
        assert np.array_equal(once, again), name
        assert np.array_equal(data[kind], before), name
        assert once.shape != before.shape or not np.array_equal(once, before), (name, strength)
        if kind == "audio":
            assert once.shape == before.shape and np.isfinite(once).all(), name


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        ("image", np.zeros((8, 8), np.uint8)),
        ("image", np.zeros((8, 8, 3))),
        ("image", np.zeros((0, 8, 3), np.uint8)),
        ("audio", np.zeros(800)),
        ("audio", np.zeros((800, 2), np.float32)),
        ("audio", [0.0]),
    ],
)
def test_data_of_another_type_or_shape_are_refused_in_a_sentence(kind: str, wrong: object) -> None:
    for name, _, function in grid(kind):
        with pytest.raises(UsageError, match=rf"{name} takes .*not (a list|\w+ \()"):
            function(wrong)


def test_chance_differs_with_the_seed_and_with_the_file(data: dict[str, np.ndarray]) -> None:
    function = find("audio", "pink_noise").at(20.0)
    sound = data["audio"]
    other = sound.copy()
    other[0] += 0.001
    assert not np.array_equal(function(sound), function(sound, seed=1))
    assert np.abs((function(sound) - sound) - (function(other) - other)).max() > 0.001


@pytest.mark.parametrize("name", ["jpeg", "webp", "blur", "noise"])
def test_severe_strengths_of_pictures_lose_more(name: str, data: dict[str, np.ndarray]) -> None:
    picture = data["image"]
    losses = [np.abs(f(picture).astype(float) - picture).mean() for _, _, f in grid("image", [name])]
    assert losses == sorted(losses) and losses[0] < losses[-1]


@pytest.mark.parametrize("name", [name for name in names("audio") if name not in ("telephone", "g722")])
def test_severe_strengths_of_sound_lose_more(name: str, data: dict[str, np.ndarray]) -> None:
    sound = data["audio"]
    remaining = []
    for _, _, function in grid("audio", [name]):
        spectra = [np.log10(np.abs(np.fft.rfft(x * np.hanning(x.size))) ** 2 + 1e-3) for x in (sound, function(sound))]
        remaining.append(np.abs(spectra[0] - spectra[1]).mean())
    assert remaining[0] < remaining[-1]


def test_no_two_share_a_name_and_each_says_what_it_does() -> None:
    all_of_them = [name for kind in KINDS for name in names(kind)]
    assert len(all_of_them) == len(set(all_of_them))
    for kind in KINDS:
        for name in names(kind):
            assert find(kind, name).summary and find(kind, name).kind == kind
    expected = {
        "jpeg",
        "resize",
        "blur",
        "noise",
        "crop",
        "screenshot",
        "mp3",
        "aac",
        "opus",
        "telephone",
        "pink_noise",
    }
    assert expected | {"reverberation", "convolutive", "impulsive", "coloured", "rawboost", "crf", "scale"} <= set(
        all_of_them
    )


def test_strengths_are_chosen_and_ordered_by_severity() -> None:
    assert [(n, s) for n, s, _ in grid("image", {"jpeg": [80, 60], "none": [None]})] == [("jpeg", 80), ("jpeg", 60)]
    assert [s for _, s, _ in grid("video", ["crf"])] == [23, 28, 33, 38, 43]
    assert ordered("jpeg", [30, 90, 50, 90]) == [90, 50, 30]
    assert ordered("noise", [8, 2]) == [2, 8]
    assert ordered("pink_noise", [10, 30]) == [30, 10]
    assert ordered("their own", [3, 1]) == [1, 3]


@pytest.mark.parametrize(
    ("kind", "name", "sentence"),
    [
        ("image", "mp3", r"no degradation of image files is called 'mp3' \(mp3 is for audio\); there are: jpeg"),
        ("audio", "magic", "there are: mp3"),
        ("pdf", "jpeg", "not of 'pdf'"),
    ],
)
def test_unknown_names_are_refused(kind: str, name: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        find(kind, name)


def test_strengths_that_are_none_are_refused() -> None:
    with pytest.raises(UsageError, match="needs a strength"):
        find("image", "jpeg").at(None)
    with pytest.raises(UsageError, match="has no strengths"):
        find("audio", "telephone").at(3.0)
    with pytest.raises(UsageError, match="must be a number"):
        find("image", "jpeg").at(float("nan"))


@pytest.mark.parametrize(
    ("kind", "name", "strength", "bounds"),
    [
        *[("image", "crop", s, "from 0.01 to 0.99") for s in (2, 1, 0)],
        *[("image", "resize", s, "from 0.01 to 0.99") for s in (-1, 1.5)],
        *[("image", "enlarge", s, "from 1.01 to 16") for s in (0, 1)],
        *[("image", "jpeg", s, "whole number from 1 to 100") for s in (1000, 0, 70.5)],
        *[("image", name, 0, "from 0.2 to") for name in ("blur", "noise")],
        *[("audio", "mp3", s, f"one of 8, 16, 24, .*, 144, 160 .kbit/s., not {s}") for s in (1000, -3, 61, 64.5)],
        ("audio", "opus", 1000, r"from 6 to 256 \(kbit/s\), not 1000"),
        *[("audio", "low_pass", s, "from 50 to 7800") for s in (0, 9000)],
        *[("audio", "rawboost", s, "from 0 to 1") for s in (5, -0.1)],
        *[("audio", "clip", s, "from 0.0001 to 0.5") for s in (2, 0)],
        ("video", "crf", 60, "from 0 to 51"),
        ("image", "jpeg", True, "must be a number, not True"),
        ("image", "jpeg", "90", "must be a number, not '90'"),
        ("image", "jpeg", [90], r"must be a number, not \[90\]"),
    ],
)
def test_strengths_out_of_bounds_are_refused_before_anything_is_degraded(
    kind: str, name: str, strength: float, bounds: str
) -> None:
    with pytest.raises(UsageError, match=bounds):
        grid(kind, {name: [strength]})


@pytest.mark.parametrize(
    ("chosen", "sentence"),
    [
        ({"jpeg": 90}, r"strengths of jpeg are a list: write \{'jpeg': \[90\]\}"),
        ({"jpeg": "90"}, r"strengths of jpeg are a list: write \{'jpeg': \['90'\]\}"),
        ("jpeg", r"degradations are a list of names: write \['jpeg'\]"),
        (90, r"degradations are a list of names: write \[90\]"),
    ],
)
def test_what_is_no_list_is_refused_in_a_sentence(chosen: object, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        grid("image", chosen)  # type: ignore[arg-type]


def test_each_rate_of_mp3_is_a_rate_of_the_encoder() -> None:
    sound = speech_like()
    decoded = [find("audio", "mp3").at(kbps)(sound).tobytes() for kbps in (48, 56, 64.0, 80)]
    assert len(set(decoded)) == 4


def test_at_its_bounds_each_degradation_changes_what_it_is_given(data: dict[str, np.ndarray]) -> None:
    for kind in ("image", "audio"):
        for name in names(kind):
            bounds = find(kind, name).bounds
            assert (bounds is None) == (find(kind, name).strengths == (None,))
            for strength in bounds or ():
                if name == "enlarge" and strength > 2:
                    continue
                built = find(kind, name).at(strength)(data[kind])
                assert built.size and np.isfinite(built).all(), (name, strength)
                assert built.shape != data[kind].shape or not np.array_equal(built, data[kind]), (name, strength)


def test_a_picture_is_not_enlarged_without_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image, "MOST_PIXELS", 1000)
    with pytest.raises(LimitExceeded, match="megapixels"):
        find("image", "enlarge").at(2.0)(making.picture(64, 64))


def test_a_crop_keeps_the_centre() -> None:
    picture = making.picture(100, 80)
    assert np.array_equal(find("image", "crop").at(0.5)(picture), picture[20:60, 25:75])


def test_impulses_follow_the_signal_and_the_level_is_kept() -> None:
    sound = speech_like()
    sound[4_000:8_000] = 0
    hit = rawboost.impulsive(sound, np.random.default_rng(0), share=0.1)
    assert (hit[4_000:8_000] == 0).all()
    assert np.abs(hit).max() == pytest.approx(np.abs(sound).max(), rel=1e-5)
    share = np.mean(np.abs(hit / np.abs(hit).max() - sound / np.abs(sound).max())[sound != 0] > 1e-9)
    assert share > 0.05


def test_powers_of_the_signal_make_harmonics() -> None:
    at_s = np.arange(16_000) / 16_000
    tone = (0.3 * np.sin(2 * np.pi * 500 * at_s)).astype(np.float32)
    bent = rawboost.convolutive(tone, np.random.default_rng(1), below_db=5.0)
    for harmonic_hz in (1_000, 1_500):
        assert power_between(bent, harmonic_hz - 5, harmonic_hz + 5) > 100 * power_between(
            tone, harmonic_hz - 5, harmonic_hz + 5
        )


def test_coloured_noise_has_the_asked_ratio_and_notches() -> None:
    sound = speech_like(4.0)
    added = rawboost.coloured(sound, np.random.default_rng(3), snr_db=20.0) - sound
    assert 10 * np.log10(np.mean(sound**2) / np.mean(added**2)) == pytest.approx(20.0, abs=0.1)
    bands = [power_between(added, low, low + 100) for low in range(100, 7_900, 100)]
    assert max(bands) > 5 * min(bands)


@pytest.mark.parametrize("function", [rawboost.convolutive, rawboost.impulsive, rawboost.coloured, rawboost.series])
@pytest.mark.parametrize("size", [0, 1, 400])
def test_silence_and_very_short_sound_pass_the_distortions(function: object, size: int) -> None:
    measured = function(np.zeros(size, np.float32), np.random.default_rng(0))  # type: ignore[operator]
    assert measured.shape == (size,) and np.isfinite(measured).all()


def test_a_picture_and_a_recording_are_degraded_from_file_to_file(tmp_path: Path) -> None:
    picture = making.write_image(tmp_path / "a.jpg")
    small = degrade_file(picture, "resize", 0.5, tmp_path)
    with open_media(small) as media:
        assert (media.info.width_px, media.info.height_px) == (160, 120)
    again = tmp_path / "again"
    again.mkdir()
    assert degrade_file(picture, "resize", 0.5, again).read_bytes() == small.read_bytes()
    sound = making.write_audio(tmp_path / "b.wav", making.tone(1.0))
    with open_media(degrade_file(sound, "mp3", 32, tmp_path)) as media:
        assert media.info.sample_rate_hz == 16_000 and media.samples().size == 16_000
    document = making.write_pdf(tmp_path / "c.pdf")
    with pytest.raises(UnsupportedMedia, match="is a PDF"):
        degrade_file(document, "jpeg", 50, tmp_path)
    with pytest.raises(UsageError, match="is for image"):
        degrade_file(sound, "jpeg", 50, tmp_path)
    for wrong in ("90", [90]):
        with pytest.raises(UsageError, match="a strength of jpeg must be a number"):
            degrade_file(picture, "jpeg", wrong, tmp_path)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"the folder \S*absent is not there: make it, or name another"):
        degrade_file(picture, "jpeg", 50, tmp_path / "absent")


@pytest.mark.slow
def test_a_video_is_compressed_and_scaled_with_its_sound_in_a_bounded_child(tmp_path: Path) -> None:
    video = making.write_video(tmp_path / "a.mp4", 20, audio=making.tone(0.8), rotation=90)
    path_of = {}
    for name, strength in (("crf", 43), ("scale", 0.5)):
        path = degrade_file(video, name, strength, tmp_path)
        path_of[name] = path
        with open_media(path) as media, open_media(video) as original:
            factor = strength if name == "scale" else 1
            assert media.info.height_px == original.info.height_px * factor
            frames, before = list(media.frames()), list(original.frames())
            assert len(frames) == 20
            assert [f.ms for f in frames] == pytest.approx([f.ms for f in before], abs=1)
            assert media.samples().size == pytest.approx(original.samples().size, abs=1_100)
            if name == "crf":
                assert np.abs(frames[3].rgb.astype(int) - before[3].rgb).mean() < 25
    assert path_of["crf"].stat().st_size < video.stat().st_size
    (tmp_path / "again").mkdir()
    assert degrade_file(video, "crf", 43, tmp_path / "again").read_bytes() == path_of["crf"].read_bytes()
    with open_media(degrade_file(video, "mp3", 32, tmp_path)) as media:
        assert media.kind == "audio"


@pytest.mark.slow
def test_a_video_that_begins_late_keeps_its_sound_beside_its_frames(tmp_path: Path) -> None:
    video = making.write_video(tmp_path / "a.mkv", 50, (64, 48), audio=making.tone(2.0), options={"bf": "0"})
    late = retimed(video, tmp_path / "b.mkv", lambda kind, _: 10.0 + (kind == "audio"))
    with open_media(late) as media, open_media(degrade_file(late, "crf", 43, tmp_path)) as degraded:
        assert media.samples().size == pytest.approx(48_000, abs=2_100)
        assert degraded.samples().size == pytest.approx(media.samples().size, abs=1_100)
        first, again = next(media.frames()), next(degraded.frames())
        assert (first.ms, again.ms) == pytest.approx((0, 0), abs=1)


@pytest.mark.slow
def test_each_degradation_of_videos_changes_them_in_a_way_of_its_own(tmp_path: Path) -> None:
    video = making.write_video(tmp_path / "a.mp4", 8)
    shown = [[frame.rgb.tobytes() for frame in open_frames(video)]]
    for name, strength, _ in grid("video"):
        shown.append([frame.rgb.tobytes() for frame in open_frames(degrade_file(video, name, strength, tmp_path))])
        assert shown[-1] not in shown[:-1], (name, strength)


def test_a_video_is_not_encoded_by_a_guess(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = Degradation("video", "twice", (23,), "CRF of x264", (0, 51), "compressed twice")
    monkeypatch.setitem(registry._ALL, ("video", "twice"), row)
    with pytest.raises(UsageError, match="twice does not say how videos are encoded"):
        degrade_file(making.write_video(tmp_path / "a.mp4", 8), "twice", 23, tmp_path)


def open_frames(path: Path) -> list[Frame]:
    with open_media(path) as media:
        return list(media.frames())


def test_a_video_is_encoded_alike_every_time(tmp_path: Path) -> None:
    making.write_video(tmp_path / "a.mp4", 12)
    actual = set()
    for i in range(8):
        (tmp_path / str(i)).mkdir()
        actual.add(degrade_file(tmp_path / "a.mp4", "crf", 40, tmp_path / str(i)).read_bytes())
    assert len(actual) == 1
