"""Memory stays flat: what a longer file costs is time and disk, in this process and in the child."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.making import tone, write_audio, write_video

ROOT = Path(__file__).parents[2]
MEASURE = """
import resource, sys
from forensix.media import open_media
from forensix.media.template import TEMPLATE
with open_media(sys.argv[1]) as media:
    if media.kind == "audio":
        total = len(media.samples())
    else:
        total = sum(frame.rgb.nbytes for frame in media.frames())
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
if sys.platform == "linux":
    # There the other figure includes what the process that started this one had.
    peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
TEMPLATE.close()
print(total, peak, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
UNIT = 1024 if sys.platform == "linux" else 1


def _peaks_mb(path: Path) -> tuple[float, float, int]:
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(path)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    total, parent, child = map(int, done.stdout.split())
    return parent * UNIT / 1024**2, child * UNIT / 1024**2, total


@pytest.mark.slow
def test_audio_of_five_minutes_costs_no_more_than_ten_seconds(tmp_path: Path) -> None:
    short = _peaks_mb(write_audio(tmp_path / "s.flac", tone(10)))
    long = _peaks_mb(write_audio(tmp_path / "l.flac", tone(300)))
    assert long[2] == 30 * short[2]
    assert long[0] - short[0] < 15
    assert long[1] - short[1] < 25


@pytest.mark.slow
def test_a_longer_video_costs_no_more(tmp_path: Path) -> None:
    flat = np.full((240, 320, 3), 99, np.uint8)
    options = {"preset": "ultrafast"}
    short = _peaks_mb(write_video(tmp_path / "s.mp4", 50, paint=lambda _: flat, options=options))
    long = _peaks_mb(write_video(tmp_path / "l.mp4", 600, paint=lambda _: flat, options=options))
    # The frames together are over 100 MB; none may be kept.
    assert long[2] > 100 * 1024**2
    assert long[0] - short[0] < 30
    assert long[1] - short[1] < 30
