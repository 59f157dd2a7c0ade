"""Set the bounds between which a shipped model says ``inconclusive``, on files of repositories that it never saw.

    python -m forensix.training.bands --model forensix-image --list images.csv --repositories DIR
    python -m forensix.training.bands --model forensix-spoof --list voices.csv --repositories DIR --degrade mp3=32

Whole files are scored as a user's are: the training rows of a list of labelled files, without the repositories that
the model's card names, as they are and degraded. Bounds, and how often what lies outside them is wrong, go on its card.
Where the files are pictures and videos, each get their own.
"""

import argparse
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forensix.analysis import analyze
from forensix.errors import InputError
from forensix.media import open_media
from forensix.metrics import auc, bootstrap_interval, decided, inconclusive_band, supported
from forensix.models import Measurement, ModelCard
from forensix.models.store import get_card, write_card
from forensix.perturb import find
from forensix.training.sources import Repositories, read_list

TASKS = {
    "image_detector": "ai_generated_image_detection",
    "spoof": "voice_analysis",
}
COMMAND = "python -m forensix.training.bands --model {model}"
AS_IT_IS = "as it is"
ABOUT = "whole files of {n} repositories that training never saw, on which the bounds were set"
VIDEO = "video"
RATE_HZ = 16_000


def choose(table: pd.DataFrame, card: ModelCard, most: int, *, seed: int = 0) -> pd.DataFrame:
    """Return at most ``most`` real and as many fake files of each repository that the card does not name."""
    seen = {source.source.split(" ")[0].replace("+", "/", 1) for source in card.trained_on}
    kept = table[table["label"].isin(("real", "fake")) & ~table["repo"].isin(seen)]
    sample = kept.sample(frac=1.0, random_state=seed).groupby(["repo", "label"]).head(most)
    return sample.sort_values(["repo", "path"]).reset_index(drop=True)


def versions(data: bytes, degradations: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Yield a file as it is, and its sound through each degradation (``name`` or ``name=strength``) as a WAV."""
    from scipy.io import wavfile

    yield AS_IT_IS, data
    for named in degradations:
        name, _, strength = named.partition("=")
        with open_media(data) as media:
            samples = media.samples().astype(np.float32) / np.float32(32768)
        degraded = find("audio", name).at(float(strength) if strength else None)(samples)
        file = io.BytesIO()
        wavfile.write(file, RATE_HZ, degraded)
        yield named, file.getvalue()


def score_all(
    table: pd.DataFrame, repositories: Repositories, task: str, degradations: Sequence[str] = ()
) -> pd.DataFrame:
    """Return a row for each file and condition that could be scored: repo, label, condition, kind, score."""
    rows = []
    for row in table.itertuples():
        name = f"{row.repo}/{row.path}"
        try:
            data = repositories.read(str(row.repo), str(row.path), blob=str(row.blob), ref=str(row.ref))
            for condition, version in versions(data, degradations):
                report = analyze(version, [task], explain=False, transcribe=False)
                score = report.scores[task]
                said = report.errors.get(task, report.verdicts[task])
                print(
                    f"{row.label}\t{condition}\t{'' if score is None else f'{score:.4f}'}\t{name}\t{said}", flush=True
                )
                if score is not None:
                    rows.append((row.repo, row.label, condition, report.kind, score))
        except InputError as error:
            print(f"{row.label}\t\t\t{name}\t{error}", flush=True)
    return pd.DataFrame(rows, columns=["repo", "label", "condition", "kind", "score"])


def with_band(
    card: ModelCard,
    scored: pd.DataFrame,
    command: str,
    *,
    about: str = ABOUT,
    only_supported: bool = False,
    only_upper: bool = False,
) -> ModelCard:
    """Return the card with the bounds that hold in every condition, and with what they decide in each.

    ``about`` says in the figures what ``scored`` is, ``{n}`` standing for how many values its column ``repo`` has. The
    specification's two classes part at the upper bound: a wrong accusation weighs more than a miss. Where ``scored``
    has a column ``kind``, videos beside other media get bounds of their own, whose upper one is no lower than that of
    the others. With ``only_supported``, bounds stay only where they are shown to mean something
    (`forensix.metrics.supported`); with ``only_upper`` nothing is called real, for a model that is blind to a kind of
    fakes.
    """
    about = about.format(n=scored["repo"].nunique())

    def kept_if(fake: NDArray[np.bool_], scores: NDArray[np.float64], band: tuple[float, float]) -> tuple[float, float]:
        low, high = supported(fake, scores, band) if only_supported else band
        return 0.0 if only_upper else low, high

    video = scored["kind"].to_numpy() == VIDEO if "kind" in scored else np.zeros(len(scored), dtype=bool)
    apart = bool(video.any() and not video.all())
    rest = scored[~video] if apart else scored
    whole = _band(rest)
    band = kept_if(*_known(rest), whole)
    measured = _measured(rest, band, f"{about}, pictures" if apart else about, command)
    moving = None
    if apart:
        low, high = _band(scored[video])
        moving = kept_if(*_known(scored[video]), (min(low, whole[1]), max(high, whole[1])))
        measured += _measured(scored[video], moving, f"{about}, videos", command)
    stem = command.partition(" --list")[0]
    kept = tuple(one for one in card.measured if not (stem and one.command.startswith(stem)))
    update = {"inconclusive": band, "inconclusive_video": moving, "threshold": whole[1], "measured": (*kept, *measured)}
    return card.model_copy(update=update)


def _known(scored: pd.DataFrame) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    return (scored["label"] == "fake").to_numpy(), scored["score"].to_numpy(dtype=np.float64)


def _band(scored: pd.DataFrame) -> tuple[float, float]:
    return inconclusive_band(*_known(scored), scored["condition"].tolist())


def _measured(scored: pd.DataFrame, band: tuple[float, float], about: str, command: str) -> list[Measurement]:
    """Return what a band decides in each condition."""
    measured = []
    for condition, rows in scored.groupby("condition", sort=False):
        y, s = _known(rows)
        counted = decided(y, s, band)
        figures = {
            "AUC": (auc(y, s), bootstrap_interval(auc, y, s, groups=rows["repo"])),
            "real files decided": (counted.real_decided, None),
            "fake files decided": (counted.fake_decided, None),
            "real files called fake": (counted.real_called_fake, None),
            "fake files called real": (counted.fake_called_real, None),
        }
        n = {"n_real": int((~y).sum()), "n_fake": int(y.sum())}
        measured += [
            Measurement(
                metric=metric,
                value=round(value, 4),
                interval=interval,
                data=f"{about}, {condition}",
                command=command,
                **n,
            )
            for metric, (value, interval) in figures.items()
        ]
    return measured


def main() -> None:
    """Read the command line, score, and write the card."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True, help="name of a shipped model that judges real or fake")
    parser.add_argument("--list", type=Path, required=True, dest="listed", help="CSV of labelled files")
    parser.add_argument("--repositories", type=Path, required=True, help="folder of repositories named owner+name")
    parser.add_argument("--most", type=int, default=8, help="files of a repository and label")
    parser.add_argument("--degrade", nargs="*", default=[], help="degradations of sound, such as mp3=32 or telephone")
    options = parser.parse_args()
    card = get_card(options.model)
    command = f"{COMMAND.format(model=card.name)} --list {options.listed.name} --repositories DIR --most {options.most}"
    command += "".join([" --degrade", *(f" {one}" for one in options.degrade)]) if options.degrade else ""
    with Repositories(options.repositories) as repositories:
        table = choose(read_list(options.listed, split="train"), card, options.most)
        here = table[[repositories.has(repo) for repo in table["repo"]]]
        card = with_band(card, score_all(here, repositories, TASKS[card.component], options.degrade), command)
    write_card(card)
    own = f", of videos {card.inconclusive_video}" if card.inconclusive_video else ""
    print(f"inconclusive between {card.inconclusive}{own}, called fake from {card.threshold}")
    for one in card.measured:
        if one.command == command:
            print(f"{one.metric}: {one.value} {one.interval or ''} ({one.n_real} real, {one.n_fake} fake; {one.data})")


if __name__ == "__main__":
    main()
