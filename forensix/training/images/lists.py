"""Which pictures the image models are trained on, and which ones judge them.

Three origins: a list of files in public repositories (see `forensix.training.sources`); the corpus of images with the
repositories that its training rows come from; and the photographs of faces among the training rows of the corpus of
faces, as generated portraits are many and photographed ones few. In a corpus's repository a file counts as generated
only where the layout says so (outputs, never the inputs, masks, control images or composites beside them). Pictures
that a person retouched are in neither class.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from forensix.training.sources import Repositories, blob_hash, read_list

PHOTOS_PER_REPOSITORY = 400
NOT_STATED = "the list states none"
_MONTAGE = re.compile(r"montage 2x2, (?P<generator>[^(]+?) *\(2x2\)?")

REAL_RULES = (
    ("alexeygrigorev/clothing-dataset-small", r"(train|test|validation)/.*\.jpg"),
    # The red cartoon is a drawing.
    ("google/dreambooth", r"dataset/(?!red_cartoon)[^/]+/\d+\.jpg"),
)

_RENDERS = r"output/renders/[^/]+/{}-\d+\.(?:png|jpg)"
_COMFY_SD = (
    r"(2_pass_txt2img|area_composition|lora|model_merging(?!/.*inpaint)|noisy_latent_composition|gligen"
    r"|textual_inversion_embeddings)/.*\.png|upscale_models/esrgan_example\.png|unclip/unclip_.*\.png"
    r"|controlnet/(2_pass_pose_worship|controlnet_example|depth_controlnet|depth_t2i_adapter|mixing_controlnets)\.png"
)
FAKE_RULES = (
    ("dcsan/imagen", _RENDERS.format("dal2"), "dall-e-2"),
    ("dcsan/imagen", _RENDERS.format("dmin"), "dalle-mini"),
    ("dcsan/imagen", _RENDERS.format("glid3"), "glid-3-xl"),
    ("dcsan/imagen", _RENDERS.format("ldif"), "latent-diffusion"),
    ("dcsan/imagen", _RENDERS.format("midj"), "midjourney-2022"),
    ("dcsan/imagen", _RENDERS.format("stab"), "stable-diffusion-beta"),
    ("dcsan/imagen", _RENDERS.format("disco"), "disco-diffusion"),
    ("comfyanonymous/ComfyUI_examples", _COMFY_SD, "stable-diffusion-1-5"),
    ("PicoTrex/Awesome-Nano-Banana-images", r"images/case\d+/output\d*\.(png|jpg)", "gemini-2-5-flash-image"),
    ("PicoTrex/Awesome-Nano-Banana-images", r"images/pro_case\d+/output\d*\.(png|jpg)", "gemini-3-pro-image"),
)
PAIRED, PAIRED_BY = "dinablachman/realorfake", "StyleGAN2 (thispersondoesnotexist)"
"""The portraits of the corpora, and what made those that are generated."""
COLUMNS = ("repo", "ref", "path", "blob", "fake", "made_by", "cells", "licence")


@dataclass(frozen=True)
class Origin:
    """Where lists and files lie on this machine."""

    list_path: Path
    corpora: Path
    repositories: Path


def list_pictures(origin: Origin, split: str) -> pd.DataFrame:
    """Return the pictures of a split, a row each.

    Columns: ``repo``, ``ref``, ``path`` and ``blob`` (an empty ``ref`` and a path that exists: a file of the corpus),
    ``fake``, ``made_by`` (the generator, empty for photographs), ``cells`` (pictures on a side of a montage, else 1)
    and ``licence``. A blob occurs once, and never in ``train`` where it is in another split.

    Raises
    ------
    UsageError
        The list mixes splits or lacks a column.
    """
    rows = read_list(origin.list_path)
    listed = rows[(rows.split == split) & rows.label.isin(["real", "fake"])]
    montage = listed.made_by.str.extract(_MONTAGE)["generator"]
    listed = listed.assign(
        fake=listed.label == "fake",
        made_by=montage.fillna(listed.made_by).where(listed.label == "fake", ""),
        cells=montage.notna() + 1,
        licence=NOT_STATED,
    )
    corpus = pd.read_csv(origin.corpora / "images" / "manifest.csv", dtype=str)
    pictures = _of_corpus(corpus, origin, split)
    if split == "train":
        pictures = pd.concat([pictures, _portraits(origin)], ignore_index=True)
        pictures = pictures[~pictures.blob.isin(rows.blob[rows.blob != ""])]
    return pd.concat([listed[list(COLUMNS)], pictures[list(COLUMNS)]], ignore_index=True)


def _portraits(origin: Origin) -> pd.DataFrame:
    """Return the photographs of faces that the corpus of faces offers for training, and one repository whole.

    That repository pairs photographed faces with a generator's in the same pose and light; those of its pictures that
    judge the face models are left out.
    """
    root = origin.corpora / "faces"
    faces = pd.read_csv(root / "manifest.csv", dtype=str)
    rows = faces[(faces.split == "train") & (faces.kind == "image") & (faces.label == "real")]
    with Repositories(origin.repositories) as repositories:
        if not repositories.has(PAIRED) or PAIRED not in set(rows.source_repo):
            return _packed(root, rows, rows.label == "fake", "")
        judges = faces[(faces.source_repo == PAIRED) & (faces.split != "train")]
        barred = {(row.label, str(row.identity).rsplit("_", 1)[-1]) for row in judges.itertuples()}
        portraits = [
            (PAIRED, "HEAD", path, blob, at["label"] == "fake", PAIRED_BY if at["label"] == "fake" else "", 1)
            for path, blob in repositories.files(PAIRED)
            if (at := re.fullmatch(r"data/(?P<label>real|fake)/(fake_)?(?P<number>\d+)\.jpg", path))
            and (at["label"], at["number"]) not in barred
        ]
    licence = rows.licence[rows.source_repo == PAIRED].iloc[0]
    paired = pd.DataFrame(portraits, columns=list(COLUMNS[:-1])).assign(licence=licence).drop_duplicates("blob")
    others = rows[rows.source_repo != PAIRED]
    return pd.concat([_packed(root, others, others.label == "fake", ""), paired], ignore_index=True)


def _packed(root: Path, rows: pd.DataFrame, fake: "pd.Series[bool]", made_by: "pd.Series[str] | str") -> pd.DataFrame:
    """Return rows of a corpus as pictures whose path is a file's."""
    return pd.DataFrame(
        {
            "repo": rows.source_repo,
            "ref": "",
            "path": [str(root.resolve() / path) for path in rows.path],
            "blob": [blob_hash((root / path).read_bytes()) for path in rows.path],
            "fake": fake,
            "made_by": made_by,
            "cells": 1,
            "licence": rows.licence,
        }
    )


def _of_corpus(packed: pd.DataFrame, origin: Origin, split: str) -> pd.DataFrame:
    """Return the corpus's rows of a split; in training, whole repositories where they are at hand."""
    root = origin.corpora / "images"
    rows = packed[packed.split == split]
    fake = rows.label == "fake"
    packed_rows = _packed(root, rows, fake, rows.generator.where(fake, ""))
    if split != "train":
        return packed_rows
    judged = set(packed.source_repo[packed.split != "train"])
    licences = rows.groupby("source_repo").licence.first().to_dict()
    generators = {
        (repo, path): generator
        for repo, path, generator in zip(rows.source_repo, rows.source_path, rows.generator, strict=True)
    }
    whole: list[pd.DataFrame] = []
    with Repositories(origin.repositories) as repositories:
        for repo in sorted(set(name for name, *_ in (*REAL_RULES, *FAKE_RULES)) - judged):
            if not repositories.has(repo) or repo not in licences:
                continue
            table = _of_repository(repo, repositories, generators).assign(licence=licences[repo])
            photos = table[~table.fake]
            sampled = photos.sample(min(len(photos), PHOTOS_PER_REPOSITORY), random_state=0).index
            whole.append(table[table.fake | table.index.isin(sampled)])
    return pd.concat(
        [packed_rows[~packed_rows.repo.isin({t.repo.iloc[0] for t in whole if len(t)})], *whole], ignore_index=True
    )


def _of_repository(repo: str, repositories: Repositories, named: dict[tuple[str, str], str]) -> pd.DataFrame:
    rows = []
    for path, blob in repositories.files(repo):
        made_by = next((g for name, rule, g in FAKE_RULES if name == repo and re.fullmatch(rule, path)), None)
        photo = any(name == repo and re.fullmatch(rule, path) for name, rule in REAL_RULES)
        if made_by is None and not photo:
            made_by = named.get((repo, path), "camera")
            if made_by == "camera":
                continue
        rows.append((repo, "HEAD", path, blob, not photo, made_by or "", 1))
    table = pd.DataFrame(rows, columns=list(COLUMNS[:-1]))
    return table.drop_duplicates("blob").reset_index(drop=True)
