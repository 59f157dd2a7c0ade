"""What the service loses when things go wrong: killed workers, a database that is away, a full disk, a dead receiver.

    python -m benchmarks.service_faults > benchmarks/results/service_faults.md

Real workers on real analyses of small pictures. Every change of a task's status is recorded by a trigger in the
database, so that an outcome that was written twice would show. The full disk needs the right to mount a tmpfs, and
PostgreSQL its programs; what cannot be run is left out and named. ``--only`` runs some of the parts.
"""

import argparse
import collections
import contextlib
import functools
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import httpx

from tests.service.postgres import Server, postgres, program
from tests.service.running import free_port, receiving, serving, stop, uploads, wait_until

try:
    from benchmarks.service_clients import (
        answering,
        attempt,
        attempts_noted,
        changes,
        clients,
        create,
        expected,
        listening,
        messages,
        past,
        record_changes,
        states,
    )
    from tests.service.workshop import Gate, Workshop, gate, kill, png
except ModuleNotFoundError as error:
    sys.exit(f"the service runs on {error.name}, which is not installed: pip install 'forensix[service]'")

KILLS = 10
AWAY_S = 30
SCALE = 60
"""An hour takes a minute: the waits between attempts to deliver are divided by this."""
TMPFS_MB = 48


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", choices=list(PARTS), default=list(PARTS))
    options = parser.parse_args()
    command = f"python -m benchmarks.service_faults --jobs {options.jobs} --seed {options.seed}"
    print(f"# The service under faults\n\nCommand: `{command}`, one run.")
    for name in options.only:
        print(f"\n## {name.replace('-', ' ').capitalize()}\n", flush=True)
        with tempfile.TemporaryDirectory(prefix="forensix-faults-") as folder:
            for line in PARTS[name](Path(folder), options):
                print(line, flush=True)


# Workers killed at random.


def killed_workers(folder: Path, options: argparse.Namespace) -> Iterator[str]:
    """Kill one of two workers ten times, at random moments, while the jobs are done; each is started again."""
    yield f"{options.jobs} analyses, two workers; {KILLS} times `kill -9` of one of them, started again at once."
    yield ""
    yield (
        "| database | lost | failed for killing twice | run more than once | outcomes written twice "
        "| results without webhook | webhooks sent more than once | ids differ "
        "| completion to webhook, p50 / p95 s | s |"
    )
    yield "|---" * 10 + "|"
    yield _killed_workers("SQLite", Workshop(folder / "sqlite"), options)
    if program("postgres") is None:
        yield "| PostgreSQL | not run: not installed |" + " |" * 8
        return
    with postgres() as server:
        yield _killed_workers("PostgreSQL", Workshop(folder / "postgres", database_url=server.url), options)


def _killed_workers(name: str, workshop: Workshop, options: argparse.Namespace) -> str:
    chance = random.Random(options.seed)
    record_changes(workshop)
    with receiving() as receiver:
        workshop.webhook(receiver.url())
        begun = time.monotonic()
        ids = [workshop.task(png(i)) for i in range(options.jobs)]
        workers = [workshop.start(), workshop.start()]
        try:
            moments = sorted(chance.uniform(0.02, 0.95) * options.jobs for _ in range(KILLS))
            for moment in moments:
                wait_until(functools.partial(past, workshop, moment), 1200, "progress", log=workshop.log, every_s=0.1)
                # Anywhere within a job, not just after one.
                time.sleep(chance.uniform(0, 1))
                victim = chance.randrange(2)
                kill(workers[victim])
                workers[victim] = workshop.start()
            rows = workshop.wait(*ids, timeout_s=1200)
            seconds = time.monotonic() - begun
            with contextlib.suppress(AssertionError):
                wait_until(lambda: set(messages(receiver)) >= expected(ids), 60, "all webhooks")
        finally:
            for worker in workers:
                stop(worker)
    arrived = {}
    for got in receiver.deliveries:
        arrived.setdefault(json.loads(got.body)["id"], got.at_s)
    lags_s = sorted(arrived[row["id"]] - row["finished_at"] for row in rows if row["id"] in arrived)
    sent = messages(receiver)
    written = changes(workshop)
    cells = (
        name,
        sum(row["status"] == "in_progress" for row in rows),
        sum(row["error_code"] == "killed_worker" for row in rows),
        sum(row["attempts"] > 1 for row in rows),
        sum(n > 1 for n in written.values()),
        len(expected(ids) - set(sent)),
        sum(n > 1 for n in sent.values()),
        len(set(sent) - expected(ids)),
        f"{statistics.median(lags_s):.2f} / {lags_s[int(0.95 * len(lags_s))]:.2f}",
        f"{seconds:.0f}",
    )
    workshop.close()
    return "| " + " | ".join(map(str, cells)) + " |"


# The database away.


def database_away(folder: Path, options: argparse.Namespace) -> Iterator[str]:
    """Stop PostgreSQL while both workers analyse, have them finish without it, and start it half a minute later."""
    if program("postgres") is None:
        yield "Not run: PostgreSQL is not installed."
        return
    n_jobs = max(20, options.jobs // 10)
    with (
        gate() as shut,
        postgres() as server,
        serving(folder / "home", database_url=server.url, workers=2, account_rate=0) as service,
    ):
        client = clients(service)
        first = [create(client) for _ in range(2)]
        wait_until(lambda: states(client, first)["completed"] == 2, 120, "the first results", every_s=0.5)
        held = [create(client, url=shut.url) for _ in range(2)]
        shut.wait(2)
        ids = [*first, *held, *(create(client) for _ in range(n_jobs - 4))]
        before = states(client, ids)
        answers = _without(server, client, shut)
        begun = time.monotonic()
        wait_until(lambda: answering(client), 60, "the API to be ready again")
        ready_s = time.monotonic() - begun
        new = create(client)
        wait_until(lambda: states(client, [*ids, new])["in_progress"] == 0, 300, "all results", every_s=0.5)
        after = states(client, [*ids, new])
        seconds = time.monotonic() - begun
    yield f"PostgreSQL stopped for {AWAY_S} s (immediate shutdown) while two workers analyse, who finish without it."
    yield ""
    yield "| | |"
    yield "|---|---|"
    yield f"| tasks, finished before | {n_jobs}, {before['completed']} |"
    yield f"| creations while it was away, by status | {_count_text(answers['create'])} |"
    yield f"| /readyz while it was away, by status | {_count_text(answers['ready'])} |"
    yield f"| ready again after | {ready_s:.1f} s |"
    yield f"| of {n_jobs + 1}, one created afterwards | {after['completed']} completed, {after['failed']} failed |"
    yield f"| all finished after | {seconds:.0f} s |"


def _without(server: Server, client: httpx.Client, shut: Gate) -> dict[str, collections.Counter[int]]:
    server.stop()
    shut.open.set()
    answers: dict[str, collections.Counter[int]] = {"create": collections.Counter(), "ready": collections.Counter()}
    end = time.monotonic() + AWAY_S
    while time.monotonic() < end:
        answers["create"][attempt(client).status_code] += 1
        answers["ready"][client.get("/readyz").status_code] += 1
        time.sleep(0.5)
    server.start()
    return answers


# The disk full.


def disk_full(folder: Path, options: argparse.Namespace) -> Iterator[str]:
    """Fill the disk that database and uploads share while analyses are going on, and free it again."""
    home = folder / "home"
    home.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={TMPFS_MB}m", "tmpfs", str(home)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        yield "Not run: mounting a tmpfs is not allowed here."
        return
    try:
        with gate() as shut, serving(home, workers=1, account_rate=0) as service:
            client = clients(service)
            first = create(client)
            wait_until(lambda: states(client, [first])["completed"] == 1, 60, "a first result", every_s=0.5)
            held = create(client, url=shut.url)
            waiting = [create(client) for _ in range(5)]
            shut.wait(1)
            fill(home / "filler")
            refused = collections.Counter(attempt(client).status_code for _ in range(20))
            left = len(uploads(home))
            shut.open.set()
            time.sleep(10)
            during = states(client, [held, *waiting])
            (home / "filler").unlink()
            begun = time.monotonic()
            ids = [held, *waiting]
            wait_until(lambda: states(client, ids)["in_progress"] == 0, 120, "all results", every_s=0.5)
            seconds = time.monotonic() - begun
            after, again = states(client, ids), attempt(client).status_code
    finally:
        subprocess.run(["umount", str(home)], check=False)
    yield f"SQLite, uploads and scratch on one disk of {TMPFS_MB} MB, filled while one of 6 analyses is going on."
    yield ""
    yield "| | |"
    yield "|---|---|"
    yield f"| creations while it was full, by status | {_count_text(refused)} |"
    yield f"| files of refused uploads left behind | {left - 6} |"
    yield f"| the 6 tasks after 10 s without space | {_count_text(during)} |"
    yield f"| the 6 tasks {seconds:.0f} s after there was space again | {_count_text(after)} |"
    yield f"| a creation then | {again} |"


def fill(path: Path) -> None:
    """Write until no byte more goes in."""
    with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        for size in (1 << 20, 1 << 12, 1):
            with contextlib.suppress(OSError):
                while True:
                    file.write(b"\0" * size)


# The receiver away.


def receiver_away(folder: Path, options: argparse.Namespace) -> Iterator[str]:
    """Have nobody listen at the webhook's address for an hour of the delivery's own time."""
    n_jobs = 20
    settings = {"webhook_backoff_s": 10 / SCALE, "webhook_backoff_max_s": 3600 / SCALE}
    workshop = Workshop(folder, **settings)
    port = free_port()
    with receiving() as healthy, workshop.working():
        dead_id = workshop.webhook(f"http://127.0.0.1:{port}/")
        workshop.webhook(healthy.url())
        ids = [workshop.task(b"not a picture", file_name=f"{i}.txt") for i in range(n_jobs)]
        rows = workshop.wait(*ids)
        down_until = time.monotonic() + 3600 / SCALE
        healthy.wait(n_jobs)
        at = {json.loads(got.body)["id"]: got.at_s for got in healthy.deliveries}
        healthy_s = sorted(at[row["id"]] - row["finished_at"] for row in rows)
        time.sleep(max(0, down_until - time.monotonic()))
        tried = attempts_noted(workshop, dead_id)
        with listening(port) as receiver:
            begun = time.monotonic()
            with contextlib.suppress(AssertionError):
                wait_until(lambda: set(messages(receiver)) >= expected(ids), 5400 / SCALE, "all webhooks")
            seconds = time.monotonic() - begun
            sent = messages(receiver)
    workshop.close()
    yield f"Nobody listens for an hour; the hour, and the waits between attempts by default, are {SCALE} times shorter."
    yield ""
    yield "| | |"
    yield "|---|---|"
    yield f"| results to deliver | {n_jobs} |"
    yield f"| attempts for each by the end of the hour | {min(tried)} to {max(tried)} of 10 |"
    arrived = len(expected(ids) & set(sent))
    yield f"| delivered afterwards | {arrived}, the last {seconds * SCALE / 60:.0f} min later |"
    yield f"| delivered more than once | {sum(n > 1 for n in sent.values())} |"
    yield f"| the same results at a receiver that was up, p95 | {healthy_s[int(0.95 * n_jobs)]:.2f} s |"


# What the parts share.


def _count_text(counts: "collections.Counter[Any]") -> str:
    return ", ".join(f"{n} x {name}" for name, n in sorted(counts.items(), key=str))


PARTS: dict[str, Callable[[Path, argparse.Namespace], Iterator[str]]] = {
    "killed-workers": killed_workers,
    "database-away": database_away,
    "disk-full": disk_full,
    "receiver-away": receiver_away,
}

if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
