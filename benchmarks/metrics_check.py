"""The metrics beside scikit-learn's and beside the ASVspoof 5 evaluation code, on random labels and scores with ties.

    python benchmarks/metrics_check.py --asvspoof5 FOLDER > benchmarks/results/metrics_check.md

FOLDER holds ``calculate_modules.py`` of the evaluation package of github.com/asvspoof-challenge/asvspoof5; without it
only scikit-learn is asked. Their scores are higher for bona fide speech, so ours are turned round for them.
"""

import argparse
import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
from sklearn import metrics as sk
from sklearn.calibration import calibration_curve

from forensix import metrics
from forensix.calibration import logit


def sets(n: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield random labels and scores: few levels (many ties) to none, few files to thousands, balanced and not."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        size = int(rng.choice([4, 20, 200, 3000]))
        labels = rng.permutation(np.r_[0, 1, (rng.random(size) < rng.choice([0.1, 0.5, 0.9])).astype(int)])
        scores = 1 / (1 + np.exp(-rng.normal(size=labels.size) - rng.uniform(0, 3) * labels))
        levels = int(rng.choice([2, 5, 50, 0]))
        yield labels, np.round(scores * levels) / levels if levels else scores


def ece_from_curve(labels: np.ndarray, scores: np.ndarray) -> float:
    """Return the calibration error from scikit-learn's reliability curve."""
    edges = np.linspace(0, 1, 16)
    share, mean = calibration_curve(labels, scores, n_bins=15)
    counts = np.bincount(np.searchsorted(edges[1:-1], scores), minlength=15)
    return float(np.sum(np.abs(share - mean) * counts[counts > 0]) / labels.size)


def tpr_on_curve(labels: np.ndarray, scores: np.ndarray) -> float:
    """Return the highest point of scikit-learn's ROC curve at 1 % false alarms or fewer."""
    fpr, tpr, _ = sk.roc_curve(labels, scores, drop_intermediate=False)
    return float(tpr[fpr <= 0.01].max())


def scikit_learn() -> dict[str, tuple[Callable[..., float], Callable[..., float]]]:
    """Return pairs of ours and theirs."""
    return {
        "auc": (metrics.auc, sk.roc_auc_score),
        "average_precision": (metrics.average_precision, sk.average_precision_score),
        "accuracy": (metrics.accuracy, lambda y, s: sk.accuracy_score(y, s >= 0.5)),
        "balanced_accuracy": (metrics.balanced_accuracy, lambda y, s: sk.balanced_accuracy_score(y, s >= 0.5)),
        "brier": (metrics.brier, sk.brier_score_loss),
        "ece": (metrics.ece, ece_from_curve),
        "tpr_at_fpr 0.01": (lambda y, s: metrics.tpr_at_fpr(y, s, 0.01), tpr_on_curve),
    }


def asvspoof5(folder: Path) -> dict[str, tuple[Callable[..., float], Callable[..., float]]]:
    """Return pairs of ours and theirs."""
    theirs = load(folder / "calculate_modules.py")

    def turned(function: Callable[..., float], llr: bool = False) -> Callable[..., float]:
        return lambda y, s: function(*((-logit(s[y == c]) if llr else -s[y == c]) for c in (0, 1)))

    def mindcf(bona: np.ndarray, spoof: np.ndarray) -> float:
        return theirs.compute_mindcf(*theirs.compute_det_curve(bona, spoof), 0.05, 1, 10)[0]

    return {
        "eer": (metrics.eer, turned(lambda bona, spoof: theirs.compute_eer(bona, spoof)[0])),
        "min_dcf": (metrics.min_dcf, turned(mindcf)),
        "act_dcf": (metrics.act_dcf, turned(lambda b, s: theirs.compute_actDCF(b, s, 0.05, 1, 10)[0], llr=True)),
        "cllr": (metrics.cllr, turned(theirs.calculate_CLLR, llr=True)),
    }


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--asvspoof5", type=Path, help="folder of calculate_modules.py")
    parser.add_argument("--sets", type=int, default=2000)
    args = parser.parse_args()
    groups = {"scikit-learn": scikit_learn()}
    if args.asvspoof5:
        groups["ASVspoof 5"] = asvspoof5(args.asvspoof5)
    print(f"Largest difference over {args.sets} random sets of 6 to 3002 files, ties included.\n")
    print("| metric | compared with | largest difference | sets with any difference |\n|---|---|---|---|")
    for name, pairs in groups.items():
        for metric, (ours, other) in pairs.items():
            gaps = np.array([abs(ours(y, s) - other(y, s)) for y, s in sets(args.sets, 0)])
            print(f"| {metric} | {name} | {gaps.max():.1e} | {np.count_nonzero(gaps)} |", flush=True)


if __name__ == "__main__":
    main()
