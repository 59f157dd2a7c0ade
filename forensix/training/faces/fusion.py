"""Fit what a picture and the faces in it weigh beside each other, and set both detectors' bounds on both together.

    python -m forensix.training.faces.fusion --list faces.csv --pictures images.csv --corpora DIR --repositories DIR \\
        --work DIR --out DIR

Runs after forensix-image, forensix-face and forensix-face-regions were trained, with what they keep in ``--work``, and
after `forensix.training.images.videos`; weights stay as they are, and both cards are written anew. Of every training
picture in which a face was found there is a calibrated logit by heads that did not see its source, and one of the face
by rules that did not. They are added, the other's with the one weight that makes the sum the likeliest log-odds.
Figures and bounds are of files whose sources had no part in that fit either. A shift beside the weight did worse on the
folds. What a picture says of the faces in it is weighed, and bounds are set, with both edited alike as well; pictures
that are small or look painted are not asked (`around`): with them the weight came out at less than half of what it is.
Hardly any of the swapped faces lie in one that is asked, so that recorded ones in large photographs score lower, and
swapped ones do not, which raises the figures of the latter by more than swaps are told better. Of whole videos the same
is done with what forensix-image says of their frames, none of whose repositories it learnt from; what it says adds
nothing to what is said of faces. What forensix-face-regions says of parts put into faces counts by a share that was set
on faces of the repositories that it did not learn from.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from forensix.calibration import Calibration, sigmoid
from forensix.calibration import logit as to_logit
from forensix.errors import UsageError
from forensix.faces import aligned
from forensix.metrics import auc
from forensix.models import Fusion, Measurement, ModelCard, Parts, get_card, load_detector
from forensix.models.store import write_card
from forensix.tasks.parts import MAX_CROPS
from forensix.training.bands import AS_IT_IS, with_video_band
from forensix.training.faces import fit as faces_fit
from forensix.training.faces import train as faces_train
from forensix.training.faces.around import Around, pictures_around
from forensix.training.faces.card import calibration_of, make_card
from forensix.training.faces.clips import weights as clip_weights
from forensix.training.faces.crops import load as load_face
from forensix.training.faces.features import RETOUCHED
from forensix.training.faces.lists import Origin
from forensix.training.faces.regions import HELD_OUT
from forensix.training.faces.steadiness import WHOLE
from forensix.training.folds import leave_source_out
from forensix.training.images import fit as images_fit
from forensix.training.images import train as images_train
from forensix.training.images import videos as of_videos
from forensix.training.said import Logits, Said

PICTURES, FACES, REGIONS = "forensix-image", "forensix-face", "forensix-face-regions"
COMMAND = (
    "python -m forensix.training.faces.fusion --list faces.csv --pictures images.csv --corpora DIR --repositories DIR "
    "--work DIR --out DIR"
)
OF_VIDEOS = (
    "whole files of {n} repositories that this model's training never saw, their faces judged by rules without their "
    "source, on which the bounds were set"
)
PARTS_SHARE = 0.1
"""Of made faces those that had a part put in. When it was set, 0.2 told swapped faces in pictures of sources held
out better (AUC 0.65 for 0.63) and faces of clips less well (0.81 for 0.83)."""
MOST = 3.0
"""The other cannot weigh more than so many of a detector's own."""


def fit_weight(own: Logits, other: Logits, fake: NDArray[np.bool_], weights: Logits) -> float:
    """Return what the other's logits weigh beside a detector's own, from 0 to `MOST`; all calibrated, (n,)."""
    from scipy.optimize import minimize_scalar

    w = weights.copy()
    for side in (fake, ~fake):
        w[side] *= 0.5 / w[side].sum()

    def loss(weight: float) -> float:
        z = own + weight * other
        return float(np.sum(w * (np.logaddexp(0.0, z) - fake * z)))

    return float(minimize_scalar(loss, bounds=(0.0, MOST), method="bounded").x)


def fuse(
    own: Said,
    other: Said,
    fake: NDArray[np.bool_],
    weights: Logits,
    folds: NDArray[np.int64],
    *,
    edited: Sequence[tuple[Logits, Logits]] = (),
) -> tuple[Said, float, Logits]:
    """Return logits with the other's weighed in where there are some, and what these weigh; all calibrated.

    The weight is fitted on all files, as they are and, where there are such logits, own and the other's, as they were
    ``edited``. The one of each file, (n,), which the logits are made with, is fitted without the files of its fold, and
    0 where the other says nothing.
    """
    both = np.isfinite(other.as_is)
    pairs = ((own.as_is, other.as_is), *edited)

    def fitted(rows: NDArray[np.bool_]) -> float:
        chosen = [(one, said, rows & np.isfinite(one) & np.isfinite(said)) for one, said in pairs]
        return fit_weight(
            np.concatenate([one[at] for one, _, at in chosen]),
            np.concatenate([said[at] for _, said, at in chosen]),
            np.concatenate([fake[at] for _, _, at in chosen]),
            np.concatenate([weights[at] / weights[at].sum() for _, _, at in chosen]),
        )

    counted = np.zeros(len(fake))
    for fold in np.unique(folds[both]):
        counted[both & (folds == fold)] = fitted(folds != fold)
    conditions = zip(own.conditions.values(), other.conditions.values(), strict=True)
    fused = Said(*(added(one, said, counted) for one, said in conditions))
    return fused, round(fitted(np.ones(len(fake), dtype=bool)), 3), counted


def added(own: Logits, other: Logits, counted: Logits) -> Logits:
    """Return logits with the other's added, weighed; NaN where the other counts and did not look in a condition."""
    return np.where(counted > 0, own + counted * other, own)


def faces_in(files: pd.DataFrame, faces: pd.DataFrame, said: Said, *, static: bool = True) -> Said:
    """Return what is said of the face that was found in each picture of a table, or in each of its videos."""
    whole = (faces["static"] == static).to_numpy() & (faces["short_px"] == 0).to_numpy()
    whole &= np.array([area == WHOLE for area in faces["area"]])
    found = faces.loc[whole, ["repo", "path"]].assign(**said.each(lambda logits: logits[whole]).conditions)
    found = found.drop_duplicates(["repo", "path"])
    rows = files[["repo", "path"]].merge(found, how="left", on=["repo", "path"])
    return Said(*(rows[condition].to_numpy() for condition in said.conditions))


def image_card(
    old: ModelCard, prepared: images_train.Prepared, raw: Said, faces: Said
) -> tuple[ModelCard, Calibration]:
    """Return the card of forensix-image, with bounds and figures of pictures and the faces in them together."""
    table, fake = prepared.table, prepared.fake
    calibration = images_train.calibration_of(prepared, raw)
    has_face = np.isfinite(faces.as_is)
    weights = np.zeros(len(fake))
    weights[has_face] = images_fit.domain_weights(images_fit.domains(table)[has_face], fake[has_face])
    own = raw.calibrated(calibration)
    both, weight, _ = fuse(own, faces, fake, weights, prepared.folds)
    card = images_train.detector_card(prepared, both.raw(calibration), calibration, seed=old.seed or 0)
    figures = {
        "AUC, mean of folds, the picture alone": (images_fit.fold_aucs(table, own.as_is, prepared.folds).mean(), fake)
    }
    for name, said in (("the picture alone", own), ("the face alone", faces), ("both", both)):
        value = images_fit.weighted_auc(table[has_face], said.as_is[has_face])
        figures[f"AUC, pictures in which a face was found, {name}"] = (value, fake[has_face])
    measured = tuple(
        Measurement(
            metric=metric,
            value=float(value),
            data=images_train.HELD_OUT,
            n_real=int((~of).sum()),
            n_fake=int(of.sum()),
            command=COMMAND,
        )
        for metric, (value, of) in figures.items()
    )
    update = {
        "summary": f"{card.summary} What {FACES} says of faces is weighed in.",
        "fusion": Fusion(model=FACES, weight=weight),
        "measured": (*(one.model_copy(update={"command": COMMAND}) for one in card.measured), *measured),
    }
    return _trained_before(old, card.model_copy(update=update)), calibration


def with_videos(card: ModelCard, videos: pd.DataFrame, faces: Said) -> ModelCard:
    """Return the card of forensix-image with what faces weigh in videos, and bounds and figures of both together.

    Parameters
    ----------
    videos
        As `forensix.training.images.videos` keeps them.
    faces
        What is said of the face in each.
    """
    fusion = card.fusion
    assert fusion is not None, "the weight of pictures comes first"
    own = to_logit(videos["score"].to_numpy(dtype=np.float64))
    fake = (videos["label"] == "fake").to_numpy()
    folds = leave_source_out(list(videos["repo"]), list(videos["made_by"]), list(fake), faces_train.N_FOLDS)
    both, weight, _ = fuse(Said(own, own, own), faces, fake, clip_weights(videos), folds)
    scored = videos[["repo", "label"]].assign(condition=AS_IT_IS, score=sigmoid(both.as_is))
    card = with_video_band(card, scored, COMMAND, about=OF_VIDEOS)
    has_face = np.isfinite(faces.as_is)
    figures = {"the frames alone": own, "the face alone": faces.as_is, "both": both.as_is}
    measured = tuple(
        Measurement(
            metric=f"AUC, videos in which a face was found, {name}",
            value=float(auc(fake[has_face], logits[has_face])),
            data=f"{OF_VIDEOS.format(n=videos['repo'].nunique())}, videos",
            n_real=int((~fake & has_face).sum()),
            n_fake=int((fake & has_face).sum()),
            command=COMMAND,
        )
        for name, logits in figures.items()
    )
    update = {
        "fusion": fusion.model_copy(update={"video_weight": weight}),
        "measured": (*card.measured, *measured),
    }
    return card.model_copy(update=update)


def parts_of(table: pd.DataFrame, cut: Path) -> Logits:
    """Return what is said of a part put into each face of a table, calibrated (n,); NaN of sources learnt from."""
    regions, logits = load_detector(REGIONS), np.full(len(table), np.nan)
    for at, name in enumerate(table["name"]):
        if table["repo"].iloc[at] in HELD_OUT:
            face = load_face(cut / f"{name}.npz")
            assert face is not None, "faces that were not found are left out of the table"
            moments = range(0, len(face), -(-len(face) // MAX_CROPS))
            crops = np.stack([aligned(face.rgb[i], face.landmarks[i]) for i in moments])
            logits[at] = to_logit(regions.score(crops)).mean()
    return logits


def face_card(old: ModelCard, of_faces: faces_train.Prepared, around: Around, of_parts: Logits) -> ModelCard:
    """Return the card of forensix-face, with bounds and figures of faces and the pictures around them together.

    ``around`` is calibrated, and ``of_parts`` what `parts_of` says of them.
    """
    table, held = of_faces.faces.table, of_faces.held
    calibration = calibration_of(table, held.said.as_is)
    own = held.said.calibrated(calibration)
    fake = table["fake"].to_numpy(dtype=bool)
    faces = {kind: calibration.slope * raw + calibration.intercept for kind, raw in held.edited.items()}
    pairs = [(logits, around.edited[kind]) for kind, logits in faces.items()]
    weights, folds = faces_fit.file_weights(table), faces_train.folds_of(table)
    both, weight, counted = fuse(own, around.said, fake, weights, folds, edited=pairs)
    edited = {
        kind: (added(logits, around.edited[kind], counted) - calibration.intercept) / calibration.slope
        for kind, logits in faces.items()
    }
    fused = replace(held, said=replace(both.raw(calibration), retouched=edited[RETOUCHED]), edited=edited)
    learnt = faces_train.learnt_from(of_faces.faces, of_faces.pictures)
    parts = Parts(model=REGIONS, share=PARTS_SHARE)
    card = make_card(table, held, of_faces.steady, learnt, COMMAND, fused=fused, parts=parts, of_parts=of_parts)
    update = {
        "summary": f"{card.summary} What {PICTURES} says of the picture that they lie in is weighed in, and what "
        f"{REGIONS} says of parts put into them.",
        "fusion": Fusion(model=PICTURES, weight=weight),
    }
    return _trained_before(old, card.model_copy(update=update))


def _trained_before(old: ModelCard, card: ModelCard) -> ModelCard:
    """Return a card with what is known of the weights, which were trained and stored before."""
    return card.model_copy(update={name: getattr(old, name) for name in ("sha256", "n_parameters", "command")})


def train(origin: Origin, work: Path, out: Path, *, log: faces_train.Log = print) -> None:
    """Fit the weights and write both cards to ``out``."""
    torch.set_num_threads(1)
    old = get_card(PICTURES)
    kept = work / of_videos.KEPT
    if not kept.is_file():
        raise UsageError(f"there is no {kept}: python -m forensix.training.images.videos makes it")
    videos = pd.read_csv(kept, keep_default_na=False)
    prepared = images_train.prepare(origin.of_pictures, work, seed=old.seed or 0, log=log)
    heads, _ = images_train.fold_heads_of(prepared, seed=old.seed or 0)
    raw = images_fit.held_out(heads, prepared.statistics, prepared.folds)
    of_faces = faces_train.prepare(origin, work, log=log)
    table, held = of_faces.faces.table, of_faces.held
    said = held.said.calibrated(calibration_of(table, held.said.as_is))
    card, calibration = image_card(old, prepared, raw, faces_in(prepared.table, table, said))
    steady = replace(said, as_is=said.as_is + of_faces.steady.logits)
    card = with_videos(card, videos, faces_in(videos, table, steady, static=False))
    around = pictures_around(table, prepared, raw, heads, origin.repositories)
    of_parts = parts_of(table, work / "crops")
    cards = card, face_card(get_card(FACES), of_faces, around.calibrated(calibration), of_parts)
    out.mkdir(parents=True, exist_ok=True)
    for card in cards:
        log(f"{card.name}: {card.fusion}; inconclusive between {card.inconclusive}")
        for one in card.measured:
            log(f"{one.metric}: {one.value:.3f} ({one.n_real} real, {one.n_fake} fake; {one.data})")
        write_card(card, out)


if __name__ == "__main__":
    faces_train.run_from_shell(train, __doc__)
