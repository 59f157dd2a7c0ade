"""Collections that lie in no folder become manifests: shards, Hugging Face datasets and URLs."""

import errno
import gc
import io
import json
import sys
import tarfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from forensix import Manifest, small
from forensix.errors import MissingExtra, UsageError
from forensix.importers import copied, hugging_face, shards

REAL, FAKE = sorted(small.folder("images").glob("photographed-*.jpg")), sorted(small.folder("images").glob("gen*.jpg"))


def packed(path: Path, members: Mapping[str, bytes]) -> Path:
    with tarfile.open(path, "w") as tar:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return path


def example(path: Path, key: str, **fields: object) -> dict[str, bytes]:
    return {f"{key}.jpg": path.read_bytes(), f"{key}.json": json.dumps(fields).encode()}


def test_shards_are_examples_of_parts_that_share_a_name(tmp_path: Path) -> None:
    for i in range(2):
        members = example(REAL[i], f"{i}a", label="bonafide", camera="x") | example(
            FAKE[i], f"{i}b", label="ai-generated", box=[1, 2]
        )
        packed(tmp_path / f"set-{i}.tar", members)
    manifest = Manifest.read(str(tmp_path / "set-{0..1}.tar"), folder=tmp_path / "out")
    assert manifest.is_fake() == [0, 1, 0, 1] and manifest.table["camera"].tolist()[0] == "x"
    assert [path.read_bytes() for path in manifest.check().paths()] == [
        path.read_bytes() for path in (REAL[0], FAKE[0], REAL[1], FAKE[1])
    ]
    assert "box" not in manifest.table
    assert len(Manifest.read(tmp_path / "set-0.tar", folder=tmp_path / "few", most=1)) == 2


def test_numbers_in_shards_must_be_told(tmp_path: Path) -> None:
    shard = packed(
        tmp_path / "n.tar",
        {"a.jpg": REAL[0].read_bytes(), "a.cls": b"0\n", "b.jpg": FAKE[0].read_bytes(), "b.cls": b"1\n"},
    )
    with pytest.raises(UsageError, match="'0' does not say whether it means real or fake"):
        Manifest.read(shard, folder=tmp_path / "out")
    assert Manifest.read(shard, folder=tmp_path / "out", labels={0: "real", 1: "fake"}).is_fake() == [0, 1]


@pytest.mark.parametrize(
    ("members", "sentence"),
    [
        ({"../../out.jpg": b"x", "../../out.cls": b"real"}, "leads out of a folder"),
        ({"/out.jpg": b"x", "/out.cls": b"real"}, "leads out of a folder"),
        ({"a.jpg": b"x"}, "has no label"),
        ({"a.cls": b"real"}, "none is a medium"),
        ({"a.jpg": b"x", "a.cls": b"real", "a.JPG": b"y"}, r"the example 'a' has a\.JPG twice"),
        ({"a.jpg": b"x", "a.png": b"x", "a.cls": b"real"}, "several are a medium"),
        ({"a.jpg": b"x", "a.json": b"{"}, "is no JSON"),
        ({"a.jpg": b"x", "a.cls": b"\xff\xfe"}, "no UTF-8"),
        ({"a.jpg": b"x", "a.cls": b"r" * (2 << 20)}, "too much for a label"),
        ({"a.jpg": b"x", "a.cls": b"maybe"}, "'maybe'"),
        ({"a.jpg": b"x", "a.json": b'{"label": "real", "who": "\\ud800"}'}, r"'\\ud800', which is not UTF-8"),
        ({"\udce9.jpg": b"x", "\udce9.cls": b"real"}, r"\\udce9\.jpg', which is not UTF-8"),
        ({}, "holds no labelled media"),
    ],
)
def test_a_hostile_or_unsound_shard_is_refused_in_a_sentence(
    tmp_path: Path, members: dict[str, bytes], sentence: str
) -> None:
    folder = tmp_path / "deep" / "out"
    with pytest.raises(UsageError, match=sentence):
        Manifest.read(packed(tmp_path / "h.tar", members), folder=folder)
    assert not (tmp_path / "out.jpg").exists() and not Path("/out.jpg").exists()


def test_links_and_what_is_no_tar_are_not_followed(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "l.tar", "w") as tar:
        link = tarfile.TarInfo("a.jpg")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
        label = tarfile.TarInfo("a.cls")
        label.size = 4
        tar.addfile(label, io.BytesIO(b"real"))
    with pytest.raises(UsageError, match="none is a medium"):
        Manifest.read(tmp_path / "l.tar", folder=tmp_path / "out")
    (tmp_path / "t.tar").write_bytes(b"no tar" * 200)
    with pytest.raises(UsageError, match="no tar file"):
        Manifest.read(tmp_path / "t.tar", folder=tmp_path / "out")
    whole = packed(tmp_path / "w.tar", {"a.jpg": REAL[0].read_bytes(), "a.cls": b"real"}).read_bytes()
    (tmp_path / "c.tar").write_bytes(whole[: len(REAL[0].read_bytes()) // 2])
    with pytest.raises(UsageError, match=r"c\.tar is no tar file that can be read, or is cut off"):
        Manifest.read(tmp_path / "c.tar", folder=tmp_path / "out")
    with pytest.raises(UsageError, match=r"shards such as train-\{000..009\}.tar, or a URL: got a list"):
        Manifest.read([tmp_path / "w.tar"])
    with pytest.raises(UsageError, match="no shard at"):
        Manifest.read(tmp_path / "absent.tar", folder=tmp_path / "out")
    with pytest.raises(UsageError, match="count upwards"):
        shards.expanded("a-{9..1}.tar")


def test_a_full_disk_leaves_what_was_brought_and_nothing_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shard = packed(tmp_path / "s.tar", example(REAL[0], "a", label="real") | example(FAKE[0], "b", label="fake"))
    complete = copied.shutil.copyfileobj
    copies = 0

    def full(source: object, target: object) -> None:
        nonlocal copies
        copies += 1
        if copies == 2:
            target.write(b"half")
            raise OSError(errno.ENOSPC, "No space left on device", str(tmp_path))
        complete(source, target)

    monkeypatch.setattr(copied.shutil, "copyfileobj", full)
    with pytest.raises(OSError, match="No space left"):
        Manifest.read(shard, folder=tmp_path / "out")
    assert [path.name[:2] for path in (tmp_path / "out").rglob("*") if path.is_file()] == ["a-"]
    again = Manifest.read(shard, folder=tmp_path / "out")
    assert copies == 3, "what is there is not copied again"
    assert len(again.check()) == 2


def test_a_shard_that_was_written_anew_gets_its_own_media_and_leaves_those_of_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = []
    for data, label in ((b"one", "real"), (b"two", "fake")):
        shard = packed(tmp_path / "s.tar", {"0.jpg": data, "0.cls": label.encode()})
        listed.append(Manifest.read(shard, folder=tmp_path / "out"))
    assert [manifest.table["label"].tolist() for manifest in listed] == [["real"], ["fake"]]
    assert [manifest.paths()[0].read_bytes() for manifest in listed] == [b"one", b"two"], "the label of another file"
    monkeypatch.setattr(copied.shutil, "copyfileobj", None)
    assert Manifest.read(shard, folder=tmp_path / "out").paths() == listed[1].paths(), "copied once"


def test_parts_of_a_dataset_that_are_read_into_one_folder_keep_their_labels(tmp_path: Path) -> None:
    features = pytest.importorskip("datasets.features")
    from datasets import Dataset

    kinds = features.Features({"image": features.Image(), "label": features.Value("string")})
    truth = ["real", "fake", "fake", "real"]
    stored = [{"bytes": f"{i} {label}".encode(), "path": f"{i}.png"} for i, label in enumerate(truth)]
    data = Dataset.from_dict({"image": stored, "label": truth}, features=kinds)
    parts = [Manifest.read(data.select(part), folder=tmp_path) for part in (range(2), range(2, 4), range(2))]
    for manifest in parts:
        assert [path.read_text().split()[1] for path in manifest.paths()] == manifest.table["label"].tolist()
    assert parts[0].paths() == parts[2].paths() and len(list(tmp_path.rglob("*.png"))) == 4


def test_a_folder_of_one_urls_media_takes_those_of_no_other(tmp_path: Path) -> None:
    store = pytest.importorskip("fsspec").filesystem("memory")
    for place in ("one", "two"):
        store.pipe(f"/{place}/a.jpg", place.encode())
        store.pipe(f"/{place}/manifest.csv", b"path,label\na.jpg,real\n")
    with pytest.raises(UsageError, match="there is nothing"):
        Manifest.read("memory://gone/manifest.csv", folder=tmp_path / "out")
    first = Manifest.read("memory://one", folder=tmp_path / "out")
    with pytest.raises(UsageError, match="out holds another collection than memory://two: name another folder"):
        Manifest.read("memory://two", folder=tmp_path / "out")
    assert Manifest.read("memory://one/manifest.csv", folder=tmp_path / "out").paths() == first.paths()
    store.pipe("/one/a.jpg", b"another")
    with pytest.raises(UsageError, match=r"a\.jpg is there with other content: name another folder"):
        Manifest.read("memory://one", folder=tmp_path / "out")
    assert first.paths()[0].read_bytes() == b"one"


def test_a_file_whose_format_is_looked_up_is_closed(tmp_path: Path) -> None:
    unnamed = tmp_path / "clip"
    unnamed.write_bytes(REAL[0].read_bytes())
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        assert hugging_face._ending(unnamed, "") == ".jpeg"
        gc.collect()
    assert not warned


def test_a_parquet_file_that_cannot_be_read_names_the_extra_of_manifests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "clips.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"pip install 'forensix\[data\]'"):
        Manifest.read(tmp_path / "clips.parquet")


def test_a_saved_hugging_face_dataset_is_read_by_the_names_of_its_classes(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets.features")
    from datasets import Dataset, DatasetDict

    features = datasets.Features(
        {
            "image": datasets.Image(),
            "label": datasets.ClassLabel(names=["Deepfake", "Real"]),
            "tool": datasets.Value("string"),
        }
    )
    rows = {"image": [str(FAKE[0]), str(REAL[0])], "label": [0, 1], "tool": ["flux", None]}
    data = Dataset.from_dict(rows, features=features)
    DatasetDict({"train": data, "test": data}).save_to_disk(tmp_path / "saved")
    manifest = Manifest.read(tmp_path / "saved", folder=tmp_path / "out")
    assert manifest.is_fake() == [1, 0, 1, 0] and manifest.table["split"].tolist() == ["train"] * 2 + ["test"] * 2
    assert manifest.table["tool"].iloc[0] == "flux"
    assert manifest.paths()[1].read_bytes() == REAL[0].read_bytes(), "copied, not encoded anew"
    assert len(Manifest.read(tmp_path / "saved", folder=tmp_path / "one", split="test")) == 2
    with pytest.raises(UsageError, match=r"no split 'dev'; it has: 'train', 'test'"):
        Manifest.read(tmp_path / "saved", folder=tmp_path / "out", split="dev")
    with pytest.raises(UsageError, match="Say it with label=; it has: image"):
        Manifest.read(tmp_path / "saved", folder=tmp_path / "out", label="verdict")


def test_a_loaded_dataset_with_bare_numbers_must_be_told_and_may_not_name_files_elsewhere(tmp_path: Path) -> None:
    features = pytest.importorskip("datasets.features")
    from datasets import Dataset

    buffer = io.BytesIO()
    Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(buffer, "PNG")
    kinds = features.Features({"image": features.Image(), "label": features.Value("int64")})
    stored = [{"bytes": buffer.getvalue(), "path": None}] * 2
    data = Dataset.from_dict({"image": stored, "label": [0, 1]}, features=kinds)
    with pytest.raises(UsageError, match="does not say whether"):
        Manifest.read(data, folder=tmp_path)
    manifest = Manifest.read(data, folder=tmp_path, labels={1: "real", 0: "fake"})
    assert manifest.is_fake() == [1, 0] and manifest.paths()[0].suffix == ".png"
    both = data.rename_column("label", "truth").add_column("label", ["real", "real"])
    named = Manifest.read(both, folder=tmp_path, label="truth", labels={1: "real", 0: "fake"})
    assert named.is_fake() == [1, 0], "the column that was asked for"
    with pytest.raises(UsageError, match="folder="):
        Manifest.read(data)
    elsewhere = Dataset.from_dict({"image": ["/etc/hostname"], "label": [0]}, features=kinds)
    with pytest.raises(UsageError, match="lies not beside the dataset"):
        Manifest.read(elsewhere, folder=tmp_path)


@pytest.mark.parametrize("kind", ["torch", "numpy", "pandas", "arrow"])
def test_the_format_in_which_a_dataset_gives_its_rows_does_not_matter(tmp_path: Path, kind: str) -> None:
    features = pytest.importorskip("datasets.features")
    from datasets import Dataset

    names = features.ClassLabel(names=["real", "fake"])
    kinds = features.Features({"image": features.Image(), "label": names, "year": features.Value("int64")})
    rows = {"image": [str(REAL[0]), str(FAKE[0])], "label": [0, 1], "year": [2020, 2021]}
    Dataset.from_dict(rows, features=kinds).save_to_disk(tmp_path / "saved")
    data = Dataset.load_from_disk(tmp_path / "saved")
    manifest = Manifest.read(data.with_format(kind), folder=tmp_path / "out")
    assert manifest.is_fake() == [0, 1] and manifest.table["year"].tolist() == [2020, 2021]
    turned = data.with_transform(lambda batch: batch | {"label": [1 - label for label in batch["label"]]})
    assert Manifest.read(turned, folder=tmp_path / "out").is_fake() == [1, 0], "the caller's own"
    with pytest.raises(TypeError, match="of the caller"):
        Manifest.read(data.with_transform(_broken), folder=tmp_path / "out")


def _broken(batch: object) -> None:
    raise TypeError("of the caller")


def test_a_hub_dataset_that_is_not_there_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = pytest.importorskip("datasets.exceptions")
    import datasets as package

    def absent(name: str) -> None:
        raise datasets.DatasetNotFoundError(f"Dataset '{name}' doesn't exist on the Hub or cannot be accessed.\nmore")

    monkeypatch.setattr(package, "load_dataset", absent)
    with pytest.raises(UsageError, match="cannot be had: Dataset 'nobody/nothing' doesn't exist") as caught:
        Manifest.read("hf://datasets/nobody/nothing", folder=tmp_path)
    assert "\n" not in str(caught.value)


def test_urls_are_read_through_fsspec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fsspec = pytest.importorskip("fsspec")
    store = fsspec.filesystem("memory")
    monkeypatch.setenv("FORENSIX_HOME", str(tmp_path / "home"))
    store.pipe("/set/a.jpg", REAL[0].read_bytes())
    store.pipe("/set/b.jpg", FAKE[0].read_bytes())
    store.pipe("/set/manifest.csv", b"path,label,source\na.jpg,genuine,x\nb.jpg,spoof,x\n")
    store.pipe("/plain/dev/real/a.jpg", REAL[0].read_bytes())
    store.pipe("/plain/dev/fake/b.jpg", FAKE[0].read_bytes())
    store.pipe("/bad/manifest.csv", b"path,label\n../set/a.jpg,real\n")
    store.pipe("/tar/s.tar", packed(tmp_path / "s.tar", example(REAL[0], "a", label="real")).read_bytes())
    for url in ("memory://set", "memory://set/manifest.csv"):
        manifest = Manifest.read(url)
        assert manifest.is_fake() == [0, 1] and manifest.paths()[0].read_bytes() == REAL[0].read_bytes()
    assert str(manifest.root).startswith(str(tmp_path / "home"))
    assert Manifest.read("memory://plain").table["split"].tolist() == ["dev", "dev"]
    assert len(Manifest.read("memory://tar/s.tar")) == 1
    with pytest.raises(UsageError, match="leads out of a folder"):
        Manifest.read("memory://bad")
    with pytest.raises(UsageError, match="neither a manifest"):
        Manifest.read("memory://nothing")
    with pytest.raises(UsageError, match=r"memory://nothing/manifest.csv cannot be read: there is nothing"):
        Manifest.read("memory://nothing/manifest.csv")
    store.pipe("/gaps/a.jpg", REAL[0].read_bytes())
    store.pipe("/gaps/manifest.csv", b"path,label\na.jpg,real\ngone.jpg,fake\n")
    gaps = Manifest.read("memory://gaps")
    assert [path.is_file() for path in gaps.paths()] == [True, False] and gaps.is_fake() == [0, 1]
    with pytest.raises(UsageError, match="cannot be opened: Protocol not known"):
        Manifest.read("nowhere://set")


def test_a_folder_behind_a_url_is_read_as_the_one_on_disk(tmp_path: Path) -> None:
    store = pytest.importorskip("fsspec").filesystem("memory")
    names = ["real/vctk/a.jpg", "fake/test/flux/b.jpg", "dev/fake/c.jpg", "fake/._b.jpg", "fake/.thumbs/d.jpg", "e.jpg"]
    for name in [*names, "dev/f.jpg"]:
        store.pipe(f"/alike/{name}", name.encode())
        (tmp_path / "set" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "set" / name).write_text(name)
    near, far = (
        manifest.table.astype(object).where(manifest.table.notna(), None).set_index("path").to_dict("index")
        for manifest in (Manifest.read(tmp_path / "set"), Manifest.read("memory://alike", folder=tmp_path / "out"))
    )
    assert near == far and set(near) == set(names[:3])


def test_what_systems_hide_in_a_shard_is_no_example(tmp_path: Path) -> None:
    hidden = {"._1.jpg": b"x", "._1.cls": b"x", ".t/2.jpg": b"x", "./._1.jpg": b"x"}
    shard = packed(tmp_path / "m.tar", hidden | {"./1.jpg": b"a", "./1.cls": b"real"})
    assert [path.read_bytes() for path in Manifest.read(shard, folder=tmp_path / "out").paths()] == [b"a"]


def test_an_option_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unexpected keyword argument 'splits'"):
        Manifest.read("memory://set", splits="dev")
    with pytest.raises(UsageError, match="most is for collections that lie elsewhere"):
        Manifest.read(small.folder("images"), most=3)
    for most in (0, "5", True):
        with pytest.raises(UsageError, match=f"a whole number of at least 1, not {most!r}"):
            Manifest.read("memory://set", folder=tmp_path, most=most)


@pytest.mark.parametrize("option", [{"root": "clips"}, {"outside": True}])
def test_what_is_copied_has_no_root_of_its_own(tmp_path: Path, option: dict[str, Any]) -> None:
    shard = packed(tmp_path / "s.tar", {"1.jpg": b"a", "1.cls": b"real"})
    for source in (shard, "memory://set"):
        with pytest.raises(UsageError, match=r"root and outside are for manifests that lie here: .*folder= names"):
            Manifest.read(source, folder=tmp_path / "out", **option)
