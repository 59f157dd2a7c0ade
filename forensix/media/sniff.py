"""Which format is this? Decided by the first bytes, never by the name.

Only fixed positions and a few lengths are read here; everything that takes parsing happens in the sandbox. Raw PCM has
no signature at all: it alone is believed by its name.
"""

import codecs
import os
import re
import stat
from io import BufferedReader

from forensix.errors import BrokenMedia, InputNotFound, UnsupportedMedia

HEAD_BYTES = 64 * 1024

IMAGE_FORMATS = ("jpeg", "png", "tiff", "gif", "webp", "heif")
STREAM_FORMATS = ("mp4", "mov", "m4v", "3gp", "mkv", "webm", "flv", "avi")
AUDIO_FORMATS = ("wav", "mp3", "m4a", "ogg", "aac", "flac", "pcm")
"""Formats that hold pictures, pictures and sound (either may be missing), and sound. The remaining one is pdf."""

_READABLE = f"{' '.join(IMAGE_FORMATS)}, {' '.join(STREAM_FORMATS)}, {' '.join(AUDIO_FORMATS)} and pdf"
_FTYP = {b"qt  ": "mov", b"M4V ": "m4v", b"M4VH": "m4v", b"M4VP": "m4v", b"M4A ": "m4a", b"M4B ": "m4a", b"M4P ": "m4a"}
_HEIF_BRANDS = {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1", b"avif", b"avis"}
_QUICKTIME_BOXES = {b"moov", b"mdat", b"wide", b"free", b"skip", b"pnot"}
_FOREIGN = (
    (b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "a Windows Media file"),
    (b"BM", "a BMP image"),
    (b"\x00\x00\x00\x0cjP  ", "a JPEG 2000 image"),
    (b"\x00\x00\x00\x0cJXL ", "a JPEG XL image"),
    (b"\xff\x0a", "a JPEG XL image"),
    (b"8BPS", "a Photoshop document"),
    (b"PK\x03\x04", "a ZIP archive or an Office document"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!", "a RAR archive"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"\x00\x00\x01\xba", "an MPEG programme stream"),
    (b"\x00\x00\x01\xb3", "a bare MPEG video stream"),
    (b".RMF", "a RealMedia file"),
    (b"FORM", "an AIFF file"),
    (b"caff", "a Core Audio file"),
    (b"#!AMR", "an AMR file"),
)
_PLAYLISTS = (
    (re.compile(rb"#EXTM3U|#EXT-X-"), "a playlist (m3u8)"),
    (re.compile(rb"ffconcat\s+version|file\s+['\"]?[\w./:\\-]+['\"]?\s*$", re.M), "a playlist (concat)"),
    (re.compile(rb"\[playlist\]", re.I), "a playlist (pls)"),
    (re.compile(rb"\[InternetShortcut\]", re.I), "a link, not the file behind it"),
    (re.compile(rb"v=0\r?\n"), "a session description (sdp)"),
    (re.compile(rb"(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<MPD\b", re.S), "a playlist (mpd)"),
    (re.compile(rb"(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<smil\b", re.S | re.I), "a playlist (smil)"),
    (re.compile(rb"(<\?xml[^>]*>\s*)?(<!.*?>\s*)*<svg\b", re.S | re.I), "an SVG drawing, which is text and not pixels"),
    (re.compile(rb"(<!--.*?-->\s*)*<(!doctype\s+html|html)\b", re.S | re.I), "a web page"),
    (re.compile(rb"<\?xml"), "XML text"),
)
_BITRATES = {
    1: (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    2: (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
"""MPEG audio layer III in kbit/s, for MPEG-1 and for MPEG-2 and 2.5."""
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


def open_regular(path: str | os.PathLike[str], name: str) -> BufferedReader:
    """Open a file for reading, without ever waiting for it.

    Raises
    ------
    InputNotFound
        For a path that is not there, cannot be read, or is a directory, pipe or device.
    """
    shown = shorten(name)
    try:
        # Non-blocking: opening a pipe without a writer would wait for ever.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_CLOEXEC", 0))
    except FileNotFoundError:
        raise InputNotFound(f"{shown} is not there; check the path") from None
    except PermissionError:
        raise InputNotFound(f"{shown} may not be read by this user; change its permissions") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "the path is malformed"
        raise InputNotFound(f"{shown} cannot be opened: {reason}") from None
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        what = "a directory" if stat.S_ISDIR(mode) else "a pipe, socket or device"
        raise InputNotFound(f"{shown} is {what}, not a file; give the path of one media file")
    return os.fdopen(descriptor, "rb")


def sniff(head: bytes, name: str) -> tuple[str, str]:
    """Return the format's slug and MIME type from the first ``HEAD_BYTES`` bytes of a file.

    Raises
    ------
    BrokenMedia
        For no bytes at all.
    UnsupportedMedia
        For text, playlists and every format that forensix does not read; the sentence says which, where it is known.
    """
    shown = shorten(name)
    if not head:
        raise BrokenMedia(f"{shown} is empty: it has 0 bytes")
    slug = _by_signature(head)
    if slug is None and name.lower().endswith(".pcm") and not _is_text(head):
        slug = "pcm"
    if slug is None:
        raise UnsupportedMedia(f"{shown} is {_what_else(head)}; forensix reads {_READABLE}")
    if slug == "heif" and head[8:12] in (b"avif", b"avis"):
        return slug, "image/avif"
    return slug, MIME[slug]


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
    if any(head.startswith(magic) for magic, _ in _FOREIGN):
        return None
    if any(pattern.match(head.lstrip(b"\xef\xbb\xbf \t\r\n")) for pattern, _ in _PLAYLISTS):
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
    at, tagged = 0, False
    while head[at : at + 3] == b"ID3" and len(head) >= at + 10:
        size = head[at + 6 : at + 10]
        at += 10 + (size[0] << 21 | size[1] << 14 | size[2] << 7 | size[3])
        tagged = True
    if head[at : at + 4] == b"fLaC":
        return "flac"
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


def _what_else(head: bytes) -> str:
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    for pattern, what in _PLAYLISTS:
        if pattern.match(text):
            return what
    for magic, what in _FOREIGN:
        if head.startswith(magic):
            return what
    if head[0] == 0x47 and head[188:189] == b"\x47":
        return "an MPEG transport stream"
    return "text, not media" if _is_text(head) else "not in a format that is known here"


def _is_text(head: bytes) -> bool:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return True
    if any(byte < 32 and byte not in b"\t\n\r\f\x1b" for byte in head):
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        # Latin-1 text: mostly letters and spaces.
        return sum(byte < 127 for byte in head) > 0.8 * len(head)
    return True
