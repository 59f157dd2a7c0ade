"""Lists of faces: which files of which repositories show one, real or not.

Four origins: a list of videos and pictures of faces in public repositories (see `forensix.training.sources`); the
pictures that train the picture detector, photographed, generated, and retouched by hand into other faces, wherever they
show one; the photographs of the corpus of faces; and the portraits, photographed and generated, of the repository that
the corpus takes both from.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from forensix.training.faces.crops import items
from forensix.training.images.lists import NOT_STATED, PAIRED, PAIRED_BY, list_pictures
from forensix.training.images.lists import Origin as PictureOrigin
from forensix.training.sources import Repositories, read_list

PORTRAITS = (
    "JupyterJones/MyTube_AI_Flask_App",
    "KataTech/stylegan3",
    "Roger1nho/Veritas",
    "ZhuoxuanZhangHarry/AgeGAN-FaceEvolution",
    "atilla-the-hun/human-art-ai",
    "chmoe/Real_Fake_Face",
    "clovaai/stargan-v2",
    "cmusatyalab/openface",
    "modelscope/facechain",
    "pythonTD/DFImages",
    "self-distilled-stylegan/self-distilled-stylegan.github.io",
    "tencent-ailab/IP-Adapter",
    "usufyan29/stylegan2_runway",
    "xinyiff/Project-on-StyleGAN",
)
"""Repositories of the list of pictures that are of faces; of the others the first pictures are looked through."""
MOST_LOOKED_AT = 60
"""Pictures of a generator in a repository, or photographs of one, that are looked through."""
METHODS = {"real": "none", "fake": "face_synthesis", "enhanced": "faceswap"}
"""What the labels of the list of pictures mean for a face: its retouched portraits are parts of several faces."""
CORPUS_PX = 384
"""Short side of the corpus's pictures, at most."""
_COLUMNS = [
    *("repo", "ref", "path", "blob", "kind", "label", "method", "made_by", "cells", "licence"),
    *("screened", "short_px"),
]


@dataclass(frozen=True)
class Origin:
    """Where lists and files lie on this machine."""

    faces: Path
    pictures: Path
    corpora: Path
    repositories: Path

    @property
    def of_pictures(self) -> PictureOrigin:
        """Where the pictures that train the picture detector lie."""
        return PictureOrigin(self.pictures, self.corpora, self.repositories)


def list_faces(origin: Origin) -> pd.DataFrame:
    """Return a row for each clip, picture and cell of the training split, see `crops.items`; real or fake.

    ``screened`` pictures may show no face: `crops.fill` looks for one in a small version first.

    Raises
    ------
    UsageError
        A list mixes splits or lacks a column.
    """
    whole = read_list(origin.faces)
    elsewhere = set(whole.blob) - {""}
    pictures = read_list(origin.pictures, split="train")
    pictures = pictures[pictures.repo.isin(PORTRAITS) & ~pictures.blob.isin(elsewhere)]
    pictures = pictures.assign(
        kind="image",
        cells="",
        method=pictures.label.map(METHODS),
        made_by=pictures.made_by.where(pictures.label != "real", ""),
        label=pictures.label.replace("enhanced", "fake"),
    )
    parts = [whole[whole.split == "train"], pictures, _corpus(origin), _portraits(origin)]
    listed = pd.concat([part.reindex(columns=_COLUMNS) for part in parts], ignore_index=True)
    listed = pd.concat([listed, _looked_through(origin, listed)], ignore_index=True)
    listed["licence"] = listed.licence.fillna(NOT_STATED)
    table = items(listed.assign(screened=listed.screened.notna(), short_px=listed.short_px.fillna(0).astype(int)))
    table = table[table.label.isin(["real", "fake"])].reset_index(drop=True)
    table["made_by"] = table.made_by.where(table.label == "fake", "")
    return table


def _looked_through(origin: Origin, listed: pd.DataFrame) -> pd.DataFrame:
    """Return the first training pictures of every source that are not listed already."""
    table = list_pictures(origin.of_pictures, "train")
    known = table.blob.isin(set(listed.blob) - {""}) | (table.repo + table.path).isin(listed.repo + listed.path)
    table = table[~known & (table.cells == 1)]
    table = table[table.groupby(["repo", "made_by"]).cumcount() < MOST_LOOKED_AT]
    label = table.fake.map({True: "fake", False: "real"})
    table = table.assign(kind="image", cells="", label=label, method=label.map(METHODS), screened=True)
    return table.reindex(columns=_COLUMNS)


def development_names(manifest: pd.DataFrame) -> set[tuple[str, str]]:
    """Return (repository folder, file name) of the development rows whose identity tells their original's number."""
    names = set()
    for identity in manifest.loc[manifest["split"] == "dev", "identity"].dropna():
        if match := re.fullmatch(r"(ffhq_rof|tpdne_fake)_(\d+)", identity):
            fake = match[1] == "tpdne_fake"
            source = "dinablachman+realorfake" + ("/fake" if fake else "")
            names.add((source, ("fake_" if fake else "") + f"{match[2]}.jpg"))
    return names


def _corpus(origin: Origin) -> pd.DataFrame:
    folder = origin.corpora / "faces"
    rows = pd.read_csv(folder / "manifest.csv", dtype=str, keep_default_na=False)
    rows = rows[(rows.split == "train") & (rows.source_repo != PAIRED)]
    return rows.assign(
        repo=rows.source_repo,
        path=[str((folder / path).resolve()) for path in rows.path],
        ref="",
        blob="",
        made_by=rows.tool,
        cells="",
    )


def _portraits(origin: Origin) -> pd.DataFrame:
    """Return the portraits of the repository that the corpus takes portraits from, without its development rows.

    Either class comes as it is and scaled down as the corpus has it. With photographs from the corpus and generated
    portraits from the repository, size told them apart.
    """
    manifest = pd.read_csv(origin.corpora / "faces" / "manifest.csv", dtype=str, keep_default_na=False)
    held_back = {name for _, name in development_names(manifest)}
    licences = manifest[manifest.source_repo == PAIRED].groupby("label").licence.first()
    with Repositories(origin.repositories) as opened:
        files = opened.files(PAIRED) if opened.has(PAIRED) else []
    tables = []
    for label, folder, made_by in (("real", "data/real/", ""), ("fake", "data/fake/", PAIRED_BY)):
        named = [(p, b) for p, b in files if p.startswith(folder) and p.rpartition("/")[2] not in held_back]
        rows = pd.DataFrame(named, columns=["path", "blob"]).assign(label=label, method=METHODS[label], made_by=made_by)
        rows = rows.assign(licence=licences.get(label, NOT_STATED))
        tables += [rows.assign(short_px=short_px) for short_px in (0, CORPUS_PX)]
    return pd.concat(tables).assign(repo=PAIRED, ref="HEAD", kind="image", cells="")
