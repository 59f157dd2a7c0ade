"""How fast and how lean voice analysis is, as a whole and beside the sum of its parts.

    python benchmarks/voice_speed.py > benchmarks/results/voice_speed.md

In one process, after a run to warm up, on a minute of speech: the whole analysis without the transcript, and alone
what cannot be left out of it: the networks (speech, speakers, spoof, watermark where its reader is installed) and the
calls of Praat. Then whole processes, start-up included, on 2 and on 19.9 minutes: seconds of sound a second, and peak
memory. The speech is made by the formant synthesiser inside Praat.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.io import wavfile
from scipy.signal import resample_poly

import forensix
from forensix.demo import RATE_HZ, SPEECH, synthesise
from forensix.models import load_component
from forensix.tasks import Options, load_task
from forensix.voice import features
from forensix.voice.phrases import phrases

TASK = "voice_analysis"
RATE = 8_000
ANALYZE = "from forensix.cli import main; main()"
N_TIMES = 3


def clip(folder: Path, seconds: float) -> Path:
    """Write so many seconds of synthetic speech with pauses."""
    voice = np.r_[resample_poly(synthesise(SPEECH).astype(float), RATE, RATE_HZ), np.zeros(RATE // 2)]
    path = folder / f"{seconds:g}.wav"  # at 8 kHz, so that 20 minutes stay below the size limit
    wavfile.write(path, RATE, np.resize(np.clip(voice, -32768, 32767), round(seconds * RATE)).astype(np.int16))
    return path


def processor_s(job: Callable[[], Any]) -> float:
    """Return the least processor time of a few runs, in seconds."""
    seconds = []
    for _ in range(N_TIMES):
        begun_s = time.process_time()
        job()
        seconds.append(time.process_time() - begun_s)
    return min(seconds)


def parts(path: Path) -> dict[str, float]:
    """Return the processor seconds of the whole and of its parts."""
    task, media = load_task(TASK), forensix.open_media(path)
    slots = ("spoof", "diarisation", "voice_watermark")
    spoof, diariser, reader = (load_component(slot, task.components[slot]) for slot in slots)
    samples = media.samples()
    activity = load_component("speech_activity", "silero")
    segments = activity.segments(samples)
    spoken = phrases(segments)
    whole: dict[str, Callable[[], Any]] = {
        "whole analysis, explained": lambda: _run(path, explain=True),
        "whole analysis, verdict only": lambda: _run(path, explain=False),
        "network that finds speech": lambda: activity.segments(samples),
        "network that tells speakers apart": lambda: diariser.prepare(samples, segments),
        "spoof network": lambda: [spoof.score(phrase.of(samples)) for phrase in spoken],
        "watermark network": lambda: reader.read(samples, spoken),
        "calls of Praat": lambda: features.extract(samples, segments),
    }
    for job in whole.values():
        job()
    seconds = {name: processor_s(job) for name, job in whole.items()}
    media.close()
    return seconds


def _run(path: Path, *, explain: bool) -> None:
    with forensix.open_media(path) as media:
        media.samples()
        begun = Options(explain=explain, transcribe=False)
        load_task(TASK).run(media, begun)


def measured(*arguments: str) -> tuple[float, float]:
    """Run a process and return its wall time in seconds and its peak memory in MB."""
    begun = time.perf_counter()
    child = subprocess.Popen([sys.executable, "-c", ANALYZE, *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"the measured process failed: {arguments}")
    return time.perf_counter() - begun, usage.ru_maxrss / (1024 if sys.platform == "linux" else 1024**2)


def main() -> None:
    """Print both tables."""
    torch.set_num_threads(1)
    print("# Voice analysis: speed and memory\n\n    python benchmarks/voice_speed.py\n")
    with tempfile.TemporaryDirectory() as folder:
        parts_s = parts(clip(Path(folder), 60))
        print("| a minute of speech, one warm process | processor s |\n|---|---|")
        for name, seconds in parts_s.items():
            print(f"| {name} | {seconds:.2f} |")
        names = list(parts_s)
        needed = sum(parts_s[name] for name in names[2:])
        networks = needed - parts_s["calls of Praat"]
        print(
            f"\nExplained: {parts_s[names[0]] / needed:.2f} times the sum of its parts ({needed:.2f} s); verdict only:"
        )
        print(f"{parts_s[names[1]] / networks:.2f} times its networks ({networks:.2f} s).\n")
        print("| recording, whole process | wall s | sound s a second | peak MB |\n|---|---|---|---|")
        peaks = []
        for minutes in (2, 19.9):
            path = clip(Path(folder), 60 * minutes)
            wall_s, peak_mb = measured("analyze", "--json", "--task", TASK, "--no-transcribe", str(path))
            peaks.append(peak_mb)
            print(f"| {minutes:g} minutes | {wall_s:.1f} | {60 * minutes / wall_s:.1f} | {peak_mb:.0f} |", flush=True)
        print(f"\n19.9 minutes take {peaks[1] / peaks[0]:.2f} times the memory of 2.")


if __name__ == "__main__":
    main()
