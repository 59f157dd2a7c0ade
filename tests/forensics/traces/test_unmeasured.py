"""What could not be measured in the pixels is told, on top of the report too: silence would read as nothing found."""

from pathlib import Path

import pytest
import skimage.data
from PIL import Image

import forensix
from forensix.forensics.rules import image_pixels
from forensix.forensics.traces import pixels

TASK = "forensic_analysis"


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "cat.jpg"
    Image.fromarray(skimage.data.cat()).save(path)
    return path


def test_measuring_that_takes_too_long_is_told(picture: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image_pixels, "MEASURE_S", 0.0)
    report = forensix.analyze(picture, [TASK])
    (claim,) = (c for c in report.to_wire(TASK)["result"]["claim_lists"]["benign"] if "not looked for" in c["claim"])
    assert claim["claim"] == "Traces of editing in the pixels were not looked for"
    assert "took longer than 0 s" in claim["explanation"]
    assert report.headline.startswith("Traces of editing in the pixels were not looked for; ")


def test_a_picture_that_is_measured_whole_says_nothing_of_it(picture: Path) -> None:
    assert "not looked for" not in str(forensix.analyze(picture, [TASK]).to_wire(TASK))


@pytest.mark.parametrize(("format", "some"), [("jpeg", True), ("png", False)])
def test_of_a_very_large_jpeg_some_traces_are_looked_for(
    format: str, some: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"large.{format}"
    Image.fromarray(skimage.data.cat()).resize((4200, 4200)).save(path)
    monkeypatch.setattr(pixels, "MAX_PIXELS", 10_000_000)
    traces = pixels.measure(str(path), format, {}, "", True)
    assert traces["unmeasured"] == "the picture has 18 megapixels, and up to 10 are looked at one by one"
    assert ("ela" in traces and "copy_move" in traces) is some
    (claim,) = image_pixels.unmeasured(traces)
    assert claim.claim.claim.startswith("Some traces") is some
    assert claim.severity == "benign" and claim.remark


def test_traces_are_looked_for_in_a_jpeg_that_lost_its_last_bytes(picture: Path) -> None:
    whole = set(forensix.analyze(picture, [TASK]).claims().claim)
    picture.write_bytes(picture.read_bytes()[:-60])
    report = forensix.analyze(picture, [TASK])
    told = {"The file is malformed: its end is missing"}
    assert set(report.claims().claim) == whole - {"The file says nothing about its origin"} | told
    (claim,) = report.to_wire(TASK)["result"]["claim_lists"]["suspect"]
    assert claim["value"] == [
        "The file ends without an end-of-image marker (FF D9).",
        "The compressed data end early: 0.5 % of the pixels are missing.",
    ]
