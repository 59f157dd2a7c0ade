"""Can the network of forensix-face tell types of manipulation apart? Fakes of repositories that it never saw.

    python benchmarks/face_types.py --list faces.csv --pictures images.csv --corpora DIR --repositories DIR \\
        --work DIR > benchmarks/results/face_types.md

Pictures, at most 24 of a repository, and clips, the first 12 files of a repository with all cells of their grids, as
`forensix.training.faces.bounds` takes them; ``--work`` is its folder too. Beside its verdict the network learnt to tell
three types apart; what it says most of a face's moments is counted against what the list says. Balanced accuracy is
the mean over the types that it learnt; a constant answer has the share of one type.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from forensix.faces import FaceClassifier, aligned, forensix_face
from forensix.faces.classify import network_input
from forensix.training.bands import choose
from forensix.training.faces import crops, joined
from forensix.training.faces.bounds import FILES, MOST
from forensix.training.faces.data import TYPES
from forensix.training.faces.lists import Origin, list_faces


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("list", "pictures", "corpora", "repositories", "work"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    options = parser.parse_args()
    torch.set_num_threads(1)
    classifier = forensix_face()
    table = list_faces(Origin(options.list, options.pictures, options.corpora, options.repositories))
    parts = {
        "pictures": choose(table[table["static"]], classifier.card, MOST),
        "clips": joined.files_of(table[~table["static"]], FILES),
    }
    print("# Types of manipulation: what the network says of fakes of sources that it never saw\n")
    print("Command: `python benchmarks/face_types.py --list faces.csv --pictures images.csv --corpora DIR")
    print("--repositories DIR --work DIR`\n")
    for name, part in parts.items():
        rows = part[part["label"] == "fake"]
        cache = options.work / "crops"
        crops.fill(rows, cache, options.repositories)
        print_confusion(name, typed(rows, cache, classifier))


def typed(rows: pd.DataFrame, cache: Path, classifier: FaceClassifier) -> pd.DataFrame:
    """Return of each face in the cache: repo, method as listed, and ``said``, the type that the network says."""
    faces = []
    for row, face in crops.rows_with_faces(rows, cache):
        views = np.stack([aligned(face.rgb[i, 0], face.landmarks[i]) for i in range(len(face))])
        faces.append((row["repo"], row["method"], TYPES[int(shares(classifier, views).argmax())]))
    return pd.DataFrame(faces, columns=["repo", "method", "said"])


def shares(classifier: FaceClassifier, views: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return the share of each of ``TYPES``, the mean over crops (n, S, S, 3) and their mirror images: float (3,)."""
    feeding = classifier.card.preprocessing
    x = network_input(views, int(feeding["size_px"]), float(feeding["inner"]))
    outputs, _ = classifier.network(torch.cat([x, x.flip(3)]))
    means: NDArray[np.float64] = outputs[:, 1:].double().softmax(1).mean(0).numpy()
    return means


def print_confusion(name: str, faces: pd.DataFrame) -> None:
    said = pd.crosstab(faces["method"], faces["said"]).reindex(columns=list(TYPES), fill_value=0)
    sources = faces.groupby("method")["repo"].nunique()
    print(f"## {len(faces)} {name}\n")
    print(f"| listed as | sources | {' | '.join(f'said: {one}' for one in TYPES)} |\n|{'---|' * (len(TYPES) + 2)}")
    for method, row in said.iterrows():
        print(f"| {method} | {sources[method]} | {' | '.join(str(n) for n in row)} |")
    learnt = [one for one in TYPES if one in said.index]
    recall = [said.loc[one, one] / said.loc[one].sum() for one in learnt]
    names, constant = ", ".join(learnt), 1 / len(learnt)
    print(f"\nBalanced accuracy over {names}: {np.mean(recall):.2f}; a constant answer gives {constant:.2f}.")
    print(f"Of all, {(faces['method'] == faces['said']).mean():.2f} are named as listed.\n", flush=True)


if __name__ == "__main__":
    main()
