"""Facts of pictures of every format, and bad input of every format."""

import random
import struct
import time
import zlib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from forensix.errors import BrokenMedia
from forensix.media import open_media
from forensix.media.sandbox import call
from forensix.metadata import child, reader
from forensix.metadata.facts import FEW, Fact, Facts
from forensix.metadata.image import gif, heif, jpeg, png, trailers, webp
from forensix.metadata.image.reader import NO_DECODER, NO_DECODER_BEHIND
from tests.making import png_chunk, write_image
from tests.metadata import making_images as make

FORMATS = {"jpeg": "JPEG", "png": "PNG", "tiff": "TIFF", "gif": "GIF", "webp": "WEBP", "heif": "HEIF"}


def sample(format: str) -> bytes:
    """Return a picture that carries EXIF and XMP where its format can."""
    image = make.gradient(96, 64)
    block = make.tiff_block(
        [(0x010F, make.ASCII, "Maker"), (0x0131, make.ASCII, "Program 2")],
        exif=[(0x9003, make.ASCII, "2020:01:02 03:04:05")],
    )
    packet = make.xmp_packet('xmp:CreatorTool="Program 1"')
    if format == "jpeg":
        return make.jpeg(make.exif_segment(block), make.xmp_segment(packet), image=image)
    if format == "png":
        return make.png(png_chunk(b"eXIf", block), png_chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + packet.encode()))
    if format == "heif":
        import pillow_heif

        pillow_heif.register_heif_opener()
    options = {"exif": b"Exif\0\0" + block, "xmp": packet.encode()} if format in ("webp", "heif") else {}
    return make.encoded(image, FORMATS[format], **options)


def facts_of(data: bytes, format: str, folder: Path, name: str | None = None) -> Facts:
    path = folder / (name or f"picture.{format}")
    path.write_bytes(data)
    return reader.from_values(child.read(str(path), "image", format, path.name))


@pytest.mark.parametrize("format", FORMATS)
def test_sound_files_have_no_problems(format: str, tmp_path: Path) -> None:
    facts = facts_of(sample(format), format, tmp_path)
    assert facts.problems == ()
    assert facts.structure
    assert facts.get("image.size") in ([96, 64], [64, 48])
    assert facts.get("file.size") == (tmp_path / f"picture.{format}").stat().st_size


@pytest.mark.parametrize("format", ["jpeg", "png", "webp", "heif"])
def test_exif_and_xmp_in_every_container(format: str, tmp_path: Path) -> None:
    data = sample(format)
    facts = facts_of(data, format, tmp_path)
    assert facts.get("exif.Make") == "Maker"
    assert facts.get("xmp.xmp.CreatorTool") == "Program 1"
    offset = facts.fact("exif.Software").offset
    assert data[offset:].startswith(b"Program 2")


def test_the_sandbox_gives_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORENSIX_EXIFTOOL", "off")
    path = tmp_path / "a.jpg"
    path.write_bytes(sample("jpeg"))
    with open_media(path) as media:
        facts = reader.read_facts(media)
    here = reader.from_values(child.read(str(path), "image", "jpeg", "a.jpg"))
    assert facts == here
    assert facts.get("file.extension_fits") is True


def test_a_wrong_name_is_told(tmp_path: Path) -> None:
    assert facts_of(sample("png"), "png", tmp_path, "a.jpg").get("file.extension_fits") is False


@pytest.mark.parametrize(
    ("format", "name", "fits"),
    [
        ("tiff", "a.tif", True),
        ("tiff", "DSC_1.NEF", True),
        ("tiff", "a.dng", True),
        ("tiff", "a.jpg", False),
        ("jpeg", "MVI_1.THM", True),
        ("jpeg", "a.nef", False),
    ],
)
def test_names_that_cameras_give_fit(format: str, name: str, fits: bool, tmp_path: Path) -> None:
    assert facts_of(sample(format), format, tmp_path, name).get("file.extension_fits") is fits


@pytest.mark.parametrize(("tag", "value"), [(0x0103, 52546), (0x0103, 50000), (0x0106, 32803)])
def test_pixels_without_a_decoder_are_no_damage(tag: int, value: int, tmp_path: Path) -> None:
    data = bytearray(make.encoded(make.gradient(), "TIFF"))
    entry = data.index(struct.pack("<HH", tag, 3), int.from_bytes(data[4:8], "little"))
    data[entry + 8 : entry + 10] = value.to_bytes(2, "little")
    problems = facts_of(bytes(data), "tiff", tmp_path).problems
    assert [(p.unread, p.grave, p.message) for p in problems] == [(True, False, NO_DECODER)]
    with open_media(bytes(data), name="a.tif") as media, pytest.raises(BrokenMedia, match="no decoder"):
        media.image()


def test_a_mask_behind_a_picture_that_decodes_is_no_damage(tmp_path: Path) -> None:
    mask = make.gradient().convert("1")
    data = bytearray(make.encoded(make.gradient(), "TIFF", save_all=True, append_images=[mask]))
    behind = data.rindex(struct.pack("<HHIH", 0x0106, 3, 1, 1))
    data[behind + 8] = 4
    facts = facts_of(bytes(data), "tiff", tmp_path)
    assert [(p.unread, p.grave, p.message) for p in facts.problems] == [(True, False, NO_DECODER_BEHIND)]
    assert facts.get("image.size") == [64, 48]


@pytest.mark.parametrize(
    ("packet", "grave"),
    [
        ("any old text", False),
        ("<x:xmpmeta", True),
        ("text" * 999, True),
        ("<x><rdf:RDF><y>Smith & Sons</y></rdf:RDF></x>", False),
        ("<x><rdf:RDF><y>Smith & Sons</y>", True),
    ],
)
def test_xmp_without_markup_or_with_a_name_as_it_was_typed_is_a_small_fault(
    packet: str, grave: bool, tmp_path: Path
) -> None:
    assert [p.grave for p in facts_of(make.jpeg(make.xmp_segment(packet)), "jpeg", tmp_path).problems] == [grave]


def test_png_text_and_checksum(tmp_path: Path) -> None:
    good = make.png(make.text("Comment", "Created by hand"))
    assert facts_of(good, "png", tmp_path).get("png.text.Comment") == "Created by hand"
    at = good.index(b"Created by hand")
    bad = good[:at] + b"X" + good[at + 1 :]
    assert any("checksum of chunk tEXt" in p.message for p in facts_of(bad, "png", tmp_path).problems)


@pytest.mark.parametrize("format", ["png", "gif", "webp", "tiff", "jpeg", "heif"])
def test_truncation_is_told(format: str, tmp_path: Path) -> None:
    data = sample(format)
    for share in (0.3, 0.6, 0.9):
        assert facts_of(data[: int(share * len(data))], format, tmp_path).problems, share


def test_a_picture_that_was_cut_is_said_to_be_truncated_and_nothing_else(tmp_path: Path) -> None:
    lzw = make.encoded(make.gradient(96, 64), "TIFF", compression="tiff_lzw")
    for format, data in (("webp", sample("webp")), ("tiff", lzw)):
        words = [problem.message for problem in facts_of(data[: len(data) * 2 // 3], format, tmp_path).problems]
        assert "the file is truncated" in words[0], words
        assert not any("decode" in message or "image data" in message for message in words), words


def test_a_gif_of_which_the_last_byte_alone_is_missing_is_a_small_fault(tmp_path: Path) -> None:
    data = sample("gif")
    assert data[-1:] == b";"
    assert [problem.grave for problem in facts_of(data[:-1], "gif", tmp_path).problems] == [False]
    assert any(problem.grave for problem in facts_of(data[:-4], "gif", tmp_path).problems)


def test_truncation_at_every_percent(tmp_path: Path) -> None:
    data = make.jpeg(
        make.exif_segment(make.tiff_block([(0x010F, make.ASCII, "M")], thumbnail=make.encoded(make.gradient())))
    )
    for percent in range(1, 100):
        assert facts_of(data[: percent * len(data) // 100 or 1], "jpeg", tmp_path).problems, percent


@pytest.mark.parametrize("format", FORMATS)
def test_mutations_never_raise(format: str, tmp_path: Path) -> None:
    data = sample(format)
    rng = random.Random(f"mutate {format}")
    for _ in range(60):
        broken = bytearray(data)
        for _ in range(rng.randint(1, 12)):
            at = rng.randrange(len(broken))
            choice = rng.random()
            if choice < 0.6:
                broken[at] = rng.choice((0, 0xFF, 0x7F, rng.randrange(256)))
            elif choice < 0.8:
                del broken[at : at + rng.randint(1, 40)]
            else:
                broken[at:at] = rng.randbytes(rng.randint(1, 40))
        facts = facts_of(bytes(broken), format, tmp_path)
        assert facts.kind == "image"
        assert facts.get("file.size") == len(broken)


@pytest.mark.parametrize(
    ("module", "limit"), [(gif, "MAX_BLOCKS"), (png, "MAX_CHUNKS"), (webp, "MAX_CHUNKS"), (heif, "MAX_BOXES")]
)
def test_of_a_file_of_many_blocks_the_rest_is_told_to_be_unread(
    module: ModuleType, limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, limit, 1)
    format = module.__name__.rsplit(".", 1)[-1]
    facts = facts_of(sample(format), format, tmp_path)
    assert [(p.message, p.unread) for p in facts.problems] == [
        ("The file has more than 1 blocks; those from here on were not read.", True)
    ]


def test_what_was_read_before_a_walk_fails_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(data: bytes, parts: object) -> None:
        raise ValueError("no such trailer")

    monkeypatch.setattr(trailers, "read", fail)
    assert jpeg.trailers is trailers
    facts = facts_of(sample("jpeg"), "jpeg", tmp_path)
    assert facts.get("exif.Make") == "Maker"
    assert [p.message for p in facts.problems] == [
        "The structure cannot be followed to its end (ValueError: no such trailer)."
    ]


def test_an_entity_bomb_is_refused(tmp_path: Path) -> None:
    head = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
    bomb = head + '<x:xmpmeta xmlns:x="adobe:ns:meta/">&b;</x:xmpmeta>'
    facts = facts_of(make.jpeg(make.xmp_segment(bomb)), "jpeg", tmp_path)
    assert any("XMP" in p.message for p in facts.problems)


def test_hidden_parameters(tmp_path: Path) -> None:
    text = b"a cat\nSteps: 20, Sampler: Euler a, CFG scale: 7, Seed: 1"
    bits = "".join(f"{b:08b}" for b in b"stealth_pnginfo") + f"{8 * len(text):032b}" + "".join(f"{b:08b}" for b in text)
    image = make.gradient(64, 64).convert("RGBA")
    for i, bit in enumerate(bits):
        x, y = divmod(i, 64)
        r, g, b, _ = image.getpixel((x, y))
        image.putpixel((x, y), (r, g, b, 254 | int(bit)))
    assert facts_of(make.encoded(image, "PNG"), "png", tmp_path).get("image.stealth") == text.decode()


def test_long_text_is_no_fault(tmp_path: Path) -> None:
    data = make.png(png_chunk(b"zTXt", b"workflow\0\0" + zlib.compress(b"x" * (3 << 20))))
    facts = facts_of(data, "png", tmp_path)
    assert len(facts.get("png.text.workflow")) == 3 << 20
    assert facts.problems == ()


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xd8" + b"\xff" * (4 << 20),
        b"\xff\xd8" + b"\xff\xd0" * (2 << 20),
        make.jpeg()[:-2] + b"\xff" * (4 << 20),
        make.png(*[png_chunk(b"zTXt", b"k\0\0" + zlib.compress(bytes(8 << 20)))] * 40),
    ],
    ids=["fill bytes", "restart markers", "scan without an end", "inflating text"],
)
def test_bombs_stay_within_bounds(data: bytes, tmp_path: Path) -> None:
    format = "png" if data.startswith(b"\x89PNG") else "jpeg"
    start = time.process_time()
    facts = facts_of(data, format, tmp_path)
    assert time.process_time() - start < 5
    assert facts.problems
    assert sum(len(str(f.value)) for f in facts.items) < 64 << 20


@pytest.mark.parametrize("progressive", [False, True])
def test_code_that_viewers_put_up_with_is_told(progressive: bool, tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (160, 200, 3), np.uint8)
    data = write_image(tmp_path / "whole.jpg", noise, quality=80, progressive=progressive).read_bytes()
    assert not facts_of(data, "jpeg", tmp_path).problems
    start = data.index(b"\xff\xda") + 200
    said = 0
    for at in range(start, len(data) - 400, (len(data) - start) // 12):
        cut = facts_of(data[:at] + data[at + 150 :], "jpeg", tmp_path)
        said += any("The compressed picture data is broken" in p.message for p in cut.problems)
    assert said >= 6


def test_a_large_picture_takes_no_more_memory_than_it_may(tmp_path: Path) -> None:
    row = b"\0" + bytes(4 * 7500)
    packer = zlib.compressobj(1)
    pixels = b"".join([packer.compress(row * 75) for _ in range(100)]) + packer.flush()
    header = (7500).to_bytes(4, "big") * 2 + b"\x08\x06\0\0\0"
    chunks = [png_chunk(b"IHDR", header), png_chunk(b"IDAT", pixels), png_chunk(b"IEND", b"")]
    path = tmp_path / "a.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunks))
    values = call("forensix.metadata.child:read", str(path), "image", "png", "a.png", memory_bytes=1 << 30)
    facts = reader.from_values(values)
    assert facts.get("image.size") == [7500, 7500]
    assert not facts.problems


@pytest.mark.parametrize("interlaced", [False, True])
def test_no_more_of_a_picture_is_inflated_than_it_has(interlaced: bool, tmp_path: Path) -> None:
    # Every pass of the interlaced picture holds whole rows; what follows would be inflated to no end.
    passes = [(1, 1), (1, 1), (2, 1), (2, 2), (4, 2), (4, 4), (8, 4)] if interlaced else [(8, 8)]
    rows = b"".join((b"\0" + bytes(3 * width)) * height for width, height in passes)
    header = (8).to_bytes(4, "big") * 2 + b"\x08\x02\0\0" + bytes([interlaced])

    def facts_with(behind: int) -> Facts:
        pixels = zlib.compress(rows + bytes(behind), 9)
        chunks = [png_chunk(b"IHDR", header), png_chunk(b"IDAT", pixels), make.text("parameters", "a cat")]
        chunks.append(png_chunk(b"IEND", b""))
        return facts_of(b"\x89PNG\r\n\x1a\n" + b"".join(chunks), "png", tmp_path)

    assert not facts_with(0).problems
    facts = facts_with(1 << 26)
    assert facts.get("png.text.parameters") == "a cat"
    assert [(p.grave, p.where) for p in facts.problems] == [(False, "IDAT")]


@pytest.mark.parametrize("format", ["jpeg", "png"])
def test_metadata_without_end_is_left_and_said_to_be(format: str, tmp_path: Path) -> None:
    packet = make.xmp_packet("", "".join(f"<xmp:L{i}>x</xmp:L{i}>" for i in range(1900))).encode()
    if format == "jpeg":
        data = make.jpeg(*[make.xmp_segment(packet.decode())] * 30)
    else:
        data = make.png(*[png_chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + packet)] * 30)
    facts = facts_of(data, format, tmp_path)
    assert len(facts.items) < 22_500 and facts.get("image.size") == [64, 48]
    assert [(p.unread, p.grave) for p in facts.problems if "metadata" in p.message] == [(True, False)]


def test_a_rule_reads_few_of_the_texts_of_one_key() -> None:
    facts = Facts("image", "png", tuple(Fact(key, i, "here") for i in range(200) for key in ("a", "b")))
    assert [(f.key, f.value) for f in facts.few()] == [(key, i) for i in range(FEW) for key in ("a", "b")]


def test_a_tag_of_very_many_numbers_stays_bytes(tmp_path: Path) -> None:
    block = make.tiff_block([(0x9999, make.LONG, list(range(5000))), (0x9998, make.LONG, list(range(4000)))])
    facts = facts_of(make.jpeg(make.exif_segment(block)), "jpeg", tmp_path)
    assert isinstance(facts.get("exif.0x9999"), bytes) and facts.get("exif.0x9998") == list(range(4000))
