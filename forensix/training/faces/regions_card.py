"""The card of forensix-face-regions: what it learnt from, and what it says of faces of repositories held out."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forensix.calibration import fit_platt, sigmoid
from forensix.faces.align import ALIGNED_PX
from forensix.metrics import auc, bootstrap_interval
from forensix.models import Measurement, ModelCard, Output
from forensix.models.architectures.face_regions import VARIANT
from forensix.training.backbone import origin_of
from forensix.training.bands import AS_IT_IS, VIDEO, with_band
from forensix.training.faces.clips import paired
from forensix.training.faces.fit import file_weights
from forensix.training.faces.regenerated import REPOSITORY
from forensix.training.sources import counted

PUT_IN = ("faceswap", "lipsync")
ABOUT = "faces of {n} repositories of the training list that were held out whole"
LEAST = 4
"""Faces of either class that a figure needs."""
LIMITS = (
    "Its map marks where a part was put into a face, most surely parts blended in after its training's manner; where "
    "nothing was done it lights up at mouths more readily than at cheeks. Its score of a whole face tells swapped, "
    "composed and lip-synced faces from recorded ones better than chance and no more, so it moves a verdict by little; "
    "beyond the bound a report tells of it in pictures. Faces driven or edited as a whole score lower than recorded "
    "ones, as no part of them differs. Small and blurred faces and strong compression hide what it looks for."
)
LOOKS = (
    "Of four candidates of one run (two sizes, half and all of the schedule) one was taken by these faces; it alone "
    "was scored on the development rows, in the verdict on faces at several weights (see the card of forensix-face)."
)
LICENCE = (
    "Apache-2.0 for code, the pretrained weights and what was trained; most repositories of the training faces state "
    "no licence for them, see trained_on: for research"
)


def make_card(held: pd.DataFrame, logits: NDArray[np.float64], learnt: pd.DataFrame, command: str) -> ModelCard:
    """Return the card with calibration, bounds and figures; saving adds hash and parameters.

    Parameters
    ----------
    held
        Faces of the repositories held out: recorded, and made by any method; the calibration and the bounds are of
        those that had a part put in.
    logits
        The network's logit of each.
    learnt
        The recorded faces that it learnt from.
    """
    judged = (held["label"] == "real") | held["method"].isin(PUT_IN)
    table, raw = held[judged].reset_index(drop=True), logits[judged.to_numpy()]
    table["fake"] = table["label"] == "fake"
    calibration = fit_platt(raw, table["fake"], weights=file_weights(table))
    about = ABOUT.format(n=table["repo"].nunique())
    card = ModelCard(
        name="forensix-face-regions",
        component="face_regions",
        summary="Parts of a face that differ from the rest of it: a pretrained network, fine-tuned, on upright crops.",
        architecture="face_regions",
        preprocessing={
            "size_px": ALIGNED_PX,
            "channels": "RGB",
            "range": [-1, 1],
            "pretrained": origin_of(VARIANT),
            "fakes": "recorded faces with parts of recorded and of made faces put in, some of them through TAEF2 of "
            f"{REPOSITORY} (MIT)",
        },
        output=Output(labels=("part put in",), fake=0),
        calibration=calibration,
        calibrated_on=f"swapped, composed and lip-synced against recorded {about}. {LOOKS}",
        trained_on=counted(learnt),
        limits=LIMITS,
        licence=LICENCE,
        paper="Shiohara and Yamasaki, Detecting deepfakes with self-blended images, CVPR 2022",
        seed=0,
        command=command,
        weights="forensix-face-regions.safetensors",
        sha256="",
    )
    scored = table[["repo", "label"]].assign(
        condition=AS_IT_IS,
        kind=np.where(table["static"], "image", VIDEO),
        score=sigmoid(calibration.slope * raw + calibration.intercept),
    )
    card = with_band(card, scored, command, about=about, every_source=False, only_supported=True, only_upper=True)
    return card.model_copy(update={"measured": (*card.measured, *_figures(held, logits, command))})


def _figures(held: pd.DataFrame, logits: NDArray[np.float64], command: str) -> list[Measurement]:
    """Return how each maker's faces are told from recorded ones of their repository, where it has both."""
    figures = []
    for (repo, method, maker), rows in held[held["label"] == "fake"].groupby(["repo", "method", "made_by"]):
        own = held[(held["repo"] == repo) & ((held["label"] == "real") | held.index.isin(rows.index))]
        own = own[own["static"] == rows["static"].iloc[0]]
        n_fake = int((own["label"] == "fake").sum())
        n_real = len(own) - n_fake
        if min(n_fake, n_real) < LEAST:
            continue
        y, s = (own["label"] == "fake").to_numpy(), logits[own.index]
        about = f"{repo}, held out: {method} by {maker} against recorded ones"
        values: list[tuple[str, float, tuple[float, float] | None]] = [
            ("AUC", auc(y, s), bootstrap_interval(auc, y, s, groups=own["path"]))
        ]
        if np.isfinite(share := paired(own.reset_index(drop=True), s)):
            values.append(("made face above the recorded one of its file", share, None))
        figures += [
            Measurement(
                metric=metric,
                value=round(value, 4),
                interval=interval and (round(interval[0], 4), round(interval[1], 4)),
                data=about,
                command=command,
                n_real=n_real,
                n_fake=n_fake,
            )
            for metric, value, interval in values
        ]
    return figures
