"""Measure the parts of voice analysis and print the tables of ``benchmarks/results/voice_components.md``.

    python benchmarks/voice_components.py --corpora DIR [--repositories DIR] > benchmarks/results/voice_components.md

``--repositories`` holds one folder ``<owner>+<name>`` a repository; AMI's meetings with their reference turns and the
texts that word error rates need come from there, and their tables are left out without it.
"""

import argparse
import contextlib
import io
import itertools
import json
import re
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from forensix.metrics import auc
from forensix.training.speakers import confusion, converse
from forensix.training.voices import read_rttm, read_samples
from forensix.voice import features, population
from forensix.voice.gender import forensix_gender
from forensix.voice.speakers import diarise
from forensix.voice.speech import RATE_HZ, Segment, speech_segments, total_s
from forensix.voice.transcript import transcribe

LEAST_S = 4  # of a speaker, to take part in a conversation
GENDERS = {"M": "male", "F": "female"}


def table(title: str, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    print(f"\n## {title}\n")
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print(
            "| " + " | ".join("–" if x is None else f"{x:.3g}" if isinstance(x, float) else str(x) for x in row) + " |"
        )


def wilson(right: int, n: int) -> str:
    from scipy.stats import binomtest

    if not n:
        return "–"
    found = binomtest(right, n).proportion_ci(method="wilson")
    return f"{right / n:.3f} ({found.low:.3f}–{found.high:.3f})"


def measured(rows: pd.DataFrame, corpora: Path) -> pd.DataFrame:
    """Add speech, features and the answer about gender to rows of the manifest."""
    classifier = forensix_gender()
    found = []
    for row in rows.to_dict("records"):
        samples = read_samples(corpora / "voice" / row["path"])
        segments = speech_segments(samples)
        answer, probability = classifier.classify(samples, segments)
        values = features.extract(samples, segments)
        compared = population.compare(values, answer)
        outliers = {f"outlier {k}": getattr(compared, k).is_outlier for k in values}
        spoken = {"speech_s": total_s(segments), "n_speakers": len(diarise(samples, segments)), "answer": answer}
        found.append({**row, **values, **outliers, **spoken, "probability": probability})
    return pd.DataFrame(found)


def speech_tables(rows: pd.DataFrame) -> None:
    counts = [
        (label, len(part), int((part.speech_s == 0).sum()), float(part.speech_s.mean()))
        for label, part in rows.groupby("label")
    ]
    table(
        "Speech in the dev clips (each holds speech)", ("label", "clips", "no speech found", "mean speech, s"), counts
    )
    rng = np.random.default_rng(0)
    t_s = np.arange(10 * RATE_HZ) / RATE_HZ
    sweep = np.sin(2 * np.pi * 200 * t_s + np.pi * 300 * t_s**2)
    chord = sum(np.sin(2 * np.pi * hz * t_s) * np.exp(-3 * (t_s % 0.5)) for hz in (262, 330, 392, 523))
    silent = {
        "silence": np.zeros(len(t_s)),
        "white noise": 0.1 * rng.normal(size=len(t_s)),
        "brown noise": np.cumsum(rng.normal(size=len(t_s))) / 3000,
        "mains hum": 0.3 * np.sign(np.sin(2 * np.pi * 50 * t_s)),
        "sweep": 0.5 * sweep,
        "plucked chords": 0.1 * chord,
    }
    found = [(name, total_s(speech_segments(x.astype(np.float32)))) for name, x in silent.items()]
    table("Speech found in 10 s of what is none", ("signal", "speech, s"), found)


def feature_tables(rows: pd.DataFrame) -> None:
    rows = rows[rows.speech_s >= 1]
    real, fake = (rows[rows.label == label] for label in ("real", "fake"))
    lines = []
    for name, unit in features.UNITS.items():
        d = population.distribution(name)
        shares = [part[f"outlier {name}"][part[name].notna()].mean() for part in (real, fake)]
        medians = [part[name].median() for part in (real, fake)]
        n_none = int(real[name].isna().sum() + fake[name].isna().sum())
        lines.append(
            (name, unit, d.lower_bound, d.percentiles[50], d.upper_bound, *map(float, (*medians, *shares)), n_none)
        )
    head = ("feature", "unit", "lower", "population median", "upper", "dev real", "dev fake")
    head = (*head, "outliers real", "outliers fake", "unmeasured")
    table(f"Features of {len(real)} real and {len(fake)} fake dev clips with a second of speech (medians)", head, lines)
    columns = [f"outlier {name}" for name in features.UNITS]
    shares = [
        (label, *(float((part[columns].sum(axis=1) >= k).mean()) for k in (1, 2, 3)))
        for label, part in (("real", real), ("fake", fake))
    ]
    table(
        "Share of dev clips with so many outliers among the ten",
        ("label", "1 or more", "2 or more", "3 or more"),
        shares,
    )
    lj = rows[rows.speaker == "LJSpeech"]
    lines = []
    for name in features.UNITS:
        pair = []
        for everything in (rows, lj):
            part = everything[everything[name].notna()]
            pair.append(float(auc((part.label == "fake").astype(int), part[name])))
        lines.append((name, *pair))
    n = f"{(lj.label == 'real').sum()} real, {(lj.label == 'fake').sum()} fake"
    head = ("feature", "all dev sources", f"one speaker and collection (LJSpeech: {n})")
    table("AUC of each feature alone, fake against real (0.5 says nothing; below it fakes are lower)", head, lines)


def gender_table(rows: pd.DataFrame) -> None:
    rows = rows[rows.gender.isin(list(GENDERS))]
    lines = []
    for (label, source, gender), part in rows.groupby(["label", "source_repo", "gender"]):
        given = part[part.answer != "unknown"]
        right = int((given.answer == GENDERS[gender]).sum())
        lines.append((label, source, gender, len(part), len(part) - len(given), wilson(right, len(given))))
    for label, part in rows.groupby("label"):
        given = part[part.answer != "unknown"]
        right = int((given.answer == given.gender.map(GENDERS)).sum())
        lines.append((f"**{label}**", "all", "", len(part), len(part) - len(given), wilson(right, len(given))))
    head = ("label", "source", "gender", "clips", "unknown", "accuracy of answers given (95 %)")
    table("Gender on dev", head, lines)


def _clips(rows: pd.DataFrame, corpora: Path) -> dict[str, np.ndarray]:
    rows = rows[rows.speaker.notna()]
    return {
        str(speaker): np.concatenate([read_samples(corpora / "voice" / p) for p in sorted(part.path)])
        for speaker, part in rows.groupby("speaker")
    }


def speaker_tables(real: pd.DataFrame, corpora: Path, repositories: Path | None) -> None:
    lines = []
    for source in ("auspicious3000/autovc-demo", "hkveeranki/speech-emotion-recognition"):
        clips = _clips(real[real.source_repo == source], corpora)
        clips = {speaker: x for speaker, x in clips.items() if len(x) >= LEAST_S * RATE_HZ}
        alone = [converse([item], turn_s=(2, 4), seed=0) for item in clips.items()]
        pairs = [
            converse(pair, turn_s=(2, 4), seed=i) for i, pair in enumerate(itertools.combinations(clips.items(), 2))
        ]
        for name, talks, n in (("one", alone, 1), ("two", pairs, 2)):
            found = [diarise(t.samples, t.segments) for t in talks]
            wrong = [
                confusion(
                    list(zip(t.segments, t.truth, strict=True)), [(s, f.speaker) for f in who for s in f.segments]
                )
                for t, who in zip(talks, found, strict=True)
            ]
            if talks:
                counts = [len(who) for who in found]
                lines.append(
                    (
                        source,
                        name,
                        len(talks),
                        float(np.mean([c == n for c in counts])),
                        float(np.mean(counts)),
                        float(np.mean(wrong)),
                    )
                )
    head = (
        "dev source",
        "speakers",
        "recordings",
        "right number",
        "mean number found",
        "speech given to the wrong one",
    )
    table("Speakers in conversations put together from dev clips", head, lines)
    if repositories is None:
        return
    root = repositories / "pyannote+pyannote-audio/tests/data"
    turns = {k: v for p in sorted(root.glob("debug.*.rttm")) for k, v in read_rttm(p).items()}
    lines, seconds = [], []
    for name, truth in sorted(turns.items()):
        if not (root / f"{name}.wav").is_file():
            continue
        samples = read_samples(root / f"{name}.wav", at_most_s=30)
        found = diarise(samples, speech_segments(samples))
        truth_n = len({speaker for _, speaker in truth})
        error = diarisation_error(truth, [(s, f.speaker) for f in found for s in f.segments])
        seconds.append(error)
        lines.append(
            (name, truth_n, len(found), *(100 * x / error[3] for x in error[:3]), 100 * sum(error[:3]) / error[3])
        )
    sums = np.sum(seconds, axis=0)
    lines.append(("**all**", "", "", *(100 * x / sums[3] for x in sums[:3]), 100 * sum(sums[:3]) / sums[3]))
    head = ("meeting (30 s)", "speakers", "found", "missed, %", "false alarm, %", "wrong speaker, %", "DER, %")
    table("AMI meetings: diarisation error, no collar, overlap scored", head, lines)


def diarisation_error(
    truth: Sequence[tuple[Segment, str]], found: Sequence[tuple[Segment, str]], step_s: float = 0.01
) -> tuple[float, float, float, float]:
    """Return seconds missed, falsely claimed, given to the wrong speaker, and of reference speech in all."""
    from scipy.optimize import linear_sum_assignment

    n = round(30 / step_s)
    grids = []
    for turns in (truth, found):
        names = sorted({speaker for _, speaker in turns}) or [""]
        grid = np.zeros((len(names), n), dtype=int)
        for s, speaker in turns:
            grid[names.index(speaker), round(s.start_s / step_s) : round(s.end_s / step_s)] = 1
        grids.append(grid)
    a, b = grids
    common = a @ b.T
    i, j = linear_sum_assignment(-common)
    n_a, n_b = a.sum(0), b.sum(0)
    missed = np.maximum(0, n_a - n_b).sum()
    false = np.maximum(0, n_b - n_a).sum()
    wrong = np.minimum(n_a, n_b).sum() - common[i, j].sum()
    return missed * step_s, false * step_s, wrong * step_s, n_a.sum() * step_s


def _texts(repositories: Path) -> list[tuple[str, Path, str]]:
    root = repositories / "speechbrain+speechbrain/tests/samples"
    texts = []
    for part in ("train", "dev"):
        path = root / f"annotation/ASR_{part}.json"
        if path.is_file():
            for name, row in json.loads(path.read_text(encoding="utf-8")).items():
                texts.append(("speechbrain samples", root / f"ASR/{name}.wav", row["words"]))
    lines: dict[str, str] = {}
    for path in (repositories / "ming024+FastSpeech2/preprocessed_data/LJSpeech").glob("*.txt"):
        for line in path.read_text(encoding="utf-8").splitlines():
            lines[line.split("|")[0]] = line.split("|")[-1]
    clips = [
        *(repositories / "kan-bayashi+ParallelWaveGAN/wav/ljspeech/raw").glob("*.wav"),
        *(repositories / "lhotse-speech+lhotse/test/fixtures/ljspeech").rglob("*.wav"),
    ]
    return texts + [("LJSpeech", path, lines[path.stem]) for path in sorted(clips) if path.stem in lines]


def _words(text: str) -> list[str]:
    return re.sub(r"[^a-z' ]", "", text.lower().replace("-", " ")).split()


def word_errors(truth: list[str], found: list[str]) -> int:
    """Return the least number of words to insert, leave out or replace."""
    line = list(range(len(found) + 1))
    for i, word in enumerate(truth, 1):
        before, line = line, [i]
        for j, other in enumerate(found, 1):
            line.append(min(before[j] + 1, line[-1] + 1, before[j - 1] + (word != other)))
    return line[-1]


def transcript_table(repositories: Path) -> None:
    lines: dict[str, list[float]] = {}
    for source, path, text in _texts(repositories):
        samples = read_samples(path)
        found = transcribe(samples, speech_segments(samples))
        sums = lines.setdefault(source, [0, 0, 0])
        sums[0] += 1
        sums[1] += len(_words(text))
        sums[2] += word_errors(_words(text), _words(found.text))
    rows = [(source, int(n), int(words), errors / words) for source, (n, words, errors) in lines.items()]
    table("Words of the embedded engine (English, read, clean)", ("source", "clips", "words", "word error rate"), rows)


def time_table(real: pd.DataFrame, corpora: Path) -> None:
    parts = [read_samples(corpora / "voice" / p) for p in real.path]
    minute = np.concatenate(parts)[: 60 * RATE_HZ]
    long = np.tile(minute, 10)
    rows: list[tuple[str, float, float]] = []
    forensix_gender()
    for duration_s, samples in ((60, minute), (600, long)):
        segments = speech_segments(samples)
        jobs: dict[str, Callable[[], Any]] = {
            "speech segments": lambda: speech_segments(samples),  # noqa: B023
            "speakers": lambda: diarise(samples, segments),  # noqa: B023
            "features of one speaker": lambda: features.extract(samples, segments),  # noqa: B023
            "gender of one speaker": lambda: forensix_gender().classify(samples, segments),  # noqa: B023
        }
        for name, job in jobs.items():
            start_s = time.process_time()
            job()
            rows.append((name, duration_s, time.process_time() - start_s))
    from forensix.voice.pocketsphinx_child import decode

    start_s = time.process_time()
    list(decode([minute[i : i + 20 * RATE_HZ].tobytes() for i in range(0, len(minute), 20 * RATE_HZ)]))
    rows.append(("transcript, embedded engine", 60, time.process_time() - start_s))
    table("Processor time on one core", ("step", "recording, s", "seconds"), rows)


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description="Measure the parts of voice analysis.")
    parser.add_argument("--corpora", type=Path, required=True, help="folder that holds voice/manifest.csv")
    parser.add_argument("--repositories", type=Path, help="folder with one folder <owner>+<name> a repository")
    options = parser.parse_args()
    rows = pd.read_csv(options.corpora / "voice/manifest.csv", dtype=str)
    dev = rows[rows["split"] == "dev"]
    print("# Parts of voice analysis\n")
    print("    python benchmarks/voice_components.py --corpora DIR --repositories DIR\n")
    record = population.record()
    print(f"Reference population: {record['recordings']} recordings; inputs sha256 {record['inputs_sha256'][:16]}….")
    with contextlib.redirect_stderr(io.StringIO()):
        found = measured(dev, options.corpora)
    speech_tables(found)
    feature_tables(found)
    gender_table(found)
    speaker_tables(dev[dev["label"] == "real"], options.corpora, options.repositories)
    if options.repositories is not None:
        transcript_table(options.repositories)
    time_table(dev[dev["label"] == "real"], options.corpora)


if __name__ == "__main__":
    main()
