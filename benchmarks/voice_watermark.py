"""Measure the reader of speech watermarks: false alarms on unmarked speech, and what a mark survives.

    python -m benchmarks.voice_watermark --corpora DIR --list voice.csv --repositories DIR

Clips of the corpora are read as they are, human and synthetic, and recordings of people in `voice_recordings`, piece by
piece; 60 human ones of ``dev`` are then marked by PerTh's own encoder and read again after each degradation.
"""

import argparse
import io
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import torch

import forensix
from benchmarks.voice_recordings import recordings
from forensix.errors import ForensixError
from forensix.perturb import audio
from forensix.training.sources import read_list
from forensix.training.voice.real_voices import read_samples
from forensix.training.voice.watermark import mark
from forensix.voice.speech import RATE_HZ, as_float, speech_segments
from forensix.voice.watermark import MARKED, PerthReader, perth

N_MARKED = 60
CUT_S = 2


def _cut(x: np.ndarray, _: np.random.Generator) -> np.ndarray:
    start = max(0, (len(x) - CUT_S * RATE_HZ) // 2)
    return x[start : start + CUT_S * RATE_HZ]


def _mixed(x: np.ndarray, _: np.random.Generator) -> np.ndarray:
    """Let a hum and its echo run beside the voice, 10 dB below it."""
    t_s = np.arange(len(x)) / RATE_HZ
    hum = np.sin(2 * np.pi * 220 * t_s) + np.sin(2 * np.pi * 330 * t_s)
    return (x + 0.3 * hum * np.sqrt(np.mean(x**2))).astype(np.float32)


AFTER: dict[str, Callable[[np.ndarray, np.random.Generator], np.ndarray]] = {
    "nothing": lambda x, _: x,
    "a tenth of the level": lambda x, _: x * np.float32(0.1),
    f"{CUT_S} s out of the middle": _cut,
    "low pass at 3.4 kHz": partial(audio.low_pass, cutoff_hz=3400.0),
    "telephone": audio.telephone,
    "MP3 at 64 kbit/s": partial(audio.mp3, kbps=64),
    "MP3 at 32 kbit/s": partial(audio.mp3, kbps=32),
    "AAC at 32 kbit/s": partial(audio.aac, kbps=32),
    "Opus at 16 kbit/s": partial(audio.opus, kbps=16),
    "two tones 10 dB below": _mixed,
    "noise 20 dB below": partial(audio.noise, snr_db=20.0),
    "noise 10 dB below": partial(audio.noise, snr_db=10.0),
    "echoes of a room": audio.reverberate,
}


def highest(reader: PerthReader, data: bytes) -> float | None:
    """Return the highest reading among the pieces of a recording; nothing where there is none."""
    try:
        with forensix.open_media(io.BytesIO(data)) as media:
            samples = media.samples()
    except ForensixError:
        return None
    values = [reader.reading(piece.of(samples)) for piece in reader.pieces(speech_segments(samples))]
    return max((value for value in values if value is not None), default=None)


def unmarked(name: str, readings: Sequence[float | None]) -> None:
    """Print a row of the first table."""
    values = np.array([value for value in readings if value is not None])
    shares = f"{(values >= 0.8).sum()} | {(values >= MARKED).sum()} | {values.max():.2f}"
    print(f"| {name} | {len(readings)} | {len(readings) - len(values)} | {shares} |", flush=True)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description="Measure the reader of speech watermarks.")
    parser.add_argument("--corpora", type=Path, required=True, help="folder that holds voice/manifest.csv")
    parser.add_argument("--list", type=Path, required=True, help="voice.csv, whose files are left out")
    parser.add_argument("--repositories", type=Path, required=True, help="folder of repositories, owner+name")
    arguments = parser.parse_args()
    corpora = arguments.corpora
    torch.set_num_threads(1)
    reader = perth()
    rows = pd.read_csv(corpora / "voice/manifest.csv", dtype=str)
    print("# The watermark of speech\n")
    print("    python -m benchmarks.voice_watermark --corpora DIR --list voice.csv --repositories DIR\n")
    print(
        "## Speech that carries no mark\n\n| speech | n | without a reading | 0.8 and more | 0.99 and more | highest |"
    )
    print("|---|---|---|---|---|---|")
    for label in ("real", "fake"):
        paths = rows[rows["label"] == label]["path"]
        unmarked(f"clips, {label}", [reader.reading(read_samples(corpora / "voice" / path)) for path in paths])
    known = set(read_list(arguments.list)["blob"])
    unmarked("recordings, real", [highest(reader, data) for _, _, data in recordings(arguments.repositories, known)])
    people = rows[(rows["label"] == "real") & (rows["split"] == "dev")]["path"]
    clips = [as_float(read_samples(corpora / "voice" / path)) for path in sorted(people)[:N_MARKED]]
    marked = [mark(clip) for clip in clips]
    change_db = [10 * np.log10(np.mean((a - b) ** 2) / np.mean(a**2)) for a, b in zip(clips, marked, strict=True)]
    print(f"\nThe mark is {-np.median(change_db):.0f} dB below the voice (median of {len(clips)} clips).")
    print(f"\n## {len(clips)} marked clips\n\n| after | 0.8 and more | 0.99 and more | median |\n|---|---|---|---|")
    for name, degrade in AFTER.items():
        rng = np.random.default_rng(0)
        readings = np.array([reader.reading(degrade(clip, rng)) or 0.0 for clip in marked])
        print(
            f"| {name} | {np.mean(readings >= 0.8):.2f} | {np.mean(readings >= MARKED):.2f} "
            f"| {np.median(readings):.2f} |"
        )


if __name__ == "__main__":
    main()
