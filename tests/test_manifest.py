"""Manifests say at once what is wrong with them, and share groups out whole."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from torch.utils.data import DataLoader

import forensix.manifest
from forensix import Manifest, small
from forensix.errors import UsageError
from forensix.evaluation.plan import read_manifest


def table(n: int = 100) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "path": [f"{i:03d}.wav" for i in range(n)],
            "label": np.where(rng.random(n) < 0.3, "real", "fake"),
            "group_id": rng.integers(0, 20, n).astype(str),
            "source": rng.choice(["a", "b"], n),
        }
    )


def test_paths_are_relative_to_the_manifests_folder(tmp_path: Path) -> None:
    (tmp_path / "manifest.csv").write_text("path,label,split\na.wav,real,dev\nb.wav,fake,train\n")
    manifest = Manifest.read(tmp_path / "manifest.csv").where(split="train")
    assert manifest.paths() == [tmp_path / "b.wav"]
    assert manifest.is_fake() == [1]
    assert Manifest.read(tmp_path).paths() == [tmp_path / "a.wav", tmp_path / "b.wav"]
    assert Manifest.read(tmp_path / "manifest.csv", root="elsewhere").paths()[0] == Path("elsewhere/a.wav")


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_a_carriage_return_in_a_name_ends_no_row(tmp_path: Path, suffix: str) -> None:
    rows = pd.DataFrame({"path": ["a\rb.wav", "c.wav"], "label": ["real", "fake"], "note": ["x\r\ny", None]})
    again = Manifest.read(Manifest(rows, root=tmp_path).write(tmp_path / f"manifest{suffix}"))
    assert again.table["path"].tolist() == ["a\rb.wav", "c.wav"]
    assert again.table["note"].fillna("").tolist() == ["x\r\ny", ""]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_what_is_written_is_read_back(tmp_path: Path, suffix: str) -> None:
    manifest = Manifest(table().assign(note=["NA", 'a "b", c', None, "1.50"] * 25), root=tmp_path)
    again = Manifest.read(manifest.write(tmp_path / f"manifest{suffix}"))
    pd.testing.assert_frame_equal(again.table, manifest.table, check_dtype=False)
    assert again.table["note"].iloc[3] == "1.50"
    with pytest.raises(UsageError, match=r"not \.xlsx"):
        manifest.write(tmp_path / "manifest.xlsx")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is empty: a manifest has an object"),
        ('{"path": "a", "label": "real"}\n\n{broken\n', "no JSON in line 3"),
        ('{"path": "a", "label": "real"}\n["b", "fake"]\n', "no object of plain values in line 2"),
        ('{"path": "a", "label": ["real"]}\n', "no object of plain values in line 1"),
        ("[" * 100_000, "no JSON in line 1"),
        ('{"path": "a", "label": "real"}\n{"path": "\\ud800.jpg", "label": "fake"}\n', "surrogate pair in line 2"),
        ('{"path": "a", "label": 1}\n', "'1' does not say whether"),
        ('{"file": "a", "label": "real"}\n', "missing: path; it has: file, label"),
    ],
)
def test_lines_that_are_no_rows_are_named(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "m.jsonl").write_text(text)
    with pytest.raises(UsageError, match=rf"m\.jsonl.*{sentence}"):
        Manifest.read(tmp_path / "m.jsonl")


def test_values_in_json_lines_keep_their_spelling(tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").write_text(
        '{"path": "a.wav", "label": "bonafide", "speaker": "007"}\n{"label": "spoof", "path": "b.wav"}\n'
    )
    manifest = Manifest.read(tmp_path / "m.jsonl")
    assert manifest.is_fake() == [0, 1] and manifest.table["speaker"].iloc[0] == "007"


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"path": ["a"]}, "missing: label; it has: path"),
        ({"path": ["a", "b"], "label": ["real", "bogus"]}, r"also found: 'bogus' \(row 3\)"),
        ({"path": ["a"], "label": [None]}, "also found: empty"),
        (
            {"path": ["a"], "label": [2.5]},
            r"also found: '2.5'.*pass labels=\{'2.5': 'fake', ...\} \(--label 2.5=fake\)",
        ),
        ({"path": ["a"], "label": [True]}, "'true' does not say whether"),
        (
            {"path": ["a", "b"], "label": [0, 1]},
            r"'0' does not say whether.*pass labels=.* \(--label 0=real\), or the other",
        ),
        ({"path": ["a", "b"], "label": [0.0, 1.0]}, "'0' does not say whether"),
        ({"path": ["a", "b"], "label": ["yes", "no"]}, "'no' does not say whether"),
        ({"path": ["a", "b"], "label": [1, -1]}, r"'-1' does not say whether.* \(--label=-1=real\)"),
        ({"path": ["a", " "], "label": ["real"] * 2}, "none in row 3"),
        ({"path": ["a", None], "label": ["real"] * 2}, "none in row 3"),
        ({"path": ["a", 7], "label": ["real"] * 2}, "none in row 3"),
        ({"path": ["a", "b", "./a"], "label": ["real"] * 3}, "a is in rows 2, 4"),
        ({"path": ["/etc/passwd"], "label": ["real"]}, r"/etc/passwd \(row 2\) does not"),
        ({"path": ["a/../../b"], "label": ["real"]}, "does not: name the folder"),
        ({"path": ["C:\\b.wav"], "label": ["real"]}, "does not: name the folder"),
        ({"path": ["a\x00.wav"], "label": ["real"]}, "zero byte"),
    ],
)
def test_an_unsound_manifest_is_refused_with_its_rows(columns: dict[str, list[object]], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        Manifest(pd.DataFrame(columns), root=".")


@pytest.mark.parametrize(
    ("real", "fake"),
    [
        ("REAL", "FAKE"),
        ("bonafide", "spoof"),
        ("genuine", "deepfake"),
        ("authentic", "synthetic"),
        ("original", "ai"),
        ("Bona-fide ", "Spoofed"),
        ("Human", "AI_generated"),
    ],
)
def test_the_usual_words_for_real_and_fake_are_understood(tmp_path: Path, real: object, fake: object) -> None:
    manifest = Manifest(pd.DataFrame({"path": ["a", "b"], "label": [real, fake]}), root=".")
    assert manifest.table["label"].tolist() == ["real", "fake"] and manifest.is_fake() == [0, 1]
    (tmp_path / "m.csv").write_text(f"path,label\na,{real}\nb,{fake}\n")
    assert Manifest.read(tmp_path / "m.csv").is_fake() == [0, 1]


def test_rows_are_entries_by_number_and_slices_are_manifests(tmp_path: Path) -> None:
    manifest = Manifest(table(10), root=tmp_path)
    assert [entry.path for entry in manifest] == manifest.paths()
    assert [entry.is_fake for entry in manifest] == [bool(fake) for fake in manifest.is_fake()]
    assert manifest[-1].columns == {
        "group_id": manifest.table["group_id"].iloc[9],
        "source": manifest[9].columns["source"],
    }
    assert isinstance(manifest[2:5], Manifest) and manifest[2:5].paths() == manifest.paths()[2:5]
    with pytest.raises(IndexError):
        manifest[10]


def test_torch_takes_decoded_files_with_their_labels() -> None:
    pictures = Manifest.read(small.folder("images")).to_torch(lambda picture: picture.float() / 255)
    loaded = DataLoader(pictures, batch_size=8)
    content, labels = next(iter(loaded))
    assert tuple(content.shape) == (8, 3, 256, 256) and 0 <= content.min() < content.max() <= 1
    assert labels.tolist() == pictures.manifest.is_fake()
    sound, _ = Manifest.read(small.folder("voices")).to_torch()[0]
    assert sound.dtype == torch.float32 and sound.ndim == 1 and 0.01 < sound.abs().max() <= 1


def test_a_datasets_own_words_are_told(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("path,label\na,1\nb,0\nc,yes\nd,spoof\n")
    manifest = Manifest.read(tmp_path / "m.csv", labels={1: "real", "0": "fake", "Yes": "fake"})
    assert manifest.is_fake() == [0, 1, 1, 1]
    assert manifest.where(label="fake").is_fake() == [1, 1, 1], "they are not turned twice"
    with pytest.raises(UsageError, match="which is fake, not 'spoof'"):
        Manifest.read(tmp_path / "m.csv", labels={"yes": "spoof"})
    with pytest.raises(UsageError, match=r"labels is a dict .*, not a list$"):
        Manifest.read(tmp_path / "m.csv", labels=["real", "fake"])  # type: ignore[arg-type]


def test_absolute_paths_are_taken_inside_the_root_and_elsewhere_the_way_is_told(tmp_path: Path) -> None:
    listed = tmp_path / "lists" / "m.csv"
    listed.parent.mkdir()
    listed.write_text(f"path,label\n{tmp_path}/a.wav,real\n{tmp_path}/x/../b.wav,fake\n")
    assert Manifest.read(listed, root=tmp_path).table["path"].tolist() == ["a.wav", "b.wav"]
    assert Manifest.read(listed, root="/").table["path"].tolist() == [f"{tmp_path}/{name}.wav"[1:] for name in "ab"]
    with pytest.raises(UsageError, match=r"Manifest\.read\(FILE, outside=True\) returns, also to evaluate"):
        Manifest.read(listed)
    assert Manifest.read(listed, outside=True).paths()[0] == tmp_path / "a.wav"
    listed.write_text(f"path,label\n{tmp_path}/lists/../a.wav,real\n")
    with pytest.raises(UsageError, match="does not"):
        Manifest.read(listed)


def test_paths_that_windows_wrote_are_found_or_told(tmp_path: Path) -> None:
    (tmp_path / "clips").mkdir()
    (tmp_path / "clips" / "a.wav").touch()
    (tmp_path / "odd\\name.wav").touch()
    (tmp_path / "m.csv").write_text("path,label\nclips\\a.wav,real\nodd\\name.wav,fake\n")
    assert Manifest.read(tmp_path / "m.csv").check().table["path"].tolist() == ["clips/a.wav", "odd\\name.wav"]
    (tmp_path / "m.csv").write_text("path,label\nclips\\b.wav,real\n")
    with pytest.raises(UsageError, match="write / between folders"):
        Manifest.read(tmp_path / "m.csv").check()
    (tmp_path / "m.csv").write_text("path,label\nx\\..\\..\\m.csv,real\n")
    assert Manifest.read(tmp_path / "m.csv").missing()


@pytest.mark.parametrize(
    "rows", ["a.wav,real,x\nb.wav,fake,x\n", "a.wav,real\nb.wav,fake,x\n", "a.wav,real,x\nb,fake\n"]
)
def test_rows_with_a_cell_too_many_are_refused(tmp_path: Path, rows: str) -> None:
    (tmp_path / "m.csv").write_text(f"path,label\n{rows}")
    line = 2 if rows.startswith("a.wav,real,") else 3
    with pytest.raises(UsageError, match=f"m.csv has more than 2 cells in line {line}"):
        Manifest.read(tmp_path / "m.csv")


def test_empty_cells_at_the_end_of_all_rows_shift_nothing(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("path,label\na.wav,real,\nb.wav,fake,\n")
    assert Manifest.read(tmp_path / "m.csv").table["path"].tolist() == ["a.wav", "b.wav"]


def test_empty_groups_are_none(tmp_path: Path) -> None:
    for values in (["", " ", "", ""], pd.Categorical(["", "", "", ""])):
        columns = pd.DataFrame({"path": list("abcd"), "label": ["real", "fake"] * 2, "group_id": values})
        manifest = Manifest(columns, root=tmp_path)
        assert manifest.table["group_id"].isna().all()
        assert set(manifest.split({"train": 0.5, "test": 0.5}).table["split"]) == {"train", "test"}


def test_paths_may_lead_outside_where_the_caller_says_so(tmp_path: Path) -> None:
    columns = {"path": [str(tmp_path / "a.wav"), "../b.wav"], "label": ["real", "fake"]}
    manifest = Manifest(pd.DataFrame(columns), root=tmp_path, outside=True)
    assert manifest.paths()[0] == tmp_path / "a.wav"
    assert len(manifest.where(label="fake")) == 1


def test_a_header_may_end_in_empty_columns_and_have_commas_in_quotes(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("path,label,,\na.wav,real,,\n")
    assert Manifest.read(path).table["label"].tolist() == ["real"]
    path.write_text('path,label,"mean, dB","peak, dB"\na.wav,real,1,2\n')
    assert Manifest.read(path).table["peak, dB"].tolist() == ["2"]


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("m.csv", b"", "is empty"),
        ("m.csv", "path,label\nä.wav,real\n".encode("latin-1"), "no UTF-8 text"),
        ("m.csv", "path,label\na.wav,real\n".encode("utf-16"), "no UTF-8 text"),
        ("m.csv", b"path;label\na.wav;real\n", "separates its columns by ';'"),
        ("m.csv", b"path,label,path\na,real,b\n", "names a column twice"),
        ("m.csv", b"path,label\na.wav,real,extra,cells\n", "m.csv"),
        ("m.csv", b'path,label\n"a.wav,real\n', "m.csv"),
        ("m.csv", b"path,label\na.wav,real\nb.wav,\n", "m.csv: labels must be real or fake.*row 3"),
        ("m.parquet", b"PAR1 this is none", "no Parquet file"),
    ],
)
def test_files_that_are_no_manifest_say_why(tmp_path: Path, name: str, content: bytes, sentence: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError, match=sentence):
        Manifest.read(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("path,label\na.wav,real\n\n \r\nb.wav,wrong\n\nc.wav,wrong\n", "rows 5, 7"),
        ("\n\npath,label\na.wav,real\nb.wav,wrong\n", "row 5"),
        ('path,label,note\na.wav,real,"two\nlines"\nb.wav,wrong,"x\ny"\nc.wav,wrong,\n', "rows 4, 6"),
    ],
)
def test_rows_are_named_by_their_lines_in_the_file(tmp_path: Path, text: str, rows: str) -> None:
    (tmp_path / "m.csv").write_bytes(text.encode())
    with pytest.raises(UsageError, match=rf"'wrong' \({rows}\)"):
        Manifest.read(tmp_path / "m.csv")
    manifest = Manifest.read(tmp_path / "m.csv", labels={"wrong": "fake"})
    assert manifest.table.index.equals(pd.RangeIndex(len(manifest))), "counted in the table as ever"


def test_a_table_without_end_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forensix.manifest, "_MAX_BYTES", 10)
    (tmp_path / "m.csv").write_text("path,label\na.wav,real\n")
    with pytest.raises(UsageError, match="a manifest may have"):
        Manifest.read(tmp_path / "m.csv")


def test_a_byte_order_mark_and_windows_lines_are_read(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_bytes(b"\xef\xbb\xbfpath,label\r\na.wav,real\r\n")
    assert Manifest.read(tmp_path / "m.csv").table["path"].tolist() == ["a.wav"]


def test_folders_are_read_and_empty_ones_are_not(tmp_path: Path) -> None:
    for name in ("real/a.wav", "fake/vits/b.wav"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    manifest = Manifest.read(tmp_path)
    assert manifest.table["label"].tolist() == ["real", "fake"]
    assert manifest.table["generator"].tolist()[1] == "vits"
    with pytest.raises(UsageError, match="neither a manifest"):
        Manifest.read(tmp_path / "real")
    with pytest.raises(UsageError, match="no manifest at"):
        Manifest.read(tmp_path / "absent.csv")


def test_missing_files_are_named_before_work_begins(tmp_path: Path) -> None:
    (tmp_path / "a.wav").touch()
    manifest = Manifest(pd.DataFrame({"path": ["a.wav", "b.wav"], "label": ["real", "fake"]}), root=tmp_path)
    assert manifest.missing() == ["b.wav"]
    with pytest.raises(UsageError, match=r"1 of 2 files are not in .*: b\.wav"):
        manifest.check()
    assert manifest.where(label="real").check().paths() == [tmp_path / "a.wav"]
    with pytest.raises(UsageError, match="no rows"):
        manifest.where(label="none").check()


def test_a_list_that_lies_elsewhere_than_its_files_is_told_of_root(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    for name in ("a.wav", "b.wav"):
        (tmp_path / "set" / name).touch()
    rows = pd.DataFrame({"path": ["a.wav", "b.wav"], "label": ["real", "fake"]})
    written = Manifest(rows, tmp_path / "set").write(tmp_path / "test.csv")
    for look in (Manifest.check, read_manifest):
        with pytest.raises(UsageError, match=r"Manifest\.read\(FILE, root=FOLDER\), or --root DIR$"):
            look(Manifest.read(written))
    assert len(Manifest.read(written, root=tmp_path / "set").check()) == 2
    (tmp_path / "a.wav").touch()
    with pytest.raises(UsageError, match=r"1 of 2 files are not in .*: b\.wav$"):
        Manifest.read(written).check()


def test_the_corpora_are_manifests(corpora: Path) -> None:
    for name in ("voice", "images", "faces"):
        assert len(Manifest.read(corpora / name).where(split="dev").check()) > 100


def test_paths_of_files_that_were_listed_here_are_taken(tmp_path: Path) -> None:
    for name in ("a.jpg", "b.jpg"):
        (tmp_path / name).touch()
    files = sorted(tmp_path.iterdir())
    listed = Manifest(pd.DataFrame({"path": files, "label": ["real", "fake"]}), tmp_path)
    assert listed.table["path"].tolist() == ["a.jpg", "b.jpg"] and listed.paths() == files
    elsewhere = pd.DataFrame({"path": [*files, Path("/elsewhere/c.jpg")], "label": ["real", "fake", "fake"]})
    with pytest.raises(UsageError, match="must lie inside"):
        Manifest(elsewhere, tmp_path)
    assert Manifest(elsewhere, tmp_path, outside=True).paths() == [*files, Path("/elsewhere/c.jpg")]


def test_a_table_without_rows_is_a_manifest_without_rows() -> None:
    empty = Manifest(pd.DataFrame({"path": [], "label": []}), "clips")
    assert len(empty) == 0 and len(empty.split({"train": 1.0})) == 0 and empty.paths() == []


@pytest.mark.parametrize("seed", [-3, 1.5, "a", True])
def test_a_seed_is_a_whole_number(seed: Any) -> None:
    table = pd.DataFrame({"path": ["a.jpg", "b.jpg"], "label": ["real", "fake"]})
    for draw in (
        lambda: Manifest(table, "clips").split({"train": 1.0}, seed=seed),
        lambda: Manifest(table, "clips").sample(1, seed=seed),
    ):
        with pytest.raises(UsageError, match="seed must be a whole number from 0 up"):
            draw()


@pytest.mark.parametrize("n", [-1, 2.5, None, True])
def test_a_sample_is_of_a_whole_number_of_rows(n: Any) -> None:
    listed = Manifest(pd.DataFrame({"path": list("abcd"), "label": ["real", "fake"] * 2}), "clips")
    with pytest.raises(UsageError, match="whole number from 0 up"):
        listed.sample(n)
    assert len(listed.sample(1, by="label")) == 2


def test_what_is_no_table_or_no_place_in_it_is_refused() -> None:
    with pytest.raises(UsageError, match="not of a dict"):
        Manifest({"path": ["a.jpg"], "label": ["real"]}, "clips")  # type: ignore[arg-type]
    listed = Manifest(pd.DataFrame({"path": list("ab"), "label": ["real", "fake"]}), "clips")
    with pytest.raises(TypeError):
        listed[[0, 1]]  # type: ignore[call-overload]
    with pytest.raises(UsageError, match="must add up to 1"):
        listed.split({"train": float("nan"), "dev": 1.0})


def test_it_is_equal_to_itself_alone() -> None:
    one, other = (Manifest(table(3), "clips") for _ in range(2))
    assert one != other
    assert len({one, other, one}) == 2
