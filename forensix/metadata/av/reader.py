"""Facts of videos and recordings, by the container that holds them.

    container.format container.brand container.brands container.boxes   what kind of file, and the order of its parts
    container.movie.* container.track.N.* container.media.N.*           dates, lengths, codecs, edit lists
    container.tag.* container.muxing_app container.writing_app          what its writer says
    container.again container.after_end container.header_alone          another file inside, other bytes, no content
    container.former_index container.skipped container.unplayed         what players skip
    container.fragments container.fragments_missing                     the numbers of pieces of a recording
    id3.* id3v1.* ape.* lyrics3 vorbis.* mpeg.* adts.* flac.* riff.* ogg.* container.bext.*  recordings
    stream.encoder stream.encoder_starts stream.encoder_late                     inside the streams
    stream.video stream.audio stream.cover
    stream.subtitle stream.timecode container.chapters                  words beside picture and sound (`texts`)
    signal.*                                                            what the decoded sound shows (`audio_signal`)
    frames.*                                                            what the decoded frames show (`video_frames`)
    device.* gps.* xmp.* c2pa.*                                         as in every medium

The container is told by its first bytes. Every walk is bounded in depth, pieces and memory.
"""

import mmap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from forensix.media import tags
from forensix.metadata.av import bmff, bmff_tags, flv, matroska, mpeg_audio, riff, xiph
from forensix.metadata.av import streams as video_streams
from forensix.metadata.av.collector import FactCollector, iso6709
from forensix.metadata.blocks import c2pa
from forensix.metadata.facts import WHOLE, Facts, Problem

FAULTS = (ValueError, IndexError, KeyError, TypeError, AttributeError, OverflowError, RecursionError, ArithmeticError)
VIDEO = frozenset({"mp4", "mov", "mkv", "webm", "flv", "avi", "3gp", "m4v"})
WALKS: dict[str, Callable[[Any, FactCollector], None]] = {
    "bmff": bmff.walk,
    "matroska": matroska.walk,
    "avi": riff.walk,
    "wav": riff.walk,
    "flv": flv.walk,
    "mp3": mpeg_audio.walk_mp3,
    "adts": mpeg_audio.walk_adts,
    "flac": xiph.walk_flac,
    "ogg": xiph.walk_ogg,
}
BY_FORMAT = {
    "mp4": "bmff",
    "mov": "bmff",
    "m4v": "bmff",
    "3gp": "bmff",
    "m4a": "bmff",
    "mkv": "matroska",
    "webm": "matroska",
    "avi": "avi",
    "wav": "wav",
    "flv": "flv",
    "mp3": "mp3",
    "aac": "adts",
    "flac": "flac",
    "ogg": "ogg",
}
DEVICE = {
    "id3.txxx.make": "device.make",
    "container.tag.make": "device.make",
    "container.tag.model": "device.model",
    "container.tag.com.apple.quicktime.camera.lens_model": "device.lens",
    **{f"container.tag.{name}": key for name, key in bmff_tags.DEVICE.items()},
}
"""Tags that name the device, by their keys in small letters; Matroska has them in capitals."""


def sniff(head: bytes, format: str) -> str:
    """Name the container that the first bytes are of; where they tell nothing, the one that the format goes with."""
    if head[4:8] in (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip", b"pnot", b"styp", b"moof", b"sidx"):
        return "bmff"
    if head[:4] == b"\x1a\x45\xdf\xa3":
        return "matroska"
    if head[:4] in (b"RIFF", b"RF64", b"BW64"):
        return "avi" if head[8:11] == b"AVI" else "wav"
    known = {b"FLV": "flv", b"Ogg": "ogg", b"fLa": "flac"}
    if head[:3] in known:
        return known[head[:3]]
    return BY_FORMAT.get(format, "unknown")


def read(path: str, format: str) -> Facts:
    """Return the facts of a video or a recording; what is broken in it is a problem, never an error."""
    *_, facts = parts(path, format)
    return facts


def parts(path: str, format: str) -> Iterator[Facts]:
    """Yield what is known after each step, the facts of the container first: a later step may run out of time."""
    kind = "video" if format in VIDEO else "audio"
    facts = FactCollector()
    if Path(path).stat().st_size == 0:
        yield Facts(kind, format, problems=(Problem("The file is empty.", "file", 0),))
        return
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        container = sniff(bytes(data[:16]), format)
        facts.fact("container.format", container, "first bytes", 0)
        for step in _steps(path, format, kind, container, data, facts):
            try:
                step()
            except FAULTS as error:
                facts.problem(f"A part cannot be read: {type(error).__name__}: {str(error)[:200]}", "file")
            yield Facts(kind, format, tuple(facts.items), tuple(dict.fromkeys(facts.problems)), tuple(facts.nodes))


def _steps(
    path: str, format: str, kind: str, container: str, data: Any, facts: FactCollector
) -> Iterator[Callable[[], Any]]:
    if container in WALKS:
        yield lambda: WALKS[container](data, facts)
    yield lambda: _common(facts)
    # No demuxer here reads a stream with one header (ADIF), so nothing is decoded and nothing said of it.
    has_streams = format != "pcm" and bytes(data[:4]) != b"ADIF"
    if has_streams:
        yield lambda: video_streams.marks(data, facts)
    too_long = "The streams were not read, because that would take too long."
    if facts.exhausting:
        yield lambda: facts.problem(too_long, WHOLE, unread=True)
        return
    yield lambda: facts.items.extend(c2pa.read(path, format))
    if tags.are_too_many(data):
        yield lambda: facts.problem(too_long, WHOLE, unread=True)
    elif has_streams:
        yield from _stream_steps(path, kind, container, data, facts)


def _stream_steps(path: str, kind: str, container: str, data: Any, facts: FactCollector) -> Iterator[Callable[[], Any]]:
    from forensix.metadata.av import audio_signal, flac_checksum, gpmf, video_frames

    yield lambda: video_streams.packets(path, container, facts)
    yield lambda: _shortened(facts, len(data))
    yield lambda: flac_checksum.behind(path, container, data, facts)
    yield lambda: audio_signal.read(path, container, facts)
    yield lambda: flac_checksum.read(path, container, facts)
    if kind == "video":
        yield lambda: gpmf.read(path, facts)
        yield lambda: video_frames.read(path, container, facts)


def _common(facts: FactCollector) -> None:
    """Add the facts that have the same name in every medium."""
    for fact in list(facts.items):
        key = DEVICE.get(fact.key.lower())
        if key and facts.get(key) is None and isinstance(fact.value, str):
            facts.fact(key, fact.value, fact.where, fact.offset)
        if (
            fact.key in ("vorbis.LOCATION", "vorbis.GEO_LOCATION", "id3.TXXX.location")
            and facts.get("gps.latitude") is None
        ):
            point = iso6709(str(fact.value))
            if point:
                facts.fact("gps.latitude", point[0], fact.where, fact.offset)
                facts.fact("gps.longitude", point[1], fact.where, fact.offset)


def _shortened(facts: FactCollector, size: int) -> None:
    """Tell where the streams are much shorter, or the file is smaller, than a header says."""
    streams = [f.value for f in facts.items if f.key in ("stream.video", "stream.audio") and isinstance(f.value, dict)]
    if any(s.get("duration_s") is None for s in streams):
        streams = []
    # Headers count from 0, where a stream may begin later.
    ends = (float(s.get("duration_s") or 0) + max(0.0, float(s.get("start_s") or 0)) for s in streams)
    # The words of a last scene may stay until after the picture and the sound.
    texts = (f.value["ends_s"] for f in facts.items if f.key == "stream.subtitle")
    there = round(max([*ends, *texts], default=0.0), 3)
    for key in ("flac.duration_s", "container.tag.duration", "container.movie.duration_s"):
        stated = facts.get(key)
        # FLAC counts its samples; other headers round, or count a still ending.
        share, slack_s = (0.99, 0.05) if key.startswith("flac") else (0.9, 0.5)
        if streams and there and isinstance(stated, int | float) and there < share * stated - slack_s:
            facts.problem(f"The header says that it lasts {stated} s, but the streams end after {there} s.", key)
            break
    else:
        if streams and not there and (facts.get("flac.duration_s") or 0) > 0:
            facts.problem("The header states sound, but no frame of it can be read.", "frames")
    stated = facts.get("container.tag.filesize")
    if isinstance(stated, int | float) and stated > size:
        facts.problem(
            f"The header says that the file has {stated:.0f} bytes, but it has {size}: it was cut off.", "onMetaData"
        )
