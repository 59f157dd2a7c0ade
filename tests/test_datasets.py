"""The small dataset is what its script makes, and every importer has a page with its command."""

import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from forensix import Manifest, importers

DATASETS = Path(__file__).parents[1] / "datasets"


@pytest.mark.parametrize(("kind", "n"), [("images", 8), ("voices", 6)])
def test_the_small_dataset_is_a_sound_manifest(kind: str, n: int) -> None:
    manifest = Manifest.read(DATASETS / "small" / kind).check()
    assert len(manifest) == n and sum(manifest.is_fake()) == n // 2
    assert {"split", "source", "family", "generator", "group_id"} <= set(manifest.table)


def test_it_is_small() -> None:
    sizes = [path.stat().st_size for path in DATASETS.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert max(sizes) < 200_000 and sum(sizes) < 1_000_000


def test_the_script_makes_it_again(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("make_small", DATASETS / "small" / "make.py")
    assert spec is not None and spec.loader is not None
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    make.main(tmp_path)
    for kind in ("images", "voices"):
        here, again = (Manifest.read(root / kind) for root in (DATASETS / "small", tmp_path))
        pd.testing.assert_frame_equal(here.table, again.table)
    for path in again.paths():
        assert path.stat().st_size == (DATASETS / "small" / "voices" / path.name).stat().st_size
    for path in sorted((tmp_path / "images").glob("*.jpg")):
        made, kept = (np.asarray(Image.open(p), dtype=float) for p in (path, DATASETS / "small" / "images" / path.name))
        # Libraries may round differently from one release to the next.
        assert np.abs(made - kept).mean() < 2


@pytest.mark.parametrize("name", importers.BUILT_IN)
def test_every_importer_has_a_page_with_its_command(name: str) -> None:
    page = (DATASETS / f"{name}.md").read_text(encoding="utf-8")
    command = "Manifest.read(" if name == "folders" else f'Manifest.import_("{name}"'
    for part in (command, "**Source:**", "**Licence:**"):
        assert part in page
    assert f"({name}.md)" in (DATASETS / "README.md").read_text(encoding="utf-8")
