"""What real and fake faces alike go through before a classifier of one's own sees them: cameras, apps, codecs.

One distribution for both classes, so that compression, size, blur, noise or colour tell nothing about the label.
"""

from collections.abc import Callable
from fractions import Fraction

import av
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter
from scipy.fft import dctn, idctn

from forensix.demo.swap import to_uint8
from forensix.perturb.image import jpeg

Rng = np.random.Generator
_YCC = np.array([[0.299, 0.587, 0.114], [-0.168736, -0.331264, 0.5], [0.5, -0.418688, -0.081312]], np.float32)
_BLOCK_PX, _ROUNDING = 8, 0.33
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


def key_frame(rgb: np.ndarray, crf: int) -> np.ndarray:
    """Return a picture much as a key frame of H.264 leaves it, without an encoder: nothing is predicted.

    Halved colour, 8 x 8 cosine transforms quantised evenly with a wide zero, and the edges of blocks softened. Odd
    sides lose a row or a column.
    """
    height, width = rgb.shape[0] // 2 * 2, rgb.shape[1] // 2 * 2
    step = 2.0 ** ((crf - 4) / 6)
    ycc = (rgb[:height, :width].astype(np.float32) - 128) @ _YCC.T
    ycc[..., 0] = _quantised(ycc[..., 0], step)
    for channel in (1, 2):
        halved = ycc[..., channel].reshape(height // 2, 2, width // 2, 2).mean(axis=(1, 3))
        coded = Image.fromarray(_quantised(halved, step).astype(np.float32))
        ycc[..., channel] = np.asarray(coded.resize((width, height), Image.Resampling.BILINEAR))
    return to_uint8(ycc @ np.linalg.inv(_YCC).T + 128)


def degrade(rgb: np.ndarray, rng: Rng, *, video: Callable[[np.ndarray, int], np.ndarray] = h264) -> np.ndarray:
    """Pass a picture through a random chain of edits and codecs; the size may change by a few pixels.

    ``video`` codes it as a frame at a crf, where chance has it.
    """
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
        rgb = video(rgb, int(rng.integers(16, 33)))
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


def _quantised(plane: NDArray[np.float32], step: float) -> NDArray[np.floating]:
    height, width = plane.shape
    n = _BLOCK_PX
    padded = np.pad(plane, ((0, -height % n), (0, -width % n)), mode="edge")
    rows, columns = (side // n for side in padded.shape)
    blocks = dctn(padded.reshape(rows, n, columns, n).transpose(0, 2, 1, 3), axes=(2, 3), norm="ortho")
    levels = np.sign(blocks) * np.floor(np.abs(blocks) / step + _ROUNDING)
    levels[..., 0, 0] = np.round(blocks[..., 0, 0] / step)
    coded = idctn(levels * step, axes=(2, 3), norm="ortho").transpose(0, 2, 1, 3).reshape(padded.shape)
    for turned in (coded, coded.T):
        after, before = turned[n::n].copy(), turned[n - 1 : -1 : n].copy()
        turned[n::n], turned[n - 1 : -1 : n] = 0.75 * after + 0.25 * before, 0.75 * before + 0.25 * after
    whole: NDArray[np.floating] = coded[:height, :width]
    return whole
