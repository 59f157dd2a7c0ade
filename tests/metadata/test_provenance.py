"""Each fact points at the bytes that hold it: held over the originals of the corpus."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pikepdf
import pytest

from forensix.media import open_media
from forensix.metadata import child, reader
from forensix.metadata.blocks import xmp
from forensix.metadata.facts import Fact

LITERAL = (
    "xmp.", "exif.", "iptc.", "icc.", "jpeg.comment", "png.text.", "gif.comment", "container.tag.", "container.handler",
    "container.compressor", "container.brand", "container.writing_app", "container.muxing_app", "stream.encoder",
    "mpeg.encoder", "id3.T", "id3v1.", "vorbis.", "ape.", "device.", "pdf.version", "pdf.info.", "pdf.layer.",
    "pdf.embedded_file", "pdf.action.", "pdf.uri", "pdf.font", "pdf.language",
)  # fmt: skip
"""Facts that repeat what the file says; the others (dates, counts, names of codes) are worked out from it."""

MADE_OF_IT = (
    "container.brands",
    "exif.byte_order",
    "exif.note_of",
    "iptc.digest",
    "iptc.digest_now",
    "icc.version",
    "id3.TXXX",
    "xmp.source_type",
)
ENCODINGS = ("utf-8", "latin-1", "utf-16-le", "utf-16-be", "cp1252")
PACKED = (", compressed", ", coded", "zTXt", "iTXt", "MakerNote")
NEAR_BYTES = 160


def texts(value: Any) -> Iterator[str]:
    """Yield the texts that a value holds."""
    if isinstance(value, str):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts(part)


def in_pdf(data: bytes) -> str:
    """Return the string or name that an entry of a PDF dictionary has, as qpdf reads it, without its slash."""
    entry = re.match(rb"/[^\s/<>\[\]()]+\s*(<[^>]*>|/[^\s/<>\[\]()]*|\((?:[^()\\]|\\.|\([^()]*\))*\))", data, re.DOTALL)
    return str(pikepdf.Object.parse(entry[1])).removeprefix("/") if entry else ""


def held(fact: Fact, data: bytes) -> bool:
    """Tell whether the bytes at a fact's offset hold its value, in one of the usual encodings."""
    if fact.key.startswith("pdf.") and fact.key != "pdf.version":
        return in_pdf(data[fact.offset :])[: len(fact.value)] == fact.value.removeprefix("/")
    output = [t.strip() for t in texts(fact.value) if len(t.strip()) > 2 and "\ufffd" not in t]
    # Structures and lists write the names of their fields between the values.
    room = 12 * sum(len(t) for t in output) if isinstance(fact.value, list | dict) else 0
    assert fact.offset is not None
    window = data[fact.offset : fact.offset + NEAR_BYTES + room + 2 * max(map(len, output), default=0)]

    def written(text: str) -> Iterator[bytes]:
        start = text[:40]
        for encoding in ENCODINGS:
            yield start.encode(encoding, "replace")
        escaped = start.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        yield escaped.encode()
        yield escaped.replace("'", "&apos;").replace('"', "&quot;").encode()

    return all(any(form in window for form in written(text)) for text in output)


@pytest.mark.slow
@pytest.mark.parametrize("medium", ["image", "video", "audio", "pdf"])
def test_the_bytes_of_a_fact_hold_its_value(medium: str, corpora: Path) -> None:
    folder = corpora / "forensics"
    with (folder / "manifest.csv").open(encoding="utf-8", newline="") as file:
        paths = [folder / row["path"] for row in csv.DictReader(file) if row["media"] == medium]
    looked_at, elsewhere = 0, []
    for path in paths:
        with open_media(path) as media:
            facts = reader.from_values(child.read(str(path), media.kind, media.format, path.name))
        data = path.read_bytes()
        for fact in facts.items:
            literal = fact.key.startswith(LITERAL) and not fact.key.startswith(MADE_OF_IT)
            if fact.offset is None or not literal or any(mark in fact.where for mark in PACKED):
                continue
            looked_at += 1
            if not held(fact, data):
                elsewhere.append((path.name, fact))
    assert looked_at > 20
    assert elsewhere == []


def test_the_same_property_twice_points_at_each() -> None:
    packet = (
        b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        b'<rdf:Description xmlns:exif="http://ns.adobe.com/exif/1.0/" exif:FocalPlaneXResolution="5">'
        b'<tiff:XResolution xmlns:tiff="http://ns.adobe.com/tiff/1.0/">72/1</tiff:XResolution></rdf:Description>'
        b'<rdf:Description xmlns:xmp="http://ns.adobe.com/xap/1.0/"><xmp:Label>one</xmp:Label></rdf:Description>'
        b'<rdf:Description xmlns:xmp="http://ns.adobe.com/xap/1.0/"><xmp:Label>two</xmp:Label></rdf:Description>'
        b"</rdf:RDF></x:xmpmeta>"
    )
    facts, problems = xmp.parse(packet, "packet", 1000)
    assert problems == []
    by_key = {f.key + str(f.value): packet[f.offset - 1000 :] for f in facts if f.offset is not None}
    assert by_key["xmp.tiff.XResolution72/1"].startswith(b"<tiff:XResolution")
    assert by_key["xmp.exif.FocalPlaneXResolution5"].startswith(b'FocalPlaneXResolution="5"')
    assert by_key["xmp.xmp.Labelone"].startswith(b"<xmp:Label>one")
    assert by_key["xmp.xmp.Labeltwo"].startswith(b"<xmp:Label>two")


def test_what_a_packet_says_of_an_ingredient_is_not_said_of_the_picture() -> None:
    packet = (
        b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
        b' xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:xmpMM="http://ns.adobe.com/xap/1.0/mm/">'
        b'<rdf:Description xmp:CreatorTool="Adobe InDesign"><xmpMM:Pantry><rdf:Bag><rdf:li>'
        b'<rdf:Description xmp:CreatorTool="Adobe Firefly"/></rdf:li></rdf:Bag></xmpMM:Pantry></rdf:Description>'
        b"</rdf:RDF></x:xmpmeta>"
    )
    facts, problems = xmp.parse(packet, "packet")
    assert problems == []
    assert [f.value for f in facts if f.key == "xmp.xmp.CreatorTool"] == ["Adobe InDesign"]
    assert [f.value for f in facts if f.key == "xmp.xmpMM.Pantry"] == [[{"xmp.CreatorTool": "Adobe Firefly"}]]
