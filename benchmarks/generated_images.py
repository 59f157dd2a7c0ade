"""Measure forensix-image and forensix-attribution on pictures that training never saw; print markdown.

    python benchmarks/generated_images.py --corpora DIR [--write-card]

The peer, in the same run, is what one would build first: boosted trees on the same statistics, trained on the
training rows of the corpus, cut to crops the same way. ``--write-card`` stores the detector's figures in its card.

The development split guided the choice of statistics and of training crops, so its figures flatter the detector.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from PIL import Image
from sklearn.ensemble import HistGradientBoostingClassifier

from forensix.calibration import sigmoid
from forensix.generated.attribution import Attributor, forensix_attribution
from forensix.generated.crops import windows
from forensix.generated.detector import ImageDetector, forensix_image
from forensix.generated.statistics import vector
from forensix.metrics import auc, bootstrap_interval, eer
from forensix.models import Measurement
from forensix.models.store import write_card
from forensix.perturb.image import DEGRADATIONS
from forensix.training.images_data import list_files, read_pictures
from forensix.training.images_fit import make_pool

RGB = NDArray[np.uint8]
COMMAND = "python benchmarks/generated_images.py --corpora DIR"
ROBUSTNESS = ("none", "jpeg 90", "jpeg 70", "resize 0.5", "blur 1 px", "noise 4", "screenshot", "shared")
SEED = 0
DATA = "images dev: sources that training never saw, but that guided the choice of statistics"


def read(path: Path) -> RGB | None:
    """Return a picture, or nothing where Pillow cannot read it."""
    try:
        with Image.open(path) as image:
            return np.asarray(image.convert("RGB"))
    except (OSError, ValueError):
        return None


def peer(corpora: Path, n_crops: int = 4000) -> Callable[[RGB], float]:
    """Train boosted trees on the statistics of crops of the corpus's training rows; return their score."""
    pictures = read_pictures(list_files(corpora, corpora / "no-checkouts"), seed=SEED)
    pool = make_pool(pictures, n_crops, seed=SEED)
    trees = HistGradientBoostingClassifier(max_iter=200, learning_rate=0.05, max_leaf_nodes=15, random_state=SEED)
    trees.fit(pool.statistics, pool.fake)

    def score(rgb: RGB) -> float:
        return float(sigmoid(trees.decision_function(np.stack([vector(cut) for cut in windows(rgb, 128, 9)])).mean()))

    return score


def interval(metric: Callable[..., float], y: NDArray[np.int64], s: NDArray[np.float64]) -> str:
    """Return a figure with its 95 % bootstrap interval."""
    low, high = bootstrap_interval(metric, y, s, n=500, seed=SEED)
    return f"{metric(y, s):.3f} ({low:.3f} to {high:.3f})"


def against(
    y: NDArray[np.int64], s: NDArray[np.float64], part: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return labels and scores of all reals and of the fakes in ``part``."""
    at = (y == 0) | part
    return y[at], s[at]


def thresholds(detector: ImageDetector) -> tuple[float, ...]:
    """Return equal odds and the detector's own threshold."""
    return tuple(dict.fromkeys((0.5, detector.card.threshold)))


def detection(
    detector: ImageDetector, other: Callable[[RGB], float], pictures: list[RGB], rows: pd.DataFrame
) -> list[Measurement]:
    """Print the tables of the detector; return measurements for its card."""
    y = (rows.label == "fake").to_numpy().astype(int)
    ours = np.array([detector.score(rgb) for rgb in pictures])
    theirs = np.array([other(rgb) for rgb in pictures])
    n_real = int((y == 0).sum())
    found = []
    print(f"## Detection: {n_real} photographs, {int(y.sum())} generated, as they are\n")
    print("| fakes | n | AUC, forensix-image | EER | AUC, boosted trees |\n|---|---|---|---|---|")
    for name in ("all", *sorted(rows.generator[y == 1].unique())):
        part = (y == 1) & ((rows.generator == name).to_numpy() | (name == "all"))
        yy, ss = against(y, ours, part)
        tt = against(y, theirs, part)[1]
        cells = (name, int(part.sum()), interval(auc, yy, ss), interval(eer, yy, ss), interval(auc, yy, tt))
        print(f"| {' | '.join(map(str, cells))} |")
        for metric in (auc, eer):
            limits = bootstrap_interval(metric, yy, ss, n=500, seed=SEED)
            label = f"{metric.__name__.upper()}, {name} against all photographs"
            found.append(
                Measurement(
                    metric=label,
                    value=metric(yy, ss),
                    interval=limits,
                    n_fake=int(part.sum()),
                    n_real=n_real,
                    data=DATA,
                    command=COMMAND,
                )
            )
    rates = []
    for at in thresholds(detector):
        rates += [
            (f"false positive rate at {at}, {name}", ours[(rows.source_repo == name).to_numpy()] >= at)
            for name in sorted(rows.source_repo[y == 0].unique())
        ]
        rates.append((f"true positive rate at {at}", ours[y == 1] >= at))
    print("\n| at a score | |\n|---|---|")
    for label, called in rates:
        print(f"| {label} | {called.mean():.2f} (n = {called.size}) |")
        n = {"n_fake": called.size} if label.startswith("true") else {"n_real": called.size}
        found.append(Measurement(metric=label, value=float(called.mean()), data=DATA, command=COMMAND, **n))
    print("\n## Robustness: both classes degraded alike\n")
    print("| degradation | AUC, forensix-image | AUC, boosted trees |\n|---|---|---|")
    for name in ROBUSTNESS:
        rng = np.random.default_rng(SEED)
        changed = [DEGRADATIONS[name](rgb, rng) for rgb in pictures]
        s = np.array([detector.score(rgb) for rgb in changed])
        t = np.array([other(rgb) for rgb in changed])
        print(f"| {name} | {interval(auc, y, s)} | {interval(auc, y, t)} |", flush=True)
        if name != "none":
            limits = bootstrap_interval(auc, y, s, n=500, seed=SEED)
            label = f"AUC, both classes through {name}"
            found.append(
                Measurement(
                    metric=label,
                    value=auc(y, s),
                    interval=limits,
                    n_fake=int(y.sum()),
                    n_real=n_real,
                    data=DATA,
                    command=COMMAND,
                )
            )
    return found


def cameras(detector: ImageDetector, corpora: Path) -> list[Measurement]:
    """Print how many camera originals of the forensics corpus are called generated."""
    table = pd.read_csv(corpora / "forensics" / "manifest.csv", dtype=str)
    table = table[(table.media == "image") & (table.expect == "camera_original")]
    pictures = [rgb for path in table.path if (rgb := read(corpora / "forensics" / path)) is not None]
    scores = np.array([detector.score(rgb) for rgb in pictures])
    data = "forensics corpus, expect camera_original"
    found = []
    for at in thresholds(detector):
        metric, rate = f"false positive rate at {at}, camera originals", float((scores >= at).mean())
        print(f"| {metric} of the forensics corpus | {rate:.2f} (n = {scores.size}) |")
        found.append(Measurement(metric=metric, value=rate, data=data, n_real=scores.size, command=COMMAND))
    return found


def naming(attributor: Attributor, pictures: list[RGB], rows: pd.DataFrame) -> None:
    """Print what the attributor says of dev pictures whose generator it knows, and of those that it does not."""
    print("\n## Attribution\n")
    print("| generator | n | known to the model as | named so | most frequent answers |\n|---|---|---|---|---|")
    known = {"gpt-4o-image": "gpt-4o"}
    for generator, part in rows[rows.label == "fake"].groupby("generator"):
        answers = [attributor.attribute(pictures[i])[0][0] for i in part.index]
        frequent = ", ".join(f"{name} {n}" for name, n in pd.Series(answers).value_counts().head(3).items())
        name = known.get(str(generator), "unknown")
        right = sum(answer == name for answer in answers)
        print(f"| {generator} | {len(answers)} | {name} | {right} of {len(answers)} | {frequent} |")


def main() -> None:
    """Read the command line and print."""
    parser = argparse.ArgumentParser(description="Measure the generated-image models.")
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--write-card", action="store_true", help="store the figures in the detector's card")
    arguments = parser.parse_args()
    rows = pd.read_csv(arguments.corpora / "images" / "manifest.csv", dtype=str)
    rows = rows[rows.split == "dev"].reset_index(drop=True)
    found_all = [read(arguments.corpora / "images" / path) for path in rows.path]
    rows = rows[[rgb is not None for rgb in found_all]].reset_index(drop=True)
    pictures = [rgb for rgb in found_all if rgb is not None]
    detector = forensix_image()
    print(f"# Generated images\n\nCommand: `{COMMAND}`\n")
    found = detection(detector, peer(arguments.corpora), pictures, rows)
    print("\n| photographs from elsewhere | |\n|---|---|")
    found += cameras(detector, arguments.corpora)
    naming(forensix_attribution(), pictures, rows)
    if arguments.write_card:
        kept = tuple(m for m in detector.card.measured if not m.command.startswith("python benchmarks"))
        write_card(detector.card.model_copy(update={"measured": kept + tuple(found)}))


if __name__ == "__main__":
    main()
