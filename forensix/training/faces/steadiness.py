"""How steady the faces of clips are: measured once into a cache, and the rule that is fitted on it.

Frames are those that an analysis would look at (`forensix.faces.track`), over the whole clip. The rule is a logistic
regression on the means over moments, clips of a source counting as their root (`clips.weights`); its logit is added to
what is said of the crops, whatever that is.
"""

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from forensix.errors import ForensixError
from forensix.faces.detect import detect
from forensix.faces.sampling import follow_s, sampling_rate_hz
from forensix.faces.steadiness import N_VALUES, pooled, steadiness
from forensix.faces.track import VIDEO_SIDE_PX
from forensix.media import open_media
from forensix.models import Steadiness
from forensix.training.faces.clips import weights
from forensix.training.faces.crops import LEAST_PX, largest, part
from forensix.training.images.cache import read
from forensix.training.kept import whole
from forensix.training.sources import Repositories

STRENGTH = 0.1
"""Inverse of the ridge penalty, for weights whose mean is 1; 0.01 and 0.03 did worse on the folds."""
MOST_LOGIT = 1.25
"""What none of 58 recorded faces reaches may be reached by one in twenty (the rule of three), and a fifth of the made
ones reach it: more than the logarithm of their ratio is not shown. It costs 0.005 of the AUC on the folds."""
WHOLE = (0.0, 0.0, 1.0, 1.0)
Rows = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Steady:
    """A rule on how steady faces are, and what rules that did not see their sources say of faces, (n,).

    0 of stills, and of clips of which too little was measured.
    """

    rule: Steadiness
    logits: Rows


def fill(table: pd.DataFrame, folder: Path, repositories: Path, *, log: Callable[[str], None] = lambda _: None) -> None:
    """Measure the clips of `crops.items` that the cache lacks, largest face each; files not at hand are left out."""
    folder.mkdir(parents=True, exist_ok=True)
    clips = table[~table["static"]]
    with Repositories(repositories) as opened:
        for n, (_, rows) in enumerate(clips.groupby(["repo", "path"], sort=False), start=1):
            if not all(_path(folder, name).exists() for name in rows["name"]):
                data = read(rows.iloc[0], opened)
                if data is not None:
                    fill_file(rows, data, folder, log)
            if n % 50 == 0:
                log(f"steadiness: {n} files")


def of_clips(table: pd.DataFrame, folder: Path) -> Rows:
    """Return the values of each face of a table, (n, `N_VALUES`); NaN of stills and where too little was measured."""
    values = np.full((len(table), N_VALUES), np.nan)
    for at, (name, static) in enumerate(zip(table["name"], table["static"], strict=True)):
        path = _path(folder, name)
        if not static and path.exists():
            values[at] = pooled(np.load(path))
    return values


def fit(table: pd.DataFrame, values: Rows) -> Steadiness:
    """Fit the rule on the clips of a table, of which all values are known."""
    counted = weights(table) * len(table)
    means = np.average(values, axis=0, weights=counted)
    deviations = np.sqrt(np.average((values - means) ** 2, axis=0, weights=counted)) + 1e-6
    inputs = np.clip((values - means) / deviations, -Steadiness.MOST, Steadiness.MOST)
    fake = (table["label"] == "fake").to_numpy()
    rule = LogisticRegression(C=STRENGTH, max_iter=500).fit(inputs, fake, sample_weight=counted)
    return Steadiness(
        means=tuple(np.round(means, 4).tolist()),
        deviations=tuple(np.round(deviations, 4).tolist()),
        weights=tuple(np.round(rule.coef_[0], 4).tolist()),
        intercept=round(float(rule.intercept_[0]), 4),
        most_logit=MOST_LOGIT,
    )


def held_out(table: pd.DataFrame, values: Rows, folds: NDArray[np.int64]) -> Steady:
    """Fit a rule on all clips, and one without each fold, which says what the clips of that fold are like."""
    known = np.isfinite(values.sum(axis=1))
    logits = np.zeros(len(table))

    def fitted(rows: NDArray[np.bool_]) -> Steadiness:
        return fit(table[rows].reset_index(drop=True), values[rows])

    for fold in np.unique(folds[known]):
        held = np.logical_and(known, folds == fold)
        logits[held] = fitted(np.logical_and(known, folds != fold)).logit(values[held])
    return Steady(fitted(known), logits)


def fill_file(rows: pd.DataFrame, data: bytes, folder: Path, log: Callable[[str], None]) -> None:
    """Measure the rows of `crops.items` that are of one video, and keep what was measured in a folder."""
    moments: dict[str, list[NDArray[np.float32]]] = {name: [] for name in rows["name"]}
    is_whole = all(area == WHOLE for area in rows["area"])
    try:
        with open_media(io.BytesIO(data)) as media:
            duration_s = media.info.duration_s
            apart_s = follow_s(duration_s, sampling_rate_hz(duration_s))
            # A cell of a grid is a video by itself: what an analysis scales down is larger than it.
            side_px = VIDEO_SIDE_PX if is_whole else None
            for frame in media.frames(rate_hz=1 / apart_s, max_side_px=side_px, follow_s=apart_s):
                if frame.following:
                    for name, area in zip(rows["name"], rows["area"], strict=True):
                        moments[name] += _measured([part(rgb, area) for rgb in (frame.rgb, *frame.following)])
    except ForensixError as error:
        log(f"{rows.iloc[0]['repo']} {rows.iloc[0]['path']}: {error}")
    for name, values in moments.items():
        with whole(_path(folder, name)) as file:
            np.save(file, np.array(values, np.float32).reshape(-1, N_VALUES))


def _measured(frames: list[NDArray[np.uint8]]) -> list[NDArray[np.float32]]:
    (faces,) = detect(frames[:1])
    best = largest(faces)
    if best is None or float(np.max(faces.boxes[best, 2:] - faces.boxes[best, :2])) < LEAST_PX:
        return []
    return [steadiness(frames, faces.boxes[best], faces.landmarks[best])]


def _path(folder: Path, name: str) -> Path:
    return folder / f"{name}.npy"
