"""Pictures a second: decoding alone, one forward pass of the same network, and the detector; print markdown.

    python -m benchmarks.generated_speed

Everything runs in one process on one thread, on JPEG files that are made here. The forward pass gets the windows and
squares of the same pictures, cut and normalised before the clock starts, in the detector's batches.
"""

import io
import time
from collections.abc import Callable

import numpy as np
import torch
from PIL import Image

from forensix.models.detector import batches
from forensix.synthetic.detector import forensix_image

COMMAND = "python -m benchmarks.generated_speed"
SIZES = ((512, 512), (1200, 1600), (3000, 4000))
N = 3
ROUNDS = 2


def jpeg_file(height: int, width: int, seed: int) -> bytes:
    """Return a JPEG file of soft blotches with noise."""
    rng = np.random.default_rng(seed)
    coarse = Image.fromarray(rng.integers(0, 255, (12, 16, 3), dtype=np.uint8))
    smooth = np.asarray(coarse.resize((width, height), Image.Resampling.BICUBIC)).astype(np.int16)
    rgb = np.clip(smooth + rng.integers(-12, 13, smooth.shape, dtype=np.int16), 0, 255).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(rgb).save(file, "JPEG", quality=90)
    return file.getvalue()


def seconds(run: Callable[[], object]) -> float:
    """Return the CPU seconds of the quickest of some rounds."""
    runs = []
    for _ in range(ROUNDS):
        start = time.process_time()
        run()
        runs.append(time.process_time() - start)
    return min(runs)


def main() -> None:
    """Measure and print."""
    torch.set_num_threads(1)
    detector = forensix_image()
    print(f"# Speed of the picture detector, one core\n\nCommand: `{COMMAND}`")
    print(f"(CPU seconds, quickest of {ROUNDS} rounds)\n")
    print("| pictures | decoding, s | forward pass, s | decode and score, s | beyond both | pictures a second |")
    print("|---|---|---|---|---|---|")
    for height, width in SIZES:
        files = [jpeg_file(height, width, seed) for seed in range(N)]

        def decoded(files: list[bytes] = files) -> list[np.ndarray]:
            return [np.asarray(Image.open(io.BytesIO(data)).convert("RGB")) for data in files]

        inputs = list(detector.inputs(decoded()))

        def forward(inputs: list[torch.Tensor] = inputs) -> None:
            for _ in batches(detector.network, inputs):
                pass

        decoding, passing = seconds(decoded), seconds(forward)
        scoring = seconds(lambda: detector.scores(decoded()))
        cells = [f"{N} of {width} x {height}", *(f"{s / N:.3f}" for s in (decoding, passing, scoring))]
        beyond = (scoring - decoding - passing) / (decoding + passing)
        print(f"| {' | '.join(cells)} | {beyond:.0%} | {N / scoring:.2f} |", flush=True)


if __name__ == "__main__":
    main()
