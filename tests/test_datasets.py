"""The small dataset is what its script makes, and every importer has a page with its command."""

import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from forensix import Manifest, importers, small
from forensix.errors import UsageError
from forensix.small import make

DATASETS = Path(__file__).parents[1] / "datasets"


@pytest.mark.parametrize(("kind", "n"), [("images", 8), ("voices", 6)])
def test_the_small_dataset_is_a_sound_manifest(kind: str, n: int) -> None:
    manifest = Manifest.read(small.folder(kind)).check()
    assert len(manifest) == n and sum(manifest.is_fake()) == n // 2
    assert {"split", "source", "family", "generator", "group_id"} <= set(manifest.table)


def test_it_is_there_once_forensix_is_imported() -> None:
    code = "import forensix; print(len(forensix.Manifest.read(forensix.small.folder('images'))))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "8"


def test_it_is_small() -> None:
    sizes = [
        path.stat().st_size
        for path in Path(small.__file__).parent.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    ]
    assert max(sizes) < 200_000 and sum(sizes) < 1_000_000


def test_the_wheel_holds_it() -> None:
    fields = tomllib.loads((DATASETS.parent / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    package = Path(small.__file__).parents[1]
    packed = {path for pattern in fields["forensix"] for path in package.glob(pattern)}
    assert {path for kind in small.KINDS for path in small.folder(kind).iterdir()} <= packed


def test_there_is_no_other_kind() -> None:
    with pytest.raises(UsageError, match="images and voices, not 'videos'"):
        small.folder("videos")


def test_the_script_makes_it_again(tmp_path: Path) -> None:
    make.main(tmp_path)
    for kind in ("images", "voices"):
        here, again = (Manifest.read(place) for place in (small.folder(kind), tmp_path / kind))
        pd.testing.assert_frame_equal(here.table, again.table)
    for path in again.paths():
        assert path.stat().st_size == (small.folder("voices") / path.name).stat().st_size
    for path in sorted((tmp_path / "images").glob("*.jpg")):
        measured, values = (np.asarray(Image.open(p), dtype=float) for p in (path, small.folder("images") / path.name))
        # Libraries may round differently from one release to the next.
        assert np.abs(measured - values).mean() < 2


@pytest.mark.parametrize("name", importers.BUILT_IN)
def test_every_importer_has_a_page_with_its_command(name: str) -> None:
    page = (DATASETS / f"{name}.md").read_text(encoding="utf-8")
    command = "Manifest.read(" if name == "folders" else f'Manifest.import_("{name}"'
    for part in (command, "**Source:**", "**Licence:**"):
        assert part in page
    assert f"({name}.md)" in (DATASETS / "README.md").read_text(encoding="utf-8")
