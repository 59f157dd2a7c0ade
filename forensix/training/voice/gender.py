"""Train the gender classifier.

    python -m forensix.training.voice.gender --corpora DIR --repositories DIR

Learns from the real training voices whose gender their collection tells (see `forensix.training.voice.real_voices`),
as recorded and over a telephone line, every speaker weighing the same. Every voice is also scored by a fit that has not
seen its collection, or for LibriSpeech the quarter of readers that it belongs to. These scores calibrate the
probability and choose the threshold below which the answer is ``unknown``: the lowest at which at least 97 % of the
answers given are right, speakers weighing the same. Accuracy is then measured on the real ``dev`` rows of the corpora,
which nothing here was fitted to.
"""

import argparse
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from forensix.calibration import Calibration, fit_platt
from forensix.models.architectures.logistic import Logistic, build
from forensix.models.card import Measurement, ModelCard, Output, TrainingSource
from forensix.models.files import SHIPPED
from forensix.models.store import LoadedModel, save_model
from forensix.training.voice.real_voices import Voice, over_telephone, read_samples, real_voices, samples_of
from forensix.voice.gender import N_INPUTS, GenderClassifier, voice_vector
from forensix.voice.speech import speech_segments

SEED = 0
PER_COLLECTION = 400
LISTENED_S = 10.0
STRENGTH = 0.1  # of scikit-learn's C: the best of 0.01, 0.1 and 1 on collections left out
WANTED_ACCURACY = 0.97
LINES: Mapping[str, Callable[[NDArray[np.int16]], NDArray[Any]]] = MappingProxyType(
    {"as recorded": lambda samples: samples, "over a telephone": over_telephone}
)
"""How every voice is heard."""

COMMAND = "python -m forensix.training.voice.gender --corpora DIR --repositories DIR"


def fit(x: NDArray[np.float32], male: NDArray[np.bool_], weight: NDArray[np.float64]) -> Logistic:
    """Fit a standardised logistic regression."""
    module = build(N_INPUTS)
    mean, scale = x.mean(0), x.std(0)
    model = LogisticRegression(C=STRENGTH, max_iter=1000).fit((x - mean) / scale, male, sample_weight=weight)
    with torch.no_grad():
        module.mean.copy_(torch.from_numpy(mean))
        module.scale.copy_(torch.from_numpy(scale))
        module.linear.weight.copy_(torch.from_numpy(model.coef_))
        module.linear.bias.copy_(torch.from_numpy(model.intercept_))
    return module


def logits_of(module: Logistic, x: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the logits of vectors, shape (n,)."""
    with torch.inference_mode():
        return np.asarray(module(torch.from_numpy(x))[:, 0], dtype=np.float64)


def folds(voices: Sequence[Voice]) -> NDArray[np.str_]:
    """Return the fold of each voice: its collection, LibriSpeech in four by reader."""
    quarter = [zlib.crc32(str(v.speaker).encode()) % 4 if v.collection == "LibriSpeech" else "" for v in voices]
    return np.array([f"{v.collection}{q}" for v, q in zip(voices, quarter, strict=True)])


def choose_threshold(p_male: NDArray[np.float64], male: NDArray[np.bool_], weight: NDArray[np.float64]) -> float:
    """Return the lowest threshold at which the answers given are right often enough."""
    sure = np.maximum(p_male, 1 - p_male)
    right = (p_male >= 0.5) == male
    for threshold in np.round(np.arange(0.5, 1.0, 0.01), 2):
        given = sure >= threshold
        if np.average(right[given], weights=weight[given]) >= WANTED_ACCURACY:
            return float(threshold)
    raise ValueError(f"no threshold reaches an accuracy of {WANTED_ACCURACY}")


def _interval(right: int, n: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share."""
    from scipy.stats import binomtest

    interval = binomtest(right, n).proportion_ci(method="wilson")
    return round(float(interval.low), 4), round(float(interval.high), 4)


def measure(model: GenderClassifier, corpora: Path) -> list[Measurement]:
    """Measure accuracy of the answers given, and how many are given, on the real dev rows."""
    rows = pd.read_csv(corpora / "voice/manifest.csv", dtype=str)
    rows = rows[(rows["split"] == "dev") & (rows["label"] == "real") & rows["gender"].isin(["M", "F"])]
    measurements = []
    for line, heard in LINES.items():
        for gender, spoken in (("F", "female"), ("M", "male")):
            answers = []
            for path in rows[rows["gender"] == gender]["path"]:
                samples = heard(read_samples(corpora / "voice" / path))
                answers.append(model.classify(samples, speech_segments(samples))[0])
            given = [a for a in answers if a != "unknown"]
            right = sum(a == spoken for a in given)
            unknown = f"{len(answers) - len(given)} of {len(answers)} answered unknown"
            measurements.append(
                Measurement(
                    metric="accuracy of answers given",
                    value=round(right / len(given), 4),
                    interval=_interval(right, len(given)),
                    data=f"voice dev, real, {gender}, {line}; {unknown}",
                    n_real=len(answers),
                    command=COMMAND,
                )
            )
    return measurements


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit, calibrate, choose the threshold, measure, write."""
    parser = argparse.ArgumentParser(description="Train the gender classifier.")
    parser.add_argument("--corpora", type=Path, required=True, help="folder that holds voice/manifest.csv")
    parser.add_argument("--repositories", type=Path, help="folder with one folder <owner>+<name> a repository")
    options = parser.parse_args(arguments)
    listed = real_voices(options.corpora, options.repositories, per_collection=PER_COLLECTION, seed=SEED)
    voices, lines, vectors = [], [], []
    for voice in listed:
        if voice.gender is None:
            continue
        recorded = samples_of(voice, at_most_s=LISTENED_S)
        for line, heard in LINES.items():
            samples = heard(recorded)
            vector = voice_vector(samples, speech_segments(samples))
            if vector is not None:
                voices.append(voice)
                lines.append(line)
                vectors.append(vector)
    x, male = np.array(vectors), np.array([v.gender == "M" for v in voices])
    recordings = Counter((v.collection, v.speaker) for v in voices)
    weight = np.array([1 / recordings[v.collection, v.speaker] for v in voices])
    fold, unseen = folds(voices), np.zeros(len(voices))
    for name in np.unique(fold):
        here = fold == name
        unseen[here] = logits_of(fit(x[~here], male[~here], weight[~here]), x[here])
    calibration: Calibration = fit_platt(unseen, male, weights=weight)
    p_male = calibration.score(unseen)
    threshold = choose_threshold(p_male, male, weight)
    given = np.maximum(p_male, 1 - p_male) >= threshold
    right = (p_male >= 0.5) == male
    card = ModelCard(
        name="forensix-gender",
        component="gender",
        summary="Tells male from female voices by pitch, formants and cepstra.",
        architecture="logistic",
        config={"n_inputs": N_INPUTS},
        preprocessing={"rate_hz": 16000, "vector": "forensix.voice.gender.voice_vector", "least_speech_s": 1.0},
        output=Output(labels=("male",)),
        calibration=calibration,
        calibrated_on="training voices, as recorded and over a telephone line, each scored by a fit that had not seen "
        "its collection or reader. Development voices were scored for two fits, which shipped one after the other.",
        threshold=threshold,
        trained_on=tuple(
            TrainingSource(
                source=name,
                label="real",
                n=len({v.name + str(v.segment) for v in voices if v.collection == name}),
                licence="; ".join(sorted({v.licence for v in voices if v.collection == name})),
            )
            for name in sorted({v.collection for v in voices})
        ),
        measured=tuple(
            Measurement(
                metric="accuracy of answers given, speakers weighing the same",
                value=round(float(np.average(right[here & given], weights=weight[here & given])), 4),
                data=f"training voices left out of the fit, {line}; {int((here & ~given).sum())} of {int(here.sum())} "
                "answered unknown",
                n_real=int(here.sum()),
                command=COMMAND,
            )
            for line, here in ((line, np.array(lines) == line) for line in LINES)
        ),
        limits="Adult English speech of a second or more; below the threshold, and above a median pitch of 260 Hz, the "
        "answer is unknown. High male and low female voices are mistaken for each other, men who shout or exult for "
        "women; children were not heard in training, and most boys before their voice breaks are called female.",
        licence="Apache-2.0; trained on public recordings, some of whose collections state no licence",
        seed=SEED,
        command=COMMAND,
        weights="forensix-gender.safetensors",
        sha256="",
    )
    module = fit(x, male, weight).eval()
    measured = measure(GenderClassifier(LoadedModel(card, module)), options.corpora)
    card = save_model(card.model_copy(update={"measured": (*card.measured, *measured)}), module, SHIPPED)
    print(f"threshold {card.threshold}")
    for m in card.measured:
        print(f"{m.data}: {m.value} {m.interval or ''}")


if __name__ == "__main__":
    main()
