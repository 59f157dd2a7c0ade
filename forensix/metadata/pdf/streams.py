"""The content of a PDF's streams, inflated within bounds: a few kilobytes can stand for gigabytes."""

import zlib

import pikepdf

OTHER_FILTERS_BYTES = 1 << 16
"""Streams of other filters than deflation, which cannot be stopped halfway, are inflated up to this stored size."""

FAULTS = (
    pikepdf.PdfError, pikepdf.DataDecodingError, zlib.error,
    ValueError, TypeError, RuntimeError, KeyError, AttributeError, OverflowError, IndexError,
    ArithmeticError,
)  # fmt: skip
"""What reading damaged content raises."""


def inflated(stream: pikepdf.Stream, limit: int) -> bytes:
    """Return at most ``limit`` bytes of a stream; nothing of a long one whose filters cannot be stopped halfway.

    Raises
    ------
    zlib.error, pikepdf.PdfError
        The stream is damaged.
    """
    filters = stream.get("/Filter")
    names = [str(f) for f in filters] if isinstance(filters, pikepdf.Array) else [str(filters)] if filters else []
    raw = stream.read_raw_bytes()
    if names == ["/FlateDecode"] and "/DecodeParms" not in stream:
        raw = zlib.decompressobj().decompress(raw, limit)
    elif names:
        raw = stream.read_bytes() if len(raw) <= OTHER_FILTERS_BYTES else b""
    return raw[:limit]
