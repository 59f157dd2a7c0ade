"""Training forensix-attribution: one linear layer from the statistics of a window to the generator's family."""

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from sklearn.linear_model import LogisticRegression

from forensix.generated.statistics import NAMES
from forensix.models import Measurement, ModelCard, Output, TrainingSource
from forensix.models.architectures.statistics_classifier import StatisticsClassifier, build
from forensix.training.images_data import Picture, attribution_name
from forensix.training.images_fit import Pool

FEWEST = 15
"""Pictures that a family needs to be named; the others are ``unknown``."""
HELD_OUT = 0.3


def _fit(z: NDArray[np.float64], y: NDArray[np.int64], n_classes: int) -> LogisticRegression:
    # Root of the inverse frequency: rare families are heard without being guessed all the time.
    weights = 1 / np.sqrt(np.bincount(y, minlength=n_classes)[y])
    return LogisticRegression(C=0.02, max_iter=400).fit(z, y, sample_weight=weights / weights.mean())


def _picture_logits(logits: NDArray[np.float64], pictures: NDArray[np.int64]) -> NDArray[np.float64]:
    _, at = np.unique(pictures, return_inverse=True)
    sums = np.zeros((at.max() + 1, logits.shape[1]))
    np.add.at(sums, at, logits)
    return sums / np.bincount(at)[:, None]


def _loss(logits: NDArray[np.float64], y: NDArray[np.int64], temperature: float) -> float:
    scaled = logits / temperature
    scaled = scaled - scaled.max(axis=1, keepdims=True)
    return float((np.log(np.exp(scaled).sum(axis=1)) - scaled[np.arange(len(y)), y]).mean())


def train_attribution(
    pool: Pool,
    pictures: Sequence[Picture],
    *,
    trained_on: tuple[TrainingSource, ...],
    seed: int,
    command: str,
    log: Callable[[str], None] = lambda _: None,
) -> tuple[ModelCard, StatisticsClassifier]:
    """Fit on the generated crops of a pool; whole groups (one prompt, one case) are held out to measure and calibrate.

    The classifier that is returned is then fitted on all of them, with the temperature of the held-out fit.
    """
    names = [attribution_name(p.generator) for p in pictures]
    kept = np.array([p.fake for p in pictures])
    counted = Counter(name for name, k in zip(names, kept, strict=True) if k)
    named = {name for name, n in counted.items() if n >= FEWEST}
    labels = sorted(named | ({"unknown"} if len(named) < len(counted) else set()))
    places = {name: labels.index(name if name in named else "unknown") for name in counted}
    y_of = np.array([places.get(name, -1) for name in names])
    groups = np.unique([p.group for p in pictures], return_inverse=True)[1]

    used = kept[pool.picture]
    statistics, picture = pool.statistics[used].astype(np.float64), pool.picture[used]
    y, group = y_of[picture], groups[picture]
    rng = np.random.default_rng(seed)
    held_groups = rng.permutation(np.unique(group))[: int(len(np.unique(group)) * HELD_OUT)]
    held = np.isin(group, held_groups)

    mean, scale = statistics.mean(axis=0), statistics.std(axis=0) + 1e-3
    z = np.clip((statistics - mean) / scale, -5, 5)
    model = _fit(z[~held], y[~held], len(labels))
    missing = sorted(set(range(len(labels))) - set(model.classes_))
    if missing:
        raise ValueError(f"no training crops of {', '.join(labels[i] for i in missing)}")
    logits = _picture_logits(model.decision_function(z[held]), picture[held])
    truth = y_of[np.unique(picture[held])]
    temperature = float(minimize_scalar(lambda t: _loss(logits, truth, t), bounds=(0.05, 20), method="bounded").x)
    guess = logits.argmax(axis=1)
    accuracy = float((guess == truth).mean())
    recalls = {labels[i]: float((guess[truth == i] == i).mean()) for i in np.unique(truth)}
    confusion = np.zeros((len(labels), len(labels)), int)
    np.add.at(confusion, (truth, guess), 1)
    log(f"attribution: {len(truth)} held out, accuracy {accuracy:.3f}, temperature {temperature:.2f}")
    log(f"labels {labels}\n{confusion}")

    final = _fit(z, y, len(labels))
    classifier = build(len(NAMES), len(labels))
    classifier.mean.copy_(torch.from_numpy(mean))
    classifier.scale.copy_(torch.from_numpy(scale))
    classifier.temperature.fill_(temperature)
    with torch.no_grad():
        classifier.linear.weight.copy_(torch.from_numpy(final.coef_))
        classifier.linear.bias.copy_(torch.from_numpy(final.intercept_))
    data = f"single crops of {len(truth)} pictures of held-out prompts and cases, same collections"
    measured = [
        Measurement(metric="accuracy, top 1", value=accuracy, data=data, n_fake=len(truth), command=command),
        Measurement(
            metric="accuracy of the most frequent family",
            value=float(np.bincount(truth).max() / len(truth)),
            data=data,
            n_fake=len(truth),
            command=command,
        ),
        *(
            Measurement(
                metric=f"recall, {name}",
                value=value,
                data=data,
                n_fake=int((truth == labels.index(name)).sum()),
                command=command,
            )
            for name, value in recalls.items()
        ),
    ]
    card = ModelCard(
        name="forensix-attribution",
        component="attribution",
        summary="Family of the generator: one linear layer on the statistics of native windows.",
        architecture="statistics_classifier",
        config={"n_statistics": len(NAMES), "n_classes": len(labels)},
        output=Output(labels=tuple(labels)),
        calibrated_on="held-out prompts and cases of the same collections (temperature)",
        trained_on=trained_on,
        measured=tuple(measured),
        limits="Families come from one or two collections each, so it tells collections apart as much as generators. "
        "Generators that it never saw are often given to a relative instead of unknown.",
        licence="",
        seed=seed,
        command=command,
        weights="forensix-attribution.safetensors",
        sha256="",
    )
    return card, classifier.eval()
