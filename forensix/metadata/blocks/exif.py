"""TIFF directories, as EXIF blocks and TIFF files hold them, each tag with its place in the file.

Walked here rather than by a library, because an examiner needs the offsets and a broken directory should say what is
broken and still yield its other tags. Keys: ``exif.<Tag>`` (all directories), ``exif.gps.<Tag>``; the thumbnail's
directory is ``exif.thumb.<Tag>``. Source: TIFF 6.0; CIPA DC-008 (Exif 3.0).
"""

import math
import re
import struct
from dataclasses import dataclass, field
from typing import Any

from PIL.ExifTags import GPSTAGS, TAGS

from forensix.metadata.blocks.text import decoded
from forensix.metadata.facts import Fact, Node, Problem

SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8}
LETTERS = {1: "B", 3: "H", 4: "I", 6: "b", 8: "h", 9: "i", 11: "f", 12: "d", 13: "I", 16: "Q", 17: "q", 18: "Q"}
POINTERS = {0x8769: "ExifIFD", 0x8825: "GPS", 0xA005: "InteropIFD"}
SUB_IFDS = 0x014A
BLOCKS = {0x02BC: "xmp", 0x83BB: "iptc", 0x8649: "photoshop", 0x8773: "icc", 0xCD41: "jumbf"}
MAX_TAGS = 1000
MAX_DIRECTORIES = 64
MAX_SUB_IFDS = 16
MAX_VALUE_BYTES = 1 << 16
MAX_NUMBERS = 4096
"""Longer lists stay bytes: only tables of samples are as long, and no rule reads their numbers."""

MAX_TOTAL_BYTES = 8 << 20
DIGITS = {"DateTime": "ModifyDate", "DateTimeDigitized": "CreateDate"}
NOTES = (b"AOC\0", b"Apple iOS\0", b"FUJIFILM", b"Nikon\0", b"OLYMPUS\0", b"Panasonic\0", b"PENTAX \0", b"SONY ")
"""How the notes of some makers begin; those of others begin with nothing of their own, or with another maker's."""
NOTE_OF_CANON = re.compile(rb"\0(Canon (EOS|PowerShot|IXUS)|IMG:(EOS|PowerShot|DIGITAL IX)[^\0]+ JPEG)[^\0]{0,40}\0")
"""The image type in a note of Canon, which begins with nothing of its own (ExifTool, Image::ExifTool::Canon, tag 6)."""

BINARY = {"MakerNote", "PrintImageMatching", "JPEGTables", "StripOffsets", "StripByteCounts", "TileOffsets"}
TEXTS = {
    "Make", "Model", "Software", "ImageDescription", "Artist", "Copyright", "HostComputer", "LensMake", "LensModel",
    "DateTime", "DateTimeOriginal", "DateTimeDigitized",
}  # fmt: skip
"""Words in a file's own language, also where a program writes them as bytes of no stated kind."""

EXTRA_NAMES = {
    0x882A: "TimeZoneOffset",
    0xA431: "BodySerialNumber",
    0xA435: "LensSerialNumber",
    0xA420: "ImageUniqueID",
}


@dataclass
class Tiff:
    """What one TIFF structure holds; ``blocks`` are embedded packets by name with their offsets in the file."""

    facts: list[Fact] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    blocks: list[tuple[str, bytes, int]] = field(default_factory=list)
    thumbnails: list[tuple[str, bytes, int]] = field(default_factory=list)


def parse(data: bytes, where: str, offset: int = 0, *, is_file: bool = False) -> Tiff:
    """Walk all directories of ``data``, which begins with the byte-order mark; ``offset`` is its place in the file."""
    tiff = Tiff()
    walker = _Walker(data, where, offset, tiff, is_file)
    try:
        walker.start()
    except struct.error:
        tiff.problems.append(Problem("The TIFF header is cut short.", where, offset))
    _finish(tiff)
    return tiff


class _Walker:
    def __init__(self, data: bytes, where: str, offset: int, tiff: Tiff, is_file: bool) -> None:
        self.data, self.where, self.offset, self.tiff, self.is_file = data, where, offset, tiff, is_file
        self.order, self.big = "<", False
        self.visited: set[int] = set()
        self.left = MAX_TOTAL_BYTES

    def start(self) -> None:
        mark = self.data[:4]
        self.order = {b"II": "<", b"MM": ">"}.get(mark[:2], "")
        if not self.order:
            self.problem(f"A TIFF byte-order mark (II or MM) was expected; {mark[:2].hex(' ')} is there.", 0)
            return
        magic = self.number("H", 2)
        self.big = magic == 43
        if magic not in (42, 43, 0x4F52, 0x5352, 0x55):
            self.problem(f"The TIFF magic number is {magic}, not 42.", 2)
        self.fact("exif.byte_order", "little-endian" if self.order == "<" else "big-endian", "header", 0)
        position = self.number("Q", 8) if self.big else self.number("I", 4)
        index = 0
        while position:
            name = f"IFD{index}"
            position = self.directory(position, name, top=True)
            index += 1

    def number(self, letter: str, at: int) -> int:
        value: int = struct.unpack_from(self.order + letter, self.data, at)[0]
        return value

    def fact(self, key: str, value: Any, place: str, at: int) -> None:
        self.tiff.facts.append(Fact(key, value, f"{self.where} {place}".strip(), self.offset + at))

    def problem(self, message: str, at: int, place: str = "", *, grave: bool = True, cut: bool = False) -> None:
        where = f"{self.where} {place}".strip()
        if len(self.tiff.problems) < 50:
            self.tiff.problems.append(Problem(message, where, self.offset + at, grave, cut=cut))

    def directory(self, position: int, name: str, top: bool = False) -> int:
        """Read one directory and those it points to; return where the next one stands, 0 at the end."""
        if position in self.visited:
            self.problem(f"{name} points back to a directory that was read already.", position, name)
            return 0
        if len(self.visited) >= MAX_DIRECTORIES:
            self.problem(f"There are more than {MAX_DIRECTORIES} directories.", position, name)
            return 0
        self.visited.add(position)
        count_letter, count_size, entry_size = ("Q", 8, 20) if self.big else ("H", 2, 12)
        if position + count_size > len(self.data):
            cut = top and not self.offset
            place = f"{self.offset + position}, past the end{': the file is truncated' if cut else ''}"
            self.problem(f"{name} should stand at byte {place}.", position, name, cut=cut)
            return 0
        count = self.number(count_letter, position)
        first = position + count_size
        if count == 0:
            self.problem(f"{name} has no entries.", position, name, grave=False)
        if count > MAX_TAGS or first + count * entry_size > len(self.data):
            self.problem(f"{name} claims {count} entries, more than there is room for.", position, name)
            count = min(count, MAX_TAGS, max(0, (len(self.data) - first) // entry_size))
        self.tiff.nodes.append(Node(name, self.offset + position, count_size + count * entry_size, f"{count} tags"))
        values: dict[int, tuple[Any, int]] = {}
        bad = 0
        for i in range(count):
            entry = self.entry(first + i * entry_size, name)
            if entry is None:
                bad += 1
                if bad > 10:
                    self.problem(f"{name} has many bad entries; the rest was not read.", first, name)
                    break
                continue
            tag, value, at = entry
            values[tag] = (value, at)
        self.follow(values, name)
        after = first + count * entry_size
        if not top or after + (8 if self.big else 4) > len(self.data):
            return 0
        following = self.number("Q" if self.big else "I", after)
        if following and following + count_size > len(self.data):
            self.problem(f"{name} names a next directory at byte {self.offset + following}, past the end.", after, name)
            return 0
        return following

    def entry(self, at: int, name: str) -> tuple[int, Any, int] | None:
        tag, kind = struct.unpack_from(self.order + "HH", self.data, at)
        count = self.number("Q" if self.big else "I", at + 4)
        inline = at + (12 if self.big else 8)
        place = f"{name} tag 0x{tag:04X}"
        size = SIZES.get(kind)
        if size is None:
            if (tag, kind, count) != (0, 0, 0):
                self.problem(f"Tag 0x{tag:04X} has the unknown format {kind}.", at, name, grave=kind != 0)
            return None
        n_bytes = size * count
        position = inline
        if n_bytes > (8 if self.big else 4):
            position = self.number("Q" if self.big else "I", inline)
            if position + n_bytes > len(self.data):
                self.problem(
                    f"The value of tag 0x{tag:04X} ({n_bytes} bytes at {position}) reaches past the end.", at, name
                )
                if position >= len(self.data):
                    return None
                n_bytes = len(self.data) - position
        self.left -= min(n_bytes, MAX_VALUE_BYTES)
        if self.left < 0:
            self.problem("The directories point to the same bytes over and over; the rest was not read.", at, name)
            return None
        label = _label(tag, name)
        if tag in BLOCKS or label in BINARY or n_bytes > MAX_VALUE_BYTES:
            raw = self.data[position : position + n_bytes]
            if tag in BLOCKS and self.is_file:
                self.tiff.blocks.append((BLOCKS[tag], raw, self.offset + position))
            if label in BINARY:
                self.fact(_key(name, label), n_bytes, place, position)
            if label == "MakerNote" and (note := _note_of(raw)):
                self.fact("exif.note_of", note[0], place, position + note[1])
            return tag, raw if label not in BINARY or tag == 0x0111 else n_bytes, position
        n_values = n_bytes // size
        is_table = n_values > MAX_NUMBERS and kind not in (2, 7) and tag != SUB_IFDS
        value = self.data[position : position + n_bytes] if is_table else self.value(kind, position, n_values)
        if label == "UserComment" and isinstance(value, bytes):
            value = _comment(value)
        elif isinstance(value, bytes) and label in TEXTS:
            value = decoded(value.split(b"\0")[0]).strip()
        elif label.startswith("XP") and kind in (1, 7) and isinstance(value, bytes | list):
            value = bytes(value).decode("utf-16-le", "replace").rstrip("\0")
        self.fact(_key(name, label), value, place, position)
        return tag, value, position

    def value(self, kind: int, at: int, count: int) -> Any:
        raw = self.data[at : at + count * SIZES[kind]]
        if kind == 2:
            return decoded(raw.split(b"\0")[0]).strip()
        if kind == 7 or (kind in (1, 6) and count > 4):
            return raw
        if kind in (5, 10):
            numbers = struct.unpack(self.order + ("I" if kind == 5 else "i") * 2 * count, raw)
            pairs = list(zip(numbers[::2], numbers[1::2], strict=True))
            ratios = [p / q if q else None for p, q in pairs]
            return ratios[0] if count == 1 else ratios
        numbers = struct.unpack(self.order + LETTERS[kind] * count, raw)
        return numbers[0] if count == 1 else list(numbers)

    def follow(self, values: dict[int, tuple[Any, int]], name: str) -> None:
        beside: dict[int, str] = {}
        for tag, below in POINTERS.items():
            if tag not in values or not isinstance(values[tag][0], int):
                continue
            target, at = values[tag]
            if target in beside:
                # Firmware of thermal cameras writes one directory for both.
                self.problem(f"{name} names the same directory as {beside[target]} and {below}.", at, name, grave=False)
                continue
            beside[target] = below
            self.directory(target, below)
        if SUB_IFDS in values:
            pointers = values[SUB_IFDS][0]
            pointers = pointers if isinstance(pointers, list) else [pointers]
            if len(pointers) > MAX_SUB_IFDS:
                self.problem(
                    f"{len(pointers)} sub-directories are named; {MAX_SUB_IFDS} were read.", values[SUB_IFDS][1]
                )
            for i, pointer in enumerate(p for p in pointers[:MAX_SUB_IFDS] if isinstance(p, int)):
                self.directory(pointer, f"{name}.SubIFD{i}")
        start, length = values.get(0x0201), values.get(0x0202)
        if start and length and isinstance(start[0], int) and isinstance(length[0], int):
            raw = self.data[start[0] : start[0] + length[0]]
            if length[0] and len(raw) < length[0]:
                # Handycams of Sony count one byte too many: the picture is whole all the same.
                is_whole = raw.rstrip(b"\0").endswith(b"\xff\xd9")
                message = f"The thumbnail of {name} reaches past the end of its block."
                self.problem(message, start[0], name, grave=not is_whole)
            if raw[:2] == b"\xff\xd8":
                self.tiff.thumbnails.append((f"EXIF {name} thumbnail", raw, self.offset + start[0]))
            elif raw:
                self.problem(f"The thumbnail of {name} is not a JPEG.", start[0], name)


def _note_of(note: bytes) -> tuple[str, int] | None:
    """Return the maker whose notes are written as this one is, and where that shows; ``None`` where it is not known."""
    begins = next((m for m in NOTES if note.startswith(m)), b"")
    if begins:
        return begins.decode().strip("\0 "), 0
    match = NOTE_OF_CANON.search(note)
    return ("Canon", match.start(1)) if match else None


def _label(tag: int, directory: str) -> str:
    names = GPSTAGS if directory == "GPS" else TAGS
    label = EXTRA_NAMES.get(tag) or names.get(tag) or f"0x{tag:04X}"
    return DIGITS.get(label, label)


def _key(directory: str, label: str) -> str:
    if directory == "GPS":
        return f"exif.gps.{label.removeprefix('GPS')}"
    if directory == "InteropIFD":
        return f"exif.interop.{label}"
    if directory == "IFD1":
        return f"exif.thumb.{label}"
    return f"exif.{label}" if directory in ("IFD0", "ExifIFD") else f"exif.{directory}.{label}"


def _comment(raw: bytes) -> str:
    code, text = raw[:8], raw[8:]
    if code.startswith(b"UNICODE"):
        # The standard leaves the order open; most zero bytes stand in the even places of big-endian Latin text.
        order = "utf-16-be" if text[0::2].count(0) >= text[1::2].count(0) else "utf-16-le"
        return text.decode(order, "replace").strip("\0 ")
    return decoded(text if code.startswith((b"ASCII", b"JIS", b"\0")) else raw).strip("\0 ")


def _finish(tiff: Tiff) -> None:
    """Add the facts that every medium shares: position, camera, serial numbers."""
    values = {f.key: f for f in reversed(tiff.facts)}
    for key, source in (
        ("device.make", "exif.Make"),
        ("device.model", "exif.Model"),
        ("device.serial", "exif.BodySerialNumber"),
        ("device.serial", "exif.LensSerialNumber"),
        ("device.lens", "exif.LensModel"),
    ):
        value = values.get(source)
        if value is not None and str(value.value).strip(" \0"):
            tiff.facts.append(Fact(key, str(value.value).strip(), value.where, value.offset))
    for name, negative in (("Latitude", "S"), ("Longitude", "W")):
        value, mark = values.get(f"exif.gps.{name}"), values.get(f"exif.gps.{name}Ref")
        degrees = _degrees(value.value) if value is not None else None
        if value is not None and degrees is not None:
            sign = -1 if mark is not None and str(mark.value).upper().startswith(negative) else 1
            tiff.facts.append(Fact(f"gps.{name.lower()}", round(sign * degrees, 7), value.where, value.offset))


def _degrees(value: Any) -> float | None:
    parts = value if isinstance(value, list) else [value]
    if not parts or not all(isinstance(p, int | float) for p in parts[:1]):
        return None
    known = [float(p) if isinstance(p, int | float) else 0.0 for p in parts[:3]]
    degrees = float(sum(part / 60**i for i, part in enumerate(known)))
    return degrees if math.isfinite(degrees) else None
