"""Measure how often the claim that an area was copied is raised on untouched photographs that chose no threshold.

    python -m benchmarks.forensic_copies --sources FOLDER --repositories FOLDER

takes the JPEG photographs labelled real in the lists of pictures and of faces of ``--sources``, at most
`PER_REPOSITORY` of a repository whose mirror is in ``--repositories``, drawn with a seed, and none that
`benchmarks.forensic_false_alarms` draws. They are told apart by what was known of their repository when the thresholds
were set: those in sight (`IN_SIGHT`), those of which other files had been judged before, and those of which none had.
Shares come with Wilson intervals of 95 %.
"""

import argparse
import io
import random
from collections import defaultdict
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks.forensic_false_alarms import listed, sampled
from benchmarks.forensic_pixels import interval
from forensix.errors import InputNotFound
from forensix.forensics.rules import image_copies
from forensix.forensics.traces import copy_move, pixels
from forensix.training.sources import Repositories, read_list

RESULTS = Path(__file__).parent / "results" / "forensic_copies.md"
PER_REPOSITORY = 8
SEED = 21
IN_SIGHT = (
    "openMVG/ImageDataset_SceauxCastle",
    "mzucker/page_dewarp",
    "zzzDavid/ICDAR-2019-SROIE",
    "SeegmaEpsilon/experiment-real-or-ai-face",
)
"""Repositories whose false alarms were looked at while the thresholds were set."""

GROUPS = ("no file judged before", "other files judged before", "in sight while thresholds were set")


def photographs(sources: Path, repositories: Repositories) -> list[tuple[str, str, str, bytes]]:
    """Return group, repository, path and bytes of each photograph."""
    judged = sampled(file for file in listed(sources, repositories) if file.kind == "image")
    known, repos = {file.key for file in judged}, {file.repo for file in judged}
    by: dict[str, dict[str, dict[str, str]]] = defaultdict(dict)
    for name in ("images", "faces"):
        table = read_list(sources / f"{name}.csv")
        table = table[table["label"] == "real"]
        for row in (table if name == "images" else table[table["kind"] == "image"]).to_dict("records"):
            if repositories.has(row["repo"]) and row["path"].lower().endswith((".jpg", ".jpeg")):
                by[row["repo"]].setdefault(row["path"], row)
    chosen = []
    for repo, rows in sorted(by.items()):
        paths = sorted(path for path in rows if f"{repo}:{path}" not in known)
        random.Random(f"{SEED} {repo}").shuffle(paths)
        group = GROUPS[2] if repo in IN_SIGHT else GROUPS[1] if repo in repos else GROUPS[0]
        for path in paths[:PER_REPOSITORY]:
            row = rows[path]
            try:
                data = repositories.read(repo, path, blob=row.get("blob", ""), ref=row["ref"])
            except InputNotFound:
                continue
            chosen.append((group, repo, path, data))
    return chosen


def claimed(data: bytes) -> tuple[bool, bool] | None:
    """Return whether an area is said to occur twice, and to be a copy; ``None`` where the picture is too small."""
    image = pixels.stored(io.BytesIO(data))  # type: ignore[arg-type]
    if image is None or min(image.size) < copy_move.MIN_SIDE_PX:
        return None
    measured = copy_move.measure(np.asarray(image.convert("L")))
    if measured is None:
        return False, False
    return image_copies.is_repeated(measured), image_copies.is_copied(measured)


def main() -> None:
    """Measure and write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", type=Path, required=True)
    parser.add_argument("--repositories", type=Path, required=True, help="folder of mirrors named owner+name")
    parser.add_argument("--output", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    Image.MAX_IMAGE_PIXELS = None
    rows, raised = [], []
    with Repositories(chosen.repositories) as repositories:
        for group, repo, path, data in photographs(chosen.sources, repositories):
            flags = claimed(data)
            if flags is None:
                continue
            rows.append((group, repo, *flags))
            if flags[0]:
                raised.append(f"- {repo}, {path}: {'suspect' if flags[1] else 'benign'}")
            print(len(rows), group, repo, path, *flags, flush=True)
    lines = [
        "# Copied areas: false alarms on untouched photographs",
        "",
        "Made by `python -m benchmarks.forensic_copies --sources ../shared/sources --repositories MIRRORS` (its "
        "docstring says what is taken). Shares with 95 % Wilson intervals, which treat files of one repository as if "
        "they were drawn alone.",
        "",
        "| repositories | repositories, n | photographs | said to be copied (suspect) | two areas alike (benign) |",
        "|---|---|---|---|---|",
    ]
    for name, groups in [*((g, (g,)) for g in GROUPS), ("not in sight", GROUPS[:2])]:
        of = [row for row in rows if row[0] in groups]
        if of:
            copied, alike = sum(r[3] for r in of), sum(r[2] and not r[3] for r in of)
            n = len({r[1] for r in of})
            lines.append(f"| {name} | {n} | {len(of)} | {interval(copied, len(of))} | {interval(alike, len(of))} |")
    lines += ["", "All that was raised:", "", *raised, ""]
    chosen.output.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
