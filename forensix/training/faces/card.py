"""What forensix-face is trained on, what is measured on identities held out, and its card."""

from collections import Counter
from pathlib import Path

import pandas as pd

from forensix.calibration import Calibration
from forensix.faces.crop import CROP_PX
from forensix.metrics import auc, bootstrap_interval, eer
from forensix.models import Measurement, ModelCard, Output, TrainingSource
from forensix.models.architectures import face_cnn
from forensix.training.faces import fit
from forensix.training.faces.data import (
    FOLDERS,
    LEAST_INSIDE,
    TYPES,
    SourceFace,
    collect,
    development_names,
    faces_of,
    held_out,
    identities,
    near_crop,
    without_copies,
)

LICENCES = {
    "chandrikadeb7+Face-Mask-Detection": "MIT repository; photographs of research collections and of the web",
    "dinablachman+realorfake": "repository states none; FFHQ photographs, CC BY-NC-SA 4.0 collection",
    "serengil+deepface": "MIT repository; photographs of known people",
    "dinablachman+realorfake/fake": "repository states none; StyleGAN2 output, non-commercial licence of its weights",
}
N_HELD_OUT = 800
LOOKS = (
    "The development rows were scored for four candidates: three networks, of which the one that was best on held-out "
    "identities was kept, and the gap of fine detail in videos. They were scored again when the cutting of faces "
    "changed, and for the gap alone and a heat map in trials that chose nothing."
)
INNER = 0.795
"""Share of an upright crop's side that shows as much around a face as the crops of training do."""


def gather(corpus: Path, repositories: Path) -> list[SourceFace]:
    """Find the faces of all training repositories, without the development rows and what looks like them."""
    manifest = pd.read_csv(corpus / "manifest.csv", dtype=str)
    found = [one for source in FOLDERS for one in collect(repositories, source) if one.inside >= LEAST_INSIDE]
    named = development_names(manifest)
    dev = manifest[(manifest["split"] == "dev") & (manifest["kind"] == "image")]
    held_back = [near_crop(one.face) for path in dev["path"] for one in faces_of(corpus / path, "", "real")]
    return without_copies([one for one in found if (one.source, one.name) not in named], held_back)


def split(found: list[SourceFace]) -> tuple[list[SourceFace], list[SourceFace]]:
    """Return the faces to train on, and those of the identities held out."""
    keep = [held_out(identity) for identity in identities(found)]
    trained = [one for one, out in zip(found, keep, strict=True) if not out]
    return trained, [one for one, out in zip(found, keep, strict=True) if out]


def measure(net: face_cnn.FaceCNN, held: fit.Examples, command: str) -> tuple[Measurement, ...]:
    """Measure on pairs of held-out identities: all together, and each type of fake against all reals."""
    outputs, fake = fit.outputs_of(net, held)
    logits = outputs[:, 0]
    kinds = held.kind.repeat(2)
    pairs = pd.RangeIndex(len(held)).repeat(2)
    measured = []
    for name in ("all", *TYPES):
        rows = (fake == 0) | (kinds == TYPES.index(name) if name in TYPES else fake == 1)
        y, s, groups = fake[rows], logits[rows], pairs[rows]
        for metric, function in (("AUC", auc), ("EER", eer)):
            low, high = bootstrap_interval(function, y, s, groups=groups, n=300)
            measured.append(
                Measurement(
                    metric=metric,
                    value=round(function(y, s), 4),
                    interval=(round(low, 4), round(high, 4)),
                    data=f"own pairs of held-out identities, {name}",
                    n_real=int((y == 0).sum()),
                    n_fake=int((y == 1).sum()),
                    command=command,
                )
            )
            print(measured[-1].metric, measured[-1].data, measured[-1].value, measured[-1].interval)
    return tuple(measured)


def make_card(
    calibration: Calibration, measured: tuple[Measurement, ...], trained: list[SourceFace], command: str
) -> ModelCard:
    """Fill in the card; `save_model` adds the hash."""
    counts = Counter((one.source, one.label) for one in trained)
    sources = [
        TrainingSource(source=source, label=label, n=n, licence=LICENCES.get(source, "not stated"))
        for (source, label), n in sorted(counts.items())
    ]
    real = sum(n for (_, label), n in counts.items() if label == "real")
    sources.append(
        TrainingSource(
            source="made from the real faces above: self-blends, swaps between them, replaced mouths",
            label="fake",
            n=real,
            licence="as the photographs they are made of",
        )
    )
    licence = "Research and non-commercial use, as some of the photographs and generated faces it learnt from demand."
    return ModelCard(
        name="forensix-face",
        component="face_classifier",
        summary="A small network on face crops that looks for blending seams and generated texture.",
        architecture="face_cnn",
        config=fit.CONFIG,
        preprocessing={"size_px": CROP_PX, "inner": INNER, "channels": "RGB", "range": [0, 1]},
        output=Output(labels=("fake", *TYPES), fake=0),
        calibration=calibration,
        calibrated_on=f"{N_HELD_OUT} pairs made of identities that training did not see, types weighted alike. {LOOKS}",
        threshold=0.5,
        trained_on=tuple(sources),
        measured=measured,
        limits=(
            "Its fakes are blended stills and StyleGAN2 portraits: it may miss swaps, reenactment and lip-sync of "
            "real programs, above all in small or strongly compressed faces. In videos of sources that it never saw "
            "it is little better than chance, also with the fine detail that faces lack beside their surroundings: "
            "they are inconclusive. No score of a picture says that its faces are untouched. It names no type of "
            "manipulation: what it learnt of types is little better than chance on sources that it never saw. Its heat "
            "map mostly shows where faces are usually changed. "
            "Filters, make-up and portrait blur can raise the score."
        ),
        licence=licence,
        paper="Shiohara and Yamasaki, Detecting deepfakes with self-blended images, CVPR 2022",
        seed=fit.SEED,
        command=command,
        weights="forensix-face.safetensors",
        sha256="",
    )
