"""Does the heat map mean something? Parts of one face are blended into another; print where the map is higher.

    python benchmarks/face_heatmap.py --corpora DIR > benchmarks/results/face_heatmap.md

Both faces are real photographs of the development split, cut upright. A part of the second takes the place of the same
part of the first, in its colours and with a soft edge, and the whole is stored as JPEG. The mean of the map inside the
part is compared with that outside of it, within the face: a map that only marks the middle of every crop cannot gain by
that. The control asks the same of the untouched photograph, where there is nothing to see: what the map prefers anyway.
The last column asks whether the blend has more inside, less outside, than the untouched photograph has: what is owed to
the blend alone. With ``--card`` the shipped card is given the figures.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

from forensix.faces import RegionDetector, aligned, forensix_face_regions, landmarks
from forensix.faces.align import ALIGNED_PX
from forensix.models import Measurement
from forensix.models.files import SHIPPED
from forensix.models.store import write_card
from forensix.perturb.image import jpeg
from forensix.tasks.verdicts import upper_of

COMMAND = "python benchmarks/face_heatmap.py --corpora DIR"
RGB = NDArray[np.uint8]
N_PAIRS = 30
LEAST_EYES_PX = 30
FEATHER_PX = 5
QUALITY = 90
FACE = (56, 40, 168, 186)
"""The oval of the face in an aligned crop."""

PARTS: dict[str, tuple[int, int, int, int]] = {
    "eyes and brows": (62, 70, 162, 114),
    "mouth and chin": (78, 126, 146, 176),
    "left half": (56, 40, 112, 186),
    "right half": (112, 40, 168, 186),
}
"""Boxes; only what lies in the oval is exchanged."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--card", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    detector = forensix_face_regions()
    crops = photographs(options.corpora / "faces")
    pairs = [(a, b) for a, b in zip(crops, crops[len(crops) // 2 :] + crops, strict=False)][:N_PAIRS]
    print("# Heat map of faces: parts of one face blended into another\n")
    print(f"Command: `{COMMAND}`\n")
    print(f"{detector.card.name}, {len(pairs)} pairs of development photographs. Goal: 0.80 of all blends.\n")
    print("| part | blends | higher inside than outside | the same of the untouched photograph | more so than there |")
    print("|---|---|---|---|---|")
    all_rows: list[tuple[bool, bool, bool]] = []
    for name, box in PARTS.items():
        rows = [compared(detector, a, b, box) for a, b in pairs]
        print_row(name, rows)
        all_rows += rows
    print_row("**all**", all_rows)
    upper = upper_of(detector, "image")
    n = int((detector.score(np.stack(crops)) >= upper).sum())
    print(f"\nOf {len(crops)} photographs as they are {n} are told to differ in a part (from {upper} up).")
    if options.card:
        others = [figure for figure in detector.card.measured if figure.command != COMMAND]
        write_card(detector.card.model_copy(update={"measured": (*others, *figures(all_rows))}), SHIPPED)


def figures(rows: list[tuple[bool, bool, bool]]) -> list[Measurement]:
    metrics = (
        "heat map higher inside a part blended in than outside",
        "the same of the untouched photograph",
        "blends that raise the inside over the outside",
    )
    about = "blends of four parts of a face between development photographs"
    shares = np.mean(rows, axis=0)
    return [
        Measurement(metric=metric, value=round(float(share), 4), data=about, n_fake=len(rows), command=COMMAND)
        for metric, share in zip(metrics, shares, strict=True)
    ]


def print_row(name: str, rows: list[tuple[bool, bool, bool]]) -> None:
    blended, untouched, more = np.mean(rows, axis=0)
    print(f"| {name} | {len(rows)} | {blended:.2f} | {untouched:.2f} | {more:.2f} |", flush=True)


def photographs(corpus: Path) -> list[RGB]:
    """Return one upright crop of each person, of faces that are large enough."""
    table = pd.read_csv(corpus / "manifest.csv", dtype=str)
    table = table[(table["split"] == "dev") & (table["kind"] == "image") & (table["label"] == "real")]
    crops = []
    for path in table.drop_duplicates("identity")["path"]:
        rgb = np.asarray(Image.open(corpus / path).convert("RGB"))
        for points in landmarks(rgb)[:1]:
            if np.hypot(*(points[1] - points[0])) >= LEAST_EYES_PX:
                crops.append(aligned(rgb, points))
    return crops


def mask_of(box: tuple[int, int, int, int], draw: Callable[[ImageDraw.ImageDraw], None]) -> NDArray[np.bool_]:
    picture = Image.new("L", (ALIGNED_PX, ALIGNED_PX))
    draw(ImageDraw.Draw(picture))
    inside = np.zeros((ALIGNED_PX, ALIGNED_PX), bool)
    inside[box[1] : box[3], box[0] : box[2]] = True
    return inside & (np.asarray(picture) > 0)


def compared(
    detector: RegionDetector, first: RGB, second: RGB, box: tuple[int, int, int, int]
) -> tuple[bool, bool, bool]:
    """Say whether the map is higher inside, of the blend and of the untouched photograph, and more so of the blend."""
    oval = mask_of((0, 0, ALIGNED_PX, ALIGNED_PX), lambda draw: draw.ellipse(FACE, fill=255))
    inside = mask_of(box, lambda draw: draw.ellipse(FACE, fill=255))
    soft = Image.fromarray((255 * inside).astype(np.uint8)).filter(ImageFilter.GaussianBlur(FEATHER_PX))
    weight = np.asarray(soft)[..., None] / 255
    here, there = first[inside].astype(float), second[inside].astype(float)
    recoloured = (second - there.mean(axis=0)) / (there.std(axis=0) + 1) * (here.std(axis=0) + 1) + here.mean(axis=0)
    blend = np.clip(first * (1 - weight) + recoloured * weight, 0, 255).astype(np.uint8)
    maps = [detector.heatmap(jpeg(picture, QUALITY)) for picture in (blend, first)]
    blended, untouched = (float(heat[inside].mean() - heat[oval & ~inside].mean()) for heat in maps)
    return blended > 0, untouched > 0, blended > untouched


if __name__ == "__main__":
    main()
