"""Words beside picture and sound: subtitles, chapters, and the time code that a recording counts from.

    stream.subtitle    codec, language, how many pieces hold something, the first of them (``[time in s, text]``), and
                       when the last is over
    stream.timecode    hours:minutes:seconds:frames of the first frame, with ``;`` where numbers are dropped
    container.chapters the first chapters: ``[time in s, title]``

References
----------
3GPP TS 26.245 (timed text), RFC 9559 5.1.4.1.28 (subtitles), Apple, "QuickTime File Format Specification" (``tmcd``).
"""

import re
from typing import Any

from forensix.media.played import codec_name
from forensix.metadata.av.collector import FactCollector, text

LINES, LETTERS, CHAPTERS = 20, 200, 20
RAW_BYTES = 4096
"""So many bytes of a piece are looked at."""

OF_WORDS = frozenset({"mov_text", "subrip", "ass", "ssa", "webvtt", "text", "ttml"})
"""Subtitles that are no pictures."""

MARKUP = re.compile(r"<[^<>]{1,80}>|\{\\[^{}]{1,80}\}")
TIMECODE = re.compile(r"\d\d:\d\d:\d\d[:;.]\d\d+")


class Subtitles:
    """Collect the first pieces of text from the packets of a file."""

    def __init__(self) -> None:
        self._n: dict[int, int] = {}
        self._ends_s: dict[int, float] = {}
        self._lines: dict[int, list[list[Any]]] = {}
        self._at: dict[int, int] = {}
        self._data_at: dict[int, int] = {}

    def add(self, packet: Any, at_s: float) -> None:
        """Keep what a packet says; those of picture and sound are passed over."""
        index, kind = packet.stream_index, packet.stream.type
        if kind == "data" and packet.pos is not None:
            self._data_at.setdefault(index, packet.pos)
        if kind != "subtitle":
            return
        over_s = at_s + float((packet.duration or 0) * packet.time_base)
        self._ends_s[index] = max(self._ends_s.get(index, 0.0), over_s)
        codec = codec_name(packet.stream) or ""
        words = said(codec, bytes(memoryview(packet)[:RAW_BYTES])) if codec in OF_WORDS else ""
        # Between two pieces of text MP4 has empty ones.
        if not words and codec in OF_WORDS:
            return
        self._n[index] = self._n.get(index, 0) + 1
        if packet.pos is not None:
            self._at.setdefault(index, packet.pos)
        lines = self._lines.setdefault(index, [])
        if words and len(lines) < LINES:
            lines.append([round(at_s, 3), words[:LETTERS]])

    def tell(self, opened: Any, facts: FactCollector) -> None:
        """Add the facts of all streams."""
        for stream in opened.streams:
            where, said_of = f"stream {stream.index}", stream.metadata or {}
            if stream.type == "subtitle":
                language = str(said_of.get("language") or "")
                record = {
                    "codec": codec_name(stream) or "unknown",
                    "language": "" if language == "und" else language[:40],
                    "pieces": self._n.get(stream.index, 0),
                    "lines": self._lines.get(stream.index, []),
                    "ends_s": round(self._ends_s.get(stream.index, 0.0), 3),
                }
                facts.fact("stream.subtitle", record, where, self._at.get(stream.index))
            code = str(said_of.get("timecode") or "")
            # What belongs to a picture is copied to it from the track that holds it.
            if stream.type == "data" and TIMECODE.fullmatch(code):
                facts.fact("stream.timecode", code, where, self._data_at.get(stream.index))
        chapters = [
            [round(float(c["start"] * c["time_base"]), 3), text(str(c["metadata"].get("title", "")).encode())[:LETTERS]]
            for c in opened.chapters()[:CHAPTERS]
        ]
        if any(title for _, title in chapters):
            facts.fact("container.chapters", chapters, "chapters")


def said(codec: str, raw: bytes) -> str:
    r"""Return the words of a piece without what says how they look.

    >>> said("mov_text", b"\x00\x05Hello\x00\x00\x00\x0cstyl"), said("ass", b"0,0,Default,,0,0,0,,{\\i1}Hello\\Nyou")
    ('Hello', 'Hello you')
    """
    if codec == "mov_text":
        raw = raw[2 : 2 + int.from_bytes(raw[:2], "big")]
    elif codec in ("ass", "ssa"):
        raw = raw.split(b",", 8)[-1].replace(rb"\N", b" ")
    elif codec == "webvtt":
        raw = raw.partition(b"payl")[2] or raw  # MP4 keeps it in boxes.
    return " ".join(MARKUP.sub("", text(raw)).split())
