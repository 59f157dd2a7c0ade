"""The pages of a PDF: what a claim rests on is marked where it stands, and what a later version changes is seen."""

import base64
import io
from pathlib import Path

import numpy as np
import pikepdf
import pytest
from PIL import Image

import forensix
from forensix.demo import make_document
from forensix.errors import UnsupportedMedia
from forensix.media import Media, PageJob, open_media
from forensix.media.paper import MAX_ANNOTATIONS
from forensix.tasks.evidence import Outcome, Picture, Table
from forensix.tasks.pages import LEAST_STEP, MAX_PLAIN, SIDE_PX, difference
from tests.making import picture, write_image, write_pdf
from tests.metadata.pdf.test_facts import appended, content_number, page, stream

TASK = "forensic_analysis"


def analysed(path: Path) -> Outcome:
    report = forensix.analyze(path, [TASK])
    assert not report.failed
    return report.outcomes[TASK]


def pictures(outcome: Outcome) -> dict[str, Picture]:
    return {item.title: item for item in outcome.evidence if isinstance(item, Picture)}


def pixels(picture: Picture) -> np.ndarray:
    with Image.open(io.BytesIO(base64.b64decode(picture.data_uri.partition(",")[2]))) as opened:
        return np.asarray(opened.convert("RGB")).astype(int)


def orange(rgb: np.ndarray) -> np.ndarray:
    """Return where the colour of an outline is."""
    return (rgb[..., 0] > 150) & (rgb[..., 2] < 90) & (rgb[..., 0] - rgb[..., 2] > 90)


@pytest.fixture
def versions(tmp_path: Path) -> Path:
    """A page whose amount a second version writes anew; a third one changes what is not drawn."""
    path = page(tmp_path / "a.pdf")
    number = content_number(path)
    second = appended(path.read_bytes(), {number: stream(b"BT /F1 12 Tf 100 700 Td (An invoice over 900) Tj ET")})
    path.write_bytes(appended(second, {900: b"<< /Producer (somebody) >>"}, info=900))
    return path


def drawn(media: Media, *jobs: PageJob) -> list:
    return list(media.pages(jobs, max_side_px=400))


def test_a_covered_text_is_marked_where_it_stands(tmp_path: Path) -> None:
    (path,) = make_document(tmp_path)
    outcome = analysed(path)
    output = pictures(outcome)["Page 1"]
    assert output.claim is not None and "white box covers text" in output.claim.claim
    where = np.argwhere(orange(pixels(output)))
    # The box is 30 to 280 of 360 points from the left, and 95 to 125 of 216 points from below.
    height, width = pixels(output).shape[:2]
    assert where[:, 1].min() / width == pytest.approx(30 / 360, abs=0.02)
    assert where[:, 1].max() / width == pytest.approx(280 / 360, abs=0.02)
    assert where[:, 0].min() / height == pytest.approx(1 - 125 / 216, abs=0.03)


def test_what_a_later_version_changes_is_shown_beside_the_one_before(versions: Path) -> None:
    outcome = analysed(versions)
    actual = pictures(outcome)
    assert set(actual) == {"Page 1", "Page 1 in version 2"}
    output = actual["Page 1 in version 2"]
    assert output.is_wide and output.claim is not None and output.claim.claim.startswith("Version 2")
    where = np.argwhere(orange(pixels(output)))
    assert len(where) and where[:, 1].min() > pixels(output).shape[1] / 2, "only the later version is marked"
    (table,) = [e for e in outcome.evidence if isinstance(e, Table) and "to the eye" in e.title]
    assert [row[0] for row in table.rows] == ["version 2", "version 3"]
    assert table.rows[0][2].startswith("page 1 (") and table.rows[1][2] == "none"


def test_frames_cover_nothing_of_what_changed(tmp_path: Path) -> None:
    path = page(tmp_path / "a.pdf")
    number = content_number(path)
    one, other = (
        stream(f"BT /F1 12 Tf 72 700 Td (Vertrag ueber {n} EUR) Tj ET".encode()) for n in ("95.000", "950.000")
    )
    first = appended(path.read_bytes(), {number: one})
    path.write_bytes(appended(first, {number: other}))
    output = pictures(analysed(path))["Page 1 in version 3"]
    assert output.caption.endswith("In words, taken away: '95.000', added: '950.000'.")
    rgb = pixels(output)
    with open_media(path) as media:
        new, before = (
            item.rgb.astype(int) for item in media.pages([PageJob(1), PageJob(1, len(first))], max_side_px=SIDE_PX)
        )
    changed = np.argwhere(np.abs(new - before).max(axis=2) >= LEAST_STEP)
    (top, _), (bottom, right) = changed.min(axis=0), changed.max(axis=0)
    # The later version stands on the right, within a line of two pixels; its sentence begins at 72 of 595 points.
    at, left = rgb.shape[1] - new.shape[1] - 2, round(72 / 595 * new.shape[1])
    shown = rgb[2 + top : 3 + bottom, at + left : at + right + 1]
    assert orange(rgb).any()
    letters = (new[top : bottom + 1, left : right + 1] < 128).all(axis=2)
    assert letters.any() and not (orange(shown) & letters).any(), "no frame lies on a letter"


def test_words_that_a_version_changes_are_told_in_few_letters(tmp_path: Path) -> None:
    path = page(tmp_path / "a.pdf")
    number = content_number(path)
    new = b"BT /F1 12 Tf 0 700 Td (" + b"<b> " * 3000 + b") Tj ET"
    path.write_bytes(appended(path.read_bytes(), {number: stream(new)}))
    output = pictures(analysed(path))["Page 1 in version 2"]
    assert len(output.caption) < 300 and "added: '<b> <b> " in output.caption and "…" in output.caption


def test_the_difference_of_two_pages() -> None:
    old = np.full((100, 80, 3), 255, np.uint8)
    new = old.copy()
    new[20:30, 10:40], new[70:75, 60:65] = 0, 200
    boxes, share = difference(old, new)
    assert share == pytest.approx((300 + 25) / 8000)
    assert boxes.tolist() == [[4, 14, 46, 36], [54, 64, 71, 81]]
    assert difference(old, old)[1] == 0 and difference(old, old)[0].shape == (0, 4)
    assert difference(old, new[:50])[1] == 1


def test_places_turn_with_the_page(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "a.pdf")
    with pikepdf.open(path, allow_overwriting_input=True) as document:
        document.pages[0].rotate(90, relative=False)
        document.save(path)
    with open_media(path) as media:
        (actual,) = drawn(media, PageJob(1, boxes=((0, 742, 100, 842),)))
    # The upper left corner of the page comes to the upper right.
    height, width = actual.rgb.shape[:2]
    assert (width, height) == (400, 283)
    assert actual.boxes[0] == pytest.approx([width - 47.5, 0, width, 47.5], abs=2)


def test_a_page_that_is_not_there_is_told_and_hostile_sizes_are_bounded(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    with pikepdf.new() as document:
        for side_pt, other_pt in ((14_400, 14_400), (3, 14_400), (0.01, 0.01), (1e9, 1e-9)):
            document.add_blank_page()
            document.pages[-1].obj.MediaBox = pikepdf.Array([0, 0, side_pt, other_pt])
        document.save(path)
    with open_media(path) as media:
        actual = {item.job: item for item in drawn(media, *(PageJob(number) for number in (1, 2, 3, 4, 9)))}
    assert actual[4].rgb is None and 0 in actual
    assert all(max(item.rgb.shape) <= 401 for item in actual.values() if item.rgb is not None)


def test_only_a_document_has_pages(tmp_path: Path) -> None:
    with open_media(write_image(tmp_path / "a.png", picture(64, 64))) as media, pytest.raises(UnsupportedMedia):
        drawn(media, PageJob(1))


def test_a_locked_document_shows_nothing_and_a_long_one_its_first_pages(tmp_path: Path) -> None:
    assert not pictures(analysed(write_pdf(tmp_path / "locked.pdf", password="secret")))
    assert len(pictures(analysed(write_pdf(tmp_path / "long.pdf", 40)))) == MAX_PLAIN


def test_pages_that_cannot_be_drawn_are_told(versions: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forensix.media.medium._PAGES_S", 1e-3)
    monkeypatch.setattr("forensix.tasks.pages.PLAIN_S", 1e-3)
    outcome = analysed(versions)
    assert not pictures(outcome)
    assert any(note.startswith("Not all pages could be drawn: reading this file took longer") for note in outcome.notes)


def test_pages_that_nothing_points_to_have_a_clock_of_their_own(
    versions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("forensix.tasks.pages.PLAIN_S", 1e-3)
    outcome = analysed(versions)
    assert list(pictures(outcome)) == ["Page 1 in version 2"]
    assert any(note.startswith("Not all pages could be drawn") for note in outcome.notes)


def test_a_page_of_thousands_of_annotations_is_drawn_for_what_is_marked_on_it_alone(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "a.pdf", 2)
    with pikepdf.open(path, allow_overwriting_input=True) as document:
        square = document.make_indirect(pikepdf.Dictionary(Subtype=pikepdf.Name.Square, Rect=[0, 0, 9, 9]))
        document.pages[0].Annots = pikepdf.Array([square] * (MAX_ANNOTATIONS + 1))
        document.save(path)
    with open_media(path) as media:
        jobs = (PageJob(1), PageJob(2), PageJob(1, boxes=((0, 0, 9, 9),)), PageJob(1, path.stat().st_size))
        assert [item.job for item in drawn(media, *jobs)] == [1, 2, 3]
    assert list(pictures(analysed(path))) == ["Page 2"]
