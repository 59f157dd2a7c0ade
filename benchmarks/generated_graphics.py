"""Graphics that others made: what is said of pages, icons and plots, which neither a camera nor a generator made.

    python benchmarks/generated_graphics.py --corpora DIR

Pages are the first two of each PDF in the forensics corpus, drawn at 80 dots an inch; the others are the PNG files
of 64 pixels or more that installed Python packages hold (of plots, many were drawn by matplotlib, as some of training
were). Equal pixels count once. The specification has two classes: its `fake` is a score from the threshold up,
whatever the verdict. Both groups were seen while it was chosen how much graphics weigh in training.
"""

import argparse
import hashlib
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pypdfium2
from numpy.typing import NDArray
from PIL import Image

import forensix
from forensix.tasks.catalogue import AI_GENERATED_IMAGE_DETECTION

TASK = AI_GENERATED_IMAGE_DETECTION.name
DOTS_PER_INCH = 80
PAGES = 2
LEAST_SIDE_PX = 64


def pages(corpora: Path) -> Iterator[NDArray[np.uint8]]:
    """Yield the first pages of the corpus's documents that can be drawn."""
    for path in sorted((corpora / "forensics").rglob("*.pdf")):
        try:
            document = pypdfium2.PdfDocument(path)
            for at in range(min(PAGES, len(document))):
                yield np.asarray(document[at].render(scale=DOTS_PER_INCH / 72).to_pil().convert("RGB"))
        except (pypdfium2.PdfiumError, ValueError, MemoryError):
            continue


def figures() -> Iterator[NDArray[np.uint8]]:
    """Yield the PNG files of installed packages, on white where they are transparent."""
    for path in sorted(Path(sysconfig.get_path("purelib")).rglob("*.png")):
        if "forensix" in path.parts:
            continue
        try:
            with Image.open(path) as image:
                drawn = image.convert("RGBA")
        except (OSError, ValueError, SyntaxError):
            continue
        paper = Image.new("RGBA", drawn.size, "white")
        yield np.asarray(Image.alpha_composite(paper, drawn).convert("RGB"))


def judged(pictures: Iterator[NDArray[np.uint8]]) -> pd.DataFrame:
    """Return the verdict and the score of each picture."""
    rows, seen = [], set()
    for rgb in pictures:
        digest = hashlib.sha256(rgb.tobytes()).digest()
        if min(rgb.shape[:2]) < LEAST_SIDE_PX or digest in seen:
            continue
        seen.add(digest)
        report = forensix.analyze(rgb, tasks=[TASK], explain=False)
        rows.append((report.verdicts[TASK], report.scores[TASK], report.to_wire(TASK)["result"]["class_name"]))
    return pd.DataFrame(rows, columns=["verdict", "score", "class"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, required=True, help="folder of corpora, with forensics/")
    arguments = parser.parse_args()
    print("# Graphics\n\nCommand: `python benchmarks/generated_graphics.py --corpora DIR`\n")
    print("Both groups were seen while it was chosen how much graphics weigh in training.\n")
    print("| graphics | n | called fake | undecided | called real | of class `fake` | median score |")
    print("|---|---|---|---|---|---|---|")
    for name, pictures in (("pages of PDFs", pages(arguments.corpora)), ("figures in packages", figures())):
        rows = judged(pictures)
        counts = [int((rows["verdict"] == verdict).sum()) for verdict in ("fake", "inconclusive", "real")]
        of_class = int((rows["class"] == "fake").sum())
        print(f"| {name} | {len(rows)} | {' | '.join(map(str, counts))} | {of_class} | {rows['score'].median():.2f} |")


if __name__ == "__main__":
    main()
