"""The pictures that the generated-image models are trained on: which files, with which label, cut to bounded views.

Labels follow the rows of the corpus manifest: a file counts as generated only where its repository's layout says so
(outputs, never the inputs, masks, control images or composites beside them), and as photographed only in the three
photograph collections. Files of the manifest's other splits, and copies of them, are left out.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from PIL import Image

NATIVE_SIDE_PX = 512
PHOTOS_PER_SOURCE = 400

REAL_RULES = (
    ("alexeygrigorev/clothing-dataset-small", r"(train|test|validation)/.*\.jpg"),
    ("marcusklasson/GroceryStoreDataset", r"dataset/(train|test|val)/.*\.jpg"),
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
    ("CompVis/stable-diffusion", r"assets/stable-samples/txt2img/(merged-)?\d+\.png", "stable-diffusion-1"),
    ("CompVis/stable-diffusion", r"assets/stable-samples/img2img/mountains-\d\.png", "stable-diffusion-1"),
    ("comfyanonymous/ComfyUI_examples", _COMFY_SD, "stable-diffusion-1-5"),
    ("jamez-bondos/awesome-gpt4o-images", r"cases/\d+/[^/]+\.(png|jpg)", "gpt-4o-image"),
    ("jamez-bondos/awesome-gpt4o-images", r"gpt-image-1/examples/(?!.*input)[^/]+\.png", "gpt-4o-image"),
    ("PicoTrex/Awesome-Nano-Banana-images", r"images/case\d+/output\d*\.(png|jpg)", "gemini-2-5-flash-image"),
    ("PicoTrex/Awesome-Nano-Banana-images", r"images/pro_case\d+/output\d*\.(png|jpg)", "gemini-3-pro-image"),
)

FAMILIES = (
    (r"dall-e-2|dalle-mini|glid-3-xl|latent-diffusion|disco-diffusion", None),
    (r"midjourney-2022", "midjourney"),
    (r"stable-diffusion-3.*|stable-cascade", "unknown"),
    (r"stable-diffusion.*|sdxl.*", "stable-diffusion"),
    (r"flux.*", "flux"),
    (r"gpt-4o-image", "gpt-4o"),
    (r"gemini.*", "gemini"),
)
"""Generator (a pattern) to the name that attribution gives it; ``None`` keeps the generator's own."""


def attribution_name(generator: str) -> str:
    """Return the family that attribution names a generator by, ``unknown`` for those with too few pictures."""
    for pattern, name in FAMILIES:
        if re.fullmatch(pattern, generator):
            return name or generator
    return "unknown"


@dataclass(frozen=True)
class Picture:
    """One training picture as bounded views, uint8 RGB at native resolution."""

    views: tuple[NDArray[np.uint8], ...]
    fake: bool
    source: str
    generator: str
    group: str
    licence: str


def _group(repository: str, path: str) -> str:
    # Pictures of one prompt, one object or one case stay on one side of a split.
    return repository + "/" + str(Path(path).parent)


def _is_photo(repository: str) -> bool:
    return any(name == repository for name, _ in REAL_RULES)


def list_files(corpora: Path, repositories: Path) -> pd.DataFrame:
    """Return the training files: columns path, fake, source, generator, group, licence.

    Parameters
    ----------
    corpora
        Folder that holds ``images/manifest.csv``.
    repositories
        Folder of checkouts named ``owner+name``; a repository without a checkout is represented by the files that
        the corpus itself holds.
    """
    root = corpora / "images"
    manifest = pd.read_csv(root / "manifest.csv", dtype=str)
    train, dev = manifest[manifest.split == "train"], manifest[manifest.split != "train"]
    licence: dict[Any, str] = train.groupby("source_repo").licence.first().to_dict()
    named = {(r.source_repo, r.source_path): r.generator for r in rows_of(train)}
    barred = {(r.source_repo, r.source_path) for r in rows_of(dev)}
    barred_names = {(r.source_repo, Path(r.source_path).name) for r in rows_of(dev) if r.label == "fake"}
    rows = []
    for repository in sorted(licence):
        checkout = repositories / repository.replace("/", "+")
        paths = sorted(p for p in checkout.rglob("*") if p.is_file() and p.suffix.lower() in (".png", ".jpg", ".webp"))
        if not paths:
            held = train[train.source_repo == repository]
            rows += [
                (root / r.path, r.label == "fake", repository, r.generator, _group(repository, r.source_path))
                for r in rows_of(held)
            ]
            continue
        digests = {
            hashlib.sha256((checkout / path).read_bytes()).digest()
            for name, path in barred
            if name == repository and (checkout / path).is_file()
        }
        for path in paths:
            inner = path.relative_to(checkout).as_posix()
            key = (repository, inner)
            generator = named.get(key) or _generator(repository, inner)
            generic = path.name in ("case.png", "example.png", "output.jpg", "output.png")
            copied = key in barred or ((repository, path.name) in barred_names and not generic)
            if generator is None or copied or hashlib.sha256(path.read_bytes()).digest() in digests:
                continue
            rows.append((path, not _is_photo(repository), repository, generator, _group(repository, inner)))
    table = pd.DataFrame(rows, columns=["path", "fake", "source", "generator", "group"])
    return table.assign(licence=table.source.map(licence))


def rows_of(table: pd.DataFrame) -> Iterator[Any]:
    """Yield the rows as named tuples; what their columns hold is the file's affair."""
    yield from table.itertuples()


def _generator(repository: str, path: str) -> str | None:
    for name, pattern in REAL_RULES:
        if name == repository and re.fullmatch(pattern, path):
            return "camera"
    for name, pattern, generator in FAKE_RULES:
        if name == repository and re.fullmatch(pattern, path):
            return generator
    return None


def subsample(table: pd.DataFrame, *, per_source: int = PHOTOS_PER_SOURCE, seed: int = 0) -> pd.DataFrame:
    """Return the table with at most ``per_source`` photographs of each source, drawn with ``seed``."""
    kept = [
        group if group.fake.any() or len(group) <= per_source else group.sample(per_source, random_state=seed)
        for _, group in table.groupby("source")
    ]
    return pd.concat(kept).sort_values("path").reset_index(drop=True)


def views(rgb: NDArray[np.uint8], rng: np.random.Generator, *, n: int = 2) -> tuple[NDArray[np.uint8], ...]:
    """Cut a picture to bounded views at native resolution: itself where small, else ``n`` windows."""
    height, width = rgb.shape[:2]
    if max(height, width) <= NATIVE_SIDE_PX * 1.25:
        return (rgb,)
    h, w = min(height, NATIVE_SIDE_PX), min(width, NATIVE_SIDE_PX)
    found = []
    for _ in range(n):
        top, left = int(rng.integers(height - h + 1)), int(rng.integers(width - w + 1))
        found.append(rgb[top : top + h, left : left + w].copy())
    return tuple(found)


def read_pictures(table: pd.DataFrame, *, seed: int = 0) -> list[Picture]:
    """Decode the files of a table; those that cannot be decoded, or are smaller than 96 px, are left out."""
    rng = np.random.default_rng(seed)
    pictures = []
    for row in rows_of(table):
        try:
            with Image.open(row.path) as image:
                rgb = np.asarray(image.convert("RGB"))
        except (OSError, ValueError, Image.DecompressionBombError):
            continue
        if min(rgb.shape[:2]) < 96:
            continue
        n = 4 if row.source == "google/dreambooth" else 1
        pictures.append(
            Picture(views(rgb, rng, n=n), bool(row.fake), row.source, row.generator, row.group, row.licence)
        )
    return pictures
