"""Where faces lie in pictures: portraits of StyleGAN's generators beside photographs and other generators, by source.

    python benchmarks/face_placement.py --list CSV --corpora DIR --repositories DIR

The median and the spread in `forensix.faces.ffhq` are those printed of the training rows; the development rows took no
part. Cells of montages are left out.
"""

import argparse
import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from PIL import Image, ImageOps

from forensix.errors import InputNotFound
from forensix.faces.detect import Mtcnn
from forensix.faces.ffhq import MOST_UNSQUARE, is_ffhq_aligned, placement
from forensix.training.images.lists import Origin, list_pictures
from forensix.training.sources import Repositories

ALIGNED = r"StyleGAN2.*(?:FFHQ|thispersondoesnotexist)"
"""Generators that draw whole portraits where FFHQ has them."""

GROUPS = ("StyleGAN, any", "other generators", "photographs")


def read(row: Any, files: Repositories) -> NDArray[np.uint8] | None:
    """Return a picture upright, or none where it is not at hand or breaks off."""
    try:
        data = files.read(row.repo, row.path, blob=row.blob, ref=row.ref) if row.ref else Path(row.path).read_bytes()
        with Image.open(io.BytesIO(data)) as picture:
            return np.asarray(ImageOps.exif_transpose(picture).convert("RGB"))
    except (InputNotFound, OSError):
        return None


def measured(table: pd.DataFrame, repositories: Path) -> pd.DataFrame:
    """Return the pictures at hand with the placement of the largest face of each square one, else NaN."""
    detector, at_hand, placements, aligned = Mtcnn(), [], [], []
    with Repositories(repositories) as files:
        for index, row in zip(table.index, table.itertuples(), strict=True):
            if (rgb := read(row, files)) is None:
                continue
            width, height = size = rgb.shape[1::-1]
            is_square = abs(width - height) <= MOST_UNSQUARE * height
            faces = detector.detect([rgb])[0] if is_square else ()
            points = faces.landmarks[np.ptp(faces.boxes[:, 1::2], axis=1).argmax()] if len(faces) else None
            at_hand.append(index)
            placements.append(np.full(4, np.nan) if points is None else placement(points, size))
            aligned.append(points is not None and is_ffhq_aligned(points, size))
    return table.loc[at_hand].assign(placement=placements, aligned=aligned)


def counts(rows: pd.DataFrame) -> str:
    return f"{int(rows.aligned.sum())} of {len(rows)}"


def report(table: pd.DataFrame) -> None:
    """Print how many lie so, by kind and by source."""
    style = table.made_by.str.contains("StyleGAN", case=False)
    print("| pictures | lie where StyleGAN's portraits lie |\n|---|---|")
    for name, rows in zip(GROUPS, (table[style], table[table.fake & ~style], table[~table.fake]), strict=True):
        print(f"| {name} | {counts(rows)} |")
    print("\nSources with StyleGAN's pictures, or with any that lie so:\n")
    print("| source | made by | lie so |\n|---|---|---|")
    for (repo, made_by), rows in table.groupby(["repo", "made_by"]):
        if rows.aligned.any() or style[rows.index].any():
            print(f"| {repo} | {made_by or 'camera'} | {counts(rows)} |")
    others = table[~table.fake].groupby("repo").filter(lambda rows: not rows.aligned.any())
    print(f"\nPhotographs of the {others.repo.nunique()} other sources: {counts(others)}.", flush=True)


def main() -> None:
    """Read the command line and print."""
    parser = argparse.ArgumentParser(description="Measure where faces lie in pictures.")
    parser.add_argument("--list", type=Path, required=True)
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--repositories", type=Path, required=True)
    parser.add_argument("--most", type=int, default=60, help="pictures of a generator in a repository")
    arguments = parser.parse_args()
    origin = Origin(arguments.list, arguments.corpora, arguments.repositories)
    print("# Placement of faces\n\n`python benchmarks/face_placement.py --list CSV --corpora DIR --repositories DIR`")
    for split, title in (("train", "Training rows, which set the bounds"), ("dev", "Development rows")):
        table = list_pictures(origin, split)
        table = table[(table.cells == 1) & (table.groupby(["repo", "made_by"]).cumcount() < arguments.most)]
        table = measured(table.reset_index(drop=True), arguments.repositories)
        print(f"\n## {title}\n")
        if split == "train":
            at = np.stack(table.placement[table.made_by.str.contains(ALIGNED)])
            at = at[np.isfinite(at).all(axis=1)]
            median = np.median(at, axis=0)
            spread = 1.4826 * np.median(np.abs(at - median), axis=0)
            print(f"Of {len(at)} aligned portraits: median {median.round(4)}, spread {spread.round(4)}.\n")
        report(table)


if __name__ == "__main__":
    main()
