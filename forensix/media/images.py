"""Decode one image with Pillow; runs in the sandbox, all but `shrunk`.

Every mode becomes RGB of 8 bits: transparency over white, grey of more bits by the range that it fills, CMYK and the
rest by Pillow, the orientation of EXIF applied. Colour profiles are not: detectors see the stored values, as they were
trained to; but HDR of HEIC and AVIF is shown as SDR (`forensix.media.tones`). Work is done in strips of rows, so that
memory stays near one decoded image.
"""

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PIL import ExifTags, Image, UnidentifiedImageError

from forensix.errors import BrokenMedia, LimitExceeded
from forensix.media import cut_jpeg

if TYPE_CHECKING:
    import numpy as np

_PLUGINS = {"jpeg": "JPEG", "png": "PNG", "tiff": "TIFF", "gif": "GIF", "webp": "WEBP", "heif": "HEIF"}
_EITHER = {"tiff": "stored in a way that is not supported (there is no decoder for it), or "}
_OR = {"tiff": ", or stored in a way that there is no decoder for"}
"""Formats that hold pixels in more ways than are decoded here: raw files of cameras, scientific ones."""

_STRIP_ROWS = 256
LARGE_PIXELS = 60_000_000
"""A larger JPEG that is wanted small is decoded at a fraction of its size."""

MAX_SCANNED_PIXELS = 2_000_000_000
"""Pixels times scans: each scan of a progressive JPEG goes over the whole picture, and ten or so are usual."""

MOST_WHITES = 16
"""Real numbers up to here are brightness with white at 1; beyond, numbers of 8 bits or more."""

_CLIP = re.compile(rb"\0\0\0[\x08-\x80]ftyp[\w ]{4}")
_DAMAGE = (OSError, SyntaxError, ValueError, EOFError, LookupError, TypeError, ArithmeticError)
"""What Pillow's plug-ins are known to raise on damaged files, apart from its own errors."""

# forensix has a limit of its own, with a sentence that says so.
Image.MAX_IMAGE_PIXELS = None
# What opens the usual formats is loaded now, once for all children, and not by each of them.
Image.preinit()


def probe(source: dict[str, str], max_pixels: int) -> dict[str, int | None]:
    """Return width, height (as displayed), number of frames and ``has_clip``, without decoding pixels."""
    with _open(source, max_pixels) as image:
        width, height = image.size
        if source["slug"] == "jpeg":
            _check_scans(source, width, height)
        if source["slug"] != "tiff" and _orientation(image) in (5, 6, 7, 8):
            width, height = height, width
        try:
            n_frames: int | None = int(getattr(image, "n_frames", 1))
        except _DAMAGE:
            n_frames = None
    has_clip = source["slug"] in ("jpeg", "heif") and _has_clip(Path(source["path"]).read_bytes())
    return {"width_px": width, "height_px": height, "n_frames": n_frames, "has_clip": has_clip}


def _has_clip(data: bytes) -> bool:
    """Tell whether an MP4 or QuickTime file stands in a picture: it begins, and further on its table of samples does.

    A HEIF file begins as they do, so what stands at the first byte is passed over.
    """
    start = _CLIP.search(data, 1)
    return start is not None and data.find(b"moov", start.end()) > 0


def _check_scans(source: dict[str, str], width: int, height: int) -> None:
    """Raise `LimitExceeded` for a JPEG with so many scans that decoding it takes minutes."""
    most = MAX_SCANNED_PIXELS // (width * height)
    n_scans = 0
    for kind, _ in cut_jpeg.segments(Path(source["path"]).read_bytes()):
        n_scans += kind == cut_jpeg.SCAN
        if n_scans > most:
            raise LimitExceeded(
                f"{source['name']} has more than {most} scans; the limit for {width} x {height} pixels is {most}"
            )


def decode(source: dict[str, str], max_pixels: int, max_side_px: int | None) -> dict[str, Any]:
    """Return ``rgb``, the first frame, uint8 (H, W, 3), at most ``max_side_px`` on its longer side, and ``warnings``.

    A JPEG that lost its last bytes is given where nearly all of it is there, and a warning says what is missing.
    """
    try:
        rgb, curve = _decoded(source, max_pixels, max_side_px)
        hdr = f"the picture is HDR ({curve}); it is looked at with its tones mapped to ordinary ones"
        return {"rgb": rgb, "warnings": [hdr] if curve else []}
    except BrokenMedia:
        completed = cut_jpeg.completed(Path(source["path"]).read_bytes()) if source["slug"] == "jpeg" else None
        if completed is None:
            raise
    data, missing = completed
    rgb, _ = _decoded(source, max_pixels, max_side_px, io.BytesIO(data))
    share = cut_jpeg.share(missing)
    warning = (
        f"{source['name']} was cut off: {share} of its pixels are missing, and what decoders fill in was looked at"
    )
    return {"rgb": rgb, "warnings": [warning] if missing else []}


def clear_share(source: dict[str, str], max_pixels: int) -> float:
    """Return the share of pixels of the first frame that are wholly transparent, [0, 1]."""
    import numpy as np

    with _open(source, max_pixels) as image:
        if not image.has_transparency_data:
            return 0.0
        image.load()
        rgba = image.convert("RGBA")
        clear = sum(int((np.asarray(strip)[..., 3] == 0).sum()) for _, strip in _strips(rgba))
        return clear / (image.width * image.height)


def _decoded(
    source: dict[str, str], max_pixels: int, max_side_px: int | None, file: io.BytesIO | None = None
) -> tuple["np.ndarray", str]:
    """Return the picture and the curve of its HDR, empty where it is none."""
    with _open(source, max_pixels, file) as image:
        if max_side_px and source["slug"] == "jpeg" and image.width * image.height > LARGE_PIXELS:
            image.draft("RGB", (max_side_px, max_side_px))
        try:
            image.load()
        except _DAMAGE as error:
            raise BrokenMedia(_damage(source, error)) from error
        rgb = _orient(_rgb(image), _orientation(image))
        transfer, primaries = _coding(source, image) if source["slug"] == "heif" else (0, 0)
    curve = ""
    if transfer:
        from forensix.media import tones

        curve = tones.hdr_curve(transfer)
        rgb = tones.as_sdr(rgb, curve, wide=tones.is_wide(primaries)) if curve else rgb
    return (shrunk(rgb, max_side_px) if max_side_px else rgb), curve


def _coding(source: dict[str, str], image: Image.Image) -> tuple[int, int]:
    """Return which curve and which colours a picture is coded by, as ITU-T H.273 numbers them; zeros if unknown."""
    if source["mime"] != "image/avif":
        coded = image.info.get("nclx_profile", {})
        return coded.get("transfer_characteristics", 0), coded.get("color_primaries", 0)
    from forensix.media.streams import open_container

    # Pillow decodes AVIF but does not tell.
    try:
        with open(source["path"], "rb") as file, open_container(file, source) as container:
            coded = container.streams.video[0].codec_context
            return coded.color_trc, coded.color_primaries
    except (BrokenMedia, IndexError):
        return 0, 0


def shrunk(rgb: "np.ndarray", max_side_px: int) -> "np.ndarray":
    """Return a picture, uint8 (H, W, 3), with ``max_side_px`` on its longer side, or as it is if that is less."""
    if max(rgb.shape[:2]) <= max_side_px:
        return rgb
    import numpy as np

    ratio = max_side_px / max(rgb.shape[:2])
    size = (max(1, round(rgb.shape[1] * ratio)), max(1, round(rgb.shape[0] * ratio)))
    return np.asarray(Image.fromarray(rgb).resize(size, Image.Resampling.LANCZOS))


def _open(source: dict[str, str], max_pixels: int, file: io.BytesIO | None = None) -> Image.Image:
    slug, name = source["slug"], source["name"]
    plugin = _PLUGINS[slug]
    if source["mime"] == "image/avif":
        plugin = "AVIF"
    elif slug == "heif":
        import pillow_heif

        pillow_heif.register_heif_opener()
    try:
        image = Image.open(file or source["path"], formats=[plugin])
    except UnidentifiedImageError as error:
        raise BrokenMedia(f"{name} is {_EITHER.get(slug, '')}damaged: its {slug} header cannot be read") from error
    except (Image.DecompressionBombError, *_DAMAGE) as error:
        raise BrokenMedia(_damage(source, error)) from error
    width, height = image.size
    if width * height > max_pixels:
        image.close()
        raise LimitExceeded(
            f"{name} has {width} x {height} pixels ({width * height / 1e6:.0f} megapixels); "
            f"the limit is {max_pixels / 1e6:.0f} megapixels"
        )
    return image


def _damage(source: dict[str, str], error: Exception) -> str:
    slug, name = source["slug"], source["name"]
    text = str(error).lower()
    cut = isinstance(error, EOFError) or any(word in text for word in ("truncated", "end of file", "eof", "not enough"))
    if cut:
        return f"{name} is truncated: the {slug} image ends before all of its pixels"
    return f"{name} is damaged{_OR.get(slug, '')}: its {slug} image cannot be decoded"


def _orientation(image: Image.Image) -> int:
    try:
        return int(image.getexif().get(ExifTags.Base.Orientation, 1))
    except (*_DAMAGE, AttributeError):
        return 1


def _orient(rgb: "np.ndarray", orientation: int) -> "np.ndarray":
    import numpy as np

    turned = {
        2: lambda a: a[:, ::-1],
        3: lambda a: a[::-1, ::-1],
        4: lambda a: a[::-1],
        5: lambda a: a.transpose(1, 0, 2),
        6: lambda a: a[::-1].transpose(1, 0, 2),
        7: lambda a: a[::-1, ::-1].transpose(1, 0, 2),
        8: lambda a: a.transpose(1, 0, 2)[::-1],
    }.get(orientation)
    return rgb if turned is None else np.ascontiguousarray(turned(rgb))


def _rgb(image: Image.Image) -> "np.ndarray":
    import numpy as np

    rgb = np.empty((image.height, image.width, 3), np.uint8)
    # Looked at once: crops do not keep the transparency of palettes and of grey or RGB key colours.
    transparency = image.info.get("transparency")
    scale = _grey_scale(image)
    for top, strip in _strips(image):
        if transparency is not None:
            strip.info["transparency"] = transparency
        rgb[top : top + strip.height] = _strip_rgb(strip, scale)
    if scale is not None and _is_white_zero(image):
        np.subtract(255, rgb, out=rgb)
    return rgb


def _strips(image: Image.Image) -> Iterator[tuple[int, Image.Image]]:
    for top in range(0, image.height, _STRIP_ROWS):
        yield top, image.crop((0, top, image.width, min(top + _STRIP_ROWS, image.height)))


def _strip_rgb(strip: Image.Image, scale: float | None) -> "np.ndarray":
    import numpy as np

    if scale is not None:
        grey = np.clip(np.nan_to_num(np.asarray(strip, np.float32)) * scale, 0, 255).astype(np.uint8)
        return np.repeat(grey[:, :, None], 3, axis=2)
    if strip.mode in ("LA", "PA", "La", "RGBA", "RGBa") or "transparency" in strip.info:
        rgba = strip.convert("RGBA")
        white = Image.new("RGBA", rgba.size, "white")
        strip = Image.alpha_composite(white, rgba)
    return np.asarray(strip.convert("RGB"))


def _is_white_zero(image: Image.Image) -> bool:
    """Tell whether a TIFF stores white as 0; Pillow turns such pictures round itself, but only up to 8 bits."""
    tags = getattr(image, "tag_v2", {}) if image.format == "TIFF" else {}
    return tags.get(ExifTags.Base.PhotometricInterpretation) == 0


def _grey_scale(image: Image.Image) -> float | None:
    """Return the factor to 8 bits for grey images of more; None for all others.

    Files seldom say how many of their bits are in use, so that the highest value has to tell. 8 bits in a wide
    container stay as they are, and what goes beyond 16 bits is taken by its highest value. Between them the values are
    of 10, 12 or 14 bits, as cameras and scanners give, where the highest needs just so many, and so is in the upper
    half of their range; else they are of 16, and a picture that is really dark stays so. Real numbers up to 1, or a few
    times that as of scenes brighter than white, have white at 1.
    """
    import numpy as np

    if image.mode not in ("I", "F") and not image.mode.startswith("I;16"):
        return None
    top = float(max(np.nan_to_num(np.asarray(strip)).max() for _, strip in _strips(image)))
    if image.mode == "F" and 0 < top <= MOST_WHITES:
        return 255.0
    if top <= 255:
        return 1.0
    if top >= 65536:
        return 255 / top
    n_bits = int(top).bit_length()
    return 2.0 ** (8 - (n_bits if n_bits in (10, 12, 14) else 16))
