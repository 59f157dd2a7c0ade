"""What may stand inside a page as data: pictures, sound and films of our own making, and only so much of them.

A data URI is embedded where its bytes begin as those of the format that it says it is. An input may have 32 MB and a
page may hold many reports, so each page has a limit; what goes beyond it is left out, which the page says.
"""

import base64
import re
from dataclasses import dataclass

MAX_PAGE_BYTES = 40_000_000
"""Of encoded pictures, sound and films that one page holds."""

_URI = re.compile(r"data:([a-z]+/[a-z0-9]+);base64,([A-Za-z0-9+/]{16,}={0,2})")
_BEGINNINGS = {
    "picture": {"image/jpeg": rb"\xff\xd8\xff", "image/png": rb"\x89PNG\r\n\x1a\n"},
    "sound": {"audio/mpeg": rb"ID3|\xff[\xfb\xf3\xf2\xe3]"},
    "film": {"video/mp4": rb"(?s:.{4})ftyp"},
}
_MISSING = {
    "picture": "Left out: not a JPEG or PNG picture.",
    "sound": "Left out: there is no sound to play.",
    "film": "Left out: there is no film to play.",
}


def safe(uri: str, kind: str) -> bool:
    """Return whether ``uri`` is a base64 data URI whose bytes begin as those of the format that it says it is.

    ``kind`` is ``"picture"`` (JPEG or PNG), ``"sound"`` (MP3) or ``"film"`` (MP4).
    """
    match = _URI.fullmatch(uri)
    beginning = _BEGINNINGS[kind].get(match[1]) if match else None
    return bool(match and beginning and re.match(beginning, base64.b64decode(match[2][:16])))


@dataclass
class Room:
    """How much more a page may hold."""

    left: int = MAX_PAGE_BYTES

    def why_not(self, uri: str, kind: str) -> str:
        """Make room for a data URI and return an empty text, or the sentence that says why it is left out.

        The text of the URI is what counts; ``kind`` is that of `safe`.
        """
        if not safe(uri, kind):
            return _MISSING[kind]
        if len(uri) > self.left:
            size = f"{MAX_PAGE_BYTES / 1e6:g} MB"
            return (
                f"Left out: this page already holds {size} of media, the most it may. Write fewer inputs into one page."
            )
        self.left -= len(uri)
        return ""
