"""The bounds between which a shipped model says ``inconclusive``, on files of repositories that it never saw.

What a card says of them is how much they decide, and how often that is wrong. Where the files are pictures and videos,
each get their own.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forensix.metrics import auc, bootstrap_interval, decided, inconclusive_band, supported
from forensix.models import Measurement, ModelCard

AS_IT_IS = "as it is"
ABOUT = "whole files of {n} repositories that training never saw, on which the bounds were set"
VIDEO = "video"


def with_band(
    card: ModelCard,
    scored: pd.DataFrame,
    command: str,
    *,
    about: str = ABOUT,
    every_source: bool = True,
    only_supported: bool = False,
    by_source: bool = False,
    only_upper: bool = False,
    as_videos: pd.DataFrame | None = None,
    undecided: Callable[[ModelCard], NDArray[np.bool_]] | None = None,
) -> ModelCard:
    """Return the card with the bounds that hold for every source and in every condition, and with what they decide.

    A source is a value of the column ``repo``, of files as they are; in another condition all files count together, and
    without ``every_source``, for a model that accuses nobody, in each. ``about`` says in the figures what ``scored``
    is, ``{n}`` standing for how many sources it has. The specification's two classes part at the upper bound: a wrong
    accusation weighs more than a miss. Where ``scored`` has a column ``kind``, videos beside other media get bounds of
    their own, whose upper one is no lower than that of the others, or of ``as_videos``: the others judged as videos
    are. Intervals draw sources again, or the values of a column ``unit``. Where it has a column ``withheld``, files
    with that set are undecided whatever their score. With ``only_supported``, bounds stay only where they are shown to
    mean something (`forensix.metrics.supported`), and ``by_source`` says that files of a source hang together there, in
    all conditions. With ``only_upper`` nothing is called real, for a model that is blind to a kind of fakes. Once the
    card has its bounds, ``undecided`` says of which rows its verdicts tell nothing, for what is said that they decide.
    """
    about = about.format(n=scored["repo"].nunique())

    def kept_if(judged: pd.DataFrame, band: tuple[float, float]) -> tuple[float, float]:
        groups = judged["repo"].tolist() if by_source else None
        low, high = supported(*_known(judged), band, groups=groups) if only_supported else band
        return 0.0 if only_upper else low, high

    video = scored["kind"].to_numpy() == VIDEO if "kind" in scored else np.zeros(len(scored), dtype=bool)
    apart = bool(video.any() and not video.all())
    rest = scored[~video] if apart else scored
    whole = _band(rest, every_source=every_source)
    band, moving = kept_if(_judged(rest), whole), None
    if apart:
        low, high = _band(scored[video], every_source=every_source)
        least = whole[1] if as_videos is None else _band(as_videos, every_source=every_source)[1]
        moving = kept_if(_judged(scored[video]), (min(low, least), max(high, least)))
    card = card.model_copy(update={"inconclusive": band, "inconclusive_video": moving, "threshold": whole[1]})
    if undecided is not None:
        scored = scored.assign(withheld=undecided(card))
    measured = _measured(scored[~video] if apart else scored, band, f"{about}, pictures" if apart else about, command)
    if moving is not None:
        measured += _measured(scored[video], moving, f"{about}, videos", command)
    stem = command.partition(" --list")[0]
    kept = tuple(one for one in card.measured if not (stem and one.command.startswith(stem)))
    return card.model_copy(update={"measured": (*kept, *measured)})


def with_video_band(card: ModelCard, scored: pd.DataFrame, command: str, *, about: str = ABOUT) -> ModelCard:
    """Return the card with bounds for videos, and with what they decide, where its own are of pictures.

    ``about`` is as `with_band` takes it. The upper bound stays only where it is shown to mean something, and videos are
    called fake no sooner than pictures. None is called real: the generated ones that were scored come from few
    repositories and show people alone.
    """
    band = supported(*_known(scored), (0.0, max(_band(scored)[1], card.threshold)))
    about = f"{about.format(n=scored['repo'].nunique())}, videos"
    kept = tuple(one for one in card.measured if one.command != command or ", videos" not in one.data)
    measured = (*kept, *_measured(scored, band, about, command))
    return card.model_copy(update={"inconclusive_video": band, "measured": measured})


def _known(scored: pd.DataFrame) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    return (scored["label"] == "fake").to_numpy(), scored["score"].to_numpy(dtype=np.float64)


def _withheld(scored: pd.DataFrame) -> NDArray[np.bool_]:
    return scored["withheld"].to_numpy(dtype=bool) if "withheld" in scored else np.zeros(len(scored), dtype=bool)


def _judged(scored: pd.DataFrame) -> pd.DataFrame:
    return scored[~_withheld(scored)]


def _band(scored: pd.DataFrame, *, every_source: bool = True) -> tuple[float, float]:
    fake, scores = _known(scored)
    # Where nothing is decided, nothing is wrong.
    harmless = np.where(_withheld(scored), fake, scores)
    # In other conditions there are too few files of a source to bound each by itself.
    sources = scored["repo"].where((scored["condition"] == AS_IT_IS) & every_source, "")
    return inconclusive_band(fake, harmless, sources.tolist(), conditions=scored["condition"].tolist())


def _measured(scored: pd.DataFrame, band: tuple[float, float], about: str, command: str) -> list[Measurement]:
    """Return what a band decides in each condition."""
    measured = []
    for condition, rows in scored.groupby("condition", sort=False):
        y, s = _known(rows)
        counted = decided(y, s, band, withheld=_withheld(rows))
        figures = {
            "AUC": (auc(y, s), bootstrap_interval(auc, y, s, groups=rows["unit" if "unit" in rows else "repo"])),
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
