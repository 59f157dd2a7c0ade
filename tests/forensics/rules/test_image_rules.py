"""Claims on pictures, one test per rule, on files that the test writes."""

import json
from pathlib import Path

import pytest

from forensix.forensics import claims, result
from forensix.forensics.findings import Finding
from forensix.forensics.rules import image_pixels, provenance
from forensix.media import open_media
from forensix.metadata import child, reader
from forensix.metadata.facts import Fact, Facts
from tests.metadata import making_images as make

CAMERA = [(0x010F, make.ASCII, "Maker"), (0x0110, make.ASCII, "Model One"), (0x0131, make.ASCII, "Ver.1.00")]
TAKEN = [(0x9003, make.ASCII, "2020:01:02 03:04:05"), (0x9004, make.ASCII, "2020:01:02 03:04:05")]


def facts_of(data: bytes, folder: Path, format: str = "jpeg") -> Facts:
    path = folder / f"picture.{format}"
    path.write_bytes(data)
    return reader.from_values(child.read(str(path), "image", format, path.name))


def judge(data: bytes, folder: Path, format: str = "jpeg") -> tuple[Finding, ...]:
    return claims(facts_of(data, folder, format))


def named(findings: tuple[Finding, ...], claim: str) -> Finding:
    match = [f for f in findings if f.claim.claim == claim]
    assert len(match) == 1, [f.claim.claim for f in findings]
    return match[0]


def noted(findings: tuple[Finding, ...]) -> list[str]:
    return [f.claim.claim for f in findings if f.severity != "benign"]


def with_tags(*tags: make.Tag, exif: list[make.Tag] = TAKEN, extra: bytes = b"") -> bytes:
    remaining = [t for t in CAMERA if t[0] not in {tag for tag, _, _ in tags}]
    return make.jpeg(make.exif_segment(make.tiff_block([*remaining, *tags], exif=exif)), extra)


def test_a_camera_original_is_not_suspected(tmp_path: Path) -> None:
    actual = judge(with_tags((0x0132, make.ASCII, "2020:01:02 03:04:06")), tmp_path)
    assert noted(actual) == []
    assert result(actual).document_details.source == "physical"
    assert result(actual).red_flags == {}


def test_a_few_bytes_of_padding_behind_a_picture_are_benign(tmp_path: Path) -> None:
    actual = judge(with_tags() + b"\xff\xff", tmp_path)
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


def test_a_converter_raises_its_own_flag(tmp_path: Path) -> None:
    actual = judge(make.jpeg(make.segment(0xFE, b"CREATOR: gd-jpeg v1.0 (using IJG JPEG v62), quality = 90")), tmp_path)
    assert "SUSPECT_SOFTWARE_" in result(actual).red_flags
    assert "SUSPECT_SOFTWARE" not in result(actual).red_flags


def history(*actions: str) -> bytes:
    rows = "".join(
        f"<rdf:li stEvt:action='{a}' stEvt:when='2020-01-0{i + 1}T00:00:00Z' stEvt:softwareAgent='Adobe Photoshop "
        f"21.1'/>"
        for i, a in enumerate(actions)
    )
    return make.xmp_segment(make.xmp_packet(body=f"<xmpMM:History><rdf:Seq>{rows}</rdf:Seq></xmpMM:History>"))


def test_history_with_several_saves(tmp_path: Path) -> None:
    claim = named(
        judge(make.jpeg(history("created", "saved", "saved")), tmp_path),
        "The editing history holds 2 entries of saving",
    )
    assert claim.claim.type == "versions" and len(claim.claim.value) == 3
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
    assert ("The file says that it is a screenshot" in noted(actual)) == (tag == "Screenshot")


def test_screenshots_by_tool(tmp_path: Path) -> None:
    actual = judge(make.png(make.text("Software", "gnome-screenshot")), tmp_path, "png")
    assert result(actual).document_details.source == "screenshot"
    assert "SCREENSHOT_SOFTWARE" in result(actual).red_flags


def test_a_screen_size_is_weak(tmp_path: Path) -> None:
    actual = judge(make.png(image=make.gradient(1170, 2532)), tmp_path, "png")
    assert named(actual, "The picture has the size of a screen").severity == "benign"
    camera = with_tags()
    assert not any(f.claim.type == "screenshot" for f in judge(camera, tmp_path))


def test_a_date_mismatch_needs_a_second_sign(tmp_path: Path) -> None:
    later = (0x0132, make.ASCII, "2021:05:06 07:08:09")
    alone = named(judge(with_tags(later), tmp_path), "The file was changed after it was made, by its own dates")
    assert alone.severity == "benign" and alone.claim.type == "dates"
    # An editor that is named explains a later change, but no other moment of capture.
    edited = judge(with_tags(later, (0x0131, make.ASCII, "GIMP 2.10")), tmp_path)
    assert named(edited, "The file was changed after it was made, by its own dates").severity == "benign"
    other = [(0x9003, make.ASCII, "2020:01:02 03:04:05"), (0x9004, make.ASCII, "2020:03:02 03:04:05")]
    edited = judge(with_tags((0x0131, make.ASCII, "GIMP 2.10"), exif=other), tmp_path)
    assert named(edited, "Dates in the file do not agree").severity == "suspect"


@pytest.mark.parametrize(
    ("changed", "severity"),
    [("2020:01:02 03:04:06", None), ("2019:12:25 03:04:05", "suspect"), ("2093:01:02 03:04:05", "suspect")],
)
def test_a_date_that_cannot_be(changed: str, severity: str | None, tmp_path: Path) -> None:
    actual = judge(with_tags((0x0132, make.ASCII, changed)), tmp_path)
    assert {f.severity for f in actual if f.claim.claim == "A date in the file cannot be right"} == (
        {severity} if severity else set()
    )


def test_a_toolkit_younger_than_every_date(tmp_path: Path) -> None:
    packet = make.xmp_packet('xmp:MetadataDate="2012-07-08T09:10:11"')
    for built, claimed in (("2017/05/06", True), ("2011/05/06", False)):
        written = packet.replace("<x:xmpmeta ", f"<x:xmpmeta x:xmptk='Adobe XMP Core 5.6-c140 79.1, {built}-01:08:21' ")
        assert written != packet
        actual = judge(make.jpeg(make.xmp_segment(written)), tmp_path)
        younger = [
            f for f in actual if f.claim.claim == "The program that wrote the metadata is younger than the dates in it"
        ]
        assert [f.severity for f in younger] == (["suspect"] if claimed else [])


def test_the_default_of_android_is_named(tmp_path: Path) -> None:
    actual = judge(with_tags(exif=[(0x9003, make.ASCII, "2002:12:08 12:00:00")]), tmp_path)
    assert "Android" in named(actual, "A date was never set").claim.explanation


def test_programs_that_no_table_holds_are_told_as_unknown(tmp_path: Path) -> None:
    firmware = judge(with_tags(), tmp_path)
    assert named(firmware, "The file states the version of the camera's firmware").severity == "benign"
    program = judge(with_tags((0x0131, make.ASCII, "Frobnicator Deluxe")), tmp_path)
    assert "Frobnicator" in named(program, "The file names a program that is not known here").claim.explanation


def test_dates_against_xmp(tmp_path: Path) -> None:
    packet = make.xmp_packet('xmp:CreateDate="2019-07-08T09:10:11"')
    actual = judge(with_tags(extra=make.xmp_segment(packet)), tmp_path)
    assert "xmp.xmp.CreateDate" in named(actual, "Dates in the file do not agree").claim.value[0]


def test_an_unset_clock_is_named(tmp_path: Path) -> None:
    actual = judge(with_tags(exif=[(0x9003, make.ASCII, "1970:01:01 00:00:00")]), tmp_path)
    assert "Unix" in named(actual, "A date was never set").claim.explanation


def test_position_and_serial_number(tmp_path: Path) -> None:
    gps = [(1, make.ASCII, "N"), (2, make.RATIONAL, [46, 30, 0]), (3, make.ASCII, "W"), (4, make.RATIONAL, [7, 15, 0])]
    block = make.tiff_block(CAMERA, exif=[(0xA431, make.ASCII, "SN-77")], gps=gps)
    actual = judge(make.jpeg(make.exif_segment(block)), tmp_path)
    assert result(actual).document_details.GPS_location == "46.500000, -7.250000"
    assert named(actual, "The file holds serial numbers").claim.value == ("SN-77",)
    assert named(actual, "The file holds serial numbers").claim.user_category == "privacy"


GRAPH = json.dumps({"3": {"class_type": "KSampler", "inputs": {"seed": 1}}})
PARAMETERS = "a cat\nNegative prompt: dog\nSteps: 20, Sampler: Euler a, CFG scale: 7, Seed: 1"


@pytest.mark.parametrize(
    ("keyword", "value", "identifier"),
    [
        ("parameters", PARAMETERS, "stable-diffusion"),
        ("prompt", GRAPH, "comfyui"),
        ("prompt", GRAPH.replace('"seed": 1', '"unet_name": "flux1-dev.safetensors"'), "flux"),
        ("Software", "NovelAI", "novelai"),
        ("Description", "a cat --v 6 Job ID: 01234567-89ab-cdef-0123-456789abcdef", "midjourney"),
        ("invokeai_metadata", '{"app_version": "4"}', "stable-diffusion"),
        ("Comment", '{"prompt": "a", "sampler": "k_euler", "seed": 1, "steps": 28}', "stable-diffusion"),
    ],
)
def test_generators_in_png_text(keyword: str, value: str, identifier: str, tmp_path: Path) -> None:
    data = make.png(make.text(keyword, value))
    actual = judge(data, tmp_path, "png")
    claim = named(actual, "The file says that it was made by artificial intelligence")
    assert claim.severity == "critical" and claim.claim.type == "ai_generated"
    assert "AI_GENERATED" in result(actual).red_flags
    assert result(actual).document_details.source == "ai_generated"
    marks = provenance.generator_marks(facts_of(data, tmp_path, "png"))
    assert provenance.generator_identifier(marks) == identifier


@pytest.mark.parametrize(
    "text",
    [
        "Steps: first, second",
        "A workflow for printing",
        '{"nodes": ["a", "b"]}',
        "The prompt was answered",
        "Fireflies at night",
    ],
)
def test_plain_text_is_no_mark(text: str, tmp_path: Path) -> None:
    facts = facts_of(make.png(make.text("Description", text), make.text("prompt", text)), tmp_path, "png")
    assert provenance.generator_marks(facts) == ()


@pytest.mark.parametrize(
    ("source", "claimed"),
    [("trainedAlgorithmicMedia", True), ("compositeWithTrainedAlgorithmicMedia", True), ("digitalCapture", False)],
)
def test_source_type_in_xmp(source: str, claimed: bool, tmp_path: Path) -> None:
    url = f"http://cv.iptc.org/newscodes/digitalsourcetype/{source}"
    actual = judge(make.jpeg(make.xmp_segment(make.xmp_packet(f'Iptc4xmpExt:DigitalSourceType="{url}"'))), tmp_path)
    assert any(f.claim.type == "ai_generated" for f in actual) == claimed


def test_recipes_in_camera_fields(tmp_path: Path) -> None:
    block = make.tiff_block([(0x010F, make.ASCII, "prompt:" + GRAPH)])
    actual = judge(make.jpeg(make.exif_segment(block)), tmp_path)
    assert any(f.claim.type == "ai_generated" for f in actual)
    assert not any(f.claim.type == "device" for f in actual)


def test_malformed_and_trailing_data(tmp_path: Path) -> None:
    cut = named(judge(make.jpeg()[:-30], tmp_path), "The file is malformed")
    assert "end-of-image" in cut.claim.explanation
    tail = judge(make.jpeg(tail=b"PK\x03\x04" + bytes(range(1, 200))), tmp_path)
    assert named(tail, "Data stands after the end of the content").severity == "suspect"
    preview = judge(make.jpeg(tail=make.jpeg()), tmp_path)
    assert named(preview, "Data stands after the end of the content").severity == "benign"


@pytest.mark.parametrize(("tail", "severity"), [(b"\x06\0\0\0ab", "benign"), (b"garbage", "suspect"), (None, "benign")])
def test_what_cameras_leave_at_the_end(tail: bytes | None, severity: str, tmp_path: Path) -> None:
    data = with_tags()
    # A card is written in whole sectors of 512 bytes.
    data += b"x" * (-len(data) % 512) if tail is None else tail
    assert named(judge(data, tmp_path), "Data stands after the end of the content").severity == severity


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


@pytest.mark.parametrize(
    ("zone", "degrees", "side", "claimed"),
    [("-07:00", 2, "E", True), ("-07:00", 122, "W", False), ("+08:00", 75, "E", False), ("+14:00", 157, "W", False)],
)
def test_a_place_where_nobody_keeps_the_time_zone(
    zone: str, degrees: int, side: str, claimed: bool, tmp_path: Path
) -> None:
    gps = [(1, make.ASCII, "N"), (2, make.RATIONAL, [40, 0, 0])]
    gps += [(3, make.ASCII, side), (4, make.RATIONAL, [degrees, 0, 0])]
    block = make.tiff_block(CAMERA, exif=[*TAKEN, (0x9011, make.ASCII, zone)], gps=gps)
    actual = judge(make.jpeg(make.exif_segment(block)), tmp_path)
    claim = [f.severity for f in actual if f.claim.claim == "The place and the time zone do not fit"]
    assert claim == (["benign"] if claimed else [])


@pytest.mark.parametrize("case", ["another block", "the same again", "another's lens"])
def test_two_cameras_in_one_file(case: str, tmp_path: Path) -> None:
    model = "Model Two" if case == "another block" else "Model One"
    second = make.exif_segment(make.tiff_block([(0x010F, make.ASCII, "Maker"), (0x0110, make.ASCII, model)]))
    lens = (0xA434, make.ASCII, "iPhone 13 back camera")
    data = with_tags(exif=[*TAKEN, lens]) if case == "another's lens" else with_tags(extra=second)
    claimed = [f.severity for f in judge(data, tmp_path) if f.claim.claim == "The file names two cameras"]
    assert claimed == ([] if case == "the same again" else ["suspect"])


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
    assert [c for c in noted(findings)] == ([] if expected[case] is None else [expected[case]])
    if expected[case]:
        assert named(findings, expected[case]).pictures[0][1][:2] == b"\xff\xd8"


def test_grok_signs_in_the_description(tmp_path: Path) -> None:
    block = make.tiff_block([(0x010E, make.ASCII, "Signature: " + "Ab3/" * 20)])
    facts = facts_of(make.jpeg(make.exif_segment(block)), tmp_path)
    assert provenance.generator_identifier(provenance.generator_marks(facts)) == "grok"


@pytest.mark.parametrize(("name", "claimed"), [("EXIF IFD1 thumbnail", True), ("MPF picture 1", False)])
def test_a_map_of_light_beside_the_picture_is_no_changed_preview(name: str, claimed: bool) -> None:
    size, there = Fact("image.size", [400, 300], "", 0), Fact("embedded.picture", {"name": name}, "", 9)
    row = {"name": name, "size": [80, 60], "spread": 40.0, "likeness": 0.9, "most_changed": 55.0, "turn": "as it is"}
    measured = {"thumbnails": [{**row, "turned_likeness": 0.9, "pair": b""}]}
    findings = image_pixels.thumbnails(Facts("image", "jpeg", (size, there)), measured)
    assert [f.severity for f in findings] == (["suspect"] if claimed else ["benign"])
