"""What the decoded sound shows: bandwidth against the sample rate, digital silence, jumps, changes of the noise floor.

The first minutes are decoded at the rate of the file, mixed to mono. Times are those at which the sound is heard: where
the time stamps leave some out, what follows is measured as if it followed at once. Nothing here is a verdict;
`forensix.forensics.rules.audio` holds the thresholds and their measured false-alarm rates.
"""

from typing import Any

import av
import numpy as np

from forensix.media.packets import Pauses, mixed, packed
from forensix.media.played import begins_s, decodable, late_s
from forensix.metadata.av.collector import FactCollector
from forensix.metadata.av.decoding import Damage, frames, strict
from forensix.metadata.av.id3 import BEHIND
from forensix.metadata.av.streams import DEMUXERS

LOSSLESS = ("pcm", "flac", "alac", "als", "wavpack")
SECONDS = 300
WINDOW = 4096
SILENCE_S = 0.05
LEVEL_S = 0.1
PLACES = ("silences", "jumps", "floor_steps")
MOST = 60
"""Places of one kind that are kept: the first silences, the strongest jumps."""


def read(path: str, container: str, facts: FactCollector) -> None:
    """Decode the first audio stream and add ``signal.*`` facts; silent where there is none."""
    demuxer = DEMUXERS.get(container)
    if demuxer is None:
        return
    damage = Damage(ends_at=next((n.offset for n in facts.nodes if n.name == BEHIND), None))
    samples, rate, left_out = decoded(path, demuxer, damage)
    damage.tell(facts, "sound")
    if rate and len(samples) >= rate // 4:
        where = f"decoded sound, first {len(samples) / rate:.1f} s"
        if left_out:
            late_s = left_out[0][1] if not left_out[0][0] else 0.0
            facts.fact("signal.begins_s", round(late_s, 3), where)
            facts.fact("signal.ends_s", _heard_at(len(samples) / rate, left_out), where)
        for key, value in measure(samples, rate).items():
            facts.fact(f"signal.{key}", _placed(value, left_out) if key in PLACES else value, where)
        stream = facts.get("stream.audio")
        # A file with loss always shows the grid of its own codec.
        if isinstance(stream, dict) and str(stream.get("codec")).startswith(LOSSLESS):
            # Its transforms take long to load, and few files need them.
            from forensix.metadata.av import aac_grid

            grids = aac_grid.stretches(samples, rate)
            if grids:
                facts.fact("signal.grid", _placed(grids, left_out, n_times=2), where)


def decoded(path: str, demuxer: str, damage: Damage) -> tuple[np.ndarray, int, list[tuple[float, float]]]:
    """Return float32 mono samples (n,) in [-1, 1] at the rate of the file, that rate, and where sound is left out.

    The last are seconds in the samples, each with how many are left out there. Without samples nothing decodes; what
    cannot be decoded is counted in ``damage``.
    """
    parts: list[np.ndarray] = []
    left_out: list[tuple[float, float]] = []
    rate = n = 0
    options = {"protocol_whitelist": "file", "format_whitelist": demuxer}
    try:
        with av.open(path, format=demuxer, options=options, metadata_errors="replace") as opened:
            streams = decodable(opened.streams.audio)
            if not streams:
                return np.zeros(0, np.float32), 0, left_out
            resampler = av.AudioResampler(format="fltp", layout="mono")
            stream = streams[0]
            strict(stream)
            damage.begins_s = begins_s(opened)
            most_s = opened.duration / av.time_base if opened.duration else SECONDS
            pauses = Pauses(stream, late_s(opened, stream), most_s + 1)
            for frame in packed(f for packet in opened.demux(stream) for f in frames(packet, damage)):
                if rate and frame.sample_rate != rate:
                    break
                rate = frame.sample_rate
                if missing_s := pauses.missing_s(frame):
                    left_out.append((n / rate, missing_s))
                for mono in resampler.resample(mixed(frame)):
                    block = mono.to_ndarray()[0]
                    parts.append(block)
                    n += len(block)
                if n >= SECONDS * rate:
                    break
    except (av.FFmpegError, OSError, ValueError, EOFError):
        pass  # What was decoded up to the damage still counts; the walk tells of the damage.
    return (np.concatenate(parts) if parts else np.zeros(0, np.float32)), rate, left_out


def _heard_at(at_s: float, left_out: list[tuple[float, float]]) -> float:
    """Return when a moment of the samples is heard."""
    return round(at_s + sum(missing_s for place_s, missing_s in left_out if place_s <= at_s), 4)


def _placed(rows: list[list[float]], left_out: list[tuple[float, float]], *, n_times: int = 1) -> list[list[float]]:
    """Return rows that begin with ``n_times`` moments of the samples, with when those are heard."""
    return [[*(_heard_at(at_s, left_out) for at_s in row[:n_times]), *row[n_times:]] for row in rows]


def measure(samples: np.ndarray, rate: int) -> dict[str, Any]:
    """Return what samples (n,) at ``rate`` show, as plain values."""
    samples = np.nan_to_num(np.asarray(samples, dtype=np.float32), posinf=0, neginf=0)
    out: dict[str, Any] = {"rate_hz": rate, "seconds": round(len(samples) / rate, 3)}
    out["cutoff_hz"] = cutoff_hz(samples, rate)
    out["levels"] = _levels(samples)
    out["silences"] = _silences(samples, rate)
    out["jumps"] = _jumps(samples, rate)
    out["floor_steps"] = _floor_steps(samples, rate)
    return out


def _levels(samples: np.ndarray) -> int | None:
    """Return how many of its finest steps the loudest sample lies from zero, at most 65536; ``None`` for silence."""
    steps = np.abs(np.diff(samples))
    finest = float(steps.min(where=steps > 0, initial=np.inf))
    return min(round(float(np.abs(samples).max()) / finest), 1 << 16) if np.isfinite(finest) else None


def cutoff_hz(samples: np.ndarray, rate: int) -> int | None:
    """Return the frequency above which the spectrum falls off a cliff, ``None`` where it reaches to the end.

    The mean spectrum of the loudest windows is searched for the highest frequency whose level is within 75 dB of the
    peak and at least 18 dB above all that lies beyond, over a width of 500 Hz.
    """
    spectra = _spectra(samples)
    if spectra is None:
        return None
    loud = spectra.sum(axis=1)
    mean = spectra[loud >= np.median(loud)].mean(axis=0)
    level = 10 * np.log10(mean + 1e-20)
    hz = rate / WINDOW
    width = max(2, int(500 / hz))
    smooth = np.convolve(level, np.ones(width) / width, mode="same")
    top = len(smooth) - width
    for i in range(top - width, int(2000 / hz), -1):
        beyond = smooth[min(i + 2 * width, top - 1) : top]
        if len(beyond) < width:
            continue
        if smooth[i] - beyond.max() > 18 and level.max() - smooth[i] < 75:
            return round((i + width) * hz)
    return None


def _spectra(samples: np.ndarray) -> np.ndarray | None:
    n = len(samples) // WINDOW
    if n < 4:
        return None
    step = max(1, n // 400)
    windows = samples[: n * WINDOW].reshape(n, WINDOW)[::step].astype(np.float64) * np.hanning(WINDOW)
    return np.abs(np.fft.rfft(windows, axis=1)) ** 2


def _silences(samples: np.ndarray, rate: int) -> list[list[float]]:
    """Return runs of one unchanging value inside the sound, ``[start, length]`` in seconds, at least 50 ms long."""
    same = np.concatenate(([False], np.diff(samples) == 0, [False]))
    edges = np.flatnonzero(np.diff(same.astype(np.int8)))
    runs = []
    for start, stop in zip(edges[::2], edges[1::2], strict=False):
        if stop - start >= SILENCE_S * rate:
            runs.append([round(float(start / rate), 4), round(float((stop - start) / rate), 4)])
    return runs[:MOST]


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
    places = np.argsort(ratio)[::-1][:MOST]
    return [
        [round(float((i * block + shaped[i].argmax()) / rate), 4), round(float(ratio[i]), 1)]
        for i in places
        if ratio[i] > 8
    ]


def _floor_steps(samples: np.ndarray, rate: int) -> list[list[float]]:
    """Return where the noise floor changes at once and stays: ``[time, change in dB]``.

    The floor is the 10th percentile of levels over three seconds on either side, which speech pauses reach.
    """
    size = int(LEVEL_S * rate)
    n = len(samples) // size
    side = int(3 / LEVEL_S)
    if n < 2 * side:
        return []
    blocks = samples[: n * size].reshape(n, size).astype(np.float64)
    level = 10 * np.log10((blocks**2).mean(axis=1) + 1e-12)
    steps = []
    for i in range(side, n - side):
        before, after = level[i - side : i], level[i : i + side]
        steps.append(float(np.percentile(after, 10) - np.percentile(before, 10)))
    change = np.array(steps)
    out: list[list[float]] = []
    while len(out) < 5 and len(change):
        best = int(np.argmax(np.abs(change)))
        if abs(change[best]) < 6:
            break
        out.append([round((best + side) * LEVEL_S, 2), round(float(change[best]), 1)])
        change[max(0, best - side) : best + side] = 0
    return out
