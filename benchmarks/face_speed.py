"""Measure the following of faces: speed against decoding and against MTCNN on every frame, and memory against duration.

    python benchmarks/face_speed.py > benchmarks/results/face_speed.md

One run on made clips. Only the ratios mean something on another machine. The OpenCV peer is skipped where
opencv-python-headless is not installed.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import av
import numpy as np
import torch
from PIL import Image

from forensix.faces import detect, track
from forensix.faces.track import sampling_rate_hz
from forensix.media import open_media

RATE_HZ = 25


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memory-of", help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.memory_of:
        print_memory(options.memory_of)
        return
    print("# Following faces: speed and memory\n\n`python benchmarks/face_speed.py`, one run, one thread.\n")
    with tempfile.TemporaryDirectory() as folder:
        speed(make_clip(Path(folder) / "speed.mp4", 10, (1280, 720)))
        memory(Path(folder))


def make_clip(path: Path, duration_s: int, size: tuple[int, int]) -> Path:
    """Encode two faces that move in the frame."""
    from matplotlib.cbook import get_sample_data
    from skimage.data import astronaut

    with get_sample_data("grace_hopper.jpg") as file:
        other = Image.open(file).convert("RGB").crop((60, 0, 440, 420))
    side = size[1] // 2
    heads = [
        np.asarray(picture.resize((side, side))) for picture in (Image.fromarray(astronaut()[:300, 80:380]), other)
    ]
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=RATE_HZ)
        stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
        stream.options = {"preset": "ultrafast", "crf": "23"}
        for i in range(duration_s * RATE_HZ):
            rgb = np.full((size[1], size[0], 3), 90, np.uint8)
            for head, start in zip(heads, (0.05, 0.55), strict=True):
                left = int(size[0] * (start + 0.05 * np.sin(i / 30)))
                top = int(size[1] * (0.2 + 0.1 * np.cos(i / 40)))
                rgb[top : top + side, left : left + side] = head
            container.mux(stream.encode(av.VideoFrame.from_ndarray(rgb, format="rgb24")))
        container.mux(stream.encode(None))
    return path


def speed(clip: Path) -> None:
    with open_media(clip) as media:
        duration_s = media.info.duration_s
        start = time.perf_counter()
        for _ in media.frames(rate_hz=sampling_rate_hz(duration_s), max_side_px=1280):
            pass
        decode_s = time.perf_counter() - start
        detect([np.zeros((64, 64, 3), np.uint8)])  # loads the network
        start = time.perf_counter()
        found = track(media)
        track_s = time.perf_counter() - start
    print(f"## Speed: {duration_s:.0f} s of 1280 x 720 at {RATE_HZ} Hz with two faces\n")
    print("| what | frames looked at | wall s | video s per wall s | against ours |\n|---|---|---|---|---|")
    looked = max(len(one) for one in found)
    print_row("decoding the frames that are looked at", looked, decode_s, duration_s, track_s)
    print_row("forensix: decode, find, follow, crop", looked, track_s, duration_s, track_s)
    peer = every_frame(clip)
    if peer:
        print_row("facenet-pytorch MTCNN on every frame, OpenCV", peer[0], peer[1], duration_s, track_s)
    else:
        print("\nOpenCV is not installed: MTCNN on every frame was not measured.")
    print(f"\nTracks found: {len(found)}, of {', '.join(str(len(one)) for one in found)} frames.")


def print_row(name: str, n: int, wall_s: float, duration_s: float, ours_s: float) -> None:
    print(f"| {name} | {n} | {wall_s:.1f} | {duration_s / wall_s:.2f} | {wall_s / ours_s:.2f} |")


def every_frame(clip: Path) -> tuple[int, float] | None:
    """Run MTCNN with its defaults on every frame read with OpenCV."""
    try:
        import cv2
    except ImportError:
        return None
    from facenet_pytorch import MTCNN

    finder = MTCNN(keep_all=True, device="cpu")
    start, n = time.perf_counter(), 0
    reader = cv2.VideoCapture(str(clip))
    while True:
        there, bgr = reader.read()
        if not there:
            break
        finder.detect(cv2.cvtColor(bgr, cv2.COLOR_BGR2RGB), landmarks=True)
        n += 1
    reader.release()
    return n, time.perf_counter() - start


def memory(folder: Path) -> None:
    print("\n## Peak memory of a process that follows faces in 640 x 360\n")
    print("| clip | wall s | frames looked at | peak MiB, process | peak MiB, decoding child |\n|---|---|---|---|---|")
    for name, duration_s in (("10 s", 10), ("5 min", 300)):
        clip = make_clip(folder / f"{duration_s}.mp4", duration_s, (640, 360))
        output = subprocess.run(
            [sys.executable, "-W", "ignore", __file__, "--memory-of", str(clip)],
            capture_output=True,
            text=True,
            check=True,
        )
        print(f"| {name} | {output.stdout.strip()} |", flush=True)


def print_memory(clip: str) -> None:
    start = time.perf_counter()
    with open_media(clip) as media:
        found = track(media)
    peaks = [resource.getrusage(who).ru_maxrss // 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    looked = max((len(one) for one in found), default=0)
    print(f"{time.perf_counter() - start:.1f} | {looked} | {peaks[0]} | {peaks[1]}")


if __name__ == "__main__":
    main()
