"""Every report says at least what the file is."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy.io import wavfile

from forensix.forensics import claims
from forensix.forensics.findings import Finding
from forensix.media import open_media
from forensix.metadata.reader import read_facts

PDF = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj
trailer<</Root 1 0 R/Size 4>>
"""


def judged(path: Path) -> tuple[Finding, ...]:
    with open_media(path) as media:
        return claims(read_facts(media), media)


@pytest.mark.parametrize(
    ("name", "title", "words"),
    [
        ("a.png", "The file has the format PNG", "64 x 48 pixels"),
        ("a.wav", "The file has the format WAV", "sound in pcm_s16le"),
        ("a.pdf", "The file has the format PDF", "version 1.4; 1 page"),
    ],
)
def test_a_file_that_says_nothing_of_itself_is_named(name: str, title: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if name == "a.png":
        Image.new("RGB", (64, 48), (9, 80, 7)).save(path)
    elif name == "a.wav":
        wavfile.write(path, 8000, np.random.default_rng(0).integers(-900, 900, 8000).astype(np.int16))
    else:
        path.write_bytes(PDF)
    (plain,) = [f for f in judged(path) if f.claim.claim.startswith("The file has the format")]
    assert (plain.claim.claim, plain.severity, plain.claim.user_category) == (title, "benign", "origin")
    assert words in plain.claim.explanation and f"{path.stat().st_size} bytes" in plain.claim.explanation
    assert {"file.head", "file.size"} < {fact.key for fact in plain.facts}


def test_a_file_that_names_its_camera_is_not_described_as_well(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x010F], exif[0x0110] = "Canon", "Canon EOS 5D"
    Image.new("RGB", (64, 48)).save(tmp_path / "a.jpg", exif=exif)
    actual = [f.claim.claim for f in judged(tmp_path / "a.jpg")]
    assert "The file names the device that made it" in actual
    assert not [claim for claim in actual if claim.startswith("The file has the format")]
