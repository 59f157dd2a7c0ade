"""Which format is this? Decided by the first bytes, never by the name.

Raw PCM has no signature at all: it alone is believed by its name.

A name never makes a file what it says. But where the bytes are nothing that is known, neither media nor text nor
another format, a name such as ``talk.mp3`` is a claim that the content fails, and that can be examined: the file is
taken as a broken one of the format it is named after.
"""

import hashlib
import os
import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from io import BufferedReader
from pathlib import PurePath

from forensix.errors import BrokenMedia, InputNotFound, UnsupportedMedia
from forensix.media import foreign
from forensix.media.signatures import after_tags, by_signature

HEAD_BYTES = 64 * 1024

IMAGE_FORMATS = ("jpeg", "png", "tiff", "gif", "webp", "heif")
STREAM_FORMATS = ("mp4", "mov", "m4v", "3gp", "mkv", "webm", "flv", "avi")
AUDIO_FORMATS = ("wav", "mp3", "m4a", "ogg", "aac", "flac", "pcm")
"""Formats that hold pictures, pictures and sound (either may be missing), and sound. The remaining one is pdf."""

_SOUND_ONLY = ("wav", "mp3", "aac", "flac", "pcm")
_READABLE = f"{' '.join(IMAGE_FORMATS)}, {' '.join(STREAM_FORMATS)}, {' '.join(AUDIO_FORMATS)} and pdf"
_PDF_PARTS = re.compile(rb"\d+ \d+ obj\b|\bendobj\b|\bstartxref\b|%%EOF")

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
        "3fr", "arw", "cr2", "dcr", "erf", "fff", "gpr", "iiq", "kdc", "mos", "nef", "nrw", "pef", "sr2", "srf", "srw"
    },
    "jpeg": {"thm", "insp"},
    "mp4": {"lrv", "insv", "f4v", "3ga", "m4b", "m4r"},
    "m4a": {"m4r", "3ga"},
    "3gp": {"3ga", "m4a"},
    "ogg": {"spx"},
    "wav": {"bwf", "rf64"},
    "webm": {"weba"},
    "pdf": {"ai"},
}  # fmt: skip
"""Extensions that devices and programs give files of a format that they use in a way of their own: raw files, previews,
ringtones, audiobooks, voice memos, sound for broadcast, drawings."""


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


def sha256_of(file: BufferedReader) -> str:
    """Return the SHA-256 of a whole file, in hexadecimal digits."""
    file.seek(0)
    return hashlib.file_digest(file, "sha256").hexdigest()


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
    slug = by_signature(head)
    extension = PurePath(name).suffix.lower().lstrip(".")
    if slug is None and extension == "pcm" and not foreign.is_text(head):
        slug = "pcm"
    if slug:
        mime = "image/avif" if slug == "heif" and head[8:12] in (b"avif", b"avis") else MIME[slug]
        return FileFormat(slug, mime, _kinds(slug))
    what = foreign.name(head[after_tags(head) :])
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
