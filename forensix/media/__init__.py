"""Untrusted bytes in; frames, samples and pages out.

Everything that parses or decodes runs in a bounded child process (``sandbox``); the format is decided by content
(``sniff``); limits hold for what the header says and for what decoding finds.
"""

from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from forensix.media.input import Input, Source, as_input
    from forensix.media.medium import Media
    from forensix.media.opening import is_url, open_media
    from forensix.media.values import DrawnPage, Frame, Limits, MediaInfo, PageJob

__all__ = [
    "DrawnPage",
    "Frame",
    "Input",
    "Limits",
    "Media",
    "MediaInfo",
    "PageJob",
    "Source",
    "as_input",
    "is_url",
    "open_media",
]

# On demand: the sandboxed child imports this package too, and needs none of these.
__getattr__, __dir__, _ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "input": ["Input", "Source", "as_input"],
        "medium": ["Media"],
        "opening": ["is_url", "open_media"],
        "values": ["DrawnPage", "Frame", "Limits", "MediaInfo", "PageJob"],
    },
)
