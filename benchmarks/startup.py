"""Seconds that a person waits for one file: from the shell, and in a process that is warm; print markdown.

    python -m benchmarks.startup --against CHECKOUT

Each command runs in turn with this checkout and with another one, for example of the commit before, by the same
interpreter; ratios are of neighbouring runs, so that a machine that others share slows both. Both are compiled to
bytecode first, as pip does with what it installs. Processor seconds count every child; those of a warm file are what
three more files cost a process. The pictures are made here from one that scikit-image brings; one of them has a face.
"""

import argparse
import compileall
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

HERE = Path(__file__).resolve().parents[1]
N_WARM = 3
WARM = """
import sys, time
import forensix

forensix.analyze(sys.argv[1], explain=False)
walls = [0.0]
for _ in range(int(sys.argv[2])):
    start = time.perf_counter()
    forensix.analyze(sys.argv[1], explain=False)
    walls.append(time.perf_counter() - start)
print(min(walls[1:] or walls))
"""


def pictures(folder: Path) -> tuple[Path, Path]:
    """Write a picture of 0.3 and one of 5 megapixels; return their paths."""
    from skimage.data import astronaut

    small, large = folder / "small.jpg", folder / "large.jpg"
    picture = Image.fromarray(astronaut())
    picture.save(small, quality=90)
    grown = np.asarray(picture.resize((2592, 1944), Image.Resampling.BICUBIC)).astype(np.int16)
    noise = np.random.default_rng(0).integers(-6, 7, grown.shape, dtype=np.int16)
    Image.fromarray(np.clip(grown + noise, 0, 255).astype(np.uint8)).save(large, quality=92)
    return small, large


def run(arguments: list[str], checkout: Path, folder: Path) -> tuple[float, float]:
    """Return wall and processor seconds of a command; of a warm one what each further file takes."""
    if arguments[0] == "-c" and len(arguments) == 3:
        _, first = run([*arguments, "0"], checkout, folder)
        wall, all_of_them = run([*arguments, str(N_WARM)], checkout, folder)
        return wall, (all_of_them - first) / N_WARM
    environment = {**os.environ, "PYTHONPATH": str(checkout), "PYTHONSAFEPATH": "1"}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(done.stderr)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return float(done.stdout) if arguments[0] == "-c" else wall, spent


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", type=Path, required=True, help="folder of the other checkout")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    other = args.against.resolve()
    for checkout in (HERE, other):
        compileall.compile_dir(checkout / "forensix", quiet=1)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        small, large = pictures(folder)
        cases = {
            "`forensix analyze --task forensic_analysis`, 0.3 megapixels": [
                *("-m", "forensix", "analyze", "--task", "forensic_analysis", str(small)),
            ],
            "`forensix analyze`, all tasks, 0.3 megapixels": ["-m", "forensix", "analyze", str(small)],
            "warm, all tasks, no explanation, 5 megapixels": ["-c", WARM, str(large)],
        }
        print("# Seconds a file, from the shell and warm\n")
        print("Command: `python -m benchmarks.startup --against CHECKOUT`")
        print(f"({args.rounds} rounds in turn, medians; {os.cpu_count()} cores, Python {platform.python_version()})\n")
        print("| what | wall, s | before | ratio | processor, s | before | ratio |")
        print("|---|---|---|---|---|---|---|")
        for name, arguments in cases.items():
            rounds = [(run(arguments, HERE, folder), run(arguments, other, folder)) for _ in range(args.rounds)]
            cells = []
            for i in range(2):
                now, before = [new[i] for new, _ in rounds], [old[i] for _, old in rounds]
                ratio = statistics.median(a / b for a, b in zip(now, before, strict=True))
                cells += [f"{statistics.median(now):.2f}", f"{statistics.median(before):.2f}", f"{ratio:.2f}"]
            print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
