"""What `evaluate` costs beside the detector, what a second worker brings, what the cache saves, and 100,000 files.

    python benchmarks/evaluate_speed.py --corpora FOLDER > benchmarks/results/evaluate_speed.md

Overhead is against a plain loop: open each file, run the task with the same options, keep the score; the two take turns
in one process whose model is loaded. Seconds of the clock mean little on a busy machine, so processor seconds, of this
process and of the decoders that it starts, stand beside them. Workers are timed with their start and the loading of
their models. Without FOLDER the small data set is used, several times over by changing a byte of no meaning.
"""

import argparse
import contextlib
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pandas as pd

from forensix import Manifest, evaluate, small
from forensix.evaluation import runner
from forensix.executors import Done
from forensix.media import open_media
from forensix.tasks import Options, load_task

TASKS = {"voice_analysis": "voice", "ai_generated_image_detection": "images"}


def listed(corpora: Path | None, name: str, n: int) -> Manifest:
    """Return ``n`` files of the dev split of a corpus, evenly taken, or of the small data set."""
    if corpora is not None:
        manifest = Manifest.read(corpora / name / "manifest.csv").where(split="dev")
    else:
        manifest = Manifest.read(small.folder({"voice": "voices"}.get(name, name)))
    table = manifest.table.reset_index(drop=True)
    places = [i * len(table) // min(n, len(table)) for i in range(min(n, len(table)))]
    return Manifest(table.iloc[places], root=manifest.root)


def several(manifest: Manifest, n: int, folder: Path) -> Manifest:
    """Return ``n`` files: copies with bytes behind their end where there are too few, so that no two are alike."""
    paths, labels = manifest.paths(), list(manifest.table["label"])
    rows = []
    for i in range(n):
        source = paths[i % len(paths)]
        to = folder / f"{i:05}{source.suffix}"
        to.write_bytes(source.read_bytes() + (b"" if i < len(paths) else i.to_bytes(4, "big")))
        rows.append({"path": to.name, "label": labels[i % len(paths)]})
    return Manifest(pd.DataFrame(rows), root=folder)


def timed(call: Callable[[], Any]) -> tuple[float, float]:
    """Return seconds of the clock, and of processors: this process and those it waited for."""
    begun, before = time.perf_counter(), os.times()
    call()
    after = os.times()
    return time.perf_counter() - begun, sum(after[:4]) - sum(before[:4])


def loop(manifest: Manifest, name: str) -> list[float | None]:
    """Score files one after the other, as somebody would who has no `evaluate`."""
    task = load_task(name)
    options = Options(explain=False, transcribe=False, score_only=True)
    scores = []
    for path in manifest.paths():
        with open_media(path) as media:
            scores.append(task.run(media, options).score)
    return scores


def overhead(options: argparse.Namespace, folder: Path) -> None:
    print("## Overhead over a plain loop\n")
    print("| task | files | loop, s | evaluate | with an output | evaluate, processor | with an output, processor |")
    print("|---|---|---|---|---|---|---|")
    for name, corpus in TASKS.items():
        manifest = listed(options.corpora, corpus, options.files)
        ways: list[Callable[[int], Any]] = [
            lambda i: loop(manifest, name),  # noqa: B023 - called within the turn
            lambda i: evaluate(manifest, name, cache=False, executor="here"),  # noqa: B023
            lambda i: evaluate(manifest, name, cache=False, executor="here", output=folder / f"{name}-{i}"),  # noqa: B023
        ]
        assert loop(manifest, name) == [
            None if pd.isna(score) else score
            for score in evaluate(manifest, name, cache=False, executor="here").scores["score"]
        ]
        rounds = []
        for i in range(options.rounds):
            # Whoever comes first may find the machine busier.
            order = list(range(3)) if i % 2 == 0 else [2, 1, 0]
            took = {k: timed(lambda k=k: ways[k](i)) for k in order}  # noqa: B023
            rounds.append([took[k] for k in range(3)])
        cells = [_over([times[k][unit] / times[0][unit] for times in rounds]) for unit in (0, 1) for k in (1, 2)]
        seconds = statistics.median(times[0][0] for times in rounds)
        print(f"| {name} | {len(manifest)} | {seconds:.1f} | {' | '.join(cells)} |", flush=True)


def _over(ratios: list[float]) -> str:
    percent = [100 * (ratio - 1) for ratio in ratios]
    return f"{statistics.median(percent):+.1f} % ({min(percent):+.1f} to {max(percent):+.1f})"


def scaling(options: argparse.Namespace, folder: Path) -> None:
    from tests.executors.clusters import Cluster

    print("\n## Two workers and one\n")
    print("| where | files | one worker, s | two workers, s | times as fast (median) |\n|---|---|---|---|---|")
    manifest = several(listed(options.corpora, "voice", options.batch), options.batch, folder)

    @contextlib.contextmanager
    def processes(n: int) -> Iterator[int]:
        yield n

    @contextlib.contextmanager
    def cluster(n: int) -> Iterator[str]:
        with tempfile.TemporaryDirectory() as place, Cluster(Path(place)) as workers_:
            workers_.add(n)
            yield workers_.address

    for where, place in (("worker processes", processes), ("Dask cluster", cluster)):
        rounds = []
        for _ in range(options.rounds):
            took = []
            for n in (1, 2):
                begun = time.perf_counter()
                with place(n) as executor:
                    evaluate(manifest, "voice_analysis", cache=False, executor=executor)
                    took.append(time.perf_counter() - begun)
            rounds.append(took)
        single, two = (", ".join(f"{times[i]:.1f}" for times in rounds) for i in (0, 1))
        ratio = statistics.median(first / second for first, second in rounds)
        print(f"| {where} | {len(manifest)} | {single} | {two} | {ratio:.2f} |", flush=True)


def cached(options: argparse.Namespace, folder: Path) -> None:
    print("\n## A second run, from the cache\n")
    print("| task | files | MB | first run, s | second run, s | times as fast |\n|---|---|---|---|---|---|")
    for name, corpus in TASKS.items():
        manifest = listed(options.corpora, corpus, options.files)
        megabytes = sum(path.stat().st_size for path in manifest.paths()) / 1e6
        ratios, firsts, seconds = [], [], []
        for i in range(options.rounds):
            place = folder / f"cache-{name}-{i}"
            first, second = (
                timed(lambda p=place: evaluate(manifest, name, cache=p, executor="here"))[0]  # noqa: B023
                for _ in range(2)
            )
            firsts.append(first), seconds.append(second), ratios.append(first / second)
        ratio = f"{statistics.median(ratios):.0f} ({min(ratios):.0f} to {max(ratios):.0f})"
        first, second = statistics.median(firsts), statistics.median(seconds)
        print(f"| {name} | {len(manifest)} | {megabytes:.1f} | {first:.1f} | {second:.3f} | {ratio} |", flush=True)


def many(n: int) -> None:
    """Print what a manifest of ``n`` files takes whose scores are there; in a process of its own, for its memory."""
    with tempfile.TemporaryDirectory(prefix="forensix-many-") as place:
        folder = Path(place)
        for i in range(n):
            (folder / f"{i}.png").write_bytes(i.to_bytes(8, "big") * 16)
        table = pd.DataFrame({"path": [f"{i}.png" for i in range(n)]})
        table["label"] = ["fake" if i % 2 else "real" for i in range(n)]
        table["group_id"], table["generator"] = table.index // 20, table.index % 20
        manifest = Manifest(table, root=folder)
        before = _peak_mb()

        def made_up(function: Any, job: Any, items: Iterable[Any], **_: Any) -> Iterator[Done]:
            for i, item in enumerate(items):
                row = {"score": i / n, "class_name": "real", "error": None, "code": None, "seconds": 0.1, "frames": []}
                yield Done(i, [row for _ in item.wanted])

        real, runner.executors.run = runner.executors.run, made_up  # type: ignore[assignment]
        task = "ai_generated_image_detection"
        first, _ = timed(lambda: evaluate(manifest, task, cache=folder / "cache"))
        runner.executors.run = real
        peak_first = _peak_mb()
        evaluations = []
        second, _ = timed(
            lambda: evaluations.append(evaluate(manifest, task, cache=folder / "cache", output=folder / "out"))
        )
        assert evaluations[0].info["from_cache"] == len(evaluations[0].scores) == n and not len(evaluations[0].failures)
        print(f"| fill the cache (scores made up) | {first:.1f} | {peak_first:.0f} |")
        print(f"| all from the cache, output written | {second:.1f} | {_peak_mb():.0f} |")
        print(f"\nBefore either, the process held {before:.0f} MB.")


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpora", type=Path, help="folder of the corpora; the small data set without it")
    parser.add_argument("--files", type=int, default=40, help="files of each task for overhead and cache")
    parser.add_argument("--batch", type=int, default=300, help="files for workers")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=100_000, help="files of which all scores are in the cache")
    parts = ("overhead", "cached", "scaling", "many")
    parser.add_argument("--parts", nargs="+", choices=parts, default=parts)
    parser.add_argument("--inner", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inner:
        return many(options.rows)
    where = " --corpora FOLDER" if options.corpora else ""
    print(f"# The cost of evaluate\n\nCommand: `python benchmarks/evaluate_speed.py{where} --files {options.files} "
          f"--batch {options.batch} --rounds {options.rounds} --rows {options.rows} --parts {' '.join(options.parts)}`."
          f"\n\nOne thread a process, {len(os.sched_getaffinity(0))} cores; load of the machine before: "
          f"{os.getloadavg()[0]:.1f}. Ratios are medians of the rounds, with their range.\n", flush=True)  # fmt: skip
    folder = Path(tempfile.mkdtemp(prefix="forensix-speed-"))
    try:
        for part in options.parts:
            if part != "many":
                {"overhead": overhead, "cached": cached, "scaling": scaling}[part](options, folder)
        if "many" in options.parts:
            print(f"\n## {options.rows} files\n\n| evaluate | s | peak memory, MB |\n|---|---|---|", flush=True)
            subprocess.run([sys.executable, __file__, "--inner", "--rows", str(options.rows)], check=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return None


if __name__ == "__main__":
    main()
