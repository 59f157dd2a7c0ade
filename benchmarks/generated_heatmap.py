"""Does the heat map mean something? Generated patches are pasted into photographs; print where the map is higher.

    python -m benchmarks.generated_heatmap --list CSV --corpora DIR --repositories DIR

Photographs and generated pictures are those of the development split. A square of a generated picture, at native
resolution, is pasted into a photograph (the whole then stored as JPEG, so that both went through one encoder), and the
mean of the map inside is compared with that outside. The control pastes a square of another photograph the same way.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.generated_images import RGB, SEED, Pictures
from forensix.metrics import auc
from forensix.perturb.image import jpeg
from forensix.synthetic.detector import ImageDetector, forensix_image
from forensix.training.images.lists import Origin

COMMAND = "python -m benchmarks.generated_heatmap --list CSV --corpora DIR --repositories DIR"
N = 24
OF_EACH = 4
PHOTO_PX, PATCH_PX = (672, 672), 288
QUALITY = 90


def middle(rgb: RGB, height: int, width: int) -> RGB | None:
    """Return the middle of a picture, or nothing where it is smaller."""
    top, left = (rgb.shape[0] - height) // 2, (rgb.shape[1] - width) // 2
    return rgb[top : top + height, left : left + width] if min(top, left) >= 0 else None


def cuts(pictures: Pictures, rows: pd.DataFrame, size: tuple[int, int], n: int) -> list[RGB]:
    """Return the middles of ``n`` pictures, source after source."""
    order = rows.assign(rank=rows.groupby(["repo", "made_by"]).cumcount()).sort_values("rank", kind="stable")
    crops: list[RGB] = []
    for rgb in pictures.each(order):
        if (cut := middle(rgb, *size)) is not None:
            crops.append(cut)
        if len(crops) == n:
            break
    return crops


def compare(detector: ImageDetector, photos: list[RGB], patches: list[RGB], name: str) -> None:
    """Print how the map differs between a pasted patch and the photograph around it."""
    rng = np.random.default_rng(SEED)
    higher, areas = [], []
    for photo, patch in zip(photos, patches, strict=False):
        top, left = (int(rng.integers(side - PATCH_PX + 1)) for side in photo.shape[:2])
        at = (slice(top, top + PATCH_PX), slice(left, left + PATCH_PX))
        changed = photo.copy()
        changed[at] = patch
        heat = detector.heatmap(jpeg(changed, QUALITY))
        inside = np.zeros(heat.shape, bool)
        inside[at] = True
        higher.append(heat[inside].mean() > heat[~inside].mean())
        areas.append(auc(inside[::8, ::8].ravel().astype(int), heat[::8, ::8].ravel()))
    print(f"| {name} | {len(higher)} | {np.mean(higher):.2f} | {np.mean(areas):.3f} |", flush=True)


def main() -> None:
    """Read the command line and print."""
    parser = argparse.ArgumentParser(description="Measure the heat map on pasted patches.")
    parser.add_argument("--list", type=Path, required=True)
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--repositories", type=Path, required=True)
    arguments = parser.parse_args()
    pictures = Pictures(Origin(arguments.list, arguments.corpora, arguments.repositories), OF_EACH)
    real, fake = pictures.rows[~pictures.rows.fake], pictures.rows[pictures.rows.fake]
    photos = cuts(pictures, real, PHOTO_PX, N)
    # The control's photographs stand elsewhere in the list, so that none is pasted into itself.
    others = cuts(pictures, real, (PATCH_PX, PATCH_PX), 2 * N)[::-1][:N]
    print(f"# Heat map: patches of {PATCH_PX} px in photographs of {PHOTO_PX[0]} x {PHOTO_PX[1]} px\n")
    print(f"Command: `{COMMAND}`\n")
    print("| pasted | n | higher inside | AUC of places, mean |\n|---|---|---|---|")
    detector = forensix_image()
    compare(detector, photos, cuts(pictures, fake, (PATCH_PX, PATCH_PX), N), "generated")
    compare(detector, photos, others, "another photograph")


if __name__ == "__main__":
    main()
