"""PerTh's mark: found where it was written, nowhere else, and never in silence."""

import numpy as np
import pytest

from forensix.errors import MissingExtra
from forensix.models import load_component
from forensix.voice import watermark
from forensix.voice.speech import Segment
from tests.voice.synthetic import syllables

RATE_HZ = 16000


@pytest.fixture(scope="module")
def reader() -> watermark.PerthReader:
    perth = watermark.available()
    if not isinstance(perth, watermark.PerthReader):
        pytest.skip("resemble-perth is not installed")
    return perth


def test_what_was_marked_is_found_and_what_was_not_is_not(reader: watermark.PerthReader) -> None:
    from forensix.training.voice.watermark import mark

    plain = syllables(140, 15)
    segments = (Segment(0, 3.0), Segment(3.0, 5.9))
    assert reader.read(plain, segments) is None
    mark_read = reader.read(mark(plain), segments)
    assert mark_read is not None and mark_read.name == "PerTh" and mark_read.reading >= watermark.MARKED
    assert mark_read.segments == segments


def test_a_marked_half_is_placed(reader: watermark.PerthReader) -> None:
    from forensix.training.voice.watermark import mark

    plain = syllables(140, 15)
    half = 3 * RATE_HZ
    samples = np.concatenate([plain[:half], mark(plain)[half:]])
    mark_read = reader.read(samples, (Segment(0, 3.0), Segment(3.0, 5.9)))
    assert mark_read is not None and mark_read.segments == (Segment(3.0, 5.9),)
    assert mark_read.read_s == pytest.approx(5.9) and not mark_read.is_throughout


@pytest.mark.parametrize(
    ("marked_s", "read_s", "is_throughout"), [(1.9, 1.9, False), (2.4, 2.4, True), (2.4, 6.0, False), (3.0, 6.0, True)]
)
def test_a_mark_needs_two_seconds_and_half_of_what_was_read(
    marked_s: float, read_s: float, is_throughout: bool
) -> None:
    assert watermark.Mark("PerTh", 1.0, (Segment(1.0, 1.0 + marked_s),), read_s).is_throughout is is_throughout


@pytest.mark.parametrize(
    "samples", [np.zeros(RATE_HZ, np.int16), np.full(RATE_HZ, np.nan, np.float32), np.full(RATE_HZ, 9000, np.int16)]
)
def test_silence_has_no_reading(reader: watermark.PerthReader, samples: np.ndarray) -> None:
    assert reader.reading(samples) is None


def test_without_the_wheel_the_command_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watermark, "of_package", lambda *_: None)
    watermark.perth.cache_clear()
    with pytest.raises(MissingExtra, match=r"forensix\[watermark\]"):
        watermark.perth()
    assert watermark.available().read(syllables(140, 5), (Segment(0, 2),)) is None


def test_the_slot_names_its_reader() -> None:
    assert load_component("voice_watermark", "available").name in {"perth", "none"}
