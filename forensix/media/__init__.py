"""Untrusted bytes in; frames, samples and pages out.

Everything that parses or decodes runs in a bounded child process (``sandbox``); the format is decided by content
(``sniff``); limits hold for what the header says and for what decoding finds.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forensix.media.medium import DrawnPage, Frame, Limits, Media, MediaInfo, PageJob
    from forensix.media.opening import is_url, open_media

__all__ = ["DrawnPage", "Frame", "Limits", "Media", "MediaInfo", "PageJob", "is_url", "open_media"]


def __getattr__(name: str) -> Any:
    # On demand: the sandboxed child imports this package too, and needs none of these.
    if name in __all__:
        where = "opening" if name in ("is_url", "open_media") else "medium"
        return getattr(import_module(f"forensix.media.{where}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
