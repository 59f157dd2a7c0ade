"""The pictures of a video on both sides of the places that claims name: where frames are missing, held, or resized."""

from collections.abc import Iterator, Sequence

import numpy as np

from forensix.errors import InputError
from forensix.forensics import Finding
from forensix.media import Media
from forensix.metadata.facts import Fact
from forensix.tasks.evidence import Picture
from forensix.tasks.pictures import jpeg_uri

PER_CLAIM = 2
SIDE_PX = 480
PIXELS = 1_000_000_000
"""Places that lie behind so many pixels, half a minute in 720 lines, are not drawn: to decode them takes too long."""

NEAR_S = 0.005
"""Times are rounded by less, and frames follow each other by more."""


def stills(media: Media, findings: Sequence[Finding]) -> tuple[Picture, ...]:
    """Return the frames before and after each place, beside each other; up to two places of a claim."""
    rate_hz, size = media.info.frame_rate_hz or 25.0, (media.info.width_px or 0) * (media.info.height_px or 0)
    until_s = PIXELS / max(1.0, size * rate_hz)
    wanted = [
        (finding, begin, end)
        for finding in findings
        for begin, end in [place for fact in finding.facts for place in _places(fact)][:PER_CLAIM]
        if end <= until_s
    ]
    if media.kind != "video" or not wanted:
        return ()
    last = max(end for *_, end in wanted)
    before: dict[int, np.ndarray] = {}
    after: dict[int, np.ndarray] = {}
    try:
        for frame in media.frames(max_side_px=SIDE_PX):
            at_s = frame.ms / 1000
            for i, (_, begin, end) in enumerate(wanted):
                if at_s <= begin + NEAR_S:
                    before[i] = frame.rgb
                elif at_s >= end - NEAR_S:
                    after.setdefault(i, frame.rgb)
            if at_s > last and len(after) == len(wanted):
                break
    except InputError:
        pass  # Frames up to the damage are shown; the claims tell of it.
    return tuple(
        Picture(
            _title(begin, end),
            jpeg_uri(np.hstack([before[i], after[i]]), max_side_px=2 * SIDE_PX),
            "On the left the last frame before, on the right the first behind.",
            finding.claim,
            is_wide=True,
        )
        for i, (finding, begin, end) in enumerate(wanted)
        if i in before and i in after
    )


def _title(begin_s: float, end_s: float) -> str:
    if end_s - begin_s < 3 * NEAR_S:
        return f"Before and after {round(begin_s, 2):g} s"
    return f"Before {round(begin_s, 2):g} s and after {round(end_s, 2):g} s"


def _places(fact: Fact) -> Iterator[tuple[float, float]]:
    """Yield the last moment before and the first after each place, in seconds."""
    # A claim on the stream as a whole rests on the same fact, without a byte.
    if fact.key == "stream.video" and fact.offset is not None:
        yield from ((gap[0], gap[0] + 2 * NEAR_S) for gap in fact.value.get("gaps") or ())
    elif fact.key == "frames.frozen":
        yield from ((begin, end) for begin, end in fact.value)
    elif fact.key == "frames.sizes":
        yield from ((at - 2 * NEAR_S, at) for at, *_ in fact.value[1:])
