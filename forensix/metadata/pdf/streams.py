"""The content of a PDF's streams, inflated within bounds: a few kilobytes can stand for gigabytes."""

import zlib

import pikepdf

OTHER_FILTERS_BYTES = 1 << 16
"""Streams of other filters than deflation, which cannot be stopped halfway, are inflated up to this stored size."""

JPEG_HEAD_BYTES = 1 << 18
"""A JPEG's records stand at its beginning."""

ASCII_FILTERS = ("/ASCII85Decode", "/ASCIIHexDecode")
"""Ways to write bytes as text, which some programs wrap all pictures in."""

FILTERS = 4
"""Around the JPEG of one stream, at most."""

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
    names = _filters(stream)
    raw = stream.read_raw_bytes()
    if names == ["/FlateDecode"] and "/DecodeParms" not in stream:
        raw = deflated(raw, limit)
    elif names:
        raw = stream.read_bytes() if len(raw) <= OTHER_FILTERS_BYTES else b""
    return raw[:limit]


def deflated(raw: bytes, limit: int) -> bytes:
    """Return at most ``limit`` bytes of what was compressed, though its checksum were left out.

    PL/PDF, which makes reports and certificates in Oracle databases, writes zeros there; viewers do not look.

    Raises
    ------
    zlib.error
        It is damaged.
    """
    try:
        return zlib.decompressobj().decompress(raw, limit)
    except zlib.error:
        bare = zlib.decompressobj(-zlib.MAX_WBITS)
        data = bare.decompress(raw[2:], limit)
        if not bare.eof or bare.unused_data[:4] != bytes(4):
            raise
        return data


def jpeg(stream: pikepdf.Stream, limit: int) -> bytes | None:
    """Return at most ``limit`` bytes of the JPEG that a stream holds, ``None`` where it holds none.

    Raises
    ------
    zlib.error, pikepdf.PdfError, pikepdf.DataDecodingError
        What the JPEG is wrapped in is damaged.
    """
    *around, last = _filters(stream) or [""]
    if last != "/DCTDecode" or len(around) > FILTERS or not {*ASCII_FILTERS, "/FlateDecode"}.issuperset(around):
        return None
    raw = stream.read_raw_bytes()
    # Text takes at most about twice the bytes that it stands for.
    most = 2 * limit
    for name in around:
        raw = zlib.decompressobj().decompress(raw, most) if name == "/FlateDecode" else _from_text(raw[:most], name)
    return raw[:limit]


def _from_text(raw: bytes, name: str) -> bytes:
    with pikepdf.new() as document:
        return pikepdf.Stream(document, raw, Filter=pikepdf.Name(name)).read_bytes()


def _filters(stream: pikepdf.Stream) -> list[str]:
    filters = stream.get("/Filter")
    return [str(f) for f in filters] if isinstance(filters, pikepdf.Array) else [str(filters)] if filters else []
