"""Fit what faces in a picture weigh beside the picture, and set forensix-image's bounds on both together.

    python -m forensix.training.faces.share --list faces.csv --pictures images.csv --corpora DIR --repositories DIR \\
        --work DIR --out DIR

Runs after forensix-image and forensix-face were trained, with what both keep in ``--work``; weights stay as they are,
and the card of forensix-image is written anew. Of a training picture in which a face was found, the logit by heads that
did not see its source and that of the face by rules that did not are added, the face's with the one weight that makes
their sum the likeliest log-odds. Figures and bounds are of pictures whose sources had no part in that fit either. A
shift beside the weight did worse on the folds.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from forensix.calibration import Calibration
from forensix.models import FaceShare, Measurement, ModelCard, get_card
from forensix.models.store import write_card
from forensix.training.faces.fit import HeldOut as FacesHeldOut
from forensix.training.faces.fit import Seen
from forensix.training.faces.lists import Origin
from forensix.training.faces.train import Log, prepare, run_from_shell
from forensix.training.images import fit as images_fit
from forensix.training.images import train as images_train

PICTURES, FACES = "forensix-image", "forensix-face"
COMMAND = (
    "python -m forensix.training.faces.share --list faces.csv --pictures images.csv --corpora DIR --repositories DIR "
    "--work DIR --out DIR"
)
VIDEOS = "python -m forensix.training.images.videos"
MOST = 3.0
"""A face cannot weigh more than that many pictures."""
Logits = NDArray[np.float64]


def faces_of(pictures: pd.DataFrame, faces: Seen, said: FacesHeldOut) -> pd.DataFrame:
    """Return what is said of the face in each picture, aligned with them: ``as_is`` and ``alike``, NaN without one.

    Both are logits by rules that did not see the picture's source, uncalibrated.
    """
    stills = faces.table["static"].to_numpy(dtype=bool) & (faces.table["short_px"] == 0).to_numpy()
    found = faces.table.loc[stills, ["repo", "path"]].assign(as_is=said.as_is[stills], alike=said.alike[stills])
    found = found.drop_duplicates(["repo", "path"])
    return pictures[["repo", "path"]].merge(found, how="left", on=["repo", "path"])[["as_is", "alike"]]


def fit_weight(pictures: Logits, faces: Logits, fake: NDArray[np.bool_], weights: Logits) -> float:
    """Return what the faces' logits weigh beside the pictures', from 0 to `MOST`; all calibrated, (n,)."""
    from scipy.optimize import minimize_scalar

    w = weights.copy()
    for side in (fake, ~fake):
        w[side] *= 0.5 / w[side].sum()

    def loss(weight: float) -> float:
        z = pictures + weight * faces
        return float(np.sum(w * (np.logaddexp(0.0, z) - fake * z)))

    return float(minimize_scalar(loss, bounds=(0.0, MOST), method="bounded").x)


def joined(
    held: images_fit.HeldOut,
    said: pd.DataFrame,
    calibrations: tuple[Calibration, Calibration],
    prepared: images_train.Prepared,
) -> tuple[images_fit.HeldOut, FaceShare]:
    """Return the logits of pictures with what faces add, in the units of the pictures', and what faces weigh.

    What a face adds to a picture is fitted without the pictures of its fold; the share returned is fitted on all.
    """
    of_pictures, of_faces = calibrations
    fake, has_face = prepared.fake, np.isfinite(said["as_is"].to_numpy())
    weights = np.zeros(len(fake))
    names = images_fit.domains(prepared.table)
    weights[has_face] = images_fit.domain_weights(names[has_face], fake[has_face])
    face, alike = (of_faces.slope * said[name].to_numpy() + of_faces.intercept for name in ("as_is", "alike"))
    picture = of_pictures.slope * held.as_is + of_pictures.intercept

    def fitted(rows: NDArray[np.bool_]) -> float:
        return fit_weight(picture[rows], face[rows], fake[rows], weights[rows])

    as_is, same = held.as_is.copy(), held.same.copy()
    for fold in np.unique(prepared.folds):
        own = has_face & (prepared.folds == fold)
        weight = fitted(has_face & (prepared.folds != fold)) / of_pictures.slope
        as_is[own] += weight * face[own]
        # Where the face was not looked at once more, encoded alike, nothing is said of the picture either: NaN.
        same[own] += weight * alike[own]
    share = FaceShare(classifier=FACES, weight=round(fitted(has_face), 3))
    return images_fit.HeldOut(as_is, same), share


def of_those_with_faces(
    prepared: images_train.Prepared, has_face: NDArray[np.bool_], logits: dict[str, Logits]
) -> tuple[Measurement, ...]:
    """Return what pictures with a face were told by, a figure for each of several logits."""
    table, fake = prepared.table[has_face], prepared.fake[has_face]
    return tuple(
        Measurement(
            metric=f"AUC, pictures in which a face was found, {name}",
            value=images_fit.weighted_auc(table, values[has_face]),
            data=images_train.HELD_OUT,
            n_real=int((~fake).sum()),
            n_fake=int(fake.sum()),
            command=COMMAND,
        )
        for name, values in logits.items()
    )


def shared_card(
    old: ModelCard,
    prepared: images_train.Prepared,
    held: images_fit.HeldOut,
    said: pd.DataFrame,
    of_faces: Calibration,
) -> ModelCard:
    """Return the card of forensix-image with what faces weigh, and with bounds and figures of both together."""
    calibration = images_train.calibration_of(prepared, held)
    both, share = joined(held, said, (calibration, of_faces), prepared)
    card = images_train.detector_card(prepared, both, calibration, seed=old.seed or 0)
    alone = images_fit.fold_aucs(prepared.table, held.as_is, prepared.folds).mean()
    parts = {"picture alone": held.as_is, "face alone": said["as_is"].to_numpy(), "both": both.as_is}
    measured = (
        *(one.model_copy(update={"command": COMMAND}) for one in card.measured),
        Measurement(
            metric="AUC, mean of folds, without what faces add",
            value=float(alone),
            data=images_train.HELD_OUT,
            n_real=int((~prepared.fake).sum()),
            n_fake=int(prepared.fake.sum()),
            command=COMMAND,
        ),
        *of_those_with_faces(prepared, np.isfinite(said["as_is"].to_numpy()), parts),
    )
    # Of videos faces add nothing: what was set and measured there stays.
    of_videos = tuple(one for one in old.measured if one.command.startswith(VIDEOS))
    kept = {name: getattr(old, name) for name in ("sha256", "n_parameters", "command", "inconclusive_video")}
    summary = f"{card.summary} What {FACES} says of faces in a picture is weighed with it."
    update = {**kept, "summary": summary, "faces": share, "measured": (*measured, *of_videos)}
    return card.model_copy(update=update)


def train(origin: Origin, work: Path, out: Path, *, log: Log = print) -> None:
    """Fit the share and write the card to ``out``."""
    torch.set_num_threads(1)
    old, of_faces = get_card(PICTURES), get_card(FACES).calibration
    assert of_faces is not None, "it is calibrated when it is trained"
    seed = old.seed or 0
    prepared = images_train.prepare(origin.of_pictures, work, seed=seed, log=log)
    held = images_fit.held_out(prepared.table, prepared.statistics, prepared.folds, prepared.graphics, seed=seed)
    faces, _, said = prepare(origin, work, log=log)
    found = faces_of(prepared.table, faces, said)
    card = shared_card(old, prepared, held, found, of_faces)
    log(f"{card.faces}; inconclusive between {card.inconclusive}")
    for one in card.measured:
        log(f"{one.metric}: {one.value:.3f} ({one.n_real} real, {one.n_fake} fake)")
    out.mkdir(parents=True, exist_ok=True)
    write_card(card, out)


if __name__ == "__main__":
    run_from_shell(train, __doc__)
