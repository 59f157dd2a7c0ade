"""Importers of speech, each on a tree of the shape that people have on disk."""

from pathlib import Path

import pytest

from forensix import Manifest
from forensix.errors import UsageError
from tests.importers.trees import by_path, touch


def test_asvspoof2019_reads_its_protocols(tmp_path: Path) -> None:
    la = tmp_path / "LA"
    touch(la, "ASVspoof2019_LA_train/flac/LA_T_1138215.flac", "ASVspoof2019_LA_train/flac/LA_T_1271820.flac")
    touch(la, "ASVspoof2019_LA_dev/flac/LA_D_1047731.flac")
    protocols = la / "ASVspoof2019_LA_cm_protocols"
    protocols.mkdir()
    (protocols / "ASVspoof2019.LA.cm.train.trn.txt").write_text(
        "LA_0079 LA_T_1138215 - - bonafide\nLA_0079 LA_T_1271820 - A01 spoof\n"
    )
    (protocols / "ASVspoof2019.LA.cm.dev.trl.txt").write_text("LA_0069 LA_D_1047731 - - bonafide\n")
    for root, prefix in ((tmp_path, "LA/"), (la, "")):
        rows = by_path(Manifest.import_("asvspoof2019_la", root))
        fake = rows[f"{prefix}ASVspoof2019_LA_train/flac/LA_T_1271820.flac"]
        assert (fake["label"], fake["generator"], fake["split"], fake["group_id"]) == (
            "fake",
            "A01",
            "train",
            "LA_0079",
        )
        assert rows[f"{prefix}ASVspoof2019_LA_dev/flac/LA_D_1047731.flac"]["label"] == "real"
    (protocols / "ASVspoof2019.LA.cm.dev.trl.txt").write_text("LA_0069 LA_D_0 - - bonafide\n")
    with pytest.raises(UsageError, match=r"LA_D_0, but ASVspoof2019_LA_dev/flac does not"):
        Manifest.import_("asvspoof2019_la", la)


def test_asvspoof2019_takes_the_parts_that_are_there(tmp_path: Path) -> None:
    protocols = tmp_path / "ASVspoof2019_LA_cm_protocols"
    protocols.mkdir()
    with pytest.raises(UsageError, match="has ASVspoof2019_LA_train or ASVspoof2019_LA_dev or ASVspoof2019_LA_eval"):
        Manifest.import_("asvspoof2019_la", tmp_path)
    touch(tmp_path, "ASVspoof2019_LA_eval/flac/LA_E_1.flac")
    (protocols / "ASVspoof2019.LA.cm.eval.trl.txt").write_text("LA_0001 LA_E_1 - A07 spoof\n")
    assert Manifest.import_("asvspoof2019_la", tmp_path).table["split"].tolist() == ["test"]


def test_asvspoof2021_df_reads_its_metadata(tmp_path: Path) -> None:
    touch(tmp_path, *(f"ASVspoof2021_DF_eval/flac/DF_E_{n}.flac" for n in (2000011, 2000013, 2000058)))
    keys = tmp_path / "keys" / "DF" / "CM"
    keys.mkdir(parents=True)
    (keys / "trial_metadata.txt").write_text(
        "LA_0023 DF_E_2000011 nocodec asvspoof A14 spoof notrim progress traditional_vocoder - - - -\n"
        "TEF2 DF_E_2000013 low_m4a vcc2020 Task1-team20 spoof notrim eval neural_vocoder_nonautoregressive"
        " Task1 team20 FF E\n"
        "LA_0048 DF_E_2000058 mp3m4a asvspoof - bonafide notrim eval bonafide - - - -\n"
        "LA_0048 DF_E_9999999 mp3m4a asvspoof - bonafide notrim eval bonafide - - - -\n"
    )
    rows = by_path(Manifest.import_("asvspoof2021_df", tmp_path))
    fake = rows["ASVspoof2021_DF_eval/flac/DF_E_2000013.flac"]
    assert (fake["label"], fake["generator"], fake["quality"], fake["source"]) == (
        "fake",
        "Task1-team20",
        "low_m4a",
        "vcc2020",
    )
    assert fake["family"] == "neural_vocoder_nonautoregressive"
    assert {row["label"] for row in rows.values()} == {"real", "fake"} and len(rows) == 2
    assert len(Manifest.import_("asvspoof2021_df", tmp_path, subset=None)) == 3


def test_asvspoof5_reads_ten_columns_and_six(tmp_path: Path) -> None:
    touch(tmp_path, "flac_T/T_0000000000.flac", "flac_T/T_0000000001.flac", "flac_D/D_0000000001.flac")
    protocols = tmp_path / "ASVspoof5_protocols"
    protocols.mkdir()
    (protocols / "ASVspoof5.train.tsv").write_text(
        "T_4850 T_0000000000 F - - - AC3 A05 spoof -\nT_4851 T_0000000001 M - - - - bonafide bonafide -\n"
    )
    (protocols / "ASVspoof5.dev.track_1.tsv").write_text("D_0001 D_0000000001 F - A11 spoof\n")
    rows = by_path(Manifest.import_("asvspoof5", tmp_path))
    train, dev = rows["flac_T/T_0000000000.flac"], rows["flac_D/D_0000000001.flac"]
    assert (train["label"], train["generator"], train["gender"], train["family"]) == ("fake", "A05", "female", "AC3")
    assert (dev["label"], dev["generator"], dev["split"]) == ("fake", "A11", "dev")
    assert rows["flac_T/T_0000000001.flac"]["label"] == "real"
    assert rows["flac_T/T_0000000001.flac"]["generator"] is None
    (protocols / "ASVspoof5.dev.track_1.tsv").write_text("D_0001 D_0000000001 F\n")
    with pytest.raises(UsageError, match="needs 6 columns, but line 1 has 3"):
        Manifest.import_("asvspoof5", tmp_path)


def test_in_the_wild_reads_its_table(tmp_path: Path) -> None:
    touch(tmp_path, "release_in_the_wild/0.wav", "release_in_the_wild/4.wav")
    meta = tmp_path / "release_in_the_wild" / "meta.csv"
    meta.write_text("file,speaker,label\n0.wav,A Person,spoof\n4.wav,B Person,bona-fide\n")
    rows = by_path(Manifest.import_("in_the_wild", tmp_path))
    assert {path: row["label"] for path, row in rows.items()} == {
        "release_in_the_wild/0.wav": "fake",
        "release_in_the_wild/4.wav": "real",
    }
    assert rows["release_in_the_wild/0.wav"]["group_id"] == "A Person"
    meta.write_text("file,speaker,label\n../../secret.wav,A Person,spoof\n")
    with pytest.raises(UsageError, match="does not hold it"):
        Manifest.import_("in_the_wild", tmp_path)


def test_asvspoof5_takes_the_archives_that_were_unpacked(tmp_path: Path) -> None:
    touch(tmp_path, "flac_E_eval/E_1.flac")
    lines = [f"E_000{i} E_{i} F - - - AC1 A17 spoof -" for i in (1, 2)]
    (tmp_path / "ASVspoof5.eval.track_1.tsv").write_text("\n".join(lines))
    assert list(by_path(Manifest.import_("asvspoof5", tmp_path))) == ["flac_E_eval/E_1.flac"]


def test_a_table_may_have_empty_lines_and_spaces_after_commas(tmp_path: Path) -> None:
    touch(tmp_path, "0.wav")
    (tmp_path / "meta.csv").write_text(
        "\ufefffile, speaker, label\r\n0.wav, A, spoof\r\n  \r\n,,\r\n", encoding="utf-8"
    )
    assert by_path(Manifest.import_("in_the_wild", tmp_path))["0.wav"]["label"] == "fake"
    (tmp_path / "meta.csv").write_text("")
    with pytest.raises(UsageError, match=r"it has: none$"):
        Manifest.import_("in_the_wild", tmp_path)
