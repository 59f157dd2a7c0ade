"""The signatures of formats: what their first bytes are, and how long what stands before those may be.

Only fixed positions and a few lengths are read; everything that takes parsing happens in the sandbox.
"""

from forensix.media import foreign

_FTYP = {
    b"qt  ": "mov", b"M4V ": "m4v", b"M4VH": "m4v", b"M4VP": "m4v", b"M4A ": "m4a", b"M4B ": "m4a", b"M4P ": "m4a",
    b"kddi": "3gp",
}  # fmt: skip
_HEIF_BRANDS = {
    b"heic",
    b"heix",
    b"heim",
    b"heis",
    b"hevc",
    b"hevx",
    b"mif1",
    b"mif2",
    b"mif3",
    b"msf1",
    b"avif",
    b"avis",
}
_QUICKTIME_BOXES = {b"moov", b"mdat", b"wide", b"free", b"skip", b"pnot"}
_BITRATES = {
    1: (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    2: (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
"""MPEG audio layer III in kbit/s, for MPEG-1 and for MPEG-2 and 2.5."""
_RATES_HZ = {3: (44100, 48000, 32000), 2: (22050, 24000, 16000), 0: (11025, 12000, 8000)}


def by_signature(head: bytes) -> str | None:
    """Return the format that the first bytes of a file are of, or ``None``."""
    if head.startswith(b"\xff\xd8\xff") and not foreign.is_foreign(head[:4]):
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
    if tagged and foreign.is_foreign(head[at:]):
        return None
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
