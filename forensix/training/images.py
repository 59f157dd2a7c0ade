"""Train forensix-image and forensix-attribution, from files to weights and cards.

    python -m forensix.training.images --corpora DIR --repositories DIR --seed 0 --out DIR

``--corpora`` holds ``images/manifest.csv``; ``--repositories`` holds checkouts, named ``owner+name``, of the
repositories that its training rows come from (where one is missing, the corpus's own files stand for it).

The detector is an ensemble of three linear rules. Each is fitted with one source of photographs and several
generators left out, other ones each time; what a member says of the sources that it never saw is what the calibration
is fitted on.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from forensix.calibration import Calibration, fit_platt
from forensix.generated.statistics import CHANNELS
from forensix.metrics import auc, eer
from forensix.models import Measurement, ModelCard, Output, TrainingSource, save_model
from forensix.models.architectures.channel_rule import ChannelRule
from forensix.training.images_attribution import train_attribution
from forensix.training.images_data import Picture, attribution_name, list_files, read_pictures, subsample
from forensix.training.images_fit import SIDE_PX, Pool, domain_weights, fit_rule, join, logits, make_pool

MOST_WINDOWS = 9
N_CROPS = 7000
FALSE_ALARMS = 0.1
"""Share of held-out photographs, every source counting alike, that may be called fake: it sets the card's threshold."""
LICENCE = (
    "Apache-2.0 for code and weights; training pictures include some whose repositories state no licence "
    "(dcsan/imagen) and some under terms of their own, see trained_on"
)

LIMITS = (
    "Trained on three collections of photographs and on generators of 2021 to 2025; a picture from elsewhere is judged "
    "with little certainty. A generated picture stored as JPEG with halved colour often passes for a photograph, and "
    "photographs that were scaled down or stored with full colour can pass for generated. Drawings, screenshots and "
    "scans were not in training."
)


@dataclass(frozen=True)
class Fold:
    """What one member does not see: a source of photographs and families of generators."""

    source: str
    families: tuple[str, ...]

    def holds(self, pictures: Sequence[Picture]) -> NDArray[np.bool_]:
        """Return which pictures are left out."""
        return np.array(
            [attribution_name(p.generator) in self.families if p.fake else p.source == self.source for p in pictures]
        )


FOLDS = (
    Fold("google/dreambooth", ("dall-e-2", "gpt-4o", "flux", "glid-3-xl")),
    Fold("alexeygrigorev/clothing-dataset-small", ("gemini", "midjourney", "stable-diffusion", "latent-diffusion")),
    Fold("marcusklasson/GroceryStoreDataset", ("dalle-mini", "disco-diffusion", "unknown")),
)


def _by_picture(pool: Pool, values: NDArray[np.float64]) -> pd.DataFrame:
    table = pd.DataFrame({"logit": values, "fake": pool.fake, "domain": pool.domain, "picture": pool.picture})
    return table.groupby("picture").agg(logit=("logit", "mean"), fake=("fake", "first"), domain=("domain", "first"))


def fit_detector(
    pool: Pool,
    pictures: Sequence[Picture],
    *,
    folds: Sequence[Fold] = FOLDS,
    log: Callable[[str], None] = lambda _: None,
) -> tuple[ChannelRule, Calibration, pd.DataFrame]:
    """Fit the members; return the detector, its calibration, and the held-out table that this was fitted on.

    The table has one row a held-out picture: fold, logit, fake, domain.
    """
    members, tables = [], []
    for i, fold in enumerate(folds):
        left = fold.holds(pictures)[pool.picture]
        member = fit_rule(pool.take(~left))
        judged = pool.take(left)
        table = _by_picture(judged, logits(member, judged.statistics)).assign(fold=i)
        log(f"member {i}: AUC {auc(table.fake, table.logit):.3f} on sources that it never saw")
        members.append(member)
        tables.append(table)
    held = pd.concat(tables, ignore_index=True)
    weights = domain_weights(held.domain.to_numpy().astype(str), held.fake.to_numpy())
    return join(members), fit_platt(held.logit, held.fake, weights=weights), held


def careful_threshold(scores: NDArray[np.float64], held: pd.DataFrame) -> float:
    """Return the lowest score, in hundredths from 0.5 up, at which at most `FALSE_ALARMS` of held-out photographs lie.

    Equal odds would call too many photographs of an unknown source fake; a wrong accusation weighs more than a miss.
    """
    real = pd.DataFrame({"score": scores, "source": held.domain})[~held.fake.to_numpy()]
    for threshold in np.arange(0.5, 1.0, 0.01):
        if (real.score >= threshold).groupby(real.source).mean().mean() <= FALSE_ALARMS:
            return round(float(threshold), 2)
    return 1.0


def sources(pictures: Sequence[Picture]) -> tuple[TrainingSource, ...]:
    """Return what the pictures came from, counted."""
    rows = pd.DataFrame(
        [(p.source, "fake" if p.fake else "real", p.licence) for p in pictures], columns=["source", "label", "licence"]
    )
    counts = rows.groupby(["source", "label", "licence"], dropna=False).size().reset_index(name="n")
    return tuple(TrainingSource.model_validate(row) for row in counts.to_dict("records"))


def preprocessing() -> dict[str, object]:
    """Return how both models are fed."""
    return {
        "windows": "native resolution, even grid, mirrored where the picture is smaller",
        "side_px": SIDE_PX,
        "most_windows": MOST_WINDOWS,
        "statistics": "forensix.generated.statistics",
    }


def train(
    corpora: Path,
    repositories: Path,
    out: Path,
    *,
    seed: int = 0,
    n_crops: int = N_CROPS,
    log: Callable[[str], None] = print,
) -> None:
    """Train both models and write weights and cards to ``out``."""
    torch.set_num_threads(1)
    command = f"python -m forensix.training.images --corpora DIR --repositories DIR --seed {seed} --out DIR"
    pictures = read_pictures(subsample(list_files(corpora, repositories), seed=seed), seed=seed)
    log(f"{len(pictures)} pictures")
    pool = make_pool(pictures, n_crops, seed=seed, log=log)
    detector, calibration, held = fit_detector(pool, pictures, log=log)
    out.mkdir(parents=True, exist_ok=True)
    save_model(detector_card(held, calibration, sources(pictures), seed=seed, command=command), detector, out)
    card, classifier = train_attribution(
        pool, pictures, trained_on=sources([p for p in pictures if p.fake]), seed=seed, command=command, log=log
    )
    save_model(card.model_copy(update={"preprocessing": preprocessing(), "licence": LICENCE}), classifier, out)
    log("done")


def detector_card(
    held: pd.DataFrame, calibration: Calibration, trained_on: tuple[TrainingSource, ...], *, seed: int, command: str
) -> ModelCard:
    """Return the detector's card with what was measured on held-out sources; saving fills in weights and hash."""
    y, scores = held.fake.to_numpy(), calibration.score(held.logit)
    threshold = careful_threshold(scores, held)
    data = "training corpus, single crops of 128 px of pictures from sources and generators that the member never saw"
    n_real, n_fake = int((~y).sum()), int(y.sum())
    measured = [
        Measurement(metric=name, value=float(value), data=data, command=command, n_real=n_real, n_fake=n_fake)
        for name, value in (
            ("AUC", auc(y, scores)),
            ("EER", eer(y, scores)),
            (f"true positive rate at {threshold}", (scores[y] >= threshold).mean()),
            *(
                (f"false positive rate at {at}, {source}", (scores[held.domain == source] >= at).mean())
                for at in (0.5, threshold)
                for source in sorted(held.domain[~held.fake].unique())
            ),
        )
    ]
    return ModelCard(
        name="forensix-image",
        component="image_detector",
        summary="Generated or photographed: how the colour channels share their residuals, on native windows.",
        architecture="channel_rule",
        config={"n_statistics": len(CHANNELS), "n_members": len(FOLDS)},
        preprocessing=preprocessing(),
        output=Output(labels=("fake",), fake=0),
        calibration=calibration,
        calibrated_on="held-out sources: each member on a source of photographs and on generators that it never saw: "
        + "; ".join(f"{fold.source} and {', '.join(fold.families)}" for fold in FOLDS),
        threshold=threshold,
        trained_on=trained_on,
        measured=tuple(measured),
        limits=LIMITS,
        licence=LICENCE,
        seed=seed,
        command=command,
        weights="forensix-image.safetensors",
        sha256="",
    )


def main() -> None:
    """Read the command line and train."""
    parser = argparse.ArgumentParser(description="Train forensix-image and forensix-attribution.")
    parser.add_argument("--corpora", type=Path, required=True, help="folder that holds images/manifest.csv")
    parser.add_argument("--repositories", type=Path, required=True, help="folder of checkouts named owner+name")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True, help="folder for weights and cards")
    arguments = parser.parse_args()
    start = time.monotonic()
    train(
        arguments.corpora,
        arguments.repositories,
        arguments.out,
        seed=arguments.seed,
        log=lambda text: print(f"{time.monotonic() - start:6.0f} s  {text}", flush=True),
    )


if __name__ == "__main__":
    main()
