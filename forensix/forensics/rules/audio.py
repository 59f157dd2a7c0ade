"""Claims about recordings: joins, former codecs, silence that no microphone makes, jumps and changes of the noise
floor.

What the decoded sound shows is told as benign, with two exceptions: digital silence inside a recording that was never
encoded with loss, and frames of an earlier AAC encoder that do not lie on one grid. Their false alarms on one-piece
recordings of human speech are in `tests/forensics/rules/test_audio_rates.py` and
`benchmarks/results/forensic_signals.md`.
A cut in sound that was never AAC stays unseen as a rule. The spectrum of the noise floor before and after a point was
tried and tells too little to be claimed: the benchmark has its figures.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from forensix.forensics.findings import Finding, finding
from forensix.forensics.rules import video_container
from forensix.metadata.av.aac_grid import FRAME, PEAK
from forensix.metadata.av.audio_signal import LOSSLESS
from forensix.metadata.facts import Facts

JUMP_RATIO = 40.0
SILENCE_S = 0.1
COARSE = 256
"""Steps up to the loudest sample, as 8 bits have them, among which the background of a recording is lost."""

EDGE_S = 0.5
FLOOR_DB = 25.0
CUTOFF_SHARE = 0.92
SAID = 4
"""Places that a sentence names; the claim's values and the time line have them all."""


def rules(facts: Facts) -> list[Finding]:
    """Return what follows from the facts of a recording."""
    return [
        *video_container.rules(facts),
        *_joins(facts),
        *_torn(facts),
        *_cut_off(facts),
        *_stated(facts),
        *signal(facts),
    ]


def _joins(facts: Facts) -> Iterator[Finding]:
    joins = list(facts.all("mpeg.join"))
    if joins:
        yield finding(
            "suspect",
            f"The recording was put together from {len(joins) + 1} files",
            f"{len(joins)} {'frame inside begins' if len(joins) == 1 else 'frames inside begin'} another encoding (an "
            f"encoder's first frame, or another rate or number of channels), the first at byte {joins[0].offset}. "
            "Podcasts with inserted advertising and recorded web radio are joined so as well as cut recordings.",
            "encoding",
            "editing",
            facts=joins,
            values=[f"byte {f.offset}" for f in joins],
            flags=("FILE_EDITED",),
        )
    chained = list(facts.all("ogg.chained"))
    if chained:
        yield finding(
            "suspect",
            f"The recording was put together from {len(chained) + 1} streams",
            f"A stream begins where another ended, the first at byte {chained[0].offset}. Web radio does this as well.",
            "encoding",
            "editing",
            facts=chained,
            values=[f"byte {f.offset}" for f in chained],
            flags=("FILE_EDITED",),
        )
    again = list(facts.all("riff.data_again"))
    if again:
        yield finding(
            "suspect",
            f"The file holds {len(again) + 1} pieces of sound",
            f"A recording has one chunk of samples; a further one begins at byte {again[0].offset}. FFmpeg, on which "
            "many players are built, stops before it. Appending a file to another leaves this, and so does hiding "
            "sound behind what is heard.",
            "structure",
            "integrity",
            facts=again,
            values=[f"{f.value} bytes at byte {f.offset}" for f in again],
            flags=("FILE_EDITED",),
        )


def _torn(facts: Facts) -> Iterator[Finding]:
    joins = {f.offset for f in facts.all("mpeg.join")}
    torn = [f for f in facts.all("mpeg.torn") if f.offset not in joins]
    if torn:
        yield finding(
            "suspect",
            f"The recording was cut or joined at {len(torn)} {'place' if len(torn) == 1 else 'places'}",
            f"The sound of a frame begins within that of the frame before, first at byte {torn[0].offset}: the two "
            "were not encoded one after the other. Frames were taken out or put in without encoding anew; a "
            "recorder of web radio that lost a part of it leaves this too.",
            "encoding",
            "editing",
            facts=torn,
            values=[f"byte {f.offset}" for f in torn],
            flags=("FILE_EDITED",),
        )


def _cut_off(facts: Facts) -> Iterator[Finding]:
    """Tell a beginning and an end that lie inside a frame, as encoders never write them."""
    rest = next((f for f in facts.items if f.key in ("mpeg.begins_inside", "adts.begins_inside")), None)
    back = facts.fact("mpeg.refers_back")
    begins = [f for f in (rest, back) if f is not None]
    if begins:
        shown = f"{rest.value} bytes before the first whole frame are the rest of one" if rest else ""
        needed = (
            f"the sound of the first frame begins {back.value} bytes before it, which are not there" if back else ""
        )
        yield finding(
            "benign",
            "The beginning of the recording is cut off",
            f"{' and '.join(part for part in (shown, needed) if part).capitalize()}. An encoder begins with a whole "
            "frame. Recorded web radio begins so, and so does a part that was taken out of a longer recording without "
            "encoding it anew.",
            "encoding",
            "editing",
            facts=begins,
            values=[f"{f.value} bytes" for f in begins],
        )
    ends = next((f for f in facts.items if f.key in ("mpeg.ends_inside", "adts.ends_inside")), None)
    if ends:
        lacking = (
            f"The last frame lacks {ends.value} bytes" if ends.value else "The last frame breaks off in its header"
        )
        yield finding(
            "benign",
            "The end of the recording is cut off",
            f"{lacking}. Recorded web radio and transfers that broke off end so; so does what was cut by its bytes.",
            "encoding",
            "editing",
            facts=[ends],
            values=[f"byte {ends.offset}"],
        )


def _stated(facts: Facts) -> Iterator[Finding]:
    stated, there = facts.fact("mpeg.stated_frames"), facts.fact("mpeg.frames")
    # The frame that states the number is not counted in it.
    less = bool(stated and there and there.value < stated.value)
    if stated and there and stated.value and (less or there.value - stated.value > max(2, 0.01 * there.value)):
        yield finding(
            "suspect",
            "The recording is shorter than its header says" if less else "The recording is longer than its header says",
            f"The first frame states {stated.value} frames, the file holds {there.value}: frames were "
            f"{'cut off or taken out' if less else 'added'} after it was encoded. "
            + ("A transfer that broke off does this too." if less else "Joining whole files does this too."),
            "encoding",
            "editing",
            facts=[stated, there],
            values=[f"{stated.value} stated", f"{there.value} there"],
            flags=("FILE_EDITED",),
        )


def signal(facts: Facts) -> Iterator[Finding]:
    """Yield the claims on the decoded sound, of recordings and of videos.

    Each rests on a fact that holds the places it counts and no weaker ones, so that the time line marks the same.
    """
    seconds = float(facts.get("signal.seconds") or 0)
    rate = int(facts.get("signal.rate_hz") or 0)
    if not rate:
        return
    yield from _cutoff(facts, rate)
    yield from _grid(facts)
    inside_s = (
        float(facts.get("signal.begins_s") or 0) + EDGE_S,
        float(facts.get("signal.ends_s") or seconds) - EDGE_S,
    )
    silences = facts.fact("signal.silences")
    inside = (
        [s for s in silences.value if s[0] > inside_s[0] and s[0] + s[1] < inside_s[1] and s[1] >= SILENCE_S]
        if silences
        else []
    )
    # A codec with loss makes exact zeros of what is nearly silent; a recording that is mostly silent was gated.
    coarse = 0 < int(facts.get("signal.levels") or 0) <= COARSE
    clean = _lossless(facts) and not coarse and float(facts.get("signal.silent_s") or 0) < 0.3 * seconds
    if silences and inside:
        places = [f"{s[0]} s for {s[1]} s" for s in inside]
        meaning = (
            f". Its loudest sample is {facts.get('signal.levels')} of its finest steps: sound in so few steps, as with "
            "8 bits or where it is very quiet, holds no faint background."
            if coarse
            else ", which no microphone records. Noise gates, muting, synthesis and inserted silence do."
        )
        yield finding(
            "suspect" if clean else "benign",
            f"Digital silence inside the recording ({len(inside)})",
            f"The samples do not change at all at {_first(places)}{meaning}",
            "encoding",
            "editing" if clean else "integrity",
            facts=[replace(silences, value=inside)],
            values=places,
        )
    jumps = facts.fact("signal.jumps")
    strong = [j for j in jumps.value if j[1] >= JUMP_RATIO and inside_s[0] < j[0] < inside_s[1]] if jumps else []
    if jumps and strong:
        places = [f"{j[0]} s ({j[1]} times the usual)" for j in strong]
        yield finding(
            "benign",
            f"The waveform jumps at {len(strong)} {'place' if len(strong) == 1 else 'places'}",
            f"At {_first(places)} the waveform jumps further than the samples before it suggest, as at a hard cut. "
            "Switch clicks and lost packets look the same.",
            "encoding",
            "integrity",
            facts=[replace(jumps, value=strong)],
            values=places,
        )
    steps = facts.fact("signal.floor_steps")
    big = [s for s in steps.value if abs(s[1]) >= FLOOR_DB] if steps else []
    if steps and big:
        places = [f"{s[0]} s: {s[1]:+.0f} dB" for s in big]
        yield finding(
            "benign",
            "The background noise changes abruptly",
            f"The noise floor of the three seconds before and after differs at {'; '.join(places)}. Joined recordings "
            "show this; so do doors, machines and automatic level control.",
            "encoding",
            "integrity",
            facts=[replace(steps, value=big)],
            values=places,
        )


def _first(places: list[str]) -> str:
    """Say the first few places, and how many more there are."""
    more = f" and {len(places) - SAID} more places" if len(places) > SAID + 1 else ""
    return "; ".join(places[: SAID if more else SAID + 1]) + more


def _cutoff(facts: Facts, rate: int) -> Iterator[Finding]:
    cutoff = facts.fact("signal.cutoff_hz")
    if cutoff is None or not cutoff.value or cutoff.value >= CUTOFF_SHARE * rate / 2:
        return
    yield finding(
        "benign",
        f"The sound holds nothing above {cutoff.value} Hz",
        f"At {rate} samples a second there is room up to {rate // 2} Hz. "
        + (
            "The format is lossless, so the sound was probably resampled, or decoded from MP3 or AAC."
            if _lossless(facts)
            else "Lossy encoders cut off the highest frequencies."
        ),
        "encoding",
        "integrity",
        facts=[cutoff],
        values=[f"{cutoff.value} Hz of {rate // 2} Hz"],
    )


def _grid(facts: Facts) -> Iterator[Finding]:
    """Tell sound without loss that was AAC before, and that its frames do not fall on one grid."""
    grid = facts.fact("signal.grid")
    if grid is None or not grid.value:
        return
    rows = grid.value
    breaks = [(a[1], b[0]) for a, b in pairwise(rows) if _apart(a[2], b[2]) > PEAK]
    yield finding(
        "benign",
        "The sound was AAC before",
        f"It is stored losslessly now, but from {rows[0][0]} s to {rows[-1][1]} s it shows the frames of 1024 samples "
        f"that an AAC encoder rounds ({rows[0][3]} times the usual spread). Phones record "
        "like this, and programs convert it.",
        "encoding",
        "origin",
        facts=[grid],
        values=[f"offset {offset}" for offset in dict.fromkeys(row[2] for row in rows)],
    )
    if breaks:
        places = [
            f"at about {a} s" if abs(b - a) < 0.01 else f"between {min(a, b)} s and {max(a, b)} s" for a, b in breaks
        ]
        yield finding(
            "suspect",
            "The recording was cut or joined after it had been encoded",
            "The frames of the AAC encoder that it went through begin at another sample from one stretch to the next: "
            f"{'; '.join(places[:6])}. In one recording they all lie on one grid of 1024 samples.",
            "encoding",
            "editing",
            facts=[grid],
            values=places,
            flags=("FILE_EDITED",),
        )


def _apart(first: int, second: int) -> int:
    """Return how many samples two offsets lie apart on the circle of a frame."""
    distance = (first - second) % FRAME
    return min(distance, FRAME - distance)


def _lossless(facts: Facts) -> bool:
    codecs = [str(f.value.get("codec")) for f in facts.all("stream.audio") if isinstance(f.value, dict)]
    return bool(codecs) and codecs[0].startswith(LOSSLESS)
