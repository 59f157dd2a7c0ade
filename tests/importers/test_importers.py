"""Each importer on a tree of the shape that people have on disk; files are empty, since only names are read."""

import json
import os
from pathlib import Path

import pandas as pd
import pytest

from forensix import Manifest, importers
from forensix.errors import UsageError
from tests.importers.trees import by_path, touch


def test_faceforensics_groups_pairs_and_actors_with_their_originals(tmp_path: Path) -> None:
    youtube, swapped = "original_sequences/youtube/c23/videos", "manipulated_sequences/Deepfakes/c23/videos"
    touch(tmp_path, f"{youtube}/000.mp4", f"{youtube}/003.mp4", f"{youtube}/010.mp4")
    touch(tmp_path, f"{swapped}/000_003.mp4", f"{swapped}/003_000.mp4", "original_sequences/youtube/c40/videos/000.mp4")
    touch(tmp_path, "original_sequences/actors/c23/videos/01__walk.mp4")
    touch(tmp_path, "manipulated_sequences/DeepFakeDetection/c23/videos/01_02__walk__YVGY8LOK.mp4")
    (tmp_path / "train.json").write_text('[["000", "003"]]')
    (tmp_path / "val.json").write_text("[]")
    (tmp_path / "test.json").write_text('[["010", "011"]]')
    rows = by_path(Manifest.import_("faceforensics", tmp_path))
    assert len(rows) == 8
    fake = rows[f"{swapped}/003_000.mp4"]
    assert (fake["label"], fake["method"], fake["split"], fake["quality"]) == ("fake", "Deepfakes", "train", "c23")
    assert {rows[f"{youtube}/{v}.mp4"]["group_id"] for v in ("000", "003")} == {fake["group_id"]}
    assert rows[f"{youtube}/010.mp4"]["split"] == "test"
    actors = [row for row in rows.values() if row["source"] == "DeepFakeDetection"]
    assert [row["group_id"] for row in actors] == ["01__walk"] * 2
    assert {row["label"] for row in actors} == {"real", "fake"}
    assert len(Manifest.import_("faceforensics", tmp_path, quality="c40")) == 1


def test_faceforensics_without_lists_knows_pairs_by_name_and_no_splits(tmp_path: Path) -> None:
    touch(tmp_path, "original_sequences/youtube/raw/videos/003.mp4")
    touch(tmp_path, "manipulated_sequences/Face2Face/raw/videos/000_003.mp4")
    touch(tmp_path, "manipulated_sequences/Face2Face/raw/videos/003_000.mp4")
    manifest = Manifest.import_("faceforensics", tmp_path)
    assert "split" not in manifest.table
    assert manifest.table["group_id"].nunique() == 1


def test_celeb_df_follows_the_list_of_testing_videos(tmp_path: Path) -> None:
    touch(tmp_path, "Celeb-real/id0_0000.mp4", "Celeb-real/id1_0000.mp4", "YouTube-real/00170.mp4")
    touch(tmp_path, "Celeb-synthesis/id0_id1_0000.mp4", "Celeb-synthesis/id1_id0_0000.mp4")
    listing = tmp_path / "List_of_testing_videos.txt"
    listing.write_text("1 YouTube-real/00170.mp4\n0 Celeb-synthesis/id1_id0_0000.mp4\n")
    rows = by_path(Manifest.import_("celeb_df_v2", tmp_path))
    assert rows["YouTube-real/00170.mp4"]["split"] == rows["Celeb-synthesis/id1_id0_0000.mp4"]["split"] == "test"
    assert rows["Celeb-synthesis/id0_id1_0000.mp4"]["label"] == "fake"
    assert rows["Celeb-synthesis/id0_id1_0000.mp4"]["group_id"] == rows["Celeb-real/id0_0000.mp4"]["group_id"]
    assert rows["YouTube-real/00170.mp4"]["label"] == "real"
    listing.write_text("0 YouTube-real/00170.mp4\n")
    with pytest.raises(UsageError, match="as its folder says"):
        Manifest.import_("celeb_df_v2", tmp_path)


def test_celeb_df_videos_named_mp4_in_capitals_are_tested_on_as_the_list_says(tmp_path: Path) -> None:
    touch(tmp_path, "Celeb-real/id0_0000.MP4", "YouTube-real/00170.mp4", "Celeb-synthesis/id1_id0_0000.MP4")
    (tmp_path / "List_of_testing_videos.txt").write_text("0 Celeb-synthesis/id1_id0_0000.mp4\n")
    rows = by_path(Manifest.import_("celeb_df_v2", tmp_path))
    assert rows["Celeb-synthesis/id1_id0_0000.MP4"]["split"] == "test"
    assert rows["Celeb-real/id0_0000.MP4"]["split"] == "train"


@pytest.mark.parametrize("name", ["YouTube-real\\00170.mp4", "./YouTube-real/00170.mp4", "/x/YouTube-real/00170.mp4"])
def test_celeb_df_testing_videos_are_found_however_their_paths_are_written(tmp_path: Path, name: str) -> None:
    touch(tmp_path, "Celeb-real/id0_0000.mp4", "YouTube-real/00170.mp4", "Celeb-synthesis/id0_id1_0000.mp4")
    (tmp_path / "List_of_testing_videos.txt").write_text(f"1 {name}\n")
    rows = by_path(Manifest.import_("celeb_df_v2", tmp_path))
    assert [path for path, row in rows.items() if row["split"] == "test"] == ["YouTube-real/00170.mp4"]


@pytest.mark.parametrize("lines", ["1 YouTube-real/00171.mp4\n", "1 00170.mp4\n", ""])
def test_a_list_of_testing_videos_that_names_none_of_them_is_refused(tmp_path: Path, lines: str) -> None:
    touch(tmp_path, "Celeb-real/id0_0000.mp4", "YouTube-real/00170.mp4", "Celeb-synthesis/id0_id1_0000.mp4")
    (tmp_path / "List_of_testing_videos.txt").write_text(lines)
    with pytest.raises(UsageError, match=r"List_of_testing_videos\.txt names none of the videos"):
        Manifest.import_("celeb_df_v2", tmp_path)


def test_a_folder_that_is_worked_in_is_known_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touch(tmp_path, "imagenet_ai_0419_biggan/val/ai/a.png", "imagenet_ai_0419_biggan/val/nature/b.JPEG")
    monkeypatch.chdir(tmp_path / "imagenet_ai_0419_biggan")
    rows = by_path(Manifest.import_("genimage", "."))
    assert (rows["val/ai/a.png"]["generator"], rows["val/ai/a.png"]["family"]) == ("biggan", "gan")


def test_dfdc_groups_fakes_with_their_original(tmp_path: Path) -> None:
    part = tmp_path / "dfdc_train_part_0"
    touch(part, "a.mp4", "b.mp4")
    fields = {
        "a.mp4": {"label": "FAKE", "split": "train", "original": "b.mp4"},
        "b.mp4": {"label": "REAL", "split": "train"},
        "gone.mp4": {"label": "REAL", "split": "train"},
    }
    (part / "metadata.json").write_text(json.dumps(fields))
    rows = by_path(Manifest.import_("dfdc", tmp_path))
    assert {path: row["label"] for path, row in rows.items()} == {
        "dfdc_train_part_0/a.mp4": "fake",
        "dfdc_train_part_0/b.mp4": "real",
    }
    assert {row["group_id"] for row in rows.values()} == {"b"}
    (part / "metadata.json").write_text('{"a.mp4": {"is_fake": 1, "original": "b.mp4"}, "b.mp4": {"is_fake": 0}}')
    assert Manifest.import_("dfdc", part).table.set_index("path")["label"].to_dict() == {
        "a.mp4": "fake",
        "b.mp4": "real",
    }
    (part / "metadata.json").write_text('{"a.mp4": {"label": "MAYBE"}}')
    with pytest.raises(UsageError, match="MAYBE"):
        Manifest.import_("dfdc", part)


@pytest.mark.parametrize("videos", ["", "videos/"])
def test_dfdc_knows_its_videos_by_their_names_in_capitals_too(tmp_path: Path, videos: str) -> None:
    touch(tmp_path, f"{videos}a.MP4", f"{videos}B.mp4", f"{videos}c.mp4")
    fields = {"a.mp4": {"label": "FAKE", "original": "b.mp4"}, "b.mp4": {"label": "REAL"}}
    # Of a name that is there as it is listed, another spelling is another video.
    fields |= {"C.mp4": {"label": "FAKE"}, "c.mp4": {"label": "REAL"}}
    (tmp_path / "metadata.json").write_text(json.dumps(fields))
    table = Manifest.import_("dfdc", tmp_path).table
    assert table.set_index("path")["label"].to_dict() == {
        f"{videos}a.MP4": "fake",
        f"{videos}B.mp4": "real",
        f"{videos}c.mp4": "real",
    }


def test_dfdc_finds_parts_that_lie_on_other_disks(tmp_path: Path) -> None:
    touch(tmp_path / "disk", "a.mp4")
    (tmp_path / "disk" / "metadata.json").write_text('{"a.mp4": {"label": "REAL", "split": "train"}}')
    (tmp_path / "dfdc").mkdir()
    (tmp_path / "dfdc" / "dfdc_train_part_0").symlink_to(tmp_path / "disk")
    assert list(by_path(Manifest.import_("dfdc", tmp_path / "dfdc"))) == ["dfdc_train_part_0/a.mp4"]


@pytest.mark.parametrize("videos", ["", "videos/"])
def test_dfdc_has_a_table_of_labels_in_its_test_set(tmp_path: Path, videos: str) -> None:
    touch(tmp_path, f"test/{videos}a.mp4", f"test/{videos}b.mp4", "train/dfdc_train_part_0/c.mp4")
    (tmp_path / "test" / "labels.csv").write_text("filename,label\na.mp4,1\nb.mp4,0\nabsent.mp4,1\n")
    (tmp_path / "train/dfdc_train_part_0/metadata.json").write_text('{"c.mp4": {"label": "REAL", "split": "train"}}')
    rows = by_path(Manifest.import_("dfdc", tmp_path))
    assert {path: (row["label"], row["split"]) for path, row in rows.items()} == {
        f"test/{videos}a.mp4": ("fake", "test"),
        f"test/{videos}b.mp4": ("real", "test"),
        "train/dfdc_train_part_0/c.mp4": ("real", "train"),
    }
    (tmp_path / "test" / videos / "metadata.json").write_text('{"a.mp4": {"is_fake": 1, "original": "b.mp4"}}')
    assert len(Manifest.import_("dfdc", tmp_path / "test")) == 2


def test_deepfakebench_finds_frames_wherever_they_were_moved(tmp_path: Path) -> None:
    def frames(kind: str, video: str) -> list[str]:
        names = [f"FaceForensics++/{kind}/c23/frames/{video}/{i:03d}.png" for i in range(40)]
        touch(tmp_path, *names)
        return [f"/data/rgb/{name}" if kind.startswith("o") else "datasets\\rgb\\" + name for name in names]

    videos = {
        "FF-real": {
            "test": {"c23": {"000": {"label": "FF-real", "frames": frames("original_sequences/youtube", "000")}}}
        },
        "FF-DF": {
            "test": {"c23": {"000_003": {"label": "FF-DF", "frames": frames("manipulated/Deepfakes", "000_003")}}}
        },
    }
    (tmp_path / "FF-DF.json").write_text(json.dumps({"FF-DF": videos}))
    manifest = Manifest.import_("deepfakebench", tmp_path, n_frames=8)
    manifest.check()
    table = manifest.table
    assert table.groupby("label").size().to_dict() == {"fake": 8, "real": 8}
    assert table["group_id"].nunique() == 1 and table["video"].nunique() == 2
    assert table["split"].unique().tolist() == ["test"] and table["quality"].unique().tolist() == ["c23"]
    assert len(Manifest.import_("deepfakebench", tmp_path, n_frames=None)) == 80


def test_deepfakebench_counts_a_frame_once_and_for_test(tmp_path: Path) -> None:
    touch(tmp_path, "Celeb-DF-v2/Celeb-real/frames/id0_0000/000.png")
    video = {"id0_0000": {"label": "CelebDFv2_real", "frames": ["rgb/Celeb-DF-v2/Celeb-real/frames/id0_0000/000.png"]}}
    splits = {"train": video, "val": video, "test": video}
    (tmp_path / "Celeb-DF-v2.json").write_text(json.dumps({"Celeb-DF-v2": {"CelebDFv2_real": splits}}))
    rows = by_path(Manifest.import_("deepfakebench", tmp_path))
    assert [(row["split"], row["label"]) for row in rows.values()] == [("test", "real")]


def test_deepfakebench_leaves_out_frames_that_are_not_there(tmp_path: Path) -> None:
    names = [f"D/Fake/frames/v/{i:03d}.png" for i in range(6)]
    touch(tmp_path, *names[3:])
    fields = {"D": {"D_Fake": {"test": {"v": {"label": "D_Fake", "frames": [f"rgb/{name}" for name in names]}}}}}
    (tmp_path / "D.json").write_text(json.dumps(fields))
    assert Manifest.import_("deepfakebench", tmp_path, n_frames=3).table["path"].tolist() == names[3:]


@pytest.mark.parametrize("frame", ["../../secret.png", "rgb/absent/000.png"])
def test_deepfakebench_frames_that_are_not_there_are_named(tmp_path: Path, frame: str) -> None:
    fields = {"D": {"D_Fake": {"test": {"v": {"label": "D_Fake", "frames": [frame]}}}}}
    (tmp_path / "D.json").write_text(json.dumps(fields))
    with pytest.raises(UsageError, match=r"lists .*\.png"):
        Manifest.import_("deepfakebench", tmp_path)


def test_deepfakebench_finds_frames_in_a_folder_that_the_list_does_not_name(tmp_path: Path) -> None:
    touch(tmp_path, "rgb/UADFV/fake/frames/0001/000.png", "._UADFV.json")
    fields = {"UADFV": {"Fake": {"test": {"1": {"label": "Fake", "frames": ["UADFV\\fake\\frames\\0001\\000.png"]}}}}}
    (tmp_path / "UADFV.json").write_text(json.dumps(fields))
    assert list(by_path(Manifest.import_("deepfakebench", tmp_path))) == ["rgb/UADFV/fake/frames/0001/000.png"]


def test_deepfakebench_takes_no_frame_for_that_of_another_video(tmp_path: Path) -> None:
    touch(tmp_path, "000_003/000.png")
    fields = {
        f"FF-{kind}": {"train": {video: {"label": f"FF-{kind}", "frames": [f"{folder}/c23/frames/{video}/000.png"]}}}
        for kind, video, folder in (("real", "001", "FF++/youtube"), ("DF", "000_003", "FF++/Deepfakes"))
    }
    (tmp_path / "FF.json").write_text(json.dumps({"FF++": fields}))
    rows = by_path(Manifest.import_("deepfakebench", tmp_path))
    assert {path: row["label"] for path, row in rows.items()} == {"000_003/000.png": "fake"}


def test_deepfakebench_refuses_a_tree_in_which_two_listed_frames_are_one_file(tmp_path: Path) -> None:
    touch(tmp_path, "fake/0001/000.png")
    fields = {
        name: {"test": {"0001": {"label": name, "frames": [f"D/{name}/0001/000.png"]}}} for name in ("real", "fake")
    }
    (tmp_path / "D.json").write_text(json.dumps({"D": fields}))
    with pytest.raises(UsageError, match=r"D/real/0001/000\.png and D/fake/0001/000\.png, and both are found as"):
        Manifest.import_("deepfakebench", tmp_path)


def test_genimage_labels_nature_real_and_names_generators(tmp_path: Path) -> None:
    touch(tmp_path, "Midjourney/imagenet_midjourney/val/ai/0_midjourney_1.png")
    touch(tmp_path, "Midjourney/imagenet_midjourney/val/nature/ILSVRC2012_val_00000293.JPEG")
    touch(tmp_path, "stable_diffusion_v_1_4/imagenet_ai_0419_sdv4/train/ai/000_sdv4_00001.png")
    touch(tmp_path, "stable_diffusion_v_1_4/imagenet_ai_0419_sdv4/train/nature/n01440764_10026.JPEG")
    rows = by_path(Manifest.import_("genimage", tmp_path))
    assert {(row["label"], row["generator"], row["split"], row["subset"]) for row in rows.values()} == {
        ("fake", "midjourney", "test", "midjourney"),
        ("real", None, "test", "midjourney"),
        ("fake", "sdv4", "train", "sdv4"),
        ("real", None, "train", "sdv4"),
    }
    alone = Manifest.import_("genimage", tmp_path / "Midjourney" / "imagenet_midjourney")
    assert alone.table["label"].tolist() == ["real", "fake"]


def test_community_forensics_has_a_folder_for_each_generator(tmp_path: Path) -> None:
    touch(tmp_path, "dalle3/fake/1.png", "dalle3/real/1.png", "firefly/fake/1.webp", "firefly/fake/notes.txt")
    rows = by_path(Manifest.import_("community_forensics", tmp_path, split="test"))
    assert {path: (row["label"], row["subset"]) for path, row in rows.items()} == {
        "dalle3/real/1.png": ("real", "dalle3"),
        "dalle3/fake/1.png": ("fake", "dalle3"),
        "firefly/fake/1.webp": ("fake", "firefly"),
    }
    assert rows["firefly/fake/1.webp"]["generator"] == "firefly"


def test_the_page_of_community_forensics_lays_its_shards_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Path(__file__).parents[2] / "datasets" / "community_forensics.md"
    code = page.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    data = tmp_path / "CommunityForensics" / "data" / "manual"
    data.mkdir(parents=True)
    fields = {"image_name": "00000162.png", "image_data": b"png", "prompt": "a dog"}
    named = [("stabilityai/stable-diffusion-2", "1"), ("stabilityai/stable-diffusion-2", "1"), (None, "0")]
    shard = pd.DataFrame([fields | {"model_name": model, "label": label} for model, label in named])
    shard.to_parquet(data / "manual-00000.parquet")
    shard[:1].assign(label=1).to_parquet(data / "manual-00001.parquet")
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    rows = by_path(Manifest.import_("community_forensics", tmp_path / "community_forensics"))
    assert [(row["label"], row["generator"]) for row in rows.values()] == [
        ("real", None),
        *[("fake", "stabilityai_stable-diffusion-2")] * 3,
    ]


def test_fakeavceleb_is_fake_by_picture_by_voice_or_by_either(tmp_path: Path) -> None:
    lines = ["source,target1,target2,method,category,type,race,gender,path,"]
    for kind, method, category in (
        ("RealVideo-RealAudio", "real", "A"),
        ("RealVideo-FakeAudio", "rtvc", "B"),
        ("FakeVideo-RealAudio", "fsgan", "C"),
        ("FakeVideo-FakeAudio", "fsgan-wav2lip", "D"),
    ):
        touch(tmp_path, f"{kind}/African/men/id00076/00109.mp4")
        lines.append(
            f"id00076,-,-,{method},{category},{kind},African,men,00109.mp4,FakeAVCeleb/{kind}/African/men/id00076"
        )
    (tmp_path / "meta_data.csv").write_text("\n".join(lines) + "\n")
    labels = {
        modality: Manifest.import_("fakeavceleb", tmp_path, modality=modality).table["label"].tolist()
        for modality in ("any", "video", "audio")
    }
    assert labels == {
        "any": ["real", "fake", "fake", "fake"],
        "video": ["real", "real", "fake", "fake"],
        "audio": ["real", "fake", "real", "fake"],
    }
    table = Manifest.import_("fakeavceleb", tmp_path).table
    assert table["gender"].unique().tolist() == ["male"] and table["group_id"].unique().tolist() == ["id00076"]
    with pytest.raises(UsageError, match="modality"):
        Manifest.import_("fakeavceleb", tmp_path, modality="smell")


def test_fakeavceleb_videos_that_are_listed_twice_are_rows_once(tmp_path: Path) -> None:
    kind = "FakeVideo-RealAudio"
    touch(tmp_path, f"{kind}/African/men/id00076/00109_1.mp4")
    line = f"id00076,id1,-,fsgan,C,{kind},African,men,00109_1.mp4,FakeAVCeleb/{kind}/African/men/id00076\n"
    (tmp_path / "meta_data.csv").write_text(
        "source,target1,target2,method,category,type,race,gender,path,\n" + line + line
    )
    assert (
        len(by_path(Manifest.import_("fakeavceleb", tmp_path))) == len(Manifest.import_("fakeavceleb", tmp_path)) == 1
    )


def test_folders_name_generators_sources_and_splits(tmp_path: Path) -> None:
    touch(tmp_path, "dev/real/vctk/a.wav", "dev/fake/vits/b.wav", "val/Fake/c.png", "fake/d.mp4", "real/e.jpg")
    touch(tmp_path, "fake/readme.txt", "fake/.hidden.png", "notes/f.png")
    rows = by_path(Manifest.read(tmp_path))
    assert set(rows) == {"dev/real/vctk/a.wav", "dev/fake/vits/b.wav", "val/Fake/c.png", "fake/d.mp4", "real/e.jpg"}
    assert rows["dev/fake/vits/b.wav"]["generator"] == "vits" and rows["dev/real/vctk/a.wav"]["source"] == "vctk"
    assert rows["val/Fake/c.png"]["split"] == "dev" and rows["val/Fake/c.png"]["label"] == "fake"


def test_splits_may_lie_inside_the_folders_of_the_classes(tmp_path: Path) -> None:
    touch(tmp_path, "real/train/a.jpg", "fake/Test/flux/b.jpg", "real/validation/vctk/c.jpg", "dev/fake/test/d.jpg")
    told = {
        path: (row["split"], row["source"], row["generator"]) for path, row in by_path(Manifest.read(tmp_path)).items()
    }
    assert told == {
        "real/train/a.jpg": ("train", None, None),
        "fake/Test/flux/b.jpg": ("test", None, "flux"),
        "real/validation/vctk/c.jpg": ("dev", "vctk", None),
        "dev/fake/test/d.jpg": ("dev", None, "test"),
    }


def test_folders_that_are_links_are_followed_and_circles_are_not(tmp_path: Path) -> None:
    touch(tmp_path, "disk/vctk/a.wav", "set/real/b.wav", "set/fake/c.wav")
    (tmp_path / "set" / "real" / "vctk").symlink_to(tmp_path / "disk" / "vctk")
    (tmp_path / "disk" / "vctk" / "again").symlink_to(tmp_path / "disk" / "vctk")
    (tmp_path / "set" / "fake" / "up").symlink_to(tmp_path / "set" / "fake")
    rows = by_path(Manifest.read(tmp_path / "set"))
    assert set(rows) == {"real/b.wav", "real/vctk/a.wav", "fake/c.wav"}
    assert rows["real/vctk/a.wav"]["source"] == "vctk"


def test_names_that_are_no_text_are_told(tmp_path: Path) -> None:
    touch(tmp_path, "real/a.wav", "fake/b.wav")
    try:
        Path(os.fsdecode(os.fsencode(tmp_path / "fake") + b"/caf\xe9.wav")).touch()
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    with pytest.raises(UsageError, match=r"must be UTF-8: rename 'fake/caf\\udce9.wav'"):
        Manifest.read(tmp_path)


@pytest.mark.parametrize("name", importers.BUILT_IN)
def test_an_empty_folder_is_no_dataset_and_the_sentence_says_what_is_missing(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"has .*, but .* does not|neither a manifest|needs one JSON"):
        Manifest.import_(name, tmp_path)
    with pytest.raises(UsageError, match="no folder"):
        Manifest.import_(name, tmp_path / "absent")
    with pytest.raises(UsageError, match="does not take these options"):
        Manifest.import_(name, tmp_path, magic=True)


def test_a_folder_lists_what_opening_takes_by_every_usual_ending(tmp_path: Path) -> None:
    touch(tmp_path, "real/a.jfif", "real/b.3gpp", "real/c.OPUS", "real/d.bmp", "real/e.raw", "fake/f.qt", "fake/g.txt")
    rows = by_path(Manifest.import_("folders", tmp_path))
    assert sorted(rows) == ["fake/f.qt", "real/a.jfif", "real/b.3gpp", "real/c.OPUS"]
