"""What may stand inside a page as data: pictures, sound and films of our own making, and only so much of them.

A data URI is embedded where its bytes begin as those of the format that it says it is. An input may have 32 MB and a
page may hold many reports, so each page has a limit; what goes beyond it is left out, which the page says.
"""

import base64
import binascii
import re
from dataclasses import dataclass

MAX_PAGE_BYTES = 40_000_000
"""Of encoded pictures, sound and films that one page holds."""

_DATA_URI = re.compile(r"data:image/(jpeg|png);base64,([A-Za-z0-9+/]+={0,2})")
_SOUND_URI = re.compile(r"data:audio/mpeg;base64,([A-Za-z0-9+/]{16,}={0,2})")
_FILM_URI = re.compile(r"data:video/mp4;base64,([A-Za-z0-9+/]{16,}={0,2})")
_SOUND_MAGIC = (b"ID3", b"\xff\xfb", b"\xff\xf3", b"\xff\xf2", b"\xff\xe3")
_MAGIC = {"jpeg": b"\xff\xd8\xff", "png": b"\x89PNG\r\n\x1a\n"}


def safe_picture(uri: str) -> bool:
    """Return whether ``uri`` is a base64 data URI whose bytes begin as the JPEG or PNG that it says it is."""
    match = _DATA_URI.fullmatch(uri)
    if not match:
        return False
    head = match[2][:16]
    try:
        return base64.b64decode(head[: len(head) // 4 * 4]).startswith(_MAGIC[match[1]])
    except binascii.Error:
        return False


def safe_sound(uri: str) -> bool:
    """Return whether ``uri`` is a base64 data URI whose bytes begin as MP3 frames do."""
    match = _SOUND_URI.fullmatch(uri)
    if not match:
        return False
    try:
        return base64.b64decode(match[1][:16]).startswith(_SOUND_MAGIC)
    except binascii.Error:
        return False


def safe_film(uri: str) -> bool:
    """Return whether ``uri`` is a base64 data URI whose bytes begin as those of an MP4 file do."""
    match = _FILM_URI.fullmatch(uri)
    if not match:
        return False
    try:
        return base64.b64decode(match[1][:16])[4:8] == b"ftyp"
    except binascii.Error:
        return False


@dataclass
class Room:
    """How much more a page may hold."""

    left: int = MAX_PAGE_BYTES

    def why_not(self, uri: str, kind: str) -> str:
        """Make room for a data URI and return an empty text, or the sentence that says why it is left out.

        Parameters
        ----------
        uri
            The data URI; its text is what counts.
        kind
            ``"picture"``, ``"sound"`` or ``"film"``.
        """
        if not {"picture": safe_picture, "sound": safe_sound, "film": safe_film}[kind](uri):
            return {
                "picture": "Left out: not a JPEG or PNG picture.",
                "sound": "Left out: there is no sound to play.",
                "film": "Left out: there is no film to play.",
            }[kind]
        if len(uri) > self.left:
            size = f"{MAX_PAGE_BYTES / 1e6:g} MB"
            return (
                f"Left out: this page already holds {size} of media, the most it may. Write fewer inputs into one page."
            )
        self.left -= len(uri)
        return ""
