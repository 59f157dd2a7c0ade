"""Files that hold several pictures or streams, of which one is looked at."""

import io
from pathlib import Path

import pytest
from PIL import Image

import forensix
from forensix.media.played import in_order
from tests.making import picture, tone, write_streams

TASKS = ["forensic_analysis"]


def claimed(report: forensix.Report) -> dict[str, list[str]]:
    return {row.claim: list(row.value) for row in report.claims().itertuples()}


@pytest.mark.parametrize("suffix", ["gif", "webp", "png", "tiff", "heic"])
def test_further_pictures_are_told_of(tmp_path: Path, suffix: str) -> None:
    pictures = [Image.fromarray(picture(shift=shift)) for shift in (0, 30, 60)]
    path = tmp_path / f"three.{suffix}"
    if suffix == "heic":
        import pillow_heif

        heif = pillow_heif.HeifFile()
        for each in pictures:
            heif.add_from_pillow(each)
        heif.save(path)
    else:
        pictures[0].save(path, save_all=True, append_images=pictures[1:])
    report = forensix.analyze(path, TASKS)
    which = "main" if suffix == "heic" else "first"
    assert report.warnings == (f"the file holds 3 pictures, of which only the {which} one was looked at",)
    assert claimed(report)["The file holds several pictures"] == ["3 pictures"]


def test_a_single_picture_and_the_second_one_of_a_camera_are_not(tmp_path: Path) -> None:
    first, second = (Image.fromarray(picture(shift=shift)) for shift in (0, 30))
    first.save(tmp_path / "one.png")
    first.save(tmp_path / "depth.jpg", "MPO", save_all=True, append_images=[second])
    for name in ("one.png", "depth.jpg"):
        report = forensix.analyze(tmp_path / name, TASKS)
        assert not report.warnings and "The file holds several pictures" not in claimed(report)


@pytest.mark.parametrize("suffix", ["mp4", "mkv", "avi"])
def test_two_video_streams_are_told_of_and_are_no_joined_encodings(tmp_path: Path, suffix: str) -> None:
    path = write_streams(tmp_path / f"two.{suffix}", videos=[(64, 48), (96, 64)])
    report = forensix.analyze(path, TASKS)
    assert report.warnings == ("the file holds 2 video streams, of which only the one played first was looked at",)
    values = claimed(report)["The file holds several video streams"]
    assert [value.split(", ")[1] for value in values] == ["64 x 48", "96 x 64"]
    assert "More than one encoding left its settings" not in claimed(report)


def test_two_languages_are_told_of(tmp_path: Path) -> None:
    path = write_streams(tmp_path / "two.mkv", sounds=[tone(1.0), tone(1.0, 330)])
    report = forensix.analyze(path, TASKS)
    assert report.kind == "audio"
    assert report.warnings == ("the file holds 2 audio streams, of which only the one played first was heard",)
    assert len(claimed(report)["The file holds several audio streams"]) == 2


def test_what_a_player_starts_with_is_looked_at(tmp_path: Path) -> None:
    path = write_streams(tmp_path / "second.mkv", videos=[(64, 48), (96, 64)], default=1)
    with forensix.open_media(path) as media:
        assert (media.info.width_px, media.info.height_px) == (96, 64)
        assert next(media.frames()).rgb.shape == (64, 96, 3)
    report = forensix.analyze(path, TASKS)
    values = claimed(report)["The file holds several video streams"]
    assert [value.split(", ")[1] for value in values] == ["96 x 64", "64 x 48"]


@pytest.mark.parametrize("suffix", ["mp3", "flac"])
def test_a_cover_is_neither_a_video_nor_a_fault(tmp_path: Path, suffix: str) -> None:
    path = write_streams(tmp_path / f"song.{suffix}", sounds=[tone(2.0)], cover=picture(64, 64))
    report = forensix.analyze(path, TASKS)
    assert report.kind == "audio" and not report.warnings
    assert not {claim for claim in claimed(report) if "structural" in claim or "encoded as" in claim}
    facts = report.facts()
    assert facts.loc[facts["fact"] == "stream.cover", "value"].item().startswith("png")
    assert "stream.video" not in set(facts["fact"])


def test_covers_have_no_order() -> None:
    assert in_order([]) == []


@pytest.mark.parametrize(("kind", "codec"), [("audio", b"A_AAC"), ("video", b"V_MPEG4/ISO/AVC")])
def test_a_stream_that_cannot_be_decoded_is_told_of_and_is_no_fault_of_the_file(
    tmp_path: Path, kind: str, codec: bytes
) -> None:
    data = write_streams(tmp_path / "a.mkv", videos=[(64, 48)], sounds=[tone(1.0)]).read_bytes()
    assert data.count(codec) == 1
    unknown = data.replace(codec, codec[:2] + b"X" * (len(codec) - 2))
    report = forensix.analyze(io.BytesIO(unknown), [*TASKS, "voice_analysis"], transcribe=False)
    assert report.warnings == (f"1 {kind} stream of an unknown codec could not be decoded",)
    claims = claimed(report)
    assert (
        f"The {kind} stream {int(kind == 'audio')} is of a codec that there is no decoder for here."
        in (claims["A part of the file was not read"])
    )
    assert not any("malformed" in claim or claim == "Sound is missing at 20 places" for claim in claims)
    # Nothing is said of a sound that was not heard: neither that there is none, nor that nobody speaks.
    said = {"audio": "is of a codec that cannot be decoded here"}.get(kind, "")
    assert report.errors.get("voice_analysis", "").endswith(said)
    assert bool(report.errors) == bool(said)
