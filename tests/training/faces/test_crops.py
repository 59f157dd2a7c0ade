"""Faces of listed files are cut once: clips, pictures and cells of grids."""

import io
import json

import av
import numpy as np
import pandas as pd
import pytest

from forensix.training.faces import crops as faces_crops
from forensix.training.faces import lists
from forensix.training.faces.lists import Origin, list_faces

WHOLE = (0.0, 0.0, 1.0, 1.0)
ROW = {"repo": "a/b", "ref": "HEAD", "blob": "", "kind": "video", "method": "mixed", "made_by": "", "cells": ""}


def corpora(folder):
    """Write corpora that offer nothing to train on."""
    row = {"split": "dev", "path": "c.png", "label": "real", "method": "none", "kind": "image", "tool": ""}
    row |= {"source_repo": "e/f", "identity": "x", "licence": "", "generator": "", "source_path": ""}
    for name in ("faces", "images"):
        (folder / name).mkdir()
        pd.DataFrame([row]).to_csv(folder / name / "manifest.csv", index=False)


@pytest.fixture(scope="module")
def portrait():
    from skimage.data import astronaut

    return astronaut()


@pytest.fixture(scope="module")
def crops(portrait):
    return faces_crops.cut_faces([portrait, portrait], WHOLE)


def test_faces_are_cut_with_their_landmarks_at_one_size(portrait, crops):
    assert crops.rgb.shape == (2, 288, 288, 3) and crops.landmarks.shape == (2, 5, 2)
    eyes, mouth = crops.landmarks[0, :2].mean(axis=0), crops.landmarks[0, 3:].mean(axis=0)
    assert 0 < eyes[1] < mouth[1] < 288
    assert faces_crops.cut_faces([portrait], (0.0, 0.0, 0.05, 0.05)) is None


def test_a_grid_becomes_its_cells_and_its_stills_are_pictures():
    cells = [[0, 0, 0.5, 1, "real", "none", "", "static"], [0.5, 0, 1, 1, "fake", "lipsync", "Wav2Lip"]]
    table = faces_crops.items(pd.DataFrame([{**ROW, "path": "x.mp4", "label": "grid", "cells": json.dumps(cells)}]))
    assert table.label.tolist() == ["real", "fake"] and table.static.tolist() == [True, False]
    assert table.area.tolist() == [(0, 0, 0.5, 1), (0.5, 0, 1, 1)] and table.name.nunique() == 2


def test_files_in_which_no_face_is_judged_are_not_learnt_from():
    rows = [{**ROW, "path": f"x.{kind}", "kind": kind, "label": "fake"} for kind in ("gif", "mp4")]
    assert faces_crops.items(pd.DataFrame(rows)).path.tolist() == ["x.mp4"]


def test_moments_are_spread_over_a_video():
    file = io.BytesIO()
    with av.open(file, "w", format="matroska") as container:
        stream = container.add_stream("ffv1", rate=25)
        stream.width = stream.height = 64
        for i in range(50):
            frame = av.VideoFrame.from_ndarray(np.full((64, 64, 3), 4 * i, np.uint8), format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    moments = faces_crops.video_moments(file.getvalue(), 4)
    assert [frame.mean() / 100 for frame in moments] == pytest.approx([0.28, 0.76, 1.28, 1.76], abs=0.05)


def test_the_cache_returns_what_was_stored(tmp_path, crops):
    faces_crops.store(tmp_path / "a.npz", crops)
    faces_crops.store(tmp_path / "b.npz", None)
    again = faces_crops.load(tmp_path / "a.npz")
    np.testing.assert_array_equal(again.rgb, crops.rgb)
    assert again.face_px == pytest.approx(crops.face_px) and faces_crops.load(tmp_path / "b.npz") is None


def test_lists_of_faces_and_of_pictures_are_joined_without_the_development_rows(tmp_path):
    faces = [
        {**ROW, "split": "train", "path": "a.mp4", "label": "real"},
        {**ROW, "split": "dev", "path": "b.mp4", "label": "fake", "repo": "c/d"},
    ]
    pictures = [
        {**ROW, "split": "train", "path": "a.png", "label": "enhanced", "repo": "chmoe/Real_Fake_Face"},
        {**ROW, "split": "train", "path": "b.png", "label": "real", "repo": "no/faces"},
    ]
    for name, rows in (("faces.csv", faces), ("pictures.csv", pictures)):
        pd.DataFrame(rows).to_csv(tmp_path / name, index=False)
    corpora(tmp_path)
    table = list_faces(Origin(tmp_path / "faces.csv", tmp_path / "pictures.csv", tmp_path, tmp_path))
    assert table[["path", "label"]].values.tolist() == [["a.mp4", "real"], ["a.png", "fake"], ["b.png", "real"]]
    assert table.static.tolist() == [False, True, True] and table.method.tolist() == ["mixed", "faceswap", "none"]
    assert table.screened.tolist() == [False, False, True], "other pictures may show a face"


def test_portraits_of_either_class_are_learnt_from_as_they_are_and_scaled_down(tmp_path, portrait):
    from PIL import Image

    for name in ("real/1.jpg", "real/2.jpg", "fake/fake_1.jpg", "fake/fake_2.jpg"):
        path = tmp_path / lists.PAIRED.replace("/", "+") / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.roll(portrait, len(list(path.parent.parent.rglob("*.jpg"))), axis=1)).save(path)
    corpora(tmp_path)
    of = {"split": "dev", "source_repo": lists.PAIRED, "path": "c.png", "kind": "image"}
    of |= {"method": "", "tool": ""}
    judging = [("real", "ffhq_rof_2"), ("fake", "tpdne_fake_1")]
    rows = [{**of, "label": label, "identity": identity, "licence": label} for label, identity in judging]
    pd.DataFrame(rows).to_csv(tmp_path / "faces" / "manifest.csv", index=False)
    row = {**ROW, "split": "dev", "path": "b.mp4", "label": "fake", "repo": "c/d"}
    pd.DataFrame([row]).to_csv(tmp_path / "none.csv", index=False)
    table = list_faces(Origin(tmp_path / "none.csv", tmp_path / "none.csv", tmp_path, tmp_path))
    assert table[["path", "label", "short_px", "licence"]].to_numpy().tolist() == [
        ["data/real/1.jpg", "real", 0, "real"],
        ["data/real/1.jpg", "real", 384, "real"],
        ["data/fake/fake_2.jpg", "fake", 0, "fake"],
        ["data/fake/fake_2.jpg", "fake", 384, "fake"],
    ]
    faces_crops.fill(table, tmp_path / "crops", tmp_path)
    sides = [faces_crops.load(tmp_path / "crops" / f"{name}.npz").face_px for name in table["name"]]
    assert sides[1] / sides[0] == pytest.approx(384 / 512, abs=0.08)
    assert sides[3] / sides[2] == pytest.approx(384 / 512, abs=0.08)


def test_pictures_that_may_show_no_face_are_looked_through_in_a_small_version(tmp_path, portrait, monkeypatch):
    from PIL import Image

    Image.fromarray(portrait).save(tmp_path / "face.png")
    Image.fromarray(np.full((300, 300, 3), 90, np.uint8)).save(tmp_path / "wall.png")
    rows = [
        {**ROW, "ref": "", "kind": "image", "label": "real", "path": str(tmp_path / name), "screened": True}
        for name in ("face.png", "wall.png")
    ]
    seen = []
    monkeypatch.setattr(faces_crops, "cut_faces", lambda moments, area: seen.append(moments[0].shape))
    faces_crops.fill(faces_crops.items(pd.DataFrame(rows)), tmp_path / "crops", tmp_path)
    assert seen == [portrait.shape] and len(list((tmp_path / "crops").glob("*.npz"))) == 2
