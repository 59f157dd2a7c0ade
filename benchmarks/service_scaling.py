"""How much faster two workers finish a batch than one, each of them, and what it starts, bound to a core of its own.

    python benchmarks/service_scaling.py > benchmarks/results/service_scaling.md

One and two workers take turns on batches of the same pictures; the table gives every round and the median ratio. The
workers are warm: each has done a job before the clock starts. What else runs on the two cores (the database, this
program) weighs on two workers more than on one, so the figure is a lower bound, and means little on a busy machine.
"""

import argparse
import contextlib
import io
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from PIL import Image

from tests.making import picture
from tests.service.postgres import postgres, program
from tests.service.running import stop, wait_until

try:
    from tests.service.workshop import Workshop
except ModuleNotFoundError as error:
    sys.exit(f"the service runs on {error.name}, which is not installed: pip install 'forensix[service]'")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=24, help="analyses in a batch")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise SystemExit("this needs two cores")
    command = f"python benchmarks/service_scaling.py --jobs {options.jobs} --rounds {options.rounds}"
    print(f"# Two workers and one\n\nCommand: `{command}`.\n")
    print(
        f"{options.jobs} forensic analyses of pictures of 1024 x 768, one core for each worker; "
        f"load of the machine before: {os.getloadavg()[0]:.1f}.\n"
    )
    print("| database | one worker, s | two workers, s | times as fast (median) |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="forensix-scaling-") as folder:
        for name, workshop in _workshops(Path(folder)):
            rounds = [(batch(workshop, cores[:1], options.jobs), batch(workshop, cores[:2], options.jobs))]
            for _ in range(options.rounds - 1):
                rounds.append((batch(workshop, cores[:1], options.jobs), batch(workshop, cores[:2], options.jobs)))
            single, two = (", ".join(f"{times[i]:.1f}" for times in rounds) for i in (0, 1))
            ratio = statistics.median(first / second for first, second in rounds)
            print(f"| {name} | {single} | {two} | {ratio:.2f} |", flush=True)
            workshop.close()


def _workshops(folder: Path) -> Iterator[tuple[str, Workshop]]:
    yield "SQLite", Workshop(folder / "sqlite")
    if program("postgres") is not None:
        with postgres() as server:
            yield "PostgreSQL", Workshop(folder / "postgres", database_url=server.url)


def batch(workshop: Workshop, cores: list[int], n_jobs: int) -> float:
    """Return the seconds from the first start of a job to the last end, with a warm worker on each core."""
    workers = []
    with contextlib.ExitStack() as stopping:
        for core in cores:
            worker = workshop.start()
            stopping.callback(stop, worker)
            # What it starts inherits this.
            os.sched_setaffinity(worker.pid, {core})
            workers.append(worker)
        _warm(workshop, len(cores))
        ids = [workshop.task(_photo(i)) for i in range(n_jobs)]
        rows = workshop.wait(*ids, timeout_s=600)
    failed = [row["error"] for row in rows if row["status"] != "completed"]
    if failed:
        raise SystemExit(f"an analysis failed: {failed[0]}")
    return max(row["finished_at"] for row in rows) - min(row["started_at"] for row in rows)


def _warm(workshop: Workshop, n_workers: int) -> None:
    """Let jobs run until that many were under way at one time: every worker has its child then."""

    def overlapping() -> bool:
        rows = workshop.wait(*(workshop.task(_photo(-i - 1)) for i in range(2 * n_workers)), timeout_s=300)
        spans = [(row["started_at"], row["finished_at"]) for row in rows]
        return any(sum(a <= start < b for a, b in spans) >= n_workers for start, _ in spans)

    wait_until(overlapping, 120, "all workers to be warm", log=workshop.log)
    time.sleep(1)


def _photo(shift: int) -> bytes:
    file = io.BytesIO()
    Image.fromarray(picture(1024, 768, shift=shift)).save(file, "JPEG", quality=90)
    return file.getvalue()


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
