"""Measure the claim that a part of a picture does not fit the JPEG that the rest was: found, and raised falsely.

    python -m benchmarks.forensic_consistency --sources FOLDER --repositories FOLDER

takes the JPEG photographs labelled real in the list of pictures of ``--sources``, at most `PER_REPOSITORY` of a
repository whose mirror is in ``--repositories``. Thresholds were chosen on the repositories of the train split, and are
measured on those of the dev split, which chose nothing. Each photograph is

    as it is      the file's own bytes
    kept as PNG   decoded and kept without loss
    cropped       a few pixels cut off its left and upper edge, saved again at 90 or 95
    pasted        a square of a fifth of the shorter side from another photograph put in, then kept as PNG, or cropped
                  and saved at 95

Found means that the claim is raised and its box shares at least three tenths with the square's (of their union). Shares
with Wilson intervals of 95 %.
"""

import argparse
import io
import random
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks.forensic_pixels import interval, overlap
from forensix.errors import InputNotFound
from forensix.forensics.rules import image_encoding
from forensix.forensics.traces import pixels
from forensix.training.sources import Repositories, read_list

RESULTS = Path(__file__).parent / "results" / "forensic_consistency.md"
PER_REPOSITORY = 6
SMALLEST_PX, LARGEST_PX = 200, 1600
OVERLAP = 0.3
Box = tuple[int, int, int, int]


def photographs(sources: Path, repositories: Repositories) -> Iterator[tuple[str, str, bytes]]:
    """Yield split, repository and bytes of JPEG photographs, drawn with a seed."""
    table = read_list(sources / "images.csv")
    table = table[table["label"] == "real"]
    # What is measured on comes first: a run that is stopped has measured it.
    for (_, repo), of in table.groupby(["split", "repo"]):
        if not repositories.has(str(repo)):
            continue
        for row in of.sample(min(len(of), PER_REPOSITORY), random_state=7).to_dict("records"):
            try:
                data = repositories.read(row["repo"], row["path"], blob=row["blob"], ref=row["ref"])
            except InputNotFound:
                continue
            if data[:2] == b"\xff\xd8":
                yield row["split"], row["repo"], data


def claimed(path: Path) -> Box | None:
    """Return the box of the part that is claimed not to fit the former JPEG."""
    grid = pixels.former_grid(str(path), "jpeg" if path.suffix == ".jpg" else "png")
    traces = pixels.consistent(str(path), grid) if grid is not None else {}
    if "consistency" not in traces or not image_encoding.is_foreign(traces["consistency"]):
        return None
    x, y, width, height = traces["consistency"]["box"]
    return x, y, width, height


def variants(
    data: bytes, donor: Image.Image | None, rng: random.Random
) -> Iterator[tuple[str, str, bytes, Box | None]]:
    """Yield name, suffix, bytes and the pasted square of each variant of a photograph."""
    yield "as it is", ".jpg", data, None
    image = Image.open(io.BytesIO(data)).convert("RGB")
    left, top = rng.randrange(1, 8), rng.randrange(8)
    frame = (left, top, image.width, image.height)
    yield "kept as PNG", ".png", saved(image), None
    yield "cropped, saved at 90", ".jpg", saved(image.crop(frame), 90), None
    yield "cropped, saved at 95", ".jpg", saved(image.crop(frame), 95), None
    side = min(image.size) // 5
    if donor is None or min(donor.size) <= side:
        return
    x, y = rng.randrange(8, image.width - side), rng.randrange(8, image.height - side)
    from_x, from_y = rng.randrange(donor.width - side), rng.randrange(donor.height - side)
    image.paste(donor.crop((from_x, from_y, from_x + side, from_y + side)), (x, y))
    yield "pasted, kept as PNG", ".png", saved(image), (x, y, side, side)
    yield "pasted, cropped, saved at 95", ".jpg", saved(image.crop(frame), 95), (x - left, y - top, side, side)


def saved(image: Image.Image, quality: int | None = None) -> bytes:
    """Return a picture as JPEG of a quality, or as PNG."""
    buffer = io.BytesIO()
    if quality is None:
        image.save(buffer, "PNG", compress_level=1)
    else:
        image.save(buffer, "JPEG", quality=quality)
    return buffer.getvalue()


def main() -> None:
    """Measure and write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", type=Path, required=True)
    parser.add_argument("--repositories", type=Path, required=True)
    parser.add_argument("--output", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    counts: dict[tuple[str, str], list[bool]] = defaultdict(list)
    repos: dict[str, set[str]] = defaultdict(set)
    raised = []
    rng = random.Random(0)
    donor: Image.Image | None = None
    with Repositories(chosen.repositories) as repositories, tempfile.TemporaryDirectory() as folder:
        for split, repo, data in photographs(chosen.sources, repositories):
            image = Image.open(io.BytesIO(data))
            if min(image.size) < SMALLEST_PX or max(image.size) > LARGEST_PX:
                continue
            repos[split].add(repo)
            for name, suffix, data_changed, square in variants(data, donor, rng):
                trial = Path(folder) / f"trial{suffix}"
                trial.write_bytes(data_changed)
                box = claimed(trial)
                counts[split, name].append(box is not None and (square is None or overlap(box, square) >= OVERLAP))
                if box is not None and square is None:
                    raised.append(f"{repo} ({split}), {name}: {box}")
            donor = image.convert("RGB")
            print(repo, len(counts[split, "as it is"]), raised[-1:], flush=True)
            chosen.output.write_text(report(counts, repos, raised), encoding="utf-8")
    print(f"written to {chosen.output}")


def report(counts: dict[tuple[str, str], list[bool]], repos: dict[str, set[str]], raised: list[str]) -> str:
    """Return the tables in Markdown."""
    names = list(dict.fromkeys(name for _, name in counts))
    lines = [
        "# Parts of a picture that do not fit the JPEG that it was",
        "",
        "Made by `python -m benchmarks.forensic_consistency --sources ../shared/sources --repositories MIRRORS` (its "
        "docstring says what is made of each photograph). Shares with 95 % Wilson intervals.",
        "",
        "| photograph | claimed, repositories that chose thresholds | claimed, repositories that chose nothing |",
        "|---|---|---|",
    ]
    for name in names:
        cells = [interval(sum(of), len(of)) if (of := counts.get((split, name))) else "" for split in ("train", "dev")]
        what = f"{name} (found at its place)" if name.startswith("pasted") else f"{name} (raised falsely)"
        lines.append(f"| {what} | {cells[0]} | {cells[1]} |")
    untouched = [hit for name in names if not name.startswith("pasted") for hit in counts.get(("dev", name), [])]
    lines += [
        "",
        f"Raised falsely on all untouched variants of repositories that chose nothing: "
        f"{interval(int(np.sum(untouched)), len(untouched)) if untouched else 'none measured'} (the interval "
        "treats the four variants of a photograph as if they were drawn alone).",
        "",
        f"Chosen on: {', '.join(sorted(repos['train']))}. Measured on: {', '.join(sorted(repos['dev']))}.",
        "",
        "All that was raised on photographs without a pasted part:",
        "",
        *(f"- {line}" for line in raised),
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
