"""Damage files on purpose and watch the forensic analysis: does it crash, hang or swell, and does it tell the damage?

    python -m benchmarks.forensic_fuzz --corpora FOLDER [--mutations 2000] [--seed 3] [--workers 1] [--record FILE]

Seeded mutations (``mutations``) of originals of every format, and truncations at every 1 % of ten files of ten formats,
each through ``analyze(tasks=["forensic_analysis"])`` in a process of its own, so that its memory and that of its
children is its own. Writes ``benchmarks/results/forensic_fuzz.md``. With ``--record`` each case is kept as a line of
JSON, and a second run goes on where the first ended.

Counted as told: a suspect or critical claim that names damage (types structure and format, broken credentials or
signatures, lengths that headers contradict) and that the sound original does not get. A change to pixels or samples
alone leaves a sound file, which nobody can tell from another recording.
"""

import argparse
import contextlib
import csv
import json
import multiprocessing
import os
import random
import resource
import signal
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks.forensic_fuzz_tables import GIVEN_UP_S, Outcome, table
from benchmarks.mutations import mutate, truncations
from forensix import analyze
from forensix.errors import InputError
from forensix.media.template import TEMPLATE

RESULTS = Path(__file__).parent / "results" / "forensic_fuzz.md"
LARGEST_ORIGINAL = 60_000
PER_FORMAT = 12
TRUNCATED = ("jpg", "png", "gif", "webp", "tif", "heic", "pdf", "mp4", "mp3", "flac")
"""The formats of the ten files that are cut; the largest sound file under the bound is taken, ``CUT_BYTES``."""
CUT_BYTES = 41_000
SAME = {"jpeg": "jpg", "tiff": "tif", "avif": "heic"}


@dataclass(frozen=True)
class Case:
    """One damaged file."""

    path: str
    format: str
    other: str
    number: int
    """Of the mutation, or the per cent kept of a truncation."""
    truncated: bool

    @property
    def key(self) -> str:
        """Return what the case is recorded under."""
        return f"{'cut' if self.truncated else 'mutation'}:{self.number}:{self.path}"


def cases(folder: Path, n_mutations: int, seed: int) -> list[Case]:
    """Return the cases that a seed stands for: mutations spread evenly over formats, then truncations."""
    with (folder / "manifest.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    by_format: dict[str, list[str]] = {}
    sound: dict[str, list[tuple[int, str]]] = {}
    for row in rows:
        suffix = Path(row["path"]).suffix[1:].lower()
        format, size = SAME.get(suffix, suffix), (folder / row["path"]).stat().st_size
        if size > 60:
            by_format.setdefault(format, []).append(row["path"])
            if row["expect"] != "malformed" and size <= CUT_BYTES:
                sound.setdefault(format, []).append((size, row["path"]))
    rng = random.Random(seed)
    chosen = {}
    for format, paths in sorted(by_format.items()):
        small = [p for p in paths if (folder / p).stat().st_size <= LARGEST_ORIGINAL]
        usable = small or sorted(paths, key=lambda p: (folder / p).stat().st_size)[:1]
        chosen[format] = rng.sample(usable, min(len(usable), PER_FORMAT))
    formats = sorted(chosen)
    drawn = []
    for n in range(n_mutations):
        format = formats[n % len(formats)]
        path, other = rng.choice(chosen[format]), rng.choice(chosen[format])
        drawn.append(Case(path, format, other, n, truncated=False))
    for format in TRUNCATED:
        path = max(sound[format])[1]
        drawn += [Case(path, format, path, percent, truncated=True) for percent in range(1, 100)]
    return drawn


def damaged(folder: Path, case: Case, seed: int) -> tuple[str, bytes]:
    """Return the kind of damage of a case and the bytes after it."""
    data = (folder / case.path).read_bytes()
    if case.truncated:
        return f"cut after {case.number} %", truncations(data)[case.number - 1][1]
    rng = random.Random(f"{seed}:{case.key}")
    return mutate(data, (folder / case.other).read_bytes(), rng)


def run(folder: Path, case: Case, seed: int) -> Outcome:
    """Analyse one case in a forked process and measure it."""
    damage, data = damaged(folder, case, seed)
    same = data == (folder / case.path).read_bytes()
    outcome = measured(data, Path(case.path).name)
    return replace(outcome, key=case.key, format=case.format, truncated=case.truncated, damage=damage, same=same)


def measured(data: bytes, name: str) -> Outcome:
    """Return what the analysis of ``data`` gives and takes; the memory is that of a process of its own."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=_analyse, args=(data, name, sender))
    start = time.perf_counter()
    process.start()
    sender.close()
    try:
        values = receiver.recv() if receiver.poll(GIVEN_UP_S + 10) else None
    except EOFError:
        values = None
    if values is None:
        process.kill()
    process.join()
    if values is None:
        ended = "hang" if time.perf_counter() - start > GIVEN_UP_S else "crash"
        return Outcome("", "", False, "", ended, f"exit {process.exitcode}", (), time.perf_counter() - start, 0, 0, 0)
    return Outcome(**values)


class _GivenUp(BaseException):
    """Passes what makes errors of exceptions."""


def _analyse(data: bytes, name: str, sender: "multiprocessing.connection.Connection") -> None:
    def give_up(*_: object) -> None:
        raise _GivenUp

    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(GIVEN_UP_S)
    start, cpu_s = time.perf_counter(), sum(os.times()[:4])
    ended, said, claim_rows = "analysed", "", ()
    try:
        report = analyze(data, tasks=["forensic_analysis"], name=name)
        if report.errors:
            ended, said = "crash" if report.tracebacks else "refused", str(report.errors)
        else:
            lists = report.outcomes["forensic_analysis"].result.claim_lists
            claim_rows = tuple(
                f"{severity}|{claim.type}|{claim.claim}|{claim.explanation}"
                for severity in ("critical", "suspect", "benign")
                for claim in getattr(lists, severity)
            )
    except InputError as error:
        ended, said = "refused", str(error)
    except _GivenUp:
        ended = "hang"
    except BaseException as error:
        ended, said = "crash", f"{type(error).__name__}: {error}"
    signal.alarm(0)
    # Decoders are counted once what they were forked from has ended.
    TEMPLATE.close()
    sender.send(
        {
            "key": "", "format": "", "truncated": False, "damage": "", "ended": ended, "said": said,
            "claims": claim_rows,
            "wall_s": time.perf_counter() - start, "cpu_s": sum(os.times()[:4]) - cpu_s,
            "children_mb": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024,
            "own_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }
    )  # fmt: skip


def go(folder: Path, todo: list[Case], seed: int, workers: int, record: Path | None) -> list[Outcome]:
    """Run the cases that are not recorded yet; return all outcomes."""
    done: dict[str, Outcome] = {}
    if record and record.exists():
        for line in record.read_text().splitlines():
            values = json.loads(line)
            done[values["key"]] = Outcome(**(values | {"claims": tuple(values["claims"])}))
    originals = dict.fromkeys(case.path for case in todo)
    jobs = [Case(p, "", p, -1, truncated=False) for p in originals if f"original:{p}" not in done]
    jobs += [case for case in todo if case.key not in done]
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(
        workers, mp_context=context, initializer=_warm, initargs=([folder / p for p in originals],)
    ) as pool:
        for outcome in pool.map(_job, [(folder, case, seed) for case in jobs], chunksize=4):
            done[outcome.key] = outcome
            if record:
                with record.open("a") as file:
                    file.write(json.dumps(asdict(outcome)) + "\n")
    return [done[key] for key in (*(f"original:{p}" for p in originals), *(case.key for case in todo))]


def _warm(paths: list[Path]) -> None:
    """Load what analyses need once, so that the forked process of each case has it."""
    for suffix in ("jpg", "png", "pdf", "wav", "mp4"):
        of = [p for p in paths if p.suffix[1:] == suffix]
        if of:
            smallest = min(of, key=lambda p: p.stat().st_size)
            with contextlib.suppress(InputError):
                analyze(smallest, tasks=["forensic_analysis"])


def _job(job: tuple[Path, Case, int]) -> Outcome:
    folder, case, seed = job
    if case.number >= 0:
        return run(folder, case, seed)
    outcome = measured((folder / case.path).read_bytes(), Path(case.path).name)
    return replace(outcome, key=f"original:{case.path}")


def main() -> None:
    """Run the damage that the arguments ask for and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, required=True, help="folder with the corpora")
    parser.add_argument("--mutations", type=int, default=2000)
    parser.add_argument("--truncations", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--record", type=Path, help="file of outcomes, one JSON a line, to go on from")
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    folder = options.corpora / "forensics"
    todo = [c for c in cases(folder, options.mutations, options.seed) if options.truncations or not c.truncated]
    outcomes = go(folder, todo, options.seed, options.workers, options.record)
    command = f"python -m benchmarks.forensic_fuzz --corpora {options.corpora} "
    command += f"--mutations {options.mutations} --seed {options.seed}"
    text = table(outcomes, command)
    options.output.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
