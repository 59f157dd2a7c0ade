"""Where in a recording the claims point: moments and stretches on a time line, and the loudness over time."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from forensix.errors import InputError
from forensix.forensics import Finding
from forensix.media import Media
from forensix.metadata.facts import Fact
from forensix.tasks.evidence import Curve, Span, Timeline

LONGEST_S = 600.0
"""Longer recordings are not decoded once more only to be drawn."""

POINTS = 400
SILENT_DB = -96.0
"""Below the quietest sound that 16 bits hold; the curve has a gap there. Recordings of 24 bits go on below."""


def moments(media: Media, findings: Iterable[Finding]) -> tuple[Timeline | Curve, ...]:
    """Return the time line of the facts that claims rest on, and the loudness of a sound recording."""
    facts = {(fact.key, repr(fact.value)): fact for finding in findings for fact in finding.facts}
    rate_hz = media.info.frame_rate_hz or 25.0
    spans = tuple(span for fact in facts.values() for span in _spans(fact, rate_hz))
    evidence: list[Timeline | Curve] = []
    if spans:
        duration_s = max([float(media.info.duration_s or 0), *(span.end_s for span in spans)])
        evidence.append(Timeline("Where in the recording", duration_s, spans))
    curve = (
        _loudness(media) if media.kind == "audio" and (media.info.duration_s or LONGEST_S + 1) <= LONGEST_S else None
    )
    return (*evidence, curve) if curve else tuple(evidence)


def _spans(fact: Fact, rate_hz: float) -> Iterator[Span]:
    rows: list[Any] = fact.value if isinstance(fact.value, list) else []
    if fact.key == "signal.silences":
        yield from (Span("digital silence", a, a + length, f"{length} s") for a, length in rows)
    elif fact.key == "signal.jumps":
        yield from (Span("the sound breaks", at, at, f"{ratio} times the usual") for at, ratio in rows)
    elif fact.key == "signal.floor_steps":
        yield from (Span("the background changes", at, at, f"{db:+.0f} dB") for at, db in rows)
    elif fact.key == "signal.copies":
        for first, again, length in rows:
            for at, words in ((first, "first time"), (again, "again")):
                yield Span("the same sound, sample for sample", at, at + length, words)
    elif fact.key == "signal.grid":
        yield from (Span("frames of an AAC encoder", row[0], row[1], f"begin at sample {row[2]}") for row in rows)
    elif fact.key in ("frames.doubled", "frames.near_copies"):
        words = "a frame comes twice" if fact.key == "frames.doubled" else "nearly the frame before"
        yield from (Span(words, at, at, f"frame {index}") for index, at in rows)
    elif fact.key == "frames.repeated_stretch" and len(rows) == 3:
        first, second, n_frames = rows
        for at, words in ((first, "first time"), (second, "again")):
            yield Span("a stretch comes twice", at, at + n_frames / rate_hz, words)

    elif fact.key == "frames.frozen":
        yield from (Span("the picture stands still", begin, end, f"{end - begin:.3g} s") for begin, end in rows)
    elif fact.key == "frames.sizes":
        yield from (Span("the size of the picture changes", at, at, f"{w} x {h}") for at, w, h in rows[1:])
    elif fact.key == "stream.video" and isinstance(fact.value, dict):
        for begin, n_frames, *_ in fact.value.get("gaps") or ():
            end = begin + (n_frames + 1) / (fact.value.get("rate_hz") or rate_hz)
            yield Span("frames are missing", begin, end, f"{n_frames} {'frame' if n_frames == 1 else 'frames'}")


def _loudness(media: Media) -> Curve | None:
    """Return the loudness in dB, 0 being the loudest that can be written, in up to :data:`POINTS` windows."""
    try:
        samples = media.samples()
    except InputError:
        return None
    edges = np.linspace(0, len(samples), min(POINTS, len(samples)) + 1).astype(int)
    levels = []
    for start, end in pairwise(edges):
        window = samples[start:end].astype(np.float64) / 32768
        power = float((window * window).mean()) if len(window) else 0.0
        level = 10 * np.log10(power) if power > 0 else -np.inf
        levels.append(float(level) if level > SILENT_DB else float("nan"))
    times = tuple(((edges[:-1] + edges[1:]) / 2 / 16_000).tolist())
    return Curve(
        f"Loudness; gaps are below {SILENT_DB:g} dB", times, tuple(levels), "time (s)", "level (dB, 0 is full scale)"
    )
