"""Measure the reader of speech watermarks: false alarms on unmarked speech, and what a mark survives.

    python -m benchmarks.voice_watermark --corpora DIR --list voice.csv --repositories DIR

Clips of the corpora are read as they are, human and synthetic, and recordings of people in `voice_recordings`, piece by
piece. Sentences of learners of English go through what `voice_analysis` does with a voice: where one reads 0.99 or
more, it is told whether the mark decides. 60 human clips of ``dev`` are then marked by PerTh's own encoder and read
again after each degradation, and 60 synthetic ones go through `voice_analysis` as well. ``--parts`` names what is
printed: unmarked, learners, marked.
"""

import argparse
import io
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy.io import wavfile

import forensix
from benchmarks.forensic_pixels import interval
from benchmarks.voice_recordings import recordings, unlisted
from forensix.errors import ForensixError
from forensix.models import load_component
from forensix.perturb import audio
from forensix.tasks.voices import Voice, described, listen, sounds_recorded
from forensix.training.sources import read_list
from forensix.training.voice.real_voices import read_samples
from forensix.training.voice.watermark import mark
from forensix.voice import Segment, SpeakerTurns
from forensix.voice.phrases import phrases
from forensix.voice.speech import RATE_HZ, as_float, speech_segments
from forensix.voice.watermark import MARKED, PerthReader, perth

PARTS = ("unmarked", "learners", "marked")
LEARNERS = {"jimbozhang/speechocean762": r"WAVE/.*WAV$"}
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


def print_unmarked(reader: PerthReader, corpora: Path, repositories: Path, known: set[str]) -> None:
    """Print what is read in speech that carries no mark."""
    rows = pd.read_csv(corpora / "voice/manifest.csv", dtype=str)
    print("| speech | n | without a reading | 0.8 and more | 0.99 and more | highest |\n|---|---|---|---|---|---|")
    for label in ("real", "fake"):
        paths = rows[rows["label"] == label]["path"]
        unmarked(f"clips, {label}", [reader.reading(read_samples(corpora / "voice" / path)) for path in paths])
    unmarked("recordings, real", [highest(reader, data) for _, _, data in recordings(repositories, known)])


def with_mark(samples: np.ndarray, segments: Sequence[Segment], used: dict[str, Any]) -> list[Voice]:
    """Return the voices, mostly one, in which a mark is read, as `voice_analysis` has them of a single speaker."""
    if not segments or not used["voice_watermark"].read(samples, phrases(segments)):
        return []
    voices = listen(SpeakerTurns("speaker_1", segments), samples, used["spoof"])
    return [voice for voice in (described(one, samples, used) for one in voices) if voice.mark]


def print_learners(reader: PerthReader, repositories: Path, known: set[str]) -> None:
    """Print how many sentences of learners are read as marked, and how many are called synthetic for it."""
    used = {"voice_watermark": reader, "spoof": load_component("spoof", "forensix-spoof")}
    n_read, found = 0, list[Voice]()
    for _, _, data in unlisted(repositories, known, LEARNERS):
        samples = wavfile.read(io.BytesIO(data))[1]
        segments = speech_segments(samples)
        n_read += bool(segments and reader.pieces(phrases(segments)))
        found += with_mark(samples, segments, used)
    throughout = sum(voice.mark is not None and voice.mark.is_throughout for voice in found)
    recorded = sum(sounds_recorded(voice, used["spoof"]) for voice in found)
    print(f"| sentences with a reading | {n_read} |\n|---|---|")
    print(f"| 0.99 and more in a phrase | {interval(len(found), n_read)} |")
    print(f"| of these in 2 s and half of the speech | {throughout} of {len(found)} |")
    print(f"| of these the voice sounds recorded | {recorded} of {len(found)} |")
    print(f"| called synthetic for the mark | {interval(sum(voice.mark_decides for voice in found), n_read)} |")


def print_marked(reader: PerthReader, corpora: Path) -> None:
    """Print what is read of marked clips after each degradation."""
    rows = pd.read_csv(corpora / "voice/manifest.csv", dtype=str)
    people = rows[(rows["label"] == "real") & (rows["split"] == "dev")]["path"]
    clips = [as_float(read_samples(corpora / "voice" / path)) for path in sorted(people)[:N_MARKED]]
    marked = [mark(clip) for clip in clips]
    change_db = [10 * np.log10(np.mean((a - b) ** 2) / np.mean(a**2)) for a, b in zip(clips, marked, strict=True)]
    print(f"The mark is {-np.median(change_db):.0f} dB below the voice (median of {len(clips)} clips).\n")
    print("| after | 0.8 and more | 0.99 and more | median |\n|---|---|---|---|")
    for name, degrade in AFTER.items():
        rng = np.random.default_rng(0)
        readings = np.array([reader.reading(degrade(clip, rng)) or 0.0 for clip in marked])
        print(
            f"| {name} | {np.mean(readings >= 0.8):.2f} | {np.mean(readings >= MARKED):.2f} "
            f"| {np.median(readings):.2f} |"
        )
    used = {"voice_watermark": reader, "spoof": load_component("spoof", "forensix-spoof")}
    fakes = sorted(rows[(rows["label"] == "fake") & (rows["split"] == "dev")]["path"])
    chosen = fakes[:: len(fakes) // N_MARKED][:N_MARKED]
    clips = [mark(as_float(read_samples(corpora / "voice" / path))) for path in chosen]
    voices = [voice for clip in clips for voice in with_mark(clip, speech_segments(clip), used)]
    throughout = [voice for voice in voices if voice.mark is not None and voice.mark.is_throughout]
    recorded = sum(sounds_recorded(voice, used["spoof"]) for voice in throughout)
    print(f"\nOf {len(clips)} synthetic clips that are marked, {len(voices)} are read as marked.")
    print(f"In {len(throughout)} the mark lies in 2 s and half of the speech; {recorded} of these sound recorded, and")
    print(f"{sum(voice.mark_decides for voice in voices)} are called synthetic for the mark.")


def main() -> None:
    """Print the parts that are asked for."""
    parser = argparse.ArgumentParser(description="Measure the reader of speech watermarks.")
    parser.add_argument("--corpora", type=Path, required=True, help="folder that holds voice/manifest.csv")
    parser.add_argument("--list", type=Path, required=True, help="voice.csv, whose files are left out")
    parser.add_argument("--repositories", type=Path, required=True, help="folder of repositories, owner+name")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="what to print; all without it")
    arguments = parser.parse_args()
    corpora, repositories = arguments.corpora, arguments.repositories
    torch.set_num_threads(1)
    reader = perth()
    known = set(read_list(arguments.list)["blob"])
    print("# The watermark of speech\n")
    print("    python -m benchmarks.voice_watermark --corpora DIR --list voice.csv --repositories DIR")
    if "unmarked" in arguments.parts:
        print("\n## Speech that carries no mark\n")
        print_unmarked(reader, corpora, repositories, known)
    if "learners" in arguments.parts:
        print("\n## Sentences of learners of English that carry no mark\n", flush=True)
        print_learners(reader, repositories, known)
    if "marked" in arguments.parts:
        print(f"\n## {N_MARKED} marked clips\n")
        print_marked(reader, corpora)


if __name__ == "__main__":
    main()
