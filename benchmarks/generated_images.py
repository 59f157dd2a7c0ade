"""Measure forensix-image and forensix-attribution on pictures that training never saw; print markdown.

    python benchmarks/generated_images.py --list CSV --corpora DIR --repositories DIR [--write-card]

The development split: the dev rows of the list and of the corpus of images, whose repositories training did not see.
Every figure stands twice where it matters: with the files as they are, and with both classes scaled and encoded alike.
``--write-card`` stores the detector's figures in its card.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forensix.media import open_media
from forensix.metrics import auc, bootstrap_interval, decided, eer, tpr_at_fpr
from forensix.models import Measurement, ModelCard
from forensix.models.files import SHIPPED
from forensix.models.store import write_card
from forensix.perturb import image as degrade
from forensix.synthetic.attribution import forensix_attribution
from forensix.synthetic.detector import ImageDetector, Prediction, forensix_image
from forensix.tasks.fusion import SecondOpinion, opinion_of_faces
from forensix.tasks.task import Options
from forensix.training.images import attribution as images_attribution
from forensix.training.images.cache import decode, read
from forensix.training.images.crops import encode, scaled
from forensix.training.images.lists import Origin, list_pictures
from forensix.training.sources import Repositories

RGB = NDArray[np.uint8]
COMMAND = "python benchmarks/generated_images.py --list CSV --corpora DIR --repositories DIR"
DATA = "development split of the list and of the corpus of images: repositories that training did not see"
ROBUSTNESS: dict[str, Callable[[RGB, np.random.Generator], RGB]] = {
    "none": lambda rgb, rng: rgb,
    "jpeg 75": lambda rgb, rng: degrade.jpeg(rgb, 75),
    "resize 0.5": lambda rgb, rng: degrade.resize(rgb, 0.5),
    "blur 1 px": lambda rgb, rng: degrade.blur(rgb, 1.0),
    "noise 4": lambda rgb, rng: degrade.noise(rgb, 4.0, rng),
    "retouched": degrade.retouched,
}
SEED = 0
LEAST = 5
LEAST_PHOTOS = 30
OF_EACH_SOURCE = 2
"""Pictures of a source that the robustness table takes, so that it ends within minutes."""


@dataclass(frozen=True)
class Scored:
    """A set of pictures with what is said of each: of picture and faces together, and by the detector alone."""

    rows: pd.DataFrame
    scores: NDArray[np.float64]
    alone: NDArray[np.float64]
    has_face: NDArray[np.bool_]
    predictions: list[Prediction]

    @property
    def fake(self) -> NDArray[np.bool_]:
        """Which pictures are generated."""
        return self.rows.fake.to_numpy(dtype=bool)


class Pictures:
    """The development pictures, at most ``most`` of a generator or a repository's photographs, decoded when needed."""

    def __init__(self, origin: Origin, most: int | None = None) -> None:
        self._opened = Repositories(origin.repositories)
        table = list_pictures(origin, "dev")
        rank = table.groupby(["repo", "made_by"]).cumcount()
        table = table if most is None else table[rank < most]
        self.rows = table[[self._decoded(table, at) is not None for at in range(len(table))]].reset_index(drop=True)

    def _decoded(self, table: pd.DataFrame, at: int) -> RGB | None:
        data = read(next(table.iloc[[at]].itertuples()), self._opened)
        return decode(data) if data else None

    def each(self, rows: pd.DataFrame) -> Iterator[RGB]:
        """Yield the pictures of some rows."""
        for at in range(len(rows)):
            rgb = self._decoded(rows, at)
            assert rgb is not None
            yield rgb


def alike(rgb: RGB, rng: np.random.Generator) -> RGB:
    """Return a picture scaled to 0.5 to 1 and stored at quality 60 to 95."""
    return encode(scaled(rgb, float(rng.uniform(0.5, 1.0)), rng), rng, least=60, most=95)


def score(detector: ImageDetector, rows: pd.DataFrame, pictures: Iterator[RGB]) -> Scored:
    """Look at pictures with the detector, and at the faces in them where its card gives these a weight."""
    faces: list[SecondOpinion | None] = []

    def looked_at() -> Iterator[RGB]:
        for rgb in pictures:
            with open_media(rgb) as media:
                faces.append(opinion_of_faces(media, detector, Options()))
            yield rgb

    predictions = list(detector.predict(looked_at()))
    assert detector.card.calibration is not None
    alone = detector.card.calibration.score([prediction.logit for prediction in predictions])
    scores = [float(said.fused(score)) if said else score for said, score in zip(faces, alone, strict=True)]
    return Scored(rows, np.array(scores), alone, np.array([said is not None for said in faces]), predictions)


def interval(scored: Scored, part: NDArray[np.bool_] | None = None, *, alone: bool = False) -> str:
    """Return the AUC, of all or of a part, with its 95 % bootstrap interval; ``alone``: without what faces add."""
    y, s = scored.fake.astype(int), scored.alone if alone else scored.scores
    if part is not None:
        y, s = y[part], s[part]
    low, high = bootstrap_interval(auc, y, s, n=500, seed=SEED)
    return f"{auc(y, s):.3f} ({low:.3f} to {high:.3f})"


def folds(card: ModelCard) -> None:
    """Print what training measured on the folds."""
    print("## Folds: training pictures, by heads that did not see their repository and generator\n")
    print("| figure | value | photographs | generated |\n|---|---|---|---|")
    for m in card.measured:
        if "forensix.training" in m.command:
            print(f"| {m.metric} | {m.value:.3f} | {m.n_real or ''} | {m.n_fake or ''} |")


def by_source(as_is: Scored, same: Scored, card: ModelCard) -> list[Measurement]:
    """Print detection by generator, within repositories, and false alarms by repository; return measurements."""
    y, rows = as_is.fake, as_is.rows
    n_real, n_fake = int((~y).sum()), int(y.sum())
    print(f"\n## Detection: {n_real} photographs, {n_fake} generated\n")
    print("| generated by | n | AUC as they are | AUC encoded alike |\n|---|---|---|---|")
    for name in ("all", *sorted(rows.made_by[y].unique())):
        of = y & ((rows.made_by == name).to_numpy() | (name == "all"))
        if of.sum() >= LEAST:
            print(f"| {name} | {of.sum()} | {interval(as_is, of | ~y)} | {interval(same, of | ~y)} |")
    print("\n| within one repository | photographs | generated | AUC as they are | AUC encoded alike |")
    print("|---|---|---|---|---|")
    for name, part in rows.groupby("repo"):
        of = (rows.repo == name).to_numpy()
        if min(part.fake.sum(), (~part.fake).sum()) >= LEAST:
            cells = (name, (~part.fake).sum(), part.fake.sum(), interval(as_is, of), interval(same, of))
            print(f"| {' | '.join(map(str, cells))} |")
    threshold, band = card.threshold, card.inconclusive
    assert band is not None
    print(
        f"\n| photographs of | n | at or above {threshold} | encoded alike | below {band[0]} |\n|---|---|---|---|---|"
    )
    alarms = []
    for name in sorted(rows.repo[~y].unique()):
        of = ~y & (rows.repo == name).to_numpy()
        rates = [(one.scores[of] >= threshold).mean() for one in (as_is, same)] + [(as_is.scores[of] < band[0]).mean()]
        print(f"| {name} | {of.sum()} | {' | '.join(f'{rate:.2f}' for rate in rates)} |")
        if of.sum() >= LEAST_PHOTOS:
            alarms.append((f"false positive rate at {threshold}, {name}", rates[0], int(of.sum()), 0))
    figures = []
    print("\n| figure | as they are | encoded alike |\n|---|---|---|")
    for label, statistic in (
        ("AUC", lambda one: auc(y.astype(int), one.scores)),
        ("EER", lambda one: eer(y.astype(int), one.scores)),
        ("found at a false positive rate of 5 %", lambda one: tpr_at_fpr(y.astype(int), one.scores, 0.05)),
        (f"found at {threshold}", lambda one: (one.scores[y] >= threshold).mean()),
        (f"false alarms at {threshold}", lambda one: (one.scores[~y] >= threshold).mean()),
        (f"photographs decided by {band}", lambda one: decided(y, one.scores, band).real_decided),
        (f"generated decided by {band}", lambda one: decided(y, one.scores, band).fake_decided),
        ("wrong among the decided", lambda one: decided(y, one.scores, band).wrong),
    ):
        print(f"| {label} | {statistic(as_is):.3f} | {statistic(same):.3f} |")
        figures += [
            (label, statistic(as_is), n_real, n_fake),
            (f"{label}, both classes encoded alike", statistic(same), n_real, n_fake),
        ]
    return [
        Measurement(metric=name, value=float(v), data=DATA, n_real=r or None, n_fake=f or None, command=COMMAND)
        for name, v, r, f in figures + alarms
    ]


def robustness(detector: ImageDetector, pictures: Pictures) -> None:
    """Print the AUC after both classes were degraded alike, on some pictures of every source."""
    few = pictures.rows.groupby(["repo", "made_by"]).cumcount() < OF_EACH_SOURCE
    some = pictures.rows[few].reset_index(drop=True)
    print(f"\n## Robustness: {(~some.fake).sum()} photographs, {some.fake.sum()} generated, degraded alike\n")
    print("| degradation | AUC |\n|---|---|")
    for name, change in ROBUSTNESS.items():
        rng = np.random.default_rng(SEED)
        print(
            f"| {name} | {interval(score(detector, some, (change(rgb, rng) for rgb in pictures.each(some))))} |",
            flush=True,
        )


def with_faces(as_is: Scored, same: Scored) -> None:
    """Print what faces add, over all pictures and over those that show one."""
    print("\n| pictures | photographs | generated | | AUC as they are | AUC encoded alike |\n|---|---|---|---|---|---|")
    for name, part in (("all", np.ones(len(as_is.rows), bool)), ("with a face", as_is.has_face & same.has_face)):
        counts = f"{(part & ~as_is.fake).sum()} | {(part & as_is.fake).sum()}"
        for what, alone in (("detector alone", True), ("with faces", False)):
            cells = (interval(one, part, alone=alone) for one in (as_is, same))
            print(f"| {name} | {counts} | {what} | {' | '.join(cells)} |")


def naming(scored: Scored) -> None:
    """Print what the attributor says of pictures whose family it knows, and of those that it does not."""
    attributor = forensix_attribution()
    rows = scored.rows[scored.fake]
    answers = [attributor.named(scored.predictions[i])[0][0] for i in rows.index]
    table = rows.assign(answer=answers, family=rows.made_by.map(images_attribution.family))
    table["known"] = table.family.isin(attributor.names)
    table["right"] = table.answer == table.family.where(table.known, images_attribution.UNKNOWN)
    print(
        "\n## Attribution\n\n| generator | n | to be named | named so | most frequent answers |\n|---|---|---|---|---|"
    )
    for name, part in table.groupby("made_by"):
        if len(part) >= LEAST:
            frequent = ", ".join(f"{a} {n}" for a, n in part.answer.value_counts().head(3).items())
            wanted = part.family.iloc[0] if part.known.iloc[0] else images_attribution.UNKNOWN
            print(f"| {name} | {len(part)} | {wanted} | {part.right.sum()} of {len(part)} | {frequent} |")
    for known, part in table.groupby("known"):
        every, kind = part.groupby("made_by").right.mean().mean(), "Known" if known else "Unknown"
        print(f"\n{kind} generators: {part.right.mean():.2f} of {len(part)} right; each generator alike {every:.2f}.")


def main() -> None:
    """Read the command line and print."""
    parser = argparse.ArgumentParser(description="Measure the generated-image models.")
    parser.add_argument("--list", type=Path, required=True)
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--repositories", type=Path, required=True)
    parser.add_argument("--most", type=int, help="pictures of a generator, or of a repository's photographs")
    parser.add_argument("--write-card", action="store_true", help="store the figures in the detector's card")
    arguments = parser.parse_args()
    pictures = Pictures(Origin(arguments.list, arguments.corpora, arguments.repositories), arguments.most)
    detector = forensix_image()
    most = "" if arguments.most is None else f" --most {arguments.most}"
    print(f"# Generated images\n\nCommand: `{COMMAND}{most}`\n", flush=True)
    folds(detector.card)
    rng = np.random.default_rng(SEED)
    as_is = score(detector, pictures.rows, pictures.each(pictures.rows))
    print(f"\nAs they are: AUC {interval(as_is)}", flush=True)
    same = score(detector, pictures.rows, (alike(rgb, rng) for rgb in pictures.each(pictures.rows)))
    with_faces(as_is, same)
    measured = by_source(as_is, same, detector.card)
    naming(as_is)
    robustness(detector, pictures)
    if arguments.write_card:
        kept = tuple(m for m in detector.card.measured if not m.command.startswith("python benchmarks"))
        write_card(detector.card.model_copy(update={"measured": kept + tuple(measured)}), SHIPPED)


if __name__ == "__main__":
    main()
