"""The rows of an evaluation while they come in, in any order; out comes a table in the order of the manifest.

Held as arrays, since a hundred thousand files under forty degradations are four million rows.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from forensix.errors import ForensixError
from forensix.evaluation.scoring import Condition, Row

_OPEN, _SET, _SKIPPED = 0, 1, 2


class Gathered:
    """One place for each file, component and condition; files in order, then components, then conditions."""

    def __init__(self, n_files: int, components: Sequence[str], conditions: Sequence[Condition]) -> None:
        self.components, self.conditions = tuple(components), tuple(conditions)
        self.pairs = [(c, condition) for c in range(len(components)) for condition in conditions]
        self.n_files, self.n_failed, self._n_set = n_files, 0, 0
        n = n_files * len(self.pairs)
        self.sha256: list[str | None] = [None] * n_files
        self._state = np.zeros(n, dtype=np.uint8)
        self._score = np.full(n, np.nan)
        self._seconds = np.full(n, np.nan, dtype=np.float32)
        self._class = np.full(n, -1, dtype=np.int16)
        self._inconclusive = np.zeros(n, dtype=bool)
        self._classes: dict[str, int] = {}
        self._errors: dict[int, str] = {}
        self._frames: dict[int, np.ndarray] = {}
        self._twins: list[tuple[int, int]] = []

    def place(self, file: int, pair: int) -> int:
        """Return where the row of a file and a pair of component and condition goes."""
        return file * len(self.pairs) + pair

    def set(self, place: int, row: Row) -> None:
        """Put a row into its place."""
        self._n_set += self._state[place] == _OPEN
        if row.get("skipped"):
            self._state[place] = _SKIPPED
            return
        self._state[place] = _SET
        if row["score"] is not None:
            self._score[place] = row["score"]
        if row["class_name"] is not None:
            self._class[place] = self._classes.setdefault(row["class_name"], len(self._classes))
        self._inconclusive[place] = bool(row.get("inconclusive"))
        if row["error"] is not None:
            self._errors[place] = row["error"]
            self.n_failed += 1
        self._seconds[place] = row["seconds"]
        if row["frames"]:
            self._frames[place] = np.array(row["frames"], dtype=np.float64)

    def fail_file(self, file: int, error: ForensixError) -> None:
        """Put an error into all places of a file."""
        row: Row = {"score": None, "class_name": None, "error": str(error), "seconds": 0.0, "frames": []}
        for pair in range(len(self.pairs)):
            self.set(self.place(file, pair), row)

    def twin(self, file: int, first: int) -> None:
        """Give a file what another of the same content gets."""
        self._twins.append((file, first))

    def n_done(self) -> float:
        """Return how many files are done, in parts where they are."""
        return self._n_set / len(self.pairs) + len(self._twins)

    def only_videos(self, component: int) -> bool:
        """Tell whether all that a component gave a score to are videos."""
        scored = np.flatnonzero(np.isfinite(self._score))
        own = scored[scored % len(self.pairs) // len(self.conditions) == component]
        return len(own) > 0 and all(int(place) in self._frames for place in own)

    def skipped(self) -> dict[str, int]:
        """Return how many files a degradation is not for, by its name."""
        per_pair = (self._state.reshape(self.n_files, -1) == _SKIPPED).sum(axis=0)
        counts: dict[str, int] = {}
        for (component, condition), n in zip(self.pairs, per_pair, strict=True):
            if component == 0 and n:
                counts[condition.degradation] = int(n)
        return counts

    def frames(self, table: pd.DataFrame, task: str) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the scores of files and those of frames; the manifest's columns come first in both."""
        self._give_twins(table["path"].tolist())
        at = np.flatnonzero(self._state == _SET)
        classes = [*self._classes, None]
        scores = self._described(table, task, at, "file")
        scores["score"] = self._score[at]
        scores["class_name"] = _text(classes[code] for code in self._class[at])
        scores["inconclusive"] = self._inconclusive[at]
        scores["error"] = _text(self._errors.get(int(place)) for place in at)
        scores["seconds"] = self._seconds[at].astype(np.float64)
        videos = sorted(self._frames)
        sizes = [len(self._frames[place]) for place in videos]
        frames = self._described(table, task, np.repeat(np.array(videos, dtype=np.int64), sizes), "frame")
        values = np.concatenate([self._frames[place] for place in videos]) if videos else np.zeros((0, 2))
        frames["frame_ms"], frames["score"] = values[:, 0], values[:, 1]
        return scores, frames

    def _described(self, table: pd.DataFrame, task: str, at: np.ndarray, level: str) -> pd.DataFrame:
        file, pair = np.divmod(at, len(self.pairs))
        described = table.take(file).reset_index(drop=True)
        component, condition = np.divmod(pair, len(self.conditions))
        described["sha256"] = _text(self.sha256[i] for i in file)
        described["task"] = _text(task for _ in file)
        described["component"] = _text(self.components[i] for i in component)
        described["degradation"] = _text(self.conditions[i].degradation for i in condition)
        strengths = [np.nan if c.strength is None else c.strength for c in self.conditions]
        described["strength"] = np.array(strengths, dtype=np.float64)[condition]
        described["level"] = _text(level for _ in file)
        return described

    def _give_twins(self, paths: Sequence[str]) -> None:
        n = len(self.pairs)
        for file, first in self._twins:
            to, source = slice(file * n, file * n + n), slice(first * n, first * n + n)
            for values in (self._state, self._score, self._seconds, self._class, self._inconclusive):
                values[to] = values[source]
            for pair in range(n):
                if error := self._errors.get(first * n + pair):
                    # It names the other file.
                    self._errors[file * n + pair] = f"the same content as {paths[first]}: {error}"
                if first * n + pair in self._frames:
                    self._frames[file * n + pair] = self._frames[first * n + pair]


def _text(values: Iterable[str | None]) -> "pd.Series[str]":
    # As objects, so that what is empty is None with every release of pandas.
    return pd.Series(list(values), dtype=object)
