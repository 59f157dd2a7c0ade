"""Which format is this? Decided by the first bytes, never by the name.

Only fixed positions and a few lengths are read here; everything that takes parsing happens in the sandbox. Raw PCM has
no signature at all: it alone is believed by its name.

A name never makes a file what it says. But where the bytes are nothing that is known, neither media nor text nor
another format, a name such as ``talk.mp3`` is a claim that the content fails, and that can be examined: the file is
taken as a broken one of the format it is named after.
"""

import os
import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from io import BufferedReader
from pathlib import PurePath

from forensix.errors import BrokenMedia, InputNotFound, UnsupportedMedia
from forensix.media import foreign

HEAD_BYTES = 64 * 1024

IMAGE_FORMATS = ("jpeg", "png", "tiff", "gif", "webp", "heif")
STREAM_FORMATS = ("mp4", "mov", "m4v", "3gp", "mkv", "webm", "flv", "avi")
AUDIO_FORMATS = ("wav", "mp3", "m4a", "ogg", "aac", "flac", "pcm")
"""Formats that hold pictures, pictures and sound (either may be missing), and sound. The remaining one is pdf."""

_SOUND_ONLY = ("wav", "mp3", "aac", "flac", "pcm")
_READABLE = f"{' '.join(IMAGE_FORMATS)}, {' '.join(STREAM_FORMATS)}, {' '.join(AUDIO_FORMATS)} and pdf"
_FTYP = {b"qt  ": "mov", b"M4V ": "m4v", b"M4VH": "m4v", b"M4VP": "m4v", b"M4A ": "m4a", b"M4B ": "m4a", b"M4P ": "m4a"}
_HEIF_BRANDS = {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1", b"avif", b"avis"}
_QUICKTIME_BOXES = {b"moov", b"mdat", b"wide", b"free", b"skip", b"pnot"}
_BITRATES = {
    1: (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    2: (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
"""MPEG audio layer III in kbit/s, for MPEG-1 and for MPEG-2 and 2.5."""
_PDF_PARTS = re.compile(rb"\d+ \d+ obj\b|\bendobj\b|\bstartxref\b|%%EOF")
_RATES_HZ = {3: (44100, 48000, 32000), 2: (22050, 24000, 16000), 0: (11025, 12000, 8000)}

MIME = {
    "jpeg": "image/jpeg",
    "png": "image/png",
    "tiff": "image/tiff",
    "gif": "image/gif",
    "webp": "image/webp",
    "heif": "image/heif",
    "mp4": "video/mp4",
    "mov": "video/quicktime",
    "m4v": "video/x-m4v",
    "3gp": "video/3gpp",
    "mkv": "video/x-matroska",
    "webm": "video/webm",
    "flv": "video/x-flv",
    "avi": "video/x-msvideo",
    "wav": "audio/wav",
    "mp3": "audio/mpeg",
    "m4a": "audio/mp4",
    "ogg": "audio/ogg",
    "aac": "audio/aac",
    "flac": "audio/flac",
    "pcm": "audio/L16",
    "pdf": "application/pdf",
}

EXTENSIONS = {
    "jpeg": {"jpg", "jpeg", "jpe", "jfif", "mpo"},
    "png": {"png", "apng"},
    "tiff": {"tif", "tiff", "dng"},
    "gif": {"gif"},
    "webp": {"webp"},
    "heif": {"heic", "heif", "hif", "avif"},
    "mp4": {"mp4", "m4v", "m4a"},
    "m4v": {"m4v", "mp4"},
    "m4a": {"m4a", "mp4", "m4b"},
    "mov": {"mov", "qt"},
    "3gp": {"3gp", "3gpp", "3g2", "mp4"},
    "mkv": {"mkv", "mka"},
    "webm": {"webm", "mkv"},
    "ogg": {"ogg", "oga", "opus", "ogv"},
    "aac": {"aac", "adts"},
    "wav": {"wav", "wave"},
    "pcm": {"pcm", "raw"},
    "mp3": {"mp3", "mpga"},
}
"""Extensions that a format is usually named by; a format that is not listed goes by its own name."""

SPECIAL_EXTENSIONS = {
    "tiff": {
        "3fr",
        "arw",
        "cr2",
        "dcr",
        "erf",
        "fff",
        "gpr",
        "iiq",
        "kdc",
        "mos",
        "nef",
        "nrw",
        "pef",
        "sr2",
        "srf",
        "srw",
    },
    "jpeg": {"thm", "insp"},
    "mp4": {"lrv", "insv", "f4v", "3ga"},
    "m4a": {"m4r", "3ga"},
    "3gp": {"3ga"},
    "ogg": {"spx"},
    "wav": {"bwf", "rf64"},
    "webm": {"weba"},
    "pdf": {"ai"},
}
"""Extensions that devices and programs give files of a format that they use in a way of their own: raw files, previews,
ringtones, voice memos, sound for broadcast, drawings."""


def suffixes(formats: Iterable[str]) -> tuple[str, ...]:
    """Return the endings of file names that formats usually have, with the dot; ``.raw`` is many things and none.

    Examples
    --------
    >>> suffixes(["heif", "avi"])
    ('.avi', '.avif', '.heic', '.heif', '.hif')
    """
    extensions = {extension for slug in formats for extension in EXTENSIONS.get(slug, {slug})}
    return tuple(f".{extension}" for extension in sorted(extensions - {"raw"}))


def open_regular(path: str | os.PathLike[str], name: str) -> BufferedReader:
    """Open a file for reading, without ever waiting for it.

    Raises
    ------
    InputNotFound
        For a path that is not there, cannot be read, or is a directory, pipe or device.
    """
    label = shorten(name)
    try:
        # Non-blocking: opening a pipe without a writer would wait for ever.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_CLOEXEC", 0))
    except FileNotFoundError:
        raise InputNotFound(f"{label} is not there; check the path") from None
    except PermissionError:
        raise InputNotFound(f"{label} may not be read by this user; change its permissions") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "the path is malformed"
        raise InputNotFound(f"{label} cannot be opened: {reason}") from None
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        what = "a directory" if stat.S_ISDIR(mode) else "a pipe, socket or device"
        raise InputNotFound(f"{label} is {what}, not a file; give the path of one media file")
    return os.fdopen(descriptor, "rb")


@dataclass(frozen=True, slots=True)
class FileFormat:
    """What a file is, as far as its first bytes tell.

    ``broken`` is a sentence where no format's first bytes were found and only the name says ``format``: such a file can
    be examined (``forensic_analysis``) but holds nothing to decode. ``kinds`` are the kinds of media that it may turn
    out to be once its header is read; a file that no task accepts by them can be refused before it is stored.
    """

    format: str
    mime: str
    kinds: frozenset[str]
    broken: str | None = None


def read_head(file: BufferedReader) -> bytes:
    """Return the first ``HEAD_BYTES`` bytes of a file, behind its ID3 tags where it begins with such."""
    head = file.read(HEAD_BYTES)
    while (missing := after_tags(head) + HEAD_BYTES - len(head)) > 0 and (more := file.read(missing)):
        head += more
    return head


def sniff(head: bytes, name: str) -> FileFormat:
    """Tell the format from the first ``HEAD_BYTES`` bytes of a file, or from `read_head`.

    Raises
    ------
    BrokenMedia
        For no bytes at all.
    UnsupportedMedia
        For text, playlists and every format that forensix does not read; the sentence says which, where it is known.
        For unknown bytes as well, unless ``name`` ends as files of a format that forensix reads do.

    Examples
    --------
    >>> sniff(b"GIF89a", "photo.jpg").format
    'gif'
    >>> sniff(bytes(100), "talk.mp3").broken
    'talk.mp3 does not begin as the mp3 that its name says, but with the bytes 00 00 00 00 00 00 00 00'
    """
    label = shorten(name)
    if not head:
        raise BrokenMedia(f"{label} is empty: it has 0 bytes")
    slug = _by_signature(head)
    extension = PurePath(name).suffix.lower().lstrip(".")
    if slug is None and extension == "pcm" and not foreign.is_text(head):
        slug = "pcm"
    if slug:
        mime = "image/avif" if slug == "heif" and head[8:12] in (b"avif", b"avis") else MIME[slug]
        return FileFormat(slug, mime, _kinds(slug))
    what = foreign.name(head)
    slug = _named(extension)
    # A PDF is text to a great extent; one that lost its header is told by its objects.
    if slug and (what is None or (slug == "pdf" and what == foreign.TEXT and _PDF_PARTS.search(head))):
        broken = f"{label} does not begin as the {slug} that its name says, but with the bytes {head[:8].hex(' ')}"
        return FileFormat(slug, MIME[slug], _kinds(slug), broken)
    raise UnsupportedMedia(f"{label} is {what or 'not in a format that is known here'}; forensix reads {_READABLE}")


def _named(extension: str) -> str | None:
    """Return the format that an extension is first of all used for; none for ``raw``, which is many things."""
    if extension in MIME:
        return extension
    return next((slug for slug, used in EXTENSIONS.items() if extension in used and slug != "pcm"), None)


def _kinds(slug: str) -> frozenset[str]:
    if slug in IMAGE_FORMATS:
        return frozenset({"image"})
    if slug == "pdf" or slug in _SOUND_ONLY:
        return frozenset({"pdf" if slug == "pdf" else "audio"})
    # A container of pictures may hold sound alone, and Ogg and MP4 sound comes with pictures at times.
    return frozenset({"audio", "video"})


def shorten(name: str, length: int = 80) -> str:
    """Return a name fit for a sentence: printable, and cut in the middle when long."""
    clean = "".join(c if c.isprintable() else "?" for c in name) or "the input"
    return clean if len(clean) <= length else f"{clean[: length - 20]}...{clean[-17:]}"


def _by_signature(head: bytes) -> str | None:
    if head.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if head[:4] in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"):
        return "tiff"
    if head[:6] in (b"GIF87a", b"GIF89a"):
        return "gif"
    if head[:4] in (b"RIFF", b"RF64", b"BW64"):
        return {b"WEBP": "webp", b"AVI ": "avi", b"AVIX": "avi", b"WAVE": "wav"}.get(head[8:12])
    if head.startswith(b"OggS"):
        return "ogg"
    if head.startswith(b"FLV\x01"):
        return "flv"
    if head.startswith(b"\x1a\x45\xdf\xa3"):
        # The document type is text inside the first element; ffmpeg reads both with one demuxer.
        return "webm" if b"webm" in head[:64] else "mkv"
    if head[4:8] == b"ftyp":
        return _by_brand(head)
    if head[4:8] in _QUICKTIME_BOXES:
        return "mov"
    if foreign.is_foreign(head):
        return None
    if b"%PDF-" in head[:1024]:
        return "pdf"
    return _by_frames(head)


def _by_brand(head: bytes) -> str | None:
    end = min(int.from_bytes(head[:4], "big"), len(head), 256)
    major = head[8:12]
    if major in _FTYP:
        return _FTYP[major]
    if major in _HEIF_BRANDS:
        return "heif"
    if major[:2] == b"3g":
        return "3gp"
    if major in (b"crx ", b"jp2 ", b"jpx ", b"jxl "):
        return None
    compatible = {head[i : i + 4] for i in range(16, end - 3, 4)}
    return "m4a" if b"M4A " in compatible and b"mp42" not in compatible else "mp4"


def _by_frames(head: bytes) -> str | None:
    """Recognise flac, mp3 and aac, with or without an ID3 tag before them."""
    at = after_tags(head)
    tagged = at > 0
    if head[at : at + 4] == b"fLaC":
        return "flac"
    if head[at : at + 4] == b"ADIF":
        return "aac"
    if tagged and at >= len(head) - 4:
        # A large cover picture: what follows lies beyond the head.
        return "mp3"
    start = at
    while start < len(head) and head[start] == 0:
        start += 1
    for offset in range(start, min(start + 2048, len(head) - 6)):
        if head[offset] == 0xFF:
            for slug, length in (("aac", _adts_length), ("mp3", _mp3_length)):
                step = length(head, offset)
                # One header may be chance; the next frame must start where this one ends.
                if step and (offset + step == len(head) or length(head, offset + step)):
                    return slug
    return "mp3" if tagged else None


def after_tags(head: bytes) -> int:
    """Return where the ID3 tags that sound may begin with end, which can be beyond the head."""
    at = 0
    while head[at : at + 3] == b"ID3" and len(head) >= at + 10:
        at += 10 + synchsafe(head[at + 6 : at + 10])
    return at


def synchsafe(raw: bytes) -> int:
    """Return the number that bytes of seven bits each stand for."""
    value = 0
    for byte in raw:
        value = value << 7 | byte & 0x7F
    return value


def _adts_length(head: bytes, at: int) -> int:
    h = head[at : at + 7]
    if len(h) < 7 or h[0] != 0xFF or h[1] & 0xF6 != 0xF0 or (h[2] >> 2) & 0xF > 12:
        return 0
    length = (h[3] & 3) << 11 | h[4] << 3 | h[5] >> 5
    return length if length >= 7 else 0


def _mp3_length(head: bytes, at: int) -> int:
    h = head[at : at + 4]
    if len(h) < 4 or h[0] != 0xFF or h[1] & 0xE0 != 0xE0 or (h[1] >> 1) & 3 != 1:
        return 0
    version, rate, bits = (h[1] >> 3) & 3, (h[2] >> 2) & 3, h[2] >> 4
    if version == 1 or rate == 3 or bits in (0, 15):
        return 0
    kbit = _BITRATES[1 if version == 3 else 2][bits - 1]
    return (144 if version == 3 else 72) * kbit * 1000 // _RATES_HZ[version][rate] + (h[2] >> 1 & 1)
