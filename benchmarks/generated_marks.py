"""Count how often generated files carry a generator's mark and how often others do; write the counts.

    python benchmarks/generated_marks.py --corpora DIR --list images.csv --repositories DIR \
        --out forensix/synthetic/marks.json

Three kinds of marks: what a file says of itself, an invisible watermark in its pixels, and a visible one. The files
are drawn with a seed, at most ``PER_REPOSITORY`` of each repository in the training part of the list, so that a label
comes from the repository and never from a mark. To the others come the images of the forensics corpus that are
expected to be something else than generated. Files that are expected to be generated because of a mark are left out,
as are those of which nothing is known. Prints every mark by repository.
"""

import argparse
import io
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image

from forensix.errors import ForensixError
from forensix.forensics.rules.ai_marks import generator_identifier, generator_marks
from forensix.media import sniff
from forensix.metadata.image import reader as image
from forensix.synthetic.provenance import MarkCounts
from forensix.synthetic.visible_marks import visible_mark
from forensix.synthetic.watermark import dwt_dct
from forensix.training.sources import Repositories, read_list

PER_REPOSITORY = 12
SEED = 0
KINDS = ("provenance", "watermark", "visible")
COMMAND = (
    "python benchmarks/generated_marks.py --corpora DIR --list images.csv --repositories DIR "
    "--out forensix/synthetic/marks.json"
)


def files(list_path: Path, repositories: Path) -> Iterator[tuple[str, bool, bytes]]:
    """Yield repository, whether it is generated, and the bytes of each file that is drawn and at hand."""
    rows = read_list(list_path, split="train")
    rows = rows[rows["label"].isin(["real", "fake"])].sample(frac=1, random_state=SEED)
    with Repositories(repositories) as sources:
        for (repo, label), part in rows.groupby(["repo", "label"]):
            if not sources.has(repo):
                continue
            for row in part.head(PER_REPOSITORY).itertuples():
                try:
                    yield f"{repo} ({label})", label == "fake", sources.read(repo, row.path, blob=row.blob, ref=row.ref)
                except ForensixError:
                    continue


def others(corpora: Path) -> Iterator[tuple[str, bool, bytes]]:
    """Yield the images of the forensics corpus that are of known other origin."""
    rows = pd.read_csv(corpora / "forensics" / "manifest.csv", dtype=str)
    rows = rows[(rows.media == "image") & ~rows.expect.isin(["ai_generated", "unknown"])]
    for path in rows[~rows.also.fillna("").str.contains("ai_generated")].path:
        yield "forensics corpus", False, (corpora / "forensics" / path).read_bytes()


def marks(data: bytes) -> dict[str, str | None] | None:
    """Return what each kind of mark names, ``-`` where it names nobody; nothing for what cannot be read."""
    try:
        with Image.open(io.BytesIO(data)) as picture:
            rgb = np.asarray(picture.convert("RGB"))
            kind = str(picture.format).lower()
    except (OSError, ValueError):
        return None
    if kind not in sniff.IMAGE_FORMATS:
        return None
    with tempfile.NamedTemporaryFile(suffix=f".{kind}") as file:
        file.write(data)
        file.flush()
        # Not in a child process: the files of these lists are no attack, and there are a thousand of them.
        facts = generator_marks(image.read(file.name, kind))
    watermark, visible = dwt_dct().read(rgb), visible_mark(rgb)
    return {
        "provenance": (generator_identifier(facts) or "-") if facts else None,
        "watermark": watermark.message if watermark else None,
        "visible": visible.generator if visible else None,
    }


def main() -> None:
    """Read the command line, count, write."""
    parser = argparse.ArgumentParser(description="Count marks of generators.")
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--list", type=Path, required=True)
    parser.add_argument("--repositories", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    print(f"# Marks of generators\n\n    {COMMAND}")
    rows = []
    for source, generated, data in (*files(arguments.list, arguments.repositories), *others(arguments.corpora)):
        if (named := marks(data)) is not None:
            rows.append({"source": source, "generated": generated, **named})
    table = pd.DataFrame(rows)
    for kind in KINDS:
        print(f"\n## {kind}\n")
        for (source, name), part in table[table[kind].notna()].groupby(["source", kind]):
            print(f"- {source}: {len(part)} of {(table.source == source).sum()} name {name}")
    generated, other = table[table.generated], table[~table.generated]
    counts = {
        kind: MarkCounts(
            generated=len(generated),
            generated_marked=int(generated[kind].notna().sum()),
            other=len(other),
            other_marked=int(other[kind].notna().sum()),
            data=f"at most {PER_REPOSITORY} files of a repository and class: {generated.source.nunique()} repositories "
            f"of generated pictures, {other.source.nunique() - 1} of photographs, and the forensics corpus's images of "
            "known other origin",
            command=COMMAND,
        )
        for kind in KINDS
    }
    arguments.out.write_text(
        json.dumps({k: v.model_dump() for k, v in counts.items()}, indent=1) + "\n", encoding="utf-8"
    )
    print()
    for kind, n in counts.items():
        print(f"{kind}: {n.generated_marked} of {n.generated} generated, {n.other_marked} of {n.other} others")
        print(f"{kind}: likelihood ratio {n.likelihood_ratio():.0f}")


if __name__ == "__main__":
    main()
