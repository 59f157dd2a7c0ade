"""The three scored tasks on the development splits, as a user runs them: ``analyze_many`` on files.

    python benchmarks/end_to_end.py --corpora DIR

Detection, tracking, speech finding and provenance are all in it, so its figures may differ from those of the models
alone.
An input without a score (no face, no speech) is counted, and left out of the AUC; a failed one is listed.
"""

import argparse
from collections import Counter
from pathlib import Path

import numpy as np

import forensix
from forensix.metrics import auc, bootstrap_interval, eer

SETS = {
    "voice": "voice_analysis",
    "images": "ai_generated_image_detection",
    "faces": "face_manipulation",
}
KINDS = {"faces": ("image", "video")}


def rows(corpora: Path, name: str, kind: str | None) -> forensix.Manifest:
    """Return the development rows of a corpus, of one kind of media where it holds several."""
    manifest = forensix.Manifest.read(corpora / name / "manifest.csv").where(split="dev")
    return manifest.where(kind=kind) if kind else manifest


def line(label: str, task: str, manifest: forensix.Manifest) -> str:
    """Analyse one set and return its row of the table."""
    labels, scores, verdicts, failed = [], [], Counter(), []
    options = {"explain": False, "transcribe": False}
    for fake, report in zip(
        manifest.is_fake(), forensix.analyze_many(map(str, manifest.paths()), [task], **options), strict=True
    ):
        if report.failed:
            failed.append(report.name)
            continue
        verdicts[fake, report.verdicts[task]] += 1
        if report.scores[task] is not None:
            labels.append(fake)
            scores.append(report.scores[task])
    y, s = np.array(labels), np.array(scores)
    low, high = bootstrap_interval(auc, y, s)
    n_real, n_fake = int((y == 0).sum()), int(y.sum())
    unscored = sum(n for (_, verdict), n in verdicts.items() if verdict not in {"real", "fake"})
    missing = ", ".join(failed) or "0"
    return (
        f"| {label} | {n_real} | {n_fake} | {auc(y, s):.3f} ({low:.3f} to {high:.3f}) | {eer(y, s):.3f} "
        f"| {verdicts[0, 'fake']} of {n_real} | {verdicts[1, 'real']} of {n_fake} | {unscored} | {missing} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--only", choices=sorted(SETS), help="one corpus")
    args = parser.parse_args()
    print("Command: `python benchmarks/end_to_end.py --corpora DIR`\n")
    print("| development set | real | fake | AUC | EER | real called fake | fake missed | not scored | failed |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, task in SETS.items():
        if args.only in (None, name):
            for kind in KINDS.get(name, (None,)):
                label = f"{name}, {kind}s" if kind else name
                print(line(label, task, rows(args.corpora, name, kind)), flush=True)


if __name__ == "__main__":
    main()
