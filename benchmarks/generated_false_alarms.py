"""Photographs by many cameras, pictures on the web and paintings, that training did not use: how many are called fake.

    python -m benchmarks.generated_false_alarms --list CSV --repositories DIR --corpora DIR

takes the JPEG files that name a camera's maker, of two repositories which hold a picture or two of each model, and
those of `WEB`: photographs for pages and for examples of code, a few paintings, plots and pictures of space among them,
all looked at, none generated; and those of `PAINTINGS`, whose style programs took: paintings and prints, several of
them in more than one file, and a few drawings and textures; less those that the list of pictures has as well. They are
analysed as they are, by the length of their shorter side. Then the cameras' of `SCALED_PX` and more are scaled down and
stored at JPEG `QUALITY`, and their pixels scored alone, whatever the rules for small pictures say. The corpora's
development pictures, most of them small, and the share of the training pictures that look painted, or are mostly black
or white, say what is lost.
Shares come with Wilson intervals of 95 %.

`TINY_PX` and `SMALL_PX` of `forensix.synthetic.content` were set by these tables, `PAINTED` with the paintings in
sight, and `MOSTLY` with a photograph of galaxies and one through a microscope that were called generated.
"""

import argparse
import io
import random
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image

import forensix
from benchmarks.forensic_pixels import interval
from forensix.errors import ForensixError, InputNotFound
from forensix.models import band_of, get_card
from forensix.synthetic.content import is_black_or_white, looks_painted
from forensix.synthetic.crops import RGB
from forensix.tasks.catalogue import AI_GENERATED_IMAGE_DETECTION
from forensix.training.sources import Repositories, read_list

TASK = AI_GENERATED_IMAGE_DETECTION.name
CAMERAS = ("drewnoakes/metadata-extractor-images", "ianare/exif-samples")
WEB = (
    "CMU-Perceptual-Computing-Lab/openpose",
    "EdjeElectronics/TensorFlow-Object-Detection-API-Tutorial-Train-Multiple-Objects-Windows-10",
    "GoogleChrome/samples",
    "JaidedAI/EasyOCR",
    "StartBootstrap/startbootstrap-agency",
    "StartBootstrap/startbootstrap-clean-blog",
    "StartBootstrap/startbootstrap-creative",
    "eriklindernoren/PyTorch-YOLOv3",
    "facebookresearch/segment-anything",
    "fengyuanchen/cropperjs",
    "foundation/foundation-sites",
    "jwagner/smartcrop.js",
    "mdn/learning-area",
    "pjreddie/darknet",
    "python-pillow/Pillow",
    "sachinchoolur/lightGallery",
    "scikit-image/scikit-image",
    "tensorflow/tfjs-examples",
    "thumbor/thumbor",
    "wesbos/JavaScript30",
)
JPEG = r"\.jpe?g$"
PAINTINGS = {
    "EndyWon/AesUST": r"style/",
    "GlebSBrykin/SANET": r"style/",
    "cysmith/neural-style-tf": r"\bstyles/",
    "elleryqueenhomels/arbitrary_style_transfer": r"images/style/",
    "jcjohnson/fast-neural-style": r"images/styles/",
    "lengstrom/fast-style-transfer": r"examples/style/",
    "naoto0804/pytorch-AdaIN": r"input/style/",
    "titu1994/Neural-Style-Transfer": r"images/inputs/style/",
    "zhanghang1989/PyTorch-Multi-Style-Transfer": r"21styles/",
}
MOST = 25
MAKE = 0x010F
SCALED_PX = 640
SIDES_PX = (64, 96, 128, 160, 192, 224, 320, 448)
EDGES_PX = (0, 160, 224, 320, 448, 640, 1280, 100_000)
QUALITY = 88


def pictures(
    repositories: Path, known: set[str], patterns: Mapping[str, str], *, by_camera: bool = False, most: int = 10**6
) -> Iterator[bytes]:
    """Yield the bytes of files by repository and pattern, each once, or those alone that name a camera's maker."""
    seen = set(known)
    with Repositories(repositories) as opened:
        for repo, pattern in patterns.items():
            files = [(path, blob) for path, blob in opened.files(repo) if re.search(pattern, path, re.IGNORECASE)]
            random.Random(1).shuffle(files)
            left = most
            for path, blob in files:
                if blob in seen or not left:
                    continue
                seen.add(blob)
                try:
                    data = opened.read(repo, path, blob=blob)
                    with Image.open(io.BytesIO(data)) as image:
                        made = image.getexif().get(MAKE)
                        image.load()
                except (InputNotFound, OSError, ValueError, SyntaxError):
                    continue
                if made or not by_camera:
                    left -= 1
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


def as_they_are(files: Iterable[bytes]) -> pd.DataFrame:
    """Return the shorter side, score and verdict of each file; those that the sandbox refuses are left out."""
    rows = []
    for data in files:
        try:
            report = forensix.analyze(io.BytesIO(data), tasks=[TASK], explain=False)
        except ForensixError:
            continue
        with Image.open(io.BytesIO(data)) as image:
            rows.append((min(image.size), report.scores[TASK], report.verdicts[TASK]))
    table = pd.DataFrame(rows, columns=["side", "score", "verdict"])
    return table[table["verdict"] != "failed"]


def show(what: str, rows: pd.DataFrame, upper: float) -> None:
    """Print how many are called what, by the shorter side."""
    print(f"| shorter side | {what} | at or above {upper:.3g} | called generated | undecided | called photographed |")
    print("|---|---|---|---|---|---|")
    bins = pd.cut(rows["side"], EDGES_PX, right=False)
    for sides, group in [*rows.groupby(bins, observed=True), (None, rows)]:
        name = "all" if sides is None else f"{sides.left} to {sides.right - 1} px"
        counts = [int((group["verdict"] == verdict).sum()) for verdict in ("fake", "inconclusive", "real")]
        high, n = int((group["score"] >= upper).sum()), len(group)
        print(
            f"| {name} | {n} | {interval(high, n)} | {interval(counts[0], n)} | {counts[1]} | {counts[2]} |", flush=True
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", type=Path, required=True, help="images.csv, whose files are left out")
    parser.add_argument("--repositories", type=Path, required=True, help="folder of repositories, owner+name")
    parser.add_argument("--corpora", type=Path, required=True, help="folder that holds images/manifest.csv")
    arguments = parser.parse_args()
    known = set(read_list(arguments.list)["blob"])
    lower, upper = band_of(get_card("forensix-image"), "image") or (0.0, 1.0)
    print("# Photographs by many cameras, pictures on the web and paintings\n")
    print("Command: `python -m benchmarks.generated_false_alarms --list CSV --repositories DIR --corpora DIR`\n")
    files = list(pictures(arguments.repositories, known, dict.fromkeys(CAMERAS, JPEG), by_camera=True))
    show("photographs by many cameras", as_they_are(files), upper)
    print()
    on_the_web = pictures(arguments.repositories, known, dict.fromkeys(WEB, JPEG), most=MOST)
    show("pictures on the web", as_they_are(on_the_web), upper)
    print()
    show("paintings", as_they_are(pictures(arguments.repositories, known, PAINTINGS)), upper)
    manifest = pd.read_csv(arguments.corpora / "images/manifest.csv", dtype=str)
    for label, what in (("real", "development photographs"), ("fake", "development pictures, generated")):
        paths = manifest[(manifest["split"] == "dev") & (manifest["label"] == label)]["path"]
        print()
        show(what, as_they_are((arguments.corpora / "images" / path).read_bytes() for path in paths), upper)
    print("\n| training pictures | n | look painted | mostly black or white |\n|---|---|---|---|")
    for label, group in manifest[manifest["split"] == "train"].groupby("label"):
        files_of = ((arguments.corpora / "images" / path).read_bytes() for path in group["path"])
        found = [np.asarray(Image.open(io.BytesIO(data)).convert("RGB")) for data in files_of]
        shares = (interval(sum(map(of, found)), len(found)) for of in (looks_painted, is_black_or_white))
        print(f"| {label} | {len(found)} | {' | '.join(shares)} |")
    print(f"\nThe cameras' photographs of {SCALED_PX} px and more, scaled down, by their pixels alone:\n")
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
