"""Paths, URLs, bytes and objects in memory (`forensix.media.input`) become opened media; only headers are read here.

A file whose format is recognised but whose header cannot be read still opens, with ``broken`` saying what is wrong. So
does one that holds nothing known but is named as media are: the name is a claim that its content fails.
"""

import contextlib
import os
import tempfile
from collections.abc import Collection
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from forensix.errors import BrokenMedia, InputNotFound, LimitExceeded
from forensix.media import sniff
from forensix.media.addresses import check_hosts
from forensix.media.input import Input, Source, as_input
from forensix.media.medium import STREAM_BYTES, Media, described, state_of
from forensix.media.sandbox import call
from forensix.media.values import Limits, MediaInfo, limit_text
from forensix.schema import MediaKind

_PROBE_S = 20.0


def open_media(
    source: Source | Input,
    *,
    name: str | None = None,
    sample_rate: float | None = None,
    limits: Limits = Limits(),  # noqa: B008 - it is frozen
    private_hosts: Collection[str] = (),
) -> Media:
    """Open a path, an http(s) URL, the bytes of a file, a file object, a PIL picture or a NumPy array.

    The format is decided by the content. See `forensix.media.input` for the shapes of arrays; ``sample_rate``, in Hz,
    says that an array is sound. ``name`` stands in for the file name, for bytes above all. ``private_hosts`` names
    hosts that a URL may reach although their addresses are private.

    Raises
    ------
    InputNotFound
        No such file, or it is no regular file, or may not be read.
    UnsupportedMedia
        Not one of the formats that forensix reads: text and playlists among others, and unknown bytes whose name does
        not end as those formats' names do; or an array of another type or shape.
    InputChanged
        It was written to while it was opened.
    BrokenMedia
        Empty.
    LimitExceeded
        Larger, longer or wider than ``limits``.
    FetchError
        A URL that cannot, or must not, be fetched.
    UsageError
        ``private_hosts`` holds what is no host.

    Examples
    --------
    >>> from forensix import small
    >>> with open_media(small.folder("images") / "photographed-0.jpg") as media:
    ...     media.kind, media.info.width_px, media.image().shape
    ('image', 256, (256, 256, 3))
    """
    check_hosts(private_hosts)
    medium_input = (
        source if isinstance(source, Input) else as_input(source, name=name, sample_rate=sample_rate, limits=limits)
    )
    source, name = medium_input.source, medium_input.name
    if medium_input.written is not None:
        # Its pixels and seconds are within the limits: without a codec's help they take more bytes than a file may.
        limits = replace(limits, max_bytes=max(limits.max_bytes, len(medium_input.source)))  # type: ignore[arg-type]
    with contextlib.ExitStack() as resources:
        if isinstance(source, bytes):
            shown_source = name = name or "upload"
            _check_bytes(len(source), name, limits)
            path = _private_folder(resources) / "input"
            path.write_bytes(source)
            shown_name = name
        elif is_url(source):
            from forensix.media.download import fetch

            shown_source = str(source)
            path, found_name = fetch(str(source), _private_folder(resources), limits, frozenset(private_hosts))
            shown_name = name = name or found_name
        else:
            shown_source = medium_input.spelled
            path = Path(source)
            shown_name = name or shown_source
            name = name or path.name or shown_source
        with sniff.open_regular(path, shown_name) as file:
            status = os.fstat(file.fileno())
            size_bytes = status.st_size
            _check_bytes(size_bytes, shown_name, limits)
            try:
                head, sha256 = sniff.read_head(file), sniff.sha256_of(file)
            except OSError as error:
                # A disk or a network that fails is this file's fault alone: others are analysed.
                raise InputNotFound(f"{sniff.shorten(shown_name)} cannot be read: {error.strerror or error}") from None
            file_format = sniff.sniff(head, shown_name)
        slug, mime, info, broken = file_format.format, file_format.mime, MediaInfo(), file_format.broken
        if not broken:
            info, broken = _probe(path, slug, mime, name, limits)
        kind = _kind(slug, info, broken)
        if kind == "audio":
            mime = mime.replace("video/", "audio/")
        media = Media(
            source=shown_source,
            path=path.absolute(),
            name=name,
            kind=kind,
            format=slug,
            mime=mime,
            size_bytes=size_bytes,
            sha256=sha256,
            info=info,
            broken=broken,
            only_named=file_format.broken is not None,
            limits=limits,
            written=medium_input.written,
            state=state_of(status),
            resources=resources.pop_all(),
        )
    if change := media.change(reread=broken is not None):
        media.close()
        raise change
    return media


def _probe(path: Path, slug: str, mime: str, name: str, limits: Limits) -> tuple[MediaInfo, str | None]:
    try:
        probed = _call_probe(described(path, slug, mime, name), limits)
    except BrokenMedia as error:
        return MediaInfo(), str(error)
    return MediaInfo(**probed), None


def _call_probe(file: dict[str, str], limits: Limits) -> Any:
    limit: object
    if file["slug"] in sniff.IMAGE_FORMATS:
        module, limit = "images", limits.image_pixels
    elif file["slug"] == "pdf":
        module, limit = "pages", limits.pdf_pages
    else:
        module, limit = "streams", asdict(limits)
    return call(f"forensix.media.{module}:probe", file, limit, timeout_s=_PROBE_S, memory_bytes=STREAM_BYTES)


def _kind(slug: str, info: MediaInfo, broken: str | None) -> MediaKind:
    if slug in sniff.IMAGE_FORMATS:
        return "image"
    if slug == "pdf":
        return "pdf"
    if broken:
        return "audio" if slug in sniff.AUDIO_FORMATS else "video"
    return "video" if info.has_video else "audio"


def is_url(source: object) -> bool:
    """Tell a URL from a path."""
    # Every scheme counts: ftp:// and file:// are refused by the downloader with a sentence, not looked up as paths.
    return isinstance(source, str) and "://" in source[:16] and source.split("://", 1)[0].isalnum()


def _check_bytes(size_bytes: int, name: str, limits: Limits) -> None:
    if size_bytes > limits.max_bytes:
        raise LimitExceeded(
            f"{sniff.shorten(name)} has {limit_text(size_bytes)}; the limit is {limit_text(int(limits.max_bytes))}"
        )


def _private_folder(resources: contextlib.ExitStack) -> Path:
    return Path(resources.enter_context(tempfile.TemporaryDirectory(prefix="forensix-", ignore_cleanup_errors=True)))
