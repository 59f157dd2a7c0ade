"""Claims on pictures, one test per rule, on files that the test writes."""

import hashlib
import re
import struct
import time
from pathlib import Path

import pytest
from PIL import ImageOps

from forensix.forensics import claims, result
from forensix.forensics.findings import Finding
from forensix.forensics.rules import image_pixels
from forensix.media import open_media
from forensix.metadata import reader
from forensix.metadata.facts import Fact, Facts
from tests.forensics.rules.pictures import CAMERA, TAKEN, judge, named, noted, with_tags
from tests.metadata import making_images as make


def test_a_camera_original_is_not_suspected(tmp_path: Path) -> None:
    actual = judge(with_tags((0x0132, make.ASCII, "2020:01:02 03:04:06")), tmp_path)
    assert noted(actual) == []
    assert result(actual).document_details.source == "physical"
    assert result(actual).red_flags == {}


@pytest.mark.parametrize("tail", [b"\xff\xff", b"\n", b"\r\n\r\n", b"\x14"])
def test_a_few_bytes_of_padding_behind_a_picture_are_benign(tail: bytes, tmp_path: Path) -> None:
    actual = judge(with_tags() + tail, tmp_path)
    assert noted(actual) == []
    assert named(actual, "Data stands after the end of the content").severity == "benign"


def test_stripped_metadata_is_told_and_not_suspected(tmp_path: Path) -> None:
    actual = judge(make.jpeg(), tmp_path)
    assert noted(actual) == []
    assert named(actual, "The file says nothing about its origin").severity == "benign"


def test_an_editor_is_named_with_its_place(tmp_path: Path) -> None:
    data = with_tags((0x0131, make.ASCII, "Adobe Photoshop CS6 (Windows)"))
    actual = judge(data, tmp_path)
    claim = named(actual, "The file names the editing program Adobe Photoshop")
    assert claim.severity == "suspect"
    assert claim.claim.value == ("Adobe Photoshop CS6 (Windows)",)
    assert f"at byte {data.index(b'Adobe Photoshop CS6')}" in claim.claim.explanation
    output = result(actual)
    assert set(output.red_flags) == {"SUSPECT_SOFTWARE", "FILE_EDITED"}
    assert output.document_details.source == "software"


def test_several_editors_are_named_in_a_sentence_of_their_number(tmp_path: Path) -> None:
    tags = ((0x000B, "Affinity Photo 2"), (0x0131, "Adobe Photoshop CS6 (Windows)"), (0x013C, "GIMP 2.10"))
    actual = judge(with_tags(*((tag, make.ASCII, text) for tag, text in tags)), tmp_path)
    assert any(
        re.fullmatch(r"The file names the editing programs \w[\w ]+, \w[\w ]+ and \w[\w ]+", c) for c in noted(actual)
    )


def test_a_converter_raises_its_own_flag(tmp_path: Path) -> None:
    actual = judge(make.jpeg(make.segment(0xFE, b"CREATOR: gd-jpeg v1.0 (using IJG JPEG v62), quality = 90")), tmp_path)
    assert "SUSPECT_SOFTWARE_" in result(actual).red_flags
    assert "SUSPECT_SOFTWARE" not in result(actual).red_flags


def history(*actions: str, step: int = 1) -> bytes:
    rows = "".join(
        f"<rdf:li stEvt:action='{a}' stEvt:when='2020-01-0{i * step + 1}T00:00:00Z' stEvt:softwareAgent='Adobe "
        f"Photoshop 21.1' stEvt:changed='/'/>"
        for i, a in enumerate(actions)
    )
    return make.xmp_segment(make.xmp_packet(body=f"<xmpMM:History><rdf:Seq>{rows}</rdf:Seq></xmpMM:History>"))


def test_history_with_several_saves(tmp_path: Path) -> None:
    claim = named(
        judge(make.jpeg(history("created", "saved", "saved")), tmp_path),
        "The editing history holds 2 entries of saving",
    )
    assert claim.claim.type == "versions" and len(claim.claim.value) == 3
    assert claim.claim.value[2] == "2020-01-03T00:00:00Z saved Adobe Photoshop 21.1 (everything changed)"
    moment = judge(make.jpeg(history("saved", "converted", "saved", step=0)), tmp_path)
    claim = named(moment, "The editing history holds 3 entries of saving and converting, all at one moment")
    assert claim.severity == "suspect" and "all in one second" in claim.claim.explanation
    once = judge(make.jpeg(history("saved")), tmp_path)
    assert named(once, "The file keeps an editing history").severity == "benign"
    assert "The file names the editing program Adobe Photoshop" in noted(once)


def test_derived_from(tmp_path: Path) -> None:
    packet = make.xmp_packet(body="<xmpMM:DerivedFrom stRef:documentID='xmp.did:1' stRef:instanceID='xmp.iid:2'/>")
    claim = named(
        judge(make.jpeg(make.xmp_segment(packet)), tmp_path), "The file says that it was made from another document"
    )
    assert "documentID: xmp.did:1" in claim.claim.value


def test_photoshop_without_its_name(tmp_path: Path) -> None:
    data = make.jpeg(
        make.photoshop_segment(make.resource(0x0406, b"\0\x08\0\0\0\1\0"), make.resource(0x03ED, bytes(16)))
    )
    assert "The file holds blocks that Adobe's programs write, and names none of them" in noted(judge(data, tmp_path))
    ducky = make.jpeg(make.segment(0xEC, b"Ducky\0\1\0\4\0\0\0\x3c"))
    assert "The file holds blocks that Adobe's programs write, and names none of them" in noted(judge(ducky, tmp_path))


def test_a_stale_caption_digest(tmp_path: Path) -> None:
    import hashlib

    record = b"\x1c\x02\x78" + (5).to_bytes(2, "big") + b"title"
    stale = make.jpeg(make.photoshop_segment(make.resource(0x0404, record), make.resource(0x0425, b"\1" * 16)))
    claim = "The caption was changed after its digest was written"
    assert named(judge(stale, tmp_path), claim).severity == "benign"
    digest = hashlib.md5(record).digest()
    fresh = make.jpeg(make.photoshop_segment(make.resource(0x0404, record), make.resource(0x0425, digest)))
    assert claim not in [actual.claim.claim for actual in judge(fresh, tmp_path)]


@pytest.mark.parametrize("tag", ["Screenshot", "ASCII"])
def test_screenshots_by_tag(tag: str, tmp_path: Path) -> None:
    comment = b"ASCII\0\0\0" + tag.encode()
    actual = judge(
        make.jpeg(
            make.exif_segment(make.tiff_block([(0x0112, make.SHORT, 1)], exif=[(0x9286, make.UNDEFINED, comment)]))
        ),
        tmp_path,
    )
    said = [f.severity for f in actual if f.claim.claim == "The file says that it is a screenshot"]
    assert said == (["benign"] if tag == "Screenshot" else [])


def test_screenshots_by_tool(tmp_path: Path) -> None:
    actual = judge(make.png(make.text("Software", "gnome-screenshot")), tmp_path, "png")
    assert result(actual).document_details.source == "screenshot"
    assert "SCREENSHOT_SOFTWARE" in result(actual).red_flags


def test_a_screen_size_is_weak(tmp_path: Path) -> None:
    actual = judge(make.png(image=make.gradient(1170, 2532)), tmp_path, "png")
    assert named(actual, "The picture has the size of a screen").severity == "benign"
    camera = with_tags()
    assert not any(f.claim.type == "screenshot" for f in judge(camera, tmp_path))


def test_the_default_of_android_is_named(tmp_path: Path) -> None:
    actual = judge(with_tags(exif=[(0x9003, make.ASCII, "2002:12:08 12:00:00")]), tmp_path)
    assert "Android" in named(actual, "A date was never set").claim.explanation


def test_programs_that_no_table_holds_are_told_as_unknown(tmp_path: Path) -> None:
    firmware = judge(with_tags(), tmp_path)
    assert named(firmware, "The file states the version of the camera's firmware").severity == "benign"
    program = judge(with_tags((0x0131, make.ASCII, "Frobnicator Deluxe")), tmp_path)
    assert "Frobnicator" in named(program, "The file names a program that is not known here").claim.explanation


def test_what_stands_for_no_program_is_told_as_none(tmp_path: Path) -> None:
    found = judge(with_tags((0x0131, make.ASCII, "UnknownApplication")), tmp_path)
    assert not [f for f in found if "program that is not known" in f.claim.claim]


def test_very_many_unknown_programs_take_no_time() -> None:
    texts = tuple(Fact("png.text.Software", f"Frobnicator {i}", "tEXt chunk", i) for i in range(19_000))
    began_s = time.process_time()
    (actual,) = [f for f in claims(Facts("image", "png", texts)) if "not known here" in f.claim.claim]
    assert len(actual.facts) == 19_000
    assert time.process_time() - began_s < 4


def test_position_and_serial_number(tmp_path: Path) -> None:
    gps = [(1, make.ASCII, "N"), (2, make.RATIONAL, [46, 30, 0]), (3, make.ASCII, "W"), (4, make.RATIONAL, [7, 15, 0])]
    block = make.tiff_block(CAMERA, exif=[(0xA431, make.ASCII, "SN-77")], gps=gps)
    actual = judge(make.jpeg(make.exif_segment(block)), tmp_path)
    assert result(actual).document_details.GPS_location == "46.500000, -7.250000"
    assert named(actual, "The file holds serial numbers").claim.value == ("SN-77",)
    assert named(actual, "The file holds serial numbers").claim.user_category == "privacy"


def test_malformed_and_trailing_data(tmp_path: Path) -> None:
    cut = named(judge(make.jpeg()[:-30], tmp_path), "The file is malformed: its end is missing")
    assert "end-of-image" in cut.claim.explanation
    tail = judge(make.jpeg(tail=b"PK\x03\x04" + bytes(range(1, 200))), tmp_path)
    assert named(tail, "Data stands after the end of the content").severity == "suspect"
    preview = judge(make.jpeg(tail=make.jpeg()), tmp_path)
    assert named(preview, "Data stands after the end of the content").severity == "benign"


@pytest.mark.parametrize(("tail", "severity"), [(b"\x06\0\0\0ab", "benign"), (b"garbage", "suspect"), (None, "benign")])
def test_what_cameras_leave_at_the_end(tail: bytes | None, severity: str, tmp_path: Path) -> None:
    data = with_tags()
    # A card is written in whole sectors of 512 bytes, or clusters of more.
    data += b"x" * (-len(data) % 512) if tail is None else tail
    assert named(judge(data, tmp_path), "Data stands after the end of the content").severity == severity


@pytest.mark.parametrize(("size", "severity"), [(4096, "benign"), (4096 + 512, "suspect")])
def test_what_fills_the_last_cluster_of_a_card_is_a_cameras(size: int, severity: str, tmp_path: Path) -> None:
    data = with_tags()
    data = data.ljust(len(data) + 600, b"x").ljust(len(data) // 4096 * 4096 + size, b"x")
    assert named(judge(data, tmp_path), "Data stands after the end of the content").severity == severity


@pytest.mark.parametrize(
    ("tail", "whose"),
    [
        (b'vivo{"com.android.camera.hdr":1}\0\0\1\x99\xff\xff\xff\xff\x1b*9HWfu\x84\x93\xa2\xb1', "a vivo phone"),
        (b'\0One[{"length":4,"name":"watermark.device","offset":4}]jxrs\x3b\0\0\0', "an OPPO or OnePlus phone"),
        (bytes(14) + b"\xd0\x06" + bytes(99) + b"\x20\x15\0\0ctrace\0\0", "a Huawei phone"),
        (b"\x1c\x02\xdd\0\4\0\0\0\1" * 6 + b"\0\0\0\x36cbipcbbl", "Photo Mechanic"),
        (b"\0\x1c\2\0\0\2\0\2" * 6 + b"\0\0\0\2\0\0\0\x3a\xa1\xb2\xc3\xd4", "FotoStation"),
        (b"AXS!\0\1\0\2\0\0\0\0IPTC" + bytes(range(90)) + b"AXS!\0\0\0\xfb\0\0\0\0", "AFCP"),
    ],
)
def test_what_phones_and_press_programs_append_is_known_by_its_end(tail: bytes, whose: str, tmp_path: Path) -> None:
    claim = named(judge(make.jpeg(tail=tail), tmp_path), "Data stands after the end of the content")
    assert claim.severity == "benign" and whose in claim.claim.value[1]
    assert named(judge(make.jpeg(tail=tail + b"more"), tmp_path), claim.claim.claim).severity == "suspect"


def test_the_rest_of_a_longer_jpeg_that_a_picture_was_written_over_is_benign(tmp_path: Path) -> None:
    longer = make.jpeg()
    rest = longer[longer.index(b"\xff\xdb") :]
    claim = named(judge(make.jpeg(tail=rest), tmp_path), "Data stands after the end of the content")
    assert claim.severity == "benign" and claim.claim.value[1] == "the rest of a longer JPEG"
    assert named(judge(make.jpeg(tail=rest[:-2] + b"hidden"), tmp_path), claim.claim.claim).severity == "suspect"


def test_the_digest_that_a_messenger_appends_says_that_nothing_changed_since(tmp_path: Path) -> None:
    picture = make.jpeg()
    tail = (189_083_387).to_bytes(8, "little") + hashlib.md5(picture, usedforsecurity=False).digest()
    claim = named(judge(picture + tail, tmp_path), "Data stands after the end of the content")
    assert claim.severity == "benign" and "the MD5 is right" in claim.claim.explanation
    wrong = tail[:-1] + bytes([tail[-1] ^ 1])
    assert named(judge(picture + wrong, tmp_path), claim.claim.claim).severity == "suspect"
    for alone, severity in ((tail[:8], "benign"), (b"password", "suspect")):
        assert named(judge(picture + alone, tmp_path), claim.claim.claim).severity == severity


@pytest.mark.parametrize(
    ("gps", "claim", "words"),
    [
        (
            [(2, make.RATIONAL, [95, 0, 0]), (4, make.RATIONAL, [20, 0, 0])],
            "The position in the file is none on Earth",
            "90",
        ),
        (
            [(2, make.RATIONAL, [33, 0, 0]), (4, make.RATIONAL, [20, 0, 0])],
            "The file says where it was made",
            "assumed",
        ),
    ],
)
def test_positions_that_cannot_be_or_lack_a_side(gps: list[make.Tag], claim: str, words: str, tmp_path: Path) -> None:
    data = make.jpeg(make.exif_segment(make.tiff_block(CAMERA, gps=gps)))
    assert words in named(judge(data, tmp_path), claim).claim.explanation


def test_a_console_is_no_camera(tmp_path: Path) -> None:
    actual = judge(
        with_tags((0x010F, make.ASCII, "Nintendo co., ltd"), (0x0110, make.ASCII, "Nintendo Switch")), tmp_path
    )
    assert result(actual).document_details.source == "screenshot"


def test_a_wrong_name(tmp_path: Path) -> None:
    path = tmp_path / "picture.jpg"
    path.write_bytes(make.png())
    with open_media(path) as media:
        findings = claims(reader.read_facts(media), media)
    assert named(findings, "The file's name does not match its content").claim.value == (".jpg", "png")


@pytest.mark.parametrize("case", ["another block", "the same again", "another's lens"])
def test_two_cameras_in_one_file(case: str, tmp_path: Path) -> None:
    model = "Model Two" if case == "another block" else "Model One"
    second = make.exif_segment(make.tiff_block([(0x010F, make.ASCII, "Maker"), (0x0110, make.ASCII, model)]))
    lens = (0xA434, make.ASCII, "iPhone 13 back camera")
    data = with_tags(exif=[*TAKEN, lens]) if case == "another's lens" else with_tags(extra=second)
    claimed = [f.severity for f in judge(data, tmp_path) if f.claim.claim == "The file names two cameras"]
    assert claimed == ([] if case == "the same again" else ["suspect"])


@pytest.mark.parametrize(
    ("make_of", "note", "claimed"),
    [
        ("SONY", b"Nikon\0\x02\x10", True),
        ("NIKON CORPORATION", b"Nikon\0\x02\x10", False),
        ("LEICA CAMERA AG", b"Panasonic\0\0\0", False),
        ("Canon", b"AOC\0MM", True),
        ("NIKON CORPORATION", b"\x01\0\0Canon EOS 1000D\0\0", True),
        ("SONY", b"\x01\0\0IMG:PowerShot S40 JPEG\0\0", True),
        ("Canon", b"\x01\0\0Canon EOS 1000D\0\0", False),
        ("SAMSUNG TECHWIN", b"AOC\0MM", False),
        ("NIKON CORPORATION", b"PENTAX \0MM", True),
        ("RICOH IMAGING COMPANY, LTD.", b"PENTAX \0MM", False),
        ("Maker", b"note of its own", False),
    ],
)
def test_the_note_of_another_maker(make_of: str, note: bytes, claimed: bool, tmp_path: Path) -> None:
    data = with_tags((0x010F, make.ASCII, make_of), exif=[*TAKEN, (0x927C, make.UNDEFINED, note)])
    assert ("The file names two cameras" in noted(judge(data, tmp_path))) == claimed


@pytest.mark.parametrize(
    ("image_type", "claimed"),
    [
        ("IMG:PowerShot S40 JPEG", True),
        ("Canon EOS 350D DIGITAL", True),
        ("IMG:EOS 40D JPEG", False),
        ("Canon EOS 40D", False),
        ("ST*:Stitch assist mode", False),
    ],
)
def test_the_name_of_another_camera_in_the_note_of_canon(image_type: str, claimed: bool) -> None:
    facts = (Fact("exif.Model", "Canon EOS 40D", "IFD0"), Fact("makernote.ImageType", image_type, "EXIF maker note"))
    assert ("The file names two cameras" in noted(claims(Facts("image", "jpeg", facts)))) == claimed


@pytest.mark.parametrize(("lens", "claimed"), [("XF16-50mm", "benign"), ("iPhone 13 back camera", "suspect")])
def test_the_note_of_an_iphone_in_the_file_of_a_camera(lens: str, claimed: str, tmp_path: Path) -> None:
    exif = [*TAKEN, (0x927C, make.UNDEFINED, b"Apple iOS\0\0\1MM"), (0xA434, make.ASCII, lens)]
    findings = judge(with_tags((0x010F, make.ASCII, "FUJIFILM"), exif=exif), tmp_path)
    told = {"The file of a camera carries Apple's note": "benign", "The file names two cameras": "suspect"}
    assert {f.severity for f in findings if told.get(f.claim.claim) == f.severity} == {claimed}


@pytest.mark.parametrize(("model", "claimed"), [("Other 5", True), ("MODEL ONE", False), ("Maker Model One", False)])
def test_another_camera_in_xmp(model: str, claimed: bool, tmp_path: Path) -> None:
    packet = make.xmp_packet(f"tiff:Model='{model}' xmlns:tiff='http://ns.adobe.com/tiff/1.0/'")
    findings = judge(with_tags(extra=make.xmp_segment(packet)), tmp_path)
    told = [f.severity for f in findings if f.claim.claim == "XMP names another camera than EXIF does"]
    # Drones write a name of their own into XMP, so this accuses nobody.
    assert told == (["benign"] if claimed else [])
    assert "The file names two cameras" not in noted(findings)


@pytest.mark.parametrize(("model", "claimed"), [("iPhone 15 Pro", True), ("iPhone 11", False), ("Pixel 7", True)])
def test_a_telephone_is_not_older_than_itself(model: str, claimed: bool, tmp_path: Path) -> None:
    findings = noted(judge(with_tags((0x0110, make.ASCII, model)), tmp_path))
    assert ("The device is younger than the dates of the picture" in findings) == claimed


def test_places_that_were_retouched(tmp_path: Path) -> None:
    settings = "<crs:RetouchAreas><rdf:Seq>{}</rdf:Seq></crs:RetouchAreas><crs:HasCrop>{}</crs:HasCrop>"
    area = "<rdf:li crs:SpotType='heal' crs:Seed='1'/>"

    def found(body: str) -> tuple[Finding, ...]:
        space = "xmlns:crs='http://ns.adobe.com/camera-raw-settings/1.0/'"
        return judge(make.jpeg(make.xmp_segment(make.xmp_packet(space, body=body))), tmp_path)

    findings = found(settings.format(2 * area, "True"))
    claim = named(findings, "The file says that 2 places were retouched")
    assert (claim.severity, claim.claim.value[0]) == ("suspect", "SpotType heal, Seed 1")
    assert named(findings, "The picture was cut to a part of what was taken").severity == "benign"
    assert noted(found(settings.format("", "False"))) == []


def preview_of(image: object, data: object) -> bytes:
    block = make.tiff_block(CAMERA, thumbnail=make.encoded(image))
    return make.jpeg(make.exif_segment(block), image=data)


@pytest.mark.parametrize("case", ["same", "brighter", "painted", "turned", "other"])
def test_previews_against_the_picture(case: str, tmp_path: Path) -> None:
    image = make.gradient(256, 192)
    small = {"turned": make.gradient(80, 60, turn=1), "other": make.noise(80, 60)}.get(case, make.gradient(80, 60))
    if case == "painted":
        image.paste((250, 250, 250), (150, 20, 220, 90))
    if case == "brighter":
        image = image.point(lambda value: int(30 + 0.8 * value))
    path = tmp_path / "picture.jpg"
    path.write_bytes(preview_of(small, image))
    with open_media(path) as media:
        findings = claims(reader.read_facts(media), media)
    expected = {
        "same": None,
        "brighter": None,
        "painted": "A part of the picture is not as its preview shows it",
        "turned": "The picture was turned after its preview was made",
        "other": "An embedded preview shows another picture",
    }
    assert [c for c in noted(findings)] == ([] if case in ("same", "brighter", "turned") else [expected[case]])
    if expected[case]:
        assert named(findings, expected[case]).pictures[0][1][:2] == b"\xff\xd8"


@pytest.mark.parametrize(
    ("turn", "orientation", "severity"),
    [(1, 0, "benign"), (2, 1, "benign"), (3, 6, "benign"), (3, 8, "suspect"), (0, 0, "suspect")],
)
def test_viewers_turn_pictures_and_leave_previews_and_mirror_none(
    turn: int, orientation: int, severity: str, tmp_path: Path
) -> None:
    small = make.gradient(80, 60, turn=turn) if turn else ImageOps.mirror(make.gradient(80, 60))
    tag = [(0x0112, make.SHORT, orientation)] if orientation else []
    block = make.tiff_block([*CAMERA, *tag], thumbnail=make.encoded(small))
    path = tmp_path / "picture.jpg"
    path.write_bytes(make.jpeg(make.exif_segment(block), image=make.gradient(256, 192)))
    with open_media(path) as media:
        findings = claims(reader.read_facts(media), media)
    assert named(findings, "The picture was turned after its preview was made").severity == severity


def test_what_was_painted_into_a_picture_that_was_turned_is_told(tmp_path: Path) -> None:
    image = make.gradient(256, 192)
    image.paste((250, 250, 250), (160, 100, 210, 150))
    path = tmp_path / "picture.jpg"
    path.write_bytes(preview_of(make.gradient(80, 60, turn=1), image))
    with open_media(path) as media:
        findings = claims(reader.read_facts(media), media)
    claim = named(findings, "A part of the picture is not as its preview shows it")
    assert claim.severity == "suspect" and "turned" in claim.claim.explanation


@pytest.mark.parametrize(("name", "claimed"), [("EXIF IFD1 thumbnail", True), ("MPF picture 1", False)])
def test_a_map_of_light_beside_the_picture_is_no_changed_preview(name: str, claimed: bool) -> None:
    size, there = Fact("image.size", [400, 300], "", 0), Fact("embedded.picture", {"name": name}, "", 9)
    row = {"name": name, "size": [80, 60], "spread": 40.0, "likeness": 0.9, "most_changed": 55.0, "turn": "as it is"}
    measured = {"thumbnails": [{**row, "turned_likeness": 0.9, "turned_most_changed": 55.0, "pair": b""}]}
    findings = image_pixels.thumbnails(Facts("image", "jpeg", (size, there)), measured)
    assert [f.severity for f in findings] == (["suspect"] if claimed else [])


@pytest.mark.parametrize("likeness", [0.4, 0.6])
def test_the_coarse_preview_of_a_thermal_camera_accuses_nobody(likeness: float) -> None:
    items = [Fact("image.size", [640, 480], "SOF0")]
    items += [Fact("embedded.picture", {"name": "EXIF thumbnail", "size": 9}, "EXIF thumbnail", 2)]
    row = {"name": "EXIF thumbnail", "size": [80, 60], "spread": 50.0, "likeness": likeness, "most_changed": 55.0}
    measured = {
        "thumbnails": [{**row, "turn": "as it is", "turned_likeness": 0.1, "turned_most_changed": 55.0, "pair": b""}]
    }
    assert noted(image_pixels.thumbnails(Facts("image", "jpeg", tuple(items)), measured))
    items.append(Fact("jpeg.app", "APP1 FLIR", "APP1 segment"))
    assert list(image_pixels.thumbnails(Facts("image", "jpeg", tuple(items)), measured)) == []


@pytest.mark.parametrize(("kind", "claimed"), [(0, []), (0x010002, ["An embedded preview shows another picture"])])
def test_a_further_picture_of_another_look_is_no_preview(kind: int, claimed: list[str], tmp_path: Path) -> None:
    """A gain map, as telephones write it, is bright where lamps are and dark elsewhere."""
    second = make.encoded(make.noise(200, 150, seed=7))
    first = make.encoded(make.noise(400, 300))
    index = b"II*\0\x08\0\0\0" + struct.pack("<HHHIII", 1, 0xB002, 7, 32, 26, 0)
    size = len(first) + 8 + len(index) + 32
    rows = struct.pack("<IIIHH", 0x030000, size, 0, 0, 0) + struct.pack("<IIIHH", kind, len(second), size - 10, 0, 0)
    data = first[:2] + make.segment(0xE2, b"MPF\0" + index + rows) + first[2:] + second
    path = tmp_path / "picture.jpg"
    path.write_bytes(data)
    with open_media(path) as media:
        findings = claims(reader.read_facts(media), media)
    assert noted(findings) == claimed
    told = "The file holds further pictures beside the one that is shown (1)"
    assert [f.claim.claim for f in findings].count(told) == (kind == 0)
