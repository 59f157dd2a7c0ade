"""Measure how synthetic sentences in real recordings are found and placed.

    python benchmarks/voice_inserted.py --corpora DIR > benchmarks/results/voice_inserted.md

From the corpora's dev rows, none of which the detector was trained on: real recordings of 20 to 30 s are clips of one
person (or, where a source has fewer, of one source) one after the other, and a synthetic clip, of the same speaker
where there is one, is put in at a pause, cut to at most 1, 2, 3 or 4 s, or two of them after each other. Pieces and
surroundings are levelled alike and go through the same code. A real and a synthetic speaker take turns in one
recording; of two real ones, one or both come through a degradation. Nothing here was used to choose a number; the
thresholds were set on other sources (see `--choose`).

    python benchmarks/voice_inserted.py --choose --sources voice.csv --repositories DIR

prints the same tables on ``dev`` rows of a list of public files instead.
"""

import argparse
import io
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import numpy as np
import pandas as pd
import torch

from forensix.errors import InputNotFound
from forensix.metrics import auc, eer
from forensix.models import load_component
from forensix.tasks.verdicts import class_of, is_inconclusive, pooled, threshold_of
from forensix.training.sources import Repositories, read_list
from forensix.training.voice.measure import CLEAN, CONDITIONS, degraded
from forensix.training.voice.mixtures import Clip, Conditions, Samples, clip_of, mix
from forensix.training.voice.real_voices import read_samples
from forensix.voice.phrases import inserted, phrases
from forensix.voice.speakers import diarise
from forensix.voice.speech import RATE_HZ, Segment, speech_segments

PIECES: dict[str, tuple[int, float]] = {
    "1 s": (1, 1.0),
    "2 s": (1, 2.0),
    "3 s": (1, 3.0),
    "4 s": (1, 4.0),
    "two sentences": (2, 4.0),
}
AROUND_S = (20.0, 30.0)
N_RECORDINGS = 24


@dataclass(frozen=True)
class Speech:
    """Clips of people by group (a speaker, or a source), and synthetic clips by group."""

    real: Mapping[str, Sequence[Clip]]
    fake: Mapping[str, Sequence[Clip]]


def insert(around: Sequence[Clip], piece: Clip, *, after: int) -> tuple[Samples, Segment]:
    """Put a piece after the first ``after`` clips of a speaker; return the recording and where the piece lies."""
    pause = np.zeros(round(0.3 * RATE_HZ), np.float32)
    parts: list[Samples] = [pause]
    for i, clip in enumerate(around):
        if i == after:
            start = sum(map(len, parts))
            parts += [piece.samples, pause]
        parts += [clip.samples, pause]
    if after >= len(around):
        start = sum(map(len, parts))
        parts += [piece.samples, pause]
    return np.concatenate(parts), Segment(start / RATE_HZ, (start + len(piece.samples)) / RATE_HZ)


def of_corpora(corpora: Path) -> Speech:
    rows = pd.read_csv(corpora / "voice/manifest.csv", dtype=str)
    rows = rows[rows["split"] == "dev"]
    groups: dict[str, dict[str, list[Clip]]] = {"real": {}, "fake": {}}
    for row in rows.to_dict("records"):
        speaker = row["speaker"] if isinstance(row["speaker"], str) else row["source_repo"]
        group = speaker if speaker == "LJSpeech" else row["source_repo"]
        if clip := clip_of(speaker, read_samples(corpora / "voice" / row["path"])):
            groups[row["label"]].setdefault(group, []).append(clip)
    return Speech(**groups)


def of_list(path: Path, repositories: Path) -> Speech:
    groups: dict[str, dict[str, list[Clip]]] = {"real": {}, "fake": {}}
    rows = read_list(path, split="dev")
    rows = rows.groupby(["repo", "label"], group_keys=False).head(60)
    with Repositories(repositories) as files:
        for row in rows.to_dict("records"):
            try:
                data = files.read(row["repo"], row["path"], blob=row["blob"], ref=row["ref"])
                clip = clip_of(row["repo"], decoded(data))
            except (InputNotFound, av.FFmpegError):
                continue
            if clip:
                groups[row["label"]].setdefault(row["repo"], []).append(clip)
    return Speech(**groups)


def decoded(data: bytes) -> np.ndarray:
    parts: list[np.ndarray] = []
    with av.open(io.BytesIO(data)) as container:
        resampler = av.AudioResampler("s16", "mono", RATE_HZ)
        for frame in container.decode(audio=0):
            parts += [f.to_ndarray()[0] for f in resampler.resample(frame)]
            if sum(map(len, parts)) > 10 * RATE_HZ:
                break
    return np.concatenate(parts)


def recordings(speech: Speech, n_pieces: int, piece_s: float) -> Iterator[tuple[np.ndarray, Segment | None]]:
    """Yield recordings with where the synthetic piece lies; without one where ``n_pieces`` is 0."""
    groups = sorted(g for g, clips in speech.real.items() if sum(len(c.samples) for c in clips) > 12 * RATE_HZ)
    for i in range(N_RECORDINGS):
        draw = random.Random(i)
        group = groups[i % len(groups)]
        clips = draw.sample(list(speech.real[group]), len(speech.real[group]))
        around: list[Clip] = []
        least_s = draw.uniform(*AROUND_S)
        while sum(len(c.samples) for c in around) < least_s * RATE_HZ and len(around) < len(clips):
            around.append(clips[len(around)])
        if not n_pieces:
            yield insert(around[1:], around[0], after=0)[0], None
            continue
        own, anybodys = list(speech.fake.get(group, ())), [c for some in speech.fake.values() for c in some]
        own, anybodys = ([c for c in some if len(c.samples) >= 0.75 * piece_s * RATE_HZ] for some in (own, anybodys))
        chosen = draw.sample(own if len(own) >= n_pieces else anybodys, n_pieces)
        x = np.concatenate([c.samples[: round(piece_s * RATE_HZ)] for c in chosen])
        piece = Clip(group, x, ())
        yield insert(around, piece, after=draw.randint(1, max(1, len(around) - 1)))


def overlap(a: Segment, b: Segment) -> float:
    """Return the share of both that is common to both."""
    common = max(0.0, min(a.end_s, b.end_s) - max(a.start_s, b.start_s))
    return common / (a.duration_s + b.duration_s - common)


def listen(samples: np.ndarray, spoof: Any) -> tuple[tuple[Segment, ...], list[float]]:
    pieces = phrases(speech_segments(samples))
    return pieces, [float(spoof.score(phrase.of(samples))) for phrase in pieces]


@dataclass(frozen=True)
class Conversation:
    """What became of a conversation of a real and a synthetic speaker."""

    n_speakers: int
    diarised: Mapping[str, str]
    """Verdict of ``real`` and ``fake`` from the turns that the diariser gave; a speaker whom it did not find: none."""
    known: Mapping[str, str]
    """The same from the true turns."""


def verdict(samples: np.ndarray, turns: Sequence[Segment], spoof: Any) -> tuple[float, str]:
    pieces = phrases(turns)
    score = pooled([spoof.score(p.of(samples)) for p in pieces], [p.duration_s for p in pieces])
    if is_inconclusive(score, spoof):
        return score, "undecided"
    return score, class_of(score, spoof)


def two_voices(speech: Speech, spoof: Any) -> Iterator[Conversation]:
    """Yield what became of each conversation; a speaker that was found is the one who says most of what it was given.

    Of several that stand for one person the highest score counts.
    """
    people, machines = _by_speaker(speech.real), _by_speaker(speech.fake)
    for i in range(N_RECORDINGS):
        draw = random.Random(i)
        real = draw.choice(sorted(people))
        fake = draw.choice(sorted(set(machines) - {real}))
        clips = [Clip("real", c.samples, c.segments) for c in draw.sample(people[real], 4)]
        clips += [Clip("fake", c.samples, c.segments) for c in draw.sample(machines[fake], 4)]
        talk = mix(clips, Conditions(), seed=i)
        turns = {who: [s for s, w in talk.turns if w == who] for who in ("real", "fake")}
        verdicts: dict[str, tuple[float, str]] = {}
        diarised = diarise(talk.samples, speech_segments(talk.samples))
        for one in diarised:
            who = max(turns, key=lambda name: _common_s(one.segments, turns[name]))
            verdicts[who] = max(verdicts.get(who, (-1.0, "")), verdict(talk.samples, one.segments, spoof))
        known = {who: verdict(talk.samples, own, spoof)[1] for who, own in turns.items()}
        yield Conversation(len(diarised), {who: said for who, (_, said) in verdicts.items()}, known)


def print_two_voices(conversations: Sequence[Conversation]) -> None:
    print(f"\n## A real and a synthetic speaker in one recording, {len(conversations)} of them\n")
    two = np.mean([one.n_speakers == 2 for one in conversations])
    print(
        f"The diariser finds two speakers in {two:.2f}. Right is a real speaker not"
        " called fake and a synthetic one called fake; both right also needs two speakers found.\n"
    )
    print("| turns | speaker | called real | undecided | called fake | not found | both right |")
    print("|---|---|---|---|---|---|---|")
    rows = {
        "by the diariser": [(one.diarised, one.n_speakers == 2) for one in conversations],
        "the true ones": [(one.known, True) for one in conversations],
    }
    for name, row in rows.items():
        right = [two and said.get("real") in ("real", "undecided") and said.get("fake") == "fake" for said, two in row]
        for who in ("real", "fake"):
            shares = [np.mean([one.get(who) == said for one, _ in row]) for said in ("real", "undecided", "fake", None)]
            cells = " | ".join(f"{share:.2f}" for share in shares)
            print(f"| {name} | {'real' if who == 'real' else 'synthetic'} | {cells} | {np.mean(right):.2f} |")


def print_people(speech: Speech, spoof: Any) -> None:
    """Print how often one of two people is called fake, where one of them or both come through a degradation."""
    people = _by_speaker(speech.real, least=2)
    score: dict[str, list[float]] = {}
    for condition in (CLEAN, *CONDITIONS):
        score[condition] = []
        for clips in people.values():
            heard = [float(spoof.score(degraded(clip.samples, condition))) for clip in clips]
            score[condition].append(pooled(heard, [len(clip.samples) / RATE_HZ for clip in clips]))
    n = len(people)
    print(f"\n## Two people in one recording: all pairs of {n}, by their true turns\n")
    print("| degradation | pairs | one called fake, both through it | one called fake, one through it |")
    print("|---|---|---|---|")
    for condition in (CLEAN, *CONDITIONS):
        shares = []
        for others in (score[condition], score[CLEAN]):
            pairs = [max(score[condition][i], others[j]) for i in range(n) for j in range(n) if i != j]
            shares.append(np.mean([class_of(highest, spoof) == "fake" for highest in pairs]))
        print(f"| {condition} | {n * (n - 1)} | {shares[0]:.3f} | {shares[1]:.3f} |", flush=True)


def _by_speaker(groups: Mapping[str, Sequence[Clip]], least: int = 4) -> dict[str, list[Clip]]:
    """Return the clips of those who have a name and so many clips."""
    by_name: dict[str, list[Clip]] = {}
    for clip in (clip for clips in groups.values() for clip in clips if "/" not in clip.speaker):
        by_name.setdefault(clip.speaker, []).append(clip)
    return {name: clips for name, clips in by_name.items() if len(clips) >= least}


def _common_s(a: Sequence[Segment], b: Sequence[Segment]) -> float:
    return sum(max(0.0, min(x.end_s, y.end_s) - max(x.start_s, y.start_s)) for x in a for y in b)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="Measure how inserted synthetic sentences are found.")
    parser.add_argument("--corpora", type=Path, help="folder that holds voice/manifest.csv")
    parser.add_argument("--choose", action="store_true", help="use the dev rows of a list of public files instead")
    parser.add_argument("--sources", type=Path, help="the list")
    parser.add_argument("--repositories", type=Path, help="folder with one folder <owner>+<name> a repository")
    parser.add_argument("--spoof", default="forensix-spoof")
    options = parser.parse_args()
    torch.set_num_threads(1)
    spoof = load_component("spoof", options.spoof)
    threshold = threshold_of(spoof)
    speech = of_list(options.sources, options.repositories) if options.choose else of_corpora(options.corpora)
    call = "--choose --sources voice.csv --repositories DIR" if options.choose else "--corpora DIR"
    print(f"# Synthetic sentences in real recordings\n\n    python benchmarks/voice_inserted.py {call}\n")
    print(f"Detector: {options.spoof}, sha256 {spoof.card.sha256[:12]}….\n")
    whole = [listen(samples, spoof) for samples, _ in recordings(speech, 0, 0.0)]
    accused = sum(inserted(scores, [p.duration_s for p in pieces], threshold) is not None for pieces, scores in whole)
    seconds = np.mean([pieces[-1].end_s for pieces, _ in whole])
    print(f"Real recordings with nothing put in: {accused} of {len(whole)} are accused (mean {seconds:.0f} s long).\n")
    print("| piece | recordings | found | found and placed (half in common) | overlap where found, median |", end="")
    print(" EER by phrase | AUC by phrase |\n|---|---|---|---|---|---|---|")
    for name, (n_pieces, piece_s) in PIECES.items():
        hits, overlaps, labels, values = 0, [], [], []
        for samples, truth in recordings(speech, n_pieces, piece_s):
            pieces, scores = listen(samples, spoof)
            assert truth is not None
            inside = [min(p.end_s, truth.end_s) - max(p.start_s, truth.start_s) for p in pieces]
            labels += [int(common > p.duration_s / 2) for common, p in zip(inside, pieces, strict=True)]
            values += scores
            run = inserted(scores, [p.duration_s for p in pieces], threshold)
            if run is not None:
                placed = Segment(pieces[run[0]].start_s, pieces[run[-1]].end_s)
                hits += placed.start_s < truth.end_s and truth.start_s < placed.end_s
                overlaps.append(overlap(placed, truth))
        n_placed = sum(share >= 0.5 for share in overlaps)
        middle = f"{np.median(overlaps):.2f}" if overlaps else "–"
        shares = f"{hits / N_RECORDINGS:.2f} | {n_placed / N_RECORDINGS:.2f} | {middle}"
        errors = f"{eer(labels, values):.3f} | {auc(labels, values):.3f}"
        print(f"| {name} | {N_RECORDINGS} | {shares} | {errors} |", flush=True)
    print_two_voices(list(two_voices(speech, spoof)))
    print_people(speech, spoof)


if __name__ == "__main__":
    main()
