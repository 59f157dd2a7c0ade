"""Pictures with hand-written metadata, made where they are needed."""

import io
import struct

from PIL import Image

from tests.making import png_chunk

ASCII, SHORT, LONG, RATIONAL, UNDEFINED = 2, 3, 4, 5, 7
EXIF_IFD, GPS_IFD = 0x8769, 0x8825


def gradient(width: int = 64, height: int = 48, turn: int = 0) -> Image.Image:
    """Return a picture without symmetry: brighter to the right, a dark corner, a bright bar."""
    image = Image.new("RGB", (width, height))
    image.putdata(
        [
            (
                x * 255 // width,
                40 if x < width // 3 and y < height // 3 else 120,
                230 if abs(y - height // 2) < 3 else 60,
            )
            for y in range(height)
            for x in range(width)
        ]
    )
    return image.rotate(90 * turn, expand=True)


def encoded(image: Image.Image, format: str = "JPEG", **options: object) -> bytes:
    """Return a picture's file."""
    buffer = io.BytesIO()
    image.save(buffer, format, **options)
    return buffer.getvalue()


Tag = tuple[int, int, object]


def tiff_block(
    tags: list[Tag],
    exif: list[Tag] = (),
    gps: list[Tag] = (),
    thumbnail: bytes = b"",
) -> bytes:
    """Return a little-endian TIFF structure with IFD0, EXIF and GPS directories and a thumbnail in IFD1."""
    sizes = [
        6 + 12 * (len(tags) + bool(exif) + bool(gps)),
        6 + 12 * len(exif) if exif else 0,
        6 + 12 * len(gps) if gps else 0,
    ]
    starts = [8, 8 + sizes[0], 8 + sizes[0] + sizes[1]]
    first = [*tags]
    if exif:
        first.append((EXIF_IFD, LONG, starts[1]))
    if gps:
        first.append((GPS_IFD, LONG, starts[2]))
    last = 8 + sum(sizes)
    thumb_size = 6 + 12 * 2 if thumbnail else 0
    values, bodies = bytearray(), []
    base = last + thumb_size

    def directory(entries: list[Tag], following: int) -> bytes:
        rows = b""
        for tag, kind, value in sorted(entries, key=lambda e: e[0]):
            raw, count = _raw(kind, value)
            if len(raw) > 4:
                at = base + len(values)
                values.extend(raw + b"\0" * (len(raw) % 2))
                raw = struct.pack("<I", at)
            rows += struct.pack("<HHI", tag, kind, count) + raw.ljust(4, b"\0")
        return struct.pack("<H", len(entries)) + rows + struct.pack("<I", following)

    bodies.append(directory(first, last if thumbnail else 0))
    if exif:
        bodies.append(directory(list(exif), 0))
    if gps:
        bodies.append(directory(list(gps), 0))
    if thumbnail:
        bodies.append(directory([(0x0201, LONG, base + len(values)), (0x0202, LONG, len(thumbnail))], 0))
        values += thumbnail
    return b"II*\0" + struct.pack("<I", 8) + b"".join(bodies) + bytes(values)


def _raw(kind: int, value: object) -> tuple[bytes, int]:
    if kind == ASCII:
        raw = str(value).encode() + b"\0"
        return raw, len(raw)
    if kind == UNDEFINED:
        return bytes(value), len(bytes(value))
    numbers = list(value) if isinstance(value, list | tuple) else [value]
    if kind == RATIONAL:
        return b"".join(struct.pack("<II", int(n * 1000), 1000) for n in numbers), len(numbers)
    return struct.pack("<" + {SHORT: "H", LONG: "I"}[kind] * len(numbers), *numbers), len(numbers)


def segment(marker: int, body: bytes) -> bytes:
    """Return one JPEG segment."""
    return bytes((0xFF, marker)) + struct.pack(">H", len(body) + 2) + body


def jpeg(*segments: bytes, image: Image.Image | None = None, quality: int = 75, tail: bytes = b"") -> bytes:
    """Return a JPEG with segments behind its start and bytes behind its end."""
    plain = encoded(image or gradient(), quality=quality)
    return plain[:2] + b"".join(segments) + plain[2:] + tail


def exif_segment(block: bytes) -> bytes:
    """Return the APP1 segment that holds an EXIF block."""
    return segment(0xE1, b"Exif\0\0" + block)


def xmp_segment(packet: str) -> bytes:
    """Return the APP1 segment that holds an XMP packet."""
    return segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0" + packet.encode())


def xmp_packet(attributes: str = "", body: str = "") -> str:
    """Return an XMP packet with attributes and elements of one description."""
    names = " ".join(
        f'xmlns:{prefix}="{uri}"'
        for prefix, uri in (
            ("xmp", "http://ns.adobe.com/xap/1.0/"),
            ("xmpMM", "http://ns.adobe.com/xap/1.0/mm/"),
            ("stEvt", "http://ns.adobe.com/xap/1.0/sType/ResourceEvent#"),
            ("stRef", "http://ns.adobe.com/xap/1.0/sType/ResourceRef#"),
            ("photoshop", "http://ns.adobe.com/photoshop/1.0/"),
            ("exif", "http://ns.adobe.com/exif/1.0/"),
            ("Iptc4xmpExt", "http://iptc.org/std/Iptc4xmpExt/2008-02-29/"),
        )
    )
    return (
        "<?xpacket begin='' id='W5M0MpCehiHzreSzNTczkc9d'?><x:xmpmeta xmlns:x='adobe:ns:meta/'>"
        "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>"
        f"<rdf:Description rdf:about='' {names} {attributes}>{body}</rdf:Description></rdf:RDF></x:xmpmeta>"
        "<?xpacket end='w'?>"
    )


def resource(identifier: int, content: bytes) -> bytes:
    """Return one Photoshop image resource."""
    return (
        b"8BIM"
        + struct.pack(">HH", identifier, 0)
        + struct.pack(">I", len(content))
        + content
        + b"\0" * (len(content) % 2)
    )


def photoshop_segment(*resources: bytes) -> bytes:
    """Return the APP13 segment that holds image resources."""
    return segment(0xED, b"Photoshop 3.0\0" + b"".join(resources))


def png(*chunks: bytes, image: Image.Image | None = None, tail: bytes = b"") -> bytes:
    """Return a PNG with chunks behind its header and bytes behind its end."""
    plain = encoded(image or gradient(), "PNG")
    return plain[:33] + b"".join(chunks) + plain[33:] + tail


def text(keyword: str, value: str) -> bytes:
    """Return a tEXt chunk."""
    return png_chunk(b"tEXt", keyword.encode() + b"\0" + value.encode())


def noise(width: int, height: int, seed: int = 0) -> Image.Image:
    """Return smooth noise, like a photograph in that neighbouring pixels are alike."""
    import numpy as np

    rough = np.random.default_rng(seed).integers(0, 256, (8, 8, 3), dtype=np.uint8)
    return Image.fromarray(rough).resize((width, height), Image.Resampling.BICUBIC)
