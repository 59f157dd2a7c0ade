"""Claims about recordings: former codecs, silence and copies that no microphone makes, jumps, changes of the noise.

What the decoded sound shows is told as benign, with two exceptions: digital silence inside a recording that was never
encoded with loss, and frames of an earlier AAC encoder that do not lie on one grid. Their false alarms on one-piece
recordings of human speech are in `tests/forensics/rules/test_audio_rates.py` and
`benchmarks/results/forensic_signals.md`.
A cut in sound that was never AAC stays unseen as a rule. The spectrum of the noise floor before and after a point was
tried and tells too little to be claimed: the benchmark has its figures.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from forensix.forensics.findings import Finding, finding
from forensix.forensics.rules import audio_joins, video_container
from forensix.metadata.av.aac_grid import FRAME, PEAK, SECOND_PEAK
from forensix.metadata.av.audio_signal import LOSSLESS, MOST, WHOLE
from forensix.metadata.facts import Fact, Facts

JUMP_RATIO = 40.0
SILENCE_S = 0.1
COARSE = 256
"""Steps up to the loudest sample, as 8 bits have them, among which the background of a recording is lost."""

ALIKE, ALIKE_RATIO = 3, 1.25
"""So many silences of which the longest is so many times the shortest are about equally long."""

TURNS_SHARE = 0.05
"""Of the recording: either channel alone holds nothing for this long where two people speak in a channel each."""

WHOLE_SHARE = 0.99
"""Of what is heard: a channel that holds nothing for so long holds nothing at all; times are rounded to packets."""

EDGE_S = 0.5
FLOOR_DB = 25.0
CUTOFF_SHARE = 0.89
TELEPHONE_HZ = 4700
"""Up to here the edge of 8 kHz sound is found: converters of the rate leave traces of what lay just below 4 kHz."""

SAID = 4
"""Places that a sentence names; the claim's values and the time line have them all."""


def rules(facts: Facts) -> Iterator[Finding]:
    """Yield what follows from the facts of a recording."""
    yield from video_container.rules(facts)
    yield from audio_joins.rules(facts)
    yield from signal(facts)


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
    yield from _copies(facts)
    yield from _one_channel(facts, seconds)
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
    if silences and any(s[1] >= 0.999 * seconds for s in silences.value):
        # What comes after the part that is measured is not known.
        silent = f"first {seconds:g} s of sound are digital silence"
        if silences.where == WHOLE:
            silent = "sound is digital silence throughout"
        yield finding(
            "benign",
            f"The {silent}",
            f"In the {seconds:g} s that were decoded not one sample differs from the next. Muted microphones, exports "
            "of an empty track and recordings whose sound was wiped are like this.",
            "encoding",
            "integrity",
            facts=[silences],
            values=[f"{seconds:g} s"],
            remark=f"the {silent}",
        )
        return
    # A codec with loss makes exact zeros of what is nearly silent; a recording that is mostly silent was gated.
    coarse = 0 < int(facts.get("signal.levels") or 0) <= COARSE
    gated = float(facts.get("signal.silent_s") or 0) >= 0.3 * seconds
    rounded = not _lossless(facts) or bool(facts.get("signal.grid")) or _low_cutoff(facts, rate) is not None
    usual = _usual_silence(facts, inside, seconds)
    clean = not (gated or coarse or rounded or usual)
    if silences and inside:
        places = [f"{s[0]} s for {s[1]} s" for s in inside]
        meaning = (
            f". Its loudest sample is {facts.get('signal.levels')} of its finest steps: sound in so few steps, as with "
            "8 bits or where it is very quiet, holds no faint background."
            if coarse
            else usual
            if usual
            else ", which no microphone records. Noise gates, muting, synthesis and inserted silence do; so "
            "do recorders of what a computer plays"
            + (", and encoders with loss, through which this sound has gone or may have." if rounded else ".")
        )
        yield finding(
            "suspect" if clean else "benign",
            f"Digital silence inside the recording ({len(inside)}{_or_more(silences.value)})",
            f"The samples do not change at all at {_first(places)}{meaning}",
            "encoding",
            "editing" if clean else "integrity",
            facts=[replace(silences, value=inside)],
            values=places,
        )
    jumps = facts.fact("signal.jumps")
    strong = [j for j in jumps.value if j[1] >= JUMP_RATIO and inside_s[0] < j[0] < inside_s[1]] if jumps else []
    if jumps and strong:
        # The strongest come first: where the last of them is weak, there are no more strong ones.
        more = _or_more(jumps.value) if jumps.value[-1][1] >= JUMP_RATIO else ""
        places = [f"{j[0]} s ({j[1]} times the usual)" for j in strong]
        yield finding(
            "benign",
            f"The waveform jumps at {len(strong)}{more} {'place' if len(strong) == 1 else 'places'}",
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


def _one_channel(facts: Facts, seconds: float) -> Iterator[Finding]:
    """Tell that of two channels only one is heard; where both are silent at once, neither is."""
    alone = facts.fact("signal.alone_silent_s")
    if alone is None or min(alone.value) > 0:
        return
    heard_s = seconds - float(facts.get("signal.silent_s") or 0)
    if max(alone.value) < WHOLE_SHARE * heard_s:
        return
    heard, silent = ("right", "left") if alone.value[0] else ("left", "right")
    yield finding(
        "benign",
        f"Only the {heard} channel holds sound",
        f"The {silent} one is digital silence throughout. Recorders with one microphone at two inputs leave this, and "
        "so do recordings of one side of a call, and taking a channel out: ask what the other one held.",
        "encoding",
        "integrity",
        facts=[alone],
        values=[f"{heard} channel"],
    )


def _usual_silence(facts: Facts, inside: list[list[float]], seconds: float) -> str:
    """Return why silences are not those that an editor puts in, as the end of a sentence; empty where they may be."""
    faint = facts.get("signal.faint_silences") or []
    lengths = [length for _, length in inside]
    if min(facts.get("signal.alone_silent_s") or [0]) >= TURNS_SHARE * seconds:
        return ". Its two channels fall silent in turn, as those of a call do that keeps each side in one of its own."
    if all(silence in faint for silence in inside):
        return ". Beside them the sound is within two of its finest steps: what is fainter yet is stored as silence."
    if len(lengths) >= ALIKE and max(lengths) <= ALIKE_RATIO * min(lengths):
        return ". They are about equally long, as the pauses of loops are, and those that a gate closes."
    return ""


def _or_more(places: Sequence[object]) -> str:
    return " or more" if len(places) >= MOST else ""


def _first(places: list[str]) -> str:
    """Say the first few places, and how many more there are."""
    more = f" and {len(places) - SAID} more places" if len(places) > SAID + 1 else ""
    return "; ".join(places[: SAID if more else SAID + 1]) + more


def _cutoff(facts: Facts, rate: int) -> Iterator[Finding]:
    cutoff = _low_cutoff(facts, rate)
    if cutoff is None:
        return
    yield finding(
        "benign",
        f"The sound holds nothing above {cutoff.value} Hz",
        f"At {rate} samples a second there is room up to {rate // 2} Hz. "
        + (
            "The format is lossless, so the sound was probably resampled, or decoded from MP3 or AAC."
            if _lossless(facts)
            else "Lossy encoders cut off the highest frequencies."
        )
        + (" So it is where it came over a telephone line." if cutoff.value <= TELEPHONE_HZ else ""),
        "encoding",
        "integrity",
        facts=[cutoff],
        values=[f"{cutoff.value} Hz of {rate // 2} Hz"],
    )


def _copies(facts: Facts) -> Iterator[Finding]:
    """Tell that a stretch of sound without loss occurs twice, sample for sample."""
    copies = facts.fact("signal.copies")
    if copies is None or not copies.value:
        return
    places = [f"{again} s as at {first} s, for {length} s" for first, again, length in copies.value]
    yield finding(
        "benign",
        f"Sound occurs a second time, sample for sample, at {len(places)}{_or_more(copies.value)} "
        f"{'place' if len(places) == 1 else 'places'}",
        f"At {_first(places)} or a little longer. No microphone hears the same twice to the last bit: it was copied "
        "there, as a word that is put in elsewhere is, or a program played it, as it does jingles, tones and loops.",
        "encoding",
        "editing",
        facts=[copies],
        values=places,
        remark="sound occurs a second time, sample for sample",
    )


def _low_cutoff(facts: Facts, rate: int) -> Fact | None:
    """Return where the sound ends below what its rate has room for, if it does."""
    cutoff = facts.fact("signal.cutoff_hz")
    return cutoff if cutoff and cutoff.value and cutoff.value < CUTOFF_SHARE * rate / 2 else None


def _grid(facts: Facts) -> Iterator[Finding]:
    """Tell sound without loss that was AAC before, and that its frames do not fall on one grid."""
    grid = facts.fact("signal.grid")
    if grid is None or not grid.value:
        return
    rows = grid.value
    # Two grids in one stretch are those of sound that was AAC twice, of which now the one stands out, now the other.
    single = [row for row in rows if row[4] < SECOND_PEAK]
    breaks = [(a[1], b[0]) for a, b in pairwise(single) if _apart(a[2], b[2]) > PEAK]
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
    codecs = [str(f.value.get("codec")) for f in facts.records("stream.audio")]
    return bool(codecs) and codecs[0].startswith(LOSSLESS)
