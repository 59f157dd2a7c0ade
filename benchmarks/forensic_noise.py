"""Measure uneven noise: what the measurement finds, and what it raises on untouched photographs.

    python -m benchmarks.forensic_noise --corpora FOLDER --large FOLDER

takes the JPEG files of ``FOLDER/forensics`` that name a camera and no editor, the photographs of ``FOLDER/images`` with
their original bytes and the JPEG files anywhere under ``--large`` (photographs; those of one folder are of one scene
and stay together). The threshold was chosen on one half of the camera files and of ``--large`` and on the train rows of
``images``; the other half and the dev rows only measure. Each sixth measured file of the other half is changed in one
square of a fifth of its shorter side (96 pixels at least) and saved again:

    noise 2 to 6    normal noise of that standard deviation on each colour
    blurred         Gaussian, sigma 1.2 pixels
    denoised        median of 5 x 5 pixels
    pasted          a square of another photograph
    nothing         saved again whole

Found means that the claim is raised and its box holds the middle of the square. Shares with Wilson intervals of 95 %.
"""

import argparse
import csv
import tempfile
import time
import zlib
from collections import defaultdict
from pathlib import Path

import numpy as np
from PIL import Image
from scipy import ndimage

from benchmarks.forensic_pixels import interval
from forensix.forensics.rules import image_pixels
from forensix.forensics.traces import pixels

RESULTS = Path(__file__).parent / "results" / "forensic_noise.md"
CHANGES = ("noise 2", "noise 4", "noise 6", "blurred", "denoised", "pasted", "nothing")
QUALITIES = (95, 90, 75)
EVERY = 6
CHOOSING, MEASURING = "choosing", "measuring"


def paths_of(corpora: Path, large: Path | None) -> list[tuple[str, str, Path]]:
    """Return kind, half and path of each untouched file."""
    with (corpora / "forensics" / "manifest.csv").open(encoding="utf-8", newline="") as file:
        rows = [r for r in csv.DictReader(file) if r["expect"] in ("camera_original", "date_mismatch")]
    names = [r["path"] for r in rows if r["path"].lower().endswith((".jpg", ".jpeg"))]
    listed = [("camera files", half(name), corpora / "forensics" / name) for name in names]
    with (corpora / "images" / "manifest.csv").open(encoding="utf-8", newline="") as file:
        real = [r for r in csv.DictReader(file) if r["label"] == "real" and r["path"].endswith("jpg")]
    for row in real:
        side = CHOOSING if row["split"] == "train" else MEASURING
        listed.append((f"photographs, {row['split']}", side, corpora / "images" / row["path"]))
    more = sorted(p for p in large.rglob("*") if p.suffix.lower() in (".jpg", ".jpeg")) if large else []
    return [*listed, *(("large photographs", half(p.parent.name), p) for p in more)]


def half(name: str) -> str:
    """Return the half that a file or a scene belongs to, by its name alone."""
    return CHOOSING if zlib.crc32(name.encode()) % 2 == 0 else MEASURING


def changed(rgb: np.ndarray, change: str, donor: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, list[int]]:
    """Return a copy with one square changed, and the middle of the square, x and y."""
    height, width = rgb.shape[:2]
    side = min(max(96, min(height, width) // 5), *(limit - 1 for limit in (height, width, *donor.shape[:2])))
    x, y = int(rng.integers(width - side)), int(rng.integers(height - side))
    part = rgb[y : y + side, x : x + side].astype(np.float32)
    if change.startswith("noise"):
        part = part + rng.normal(0, float(change.split()[1]), part.shape)
    elif change == "blurred":
        part = ndimage.gaussian_filter(part, (1.2, 1.2, 0))
    elif change == "denoised":
        part = ndimage.median_filter(part, (5, 5, 1))
    elif change == "pasted":
        a, b = int(rng.integers(donor.shape[1] - side)), int(rng.integers(donor.shape[0] - side))
        part = donor[b : b + side, a : a + side].astype(np.float32)
    copy = rgb.copy()
    copy[y : y + side, x : x + side] = np.clip(np.round(part), 0, 255).astype(np.uint8)
    return copy, [x + side // 2, y + side // 2]


def main() -> None:
    """Measure and write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--large", type=Path)
    parser.add_argument("--only-choosing", action="store_true", help="print the excess of the choosing half and stop")
    parser.add_argument("--output", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    raised, refused, seconds, paths_measured = defaultdict(list), defaultdict(int), [], []
    for kind, side, path in paths_of(chosen.corpora, chosen.large):
        if chosen.only_choosing and side != CHOOSING:
            continue
        before = time.process_time()
        trace = pixels.uneven_noise(str(path))
        if trace is None:
            refused[side, kind] += 1
            continue
        seconds.append(time.process_time() - before)
        raised[side, kind].append(image_pixels.is_noisy(trace))
        if chosen.only_choosing:
            print(trace["excess"], trace["share"], kind, path.parent.name, path.name)
        elif side == MEASURING:
            paths_measured.append(path)
    if chosen.only_choosing:
        return
    hits = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        trial = Path(folder) / "trial.jpg"
        for i, path in enumerate(paths_measured[::EVERY]):
            rng = np.random.default_rng(i)
            rgb = np.asarray(Image.open(path).convert("RGB"))
            donor = np.asarray(Image.open(paths_measured[int(rng.integers(len(paths_measured)))]).convert("RGB"))
            for change in CHANGES:
                copy, (x, y) = changed(rgb, change, donor, rng)
                for quality in QUALITIES:
                    Image.fromarray(copy).save(trial, quality=quality)
                    trace = pixels.uneven_noise(str(trial))
                    hit = trace is not None and image_pixels.is_noisy(trace)
                    if hit and change != "nothing":
                        left, top, wide, high = trace["box"]
                        hit = left <= x <= left + wide and top <= y <= top + high
                    hits[change, quality].append(hit)
    lines = [
        "# Uneven noise in pictures",
        "",
        "Made by `python -m benchmarks.forensic_noise --corpora ../shared/corpora --large FOLDER` (its docstring says "
        "what is taken and made). Shares with 95 % Wilson intervals.",
        "",
        f"Claimed where the excess is at least {image_pixels.NOISE_EXCESS} and the area at most "
        f"{100 * image_pixels.NOISE_SHARE:.0f} % of the picture.",
        "",
        "## Raised on untouched files",
        "",
        "| half | files | raised | not measured: table too coarse, too small or too even |",
        "|---|---|---|---|",
    ]
    for key in sorted({*raised, *refused}):
        share = interval(sum(raised[key]), len(raised[key])) if raised[key] else "none measured"
        lines.append(f"| {key[0]} | {key[1]} | {share} | {refused[key]} |")
    for side in (CHOOSING, MEASURING):
        of_side = [hit for key, row in raised.items() if key[0] == side for hit in row]
        lines.append(f"| {side} | all measured | {interval(sum(of_side), len(of_side))} | |")
    heads = " | ".join(f"saved at {quality}" for quality in QUALITIES)
    lines += ["", "## Found where a square was changed", "", f"| change | {heads} |", "|---|" + "---|" * len(QUALITIES)]
    for change in CHANGES:
        name = "nothing (raised falsely)" if change == "nothing" else change
        shares = (interval(sum(hits[change, q]), len(hits[change, q])) for q in QUALITIES)
        lines.append(f"| {name} | {' | '.join(shares)} |")
    lines += [
        "",
        "At 75 nothing is measured: the table rounds noise away.",
        "",
        f"Processor seconds of untouched files that were measured: median {np.median(seconds):.2f}, "
        f"longest {max(seconds):.2f}.",
        "",
    ]
    chosen.output.parent.mkdir(parents=True, exist_ok=True)
    chosen.output.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
