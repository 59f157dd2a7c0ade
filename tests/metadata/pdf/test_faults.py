"""Faults of a PDF that honest programs leave are told apart from damage."""

import os
import re
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pikepdf
import pytest

from forensix import analyze
from forensix.metadata.pdf import reader as pdf

Change = Callable[[bytes], bytes]


def written(path: Path, *, in_streams: bool) -> bytes:
    with pikepdf.new() as built:
        built.add_blank_page()
        built.Root.State = pikepdf.Dictionary(Kinds=pikepdf.Name.SomeKindsOfThem)
        mode = pikepdf.ObjectStreamMode.generate if in_streams else pikepdf.ObjectStreamMode.disable
        built.save(path, object_stream_mode=mode, static_id=True)
    return path.read_bytes()


def scanned(bodies: list[bytes], trailer: bytes, first: int = 0) -> bytes:
    """Return a document as scanning programs write it, whose table says that it begins with an object."""
    data, rows = b"%PDF-1.7\n", b"0000000000 65535 f \n"
    for number, body in enumerate(bodies, 1):
        rows += b"%010d 00000 n \n" % len(data)
        data += b"%d 0 obj\r%s\rendobj\r" % (number, body)
    table = b"xref\n%d %d\n%s" % (first, len(bodies) + 1, rows)
    return data + table + b"trailer\n<</Size %d%s>>\nstartxref\n%d\n%%%%EOF\n" % (len(bodies) + 1, trailer, len(data))


def counted_from(by: int) -> Change:
    return lambda data: re.sub(rb"startxref\n(\d+)", lambda found: b"startxref\n%d" % (int(found[1]) + by), data)


def lists(more: int) -> Change:
    """Have the section list more rows than it holds, or less."""
    return lambda data: re.sub(rb"/Size (\d+)", lambda found: b"/Size %d" % (int(found[1]) + more), data)


def says(entry: bytes) -> Change:
    return lambda data: data.replace(b"/Kinds /SomeKindsOfThem", entry.ljust(23))


def short_rows(count: int) -> Change:
    """Leave out the space at the end of the first rows of the table; it stands behind the objects."""
    return lambda data: re.sub(rb"( \d{5} [nf]) \n", rb"\1\n", data, count=count)


@pytest.mark.parametrize(
    ("in_streams", "change", "is_grave"),
    [
        (False, counted_from(-1), False),
        (False, counted_from(-4), True),
        (False, lambda data: data + b"\n<html>" + b" " * 2000 + "Caf\u00e9".encode() + b"</html>", False),
        (False, lambda data: data + bytes(20_000), False),
        (False, lambda data: data + b"\n9 0 obj (Total 900) endobj", True),
        (False, lambda data: data + b"PK\x03\x04 hidden", True),
        (False, says(b"/Type/A /Type/A"), False),
        (False, says(b"/PageMode/A/PageMode/B"), False),
        (False, says(b"/Lang/A /Lang/B"), True),
        (False, short_rows(0), False),
        (False, short_rows(1), True),
        (True, lists(-1), False),
        (True, lists(1), True),
    ],
    ids=[
        "the line break before a table",
        "inside an object",
        "a page behind it",
        "an empty buffer behind it",
        "an object",
        "a file",
        "type twice",
        "what is shown beside the pages twice",
        "key twice",
        "each row short",
        "a row short",
        "a row too many",
        "too few",
    ],
)
def test_what_programs_leave_is_no_damage(in_streams: bool, change: Change, is_grave: bool, tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    data = written(path, in_streams=in_streams)
    assert not pdf.read(str(path)).problems
    path.write_bytes(change(data))
    problems = pdf.read(str(path)).problems
    assert problems and any(problem.grave for problem in problems) == is_grave, problems


def test_harmless_repairs_do_not_hide_a_grave_one(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    with pikepdf.new() as built:
        built.add_blank_page()
        built.Root.Many = pikepdf.Array(
            built.make_indirect({"/Kinds": pikepdf.Name.SomeKindsOfThem}) for _ in range(40)
        )
        built.save(path, object_stream_mode=pikepdf.ObjectStreamMode.disable, static_id=True)
    data = path.read_bytes().replace(b"/Kinds /SomeKindsOfThem", b"/Type/A /Type/A".ljust(23), 39)
    path.write_bytes(says(b"/Lang/A /Lang/B")(data))
    assert any("duplicated key /Lang" in p.message and p.grave for p in pdf.read(str(path)).problems)


def test_a_place_that_is_named_twice_is_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    with pikepdf.new() as built:
        built.add_blank_page()
        place = pikepdf.Array([built.pages[0].obj, pikepdf.Name.Fit])
        built.Root.Dests = built.make_indirect(pikepdf.Dictionary({f"/h.{n}": place for n in range(100, 140)}))
        built.save(path, object_stream_mode=pikepdf.ObjectStreamMode.disable, static_id=True)
    path.write_bytes(re.sub(rb"/h\.1\d\d", b"/h.100", path.read_bytes()))
    problems = pdf.read(str(path)).problems
    assert problems and not any(problem.grave for problem in problems), problems


@pytest.mark.parametrize(
    ("said", "held", "is_damaged"),
    [
        (b"/Length 2338/Type/Metadata", b"", False),
        (b"/Length 2338/Type/Metadata", b"<x:xmpmeta>", True),
        (b"/Length 2338/Type/EmbeddedFile", b"", True),
        (b"/Length 0/Subtype/Image", b"\1\2\3", False),
        (b"/Length 2/Subtype/Image", b"\1\2\3", True),
        (b"/Length 0/Subtype/Form", b"0 0 9 9 re f", True),
        (b"/Length 6/Filter/ASCII85Decode", b"87cUR~>", False),
        (b"/Length 5/Filter/ASCII85Decode", b"87cUR87cUR~>", True),
    ],
    ids=[
        "unwritten metadata",
        "cut metadata",
        "an emptied file",
        "an uncounted picture",
        "a picture",
        "a drawing",
        "an uncounted end",
        "more than its end",
    ],
)
def test_lengths_that_programs_get_wrong_are_no_damage(
    said: bytes, held: bytes, is_damaged: bool, tmp_path: Path
) -> None:
    path = tmp_path / "scan.pdf"
    stream = b"<<%s>>\rstream\n%s\rendstream" % (said, held) if held else b"<<%s>>\rstream\rendstream" % said
    bodies = [b"<</Type/Catalog/Pages 2 0 R/Metadata 4 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>"]
    bodies += [b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>", stream, b"<</Producer(HP Scan Extended Application)>>"]
    path.write_bytes(scanned(bodies, b"/Root 1 0 R/Info 4 0 R/Info 5 0 R"))
    found = pdf.read(str(path))
    assert found.problems and any(problem.grave for problem in found.problems) == is_damaged, found.problems


@pytest.mark.parametrize("is_damaged", [False, True], ids=["as written", "with an object that lies elsewhere"])
def test_a_table_that_counts_from_one_is_no_damage(is_damaged: bool, tmp_path: Path) -> None:
    path = tmp_path / "scan.pdf"
    bodies = [b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>", b"<</Type/Pages/Kids[1 0 R]/Count 1>>"]
    data = scanned([*bodies, b"<</Type/Catalog/Pages 2 0 R>>"], b"/Root 3 0 R", first=1)
    path.write_bytes(data.replace(b"/Count 1", b"/Count     1", 1) if is_damaged else data)
    found = pdf.read(str(path))
    assert found.problems and any(problem.grave for problem in found.problems) == is_damaged, found.problems


@pytest.mark.parametrize(("checksum", "is_damaged"), [(bytes(4), False), (b"\1\2\3\4", True)])
def test_a_checksum_that_was_left_out_is_no_damage(checksum: bytes, is_damaged: bool, tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    drawn = b"BT /F1 12 Tf 100 700 Td (Certificate) Tj ET"
    with pikepdf.new() as built:
        built.add_blank_page()
        built.pages[0].Contents = built.make_stream(
            zlib.compress(drawn)[:-4] + checksum, Filter=pikepdf.Name.FlateDecode
        )
        built.save(path, object_stream_mode=pikepdf.ObjectStreamMode.disable, static_id=True)
    assert any(problem.grave for problem in pdf.read(str(path)).problems) == is_damaged


@pytest.mark.skipif(sys.platform != "linux", reason="other systems take no such name")
def test_a_name_that_is_not_utf_8_is_no_fault_of_the_document(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9.pdf")
    written(path, in_streams=False)
    report = analyze(path)
    assert report.verdicts == {"forensic_analysis": "benign"}
    assert (report.info or {})["n_pages"] == 1


def test_the_parser_is_quoted_without_the_path_however_long_that_is(tmp_path: Path) -> None:
    folder = tmp_path / ("a" * 200) / ("b" * 200)
    folder.mkdir(parents=True)
    path = folder / "cut.pdf"
    path.write_bytes(written(path, in_streams=False)[:-60])
    said = [problem.message for problem in pdf.read(str(path)).problems if "repair" in problem.message]
    assert said and all("the file" in message and "aaa" not in message for message in said)
