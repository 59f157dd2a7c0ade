"""How long the tables of a large evaluation take, and how much memory: random scores, intervals by groups.

    python benchmarks/summary_speed.py > benchmarks/results/summary_speed.md

The rows are drawn with a fixed seed: half real, half fake, groups of twenty files, twenty generators.
"""

import argparse
import resource
import time
from collections.abc import Callable

import numpy as np
import pandas as pd

from forensix.evaluation import summary


def frame(n: int, n_conditions: int) -> pd.DataFrame:
    """Return ``n`` rows of random scores, in equal parts of ``n_conditions`` degradations."""
    rng = np.random.default_rng(0)
    n_files = n // n_conditions
    label = np.where(rng.random(n_files) < 0.5, "fake", "real")
    parts = []
    for k in range(n_conditions):
        logits = rng.normal(size=n_files) + (1.5 - k / n_conditions) * (label == "fake")
        parts.append(
            pd.DataFrame(
                {
                    "path": [f"clips/{i}.flac" for i in range(n_files)],
                    "label": label,
                    "generator": np.where(label == "fake", rng.integers(0, 20, n_files).astype(str), None),
                    "group_id": np.arange(n_files) // 20,
                    "task": "voice_analysis",
                    "component": "random",
                    "degradation": f"p{k}",
                    "score": 1 / (1 + np.exp(-logits)),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def timed(name: str, n_conditions: int, make: Callable[[], pd.DataFrame]) -> None:
    start = time.perf_counter()
    table = make()
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"| {name} | {n_conditions} | {len(table)} | {seconds:.1f} | {peak:.0f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--draws", type=int, default=1000)
    args = parser.parse_args()
    print(f"{args.rows} rows of scores, {args.draws} draws for 95 % intervals, one process, one thread.\n")
    print("| table | conditions | rows of the table | seconds | peak memory so far, MiB |\n|---|---|---|---|---|")
    for n_conditions in (1, 20):
        scores = frame(args.rows, n_conditions)
        timed("summarise", n_conditions, lambda s=scores: summary.summarise(s, n_bootstrap=args.draws))
        timed(
            "summarise, no groups",
            n_conditions,
            lambda s=scores: summary.summarise(s, group=None, n_bootstrap=args.draws),
        )
        timed("by generator (20)", n_conditions, lambda s=scores: summary.by(s, "generator", n_bootstrap=args.draws))


if __name__ == "__main__":
    main()
