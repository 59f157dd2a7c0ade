"""Untrusted bytes in; frames, samples and pages out.

Everything that parses or decodes runs in a bounded child process (``sandbox``); the format is decided by content
(``sniff``); limits hold for what the header says and for what decoding finds.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forensix.media.given import Given, Source, taken
    from forensix.media.medium import DrawnPage, Frame, Limits, Media, MediaInfo, PageJob
    from forensix.media.opening import is_url, open_media

__all__ = [
    "DrawnPage",
    "Frame",
    "Given",
    "Limits",
    "Media",
    "MediaInfo",
    "PageJob",
    "Source",
    "is_url",
    "open_media",
    "taken",
]
_PLACES = {"is_url": "opening", "open_media": "opening", "Given": "given", "Source": "given", "taken": "given"}


def __getattr__(name: str) -> Any:
    # On demand: the sandboxed child imports this package too, and needs none of these.
    if name in __all__:
        return getattr(import_module(f"forensix.media.{_PLACES.get(name, 'medium')}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
