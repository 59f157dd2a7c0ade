"""Measure the following of faces: speed and recall against MTCNN on every frame, and memory against duration.

    python benchmarks/face_speed.py --corpora DIR > benchmarks/results/face_speed.md
    python benchmarks/face_speed.py --corpora DIR --only long >> benchmarks/results/face_speed.md
    python benchmarks/face_speed.py --corpora DIR --only speed --detector yunet >> benchmarks/results/face_speed.md

Two development videos of one face each are set side by side, ten seconds of them at 720p and at 1080p. The peer is
facenet-pytorch's MTCNN with its defaults on frames read with OpenCV (``pip install opencv-python-headless``); it is
timed on every tenth frame, and its time for all frames is ten times that. Processor seconds count this process and its
decoder; only ratios mean something on another machine.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import av
import numpy as np
import torch
from PIL import Image

from forensix.faces import Detections, FaceDetector, FaceTrack, forensix_face, forensix_face_regions, track
from forensix.faces.linking import iou
from forensix.faces.sampling import sampling_rate_hz
from forensix.faces.track import VIDEO_SIDE_PX
from forensix.media import Limits, open_media
from forensix.media.template import TEMPLATE
from forensix.models import load_component
from forensix.tasks.parts import MAX_CROPS

RATE_HZ = 25
LEFT, RIGHT = "dev/videos/real/Tim_Norland_0.mp4", "dev/videos/real/David_Kovalniy_0.mp4"
SIZES = {"720p": (1280, 720), "1080p": (1920, 1080)}
EVERY = 10
SURE = 0.97
MIN_IOU = 0.5
LONG_S = (300, 1800)


@dataclass
class Timed:
    """A detector that keeps the processor seconds that it took."""

    inner: FaceDetector
    detect_s: float = 0.0
    follow_s: float = 0.0
    n_detect: int = 0
    n_follow: int = 0
    name: str = "timed"

    def detect(self, pictures: Sequence[np.ndarray], *, max_side_px: int) -> tuple[Detections, ...]:
        """Find faces."""
        start = time.thread_time()
        faces = self.inner.detect(pictures, max_side_px=max_side_px)
        self.detect_s += time.thread_time() - start
        self.n_detect += 1
        return faces

    def follow(self, rgb: np.ndarray, boxes: np.ndarray) -> Detections:
        """Find them again."""
        start = time.thread_time()
        faces = self.inner.follow(rgb, boxes)
        self.follow_s += time.thread_time() - start
        self.n_follow += 1
        return faces


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", type=Path)
    parser.add_argument("--only", choices=("speed", "long"))
    parser.add_argument("--detector", default="mtcnn", help="component of the slot face_detector")
    parser.add_argument("--memory-of", help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.memory_of:
        print_memory(options.memory_of)
        return
    with tempfile.TemporaryDirectory() as folder:
        if options.only != "long":
            if options.detector == "mtcnn":
                print(
                    "# Following faces: speed, recall and memory\n\n`python benchmarks/face_speed.py --corpora DIR`\n"
                )
            for name, size in SIZES.items():
                speed(
                    name,
                    options.detector,
                    side_by_side(options.corpora / "faces", Path(folder) / f"{name}.mp4", 10, size),
                )
        if options.only != "speed":
            memory(options.corpora / "faces", Path(folder))


def side_by_side(corpus: Path, path: Path, duration_s: int, size: tuple[int, int]) -> Path:
    """Encode two videos beside each other, repeated until the duration is full."""
    halves = [pictures(path_of(corpus, name), (size[0] // 2, size[1])) for name in (LEFT, RIGHT)]
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=RATE_HZ)
        stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
        stream.options = {"preset": "veryfast", "crf": "23", "threads": "1"}
        for i in range(duration_s * RATE_HZ):
            rgb = np.concatenate([half[turn(i, len(half))] for half in halves], axis=1)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(rgb, format="rgb24")))
        container.mux(stream.encode(None))
    return path


def repeated(clip: Path, path: Path, n: int) -> Path:
    """Write the packets of a clip n times in a row."""
    with av.open(str(path), "w") as container:
        out, shift = None, 0
        for _ in range(n):
            with av.open(str(clip)) as source:
                video = source.streams.video[0]
                out = out or container.add_stream_from_template(video)
                for packet in source.demux(video):
                    if packet.dts is not None:
                        packet.pts, packet.dts, packet.stream = packet.pts + shift, packet.dts + shift, out
                        container.mux(packet)
                shift += round(10 / video.time_base)
    return path


def path_of(corpus: Path, name: str) -> Path:
    return next((corpus / name).parent.glob(f"*{Path(name).stem}*"))


def turn(i: int, n: int) -> int:
    """Go through n pictures forth and back, so that there is no cut."""
    i %= max(1, 2 * n - 2)
    return i if i < n else 2 * n - 2 - i


def pictures(path: Path, size: tuple[int, int]) -> list[np.ndarray]:
    """Return the frames of up to five seconds, scaled to cover a size and cut to it."""
    frames = []
    with open_media(path) as media:
        for frame in media.frames(rate_hz=RATE_HZ):
            factor = max(size[0] / frame.rgb.shape[1], size[1] / frame.rgb.shape[0])
            picture = Image.fromarray(frame.rgb)
            picture = picture.resize((round(picture.width * factor) + 1, round(picture.height * factor) + 1))
            left, top = (picture.width - size[0]) // 2, (picture.height - size[1]) // 2
            frames.append(np.asarray(picture.crop((left, top, left + size[0], top + size[1]))))
            if len(frames) == 5 * RATE_HZ:
                break
    return frames


@contextmanager
def clocked(spent: dict[str, float], name: str) -> Iterator[None]:
    """Add the processor seconds of this process and of the children that ended, and the wall seconds."""
    before, start = cpu_s(), time.perf_counter()
    yield
    spent[name], spent[f"{name} wall"] = cpu_s() - before, time.perf_counter() - start


def cpu_s() -> float:
    # Decoders are counted once what they were forked from has ended.
    TEMPLATE.close()
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def speed(name: str, detector: str, clip: Path) -> None:
    spent: dict[str, float] = {}
    load_component("face_detector", detector).detect([np.zeros((64, 64, 3), np.uint8)])  # loads the network
    judge, regions = forensix_face(), forensix_face_regions()
    judge.score(np.zeros((1, 2, 224, 224, 3), np.uint8))
    regions.score(np.zeros((1, 224, 224, 3), np.uint8))
    with open_media(clip) as media:
        with clocked(spent, "decode"):
            n_looked = sum(1 for _ in media.frames(rate_hz=sampling_rate_hz(10), max_side_px=VIDEO_SIDE_PX))
        timed = Timed(load_component("face_detector", detector))
        with clocked(spent, "all"):
            tracks = track(media, detector=timed)
        with clocked(spent, "classify"):
            for one in tracks:
                judge.score(one.views)
        in_parts = [one.crops[:: -(-len(one.crops) // MAX_CROPS)] for one in tracks]
        with clocked(spent, "parts"):
            for crops in in_parts:
                regions.score(crops)
    n_frames, peer_s, seen = every_tenth_frame(clip)
    rest_s = spent["all"] - spent["decode"] - timed.detect_s - timed.follow_s
    rows = (
        (f"decoding, {n_looked} of {n_frames} frames handed over", spent["decode"], spent["decode wall"]),
        (f"searching whole frames, {timed.n_detect} times", timed.detect_s, None),
        (f"following, {timed.n_follow} times", timed.follow_s, None),
        ("joining, cutting crops, keeping stills", rest_s, None),
        ("**forensix: decode, search, follow, crop**", spent["all"], spent["all wall"]),
        (f"classifying {sum(len(one.crops) for one in tracks)} crops", spent["classify"], spent["classify wall"]),
        (f"looking for parts put in, {sum(map(len, in_parts))} crops", spent["parts"], spent["parts wall"]),
        (f"MTCNN on all {n_frames} frames, OpenCV (every {EVERY}th timed)", peer_s, None),
    )
    print(f"## 10 s of {name} at {RATE_HZ} Hz with two faces, found by {detector}\n")
    print("| what | processor s | wall s |\n|---|---|---|")
    for what, used_s, wall_s in rows:
        print(f"| {what} | {used_s:.2f} | {'' if wall_s is None else f'{wall_s:.2f}'} |")
    print()
    n_covered = sum(covered(tracks, ms, box) for ms, boxes in seen for box in boxes)
    n_faces = sum(len(boxes) for _, boxes in seen)
    print(
        f"- {peer_s / spent['all']:.1f} times as fast as MTCNN on every frame (goal: 20)\n"
        f"- {spent['decode'] / spent['all']:.2f} of decode-bound in processor time, "
        f"{spent['decode wall'] / spent['all wall']:.2f} in wall time (goal: 0.4)\n"
        f"- {n_covered} of the {n_faces} faces that MTCNN found ({n_covered / max(1, n_faces):.3f}, goal: 0.98) are in "
        f"a track (overlap of {MIN_IOU} with its box, interpolated to that frame)\n"
        f"- {len(tracks)} tracks, of {', '.join(str(len(one)) for one in tracks)} frames\n",
        flush=True,
    )


def every_tenth_frame(clip: Path) -> tuple[int, float, list[tuple[float, np.ndarray]]]:
    """Run MTCNN with its defaults on every tenth frame: all frames, processor seconds for all, times and boxes."""
    try:
        import cv2
    except ModuleNotFoundError:
        sys.exit("the peer reads frames with OpenCV, which is not installed: pip install opencv-python-headless")
    from facenet_pytorch import MTCNN

    cv2.setNumThreads(1)
    finder = MTCNN(keep_all=True, device="cpu")
    decode_s = find_s = 0.0
    n, seen = 0, []
    reader = cv2.VideoCapture(str(clip))
    while True:
        start = time.process_time()
        there, bgr = reader.read()
        decode_s += time.process_time() - start
        if not there:
            break
        if n % EVERY == 0:
            start = time.process_time()
            boxes, scores = finder.detect(cv2.cvtColor(bgr, cv2.COLOR_BGR2RGB))
            find_s += time.process_time() - start
            kept = [] if boxes is None else [box for box, score in zip(boxes, scores, strict=True) if score >= SURE]
            seen.append((1000 * n / RATE_HZ, np.array(kept).reshape(-1, 4)))
        n += 1
    reader.release()
    return n, decode_s + find_s * n / len(seen), seen


def covered(tracks: Sequence[FaceTrack], ms: float, box: np.ndarray) -> bool:
    """Say whether a track is where a face is, between its frames by interpolation, up to one step beyond its ends."""
    step_ms = 1000 / sampling_rate_hz(10)
    for one in tracks:
        if one.frame_ms[0] - step_ms < ms < one.frame_ms[-1] + step_ms:
            there = np.array([np.interp(ms, one.frame_ms, one.boxes[:, i]) for i in range(4)])
            if iou(there[None], box[None])[0, 0] >= MIN_IOU:
                return True
    return False


def memory(corpus: Path, folder: Path) -> None:
    print("## A process that follows faces in 640 x 360, by duration\n")
    print("| duration | processor s | a minute of video | frames looked at | peak MiB, process | peak MiB, decoder |")
    print("|---|---|---|---|---|---|")
    short = side_by_side(corpus, folder / "short.mp4", 10, (640, 360))
    for duration_s in LONG_S:
        clip = repeated(short, folder / f"{duration_s}.mp4", duration_s // 10)
        output = subprocess.run(
            [sys.executable, "-W", "ignore", __file__, "--memory-of", str(clip)],
            capture_output=True,
            text=True,
            check=True,
        )
        used_s, looked, own, child = output.stdout.split()
        each = float(used_s) / (duration_s / 60)
        print(f"| {duration_s // 60} min | {used_s} | {each:.1f} | {looked} | {own} | {child} |", flush=True)


def print_memory(clip: str) -> None:
    # Half an hour of two talking heads exceeds the usual size.
    with open_media(clip, limits=Limits(max_bytes=1 << 30)) as media:
        tracks = track(media)
    TEMPLATE.close()
    peaks = [resource.getrusage(who).ru_maxrss // 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(f"{cpu_s():.1f} {max((len(one) for one in tracks), default=0)} {peaks[0]} {peaks[1]}")


if __name__ == "__main__":
    main()
