"""Files a second through `forensix.analyze_many`, by batch and by how many files are in flight in one process.

    python -m benchmarks.in_flight --corpora DIR [--files N]

DIR holds ``images`` and ``voice`` with a manifest each; N files of the development split are analysed by one task each,
without explanation, one after the other (``here``) and several at a time (``threads:8``), on one core. Prints Markdown:
how often the network was asked, and files a second of processor time, the decoders' included. The machine may do other
things beside, so time on the clock is not told.
"""

import argparse
import resource
from pathlib import Path

import numpy as np
import pandas as pd
import torch

import forensix
from forensix.media.template import TEMPLATE

TASKS = {
    "pictures": ("images", "ai_generated_image_detection", "image_detector", "forensix-image"),
    "clips": ("voice", "voice_analysis", "spoof", "forensix-spoof"),
}
BATCHES = (1, 8, 32)
EXECUTORS = ("here", "threads:8")


def chosen(folder: Path, n: int) -> list[Path]:
    """Return ``n`` files of the development split, evenly spread."""
    table = pd.read_csv(folder / "manifest.csv", dtype=str)
    paths = list(table["path"][table["split"] == "dev"])
    return [folder / paths[int(i)] for i in np.linspace(0, len(paths) - 1, n)]


def spent_s() -> float:
    """Return the processor time of this process and of the decoders that have ended."""
    # Decoders are counted once what they were forked from has ended.
    TEMPLATE.close()
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def measured(paths: list[Path], task: str, slot: str, name: str, batch: int, executor: str) -> str:
    """Return how often the network was asked, and how many files a second went through."""
    detector = forensix.load_detector(name, batch_size=batch)
    options = {"explain": False, "transcribe": False, slot: detector}
    list(forensix.analyze_many(paths[:1], [task], executor="here", **options))
    passes = []
    detector.network.module.register_forward_hook(lambda *_: passes.append(1))
    begun = spent_s()
    reports = list(forensix.analyze_many(paths, [task], executor=executor, **options))
    failed = sum(report.failed for report in reports)
    return f"{len(passes)} | {len(paths) / (spent_s() - begun):.2f} | {failed}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--files", type=int, default=16)
    options = parser.parse_args()
    torch.set_num_threads(1)
    print("# Files in flight: pictures and clips a second through `analyze_many`\n")
    print(f"Command: `python -m benchmarks.in_flight --corpora DIR --files {options.files}`, one core\n")
    print(f"| {options.files} | batch | executor | passes through the network | files a second | failed |")
    print("|---|---|---|---|---|---|")
    for kind, (folder, task, slot, name) in TASKS.items():
        paths = chosen(options.corpora / folder, options.files)
        for batch in BATCHES:
            for executor in EXECUTORS:
                print(
                    f"| {kind} | {batch} | {executor} | {measured(paths, task, slot, name, batch, executor)} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
