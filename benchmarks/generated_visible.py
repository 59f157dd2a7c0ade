"""Visible marks: false alarms on photographs, marked files that are found, and what is left of a mark after changes.

    python -m benchmarks.generated_visible --corpora DIR --list images.csv --repositories DIR [--most N]

False alarms are counted on the photographs of the list, at most ``--most`` of a repository, and of the images corpus;
marked files among the generated pictures to train on, at most ``--most`` of a repository and generator.
``LEAST_LIKENESS`` was chosen with the training photographs seen, so those of the development rows are counted apart.
Then marks are drawn on photographs, at most two of a repository, and read after each change.
"""

import argparse
import io
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image
from scipy.stats import binomtest

from benchmarks.generated_watermark import jpeg, photographs, pictures
from forensix.errors import ForensixError
from forensix.synthetic.visible_marks import (
    LEAST_LIKENESS,
    SQUARE_SHARE,
    SQUARES,
    coloured_squares,
    likeliest_star,
    star,
)
from forensix.training.images.lists import Origin, list_pictures
from forensix.training.sources import Repositories, read_list

SIDE_PX = 1024
STAR_FROM_EDGE_PX, STAR_POINT_PX, STAR_SHARPNESS, STAR_ALPHA = 112, 48, 0.62, 0.5
"""A star as Gemini draws it at this size: its middle from both edges, its points, their p, its opacity."""

CHANGES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "as drawn": lambda rgb: rgb,
    "JPEG 75": lambda rgb: jpeg(rgb, 75, 2),
    "JPEG 40": lambda rgb: jpeg(rgb, 40, 2),
    "half size": lambda rgb: np.asarray(Image.fromarray(rgb).resize((SIDE_PX // 2, SIDE_PX // 2))),
    "a quarter of the size, JPEG 75": lambda rgb: jpeg(
        np.asarray(Image.fromarray(rgb).resize((SIDE_PX // 4, SIDE_PX // 4))), 75, 2
    ),
    "8 px cut off at the lower right": lambda rgb: rgb[:-8, :-8],
}


def with_squares(rgb: np.ndarray) -> np.ndarray:
    side = round(SIDE_PX * SQUARE_SHARE)
    marked = rgb.copy()
    for index, colour in enumerate(reversed(SQUARES)):
        marked[-side:, SIDE_PX - (index + 1) * side : SIDE_PX - index * side] = colour
    return marked


def with_star(rgb: np.ndarray) -> np.ndarray:
    y, x = np.abs(np.mgrid[:SIDE_PX, :SIDE_PX] + 0.5 - (SIDE_PX - STAR_FROM_EDGE_PX)) / STAR_POINT_PX
    alpha = STAR_ALPHA * (x**STAR_SHARPNESS + y**STAR_SHARPNESS <= 1)[..., None]
    return np.asarray(np.rint(rgb * (1 - alpha) + 255 * alpha), dtype=np.uint8)


def generated(arguments: argparse.Namespace) -> Iterator[tuple[str, np.ndarray]]:
    """Yield source and pixels of the generated pictures to train on that are at hand."""
    table = list_pictures(Origin(arguments.list, arguments.corpora, arguments.repositories), "train")
    table = table[table.fake & (table.cells == 1)]
    with Repositories(arguments.repositories) as sources:
        for row in table[table.groupby(["repo", "made_by"]).cumcount() < arguments.most].itertuples():
            listed = {"blob": row.blob, "ref": row.ref}
            try:
                data = sources.read(row.repo, row.path, **listed) if row.ref else Path(row.path).read_bytes()
                with Image.open(io.BytesIO(data)) as picture:
                    yield f"{row.repo}, {row.made_by}", np.asarray(picture.convert("RGB"))
            except (ForensixError, OSError, ValueError):
                continue


def read(files: Iterable[tuple[str, np.ndarray]]) -> pd.DataFrame:
    """Return repository, what the mark names, and the likeness of the best place for a star, of each picture."""
    rows = []
    for repo, rgb in files:
        place = likeliest_star(rgb)
        likeness = place.likeness if place else 0.0
        named = "dall-e-2" if coloured_squares(rgb) else "gemini" if likeness >= LEAST_LIKENESS else None
        rows.append({"repo": repo, "mark": named, "likeness": likeness})
    return pd.DataFrame(rows)


def false_alarms(table: pd.DataFrame, title: str) -> None:
    low, high = binomtest(int(table.mark.notna().sum()), len(table)).proportion_ci()
    print(f"- {title}: {table.mark.notna().sum()} of {len(table)} of {table.repo.nunique()} sources (95 % interval "
          f"{low:.5f} to {high:.5f}); the likeliest star {table.likeness.max():.2f}", flush=True)  # fmt: skip


def squares_of(arguments: argparse.Namespace) -> Iterator[np.ndarray]:
    """Yield photographs that are large enough, cut to `SIDE_PX` at the lower right."""
    for _, rgb in pictures(arguments, "real", 2):
        if min(rgb.shape[:2]) >= SIDE_PX:
            yield rgb[-SIDE_PX:, -SIDE_PX:]


def main() -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(description="Visible marks: false alarms and recall.")
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--list", type=Path, required=True)
    parser.add_argument("--repositories", type=Path, required=True)
    parser.add_argument("--most", type=int, default=200)
    arguments = parser.parse_args()
    command = "python -m benchmarks.generated_visible --corpora DIR --list images.csv --repositories DIR"
    print(f"# Visible marks\n\n    {command} --most {arguments.most}\n\n## False alarms on photographs\n", flush=True)
    rows = read_list(arguments.list)
    is_dev = set(rows.repo[rows.split == "dev"])
    table = read(photographs(arguments))
    false_alarms(table[~table.repo.isin(is_dev)], "training rows and the images corpus")
    false_alarms(table[table.repo.isin(is_dev)], "development rows")
    print("\n## Generated pictures that carry a mark\n")
    table = read(generated(arguments))
    for (repo, mark), part in table[table.mark.notna()].groupby(["repo", "mark"]):
        print(f"- {repo}: {len(part)} of {(table.repo == repo).sum()} are named {mark}")
    print(f"- all: {table.mark.notna().sum()} of {len(table)} of {table.repo.nunique()} sources")
    plain = list(squares_of(arguments))
    print(f"\n## Read after changes\n\n{len(plain)} photographs of {SIDE_PX} px.\n")
    print("| change | squares | star |\n|---|---|---|")
    drawn = [(with_squares(rgb), with_star(rgb)) for rgb in plain]
    for name, change in CHANGES.items():
        squares_read = sum(coloured_squares(change(squares)) is not None for squares, _ in drawn)
        stars_read = sum(star(change(starred)) is not None for _, starred in drawn)
        print(f"| {name} | {squares_read} | {stars_read} |", flush=True)


if __name__ == "__main__":
    main()
