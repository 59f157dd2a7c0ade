"""Watermarks: false alarms on photographs, marked files that are found, and what is left of a mark after JPEG.

    python benchmarks/generated_watermark.py --corpora DIR --list images.csv --repositories DIR [--most N]
        [--reference PYTHON] [--parts alarms,files,recall]

False alarms are counted on the photographs of the list, at most ``--most`` of a repository, and of the images corpus;
beside the messages that generators write, 100 random ones of 48 bits a picture say how far chance reaches. Marked files
are counted among the generated pictures of the list, by repository. The gate was chosen with these photographs seen.

``--reference`` names a Python that has invisible-watermark, PyWavelets and OpenCV. It marks 40 photographs (at most two
of a repository, a square of 512 px at native size), as generators' code does, and reads them back its own way beside
ours: as they are, after JPEG, after scaling and after cropping.
"""

import argparse
import io
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image
from scipy.stats import binomtest

from forensix.errors import ForensixError
from forensix.synthetic.watermark import MAX_CHANCE, MESSAGES, MIN_PIXELS, compare, dwt_dct, pulls
from forensix.training.sources import Repositories, read_list

SEED = 0
N_RANDOM = 100
N_MARKED = 40
SIDE_PX = 512
WRITERS = {"StableDiffusionV1": "uint8", "SDXL": "float32", "FLUX": "float32"}
ENOUGH = {"StableDiffusionV1": 0.92, "SDXL": 44 / 48, "FLUX": 42 / 46}
"""Share of bits at which those who read bits with the reference code call a picture marked."""

REFERENCE = """
import sys, types
import numpy as np
for name in ("torch", "onnxruntime"):  # of its neural method, which is not used
    sys.modules[name] = types.ModuleType(name)
from imwatermark import WatermarkDecoder, WatermarkEncoder
job = np.load(sys.argv[1])
bits = [int(b) for b in str(job["message"])]
done = []
for rgb in job["pictures"]:
    bgr = np.ascontiguousarray(rgb[..., ::-1])
    if str(job["do"]) == "write":
        encoder = WatermarkEncoder()
        encoder.set_watermark("bits", bits)
        marked = encoder.encode(bgr.astype(str(job["kind"])), "dwtDct")[..., ::-1]
        done.append(np.clip(np.rint(marked.astype(float)), 0, 255).astype(np.uint8))
    else:
        read = np.asarray(WatermarkDecoder("bits", len(bits)).decode(bgr, "dwtDct")).astype(int)
        done.append((read == bits).mean())
np.save(sys.argv[2], np.array(done))
"""


def pictures(arguments: argparse.Namespace, label: str, most: int) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the repository and the pixels of the list's files of one label that are at hand."""
    rows = read_list(arguments.list)
    rows = rows[rows["label"] == label].sample(frac=1, random_state=SEED)
    with Repositories(arguments.repositories) as sources:
        for repo, part in rows.groupby("repo"):
            for row in part.head(most).itertuples() if sources.has(repo) else ():
                try:
                    data = sources.read(repo, row.path, blob=row.blob, ref=row.ref)
                    with Image.open(io.BytesIO(data)) as picture:
                        yield repo, np.asarray(picture.convert("RGB"))
                except (ForensixError, OSError, ValueError):
                    continue


def photographs(arguments: argparse.Namespace) -> Iterator[tuple[str, np.ndarray]]:
    yield from pictures(arguments, "real", arguments.most)
    rows = pd.read_csv(arguments.corpora / "images" / "manifest.csv", dtype=str)
    for path in rows[rows.label == "real"].path:
        with Image.open(arguments.corpora / "images" / path) as picture:
            yield "images corpus", np.asarray(picture.convert("RGB"))


def false_alarms(arguments: argparse.Namespace) -> None:
    reader, rng = dwt_dct(), np.random.default_rng(SEED)
    random = ["".join(map(str, bits)) for bits in rng.integers(0, 2, (N_RANDOM, 48))]
    rows = []
    for repo, rgb in photographs(arguments):
        if rgb.shape[0] * rgb.shape[1] < MIN_PIXELS:
            continue
        mark = reader.read(rgb)
        pulled = pulls(rgb, from_bytes=True)
        agreements = [compare(pulled, message, gated=False) for message in random]
        chance = min((agreement.chance for agreement in agreements if agreement is not None), default=1.0)
        rows.append({"repo": repo, "alarm": mark is not None, "chance": chance})
    table = pd.DataFrame(rows)
    low, high = binomtest(int(table.alarm.sum()), len(table)).proportion_ci()
    print(f"\n## False alarms\n\n{table.alarm.sum()} of {len(table)} photographs of {table.repo.nunique()} sources "
          f"(95 % interval {low:.5f} to {high:.5f}); the gate is at a chance of {MAX_CHANCE:g}.")  # fmt: skip
    n_tried = len(table) * N_RANDOM
    print(f"Of {n_tried} random messages, the best agreement had a chance of {table.chance.min():.1e} "
          f"(chance alone: about {1 / n_tried:.1e}).\n")  # fmt: skip
    for repo, part in table.groupby("repo"):
        print(f"- {repo}: {part.alarm.sum()} of {len(part)}")


def marked_files(arguments: argparse.Namespace) -> None:
    reader, rows = dwt_dct(), []
    for repo, rgb in pictures(arguments, "fake", arguments.most):
        mark = reader.read(rgb)
        rows.append({"repo": repo, "mark": mark.message if mark else None})
    table = pd.DataFrame(rows)
    print(f"\n## Generated pictures that carry a mark\n\n{table.mark.notna().sum()} of {len(table)}.\n")
    for (repo, mark), part in table[table.mark.notna()].groupby(["repo", "mark"]):
        print(f"- {repo}: {len(part)} of {(table.repo == repo).sum()} say {mark}")


def jpeg(rgb: np.ndarray, quality: int, subsampling: int) -> np.ndarray:
    buffer = io.BytesIO()
    Image.fromarray(rgb).save(buffer, "JPEG", quality=quality, subsampling=subsampling)
    return np.asarray(Image.open(buffer))


CHANGES = {
    "as written": lambda rgb: rgb,
    **{f"JPEG {q}, colour halved": lambda rgb, q=q: jpeg(rgb, q, 2) for q in (95, 90, 75)},
    **{f"JPEG {q}, colour whole": lambda rgb, q=q: jpeg(rgb, q, 0) for q in (95, 90, 75)},
    "scaled to 90 %": lambda rgb: np.asarray(
        Image.fromarray(rgb).resize([round(0.9 * side) for side in rgb.shape[1::-1]])
    ),
    "4 px cut off": lambda rgb: rgb[4:, 4:],
}


def squares(arguments: argparse.Namespace) -> list[np.ndarray]:
    """Return squares of 512 px, cut out of photographs at native size, at most two of a repository."""
    large = [rgb for _, rgb in pictures(arguments, "real", 2) if min(rgb.shape[:2]) >= SIDE_PX]
    order = np.random.default_rng(SEED).permutation(len(large))[:N_MARKED]
    return [large[i][:SIDE_PX, :SIDE_PX] for i in order]


def reference(python: Path, do: str, kind: str, message: str, stack: np.ndarray) -> np.ndarray:
    with tempfile.TemporaryDirectory() as folder:
        job, answer = Path(folder) / "job.npz", Path(folder) / "answer.npy"
        np.savez(job, do=do, kind=kind, message=message, pictures=stack)
        subprocess.run([python, "-c", REFERENCE, job, answer], check=True)
        return np.load(answer)


def recall(python: Path, photographs: list[np.ndarray]) -> None:
    reader = dwt_dct()
    print(f"\n## Read after changes\n\n{len(photographs)} photographs of {SIDE_PX} px, marked by the reference code.")
    print("Ours beside what the reference code reads (92 % of the bits suffice).\n")
    print("| change | " + " | ".join(f"{name}: ours | reference" for name in WRITERS) + " |")
    print("|---|" + "---|---|" * len(WRITERS))
    marked = {
        name: reference(python, "write", kind, MESSAGES[name][0], np.stack(photographs))
        for name, kind in WRITERS.items()
    }
    for change, act in CHANGES.items():
        cells = []
        for name, stack in marked.items():
            changed = np.stack([act(rgb) for rgb in stack])
            ours = [(mark := reader.read(rgb)) is not None and mark.message == name for rgb in changed]
            theirs = reference(python, "read", "uint8", MESSAGES[name][0], changed) >= ENOUGH[name]
            cells += [f"{np.mean(ours):.2f}", f"{theirs.mean():.2f}"]
        print(f"| {change} | " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(description="Watermarks: false alarms and recall.")
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--list", type=Path, required=True)
    parser.add_argument("--repositories", type=Path, required=True)
    parser.add_argument("--most", type=int, default=200)
    parser.add_argument("--reference", type=Path)
    parser.add_argument("--parts", default="alarms,files,recall")
    arguments = parser.parse_args()
    command = "python benchmarks/generated_watermark.py --corpora DIR --list images.csv --repositories DIR"
    reference_told = " --reference PYTHON" if arguments.reference else ""
    print(
        f"# Watermarks\n\n    {command} --most {arguments.most}{reference_told} --parts {arguments.parts}", flush=True
    )
    parts = arguments.parts.split(",")
    if "alarms" in parts:
        false_alarms(arguments)
        sys.stdout.flush()
    if "files" in parts:
        marked_files(arguments)
        sys.stdout.flush()
    if "recall" in parts and arguments.reference:
        recall(arguments.reference, squares(arguments))


if __name__ == "__main__":
    main()
