"""Measure the parts of voice analysis and print the tables of ``benchmarks/results/voice_components.md``.

    python benchmarks/voice_components.py --corpora DIR --children DIR > benchmarks/results/voice_components.md

``--children`` names a checkout of jimbozhang/speechocean762, which tells age and gender of its speakers; the pitch
above which gender is unknown was chosen on the other half of them.

Who speaks when, words, watermarks and inserted sentences have tables of their own: ``voice_diarisation.py``,
``voice_words.py``, ``voice_watermark.py`` and ``voice_inserted.py``.
"""

import argparse
import contextlib
import io
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from forensix.metrics import auc
from forensix.training.voice.real_voices import over_telephone, read_samples
from forensix.voice import features, population
from forensix.voice.gender import forensix_gender
from forensix.voice.speakers import diarise
from forensix.voice.speech import RATE_HZ, speech_segments, total_s

GENDERS = {"M": "male", "F": "female"}
AGES = ((7, "6 to 7"), (10, "8 to 10"), (15, "11 to 15"), (120, "adult"))


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
    interval = binomtest(right, n).proportion_ci(method="wilson")
    return f"{right / n:.3f} ({interval.low:.3f}–{interval.high:.3f})"


def measured(rows: pd.DataFrame, corpora: Path, *, called: bool = False) -> pd.DataFrame:
    """Add speech, features and the answer about gender to rows of the manifest, over a telephone if ``called``."""
    classifier = forensix_gender()
    measurements = []
    for row in rows.to_dict("records"):
        samples: np.ndarray = read_samples(corpora / "voice" / row["path"])
        samples = over_telephone(samples) if called else samples
        segments = speech_segments(samples)
        heard = features.hear(samples, segments)
        answer, probability = classifier.classify(samples, segments, heard=heard)
        values = features.extract(samples, segments, heard=heard)
        compared = population.compare(values, answer, population.band_of(samples, segments))
        outliers = {f"outlier {k}": getattr(compared, k).is_outlier for k in values}
        spoken = {"speech_s": total_s(segments), "n_speakers": len(diarise(samples, segments)), "answer": answer}
        measurements.append({**row, **values, **outliers, **spoken, "probability": probability})
    return pd.DataFrame(measurements)


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
    spoken = [(name, total_s(speech_segments(x.astype(np.float32)))) for name, x in silent.items()]
    table("Speech found in 10 s of what is none", ("signal", "speech, s"), spoken)


def feature_tables(rows: pd.DataFrame, called: pd.DataFrame) -> None:
    rows, called = rows[rows.speech_s >= 1], called[called.speech_s >= 1]
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
        for label, part in (("real", real), ("fake", fake), ("real, over a telephone", called))
    ]
    table(
        "Bounds for a telephone's band, and outliers among the real clips over a telephone",
        ("feature", "unit", "lower", "population median", "upper", "outliers"),
        [
            (name, d.unit, d.lower_bound, d.percentiles[50], d.upper_bound, float(called[f"outlier {name}"].mean()))
            for name, d in ((name, population.distribution(name, band="narrow")) for name in features.UNITS)
        ],
    )
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


def gender_table(rows: pd.DataFrame, title: str) -> None:
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
    table(title, head, lines)


def children_table(folder: Path) -> None:
    """Print what the second half of speechocean762's speakers is called, by age and gender."""
    told: dict[str, dict[str, str]] = {"age": {}, "gender": {}}
    for kind, of in told.items():
        for part in ("train", "test"):
            of.update(line.split() for line in (folder / part / f"spk2{kind}").read_text().splitlines())
    classifier = forensix_gender()
    rows = []
    for speaker in sorted(told["age"])[1::2]:
        clips = sorted((folder / "WAVE" / f"SPEAKER{speaker}").glob("*.WAV"))[:6]
        samples: np.ndarray = np.concatenate([read_samples(clip) for clip in clips])[: 8 * RATE_HZ]
        age = next(name for most, name in AGES if int(told["age"][speaker]) <= most)
        for line, heard in (("as recorded", samples), ("over a telephone", over_telephone(samples))):
            rows.append((line, age, told["gender"][speaker], classifier.classify(heard, speech_segments(heard))[0]))
    frame = pd.DataFrame(rows, columns=("line", "age", "gender", "answer"))
    lines = [
        (*key, len(part), *(int((part.answer == answer).sum()) for answer in ("female", "male", "unknown")))
        for key, part in frame.groupby(["line", "age", "gender"])
    ]
    head = ("line", "age", "gender", "speakers", "called female", "called male", "unknown")
    table("Gender of children and adults (speechocean762, speakers that chose nothing)", head, lines)


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
            "features of one speaker": lambda: features.extract(samples, segments),  # noqa: B023
            "gender of one speaker": lambda: forensix_gender().classify(samples, segments),  # noqa: B023
        }
        for name, job in jobs.items():
            start_s = time.process_time()
            job()
            rows.append((name, duration_s, time.process_time() - start_s))
    table("Processor time on one core", ("step", "recording, s", "seconds"), rows)


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description="Measure the parts of voice analysis.")
    parser.add_argument("--corpora", type=Path, required=True, help="folder that holds voice/manifest.csv")
    parser.add_argument("--children", type=Path, help="checkout of jimbozhang/speechocean762")
    options = parser.parse_args()
    rows = pd.read_csv(options.corpora / "voice/manifest.csv", dtype=str)
    dev = rows[rows["split"] == "dev"]
    print("# Parts of voice analysis\n")
    print("    python benchmarks/voice_components.py --corpora DIR --children DIR\n")
    record = population.record()
    print(f"Reference population: {record['recordings']} recordings; inputs sha256 {record['inputs_sha256'][:16]}….")
    with contextlib.redirect_stderr(io.StringIO()):
        table = measured(dev, options.corpora)
        called = measured(dev[dev["label"] == "real"], options.corpora, called=True)
    speech_tables(table)
    feature_tables(table, called)
    gender_table(table, "Gender on dev")
    gender_table(called, "Gender on dev, over a telephone")
    if options.children:
        children_table(options.children)
    time_table(dev[dev["label"] == "real"], options.corpora)


if __name__ == "__main__":
    main()
