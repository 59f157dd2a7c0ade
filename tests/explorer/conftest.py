"""Media and an evaluation that the tests of the explorer look at."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forensix.evaluation import Evaluation
from forensix.evaluation.overlap import COLUMNS
from tests.making import picture, tone, write_audio, write_image

HOSTILE = "<img src=x onerror=alert(1)>\u202egpj.png"
N_FILES = 48


@pytest.fixture
def media(tmp_path: Path) -> Path:
    """Return a folder with a picture under a hostile name, a sound, a text and a hidden file."""
    folder = tmp_path / "media"
    (folder / "deeper").mkdir(parents=True)
    write_image(folder / HOSTILE, picture(96, 64))
    write_image(folder / "deeper" / "plain.png", picture(64, 96))
    write_audio(folder / "tone.wav", tone(1.0))
    (folder / "letter.txt").write_text("no picture at all")
    (folder / ".hidden.png").write_bytes(b"")
    return folder


@pytest.fixture
def evaluation(tmp_path: Path) -> Evaluation:
    """Return scores as `evaluate` gives them, of files of which the first two are there."""
    root = tmp_path / "dataset"
    root.mkdir()
    names = [f"{i:02}.png" for i in range(N_FILES)]
    for name in names[:2]:
        write_image(root / name, picture(64, 64))
    return Evaluation(scores(names), pd.DataFrame(), info(root), pd.DataFrame(columns=list(COLUMNS)))


def scores(names: list[str]) -> pd.DataFrame:
    """Return a tidy table: two components, files as they are and at one strength of a degradation."""
    rng = np.random.default_rng(0)
    rows = []
    for component in ("forensix-image", "theirs"):
        for i, name in enumerate(names):
            for degradation, strength in (("none", None), ("jpeg", 70.0)):
                score = float(rng.uniform())
                row = {"path": name, "label": "fake" if i % 2 else "real", "source": f"set {i % 3}"}
                row |= {"generator": None if i % 2 == 0 else f"maker $x^ {i % 5}", "sha256": "00", "error": None}
                row |= {"task": "ai_generated_image_detection", "component": component, "level": "file"}
                row |= {"degradation": degradation, "strength": strength, "score": score}
                rows.append(row | {"seconds": 0.1})
    table = pd.DataFrame(rows)
    table.loc[4, ["score", "error"]] = None, "<b>broken</b>"
    table.loc[8, "score"] = None
    threshold = table["component"].map({"forensix-image": 0.6, "theirs": 0.3})
    table["class_name"] = (table["score"] >= threshold).map({True: "fake", False: "real"})
    return table.astype({"score": float})


def info(root: Path) -> dict[str, object]:
    """Return what an evaluation knows of itself."""
    fields = {"slot": "image_detector", "identity": "1", "threshold": 0.6}
    return {
        "task": "ai_generated_image_detection",
        "components": {"forensix-image": fields, "theirs": fields | {"threshold": 0.3}},
        "manifest": {"root": str(root), "rows": N_FILES},
        "settings": {"seed": 0, "metadata": True},
        "notes": [],
    }
