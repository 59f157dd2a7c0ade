"""Measure the two pixel claims on pictures: copy-move and double compression, found and raised falsely.

    python benchmarks/forensic_pixels.py --corpora FOLDER

takes the JPEG files of ``FOLDER/forensics`` that name a camera and no editor, and photographs of ``FOLDER/images`` with
their original bytes. Falsely raised is counted on the files as they are. For what is found, each picture is saved again
at a quality of 75 and of 90, and a square of a fifth of its shorter side is copied to another place and saved at 92.
"""

import argparse
import csv
import random
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from forensix.forensics import copies, double, image_encoding, image_pixels, pixels

RESULTS = Path(__file__).parent / "results" / "forensic_pixels.md"
QUALITIES = (75, 90)


def paths_of(corpora: Path, n_photographs: int) -> list[Path]:
    """Return camera files and a fixed sample of photographs."""
    with (corpora / "forensics" / "manifest.csv").open(encoding="utf-8", newline="") as file:
        rows = [r for r in csv.DictReader(file) if r["media"] == "image"]
    cameras = [r["path"] for r in rows if r["expect"] in ("camera_original", "date_mismatch")]
    with (corpora / "images" / "manifest.csv").open(encoding="utf-8", newline="") as file:
        photographs = [r["path"] for r in csv.DictReader(file) if r["label"] == "real"]
    photographs = [p for p in photographs if p.lower().endswith((".jpg", ".jpeg"))]
    random.Random(5).shuffle(photographs)
    found = [corpora / "forensics" / p for p in cameras if p.lower().endswith((".jpg", ".jpeg"))]
    return found + [corpora / "images" / p for p in photographs[:n_photographs]]


def measure(path: Path, folder: Path, rng: random.Random) -> dict[str, Any]:
    """Return the measurements on one picture as it is, saved again, and with a square copied."""
    image = Image.open(path).convert("RGB")
    trial = folder / "trial.jpg"
    row: dict[str, Any] = {"size": image.size, "double": double.measure(str(path)), "copies": _copies(path)}
    for quality in QUALITIES:
        image.save(trial, quality=quality)
        row[f"double {quality}"] = double.measure(str(trial))
    rgb = np.asarray(image).copy()
    height, width = rgb.shape[:2]
    side = min(height, width) // 5
    y, x, y2, x2 = (rng.randrange(limit - side) for limit in (height, width, height, width))
    rgb[y2 : y2 + side, x2 : x2 + side] = rgb[y : y + side, x : x + side].copy()
    Image.fromarray(rgb).save(trial, quality=92)
    row["copies made"] = _copies(trial)
    return row


def _copies(path: Path) -> dict[str, Any] | None:
    image = pixels.stored(str(path))
    return None if image is None else copies.measure(np.asarray(image.convert("L")))


def tables(rows: list[dict[str, Any]]) -> str:
    """Return the report in Markdown."""

    def share(name: str, key: str, raised: Any, of: list[dict[str, Any]]) -> str:
        known = [r for r in of if r[key] is not None]
        hits = sum(raised(r[key]) for r in known)
        return f"| {name} | {hits}/{len(known)} | {len(of) - len(known)} |"

    small = [r for r in rows if max(r["size"]) <= copies.WHOLE_SIDE]
    large = [r for r in rows if max(r["size"]) > copies.WHOLE_SIDE]
    top = sorted(r["double"]["score"] for r in rows if r["double"])[-3:]
    return "\n".join(
        [
            "# Pixel claims on pictures",
            "",
            "Made by `python benchmarks/forensic_pixels.py --corpora ../shared/corpora`. "
            f"{len(rows)} JPEG files: camera files without an editor's name, photographs with their original bytes.",
            "",
            "| what | claimed | too small or even to measure |",
            "|---|---|---|",
            share("compressed twice, raised on files as they are", "double", image_encoding.is_double, rows),
            *(
                share(f"compressed twice, saved again at {q}", f"double {q}", image_encoding.is_double, rows)
                for q in QUALITIES
            ),
            share("area occurs twice, raised on files as they are", "copies", image_pixels.is_copied, rows),
            share(f"square copied, sides up to {copies.WHOLE_SIDE} px", "copies made", image_pixels.is_copied, small),
            share(f"square copied, larger than {copies.WHOLE_SIDE} px", "copies made", image_pixels.is_copied, large),
            "",
            f"Strongest periodic part on files as they are: {', '.join(f'{t:.3f}' for t in top)}; the threshold is "
            f"{image_encoding.TWICE}.",
            "",
        ]
    )


def main() -> None:
    """Measure and write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--photographs", type=int, default=40)
    parser.add_argument("--output", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    rng, rows = random.Random(2), []
    with tempfile.TemporaryDirectory() as folder:
        for path in paths_of(chosen.corpora, chosen.photographs):
            rows.append(measure(path, Path(folder), rng))
            print(path.name, flush=True)
    chosen.output.parent.mkdir(parents=True, exist_ok=True)
    chosen.output.write_text(tables(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
