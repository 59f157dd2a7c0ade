"""How fast and how lean voice analysis is, as a user runs it: whole processes, with decoding and start-up.

    python benchmarks/voice_speed.py

Prints seconds of audio per second beside decoding alone in the same run, with and without the transcript, and the peak
memory of the process on 10 s and on 5 min of speech. The clips are made by the formant synthesiser inside Praat.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.io import wavfile

from forensix.demo import RATE_HZ, SPEECH, synthesise

DECODE = "import sys, forensix; forensix.open_media(sys.argv[1]).samples()"
ANALYZE = "from forensix.cli import main; main()"


def measured(code: str, *arguments: str) -> tuple[float, float]:
    """Run a process and return its wall time in seconds and its peak memory in MB."""
    begun = time.perf_counter()
    child = subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"the measured process failed: {arguments}")
    return time.perf_counter() - begun, usage.ru_maxrss / (1024 if sys.platform == "linux" else 1024**2)


def clip(folder: Path, seconds: int) -> Path:
    """Write so many seconds of synthetic speech."""
    voice = synthesise(SPEECH)
    path = folder / f"{seconds}.wav"
    # At 16 kHz, so that 5 minutes stay below the size limit.
    wavfile.write(path, RATE_HZ // 2, np.resize(voice[::2], seconds * RATE_HZ // 2))
    return path


def main() -> None:
    """Print the table."""
    print(
        "| clip | decode alone, s | analyse, s | audio s per s | the same with transcript | peak MB | of decoding, MB |"
    )
    print("|---|---|---|---|---|---|---|")
    base = ("analyze", "--json", "--task", "voice_analysis")
    with tempfile.TemporaryDirectory() as folder:
        for seconds in (10, 300):
            path = str(clip(Path(folder), seconds))
            decode_s, decode_mb = measured(DECODE, path)
            plain_s, peak_mb = measured(ANALYZE, *base, "--no-transcribe", path)
            words_s, _ = measured(ANALYZE, *base, path)
            print(
                f"| {seconds} s | {decode_s:.1f} | {plain_s:.1f} | {seconds / plain_s:.1f} | {seconds / words_s:.1f} "
                f"| {peak_mb:.0f} | {decode_mb:.0f} |"
            )


if __name__ == "__main__":
    main()
