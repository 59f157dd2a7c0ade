"""Photographs of many cameras that training did not use: how many are called generated, and how small they may be.

    python -m benchmarks.generated_cameras --list CSV --repositories DIR

takes the JPEG files that name a camera's maker, of two repositories which hold a picture or two of each model, less
those that the list of pictures has as well. First they are analysed as they are, by the length of their shorter side;
then those of `SCALED_PX` and more are scaled down and stored at JPEG `QUALITY`, and their pixels scored alone, whatever
the rule for small pictures says. Shares come with Wilson intervals of 95 %.

`TINY_PX` of `forensix.synthetic.content` was set by the second table.
"""

import argparse
import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image

import forensix
from benchmarks.forensic_pixels import interval
from forensix.errors import ForensixError, InputNotFound
from forensix.models import band_of, get_card
from forensix.synthetic.crops import RGB
from forensix.tasks.catalogue import AI_GENERATED_IMAGE_DETECTION
from forensix.training.sources import Repositories, read_list

TASK = AI_GENERATED_IMAGE_DETECTION.name
REPOSITORIES = ("drewnoakes/metadata-extractor-images", "ianare/exif-samples")
MAKE = 0x010F
SCALED_PX = 640
SIDES_PX = (64, 96, 128, 160, 192, 224, 320, 448)
EDGES_PX = (0, 64, 160, 320, 640, 1280, 100_000)
QUALITY = 88


def photographs(repositories: Path, known: set[str]) -> Iterator[bytes]:
    """Yield the bytes of the cameras' files; the same bytes once."""
    seen = set(known)
    with Repositories(repositories) as opened:
        for repo in REPOSITORIES:
            for path, blob in opened.files(repo):
                if blob in seen or not path.lower().endswith((".jpg", ".jpeg")):
                    continue
                seen.add(blob)
                try:
                    data = opened.read(repo, path, blob=blob)
                    with Image.open(io.BytesIO(data)) as image:
                        made = image.getexif().get(MAKE)
                        image.load()
                except (InputNotFound, OSError, ValueError, SyntaxError):
                    continue
                if made:
                    yield data


def scaled(data: bytes, side_px: int) -> RGB | None:
    """Return a photograph with a shorter side of ``side_px``, stored anew; nothing where it is too small for that."""
    with Image.open(io.BytesIO(data)) as image:
        rgb = image.convert("RGB")
    if min(rgb.size) < SCALED_PX:
        return None
    scale = side_px / min(rgb.size)
    file = io.BytesIO()
    size = (round(rgb.width * scale), round(rgb.height * scale))
    rgb.resize(size, Image.Resampling.LANCZOS).save(file, "JPEG", quality=QUALITY)
    return np.asarray(Image.open(file).convert("RGB"))


def as_they_are(files: list[bytes]) -> pd.DataFrame:
    """Return the shorter side and the verdict of each file; those that the sandbox refuses are left out."""
    rows = []
    for data in files:
        try:
            report = forensix.analyze(io.BytesIO(data), tasks=[TASK], explain=False)
        except ForensixError:
            continue
        with Image.open(io.BytesIO(data)) as image:
            rows.append((min(image.size), report.verdicts[TASK]))
    table = pd.DataFrame(rows, columns=["side", "verdict"])
    return table[table["verdict"] != "failed"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", type=Path, required=True, help="images.csv, whose files are left out")
    parser.add_argument("--repositories", type=Path, required=True, help="folder of repositories, owner+name")
    arguments = parser.parse_args()
    files = list(photographs(arguments.repositories, set(read_list(arguments.list)["blob"])))
    lower, upper = band_of(get_card("forensix-image"), "image") or (0.0, 1.0)
    print("# Photographs of many cameras\n")
    print("Command: `python -m benchmarks.generated_cameras --list CSV --repositories DIR`\n")
    print("| shorter side | photographs | called generated | undecided | called photographed |")
    print("|---|---|---|---|---|")
    rows = as_they_are(files)
    bins = pd.cut(rows["side"], EDGES_PX, right=False)
    for sides, group in [*rows.groupby(bins, observed=True), (None, rows)]:
        name = "all" if sides is None else f"{sides.left} to {sides.right - 1} px"
        counts = [int((group["verdict"] == verdict).sum()) for verdict in ("fake", "inconclusive", "real")]
        print(f"| {name} | {len(group)} | {interval(counts[0], len(group))} | {counts[1]} | {counts[2]} |")
    print(f"\nThe same of {SCALED_PX} px and more, scaled down, by their pixels alone:\n")
    print(f"| shorter side | photographs | at or above {upper:.3g} | below {lower:.3g} |\n|---|---|---|---|")
    detector = forensix.load_detector("forensix-image")
    for side in SIDES_PX:
        scores = detector.score([rgb for data in files if (rgb := scaled(data, side)) is not None])
        high, low = int((scores >= upper).sum()), int((scores < lower).sum())
        print(
            f"| {side} px | {len(scores)} | {interval(high, len(scores))} | {interval(low, len(scores))} |", flush=True
        )


if __name__ == "__main__":
    main()
