"""Thumbnails of a HEIF picture, decoded as viewers decode them and handed on as PNG."""

import io

from forensix.metadata.image.heif_items import Items

MOST = 4
MAX_PIXELS = 4_000_000

Thumbnails = list[tuple[str, bytes, int]]


def thumbnails(data: bytes, items: Items) -> Thumbnails:
    """Return name, PNG and place of the thumbnails of the picture that is shown; none of AVIF, which is not decoded.

    Reading ends at the first that cannot be decoded: phones write thumbnails that some decoders refuse.
    """
    own = [
        items.by_number[number]
        for number, of in items.referring("thmb").items()
        if items.primary in of and number in items.by_number
    ]
    if not own or any(item.kind == "av01" or _n_pixels(item.size_px) > MAX_PIXELS for item in own):
        return []
    import pillow_heif

    found: Thumbnails = []
    try:
        file = pillow_heif.open_heif(data)
        image = file[file.primary_index]
        for index, item in enumerate(own[:MOST]):
            out = io.BytesIO()
            image.get_thumbnail(index).to_pillow().convert("RGB").save(out, "PNG")
            name = "HEIF thumbnail" if index == 0 else f"{index + 1}. HEIF thumbnail"
            found.append((name, out.getvalue(), item.extents[0][0] if item.extents else 0))
    except (ValueError, RuntimeError, OSError, EOFError, SyntaxError, IndexError, TypeError, MemoryError):
        return found
    return found


def _n_pixels(size: list[int] | None) -> int:
    return size[0] * size[1] if size else 0
