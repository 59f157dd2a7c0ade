"""Phrases: the pieces of a voice that are scored, and a run of them that was put in.

A voice is cut at its pauses into phrases of at most 4 s, because a synthetic sentence that was inserted lies between
pauses. Each phrase is scored by itself; `inserted` then looks for the run of phrases that differs most from the rest of
the same voice. It assumes that one piece was inserted and that each phrase is synthetic or not as a whole: a piece
within a phrase, or one shorter than a second, is missed. ``benchmarks/results/voice_inserted.md`` says how long
a piece must be to be found, and how often a real recording is accused.

References
----------
D. Siegmund, "Boundary crossing probabilities and statistical applications", Annals of Statistics 14(2), 1986 (the
likelihood ratio of a segment whose mean has changed).
"""

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from forensix.calibration import logit
from forensix.voice.speech import Segment

MOST_S = 4.0
LEAST_S = 1.0
"""Pauses are not cut at where less than this would be left on one side."""

JOIN_S = 0.6
"""Longer pauses end a phrase in any case; within shorter ones a cut would leave edges of our own."""

SHORTEST_S = 0.5
"""Phrases shorter than this are scored only where a voice has no longer one."""

INSERTED_SCORE = 0.8
"""The pooled score that an inserted piece has at least."""

CONTRAST = 4.0
"""How far the piece stands out of the rest at least: the difference of mean logits times sqrt(s), see `inserted`."""


def phrases(segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """Cut a voice into phrases, in order.

    Parameters
    ----------
    segments
        Where one speaker speaks, in order; at least one.

    Returns
    -------
    Stretches of at most 4 s, cut at the longest pauses; speech without a pause is cut evenly.
    """
    stretches: list[list[Segment]] = []
    for segment in segments:
        if stretches and segment.start_s - stretches[-1][-1].end_s <= JOIN_S:
            stretches[-1].append(segment)
        else:
            stretches.append([segment])
    cut = [phrase for stretch in stretches for phrase in _cut(stretch)]
    return tuple(p for p in cut if p.duration_s >= SHORTEST_S) or (max(cut, key=lambda p: p.duration_s),)


def _cut(stretch: Sequence[Segment]) -> list[Segment]:
    """Cut a stretch at its longest pause, and the halves likewise, until all are short."""
    whole = Segment(stretch[0].start_s, stretch[-1].end_s)
    if whole.duration_s <= MOST_S:
        return [whole]
    pauses = [
        (stretch[i].start_s - stretch[i - 1].end_s, i)
        for i in range(1, len(stretch))
        if stretch[i - 1].end_s - whole.start_s >= LEAST_S and whole.end_s - stretch[i].start_s >= LEAST_S
    ]
    if pauses:
        _, i = max(pauses)
        return _cut(stretch[:i]) + _cut(stretch[i:])
    edges = np.linspace(whole.start_s, whole.end_s, int(np.ceil(whole.duration_s / MOST_S - 1e-9)) + 1).tolist()
    return [Segment(a, b) for a, b in itertools.pairwise(edges)]


def contrasts(scores: Sequence[float], durations_s: Sequence[float]) -> NDArray[np.float64]:
    """Return how far each run of phrases stands out of all others.

    Parameters
    ----------
    scores, durations_s
        Shape (n,): a score in [0, 1] and seconds for each phrase.

    Returns
    -------
    Shape (n, n): at [i, j] the mean logit of phrases i to j less that of the rest, times sqrt(a b / (a + b)) with a and
    b the seconds of both; minus infinity where there is no such run or no rest.
    """
    logits = logit(np.asarray(scores, np.float64))
    seconds = np.asarray(durations_s, np.float64)
    cumulated = np.concatenate([[0.0], np.cumsum(logits * seconds)])
    length = np.concatenate([[0.0], np.cumsum(seconds)])
    inside_s = length[None, 1:] - length[:-1, None]
    total = cumulated[None, 1:] - cumulated[:-1, None]
    outside_s = length[-1] - inside_s
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = total / inside_s - (cumulated[-1] - total) / outside_s
        contrast = difference * np.sqrt(inside_s * outside_s / length[-1])
    possible = np.triu(np.ones(contrast.shape, bool)) & (outside_s > 1e-9)
    return np.where(possible, contrast, -np.inf)


def inserted(scores: Sequence[float], durations_s: Sequence[float], threshold: float) -> range | None:
    """Find the run of phrases that is synthetic while the rest of the voice is not.

    Parameters
    ----------
    scores, durations_s
        Shape (n,): a score in [0, 1] and seconds for each phrase of one voice, in order.
    threshold
        The score at and above which the component calls a voice fake.

    Returns
    -------
    The phrases that were put in, or ``None`` where no run stands out enough, is synthetic by itself and lasts a second,
    or where the rest is called fake as well.
    """
    if len(scores) < 2:
        return None
    contrast = contrasts(scores, durations_s)
    first, last = np.unravel_index(int(np.argmax(contrast)), contrast.shape)
    run = range(int(first), int(last) + 1)
    rest = [i for i in range(len(scores)) if i not in run]
    seconds = np.asarray(durations_s, np.float64)
    logits = logit(np.asarray(scores, np.float64))
    mean_inside = float(np.average(logits[list(run)], weights=seconds[list(run)]))
    mean_outside = float(np.average(logits[rest], weights=seconds[rest]))
    stands_out = contrast[first, last] >= CONTRAST and seconds[list(run)].sum() >= LEAST_S
    is_synthetic = mean_inside >= logit(max(INSERTED_SCORE, threshold)) and mean_outside < logit(threshold)
    return run if stands_out and is_synthetic else None
