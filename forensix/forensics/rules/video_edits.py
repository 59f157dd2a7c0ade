"""Claims on edit lists: what of a track is played. Cutting without encoding again leaves the rest inside.

Encoders let playing begin some frames late, and the tracks of a file end beside each other; neither is told. In 73
videos of phones, cameras, dashcams and services with such lists at most 0.07 s is left out, always of the sound; in
what FFmpeg encodes at 1 to 60 frames/s and 8 to 48 kHz nothing of the picture and at most 0.13 s of the sound. So from
0.25 s on it is told, and a beginning from 1 s on is suspect.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from forensix.forensics.findings import Finding, finding, place
from forensix.metadata.facts import Facts

LEFT_OUT_S = 1.0
SHORT_S = 0.25
PRIMING, SLOWEST_HZ = 2112, 8000
"""What encoders of AAC put before the sound, in samples, where the units of a track are those."""
GAP_S = 0.25
"""Encoders and muxers leave out up to some frames of delay; less than this between two stretches is no cut."""


def rules(facts: Facts) -> Iterator[Finding]:
    """Yield the claims on stretches that are played apart, and on a beginning or an end that is not played."""
    hidden, several, behind = [], [], []
    most_s = 0.0
    texts: dict[int, str] = {}
    for fact in facts.items:
        match = re.fullmatch(r"container\.track\.(\d+)\.edits", fact.key)
        if not match or not isinstance(fact.value, list):
            continue
        scale = facts.get(f"container.media.{match.group(1)}.timescale") or 1
        first = max(0, facts.get(f"container.media.{match.group(1)}.first_shown") or 0)
        # Each is the length played, where it begins in the track, and the speed where it is not the recorded one; a
        # beginning of -1 is a pause, a length of 0 the rest of the track.
        parts = [(row[0], max(0, row[1] - first) / scale) for row in fact.value if len(row) >= 2 and row[1] >= 0]
        is_plain = all(len(row) == 2 and (row[0] or row[1] < 0) for row in fact.value)
        left = (facts.get(f"container.media.{match.group(1)}.duration_s") or 0) - sum(parts[-1]) if parts else 0
        short_s = SHORT_S
        if facts.get(f"container.media.{match.group(1)}.kind") == "soun" and scale >= SLOWEST_HZ:
            short_s = max(short_s, 1.1 * PRIMING / scale)
        if any(abs(b[1] - a[1] - a[0]) >= GAP_S for a, b in pairwise(parts)):
            several.append(fact)
            texts[id(fact)] = "; ".join(f"{length} s from {start:.2f} s" for length, start in parts[:20])
        elif parts and parts[0][1] >= short_s:
            hidden.append(fact)
            most_s = max(most_s, parts[0][1])
            texts[id(fact)] = f"begins at {parts[0][1]:.2f} s"
        elif is_plain and left >= short_s:
            behind.append(fact)
            texts[id(fact)] = f"ends {left:.2f} s before the track does"
    for edits, severity, claim, why in (
        (
            several,
            "suspect",
            "The recording is played in parts",
            "The edit list names several stretches of the track, so parts are left out or moved",
        ),
        (
            hidden,
            "suspect" if most_s >= LEFT_OUT_S else "benign",
            "The beginning of the recording is hidden",
            "Playing starts later than the track does, as after trimming",
        ),
        (
            behind,
            "benign",
            "The end of the recording is hidden",
            "Playing stops before the track does, as after trimming",
        ),
    ):
        if edits:
            yield finding(
                severity,  # type: ignore[arg-type]
                claim,
                f"{place(edits[0])}: {why} ({texts[id(edits[0])]}); what is left out may still be in the file. "
                "Trimming on a phone does this, without any other change.",
                "versions",
                "editing",
                facts=edits,
                values=[texts[id(f)] for f in edits],
                flags=("FILE_EDITED",) if severity == "suspect" else (),
            )
