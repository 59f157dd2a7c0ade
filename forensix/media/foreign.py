"""What is this, when it is none of the formats that forensix reads? Told for the sentence that refuses it.

Playlists, links and documents that point elsewhere are named before anything else is looked for in them.
"""

import codecs
import re

TEXT = "text, not media"
SIGNATURES = (
    (b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "a Windows Media file"),
    (b"BM", "a BMP image"),
    (b"\x00\x00\x00\x0cjP  ", "a JPEG 2000 image"),
    (b"\xff\x4f\xff\x51", "a JPEG 2000 image"),
    (b"\xff\xd8\xff\xf7", "a JPEG-LS image"),
    (b"\x00\x00\x00\x0cJXL ", "a JPEG XL image"),
    (b"\xff\x0a", "a JPEG XL image"),
    (b"8BPS", "a Photoshop document"),
    (b"gimp xcf ", "a GIMP document"),
    (b"FUJIFILMCCD-RAW", "a raw file of a Fujifilm camera"),
    (b"\x00\x00\x00\x18ftypcrx ", "a raw file of a Canon camera (CR3)"),
    (b"IIRO", "a raw file of an Olympus camera"),
    (b"IIRS", "a raw file of an Olympus camera"),
    (b"MMOR", "a raw file of an Olympus camera"),
    (b"IIU\x00", "a raw file of a Panasonic or Leica camera"),
    (b"FOVb", "a raw file of a Sigma camera"),
    (b"\x76\x2f\x31\x01", "an OpenEXR image"),
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
    (b"RIFX", "a RIFF file of big-endian numbers (RIFX)"),
    (b"caff", "a Core Audio file"),
    (b"#!AMR", "an AMR file"),
    (b"riff\x2e\x91\xcf\x11", "a Sony Wave64 file"),
    (b"MAC ", "a Monkey's Audio file"),
    (b"TTA1", "a True Audio file"),
    (b"MPCK", "a Musepack file"),
    (b"MP+", "a Musepack file"),
    (b"wvpk", "a WavPack file"),
)
BARE_VIDEO = re.compile(rb"\x00?\x00\x00\x01(?:([\x67\x47\x27]|\x09[\x10-\xf0]\x00?\x00\x00\x01)|[\x40\x46\x4e]\x01)")
"""A start code and the first unit of H.264 (parameters, or where a picture begins) or H.265 (that, or a message)."""

POINTERS = (
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


def is_foreign(head: bytes) -> bool:
    """Tell whether a file begins as one of the formats that are known and not read, or as a playlist or a link."""
    return (
        any(head.startswith(magic) for magic, _ in SIGNATURES) or _bare(head) is not None or _pointer(head) is not None
    )


def name(head: bytes) -> str | None:
    """Say what a file is by its first bytes, with its article; None where nothing is recognised."""
    pointer = _pointer(head)
    if pointer:
        return pointer
    for magic, what in SIGNATURES:
        if head.startswith(magic):
            return what
    if bare := _bare(head):
        return f"{bare}, which FFmpeg copies unchanged into a file that can be read (ffmpeg -i FILE -c copy FILE.mkv)"
    return TEXT if is_text(head) else None


def _bare(head: bytes) -> str | None:
    """Name streams in no container that can be read: MPEG packets of 188 bytes, or 192 with times, and bare video."""
    for begin, step, what in (
        (0, 188, "an MPEG transport stream"),
        (4, 192, "an MPEG transport stream of a camcorder or a Blu-ray disc (AVCHD, M2TS)"),
    ):
        marks = [head[at : at + 1] for at in range(begin, begin + 3 * step, step)]
        if marks[:2] == [b"G", b"G"] and marks[2] in (b"G", b""):
            return what
    start = BARE_VIDEO.match(head)
    return f"a bare {'H.265' if start.group(1) is None else 'H.264'} video stream" if start else None


def _pointer(head: bytes) -> str | None:
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    return next((what for pattern, what in POINTERS if pattern.match(text)), None)


def is_text(head: bytes) -> bool:
    """Tell whether bytes are text that a person could read: UTF-8, UTF-16 with its mark, or mostly Latin letters."""
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
