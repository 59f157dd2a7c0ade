"""What the decoded sound shows: bandwidth, digital silence, jumps, changes of the noise floor, copied stretches.

It is decoded at the rate of the file, mixed to mono, and measured in blocks, so that memory does not grow with the
duration; what is left out is told. Times are those at which the sound is heard: where the time stamps leave some out,
what follows is measured as if it followed at once. Nothing here is a verdict; `forensix.forensics.rules.audio` holds
the thresholds and their measured false-alarm rates.
"""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import av
import numpy as np

from forensix.media.channels import Opposed, channels, mixed
from forensix.media.packets import Pauses, packed, resampled
from forensix.media.played import begins_s, decodable, late_s
from forensix.metadata.av.collector import FactCollector
from forensix.metadata.av.decoding import Damage, frames, strict
from forensix.metadata.av.flac_checksum import SHORTENED
from forensix.metadata.av.id3 import BEHIND, INSIDE
from forensix.metadata.av.sound_copies import Copies
from forensix.metadata.av.streams import DEMUXERS, open_as

LOSSLESS = ("pcm_s", "pcm_u", "pcm_f", "flac", "alac", "mp4als", "wavpack")
"""How the names of their codecs begin; the companded samples of telephony (A-law, mu-law) are not among them."""

BLOCK_S = 300
USUAL_HZ = 48_000
LONGEST = 30 * 60 * USUAL_HZ
"""Samples that are measured at most: of the longest video that is taken, at its usual rate."""

WINDOW = 4096
SILENCE_S = 0.05
LEAST_STEP = 1e-6
"""Smaller differences are left by the mixing of channels, which rounds."""
BESIDE_S, FAINT_STEPS = 0.005, 2
"""Sound that stays within so many of its finest steps so long beside a silence is faint there."""
LEVEL_S = 0.1
WHOLE = "decoded sound"
"""Where facts are from that hold for all of the sound."""
PLACES = ("silences", "jumps", "floor_steps")
PLACED = (*PLACES, "faint_silences")
MOST = 60
"""Places of one kind that are kept: the first silences, the strongest jumps."""

STEPS = 5


@dataclass
class Sound:
    """What is known of the sound while it is decoded."""

    rate: int = 0
    n: int = 0
    left_out: list[tuple[float, float]] = field(default_factory=list)
    """Seconds in the samples, each with how many are left out there."""
    alone_n: list[int] = field(default_factory=lambda: [0, 0])
    """Of two channels, in how many samples only the first holds nothing, and only the second."""
    unread: str = ""
    """Why what follows is not measured, where that is so."""


def read(path: str, container: str, facts: FactCollector) -> None:
    """Decode the first audio stream and add ``signal.*`` facts; silent where there is none."""
    demuxer = DEMUXERS.get(container)
    if demuxer is None:
        return
    pieces = [piece for node in facts.nodes for piece in (node, *node.children)]
    tags = [range(n.offset, n.offset + n.size) for n in pieces if n.name in (BEHIND, INSIDE)]
    # Of a frame that is cut off, and of what stands behind the last one, it is told that it is.
    ends = (".ends_inside", ".after_end")
    cut = [f.offset for f in facts.items if f.key.endswith(ends) and f.offset is not None]
    damage = Damage(left_out=(*tags, *(range(at, sys.maxsize) for at in cut)))
    stream = facts.get("stream.audio")
    # A file with loss always shows the grid of its own codec.
    is_lossless = isinstance(stream, dict) and str(stream.get("codec")).startswith(LOSSLESS)
    sound, parts, grids, copies = Sound(), list[dict[str, Any]](), list[list[float]](), Copies()
    for samples in blocks(decoded(path, demuxer, damage, sound), sound):
        before = sound.n - len(samples)
        parts.append(_part(samples, sound.rate))
        if is_lossless:
            copies.add(samples, sound.rate, before)
            # Its transforms take long to load, and few files need them.
            from forensix.metadata.av import aac_grid

            for start_s, end_s, at, *heights in aac_grid.stretches(samples, sound.rate):
                places = (round(s + before / sound.rate, 3) for s in (start_s, end_s))
                grids.append([*places, (at + before) % aac_grid.FRAME, *heights])
    if not damage.is_at_end or not any(p.where == SHORTENED for p in facts.problems):
        damage.tell(facts, "sound")
    if not sound.rate or sound.n < sound.rate // 4:
        return
    where = f"{WHOLE}, first {sound.n / sound.rate:.1f} s" if sound.unread else WHOLE
    if sound.unread:
        told = f"The sound behind its first {sound.n / sound.rate:.1f} s was not measured: {sound.unread}."
        facts.problem(told, "sound stream", unread=True)
    left_out = sound.left_out
    if left_out:
        late_s = left_out[0][1] if not left_out[0][0] else 0.0
        facts.fact("signal.begins_s", round(late_s, 3), where)
        facts.fact("signal.ends_s", _heard_at(sound.n / sound.rate, left_out), where)
    for key, value in _whole(parts, sound.rate).items():
        facts.fact(f"signal.{key}", _placed(value, left_out) if key in PLACED else value, where)
    if any(sound.alone_n):
        facts.fact("signal.alone_silent_s", [round(n / sound.rate, 3) for n in sound.alone_n], where)
    if twice := copies.rows(sound.rate)[:MOST]:
        facts.fact("signal.copies", _placed(twice, left_out, n_times=2), where)
    if grids:
        facts.fact("signal.grid", _placed(grids, left_out, n_times=2), where)


def decoded(path: str, demuxer: str, damage: Damage, sound: Sound) -> Iterator[np.ndarray]:
    """Yield float32 mono samples (n,) in [-1, 1] at the rate of the file, a frame at a time; ``sound`` keeps up.

    Without samples nothing decodes; what cannot be decoded is counted in ``damage``.
    """
    try:
        with open_as(demuxer, path) as opened:
            if not decodable(opened.streams.audio):
                return
            for samples in resampled(_timed(opened, damage, sound), "fltp"):
                sound.n += len(samples)
                yield samples
    except (av.FFmpegError, OSError, ValueError, EOFError):
        pass  # What was decoded up to the damage still counts; the walk tells of the damage.


def _timed(opened: Any, damage: Damage, sound: Sound) -> Iterator[Any]:
    """Yield the frames of the first audio stream whose channels can be mixed; ``sound`` keeps what is left out."""
    stream = decodable(opened.streams.audio)[0]
    strict(stream)
    damage.begins_s = begins_s(opened)
    most_s = opened.duration / av.time_base if opened.duration else LONGEST / USUAL_HZ
    pauses, opposed = Pauses(stream, late_s(opened, stream), most_s + 1), Opposed()
    for frame in packed(f for packet in opened.demux(stream) for f in frames(packet, damage)):
        if sound.n >= LONGEST:
            sound.unread = "it is very long"
            break
        sound.rate = sound.rate or frame.sample_rate
        if missing_s := pauses.missing_s(frame):
            sound.left_out.append((sound.n / sound.rate, missing_s))
        if frame.layout.nb_channels == 2:
            still = [bool((row == row[0]).all()) for row in channels(frame, frame.to_ndarray())]
            if sum(still) == 1:
                sound.alone_n[still.index(True)] += frame.samples
        yield mixed(opposed.over(frame))


def blocks(pieces: Iterable[np.ndarray], sound: Sound) -> Iterator[np.ndarray]:
    """Yield pieces put together to ``BLOCK_S`` each, less of unusual rates, the last as long as it is."""
    parts: list[np.ndarray] = []
    n = 0
    for piece in pieces:
        parts.append(piece)
        n += len(piece)
        if n >= BLOCK_S * min(sound.rate, USUAL_HZ):
            yield np.concatenate(parts)
            parts, n = [], 0
    if n:
        yield np.concatenate(parts)


def _heard_at(at_s: float, left_out: list[tuple[float, float]]) -> float:
    """Return when a moment of the samples is heard."""
    return round(at_s + sum(missing_s for place_s, missing_s in left_out if place_s <= at_s), 4)


def _placed(rows: list[list[float]], left_out: list[tuple[float, float]], *, n_times: int = 1) -> list[list[float]]:
    """Return rows that begin with ``n_times`` moments of the samples, with when those are heard."""
    return [[*(_heard_at(at_s, left_out) for at_s in row[:n_times]), *row[n_times:]] for row in rows]


def measure(samples: np.ndarray, rate: int) -> dict[str, Any]:
    """Return what samples (n,) at ``rate`` show, as plain values."""
    return _whole([_part(samples, rate)], rate)


def _part(samples: np.ndarray, rate: int) -> dict[str, Any]:
    """Return what one block of samples (n,) shows; `_whole` puts blocks together."""
    samples = np.nan_to_num(np.asarray(samples, dtype=np.float32), posinf=0, neginf=0)
    steps = np.abs(np.diff(samples))
    finest = float(steps.min(where=steps > LEAST_STEP, initial=np.inf))
    silences = _silences(samples, rate, finest)
    return {
        "n": len(samples),
        "spectrum": _spectrum(samples),
        "finest": finest,
        "loudest": float(np.abs(samples).max(initial=0)),
        "silences": silences,
        "jumps": _jumps(samples, rate),
        "floor_steps": _floor_steps(samples, rate, silences),
    }


def _whole(parts: list[dict[str, Any]], rate: int) -> dict[str, Any]:
    """Return what blocks that follow each other show together, as plain values."""
    out: dict[str, Any] = {"rate_hz": rate, "seconds": round(sum(part["n"] for part in parts) / rate, 3)}
    spectra = [part["spectrum"] for part in parts if part["spectrum"] is not None]
    out["cutoff_hz"] = cutoff_hz(np.mean(spectra, axis=0), rate) if spectra else None
    finest = min(part["finest"] for part in parts)
    # How many of its finest steps the loudest sample lies from zero.
    loudest = max(part["loudest"] for part in parts)
    out["levels"] = min(round(loudest / finest), 1 << 16) if np.isfinite(finest) else None
    places: dict[str, list[list[float]]] = {key: [] for key in PLACES}
    before_s = 0.0
    for part in parts:
        for key, rows in places.items():
            rows += [[round(at + before_s, 4), *values] for at, *values in part[key]]
        before_s += part["n"] / rate
    silences = _joined(places["silences"], rate)
    out["silent_s"] = round(sum(length for _, length, _ in silences), 3)
    out["silences"] = [[start, length] for start, length, _ in silences[:MOST]]
    out["faint_silences"] = [[start, length] for start, length, is_faint in silences[:MOST] if is_faint]
    out["jumps"] = sorted(places["jumps"], key=lambda row: -row[1])[:MOST]
    out["floor_steps"] = sorted(places["floor_steps"], key=lambda row: -abs(row[1]))[:STEPS]
    return out


def _joined(runs: list[list[float]], rate: int) -> list[list[float]]:
    """Return runs, ``[start, length, is_faint]``, with those made one that the end of a block divides."""
    out: list[list[float]] = []
    for start, length, is_faint in runs:
        if out and start - sum(out[-1][:2]) < 2 / rate + 2e-4:
            out[-1] = [out[-1][0], round(start + length - out[-1][0], 4), max(is_faint, out[-1][2])]
        else:
            out.append([start, length, is_faint])
    return out


def cutoff_hz(spectrum: np.ndarray, rate: int) -> int | None:
    """Return the frequency above which the spectrum falls off a cliff, ``None`` where it reaches to the end.

    The mean spectrum of the loudest windows is searched for the highest frequency whose level is within 75 dB of the
    peak and at least 18 dB above all that lies beyond: over a width of 500 Hz first, then there without smoothing,
    since a smoothed edge lies too high.
    """
    level = 10 * np.log10(spectrum + 1e-20)
    hz = rate / WINDOW
    width = max(2, int(500 / hz))
    smooth = np.convolve(level, np.ones(width) / width, mode="same")
    top = len(smooth) - width
    for i in range(top - width, int(2000 / hz), -1):
        beyond = smooth[min(i + 2 * width, top - 1) : top]
        if len(beyond) < width:
            continue
        least = max(beyond.max() + 18, level.max() - 75)
        if smooth[i] > least:
            near = level[i - width : i + width]
            return round(float((i - width + np.flatnonzero(near > least)[-1]) * hz))
    return None


def _spectrum(samples: np.ndarray) -> np.ndarray | None:
    """Return the mean power spectrum of the louder half of the windows, ``None`` where there are too few."""
    n = len(samples) // WINDOW
    if n < 4:
        return None
    step = max(1, n // 400)
    windows = samples[: n * WINDOW].reshape(n, WINDOW)[::step].astype(np.float64) * np.hanning(WINDOW)
    spectra = np.abs(np.fft.rfft(windows, axis=1)) ** 2
    loud = spectra.sum(axis=1)
    mean: np.ndarray = spectra[loud >= np.median(loud)].mean(axis=0)
    return mean


def _silences(samples: np.ndarray, rate: int, finest: float) -> list[list[float]]:
    """Return runs of one unchanging value inside the sound, ``[start, length, is_faint]``, at least 50 ms long.

    Times are in seconds. ``is_faint`` is 1 where the sound on one side, or on both, is faint.
    """
    same = np.concatenate(([False], np.diff(samples) == 0, [False]))
    edges = np.flatnonzero(np.diff(same.astype(np.int8)))
    beside = round(BESIDE_S * rate)
    runs = []
    for start, stop in zip(edges[::2], edges[1::2], strict=False):
        if stop - start >= SILENCE_S * rate:
            sides = (samples[max(0, start - beside) : start], samples[stop + 1 : stop + 1 + beside])
            loud = [np.abs(side - samples[start]).max() for side in sides if len(side)]
            is_faint = min(loud, default=np.inf) <= (FAINT_STEPS + 0.5) * finest
            runs.append([round(float(start / rate), 4), round(float((stop - start) / rate), 4), float(is_faint)])
    return runs


def _jumps(samples: np.ndarray, rate: int) -> list[list[float]]:
    """Return places where the signal breaks: ``[time, how many times the usual error of prediction]``.

    Sound is smooth at this scale: a sample is predicted from the eight before it. At a cut the error rises far above
    that of the 20 ms around it.
    """
    if len(samples) < rate:
        return []
    x = samples.astype(np.float64)
    order = 8
    use = x[: min(len(x), 60 * rate)]
    lags = np.array([np.dot(use[: len(use) - k], use[k:]) for k in range(order + 1)])
    if lags[0] <= 1e-9:
        return []
    matrix = np.array([[lags[abs(i - j)] for j in range(order)] for i in range(order)])
    matrix += np.eye(order) * lags[0] * 1e-7
    weights = np.linalg.solve(matrix, lags[1:])
    error = np.abs(np.convolve(x, np.concatenate(([1.0], -weights)))[: len(x)])
    block = max(16, rate // 100)
    n = len(error) // block
    shaped = error[: n * block].reshape(n, block)
    usual = np.sqrt((shaped**2).mean(axis=1)) + 1e-6
    around = np.maximum(np.concatenate((usual[:1], usual[:-1])), np.concatenate((usual[1:], usual[-1:])))
    ratio = shaped.max(axis=1) / (around + 1e-4)
    ratio[0] = 0  # Nothing is known of what the first samples are to be predicted from.
    places = np.argsort(ratio)[::-1][:MOST]
    return [
        [round(float((i * block + shaped[i].argmax()) / rate), 4), round(float(ratio[i]), 1)]
        for i in places
        if ratio[i] > 8
    ]


def _floor_steps(samples: np.ndarray, rate: int, silences: list[list[float]]) -> list[list[float]]:
    """Return where the noise floor changes at once and stays: ``[time, change in dB]``.

    The floor is the 10th percentile of levels over three seconds on either side, which speech pauses reach. Digital
    silence is no background: it is left out, and so are sides of which it takes more than half.
    """
    size = int(LEVEL_S * rate)
    n = len(samples) // size
    side = int(3 / LEVEL_S)
    if n < 2 * side:
        return []
    blocks = samples[: n * size].reshape(n, size).astype(np.float64)
    level = 10 * np.log10((blocks**2).mean(axis=1) + 1e-12)
    for start_s, length_s, _ in silences:
        level[int(start_s * rate) // size : int((start_s + length_s) * rate) // size + 1] = np.nan
    sides = np.lib.stride_tricks.sliding_window_view(level, side)
    is_enough = np.isnan(sides).mean(axis=1) <= 0.5
    floors = np.full(len(sides), np.nan)
    floors[is_enough] = np.nanpercentile(sides[is_enough], 10, axis=1)
    change = np.nan_to_num(floors[side : n - side] - floors[: n - 2 * side])
    out: list[list[float]] = []
    while len(out) < STEPS and len(change):
        best = int(np.argmax(np.abs(change)))
        if abs(change[best]) < 6:
            break
        out.append([round((best + side) * LEVEL_S, 2), round(float(change[best]), 1)])
        change[max(0, best - side) : best + side] = 0
    return out
