"""Quantisation tables and who writes them. Pillow's presets are named after Photoshop's settings; some are the same."""

import csv
from pathlib import Path

import pytest

from forensix.metadata.image import jpeg, jpeg_tables
from tests.metadata import making_images as make

HEX = set("0123456789abcdef")


def tables_of(data: bytes) -> dict[int, list[int]]:
    return jpeg.parse(data).tables


def rows() -> list[dict[str, str]]:
    with Path(jpeg_tables.__file__).with_name("jpeg_makers.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_list_is_well_formed_and_each_table_has_one_maker() -> None:
    listed = rows()
    assert {"Adobe", "Apple"} <= {row["maker"] for row in listed}
    assert len({row["tables"] for row in listed}) == len(listed)
    makers: dict[str, str] = {}
    for row in listed:
        assert all(len(row[key]) == 16 and set(row[key]) <= HEX for key in ("tables", "luminance"))
        assert int(row["files"]) >= (1 if row["maker"] == "Adobe" else 2)
        assert makers.setdefault(row["luminance"], row["maker"]) == row["maker"]


def test_no_quality_of_the_standard_is_in_the_list() -> None:
    for quality in range(1, 101):
        both = {n: list(jpeg_tables.standard(quality, bool(n))) for n in (0, 1)}
        assert jpeg_tables.known(both) is None
        assert jpeg_tables.known({0: both[0]}) is None


def test_a_set_is_known() -> None:
    tables = tables_of(make.encoded(make.gradient(), quality="medium"))
    complete, luminance = jpeg_tables.fingerprint(tables)
    actual = jpeg_tables.describe(tables)
    assert (actual["maker"], actual["by"], actual["whole"]) == ("own", "Adobe", True)
    row = next(r for r in rows() if r["tables"] == complete)
    assert (row["luminance"], int(row["files"])) == (luminance, actual["files"])


def test_a_luminance_table_alone_is_told_as_such() -> None:
    tables = tables_of(make.encoded(make.gradient(), quality="medium"))
    tables[1][63] += 1
    maker = jpeg_tables.known(tables)
    assert maker is not None and maker.name == "Adobe" and not maker.whole
    tables[0][63] += 1
    assert jpeg_tables.known(tables) is None
    assert "by" not in jpeg_tables.describe(tables)


def test_a_chroma_table_alone_says_nothing() -> None:
    tables = tables_of(make.encoded(make.gradient(), quality="medium"))
    assert jpeg_tables.known({0: list(jpeg_tables.standard(77, False)), 1: tables[1]}) is None


def test_fingerprints_hold_wide_steps_and_any_order() -> None:
    wide = {0: [65535] * 64, 3: [256] * 64}
    assert jpeg_tables.fingerprint(wide) != jpeg_tables.fingerprint({0: [255] * 64, 3: [256] * 64})
    assert jpeg_tables.fingerprint(wide) == jpeg_tables.fingerprint(dict(reversed(wide.items())))
    assert jpeg_tables.describe({2: [300] * 64})["maker"] == "own"


def test_camera_originals_are_never_taken_for_adobe(corpora: Path) -> None:
    with (corpora / "forensics" / "manifest.csv").open(encoding="utf-8", newline="") as file:
        originals = [r["path"] for r in csv.DictReader(file) if r["expect"] == "camera_original"]
    observed = 0
    for path in originals:
        parts = jpeg.parse((corpora / "forensics" / path).read_bytes())
        if parts.tables:
            observed += 1
            assert jpeg_tables.describe(parts.tables).get("by") != "Adobe", path
    if not observed:
        pytest.skip("the corpus holds no JPEG of a camera")
