"""Train the embedding that tells speakers apart, and measure its threshold.

    python -m forensix.training.speakers --corpora DIR --repositories DIR

The projection is learned by linear discriminant analysis on windows of training voices whose speakers are known. The
threshold is chosen on conversations put together from speakers that the projection has not seen (a quarter of
LibriSpeech's) and on recordings of one of them alone: the one with the fewest wrongly attributed seconds among those
that leave at least 95 % of the lone speakers whole. Then the projection is learned again from all of them. AMI's
meetings are left for the benchmark. Writes ``forensix/voice/speakers.json``.
"""

import argparse
import json
import random
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from forensix.training.voices import Voice, fingerprint, real_voices, samples_of
from forensix.voice import speakers
from forensix.voice.speech import RATE_HZ, Segment, speech_segments

TARGET = Path(speakers.__file__).with_name("speakers.json")
N_DIMENSIONS = 12
CLIP_S = 12.0
PER_COLLECTION = 220
SEED = 0
THRESHOLDS = np.round(np.arange(0.3, 1.31, 0.05), 2)
LEAST_WHOLE = 0.95


@dataclass(frozen=True)
class Conversation:
    """Samples, where there is speech, and who speaks in each of these segments."""

    samples: NDArray[np.int16]
    segments: tuple[Segment, ...]
    truth: tuple[str, ...]


def converse(clips: Sequence[tuple[str, NDArray[np.int16]]], *, turn_s: tuple[float, float], seed: int) -> Conversation:
    """Let the speakers of some clips take turns until the clips are used up, with pauses of 0.3 s."""
    draw = random.Random(seed)
    left = {speaker: samples for speaker, samples in clips}
    parts: list[NDArray[np.int16]] = []
    spans: list[tuple[Segment, str]] = []
    at_s = 0.0
    while left:
        for speaker in list(left):
            n = round(draw.uniform(*turn_s) * RATE_HZ)
            turn, rest = left[speaker][:n], left[speaker][n:]
            if len(turn) >= RATE_HZ:
                spans.append((Segment(at_s, at_s + len(turn) / RATE_HZ), speaker))
                parts += [turn, np.zeros(round(0.3 * RATE_HZ), np.int16)]
                at_s += len(turn) / RATE_HZ + 0.3
            if len(rest) < RATE_HZ:
                del left[speaker]
            else:
                left[speaker] = rest
    samples = np.concatenate(parts)
    segments = speech_segments(samples)
    middles = [(s.start_s + s.end_s) / 2 for s in segments]
    truth = tuple(min(spans, key=lambda span: abs((span[0].start_s + span[0].end_s) / 2 - m))[1] for m in middles)
    return Conversation(samples, segments, truth)


def confusion(
    truth: Sequence[tuple[Segment, str]], found: Sequence[tuple[Segment, str]], step_s: float = 0.01
) -> float:
    """Return the share of commonly claimed speech whose speaker is wrong under the best naming, 0 to 1."""
    from scipy.optimize import linear_sum_assignment

    n = 1 + round(max(s.end_s for s, _ in (*truth, *found)) / step_s)
    lines = []
    for turns in (truth, found):
        names = sorted({speaker for _, speaker in turns})
        line = np.full(n, -1)
        for s, speaker in turns:
            line[round(s.start_s / step_s) : round(s.end_s / step_s)] = names.index(speaker)
        lines.append(line)
    both = (lines[0] >= 0) & (lines[1] >= 0)
    table = np.zeros((lines[0].max() + 1, lines[1].max() + 1))
    np.add.at(table, (lines[0][both], lines[1][both]), 1)
    right = table[linear_sum_assignment(-table)].sum()
    return float(1 - right / max(1, both.sum()))


def windowed(voices: Sequence[Voice]) -> tuple[NDArray[np.float64], NDArray[np.str_]]:
    """Return the statistics of windows of voices and whose they are."""
    rows, names = [], []
    for voice in voices:
        samples = samples_of(voice, at_most_s=CLIP_S)
        windows = speakers.windows_of(speech_segments(samples))
        if windows:
            rows.append(speakers.statistics(samples, windows))
            names += [f"{voice.collection} {voice.speaker}"] * len(windows)
    return np.concatenate(rows), np.array(names)


def project(rows: NDArray[np.float64], names: NDArray[np.str_], threshold: float) -> speakers.Embedding:
    """Learn the projection."""
    mean = np.nanmean(rows, axis=0)
    lda = LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto", n_components=N_DIMENSIONS)
    known = np.isin(names, [name for name, n in Counter(names.tolist()).items() if n > 1])
    lda.fit(np.nan_to_num(rows - mean)[known], names[known])
    return speakers.Embedding(mean, lda.scalings_[:, :N_DIMENSIONS], threshold)


def _held_out(voice: Voice) -> bool:
    return voice.collection == "LibriSpeech" and zlib.crc32(str(voice.speaker).encode()) % 4 == 0


def choose_threshold(model: speakers.Embedding, voices: Sequence[Voice]) -> tuple[float, list[dict[str, float]]]:
    """Try all thresholds on conversations and lone speakers; return the best and the table."""
    clips: dict[str, NDArray[np.int16]] = {}
    for voice in voices:
        clips.setdefault(str(voice.speaker), samples_of(voice, at_most_s=CLIP_S))
    names = sorted(name for name, samples in clips.items() if len(samples) >= 8 * RATE_HZ)
    random.Random(SEED).shuffle(names)
    pairs = [(names[i], names[i + 1]) for i in range(0, len(names) - 1, 2)]
    talks = [converse([(a, clips[a]), (b, clips[b])], turn_s=(2, 6), seed=i) for i, (a, b) in enumerate(pairs)]
    alone = [converse([(a, clips[a])], turn_s=(2, 6), seed=i) for i, a in enumerate(names)]
    prepared = [(talk, speakers.prepare(talk.samples, talk.segments, model)) for talk in (*talks, *alone)]
    table = []
    for threshold in THRESHOLDS:
        wrong, right_number, whole = [], [], []
        for talk, ready in prepared:
            found = speakers.group(ready, talk.segments, float(threshold))
            if len(set(talk.truth)) == 1:
                whole.append(len(found) == 1)
            else:
                truth = list(zip(talk.segments, talk.truth, strict=True))
                wrong.append(confusion(truth, [(s, f.speaker) for f in found for s in f.segments]))
                right_number.append(len(found) == 2)
        table.append(
            {
                "threshold": float(threshold),
                "confusion": float(np.mean(wrong)),
                "two_found": float(np.mean(right_number)),
                "lone_whole": float(np.mean(whole)),
            }
        )
    safe = [row for row in table if row["lone_whole"] >= LEAST_WHOLE]
    return min(safe, key=lambda row: row["confusion"])["threshold"], table


def main(arguments: Sequence[str] | None = None) -> None:
    """Learn, choose, write."""
    parser = argparse.ArgumentParser(description="Train the embedding that tells speakers apart.")
    parser.add_argument("--corpora", type=Path, required=True, help="folder that holds voice/manifest.csv")
    parser.add_argument("--repositories", type=Path, help="folder with one folder <owner>+<name> a repository")
    parser.add_argument("--output", type=Path, default=TARGET)
    options = parser.parse_args(arguments)
    voices = real_voices(options.corpora, options.repositories, per_collection=PER_COLLECTION, seed=SEED)
    voices = [v for v in voices if v.speaker is not None and v.collection != "AMI"]
    held_out = [v for v in voices if _held_out(v)]
    rows, names = windowed([v for v in voices if not _held_out(v)])
    threshold, table = choose_threshold(project(rows, names, 0.0), held_out)
    for row in table:
        print("  ".join(f"{key} {value:.3f}" for key, value in row.items()))
    more_rows, more_names = windowed(held_out)
    model = project(np.concatenate([rows, more_rows]), np.concatenate([names, more_names]), threshold)
    record = {
        "about": "Discriminant projection of 61 statistics of 1.5 s of speech, and the distance that parts two voices.",
        "command": "python -m forensix.training.speakers --corpora DIR --repositories DIR",
        "inputs_sha256": fingerprint(voices),
        "seed": SEED,
        "speakers": len({(v.collection, v.speaker) for v in voices}),
        "threshold": threshold,
        "mean": [float(f"{x:.6g}") for x in model.mean],
        "projection": [[float(f"{x:.6g}") for x in row] for row in model.projection],
    }
    options.output.write_text(json.dumps(record, separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"threshold {threshold}, written to {options.output.name}")


if __name__ == "__main__":
    main()
