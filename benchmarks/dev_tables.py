"""The evaluation notebooks, run by papermill on the dev splits of the labelled collections, and their tables.

    python benchmarks/dev_tables.py --corpora DIR --checkpoints DIR > benchmarks/results/dev_tables.md

Each collection is given groups and generators where its manifest names them otherwise; files are neither copied nor
changed. What files say of themselves is left aside: only content counts. The figures are of development data, on which
thresholds were chosen.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd

from forensix import Evaluation, Manifest
from forensix.evaluation.tables import wide

try:
    import papermill
except ModuleNotFoundError:
    sys.exit("the notebooks are run by papermill, which is not installed: pip install 'forensix[notebook]'")

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
MAIN = ["auc", "average_precision", "eer", "accuracy_0.5", "balanced_accuracy_threshold", "balanced_accuracy_oracle"]
MORE = ["tpr_at_fpr_0.01", "brier", "ece", "cllr", "min_dcf", "act_dcf"]
RUNS: dict[str, dict[str, Any]] = {
    "images": {
        "task": "ai_generated_image_detection",
        "degradations": {"jpeg": [90, 70, 50], "resize": [0.75, 0.5], "blur": [1], "noise": [4], "screenshot": [1]},
    },
    "faces": {
        "task": "face_manipulation",
        "degradations": {"jpeg": [70, 50], "resize": [0.5], "blur": [1], "crf": [33], "scale": [0.5]},
    },
    "voice": {
        "task": "voice_analysis",
        "components": "forensix-spoof,aasist",
        "degradations": {
            **{"mp3": [32], "opus": [16], "telephone": [None], "pink_noise": [20]},
            **{"reverberation": [0.4], "rawboost": [0.5]},
        },
    },
}
COMMAND = "python benchmarks/dev_tables.py --corpora DIR --checkpoints DIR"


def main() -> None:
    """Run the notebooks and print their tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--checkpoints", type=Path, required=True, help="folder with aasist/AASIST.pth")
    parser.add_argument("--output", type=Path, help="keep notebooks and scores here; what is there is not scored again")
    parser.add_argument("--runs", nargs="+", choices=RUNS, default=list(RUNS))
    options = parser.parse_args()
    os.environ["FORENSIX_CHECKPOINTS"] = str((options.checkpoints / "aasist").absolute())
    with tempfile.TemporaryDirectory() as scratch:
        output = options.output or Path(scratch)
        output.mkdir(parents=True, exist_ok=True)
        print(f"# The dev splits through the notebooks\n\n`{COMMAND}`")
        for name in options.runs:
            manifest = prepared(options.corpora / name, Path(scratch) / name)
            evaluation = evaluated(name, manifest, output)
            print_tables(name, evaluation)


def prepared(corpus: Path, folder: Path) -> Path:
    """Write a manifest of the dev split that says what belongs together and what made each fake."""
    folder.mkdir()
    (folder / "media").symlink_to(corpus.absolute(), target_is_directory=True)
    table = Manifest.read(corpus / "manifest.csv").where(split="dev").table
    maker = next(name for name in ("generator", "system", "method") if name in table)
    own = next(name for name in ("speaker", "identity", "path") if name in table)
    is_fake = table["label"] == "fake"
    origin = table["source_repo"] + "/"
    table = table.assign(
        path="media/" + table["path"],
        source=table["source_repo"],
        generator=table[maker].where(is_fake),
        group_id=(origin + table[maker]).where(
            is_fake & (corpus.name != "faces"), origin + table[own].fillna(table["path"])
        ),
    )
    Manifest(table, root=folder).write(folder / "manifest.csv")
    return folder / "manifest.csv"


def evaluated(name: str, manifest: Path, output: Path) -> Evaluation:
    parameters = {"manifest": str(manifest), "output": str((output / name).absolute()), "metadata": False, **RUNS[name]}
    if (output / name / "result.json").is_file():
        return Evaluation.load(output / name)
    print(f"{name} ...", file=sys.stderr, flush=True)
    papermill.execute_notebook(
        NOTEBOOKS / "evaluate.ipynb", output / f"{name}.ipynb", parameters=parameters, cwd=output, progress_bar=False
    )
    return Evaluation.load(output / name)


def print_tables(name: str, evaluation: Evaluation) -> None:
    summary = evaluation.summary()
    plain = summary[summary["degradation"] == "none"]
    print(f"\n## {name}: {evaluation.info['task']}\n")
    n_unscored = evaluation.unscored["path"].nunique()
    print(f"Rows that failed: {len(evaluation.failures)}. Nothing to score: {n_unscored} files.\n")
    for metrics in (MAIN, MORE):
        print(markdown(wide(plain, [metric for metric in metrics if metric in set(plain["metric"])])))
    if not evaluation.frames.empty:
        print("Frames of videos:\n")
        frames = evaluation.summary(level="frame")
        print(markdown(wide(frames[frames["degradation"] == "none"], MAIN)))
    print("Each generator against all real files:\n")
    rows = evaluation.by("generator")
    print(markdown(wide(rows[rows["degradation"] == "none"], ["auc", "eer", "balanced_accuracy_threshold"])))
    if len(evaluation.components) > 1:
        print("Paired differences:\n")
        paired = evaluation.compare()
        cells = paired[(paired["degradation"] == "none") & paired["metric"].isin(("auc", "eer", "cllr"))]
        columns = ["component", "baseline", "metric", "value", "baseline_value", "difference", "low", "high", "p"]
        print(markdown(cells[columns].round(3)))
    print("Degraded:\n")
    print(markdown(wide(summary, ["auc", "eer", "balanced_accuracy_threshold"])))
    for note in evaluation.notes:
        print(f"- {note}")


def markdown(table: pd.DataFrame) -> str:
    lines = [table.columns, ["---"] * len(table.columns), *table.itertuples(index=False, name=None)]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


if __name__ == "__main__":
    main()
