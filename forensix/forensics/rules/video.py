"""Claims about videos: streams, gaps, repeated frames, and what the container says.

Gaps count only in streams of a constant rate, and are suspect where whole groups of frames are missing: recorders leave
out frames by themselves, but not from key frame to key frame. That frames differ less than their neighbours is told and
no more; that they were probably encoded before as well: too few videos were measured to hold its false alarms under one
in twenty (``benchmarks/results/forensic_signals.md``). A video that lost its tags is told as such and never suspected
for it.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from forensix.forensics.findings import Finding, finding, place
from forensix.forensics.rules import (
    audio,
    video_container,
    video_encoders,
    video_fragments,
    video_pictures,
    video_tags,
    video_texts,
)
from forensix.metadata.facts import Facts

FORMER_HEIGHT = 6.0
LONG_S = 0.25
"""Recorders leave out single frames; where as long a time or more is missing, it is told on top of a report."""
LENGTH_S = 1.0
LENGTH_SHARE = 0.05
SAME_RATE = 0.01
"""Up to so much the average of a rate is taken for the usual one: streams begin and end inside a frame."""
CAMERA = re.compile(r"GoPro (AVC|H265|HEVC)")
"""What cameras that encode in hardware write as the encoder of a track of pictures."""


def rules(facts: Facts) -> Iterator[Finding]:
    """Yield what follows from the facts of a video."""
    yield from video_container.rules(facts)
    yield from _streams(facts)
    yield from _sound_alone(facts)
    yield from _gaps(facts)
    yield from video_fragments.rules(facts)
    yield from _frames(facts)
    yield from video_pictures.rules(facts)
    yield from video_texts.rules(facts)
    yield from _compared(facts)
    yield from _former_groups(facts)
    yield from _lengths(facts)
    yield from audio.signal(facts)


def _records(facts: Facts, kind: str) -> list[dict[str, Any]]:
    return [f.value for f in facts.records(f"stream.{kind}")]


def _streams(facts: Facts) -> Iterator[Finding]:
    videos, sounds = _records(facts, "video"), _records(facts, "audio")
    tracks = facts.fact("container.tracks")
    kinds = tracks.value if tracks and isinstance(tracks.value, list) else None
    if not videos and (sounds or (kinds is not None and "video" not in kinds)):
        if sounds or (kinds and "audio" in kinds):
            holds = "sound only"
        else:
            holds = f"{', '.join(dict.fromkeys(kinds))} tracks only" if kinds else "no track at all"
        yield finding(
            "benign",
            "The video holds no picture",
            f"The container is one for videos, but it holds {holds}.",
            "format",
            "integrity",
            facts=[tracks] if tracks else list(facts.all("stream.audio")),
            values=[holds],
        )
    for fact in facts.records("stream.video"):
        record = fact.value
        if not record.get("packets"):
            continue
        keys = record.get("key_interval_s")
        values = [
            f"{record['codec']} {record.get('profile') or ''}".strip(),
            f"{record['width_px']} x {record['height_px']}",
            *([_turned(record)] if record.get("rotation_deg") else []),
            *([f"a pixel is {record['pixel_ratio']:.3g} times as wide as high"] if "pixel_ratio" in record else []),
            *([_rate(record)] if record.get("rate_hz") else []),
            *([f"{record['kbps']} kbit/s"] if record.get("kbps") else []),
            *([f"key frames every {' to '.join(dict.fromkeys(f'{k:g}' for k in keys))} s"] if keys else []),
        ]
        yield finding(
            "benign",
            f"The picture is encoded as {values[0]} of {values[1]} pixels",
            f"{place(fact)}: {', '.join(values)}. It describes the stream and says nothing of what it shows.",
            "encoding",
            "origin",
            facts=[fact],
            values=values,
        )


def _rate(record: dict[str, Any]) -> str:
    usual, average = float(record["rate_hz"]), float(record.get("average_hz") or record["rate_hz"])
    if abs(average / usual - 1) <= SAME_RATE:
        return f"{usual} frames/s"
    return f"{usual} frames/s from most frames to the next, {average} on average"


def _turned(record: dict[str, Any]) -> str:
    degrees, size = record["rotation_deg"], (record["width_px"], record["height_px"])
    width, height = size[::-1] if degrees % 180 else size
    return f"shown turned by {degrees} degrees clockwise, as {width} x {height}"


def _sound_alone(facts: Facts) -> Iterator[Finding]:
    """Tell where a library encoded the sound and a camera the picture: cameras encode both by themselves."""
    camera = [f for f in facts.items if f.key == "container.compressor" and CAMERA.match(str(f.value))]
    camera = camera or facts.firsts(("device.make", "device.model"))
    sound = facts.fact("stream.audio")
    encoder = sound.value.get("encoder") if sound and isinstance(sound.value, dict) else None
    in_software = any(video_encoders.SOFTWARE_ENCODER.match(str(f.value)) for f in facts.all("stream.encoder"))
    if not camera or not sound or not encoder or in_software or not _records(facts, "video"):
        return
    names = " ".join(dict.fromkeys(str(f.value) for f in camera))
    if video_encoders.LIBRARIES.match(encoder) and not video_tags.OWN_LIBRARIES.search(names):
        yield finding(
            "suspect",
            "The sound does not come from the encoder of the picture",
            f"{place(sound)}: {str(encoder)[:60]} encoded the sound. {place(camera[0])} names {names}, and no library "
            "left its text in the picture. A camera encodes both by itself, so the sound was encoded anew or another "
            "was put in its place. Programs that convert the sound alone leave this too.",
            "encoding",
            "editing",
            facts=[sound, *camera],
            values=[f"sound: {encoder}", f"picture: {names}"],
            flags=("FILE_EDITED",),
        )


def _gaps(facts: Facts) -> Iterator[Finding]:
    silent = [(s, s + length) for record in _records(facts, "audio") for s, length in record.get("gaps") or ()]
    for fact in facts.records("stream.video"):
        gaps = fact.value.get("gaps")
        if not gaps:
            continue
        step_s = 1 / float(fact.value.get("rate_hz") or 25)
        cut = [g for g in gaps if len(g) > 2 and g[2]]
        told = cut or gaps
        places = [f"{g[0]} s: {g[1]} {'frame' if g[1] == 1 else 'frames'}" for g in told]
        where = f"at {len(told)} {'place' if len(told) == 1 else 'places'}"
        unheard = sum(any(a < g[0] + (g[1] + 1) * step_s and b > g[0] for a, b in silent) for g in told)
        heard = f" The sound is missing at {unheard} of {len(told)} too." if unheard else ""
        first = f"{'; '.join(places[:6])}{f' and {len(places) - 6} more' if len(places) > 6 else ''}"
        long = [g for g in told if g[1] * step_s >= LONG_S]
        if cut:
            claim = f"Whole groups of frames are missing {where}"
            explanation = (
                f"The times jump: {first}. Both ends lie at key frames, on the step that all others keep, so frames "
                "were taken out, or lost in a transfer, after they had been encoded. A recorder that pauses does so "
                "anywhere between two key frames."
            )
        else:
            claim = f"The picture has no frames for a while {where}"
            explanation = (
                f"The stream keeps a constant rate, but its times jump: {first}. A screen recorder writes no frame "
                "while nothing moves; cameras and phones leave some out when recording is paused or they cannot keep "
                "up. Cutting frames out and leaving the times as they are looks the same."
            )
        yield finding(
            "suspect" if cut else "benign",
            claim,
            explanation + heard,
            "encoding",
            "editing" if cut else "integrity",
            facts=[replace(fact, offset=told[0][3] if len(told[0]) > 3 else None)],
            values=places,
            flags=("FILE_EDITED",) if cut else (),
            remark=f"{long[0][1]} frames are missing at {long[0][0]} s" if long and not cut else "",
        )
    for fact in facts.records("stream.audio"):
        if gaps := fact.value.get("gaps"):
            places = [f"{g[0]} s: {g[1]} s" for g in gaps]
            yield finding(
                "benign",
                f"Sound is missing at {len(gaps)} {'place' if len(gaps) == 1 else 'places'}",
                f"The times of the sound jump: {'; '.join(places[:6])}.",
                "encoding",
                "integrity",
                facts=[fact],
                values=places,
            )


def _frames(facts: Facts) -> Iterator[Finding]:
    stretch = facts.fact("frames.repeated_stretch")
    if stretch:
        first, second, length = stretch.value
        yield finding(
            "suspect",
            "A stretch of the video comes twice",
            f"{length} moving frames from {first} s on come again, exactly, from {second} s on. A camera does not "
            "record the same frames twice; a loop in an animation does repeat.",
            "pixels",
            "editing",
            facts=[stretch],
            values=[f"{first} s", f"{second} s", f"{length} frames"],
            flags=("FILE_EDITED",),
        )
    doubled, count = facts.fact("frames.doubled"), facts.get("frames.n_doubled")
    compared = facts.get("frames.compared")
    if doubled and count and compared:
        places = [f"{row[1]} s" for row in doubled.value]
        yield finding(
            "benign",
            f"{count} of {compared} frames repeat{'s' if count == 1 else ''} the frame before",
            "Single frames repeat exactly while the picture moves. A change of the frame rate does this at even steps, "
            "a recorder under load at uneven ones; so does filling a cut with frames.",
            "encoding",
            "integrity",
            facts=[doubled],
            values=places,
        )


def _compared(facts: Facts) -> Iterator[Finding]:
    """Tell where only the beginning of a video was looked at."""
    until, compared = facts.fact("frames.compared_until_s"), facts.get("frames.compared")
    n_packets = max((int(record.get("packets") or 0) for record in _records(facts, "video")[:1]), default=0)
    if until and compared and n_packets > compared:
        yield finding(
            "benign",
            f"Frames were compared in the first {until.value:g} s only",
            f"Frames that repeat and an earlier encoding were looked for in {compared} of {n_packets} frames, "
            "since decoding all takes long. A stretch that comes twice was looked for in all, as it was encoded.",
            "encoding",
            "integrity",
            facts=[until],
            values=[f"{compared} of {n_packets} frames"],
        )


def is_encoded_again(measured: dict[str, Any]) -> bool:
    """Tell whether a period among the sizes of frames is claimed to be that of an earlier encoding."""
    return bool(measured["height"] >= FORMER_HEIGHT)


def _former_groups(facts: Facts) -> Iterator[Finding]:
    near, count = facts.fact("frames.near_copies"), facts.get("frames.n_near_copies")
    if near and count and not facts.fact("frames.doubled"):
        places = [f"{row[1]} s" for row in near.value]
        yield finding(
            "benign",
            f"{count} {'frame hardly differs' if count == 1 else 'frames hardly differ'} from the frame before",
            f"At {'; '.join(places[:6])} the picture stands still for one frame while it moves before and after. "
            "Frames that were doubled and encoded again look like this; so do frames that a camera lost.",
            "encoding",
            "integrity",
            facts=[near],
            values=places,
        )
    groups = facts.fact("frames.former_groups")
    if groups and is_encoded_again(groups.value):
        value = groups.value
        yield finding(
            "benign",
            "The video was probably encoded before",
            f"Every {value['frames']} frames, from frame {value['first']} on, a predicted frame is larger than its "
            f"neighbours ({value['height']} standard errors), while key frames follow another step. Groups of an "
            "earlier encoding leave this when a video is encoded again; so may content that comes back at that step.",
            "encoding",
            "integrity",
            facts=[groups],
            values=[f"every {value['frames']} frames"],
        )


def _lengths(facts: Facts) -> Iterator[Finding]:
    videos, sounds = _records(facts, "video"), _records(facts, "audio")
    for video in videos[:1]:
        for sound in sounds[:1]:
            a, b = video.get("duration_s") or 0, sound.get("duration_s") or 0
            if a and b and abs(a - b) > max(LENGTH_S, LENGTH_SHARE * max(a, b)):
                yield finding(
                    "benign",
                    "Picture and sound differ in length",
                    f"The picture lasts {a} s, the sound {b} s. Cutting one without the other leaves this; so do still "
                    "endings.",
                    "encoding",
                    "integrity",
                    facts=[*facts.all("stream.video"), *facts.all("stream.audio")][:4],
                    values=[f"picture {a} s", f"sound {b} s"],
                )
