"""forensic_analysis: every field of section 2.5, present and absent where the specification says so."""

import io
from pathlib import Path

import pikepdf
import pytest
from PIL import Image

import forensix
from forensix.demo import make_document
from forensix.tasks.evidence import Basis, Picture, StructureMap

TASK = "forensic_analysis"


@pytest.fixture
def edited(tmp_path: Path) -> Path:
    """A JPEG whose tags name an editor and a place."""
    exif = Image.Exif()
    exif[0x0131] = "Adobe Photoshop 25.0 (Windows)"
    gps = exif.get_ifd(0x8825)
    gps.update({1: "N", 2: (48.0, 51.0, 30.0), 3: "E", 4: (2.0, 17.0, 40.0)})
    path = tmp_path / "edited.jpg"
    Image.new("RGB", (640, 480), (120, 90, 60)).save(path, exif=exif)
    return path


def result(path: Path) -> dict:
    return forensix.analyze(path, [TASK]).to_wire(TASK)["result"]


def test_claims_stand_in_three_lists_with_five_fields(edited: Path) -> None:
    actual = result(edited)
    assert set(actual) == {"claim_lists", "document_details", "red_flags", "trigger_values"}
    assert set(actual["claim_lists"]) == {"critical", "suspect", "benign"}
    claims = [claim for claims in actual["claim_lists"].values() for claim in claims]
    for claim in claims:
        assert set(claim) == {"claim", "explanation", "type", "user_category", "value"}
        assert all(isinstance(value, str) for value in claim["value"])
    (software,) = [claim for claim in actual["claim_lists"]["suspect"] if claim["type"] == "software"]
    assert software["value"] == ["Adobe Photoshop 25.0 (Windows)"]


def test_deprecated_blocks_follow_from_the_claims(edited: Path) -> None:
    actual = result(edited)
    assert set(actual["red_flags"]) == set(actual["trigger_values"]) >= {"SUSPECT_SOFTWARE"}
    assert "Adobe Photoshop 25.0 (Windows)" in actual["trigger_values"]["SUSPECT_SOFTWARE"]
    latitude, longitude = map(float, actual["document_details"]["GPS_location"].split(","))
    assert latitude == pytest.approx(48.8583, abs=1e-3)
    assert longitude == pytest.approx(2.2944, abs=1e-3)


def test_keys_are_absent_when_not_triggered(tmp_path: Path) -> None:
    path = tmp_path / "plain.png"
    Image.new("RGB", (60, 40)).save(path)
    actual = result(path)
    assert actual["red_flags"] == actual["trigger_values"] == {}
    assert set(actual["document_details"]) <= {"source"}
    assert actual["claim_lists"]["critical"] == actual["claim_lists"]["suspect"] == []


def test_a_pdf_with_a_password_is_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "locked.pdf"
    with pikepdf.new() as pdf:
        pdf.add_blank_page()
        pdf.save(path, encryption=pikepdf.Encryption(user="secret", owner="secret"))
    report = forensix.analyze(path, [TASK])
    assert not report.failed
    assert report.to_wire(TASK)["result"]["document_details"]["password_protected"] is True


def test_a_painted_over_amount_is_found(tmp_path: Path) -> None:
    (path,) = make_document(tmp_path)
    claims = result(path)["claim_lists"]
    assert any("100.00" in value for claim in claims["suspect"] for value in claim["value"])


def test_a_broken_file_is_told_not_refused(edited: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.jpg"
    cut.write_bytes(edited.read_bytes()[:-2000])
    report = forensix.analyze(cut, [TASK])
    assert not report.failed
    lists = report.to_wire(TASK)["result"]["claim_lists"]
    assert any(claim["type"] == "structure" for claims in lists.values() for claim in claims)


def test_the_evidence_leads_back_to_the_bytes(edited: Path) -> None:
    report = forensix.analyze(edited, [TASK])
    evidence = report.outcomes[TASK].evidence
    (structure,) = [item for item in evidence if isinstance(item, StructureMap)]
    assert structure.total_bytes == edited.stat().st_size
    facts = report.facts()
    (offset,) = facts.loc[facts["value"] == "Adobe Photoshop 25.0 (Windows)", "offset"]
    data = edited.read_bytes()
    assert b"Adobe Photoshop" in data[offset : offset + 400]
    (basis,) = [
        item
        for item in evidence
        if isinstance(item, Basis) and item.claim.claim.startswith("The file names the editing program")
    ]
    assert (facts["fact"] == basis.facts[0][0].key).any()
    assert all(output == data[fact.offset : fact.offset + len(output)] for fact, output in basis.facts if output)
    assert any(output for _, output in basis.facts)
    page = report.to_html()
    assert basis.facts[0][1][:16].hex(" ") in page


def test_a_fact_of_a_pdf_leads_to_its_object(tmp_path: Path) -> None:
    (path,) = make_document(tmp_path)
    facts = forensix.analyze(path, [TASK]).facts()
    (offset,) = facts.loc[facts["fact"] == "pdf.info.Producer", "offset"]
    # The last version of the document information, not the first.
    assert b"/Producer" in path.read_bytes()[offset : offset + 300] and offset > 7000


def test_pictures_name_their_claim_and_previews_are_wide(tmp_path: Path) -> None:
    from forensix.demo import make_edited_picture

    (path,) = make_edited_picture(tmp_path)
    report = forensix.analyze(path, [TASK])
    pictures = {item.title: item for item in report.outcomes[TASK].evidence if isinstance(item, Picture)}
    assert pictures["The picture"].claim is None
    pair, copies = pictures["Picture and preview"], pictures["Areas that occur twice"]
    assert pair.is_wide and not copies.is_wide
    assert copies.claim is not None and copies.claim.claim == "An area of the picture occurs twice"
    for title in pictures.keys() - {"The picture"}:
        assert len(pictures[title].caption) > 20, title


@pytest.mark.parametrize(
    ("orientation", "caption"),
    [
        (None, "As it is shown."),
        (1, "As it is shown."),
        (6, "As it is shown, turned as its orientation tag says."),
    ],
)
def test_a_picture_is_said_to_be_turned_where_its_tag_says_so(
    orientation: int | None, caption: str, tmp_path: Path
) -> None:
    exif = Image.Exif()
    if orientation:
        exif[0x0112] = orientation
    Image.new("RGB", (64, 48), (120, 90, 60)).save(tmp_path / "picture.jpg", exif=exif)
    report = forensix.analyze(tmp_path / "picture.jpg", [TASK])
    pictures = {item.title: item for item in report.outcomes[TASK].evidence if isinstance(item, Picture)}
    assert pictures["The picture"].caption == caption


def test_damage_is_on_the_map(edited: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.jpg"
    cut.write_bytes(edited.read_bytes()[:-2000])
    report = forensix.analyze(cut, [TASK])
    (structure,) = [item for item in report.outcomes[TASK].evidence if isinstance(item, StructureMap)]
    assert structure.damage and "Damaged: " in report.to_html()


def test_claims_come_as_a_table(edited: Path) -> None:
    report = forensix.analyze(edited, [TASK])
    claims = report.claims()
    lists = report.to_wire(TASK)["result"]["claim_lists"]
    assert len(claims) == sum(map(len, lists.values()))
    assert list(claims["severity"]) == sorted(claims["severity"], key=["critical", "suspect", "benign"].index)
    assert (claims.loc[claims["type"] == "software", "n_facts"] > 0).all()
    assert forensix.analyze(edited, [TASK], explain=False).facts().empty


def test_stripped_metadata_is_never_suspect(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    Image.effect_noise((800, 600), 40).convert("RGB").save(buffer, "JPEG", quality=92)
    path = tmp_path / "stripped.jpg"
    path.write_bytes(buffer.getvalue())
    lists = result(path)["claim_lists"]
    assert not [c for c in lists["suspect"] + lists["critical"] if c["type"] == "metadata"]
