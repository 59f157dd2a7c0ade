"""Count how often generated files carry a generator's mark and how often others do; write the counts.

    python benchmarks/generated_marks.py --corpora DIR --repositories DIR --out forensix/generated/marks.json

Generated: files whose repository says that a generator made them, at most ``PER_REPOSITORY`` of each, drawn with a
seed, so that the label does not come from the mark. Others: images of the forensics corpus that are expected to be
something else, and the photographs of the images corpus that keep their bytes, drawn likewise. Files of the forensics
corpus that are expected to be generated are left out, as there the mark is why they are; so are those of which nothing
is known.
"""

import argparse
import json
from pathlib import Path

import pandas as pd

from forensix.errors import ForensixError
from forensix.forensics import claims
from forensix.generated.provenance import MarkCounts
from forensix.media import open_media
from forensix.metadata.reader import read_facts
from forensix.training.images_data import list_files

PER_REPOSITORY = 12
PER_PHOTO_SOURCE = 25
SEED = 0
COMMAND = "python benchmarks/generated_marks.py --corpora DIR --repositories DIR --out forensix/generated/marks.json"


def is_marked(path: Path) -> bool | None:
    """Return whether a file carries a mark, or nothing where it cannot be read."""
    try:
        with open_media(path) as media:
            found = claims(read_facts(media))
    except ForensixError:
        return None
    return any(finding.claim.type == "ai_generated" and finding.severity != "benign" for finding in found)


def main() -> None:
    """Read the command line, count, write."""
    parser = argparse.ArgumentParser(description="Count marks of generators.")
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--repositories", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    table = list_files(arguments.corpora, arguments.repositories)
    parts = [
        part.sample(min(len(part), PER_REPOSITORY), random_state=SEED)
        for _, part in table[table.fake].groupby("source")
    ]
    generated = [is_marked(path) for path in pd.concat(parts).path]
    images = pd.read_csv(arguments.corpora / "images" / "manifest.csv", dtype=str)
    photos = images[(images.label == "real") & (images.how == "original bytes")]
    photos = pd.concat(
        [part.sample(min(len(part), PER_PHOTO_SOURCE), random_state=SEED) for _, part in photos.groupby("source_repo")]
    )
    files = pd.read_csv(arguments.corpora / "forensics" / "manifest.csv", dtype=str)
    files = files[(files.media == "image") & ~files.expect.isin(["ai_generated", "unknown"])]
    files = files[~files.also.fillna("").str.contains("ai_generated")]
    paths = [arguments.corpora / "images" / path for path in photos.path]
    paths += [arguments.corpora / "forensics" / path for path in files.path]
    other = []
    for path in paths:
        marked = is_marked(path)
        other.append(marked)
        if marked:
            print(f"marked, though not expected to be generated: {path.name}")
    counts = MarkCounts(
        generated=sum(m is not None for m in generated),
        generated_marked=sum(m is True for m in generated),
        other=sum(m is not None for m in other),
        other_marked=sum(m is True for m in other),
        data=f"generated: at most {PER_REPOSITORY} files a training repository; other: at most {PER_PHOTO_SOURCE} "
        "photographs a source with their own bytes, and the forensics corpus's images of known other origin",
        command=COMMAND,
    )
    arguments.out.write_text(json.dumps(counts.model_dump(), indent=1) + "\n", encoding="utf-8")
    print(counts, f"likelihood ratio {counts.likelihood_ratio():.1f}")


if __name__ == "__main__":
    main()
