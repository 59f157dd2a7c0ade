"""Make the small dataset: pictures and recordings that stand in for real and fake ones, computed from nothing.

    python -m forensix.small.make [FOLDER]

It is there to show and test the workbench without a download. No camera and no person was there, so ``real`` is a
stand-in: figures on these files say nothing about a detector.
"""

import csv
import sys
import wave
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.ndimage import gaussian_filter, zoom

from forensix.demo.media import RATE_HZ, synthesise
from forensix.perturb import audio

SIDE_PX = 256
CLIP_S = 2.5
SENTENCES = (
    "The old harbour was quiet in the morning, and nobody was on the water.",
    "Please leave the package with the neighbour on the second floor.",
    "There will be some rain in the north, and it stays dry in the south.",
)
VOICES = {"Female1": "female", "Male1": "male"}


def scene(rng: np.random.Generator, side_px: int) -> NDArray[Any]:
    """Return a smooth scene of hills and light, float (H, W, 3) in [0, 1]."""
    layers = [gaussian_filter(rng.normal(size=(side_px, side_px)), side_px / k) * side_px / k for k in (5, 12, 30, 70)]
    height = sum(layers)
    colours = [
        height + 0.6 * gaussian_filter(rng.normal(size=height.shape), side_px / 10) * side_px / 10 for _ in range(3)
    ]
    stacked = np.stack(colours, axis=2)
    low, high = np.quantile(stacked, [0.01, 0.99])
    return np.asarray(np.clip((stacked - low) / (high - low), 0, 1))


def photographed(rng: np.random.Generator) -> NDArray[Any]:
    """Return a scene as a camera gives it: a lens, one colour a pixel filled in from its neighbours, shot noise."""
    light = gaussian_filter(scene(rng, SIDE_PX), (0.7, 0.7, 0))
    light = np.clip(light + rng.normal(size=light.shape) * 0.02 * np.sqrt(light + 0.05), 0, 1)
    mosaic = np.zeros((3, 2, 2))
    mosaic[0, 0, 0] = mosaic[1, 0, 1] = mosaic[1, 1, 0] = mosaic[2, 1, 1] = 1
    masks = np.tile(mosaic, (1, SIDE_PX // 2, SIDE_PX // 2)).transpose(1, 2, 0)
    filled = gaussian_filter(light * masks, (1, 1, 0)) / np.maximum(gaussian_filter(masks, (1, 1, 0)), 1e-6)
    return np.asarray(np.where(masks > 0, light, filled))


def generated(rng: np.random.Generator) -> NDArray[Any]:
    """Return a scene as a generator gives it: made small and enlarged twice, which leaves a grid in its spectrum."""
    small = scene(rng, SIDE_PX // 4)
    for _ in range(2):
        small = zoom(small, (2, 2, 1), order=0)
        small = small + 0.5 * (small - gaussian_filter(small, (1, 1, 0)))
    return np.asarray(np.clip(small, 0, 1))


def make_images(folder: Path) -> Iterator[dict[str, str]]:
    """Write four pictures of each kind and yield their rows."""
    folder.mkdir(parents=True, exist_ok=True)
    for i in range(8):
        fake = i % 2 == 1
        rng = np.random.default_rng(i)
        rgb = (255 * (generated if fake else photographed)(rng)).round().astype(np.uint8)
        name = f"{'generated' if fake else 'photographed'}-{i // 2}.jpg"
        Image.fromarray(rgb).save(folder / name, quality=88)
        yield {
            "path": name,
            "label": "fake" if fake else "real",
            "split": "dev" if i < 4 else "test",
            "source": "computed scenes",
            "family": "upsampling" if fake else "",
            "generator": "enlarged twice" if fake else "",
            "group_id": f"scene-{i}",
        }


def make_voices(folder: Path) -> Iterator[dict[str, str]]:
    """Write three recordings of each kind and yield their rows."""
    folder.mkdir(parents=True, exist_ok=True)
    for i in range(6):
        fake = i % 2 == 1
        voice = list(VOICES)[(i // 2) % 2]
        speech = synthesise(SENTENCES[i // 2], voice).astype(np.float64) / 32768
        at = np.arange(int(CLIP_S * audio.SAMPLE_RATE_HZ)) * RATE_HZ / audio.SAMPLE_RATE_HZ
        smooth = gaussian_filter(speech, 0.8 * RATE_HZ / audio.SAMPLE_RATE_HZ)
        samples = np.interp(at, np.arange(smooth.size), smooth, right=0.0).astype(np.float32)
        samples *= np.float32(0.5 / max(float(np.abs(samples).max()), 1e-9))
        if not fake:
            rng = np.random.default_rng(i)
            samples = audio.reverberate(samples, rng, decay_s=0.3, direct_db=8.0)
            samples = audio.noise(samples, rng, snr_db=30.0, slope=1.0)
        name = f"{'synthetic' if fake else 'recorded'}-{i // 2}.wav"
        with wave.open(str(folder / name), "wb") as out:
            out.setnchannels(1)
            out.setsampwidth(2)
            out.setframerate(audio.SAMPLE_RATE_HZ)
            out.writeframes((np.clip(samples, -1, 1) * 32767).round().astype("<i2").tobytes())
        yield {
            "path": name,
            "label": "fake" if fake else "real",
            "split": "dev" if i < 4 else "test",
            "source": "computed speech",
            "family": "formant synthesis" if fake else "",
            "generator": "praat" if fake else "",
            "group_id": voice,
            "language": "en",
            "speaker": voice,
            "gender": VOICES[voice],
        }


def main(folder: Path) -> None:
    """Write both parts with a manifest each."""
    for name, make in (("images", make_images), ("voices", make_voices)):
        rows = list(make(folder / name))
        with (folder / name / "manifest.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
