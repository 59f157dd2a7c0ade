"""What real and fake faces alike go through before a classifier of one's own sees them: cameras, apps, codecs.

One distribution for both classes, so that compression, size, blur, noise or colour tell nothing about the label.
"""

from fractions import Fraction

import av
import numpy as np
from PIL import Image, ImageFilter

from forensix.demo.swap import to_uint8
from forensix.perturb.image import jpeg

Rng = np.random.Generator
_FILTERS = (Image.Resampling.BILINEAR, Image.Resampling.BICUBIC, Image.Resampling.LANCZOS, Image.Resampling.BOX)


def h264(rgb: np.ndarray, crf: int) -> np.ndarray:
    """Encode as a frame of H.264, at a crf from 0 (best) to 51, and decode it.

    Odd sides lose a row or a column, as 4:2:0 demands.
    """
    rgb = rgb[: rgb.shape[0] // 2 * 2, : rgb.shape[1] // 2 * 2]
    encoder = av.CodecContext.create("libx264", "w")
    encoder.width, encoder.height, encoder.pix_fmt = rgb.shape[1], rgb.shape[0], "yuv420p"
    encoder.time_base, encoder.thread_count = Fraction(1, 25), 1
    encoder.options = {"crf": str(crf), "preset": "veryfast", "tune": "zerolatency"}
    frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(rgb), format="rgb24").reformat(format="yuv420p")
    frame.pts = 0
    packets = encoder.encode(frame) + encoder.encode(None)
    decoder = av.CodecContext.create("h264", "r")
    decoder.thread_count = 1
    frames = [frame for packet in packets for frame in decoder.decode(packet)] + decoder.decode(None)
    return frames[-1].to_ndarray(format="rgb24")


def degrade(rgb: np.ndarray, rng: Rng) -> np.ndarray:
    """Pass a picture through a random chain of edits and codecs; the size may change by a few pixels."""
    if rng.random() < 0.5:
        rgb = _tone(rgb, rng)
    for step in rng.permutation(3):
        if step == 0 and rng.random() < 0.35:
            rgb = _rescale(rgb, rng)
        elif step == 1 and rng.random() < 0.2:
            rgb = np.asarray(Image.fromarray(rgb).filter(ImageFilter.GaussianBlur(float(rng.uniform(0.3, 1.6)))))
        elif step == 2 and rng.random() < 0.2:
            grain = (*rgb.shape[:2], 3 if rng.random() < 0.5 else 1)
            rgb = to_uint8(rgb + rng.normal(0, rng.uniform(1, 7), grain))
    choice = rng.random()
    if choice < 0.45:
        rgb = h264(rgb, int(rng.integers(16, 33)))
    elif choice < 0.92:
        if rng.random() < 0.4:
            rgb = jpeg(rgb, int(rng.integers(50, 96)), subsampling=int(rng.choice([0, 2])))
        rgb = jpeg(rgb, int(rng.integers(45, 97)), subsampling=int(rng.choice([0, 2])))
    return rgb


def _tone(rgb: np.ndarray, rng: Rng) -> np.ndarray:
    x: np.ndarray = rgb.astype(np.float32)
    x = x * rng.uniform(0.8, 1.2, 1).astype(np.float32) * rng.uniform(0.94, 1.06, 3).astype(np.float32)
    x = 255 * (np.clip(x, 0, 255) / 255) ** np.float32(rng.uniform(0.8, 1.25))
    grey = x.mean(axis=2, keepdims=True)
    keep = 0.0 if rng.random() < 0.05 else rng.uniform(0.6, 1.4)
    return to_uint8(grey + (x - grey) * np.float32(keep))


def _rescale(rgb: np.ndarray, rng: Rng) -> np.ndarray:
    height, width = rgb.shape[:2]
    factor = float(rng.uniform(0.4, 1.0))
    down, up = (Image.Resampling(int(rng.choice([int(f) for f in _FILTERS]))) for _ in range(2))
    small = (max(16, round(width * factor)), max(16, round(height * factor)))
    return np.asarray(Image.fromarray(rgb).resize(small, down).resize((width, height), up))
