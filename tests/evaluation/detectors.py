"""Detectors that tests evaluate: what they do to themselves, and files to do it on. Importable by workers."""

import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from forensix import Manifest
from tests.making import write_image

DEADLY = (255, 0, 255)
"""Colour of the first pixel on which `Deadly` ends its process."""


class Grey:
    """Scores by the mean grey; slow if told so. ``calls`` counts in this process."""

    def __init__(self, version: str | None = "1", sleep_s: float = 0.0, card: object = None) -> None:
        self.version, self.sleep_s, self.calls = version, sleep_s, 0
        if card is not None:
            self.card = card

    def score(self, rgb: np.ndarray) -> float:
        self.calls += 1
        time.sleep(self.sleep_s)
        return float(rgb.mean() / 255)


class Scaled:
    """Scores by a share of the mean grey; where ``hidden`` nobody sees which."""

    version = "1"

    def __init__(self, factor: float, hidden: bool = False) -> None:
        self.__dict__["secret" if hidden else "factor"] = factor
        self.hidden = hidden

    def score(self, rgb: np.ndarray) -> float:
        return float(rgb.mean() / 255) * float(self.__dict__["secret" if self.hidden else "factor"])


class Deadly(Grey):
    """Ends its process on some files; with ``mark``, a path, only the first time."""

    def __init__(self, mark: str | None = None, **options: object) -> None:
        super().__init__(**options)  # type: ignore[arg-type]
        self.mark = mark

    def score(self, rgb: np.ndarray) -> float:
        if tuple(rgb[0, 0]) == DEADLY and not (self.mark and Path(self.mark).exists()):
            if self.mark:
                Path(self.mark).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().score(rgb)


class Odd(Grey):
    """Answers what no detector should: by the red of the first pixel."""

    def score(self, rgb: np.ndarray) -> float:
        red = int(rgb[0, 0, 0])
        if red == 1:
            raise RuntimeError("the network said no")
        if red == 4:
            sys.exit("no licence")
        return {2: 1.5, 3: float("nan")}.get(red, 0.5)


def pictures(folder: Path, n: int, *, first: dict[int, tuple[int, int, int]] | None = None) -> Manifest:
    """Write ``n`` small pictures, half of them fake, and return their manifest; ``first`` sets first pixels."""
    rows = []
    for i in range(n):
        rng = np.random.default_rng(i)
        rgb = rng.integers(0, 100 + 100 * (i % 2), (48, 64, 3)).astype(np.uint8)
        rgb[0, 0] = (first or {}).get(i, (9, 9, 9))
        name = f"{i:03}.png"
        write_image(folder / name, rgb)
        fields = {"source": f"set {i % 3}", "generator": None if i % 2 == 0 else f"maker {i % 5}"}
        rows.append({"path": name, "label": "fake" if i % 2 else "real", "group_id": f"g{i // 4}", **fields})
    return Manifest(pd.DataFrame(rows), root=folder)


def plain(table: pd.DataFrame) -> pd.DataFrame:
    """Return scores without what differs from run to run."""
    return table.drop(columns="seconds")
