"""Measure the claim that a picture was a JPEG on another grid of blocks before: found, and raised falsely.

    python -m benchmarks.forensic_grid --corpora FOLDER --large FOLDER

takes the pictures of `benchmarks.forensic_pixels`. False alarms are counted on the files as they are; each eighth
photograph is also made smaller by a quarter, saved at a first quality, cropped off the grid and saved at a second, or
kept without loss. Found means: claimed, and at its place. Shares come with Wilson intervals of 95 %.
"""

import io
import random
import tempfile
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks.forensic_pixels import arguments, interval, paths_of
from forensix.forensics.traces import jpeg_grid, pixels

RESULTS = Path(__file__).parent / "results" / "forensic_grid.md"
PAIRS = ((60, 80), (60, 90), (75, 85), (75, 92), (85, 90), (85, 95), (90, 75), (75, None), (90, None), (95, None))
EVERY = 8


def as_it_is(path: Path) -> tuple[str, bool, str]:
    """Return the name of a file, whether a former grid is claimed, and the measurement as text."""
    grid = pixels.former_grid(str(path), "jpeg")
    return path.name, grid is not None and jpeg_grid.stands_out(grid), str(grid)


def changed(path: Path) -> list[tuple[tuple[int, int | None], bool]]:
    """Return for each pair of qualities whether the grid was found at its place."""
    rng, rows = random.Random(path.name), []
    image = Image.open(path).convert("RGB")
    image = image.resize((3 * image.width // 4, 3 * image.height // 4), Image.Resampling.LANCZOS)
    with tempfile.TemporaryDirectory() as folder:
        for first, second in PAIRS:
            buffer = io.BytesIO()
            image.save(buffer, "JPEG", quality=first)
            x, y = rng.randrange(1, 8), rng.randrange(8)
            cropped = Image.open(buffer).convert("RGB").crop((x, y, image.width, image.height))
            trial = Path(folder) / ("a.jpg" if second else "a.png")
            cropped.save(trial, **({"quality": second} if second else {}))
            grid = pixels.former_grid(str(trial), "jpeg" if second else "png")
            right = grid is not None and grid["place"] == [(8 - x) % 8, (8 - y) % 8]
            rows.append(((first, second), bool(right and jpeg_grid.stands_out(grid))))
    return rows


def main() -> None:
    """Measure and write the report."""
    chosen = arguments(__doc__, RESULTS)
    cameras, photographs = paths_of(chosen.corpora, chosen.large)
    counts: dict[tuple[int, int | None], list[bool]] = defaultdict(list)
    lines = [
        "# Grids of earlier JPEG compressions",
        "",
        "Made by `python -m benchmarks.forensic_grid --corpora ../shared/corpora --large FOLDER` (its docstring says "
        f"what is made). {jpeg_grid.PLACES} places, {jpeg_grid.MAX_TILES} tiles. Shares with 95 % Wilson intervals.",
        "",
        "| files as they are | claimed |",
        "|---|---|",
    ]
    with ProcessPoolExecutor(chosen.processes) as pool:
        claimed = []
        for kind, paths in (("camera files", cameras), ("photographs", photographs)):
            rows = list(pool.map(as_it_is, paths))
            claimed += [f"{name}: {grid}" for name, hit, grid in rows if hit]
            lines.append(f"| {kind} | {interval(sum(hit for _, hit, _ in rows), len(rows))} |")
        for rows in pool.map(changed, photographs[::EVERY]):
            for pair, hit in rows:
                counts[pair].append(hit)
    lines += ["", "Claimed on files as they are: " + ("; ".join(claimed) or "none") + ".", ""]
    lines += ["| first quality | then | found at its place |", "|---|---|---|"]
    for (first, second), hits in counts.items():
        lines.append(
            f"| {first} | {f'cropped, saved at {second}' if second else 'cropped, kept as PNG'} | "
            f"{interval(int(np.sum(hits)), len(hits))} |"
        )
    chosen.output.write_text("\n".join([*lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
