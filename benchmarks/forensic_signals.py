"""Measure the claims on decoded sound and on frames of videos: what is found, and what is raised falsely.

    python -m benchmarks.forensic_signals --corpora FOLDER

Sound: human clips of ``FOLDER/voice`` (dev split, at least 2.5 s, 16 kHz). As they are; encoded as AAC, decoded and
kept without loss, cut at the front by any number of samples; two of those joined. What was tried and is not claimed:
the distance between the spectra of the noise floor before and after a point, on the first half of one clip joined to
the second half of another from another collection; its threshold is that of 4 % of the train split's clips.

Video: the videos of ``FOLDER/faces``, at most 150 frames, halved so that no trace of their own encoding stays, encoded
once or twice by three encoders; with three frames doubled; with ten frames left out and their times kept.
"""

import argparse
import random
import tempfile
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import numpy as np
from PIL import Image
from scipy import signal

from benchmarks.forensic_pixels import interval
from forensix.forensics.rules import audio, video
from forensix.manifest import Manifest
from forensix.metadata.av import aac_grid, video_frames
from forensix.metadata.av import streams as video_streams
from forensix.metadata.av.collector import FactCollector
from forensix.metadata.facts import Fact, Facts

RESULTS = Path(__file__).parent / "results" / "forensic_signals.md"
RATE_HZ = 16_000
RATES_BPS = (24_000, 32_000, 48_000, 64_000)
FRAMES = 150
PRESENT: dict[str, dict[str, Any]] = {
    "x264": {"codec": "libx264", "options": {"crf": "23"}},
    "x264 without B frames": {"codec": "libx264", "options": {"crf": "23", "bf": "0"}},
    "mpeg4": {"codec": "mpeg4", "options": {"g": "250", "b": "2000000"}},
}
FORMER: dict[str, dict[str, Any]] = {
    "mpeg4, groups of 12": {"codec": "mpeg4", "options": {"g": "12", "b": "1500000"}},
    "x264, groups of 30": {
        "codec": "libx264", "options": {"crf": "23", "g": "30", "keyint_min": "30", "sc_threshold": "0"},
    },
    "x264 without B frames, groups of 25": {
        "codec": "libx264", "options": {"crf": "26", "g": "25", "keyint_min": "25", "sc_threshold": "0", "bf": "0"},
    },
}  # fmt: skip


def clips(corpora: Path, split: str) -> list[tuple[str, np.ndarray]]:
    """Return collection and float32 samples of human clips of at least 2.5 s, at one loudness."""
    pairs = []
    rows = Manifest.read(corpora / "voice" / "manifest.csv").where(split=split, label="real").table
    for row in rows.itertuples():
        with av.open(str(corpora / "voice" / row.path)) as opened:
            parts = [frame.to_ndarray().mean(axis=0) for frame in opened.decode(opened.streams.audio[0])]
        samples = np.concatenate(parts).astype(np.float32)
        if len(samples) >= 2.5 * RATE_HZ and samples.any():
            pairs.append((row.source_repo, samples * (0.1 / np.sqrt((samples**2).mean()))))
    return pairs


def through_aac(samples: np.ndarray, rate_bps: int, path: Path) -> np.ndarray:
    """Encode float samples as AAC and return the decoded ones, rounded to 16 bits."""
    pcm = (samples * 32767).clip(-32767, 32767).astype(np.int16)
    with av.open(str(path), "w") as output:
        stream = output.add_stream("aac", rate=RATE_HZ)
        stream.layout, stream.bit_rate = "mono", rate_bps
        for at in range(0, len(pcm), 1024):
            part = (pcm[at : at + 1024] / np.float32(32768))[None]
            frame = av.AudioFrame.from_ndarray(part, format="fltp", layout="mono")
            frame.sample_rate, frame.pts, frame.time_base = RATE_HZ, at, Fraction(1, RATE_HZ)
            output.mux(stream.encode(frame))
        output.mux(stream.encode(None))
    with av.open(str(path)) as opened:
        parts = [frame.to_ndarray()[0] for frame in opened.decode(opened.streams.audio[0])]
    return np.rint(np.concatenate(parts) * 32767).astype(np.float32) / 32767


def verdicts(samples: np.ndarray) -> tuple[bool, bool]:
    """Return whether sound is said to have been AAC before, and to have been cut or joined."""
    grid = aac_grid.stretches(samples, RATE_HZ)
    facts = (Fact("signal.rate_hz", RATE_HZ, ""), Fact("signal.seconds", len(samples) / RATE_HZ, ""))
    names = [f.claim.claim for f in audio.signal(Facts("audio", "wav", (*facts, Fact("signal.grid", grid, ""))))]
    return any("was AAC" in n for n in names), any("cut or joined" in n for n in names)


def sounds(corpora: Path, every: int) -> list[str]:
    """Return the tables of sound."""
    chosen, rng = clips(corpora, "dev")[::every], random.Random(1)
    raised = [verdicts(samples) for _, samples in chosen]
    lines = [
        "## Sound that was AAC before, and joins of it",
        "",
        "| sound | said to have been AAC | said to have been cut or joined |",
        "|---|---|---|",
        f"| clips as they are | {_share(r[0] for r in raised)} | {_share(r[1] for r in raised)} |",
    ]
    with tempfile.TemporaryDirectory() as folder:
        for rate in RATES_BPS:
            once = [through_aac(s, rate, Path(folder) / "a.m4a")[rng.randrange(3000) :] for _, s in chosen]
            alone = [verdicts(s) for s in once]
            joined = [verdicts(np.concatenate([s, rng.choice(once)[rng.randrange(1, 1024) :]])) for s in once]
            for name, row in (("one recording", alone), ("two joined", joined)):
                cells = " | ".join(_share(r[i] for r in row) for i in (0, 1))
                lines.append(f"| AAC at {rate // 1000} kbit/s, {name} | {cells} |")
    limit = float(np.percentile([floor_distance(s) for _, s in clips(corpora, "train")], 96))
    pairs = [(a, rng.choice([b for name, b in chosen if name != collection])) for collection, a in chosen]
    pasted = [np.concatenate([a[: len(a) // 2], b[len(b) // 2 :]]) for a, b in pairs]
    return [
        *lines,
        "",
        "Tried and not claimed, the distance of noise floors: raised on "
        f"{_share(floor_distance(s) > limit for _, s in chosen)} of the clips as they are, on "
        f"{_share(floor_distance(s) > limit for s in pasted)} of those that were joined from two.",
        "",
    ]


def floor_distance(samples: np.ndarray) -> float:
    """Return the largest mean distance in dB of noise-floor spectra before and after a point."""
    edges = np.unique(np.geomspace(3, 257, 26).round().astype(int))
    power = np.abs(signal.stft(samples, RATE_HZ, nperseg=512, noverlap=256, boundary=None, padded=False)[2]) ** 2
    bands = 10 * np.log10(np.stack([power[a:b].mean(0) for a, b in pairwise(edges)]) + 1e-10)
    side = RATE_HZ // 256
    gaps = [
        np.abs(np.subtract(*(np.percentile(part, 10, axis=1) for part in (bands[:, :at], bands[:, at:])))).mean()
        for at in range(side, bands.shape[1] - side, 4)
    ]
    return float(max(gaps, default=0.0))


def frames_of(path: Path, halved: bool) -> list[np.ndarray]:
    """Return the first frames as uint8 (H, W, 3) of even sides."""
    frames = []
    with av.open(str(path)) as opened:
        for frame in opened.decode(opened.streams.video[0]):
            image = frame.to_image()
            image = image.reduce(2) if halved else image
            frames.append(np.asarray(image.crop((0, 0, image.width // 2 * 2, image.height // 2 * 2))))
            if len(frames) == FRAMES:
                break
    return frames


def write(path: Path, frames: list[np.ndarray], encoder: dict[str, Any], times: list[int] | None = None) -> None:
    """Encode frames at 25 a second, at ``times`` in frames where they are given."""
    with av.open(str(path), "w") as output:
        stream: Any = output.add_stream(encoder["codec"], rate=25)
        stream.height, stream.width = frames[0].shape[:2]
        stream.pix_fmt, stream.options = "yuv420p", encoder["options"]
        for i, rgb in enumerate(frames):
            frame = av.VideoFrame.from_image(Image.fromarray(rgb))
            frame.pts, frame.time_base = times[i] if times else i, Fraction(1, 25)
            output.mux(stream.encode(frame))
        output.mux(stream.encode(None))


def claims_of(path: Path) -> set[str]:
    """Return which of the measured claims a video gets."""
    collector = FactCollector()
    video_streams.packets(str(path), "bmff", collector)
    video_frames.read(str(path), "bmff", collector)
    names = [f.claim.claim for f in video.rules(Facts("video", "mp4", tuple(collector.items)))]
    words = {
        "before": "encoded before",
        "doubled": "doubled",
        "near": "hardly differ",
        "missing": "no frames for a while",
    }
    return {key for key, word in words.items() if any(word in name for name in names)}


def one_video(path: Path) -> list[tuple[str, str, set[str]]]:
    """Return what is claimed of one video after each change: the change, the encoder and the claims."""
    frames, rng, rows = frames_of(path, True), random.Random(path.name), []
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder) / "first.mp4", Path(folder) / "second.mp4"
        rows.append(("as it is", "its own", claims_of(path)))
        for name, encoder in PRESENT.items():
            write(second, frames, encoder)
            rows.append(("encoded once", name, claims_of(second)))
            for former, settings in FORMER.items():
                write(first, frames, settings)
                write(second, frames_of(first, False), encoder)
                rows.append((former, name, claims_of(second)))
            places = sorted(rng.sample(range(10, len(frames) - 10), 3))
            write(second, [f for i, f in enumerate(frames) for _ in range(2 if i in places else 1)], encoder)
            rows.append(("three frames doubled", name, claims_of(second)))
            cut = rng.randrange(15, len(frames) - 25)
            times = [i for i in range(len(frames)) if not cut <= i < cut + 10]
            write(second, [frames[i] for i in times], encoder, times)
            rows.append(("ten frames left out, times kept", name, claims_of(second)))
    return rows


def videos(corpora: Path, every: int, pool: ProcessPoolExecutor) -> list[str]:
    """Return the table of videos."""
    paths = Manifest.read(corpora / "faces" / "manifest.csv").where(split="dev", kind="video").paths()[::every]
    counts: dict[tuple[str, str], list[set[str]]] = defaultdict(list)
    for part in pool.map(one_video, paths):
        for change, encoder, keys_found in part:
            counts[change, encoder].append(keys_found)
    lines = [
        "## Videos",
        "",
        "| change | present encoder | said to have been encoded before | frames doubled or nearly | frames missing |",
        "|---|---|---|---|---|",
    ]
    for (change, encoder), keys_found in counts.items():
        cells = [_share(bool(f & keys) for f in keys_found) for keys in ({"before"}, {"doubled", "near"}, {"missing"})]
        lines.append(f"| {change} | {encoder} | {' | '.join(cells)} |")
    return [*lines, ""]


def _share(hits: Any) -> str:
    known = [bool(h) for h in hits]
    return interval(sum(known), len(known))


def main() -> None:
    """Measure and write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--every", type=int, default=1, help="take each n-th clip and video only")
    chosen = parser.parse_args()
    with ProcessPoolExecutor(chosen.processes) as pool:
        sound = pool.submit(sounds, chosen.corpora, chosen.every)
        cells = videos(chosen.corpora, chosen.every, pool)
        lines = [
            "# Claims on sound and on frames",
            "",
            "Made by `python -m benchmarks.forensic_signals --corpora ../shared/corpora "
            f"--every {chosen.every}` (its docstring says what is made). Shares with 95 % Wilson intervals.",
            "",
            *sound.result(),
            *cells,
        ]
    chosen.output.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
