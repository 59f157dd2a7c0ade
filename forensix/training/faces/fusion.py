"""Fit what a picture and the faces in it weigh beside each other, and set both detectors' bounds on both together.

    python -m forensix.training.faces.fusion --list faces.csv --pictures images.csv --corpora DIR --repositories DIR \\
        --work DIR --out DIR

Runs after forensix-image and forensix-face were trained, with what both keep in ``--work``; weights stay as they are,
and both cards are written anew. Of every training picture in which a face was found there is a calibrated logit by
heads that did not see its source, and one of the face by rules that did not. They are added, the other's with the one
weight that makes the sum the likeliest log-odds. Figures and bounds are of files whose sources had no part in that fit
either. A shift beside the weight did worse on the folds.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from forensix.calibration import Calibration
from forensix.models import Fusion, Measurement, ModelCard, get_card
from forensix.models.architectures.pictures import Head
from forensix.models.store import write_card
from forensix.training.faces import fit as faces_fit
from forensix.training.faces import train as faces_train
from forensix.training.faces.card import calibration_of, make_card
from forensix.training.faces.crops import still
from forensix.training.faces.lists import Origin
from forensix.training.images import fit as images_fit
from forensix.training.images import train as images_train
from forensix.training.images.features import of_views
from forensix.training.sources import Repositories

PICTURES, FACES = "forensix-image", "forensix-face"
COMMAND = (
    "python -m forensix.training.faces.fusion --list faces.csv --pictures images.csv --corpora DIR --repositories DIR "
    "--work DIR --out DIR"
)
OF_VIDEOS = "python -m forensix.training.images.videos"
MOST = 3.0
"""The other cannot weigh more than so many of a detector's own."""
Logits = NDArray[np.float64]


@dataclass(frozen=True)
class Said:
    """Calibrated logits of pictures or of faces (n,): as they are, and encoded alike. NaN where there is none."""

    as_is: Logits
    alike: Logits

    @classmethod
    def calibrated(cls, calibration: Calibration, as_is: Logits, alike: Logits) -> Self:
        """Return calibrated logits of raw ones."""
        return cls(*(calibration.slope * raw + calibration.intercept for raw in (as_is, alike)))

    def raw(self, calibration: Calibration) -> tuple[Logits, Logits]:
        """Return the logits in the units that a calibration takes."""
        as_is, alike = ((values - calibration.intercept) / calibration.slope for values in (self.as_is, self.alike))
        return as_is, alike


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
    own: Said, other: Said, fake: NDArray[np.bool_], weights: Logits, folds: NDArray[np.int64]
) -> tuple[Said, float]:
    """Return logits with the other's weighed in where there are some, and what these weigh.

    The weight is fitted for each fold without its files; the one returned is fitted on all.
    """
    both = np.isfinite(other.as_is)

    def fitted(rows: NDArray[np.bool_]) -> float:
        return fit_weight(own.as_is[rows], other.as_is[rows], fake[rows], weights[rows])

    as_is, alike = own.as_is.copy(), own.alike.copy()
    for fold in np.unique(folds[both]):
        held, weight = both & (folds == fold), fitted(both & (folds != fold))
        as_is[held] += weight * other.as_is[held]
        # Where the other did not look at the file encoded alike, nothing is said of that: NaN.
        alike[held] += weight * other.alike[held]
    return Said(as_is, alike), round(fitted(both), 3)


def faces_in(pictures: pd.DataFrame, faces: pd.DataFrame, said: Said) -> Said:
    """Return what is said of the face that was found in each picture of a table."""
    whole = faces["static"].to_numpy(dtype=bool) & (faces["short_px"] == 0).to_numpy()
    found = faces.loc[whole, ["repo", "path"]].assign(as_is=said.as_is[whole], alike=said.alike[whole])
    found = found.drop_duplicates(["repo", "path"])
    rows = pictures[["repo", "path"]].merge(found, how="left", on=["repo", "path"])
    return Said(rows["as_is"].to_numpy(), rows["alike"].to_numpy())


def pictures_around(
    faces: pd.DataFrame,
    prepared: images_train.Prepared,
    raw: images_fit.HeldOut,
    heads: Mapping[int, Head],
    repositories: Path,
) -> tuple[Logits, Logits]:
    """Return the raw logits of the picture around each face of a table, (n,); NaN of clips.

    Pictures that the picture detector did not train on are looked at now: by the head that did not see their source,
    by all of them where none did.
    """
    places = {key: at for at, key in enumerate(zip(prepared.table["repo"], prepared.table["path"], strict=True))}
    as_is, alike = np.full(len(faces), np.nan), np.full(len(faces), np.nan)
    apart = []
    for at, row in enumerate(faces.to_dict("records")):
        place = None if row["short_px"] else places.get((row["repo"], row["path"]))
        if row["static"] and place is None:
            apart.append((at, row))
        elif row["static"]:
            as_is[at], alike[at] = raw.as_is[place], raw.same[place]

    def stills() -> Iterator[NDArray[np.uint8]]:
        with Repositories(repositories) as opened:
            for _, row in apart:
                rgb = still(row, opened)
                assert rgb is not None, "its face was cut from it"
                yield rgb

    of_repo = dict(zip(prepared.table["repo"], prepared.folds, strict=True))
    of_maker = {maker: fold for maker, fold in zip(prepared.table["made_by"], prepared.folds, strict=True) if maker}
    for (at, row), views in zip(apart, of_views(stills()), strict=True):
        fold = of_repo.get(row["repo"], of_maker.get(row["made_by"]))
        unseen = heads.values() if fold is None else [heads[int(fold)]]
        as_is[at] = np.mean([images_fit.head_logits(head, views[None])[0] for head in unseen])
    return as_is, alike


def image_card(
    old: ModelCard, prepared: images_train.Prepared, raw: images_fit.HeldOut, faces: Said
) -> tuple[ModelCard, Calibration]:
    """Return the card of forensix-image, with bounds and figures of pictures and the faces in them together."""
    table, fake = prepared.table, prepared.fake
    calibration = images_train.calibration_of(prepared, raw)
    has_face = np.isfinite(faces.as_is)
    weights = np.zeros(len(fake))
    weights[has_face] = images_fit.domain_weights(images_fit.domains(table)[has_face], fake[has_face])
    own = Said.calibrated(calibration, raw.as_is, raw.same)
    both, weight = fuse(own, faces, fake, weights, prepared.folds)
    card = images_train.detector_card(
        prepared, images_fit.HeldOut(*both.raw(calibration)), calibration, seed=old.seed or 0
    )
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
    # Of videos faces add nothing: what was set and measured there stays.
    of_videos = tuple(one for one in old.measured if one.command.startswith(OF_VIDEOS))
    update = {
        "summary": f"{card.summary} What {FACES} says of faces in a picture is weighed in.",
        "fusion": Fusion(model=FACES, weight=weight),
        "measured": (*(one.model_copy(update={"command": COMMAND}) for one in card.measured), *measured, *of_videos),
        "inconclusive_video": old.inconclusive_video,
    }
    return _trained_before(old, card.model_copy(update=update)), calibration


def face_card(
    old: ModelCard, faces: faces_fit.Seen, pictures: faces_fit.Seen, held: faces_fit.HeldOut, around: Said
) -> ModelCard:
    """Return the card of forensix-face, with bounds and figures of faces and the pictures around them together."""
    table = faces.table
    calibration = calibration_of(table, held.as_is)
    own = Said.calibrated(calibration, held.as_is, held.alike)
    fake = table["fake"].to_numpy(dtype=bool)
    both, weight = fuse(own, around, fake, faces_fit.file_weights(table), faces_train.folds_of(table))
    fused = faces_fit.HeldOut(*both.raw(calibration), held.crops)
    card = make_card(table, held, faces_train.learnt_from(faces, pictures), COMMAND, fused=fused)
    update = {
        "summary": f"{card.summary} What {PICTURES} says of the picture that they lie in is weighed in.",
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
    prepared = images_train.prepare(origin.of_pictures, work, seed=old.seed or 0, log=log)
    heads = images_train.fold_heads_of(prepared, seed=old.seed or 0)
    raw = images_fit.held_out(heads, prepared.statistics, prepared.folds)
    faces, pictures, held = faces_train.prepare(origin, work, log=log)
    of_faces = Said.calibrated(calibration_of(faces.table, held.as_is), held.as_is, held.alike)
    card, calibration = image_card(old, prepared, raw, faces_in(prepared.table, faces.table, of_faces))
    around = pictures_around(faces.table, prepared, raw, heads, origin.repositories)
    cards = card, face_card(get_card(FACES), faces, pictures, held, Said.calibrated(calibration, *around))
    out.mkdir(parents=True, exist_ok=True)
    for card in cards:
        log(f"{card.name}: {card.fusion}; inconclusive between {card.inconclusive}")
        for one in card.measured:
            log(f"{one.metric}: {one.value:.3f} ({one.n_real} real, {one.n_fake} fake; {one.data})")
        write_card(card, out)


if __name__ == "__main__":
    faces_train.run_from_shell(train, __doc__)
