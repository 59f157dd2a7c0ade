"""Streams of a video or a recording: what encoders write into them, how their packets follow each other in time.

Packets are read, not decoded. A gap is told where a stream that keeps a constant rate jumps by more than 1.6
frames, with the time from where the file begins to play; streams with a free rate have none.
"""

import re
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

import av
import numpy as np

from forensix.media.played import begins_s, codec_name, in_order, is_cover
from forensix.metadata.av import video_copies
from forensix.metadata.av.collector import FactCollector, text
from forensix.metadata.av.texts import Subtitles

PACKETS = 300_000
MARKS = (
    ("x264", re.compile(rb"x264 - core \d+[\x20-\x7e]{0,900}")),
    ("x265", re.compile(rb"x265 \(build \d+\)[\x20-\x7e]{0,900}")),
    ("Lavc", re.compile(rb"Lavc\d{2}\.\d{1,3}\.\d{1,3}(?: [a-z0-9_]{2,20})?")),
    ("Lavf", re.compile(rb"Lavf\d{2}\.\d{1,3}\.\d{1,3}")),
    ("LAME", re.compile(rb"LAME ?3\.\d{2,3}(?:\.\d)?(?: ?\((?:alpha|beta)[^)]{0,12}\))?")),
    ("SVT-AV1", re.compile(rb"SVT-AV1[\x20-\x7e]{0,80}")),
    ("HandBrake", re.compile(rb"HandBrake \d+\.\d+[\x20-\x7e]{0,40}")),
)
BEGINS = "x264"
"""An encoder that leaves its text where it begins and nowhere else."""

MAX_LISTED = 8
MAX_STARTS = 50
ANEW_S = 1.0
"""Time stamps that fall back by more begin anew."""

MIN_GROUPS, MIN_GROUP = 3, 8
"""How many groups must have one length, and how many frames each, for a place between two to be no chance."""

DEMUXERS = {
    "bmff": "mov",
    "matroska": "matroska",
    "flv": "flv",
    "avi": "avi",
    "wav": "wav",
    "mp3": "mp3",
    "adts": "aac",
    "ogg": "ogg",
    "flac": "flac",
}
"""The one demuxer that each container is opened with: a playlist inside it is never followed."""


def open_as(demuxer: str, path: str) -> Any:
    """Open a file with one demuxer, which reaches nothing but files."""
    options = {"protocol_whitelist": "file", "format_whitelist": demuxer}
    return av.open(path, format=demuxer, options=options, metadata_errors="replace")


def marks(data: Any, facts: FactCollector) -> None:
    """Find the names that encoders leave inside the stream (``stream.encoder``), each once with its settings.

    Where one that leaves its text where it begins did so more than once, ``stream.encoder_starts`` has the places.
    """
    told = {f.offset: f.value for f in facts.items if isinstance(f.value, str)}
    for name, pattern in MARKS:
        places: dict[str, int] = {}
        starts: list[int] = []
        for counted, match in enumerate(pattern.finditer(data)):
            encoder, whole = text(match.group()), told.get(match.start())
            # Text that the walk read at this place ends where the container says; bytes behind it may look like more.
            if whole and encoder.startswith(whole):
                encoder = whole
            if name == BEGINS and len(starts) <= MAX_STARTS:
                starts.append(match.start())
            # Padding cuts the name off where it ends: LAME3.10 is LAME3.100.
            if not any(other.startswith(encoder) for other in places):
                places[encoder] = match.start()
            if len(places) > MAX_LISTED or counted > 2000:
                break
        if len(starts) > 1:
            facts.fact(
                "stream.encoder_starts", starts[:MAX_STARTS], f"encoder's text in the stream ({name})", starts[1]
            )
        for encoder, at in places.items():
            facts.fact("stream.encoder", encoder, f"encoder's text in the stream ({name})", at)


def packets(path: str, container: str, facts: FactCollector) -> None:
    """Read the packets of all streams into ``stream.video`` and ``stream.audio``, one dict each.

    What a player starts with comes first; pictures that are attached are ``stream.cover``.
    """
    demuxer = DEMUXERS.get(container)
    if demuxer is None:
        return
    try:
        with open_as(demuxer, path) as opened:
            _streams(opened, container, facts)
    except (av.FFmpegError, OSError, ValueError, EOFError) as error:
        if facts.get("container.header_alone"):
            return
        reason = getattr(error, "strerror", None) or str(error).replace(path, "the file")
        # Of an MP3 file without any frame the walk has told that.
        if container != "mp3" or facts.get("mpeg.frames"):
            facts.problem(f"The streams cannot be read: {reason[:200]}.", "streams")


def _streams(opened: Any, container: str, facts: FactCollector) -> None:
    times: dict[int, list[float]] = {}
    lengths: dict[int, list[float]] = {}
    played: dict[int, list[tuple[float, float]]] = {}
    keys: dict[int, list[float]] = {}
    sizes: Counter[int] = Counter()
    copies: dict[int, list[tuple[int, int, float]]] = {}
    bytes_at: dict[int, dict[float, int]] = {}
    ends_s: dict[int, float] = {}
    later_s: dict[int, float] = {}
    last_s: dict[int, float] = {}
    texts = {f.offset: f.value for f in facts.items if f.key == "stream.encoder" and f.offset is not None}
    encoders: dict[int, str] = {}
    first_at = next((f.offset for f in facts.items if f.key == "stream.encoder" and BEGINS in f.where), None)
    timeless = {f.key.split(".")[2] for f in facts.items if f.key.endswith(".timescale") and f.value == 0}
    broken, begins, is_whole = 0, begins_s(opened), True
    subtitles = Subtitles()
    for n, packet in enumerate(_packets(opened, facts)):
        if n > PACKETS:
            is_whole = False
            facts.problem(f"There are more than {PACKETS} packets; the rest was not read.", "streams", unread=True)
            break
        if packet.pts is None or packet.time_base is None:
            continue
        if packet.pos is not None:
            inside = [name for at, name in texts.items() if packet.pos <= at < packet.pos + packet.size]
            if inside:
                encoders.setdefault(packet.stream_index, inside[0])
        index, at_s = packet.stream_index, float(packet.pts * packet.time_base) - begins
        sent_s = float((packet.pts if packet.dts is None else packet.dts) * packet.time_base)
        if sent_s < last_s.get(index, sent_s) - ANEW_S:
            # The time stamps begin anew, as where recordings were joined: time goes on.
            later_s[index] = ends_s[index] - at_s
        last_s[index] = sent_s
        at_s += later_s.get(index, 0.0)
        ends_s[index] = max(ends_s.get(index, at_s), at_s + float((packet.duration or 0) * packet.time_base))
        subtitles.add(packet, at_s)
        if packet.stream.type == "video":
            if packet.pos is not None:
                if first_at is not None and packet.pos <= first_at < packet.pos + packet.size and copies.get(index):
                    facts.fact("stream.encoder_late", round(at_s, 3), f"stream {index}", first_at)
                bytes_at.setdefault(index, {})[at_s] = packet.pos
            copies.setdefault(index, []).append((zlib.crc32(packet), packet.size, at_s))
        times.setdefault(index, []).append(at_s)
        lengths.setdefault(index, []).append(float((packet.duration or 0) * packet.time_base))
        # What an edit list leaves out is decoded and not shown.
        if not packet.is_discard:
            played.setdefault(index, []).append((at_s, at_s + lengths[index][-1]))
            sizes[index] += packet.size
        broken += packet.is_corrupt
        if packet.is_keyframe:
            keys.setdefault(index, []).append(at_s)
    # Samples have no packets: what FFmpeg marks is the last block that it cut from samples of unknown length.
    if broken and container != "wav":
        marked = "packet is" if broken == 1 else "packets are"
        facts.problem(f"{broken} {marked} marked as damaged.", "streams")
    for stream in opened.streams.video:
        if is_cover(stream):
            context = stream.codec_context
            size = f" of {context.width} x {context.height} pixels" if context and context.width else ""
            facts.fact("stream.cover", f"{codec_name(stream) or 'picture'}{size}", f"stream {stream.index}")
    for stream in [*in_order(opened.streams.video), *in_order(opened.streams.audio)]:
        when = np.sort(np.array(times.get(stream.index, []), dtype=np.float64))
        spans = np.array(played.get(stream.index, []), dtype=np.float64).reshape(-1, 2)
        record: dict[str, Any] = {
            "codec": codec_name(stream) or "unknown",
            "profile": str(stream.profile or "") if stream.codec_context else "",
            "packets": len(when),
            "start_s": round(float(spans[:, 0].min()) + begins, 3) if len(spans) else None,
            "duration_s": round(float(spans[:, 1].max() - spans[:, 0].min()), 3) if len(spans) else 0.0,
        }
        if stream.index in encoders:
            record["encoder"] = encoders[stream.index]
        # Where a track says that a second has no units of time, what FFmpeg counts with instead means nothing.
        has_time = str(stream.index + 1) not in timeless
        if not is_whole or not has_time:
            record["duration_s"] = None
        elif record["duration_s"] > 0:
            record["kbps"] = round(sizes[stream.index] * 8 / record["duration_s"] / 1000, 1)
        if stream.type == "video":
            context = stream.codec_context
            record |= {"width_px": context.width if context else 0, "height_px": context.height if context else 0}
            if turn := facts.get(f"container.track.{stream.index + 1}.rotation_deg"):
                record["rotation_deg"] = turn
            if (ratio := stream.sample_aspect_ratio) and ratio != 1:
                record["pixel_ratio"] = round(float(ratio), 4)
            began = np.sort(np.array(keys.get(stream.index, [])))
            record |= _rhythm(when, began) if has_time else {"gaps": []}
            placed = bytes_at.get(stream.index, {})
            record["gaps"] = [[*gap, _byte_behind(gap[0], when, placed)] for gap in record["gaps"]]
            if record.get("rate_hz") and record["duration_s"]:
                record["average_hz"] = round(len(spans) / record["duration_s"], 3)
            groups = np.diff(began)
            sums, n_bytes, at = zip(*copies.get(stream.index, [(0, 0, 0.0)]), strict=True)
            again = video_copies.stretch(sums, n_bytes, record["width_px"] * record["height_px"])
            if again and facts.get("frames.repeated_stretch") is None:
                twice = [round(at[again[0]], 3), round(at[again[1]], 3), again[2]]
                facts.fact("frames.repeated_stretch", twice, f"packets of stream {stream.index}")
            if len(groups) and has_time:
                record["key_interval_s"] = [round(float(groups.min()), 3), round(float(groups.max()), 3)]
        else:
            context = stream.codec_context
            record |= {"rate_hz": context.rate if context else 0, "channels": context.channels if context else 0}
            # Without its codec nobody knows how long its packets last.
            own_lengths = lengths.get(stream.index, [])
            record["gaps"] = _audio_gaps(times.get(stream.index, []), own_lengths) if context and has_time else []
        facts.fact(f"stream.{stream.type}", record, f"stream {stream.index}")
        for key, value in list((stream.metadata or {}).items())[:40]:
            if key.lower() in ("encoder", "handler_name", "creation_time", "vendor_id"):
                facts.fact(f"stream.tag.{key.lower()}", str(value), f"stream {stream.index}")
        if stream.codec_context is None:
            facts.problem(
                f"The {stream.type} stream {stream.index} is of a codec that there is no decoder for here.",
                f"stream {stream.index}",
                unread=True,
            )
        if not len(when) and not facts.get("container.header_alone"):
            facts.problem(
                f"The {stream.type} stream {stream.index} holds no packet.", f"stream {stream.index}", grave=False
            )
    subtitles.tell(opened, facts)


def _packets(opened: Any, facts: FactCollector) -> Iterator[Any]:
    """Yield packets as far as they can be read."""
    n = 0
    try:
        for packet in opened.demux():
            n += 1
            yield packet
    except av.FFmpegError as error:
        # Fewer bytes than a header has, at the end of ADTS, are told as the frame that is cut off.
        if (
            not n
            or facts.get("container.format") != "adts"
            or not any(f.key == "adts.ends_inside" for f in facts.items)
        ):
            facts.problem(f"The streams cannot be read to their end: {error.strerror}.", "streams")


def _rhythm(when: np.ndarray, keys: np.ndarray) -> dict[str, Any]:
    """Return frame rate, how constant it is, and the places where frames are missing.

    Each of ``gaps`` is the time of the frame before, how many frames are missing, and whether they are whole groups of
    those that go from key frame to key frame; where the next packet lies in the file is added to them.
    """
    if len(when) < 8:
        return {"gaps": []}
    steps = np.diff(when)
    usual = float(np.median(steps))
    if usual <= 0:
        return {"gaps": []}
    is_usual = np.abs(steps - usual) < 0.02 * usual + 0.0011
    constant = float(np.mean(is_usual))
    # Where times are written in whole milliseconds, each step alone is off by up to one.
    rate_hz = 1 / float(steps[is_usual].mean())
    out: dict[str, Any] = {"rate_hz": round(rate_hz, 3), "constant": round(constant, 3), "gaps": []}
    places = np.flatnonzero(steps > 1.6 * usual)
    out["doubled"] = int(np.count_nonzero(steps <= 0.02 * usual))
    if constant > 0.9:
        out["gaps"] = [
            [
                round(float(when[i]), 3),
                round(float(steps[i] / usual) - 1),
                _is_of_groups(float(when[i]), float(when[i + 1]), keys, 1 / rate_hz),
            ]
            for i in places[:20]
        ]
    return out


def _byte_behind(time_s: float, when: np.ndarray, bytes_at: dict[float, int]) -> int | None:
    """Return where the first packet after a time lies in the file."""
    later = when[when > time_s + 0.001]
    return bytes_at.get(float(later[0])) if len(later) else None


def _is_of_groups(before_s: float, after_s: float, keys: np.ndarray, frame_s: float) -> bool:
    """Tell whether whole groups are missing between two frames: the key frames keep their step across the gap.

    A recorder that pauses, or writes no frame while nothing moves, does so anywhere between two key frames, and its
    next one comes after as many frames, or as much time, as ever.
    """
    inside = (keys[:-1] < before_s) & (keys[1:] >= after_s - frame_s / 2)
    groups = np.diff(keys)[~inside]
    if len(groups) < MIN_GROUPS or np.ptp(groups) > frame_s / 2 or groups.mean() < MIN_GROUP * frame_s:
        return False
    group_s, last_s = float(groups.mean()), float(keys[keys <= before_s].max(initial=-np.inf))
    is_whole = abs(before_s + frame_s - last_s - group_s) < frame_s / 2
    at_key = bool(np.abs(keys - after_s).min() < frame_s / 2)
    n_groups = (after_s - last_s) / group_s
    return is_whole and at_key and abs(n_groups - round(n_groups)) * group_s < frame_s / 2


def _audio_gaps(when: list[float], lengths: list[float]) -> list[list[float]]:
    """Return the places where sound is missing between packets: ``[time, seconds]``, at least two packets long."""
    if len(when) < 4:
        return []
    order = np.argsort(when, kind="stable")
    shown, spans = np.array(when)[order], np.array(when)[order] + np.array(lengths)[order]
    usual = float(np.median(lengths)) or 0.02
    holes = shown[1:] - spans[:-1]
    return [[round(float(spans[i]), 3), round(float(holes[i]), 3)] for i in np.flatnonzero(holes > 2 * usual)[:20]]
