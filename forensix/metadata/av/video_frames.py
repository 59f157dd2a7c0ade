"""What the decoded frames show: frames that repeat, stand still, or come again as a stretch.

Exact copies have one checksum of their brightness, or of the whole picture where its colours do not lie apart: in a
moving scene a camera never makes them, a frame-rate conversion or a frozen picture does. Copies that were encoded again
differ a little; a single frame counts as one where it differs from the one before it by a small part of what its
neighbours differ. The sizes of the encoded frames are handed to
:mod:`forensix.metadata.av.video_groups`.
"""

import zlib
from collections.abc import Iterator
from typing import Any

import av
import numpy as np

from forensix.media.packets import Clock
from forensix.media.played import begins_s, decodable, late_s
from forensix.metadata.av import video_groups
from forensix.metadata.av.collector import FactCollector
from forensix.metadata.av.decoding import Damage, frames, strict
from forensix.metadata.av.streams import DEMUXERS, open_as

PIXELS = 300_000_000
FRAMES = 1500
MOTION = 0.5
STRETCH = 8
NEAR = 0.2
STILL, STILL_S = 0.1, 0.5
"""Frames that change by less, in levels of 255, stand still; for how long, for the place to be told."""
BESIDE = 8
"""So many frames before and after a place that stands still have to move, most of them."""


def read(path: str, container: str, facts: FactCollector) -> None:
    """Decode the first frames (1500, or 300 million pixels) and add ``frames.*`` facts."""
    demuxer = DEMUXERS.get(container)
    if demuxer is None:
        return
    damage = Damage()
    sums, motions, times, sizes, kinds, shapes = _frames(path, demuxer, damage)
    damage.tell(facts, "picture")
    if len(sums) < 3:
        return
    where = f"decoded frames 1 to {len(sums)}"
    if len(shapes) > 1:
        facts.fact("frames.sizes", [[round(times[i], 3), *shape] for i, shape in shapes[:40]], where)
    same = [i for i in range(1, len(sums)) if sums[i] == sums[i - 1]]
    facts.fact("frames.compared", len(sums), where)
    stream = facts.get("stream.video") or {}
    if len(sums) >= FRAMES or len(sums) * stream.get("width_px", 0) * stream.get("height_px", 0) > PIXELS:
        facts.fact("frames.compared_until_s", round(times[-1], 1), where)
    moving = float(np.mean(np.array(motions[1:]) > MOTION))
    facts.fact("frames.moving_share", round(moving, 3), where)
    # A copy counts where the picture moves before and after it: a still scene repeats itself honestly.
    doubled = [i for i in same if 2 <= i < len(sums) - 1 and motions[i - 1] > MOTION and motions[i + 1] > MOTION]
    if doubled:
        facts.fact("frames.doubled", [[i, round(times[i], 3)] for i in doubled[:40]], where)
        facts.fact("frames.n_doubled", len(doubled), where)
    still = frozen(motions, times)
    if still:
        change = np.array(motions)
        rest = np.delete(change, np.r_[0, np.concatenate([np.arange(a, b) for a, b in still])])
        facts.fact("frames.frozen", [[round(times[a - 1], 3), round(times[b], 3)] for a, b in still[:40]], where)
        facts.fact("frames.moving_beside_frozen", round(float(np.mean(rest > MOTION)), 3), where)
    near = near_copies(motions)
    if near:
        facts.fact("frames.near_copies", [[i, round(times[i], 3)] for i in near[:40]], where)
        facts.fact("frames.n_near_copies", len(near), where)
    groups = None if stream.get("codec") in video_groups.OWN_STEPS else video_groups.period(sizes, kinds)
    if groups is not None:
        facts.fact("frames.former_groups", groups, where)
    again = _stretch(sums, motions)
    if again and facts.get("frames.repeated_stretch") is None:
        first, second, length = again
        stretch = [round(times[first], 3), round(times[second], 3), length]
        facts.fact("frames.repeated_stretch", stretch, where)


def near_copies(motions: list[float]) -> list[int]:
    """Return the frames that differ from the one before by a small part of what the six around it do."""
    change = np.array(motions)
    indexes = []
    for i in range(4, len(change) - 3):
        around = np.r_[change[i - 3 : i], change[i + 1 : i + 4]]
        if around.min() > MOTION and change[i] < NEAR * around.min():
            indexes.append(i)
    return indexes


def frozen(motions: list[float], times: list[float]) -> list[tuple[int, int]]:
    """Return the runs of frames, first and behind the last, that do not change for 0.5 s while those beside them move.

    One frame that changes does not end a run: a key frame shows the same picture a little differently.
    """
    change = np.array(motions)
    still = change < STILL
    still[1:-1] |= still[:-2] & still[2:]
    edges = np.flatnonzero(np.diff(np.r_[False, still, False]))
    runs = []
    for a, b in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        before, after = change[max(1, a - BESIDE) : a], change[b : b + BESIDE]
        is_long = b < len(times) and times[b] - times[a - 1] >= STILL_S
        if is_long and len(before) and min(np.median(before), np.median(after)) > MOTION:
            runs.append((a, b))
    return runs


def _frames(
    path: str, demuxer: str, damage: Damage
) -> tuple[list[int], list[float], list[float], list[int], list[int], list[tuple[int, tuple[int, int]]]]:
    """Return checksum, change, time, encoded size and kind of each frame, in the order of showing.

    Last come the frames from which on pictures have another size than before, each with its width and height.
    """
    sums: list[int] = []
    sizes: list[int] = []
    kinds: list[int] = []
    shapes: list[tuple[int, tuple[int, int]]] = []
    held: dict[int, int] = {}
    motions: list[float] = []
    times: list[float] = []
    before: np.ndarray | None = None
    pixels = 0
    try:
        with open_as(demuxer, path) as opened:
            streams = decodable(opened.streams.video)
            if not streams:
                return sums, motions, times, sizes, kinds, shapes
            stream = streams[0]
            stream.thread_type = "NONE"
            damage.begins_s = begins_s(opened)
            clock = Clock(stream, late_s(opened, stream))
            strict(stream)
            for frame in _decoded(opened, stream, held, damage):
                rows, bright = _first_plane(frame)
                if not shapes or shapes[-1][1] != (frame.width, frame.height):
                    shapes.append((len(sums), (frame.width, frame.height)))
                thin = bright[::8, ::8].astype(np.int16)
                sums.append(zlib.crc32(rows.tobytes()))
                comparable = before is not None and before.shape == thin.shape
                motions.append(float(np.abs(thin - before).mean()) if before is not None and comparable else 255.0)
                times.append(clock.ms(frame, len(times) + damage.failed) / 1000)
                sizes.append(held.pop(frame.pts, 0) if frame.pts is not None else 0)
                kinds.append(int(frame.pict_type))
                before = thin
                pixels += frame.width * frame.height
                if len(sums) >= FRAMES or pixels > PIXELS:
                    break
    except (av.FFmpegError, OSError, ValueError, EOFError):
        pass  # Frames up to the damage still count; the walk tells of the damage.
    return sums, motions, times, sizes, kinds, shapes


def _first_plane(frame: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the bytes of the first plane, which is the brightness or the whole picture, and the brightness in 8 bits.

    Both are uint8 with a row for each line of the picture.
    """
    plane, form = frame.planes[0], frame.format
    lines = np.frombuffer(memoryview(plane), np.uint8).reshape(plane.height, -1)
    # Of 10 bits a value takes two bytes, and of colours that are not apart a pixel takes all of theirs.
    pixel = -(-form.components[0].bits // 8) if form.is_planar else max(1, form.padded_bits_per_pixel // 8)
    rows = lines[:, : plane.width * pixel]
    return rows, rows if pixel == 1 else _first_plane(frame.reformat(format="gray"))[0]


def _decoded(opened: Any, stream: Any, held: dict[int, int], damage: Damage) -> Iterator[Any]:
    """Yield the frames of a stream, and keep the sizes of their packets by the time at which they are shown."""
    for packet in opened.demux(stream):
        if packet.pts is not None and len(held) < FRAMES:
            held[packet.pts] = packet.size
        yield from frames(packet, damage)


def _stretch(sums: list[int], motions: list[float]) -> tuple[int, int, int] | None:
    """Return the longest moving stretch of at least 8 frames that comes again later: its two starts and its length."""
    last: dict[int, int] = {}
    best = None
    for i, value in enumerate(sums):
        j = last.get(value)
        if j is not None and i - j > 1:
            length = 0
            while i + length < len(sums) and sums[i + length] == sums[j + length]:
                length += 1
            moved = [m for m in motions[i + 1 : i + length] if m > MOTION]
            if length >= STRETCH and len(moved) >= STRETCH - 2 and (best is None or length > best[2]):
                best = (j, i, length)
        last[value] = i
    return best
