"""Facts of pictures: which walker reads which format, and what is read from decoded pixels.

    image.size image.mode image.frames image.stealth                 the decoded picture, and text hidden in its alpha
    jpeg.* png.* gif.* webp.* heif.*                                  how each format is written, its texts and comments
    exif.* makernote.* iptc.* photoshop.* icc.* samsung.*             what cameras and programs add in any of them
    jpeg.maker jpeg.tables                                            whose encoder and which tables wrote the samples
    embedded.picture heif.picture heif.clip file.trailer              pictures and video inside; what follows the end
    device.* gps.* xmp.* c2pa.*                                       as in every medium

Every walker returns the same :class:`forensix.metadata.image.jpeg.Parts`. Decoding is tried once, by Pillow, so that a
picture that cannot be shown is told; embedded thumbnails and previews are handed on encoded.
"""

import io
import struct
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from forensix.media import cut_jpeg
from forensix.metadata.blocks import c2pa, exif, iptc, xmp
from forensix.metadata.facts import Fact, Facts, Node, Problem
from forensix.metadata.image import gif, heif, jpeg, jpeg_stream, png, webp
from forensix.metadata.image.parts import Parts

if TYPE_CHECKING:
    import numpy as np
    from PIL import Image

MAX_BYTES = 512 << 20
MAX_PIXELS = {"jpeg": 128_000_000, "webp": 40_000_000}
USUAL_MAX_PIXELS = 60_000_000
"""What is decoded here: of a JPEG only a sixteenth of the pixels are, and WebP's decoder holds them several times."""

MAX_PICTURES = 8
BROKEN_CODE = (
    "The compressed picture data is broken: a part was changed, moved or lost, though viewers may show something."
)
NO_DECODER = "The pixels are stored in a way (bits, colours or compression) that there is no decoder for here."
NO_DECODER_BEHIND = (
    "A picture behind the first, such as a mask, is stored in a way (bits, colours or compression) that there is no "
    "decoder for here."
)
DECODED_TIFFS = (1, 2, 3, 4, 5, 7, 8, 32773, 32946)
"""Compressions of TIFF that the decoder knows; raw files of cameras and scientific ones use others."""
DECODED_HEIFS = ("hvc1", "av01")
"""Codings of HEIF that the decoder knows; thermal and industrial cameras store pictures without compression."""

MAX_HIDDEN_BITS = 64 << 20
DEVICE_KEYS = (
    ("xmp.aux.SerialNumber", "device.serial"),
    ("xmp.aux.Lens", "device.lens"),
    ("xmp.aux.LensSerialNumber", "device.serial"),
)


def read(path: str, format: str) -> Facts:
    """Return the facts of one picture; what is broken becomes a problem, never an exception."""
    file = Path(path)
    with file.open("rb") as opened:
        data = opened.read(MAX_BYTES)
    walkers: dict[str, Callable[[bytes, Parts], Parts]] = {
        "jpeg": jpeg.parse, "png": png.parse, "gif": gif.parse, "webp": webp.parse, "heif": heif.parse,
        "avif": heif.parse,
        "tiff": tiff,
    }  # fmt: skip
    parts = Parts()
    try:
        walkers[format](data, parts)
    except Exception as error:
        message = f"The structure cannot be followed to its end ({type(error).__name__}: {str(error)[:120]})."
        parts.problem(message, "file", 0)
    try:
        parts.facts += c2pa.read(file, format)
    except Exception as error:
        parts.fact("c2pa.unreadable", f"{type(error).__name__}: {str(error)[:200]}", "C2PA")
    parts.take(*_decoded(data, format, parts))
    _maker_notes(data, format, parts)
    values = {f.key for f in parts.facts}
    for source, key in DEVICE_KEYS:
        if source in values and key not in values:
            fact = next(f for f in parts.facts if f.key == source)
            parts.fact(key, str(fact.value), fact.where, fact.offset)
    pictures = {name: raw for name, raw, _ in parts.thumbnails[:MAX_PICTURES]}
    parts.facts += [Fact("embedded.picture", {"name": n, "size": len(r)}, n, at) for n, r, at in parts.thumbnails]
    return Facts("image", format, tuple(parts.facts), tuple(parts.problems), tuple(parts.nodes), pictures)


def tiff(data: bytes, parts: Parts) -> Parts:
    """Walk a TIFF file into ``parts``: its directories, and the XMP, IPTC and Photoshop blocks that they point to."""
    own = exif.parse(data, "TIFF", 0, is_file=True)
    parts.take(own.facts, own.problems, own.thumbnails)
    parts.nodes += own.nodes
    for name, block, offset in own.blocks:
        parts.nodes.append(Node(f"{name} block", offset, len(block)))
        if name == "xmp":
            parts.take(*xmp.parse(block, "TIFF tag 0x02BC", offset))
        elif name == "photoshop":
            parts.take(*iptc.photoshop(block, "TIFF tag 0x8649", offset))
        elif name == "iptc":
            parts.facts += iptc.iim(block, "TIFF tag 0x83BB", offset)
    _strips(parts)
    return parts


def _strips(parts: Parts) -> None:
    if (
        not _is_cut(parts)
        and not any(
            f.key in ("exif.StripOffsets", "exif.TileOffsets", "exif.JPEGInterchangeFormat") for f in parts.facts
        )
        and not any(f.key.startswith("exif.IFD0.SubIFD") for f in parts.facts)
    ):
        parts.problem("The first directory names no image data (strips or tiles).", "TIFF IFD0", 0)


def _is_cut(parts: Parts) -> bool:
    """Tell whether the file was found to end early, which says it all."""
    return any("the file is truncated" in problem.message for problem in parts.problems)


def _has_pixels(parts: Parts) -> bool:
    """Tell whether the directories of a TIFF file state a size and can be followed without a fault."""
    stated = {f.key for f in parts.facts}
    return {"exif.ImageWidth", "exif.ImageLength"} <= stated and not any(p.grave for p in parts.problems)


def _is_coded_otherwise(parts: Parts) -> bool:
    """Tell whether a HEIF file can be followed without a fault and holds no picture that is coded as is known here."""
    coding = next((str(f.value).split() for f in parts.facts if f.key == "heif.coding"), [])
    return bool(coding) and not {*coding} & {*DECODED_HEIFS} and not any(p.grave for p in parts.problems)


def _decoded(data: bytes, format: str, parts: Parts) -> tuple[list[Fact], list[Problem]]:
    """Decode once and say what came of it."""
    if format == "jpeg" and not any(f.key == "jpeg.frame" for f in parts.facts):
        return [], [Problem("There is no frame header, so there is nothing to decode.", "decoder")]
    from PIL import Image, ImageFile, PngImagePlugin, UnidentifiedImageError

    ImageFile.LOAD_TRUNCATED_IMAGES = False
    Image.MAX_IMAGE_PIXELS = None
    # Workflows of generators are longer than Pillow's default allows.
    PngImagePlugin.MAX_TEXT_CHUNK = PngImagePlugin.MAX_TEXT_MEMORY = png.MAX_TEXT_BYTES
    if format in ("heif", "avif"):
        import pillow_heif

        pillow_heif.register_heif_opener()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data)) as image:
                width, height = image.size
                facts = _shape(image)
                if width * height <= MAX_PIXELS.get(format, USUAL_MAX_PIXELS):
                    if format == "jpeg":
                        # A quarter of the size decodes the whole stream at a fraction of the cost.
                        image.draft("RGB", (max(1, width // 4), max(1, height // 4)))
                    image.load()
                    facts += _hidden_text(image)
                    if format == "jpeg" and width * height <= jpeg_stream.MAX_PIXELS and jpeg_stream.is_broken(data):
                        return facts, [Problem(BROKEN_CODE, "decoder")]
                # Last, because a picture behind the first that cannot be opened leaves the decoder there.
                try:
                    return [*facts, _frames(image)], []
                except SyntaxError:
                    return facts, [Problem(NO_DECODER_BEHIND, "decoder", grave=False, unread=True)]
    except UnidentifiedImageError:
        if (format == "tiff" and _has_pixels(parts)) or (format == "heif" and _is_coded_otherwise(parts)):
            return [], [Problem(NO_DECODER, "decoder", grave=False, unread=True)]
        if _is_cut(parts):
            return [], []
        return [], [Problem("The decoder does not recognise a picture in this file.", "decoder")]
    except (
        OSError,
        ValueError,
        SyntaxError,
        struct.error,
        EOFError,
        IndexError,
        KeyError,
        TypeError,
        OverflowError,
    ) as error:
        cut = cut_jpeg.completed(data) if format == "jpeg" else None
        if cut is not None:
            with Image.open(io.BytesIO(cut[0])) as image:
                facts = [*_shape(image), _frames(image)]
            early = f"The compressed data end early: {cut_jpeg.share(cut[1])} of the pixels are missing."
            return facts, [Problem(early, "decoder")] if cut[1] else []
        compression = next((f.value for f in parts.facts if f.key == "exif.Compression"), 1)
        is_other_tiff = format == "tiff" and compression not in DECODED_TIFFS and _has_pixels(parts)
        if is_other_tiff or (format == "heif" and _is_coded_otherwise(parts)):
            return [], [Problem(NO_DECODER, "decoder", grave=False, unread=True)]
        if _is_cut(parts):
            return [], []
        # How many bytes of its buffer were left, which the decoder adds, says nothing of the file.
        why = str(error)[:160].partition(" (")[0] or type(error).__name__
        return [], [Problem(f"The picture cannot be decoded to its end: {why}.", "decoder")]
    except (MemoryError, Image.DecompressionBombError):
        return [], [Problem("The picture is too large to decode.", "decoder")]


def _shape(image: "Image.Image") -> list[Fact]:
    return [
        Fact("image.size", list(image.size), "decoder"),
        Fact("image.mode", image.mode, "decoder"),
    ]


def _frames(image: "Image.Image") -> Fact:
    return Fact("image.frames", getattr(image, "n_frames", 1), "decoder")


STEALTH = {"stealth_pnginfo": False, "stealth_pngcomp": True, "stealth_rgbinfo": False, "stealth_rgbcomp": True}


def _hidden_text(image: "Image.Image") -> list[Fact]:
    """Read parameters that generators hide in the lowest bits of alpha or colour, column by column."""
    if image.mode not in ("RGBA", "RGB") or image.format not in ("PNG", "WEBP") or image.height < 1:
        return []
    channels = ["A", "RGB"] if image.mode == "RGBA" else ["RGB"]
    for names in channels:
        per_column = image.height * len(names)
        head = _bits(image, names, -(-(120 + 32) // per_column))
        name = _bytes(head[:120]).decode("latin-1")
        if name not in STEALTH or head.size < 152:
            continue
        size = int.from_bytes(_bytes(head[120:152]), "big")
        if size > per_column * image.width or size > MAX_HIDDEN_BITS:
            continue
        raw = _bytes(_bits(image, names, -(-(152 + size) // per_column))[152 : 152 + size])
        if STEALTH[name]:
            try:
                raw = zlib.decompressobj(31).decompress(raw, MAX_HIDDEN_BITS)
            except zlib.error:
                continue
        where = f"lowest bits of {'alpha' if names == 'A' else 'colour'} ({name})"
        return [Fact("image.stealth", raw.decode("utf-8", "replace"), where)]
    return []


def _bits(image: "Image.Image", names: str, columns: int) -> "np.ndarray":
    """Return the lowest bits of the first columns, column by column; the rest of the picture is not copied."""
    import numpy as np

    part = np.asarray(image.crop((0, 0, min(columns, image.width), image.height)))
    values = part[..., 3:] if names == "A" else part[..., :3]
    return (values.transpose(1, 0, 2).reshape(-1) & 1).astype("uint8")


def _bytes(bits: "np.ndarray") -> bytes:
    import numpy as np

    return bytes(np.packbits(bits))


def _maker_notes(data: bytes, format: str, parts: Parts) -> None:
    """Read serial numbers out of maker notes, which each maker writes in its own way; exifread knows the common
    ones."""
    if not any(f.key == "exif.MakerNote" for f in parts.facts) or format not in ("jpeg", "tiff", "png", "webp"):
        return
    import exifread

    try:
        tags = exifread.process_file(io.BytesIO(data), details=True, extract_thumbnail=False)
    except Exception:  # A maker note that its reader trips over is no evidence of anything.
        return
    for name, tag in list(tags.items())[:2000]:
        if not name.startswith("MakerNote"):
            continue
        value = str(tag.printable).strip()
        if (
            value
            and value != "0"
            and name.rsplit(" ", 1)[-1] in ("SerialNumber", "InternalSerialNumber", "CameraSerialNumber")
        ):
            parts.fact("device.serial", value[:80], f"EXIF maker note, {name.removeprefix('MakerNote ')}")
        elif name.endswith(("FirmwareVersion", "ImageType", "OwnerName")) and value:
            parts.fact(f"makernote.{name.rsplit(' ', 1)[-1]}", value[:120], f"EXIF maker note, {name}")
