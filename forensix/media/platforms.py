"""Download from a video or social-media platform with yt-dlp; runs in the sandbox, with the guarded network.

Only links that an extractor made for a platform takes; the generic one, which follows whatever a page says, is off, and
so are playlists, configuration, plug-ins, cache, cookies, external programs and post-processing.
"""

import os
import sys
from pathlib import Path
from typing import Any

from forensix.errors import FetchError, LimitExceeded
from forensix.media.sniff import shorten
from forensix.media.values import limit_text

# Read when yt-dlp is imported.
os.environ["YTDLP_NO_PLUGINS"] = "1"
# A second network stack below Python's sockets would pass by the guard.
sys.modules["curl_cffi"] = None  # type: ignore[assignment]

_NO_EXTRACTOR = ("generic", "Generic", "UnsupportedURL", "UnsupportedURLIE")


def download(url: str, folder: str, max_bytes: int) -> dict[str, str] | None:
    """Download one medium into ``folder`` and return its path and title; None for a link of no known platform.

    Raises
    ------
    FetchError
        The platform gives nothing.
    LimitExceeded
        More than ``max_bytes``.
    """
    link = shorten(url.partition("?")[0])
    if "__youtubedl_smuggle" in url:
        raise FetchError(f"{link} carries instructions for a downloader; give the plain link")
    import yt_dlp

    with yt_dlp.YoutubeDL(_options(folder, max_bytes)) as downloader:
        if not any(extractor.suitable(url) for extractor in _extractors(downloader)):
            return None
        try:
            info: dict[str, Any] = downloader.extract_info(url, download=True) or {}
        except yt_dlp.utils.DownloadError as error:
            if "File too large" in str(error) or "larger than max-filesize" in str(error):
                raise _too_large(link, max_bytes) from None
            raise FetchError(f"{link} gave no media: {_reason(error)}") from None
    files = sorted(Path(folder).glob("platform.*"))
    if not files:
        # yt-dlp leaves a file out without an error when the server states that it is too large.
        raise _too_large(link, max_bytes) if info else FetchError(f"{link} holds no media that can be downloaded")
    return {"path": str(files[0]), "name": str(info.get("title") or files[0].name)}


def _options(folder: str, max_bytes: int) -> dict[str, Any]:
    return {
        "outtmpl": {"default": str(Path(folder) / "platform.%(ext)s")},
        "format": "b[protocol~='^https?$']/ba[protocol~='^https?$']/bv[protocol~='^https?$']",
        "allowed_extractors": ["default", "-generic"],
        "max_filesize": max_bytes,
        "noplaylist": True,
        "playlist_items": "1",
        "socket_timeout": 15,
        "retries": 1,
        "extractor_retries": 1,
        "fragment_retries": 0,
        "fixup": "never",
        "postprocessors": [],
        "nopart": True,
        "updatetime": False,
        "overwrites": True,
        "cachedir": False,
        "usenetrc": False,
        "proxy": "",
        "js_runtimes": {},
        "enable_file_urls": False,
        "external_downloader": {},
        "hls_prefer_native": True,
        "quiet": True,
        "no_warnings": True,
        "noprogress": True,
        "logger": None,
    }


def _extractors(downloader: Any) -> list[Any]:
    return [extractor for extractor in downloader._ies.values() if extractor.ie_key() not in _NO_EXTRACTOR]


def _too_large(link: str, max_bytes: int) -> LimitExceeded:
    return LimitExceeded(f"{link} has more than the {limit_text(int(max_bytes))} that a download may have")


def _reason(error: Exception) -> str:
    text = str(error).partition(";")[0].replace("ERROR: ", "").splitlines()
    return "".join(c for c in (text[0] if text else "no reason given") if c.isprintable())[:160]
