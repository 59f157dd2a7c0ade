"""Where is speech? Voice activity by Silero VAD.

Looks for speech in mono 16 kHz samples with the recurrent network that the ``silero-vad`` wheel carries, so nothing is
fetched. It hears 32 ms at a time and remembers what came before; memory use does not grow with duration.

Assumes one channel at 16 kHz at a level at which a person could hear speech. A segment means "somebody speaks", real or
synthetic; there is no score. Fails on shouting crowds, singing over music and speech buried in noise, and may call
a voice-like instrument speech.

References
----------
Silero Team, "Silero VAD: pre-trained enterprise-grade voice activity detector", 2024.
"""

import itertools
import threading
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from forensix.errors import UsageError

if TYPE_CHECKING:
    import torch

RATE_HZ = 16000
LOUDEST = 8.0

WINDOW = 512  # samples that the network hears at once, 32 ms
CONTEXT = 64  # samples of the window before that it hears as well
BLOCK = 2000 * WINDOW  # 64 s are turned into floats at a time

# Silero's own defaults: hysteresis, and what is too short to be speech or a pause.
ENTER = 0.5
LEAVE = 0.35
MIN_SPEECH_S = 0.25
MIN_PAUSE_S = 0.1
PAD_S = 0.03

_loading = threading.Lock()


@dataclass(frozen=True, order=True)
class Segment:
    """A stretch of a recording, ``[start_s, end_s)``."""

    start_s: float
    end_s: float

    @property
    def duration_s(self) -> float:
        """Length in seconds."""
        return self.end_s - self.start_s

    def of(self, samples: NDArray[Any]) -> NDArray[np.float32]:
        """Return this stretch of ``samples`` as floats in [-1, 1]."""
        return as_float(samples[max(0, round(self.start_s * RATE_HZ)) : max(0, round(self.end_s * RATE_HZ))])


def as_float(samples: NDArray[Any]) -> NDArray[np.float32]:
    """Return mono samples as float32: int16 is divided by 32768, floats stay, what is not finite becomes 0.

    Floats beyond 8 times full scale are cut there, so that no power of them overflows.

    Raises
    ------
    UsageError
        Not one channel, or neither int16 nor floats.
    """
    samples = np.asarray(samples)
    if samples.ndim != 1:
        raise UsageError(f"mono samples, shape (n,), were expected, {samples.shape} came: mix the channels first")
    if samples.dtype == np.int16:
        return samples.astype(np.float32) / np.float32(32768)
    if samples.dtype.kind != "f":
        raise UsageError(f"int16 or float samples were expected, {samples.dtype} came")
    finite = np.nan_to_num(samples.astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    return np.clip(finite, -LOUDEST, LOUDEST).astype(np.float32)


@cache
def _network() -> tuple[Any, "torch.nn.LSTM"]:
    """Return Silero's network and its recurrent cell as a layer that runs over many windows at once."""
    import torch

    threads = torch.get_num_threads()
    with warnings.catch_warnings():
        # How its wheel finds and loads its file; newer versions of torch show theirs to users.
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", FutureWarning)
        from silero_vad import load_silero_vad

        network = load_silero_vad()._model
    torch.set_num_threads(threads)  # importing silero_vad sets it to 1 for the whole process
    cell = network.decoder.rnn.state_dict()
    layer = torch.nn.LSTM(cell["weight_ih"].shape[1], cell["weight_hh"].shape[1])
    layer.load_state_dict({f"{name}_l0": value for name, value in cell.items()})
    return network, layer


def _blocks(samples: NDArray[Any]) -> Iterator[NDArray[np.float32]]:
    """Yield windows, shape (n, CONTEXT + WINDOW): each with the end of the one before; silence fills up the last."""
    before = np.zeros(CONTEXT, np.float32)
    for start in range(0, len(samples), BLOCK):
        block = as_float(samples[start : start + BLOCK])
        line = np.concatenate([before, block, np.zeros(-len(block) % WINDOW, np.float32)])
        yield np.lib.stride_tricks.sliding_window_view(line, CONTEXT + WINDOW)[::WINDOW]
        before = line[-CONTEXT:]


def speech_probabilities(samples: NDArray[Any]) -> NDArray[np.float32]:
    """Return the probability of speech of each 32 ms window.

    The same as calling Silero's network window by window, which takes ten times as long: all but the recurrent cell
    sees one window at a time, and goes through it for a whole block.

    Parameters
    ----------
    samples
        Shape (n,), int16 or float, mono, 16 kHz; may be a memory map.

    Returns
    -------
    Shape (ceil(n / 512),), in [0, 1]; the last window is filled up with silence.
    """
    import torch

    as_float(samples[:0])
    # Loading it touches what the whole process shares.
    with _loading:
        network, layer = _network()
    probabilities: list[NDArray[np.float32]] = [np.empty(0, np.float32)]
    state = None
    with torch.inference_mode():
        for block in _blocks(samples):
            windows = torch.from_numpy(block.copy())
            seen = network.encoder(network.run_extractors(windows)).squeeze(-1)
            heard, state = layer(seen, state)
            probabilities.append(network.decoder.decoder(heard[..., None]).flatten().numpy())
    return np.concatenate(probabilities)


def _runs(probabilities: NDArray[np.float32]) -> list[list[float]]:
    """Return raw [start, end] in windows: entered at ENTER, left where LEAVE is undercut for MIN_PAUSE_S."""
    pause = MIN_PAUSE_S * RATE_HZ / WINDOW
    runs: list[list[float]] = []
    silent_since: int | None = None
    speaking = False
    for i, p in enumerate(probabilities):
        if p >= ENTER:
            silent_since = None
            if not speaking:
                runs.append([i, len(probabilities)])
                speaking = True
        elif speaking and p < LEAVE:
            silent_since = i if silent_since is None else silent_since
            if i + 1 - silent_since >= pause:
                runs[-1][1] = silent_since
                speaking, silent_since = False, None
    return runs


def speech_segments(samples: NDArray[Any]) -> tuple[Segment, ...]:
    """Find the stretches of speech, in order and apart.

    Parameters
    ----------
    samples
        Shape (n,), int16 or float, mono, 16 kHz; may be a memory map.

    Returns
    -------
    Segments of at least 0.25 s, pauses of at least 0.1 s between them, each widened by up to 30 ms; empty when
    there is no speech.

    Raises
    ------
    UsageError
        Not one channel of int16 or float.

    Examples
    --------
    >>> speech_segments(np.zeros(16000, np.int16))
    ()
    """
    end_s = len(samples) / RATE_HZ
    step_s = WINDOW / RATE_HZ
    spans = [(a * step_s, min(b * step_s, end_s)) for a, b in _runs(speech_probabilities(samples))]
    spans = [(a, b) for a, b in spans if b - a >= MIN_SPEECH_S]
    segments = []
    for i, (a, b) in enumerate(spans):
        before = (a - spans[i - 1][1]) / 2 if i else a
        after = (spans[i + 1][0] - b) / 2 if i + 1 < len(spans) else end_s - b
        segments.append(Segment(round(a - min(PAD_S, before), 4), round(b + min(PAD_S, after), 4)))
    return tuple(segments)


def peak_of(samples: NDArray[Any], segments: Sequence[Segment] = ()) -> tuple[float, float]:
    """Return the greatest magnitude, and the share of samples within 0.1 % of it; what is clipped has many.

    Parameters
    ----------
    samples
        Shape (n,), int16 or float; may be a memory map, which is read in blocks. Silence has 0 and 0.
    segments
        What of it is looked at, such as the speech; without any, all.
    """
    spans = [(round(s.start_s * RATE_HZ), min(round(s.end_s * RATE_HZ), len(samples))) for s in segments]
    spans = spans or [(0, len(samples))]
    blocks = [slice(i, min(i + BLOCK, stop)) for start, stop in spans for i in range(start, stop, BLOCK)]
    peak = max((float(np.abs(as_float(samples[b])).max(initial=0.0)) for b in blocks), default=0.0)
    if peak <= 0:
        return 0.0, 0.0
    n_samples = sum(b.stop - b.start for b in blocks)
    return peak, sum(int((np.abs(as_float(samples[b])) >= 0.999 * peak).sum()) for b in blocks) / n_samples


def total_s(segments: Sequence[Segment]) -> float:
    """Return the summed duration of segments, in seconds."""
    return sum(s.duration_s for s in segments)


def spread(segments: Sequence[Segment], *, at_most_s: float, piece_s: float = 5.0) -> tuple[Segment, ...]:
    """Cut segments into pieces and keep at most so many seconds, evenly spread over the recording.

    This is what bounds the time that a long recording takes.
    """
    pieces = []
    for s in segments:
        n = max(1, int(np.ceil(s.duration_s / piece_s - 1e-9)))
        edges = np.linspace(s.start_s, s.end_s, n + 1)
        pieces += [Segment(float(a), float(b)) for a, b in itertools.pairwise(edges)]
    total = total_s(pieces)
    if total <= at_most_s:
        return tuple(pieces)
    # Walk through the speech and keep a piece whenever the share that is kept falls behind.
    kept: list[Segment] = []
    passed_s = kept_s = 0.0
    for piece in pieces:
        passed_s += piece.duration_s
        if kept_s + piece.duration_s <= at_most_s * passed_s / total + 1e-9:
            kept.append(piece)
            kept_s += piece.duration_s
    return tuple(kept) or (Segment(pieces[0].start_s, pieces[0].start_s + min(at_most_s, pieces[0].duration_s)),)


class SpeechActivity:
    """Fills the slot ``speech_activity`` with Silero's network."""

    name = "silero"

    def segments(self, samples: NDArray[Any]) -> tuple[Segment, ...]:
        """Find the stretches of speech, see `speech_segments`."""
        return speech_segments(samples)


def silero() -> SpeechActivity:
    """Return the finder of speech that ships with the package."""
    return SpeechActivity()
