"""Measure the claims on pixels and coefficients of pictures: what is found, and what is raised falsely.

    python benchmarks/forensic_pixels.py --corpora FOLDER --large FOLDER

takes the JPEG files of ``FOLDER/forensics`` that name a camera and no editor, photographs of ``FOLDER/images`` with
their original bytes (each twelfth from the second, the sixth and the eighth on; thresholds were chosen on others) and
JPEG files anywhere under ``--large`` (photographs of more than a megapixel). False alarms are counted on the files as
they are and, for parts with another history, on files that were saved again whole. For what is found, the camera files
and each fourth photograph are changed:

    copy-move    a square of a fifth of the shorter side copied to another place that does not overlap, saved at 92
    splice       a square of a fifth of the shorter side pasted from another photograph, saved again
    saved again  as it is, at 75 to 95; also after it was made smaller by a quarter and saved at a first quality
    turned       copy-move with the square turned by 20 degrees, which the method does not claim to find

Shares come with Wilson intervals of 95 %.
"""

import argparse
import csv
import random
import tempfile
import time
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from forensix.forensics.rules import image_copies, image_encoding
from forensix.forensics.traces import copy_move, pixels

RESULTS = Path(__file__).parent / "results" / "forensic_pixels.md"
SECOND = (75, 85, 90, 95)
FIRST = (None, 60, 75, 85)
EVERY = 4
"""All photographs are measured as they are, each fourth is changed as well."""

CLASSES = ((0, 640), (641, 1300), (1301, 100_000))
Counts = dict[tuple[str, ...], list[bool]]


def paths_of(corpora: Path, large: Path | None) -> tuple[list[Path], list[Path]]:
    """Return camera files, and photographs: of the corpus and of the folder of large ones."""
    with (corpora / "forensics" / "manifest.csv").open(encoding="utf-8", newline="") as file:
        rows = [r for r in csv.DictReader(file) if r["media"] == "image"]
    cameras = [r["path"] for r in rows if r["expect"] in ("camera_original", "date_mismatch")]
    with (corpora / "images" / "manifest.csv").open(encoding="utf-8", newline="") as file:
        real = sorted(r["path"] for r in csv.DictReader(file) if r["label"] == "real" and r["path"].endswith("jpg"))
    photographs = [corpora / "images" / p for i, p in enumerate(real) if i % 12 in (1, 5, 7)]
    more = sorted(p for p in large.rglob("*") if p.suffix.lower() in (".jpg", ".jpeg"))[1::3] if large else []
    return [corpora / "forensics" / p for p in cameras if p.lower().endswith((".jpg", ".jpeg"))], [*photographs, *more]


def measure(path: Path, kind: str, donor: Path | None) -> tuple[float, Counts]:
    """Count what is raised on one picture as it is, and after each change where there is a ``donor`` to paste from.

    Returns the processor seconds of the picture as it is and the counts.
    """
    rng, counts = random.Random(path.name), defaultdict(list)
    image = Image.open(path).convert("RGB")
    size = next(
        f"{low} to {high}" if high < 10_000 else f"over {low - 1}" for low, high in CLASSES if max(image.size) <= high
    )
    before = time.process_time()
    traces = pixels.compression(str(path))
    copied = _copied(path)
    spent = time.process_time() - before
    counts["raised: compressed twice", kind].append(_double(traces))
    counts["raised: a part has another history", kind].append(_part(traces))
    counts["raised: an area occurs twice", kind, size].append(copied is not None)
    if donor is not None:
        with tempfile.TemporaryDirectory() as folder:
            _changed(image, size, donor, Path(folder) / "trial.jpg", rng, counts)
    return spent, counts


def _changed(image: Image.Image, size: str, donor: Path, trial: Path, rng: random.Random, counts: Counts) -> None:
    for turned in (False, True):
        copy, shift = _moved(image, rng, turned)
        copy.save(trial, quality=92)
        hit = _copied(trial)
        right = hit is not None and (turned or all(abs(abs(a) - abs(b)) <= 6 for a, b in zip(hit, shift, strict=True)))
        counts["found: copied and turned by 20 degrees" if turned else "found: copied", size].append(right)
    for first in FIRST:
        start = image
        if first is not None:
            start = image.resize((3 * image.width // 4, 3 * image.height // 4), Image.Resampling.LANCZOS)
            start.save(trial, quality=first)
            start = Image.open(trial).convert("RGB")
        if (start.width // 8) * (start.height // 8) < 1000:
            continue
        for second in SECOND:
            label = "its own" if first is None else str(first)
            start.save(trial, quality=second)
            again = pixels.compression(str(trial))
            counts["found: compressed twice", label, str(second)].append(_double(again))
            counts["raised: part, saved again whole", label, str(second)].append(_part(again))
            copy, box = _pasted(start, Image.open(donor).convert("RGB"), rng)
            copy.save(trial, quality=second)
            part = pixels.compression(str(trial)).get("local_double_jpeg")
            inside = part is not None and image_encoding.is_spliced(part) and overlap(part["box"], box) > 0.3
            counts["found: part, pasted", label, str(second)].append(bool(inside))


def _double(facts: dict[str, Any]) -> bool:
    return "double_jpeg" in facts and image_encoding.is_double(facts["double_jpeg"])


def _part(facts: dict[str, Any]) -> bool:
    return "local_double_jpeg" in facts and image_encoding.is_spliced(facts["local_double_jpeg"])


def _copied(path: Path) -> tuple[int, int] | None:
    image = pixels.stored(str(path))
    measured = copy_move.measure(np.asarray(image.convert("L"))) if image is not None else None
    return tuple(measured["shift"]) if measured is not None and image_copies.is_copied(measured) else None


def _moved(image: Image.Image, rng: random.Random, turned: bool) -> tuple[Image.Image, tuple[int, int]]:
    width, height = image.size
    side = min(width, height) // 5
    while True:
        x, y, x2, y2 = (rng.randrange(limit - side) for limit in (width, height, width, height))
        if max(abs(x2 - x), abs(y2 - y)) >= side:
            break
    copy, part = image.copy(), image.crop((x, y, x + side, y + side))
    if turned:
        edge = round(side * 0.2)
        part = part.rotate(20, Image.Resampling.BICUBIC).crop((edge, edge, side - edge, side - edge))
    copy.paste(part, (x2, y2))
    return copy, (x2 - x, y2 - y)


def _pasted(image: Image.Image, donor: Image.Image, rng: random.Random) -> tuple[Image.Image, tuple[int, ...]]:
    side = max(64, min(image.size) // 5)
    if min(donor.size) <= side + 8:
        donor = donor.resize((donor.width * 2, donor.height * 2), Image.Resampling.BICUBIC)
    side = min(side, min(donor.size) - 8)
    x, y = rng.randrange(image.width - side), rng.randrange(image.height - side)
    a, b = rng.randrange(donor.width - side), rng.randrange(donor.height - side)
    copy = image.copy()
    copy.paste(donor.crop((a, b, a + side, b + side)), (x, y))
    return copy, (x, y, side, side)


def overlap(a: Any, b: Any) -> float:
    """Return the common area over that of the union of two boxes of x, y, width and height."""
    wide = max(0, min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0]))
    high = max(0, min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1]))
    return wide * high / (a[2] * a[3] + b[2] * b[3] - wide * high)


def interval(hits: int, n: int) -> str:
    """Return a share and its Wilson interval of 95 % as text."""
    share, z = hits / n, 1.96
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return (
        f"{hits}/{n} ({100 * share:.1f} %, {100 * max(0.0, middle - half):.1f} to {100 * min(1.0, middle + half):.1f})"
    )


def tables(counts: Counts, seconds: list[float]) -> str:
    """Return the report in Markdown."""
    lines = [
        "# Pixel claims on pictures",
        "",
        "Made by `python -m benchmarks.forensic_pixels --corpora ../shared/corpora --large FOLDER` "
        "(its docstring says what is made of each picture). Shares with 95 % Wilson intervals.",
        "",
    ]

    def pick(start: str) -> list[tuple[str, ...]]:
        return [key for key in counts if key[0].startswith(start)]

    lines += ["## Raised on files as they are", "", "| claim | files | longer side, px | raised |", "|---|---|---|---|"]
    for key in [k for k in pick("raised: ") if k[0] != "raised: part, saved again whole"]:
        name, kind, *size = key
        lines.append(
            f"| {name[8:]} | {kind} | {size[0] if size else 'all'} | {interval(sum(counts[key]), len(counts[key]))} |"
        )
    lines += ["", "## Copied areas found", "", "| what | longer side, px | found at its place |", "|---|---|---|"]
    for key in pick("found: copied"):
        lines.append(f"| {key[0][7:]} | {key[1]} | {interval(sum(counts[key]), len(counts[key]))} |")
    lines += [
        "",
        "## Saved again, and parts pasted in",
        "",
        "| first quality | second | compressed twice, found | part pasted, found | part raised on whole pictures |",
        "|---|---|---|---|---|",
    ]
    for key in pick("found: compressed twice"):
        others = [("found: part, pasted", *key[1:]), ("raised: part, saved again whole", *key[1:])]
        cells = [interval(sum(counts[k]), len(counts[k])) for k in (key, *others)]
        lines.append(f"| {key[1]} | {key[2]} | {' | '.join(cells)} |")
    hits = [hit for key in pick("raised: part, saved again whole") for hit in counts[key]]
    lines += [
        "",
        f"A part was raised on {interval(sum(hits), len(hits))} of all pictures that were saved again whole. Where "
        "the first quality equals the second nothing can be found.",
        "",
        f"Processor seconds of these measurements on files as they are: median {np.median(seconds):.2f}, "
        f"longest {max(seconds):.2f}.",
        "",
    ]
    return "\n".join(lines)


def arguments(about: str, results: Path) -> argparse.Namespace:
    """Read the command line of a measurement on `paths_of`."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--large", type=Path)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--output", type=Path, default=results)
    return parser.parse_args()


def main() -> None:
    """Measure and write the report."""
    chosen = arguments(__doc__, RESULTS)
    rng, counts, seconds = random.Random(2), defaultdict(list), []
    cameras, photographs = paths_of(chosen.corpora, chosen.large)
    listed = [(path, "camera files", rng.choice(photographs)) for path in cameras]
    for i, path in enumerate(photographs):
        listed.append((path, "photographs", rng.choice(photographs) if i % EVERY == 0 else None))
    listed = [row for row in listed if min(Image.open(row[0]).size) >= copy_move.MIN_SIDE_PX]
    with ProcessPoolExecutor(chosen.processes) as pool:
        for spent, part in pool.map(measure, *zip(*listed, strict=True)):
            seconds.append(spent)
            for key, hits in part.items():
                counts[key] += hits
    chosen.output.parent.mkdir(parents=True, exist_ok=True)
    chosen.output.write_text(tables(counts, seconds), encoding="utf-8")


if __name__ == "__main__":
    main()
