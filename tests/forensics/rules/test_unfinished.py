"""A file whose end is missing, as of a download that is not finished, is told as that before tampering is named."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import forensix
from tests.making import write_audio, write_image, write_pdf, write_video

NOISE = np.random.default_rng(4).integers(0, 255, (96, 96, 3), np.uint8)
WRITERS: dict[str, Callable[[Path], Path]] = {
    **dict.fromkeys(("jpg", "png", "webp", "gif", "avif"), lambda path: write_image(path, NOISE)),
    **dict.fromkeys(("mp4", "mkv", "flv", "avi"), write_video),
    **dict.fromkeys(("wav", "ogg"), write_audio),
    "pdf": write_pdf,
}


@pytest.mark.parametrize("form", WRITERS)
def test_an_unfinished_download_is_told_before_tampering(form: str, tmp_path: Path) -> None:
    path = WRITERS[form](tmp_path / f"whole.{form}")
    cut = tmp_path / f"cut.{form}"
    cut.write_bytes(path.read_bytes()[: -path.stat().st_size // 3])
    whole, part = (forensix.analyze(one, tasks=["forensic_analysis"]).claims() for one in (path, cut))
    assert not [claim for claim in whole.claim if "malformed" in claim]
    told = part[part.claim == "The file is malformed: its end is missing"].iloc[0]
    assert told.severity == "suspect"
    assert 0 < told.explanation.index("not finished") < told.explanation.index("tampering")


def test_a_fault_amid_the_file_is_no_missing_end(tmp_path: Path) -> None:
    path = write_image(tmp_path / "picture.png", NOISE)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x55
    path.write_bytes(data)
    claims = forensix.analyze(path, tasks=["forensic_analysis"]).claims().claim
    assert "The file is malformed" in set(claims)


def test_an_end_that_is_there_is_not_said_to_be_missing(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "a.pdf")
    path.write_bytes(path.read_bytes().replace(b"startxref", b"startxxxx").replace(b"endstream", b"endxxxxxx"))
    told = forensix.analyze(path, ["forensic_analysis"]).claims().claim
    assert "The file is malformed" in set(told)
