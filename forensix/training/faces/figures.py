"""What the card of forensix-face says beyond its bounds: sources alike, kinds of fakes, within a source and a file."""

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forensix.metrics import auc
from forensix.models import Measurement, ModelCard
from forensix.training.faces.clips import paired, weights
from forensix.training.said import Said

DRAWS = 300
SEED = 0
LEAST_OF_SOURCE = 4
LEAST_OF_METHOD = 8


def of_stills(stills: pd.DataFrame, said: Said, about: str, command: str) -> list[Measurement]:
    """Return what the card says of pictures: all, by what was done to the face, and with both classes changed alike."""
    real, generated = stills["label"] == "real", stills["method"] == "face_synthesis"

    def whole(logits: NDArray[np.float64]) -> pd.Series:
        return pd.Series(np.isfinite(logits), index=stills.index) & (real | generated)

    rows = {
        "all": (said.as_is, real | (stills["label"] == "fake")),
        "faces generated whole": (said.as_is, real | generated),
        "faces swapped or put together": (said.as_is, real | ~generated),
        "faces generated whole, both classes scaled and encoded alike": (said.alike, whole(said.alike)),
        "faces generated whole, both classes retouched alike": (said.retouched, whole(said.retouched)),
    }
    measurements = []
    for name, (logits, is_part) in rows.items():
        part, part_logits = stills[is_part].reset_index(drop=True), logits[is_part.to_numpy()]
        if part["label"].nunique() < 2:
            continue
        measurements.append(
            Measurement(
                metric="AUC, a source counting as the root of its pictures",
                value=round(weighted_auc(part, part_logits), 4),
                interval=over_sources(weighted_auc, part, part_logits),
                data=f"{about}, pictures, {name}",
                command=command,
                n_real=int((part["label"] == "real").sum()),
                n_fake=int((part["label"] == "fake").sum()),
            )
        )
    return measurements


def of_parts(table: pd.DataFrame, said: Mapping[str, NDArray[np.float64]], command: str) -> list[Measurement]:
    """Return how the faces of each method are told from recorded ones by each of what is ``said`` of them."""
    real = (table["label"] == "real").to_numpy()
    about = f"training faces of {table['repo'].nunique()} repositories that neither model learnt from"
    measurements = []
    for static, kind in ((True, "pictures"), (False, "videos")):
        own = (table["static"] == static).to_numpy()
        methods = sorted(set(table["method"][own & ~real]))
        for name, is_method in {"all": ~real, **{m: (table["method"] == m).to_numpy() for m in methods}}.items():
            part = own & (real | is_method)
            rows, n_fake = table[part].reset_index(drop=True), int((own & is_method & ~real).sum())
            if n_fake < LEAST_OF_METHOD or not (own & real).any():
                continue
            measurements += [
                Measurement(
                    metric=f"AUC, a source counting as the root of its files, {how}",
                    value=round(weighted_auc(rows, logits[part]), 4),
                    interval=over_sources(weighted_auc, rows, logits[part]),
                    data=f"{about}, {kind}, {name}",
                    command=command,
                    n_real=int((own & real).sum()),
                    n_fake=n_fake,
                )
                for how, logits in said.items()
            ]
    return measurements


def print_figures(table: pd.DataFrame, raw: NDArray[np.float64], card: ModelCard) -> None:
    """Print the bounds, every source and maker by what is said of it, clips by method, and all figures of the card."""
    assert card.calibration is not None
    scores = card.calibration.score(raw)
    (_, of_stills), (_, of_clips) = card.inconclusive or (0, 1), card.inconclusive_video or (0, 1)
    at = scores >= np.where(table["static"], of_stills, of_clips)
    rows = table.assign(kind=np.where(table["static"], "picture", "clip"), score=scores, at=at)
    by = rows.groupby(["kind", "label", "repo", "made_by"])
    sources = by.agg(n=("score", "size"), median=("score", "median"), at_or_above=("at", "mean")).round(3)
    print(f"inconclusive between {card.inconclusive}, of videos {card.inconclusive_video}, fake from {card.threshold}")
    print(f"{card.calibration}\n{card.detail_gap}\n")
    print("Each face scored without its source:\n")
    print(sources.reset_index().to_string(index=False))
    clips = rows[rows["kind"] == "clip"]
    print("\nClips by method, against all recorded ones:\n")
    for method in sorted(set(clips["method"]) - {"none"}):
        part = clips[(clips["method"] == method) | (clips["label"] == "real")]
        fake = part["label"] == "fake"
        print(f"{method}: AUC {auc(fake, part['score']):.3f} ({int(fake.sum())} made)")
    print()
    for figure in card.measured:
        n = f"{figure.n_real} real, {figure.n_fake} fake"
        print(f"{figure.metric}: {figure.value} {figure.interval or ''} ({n}; {figure.data})")


def figures_of(clips: pd.DataFrame, logits: NDArray[np.float64], about: str, command: str) -> list[Measurement]:
    """Return what the card says of clips beyond their bounds: sources alike, within a source, and of one file."""
    y = clips["label"] == "fake"
    n = {"n_real": int((~y).sum()), "n_fake": int(y.sum())}
    metrics = {
        "AUC, a source counting as the root of its clips": weighted_auc,
        "AUC within a source, mean": auc_within,
        "made face above the recorded one of its file": paired,
    }
    return [
        Measurement(
            metric=metric,
            value=round(figure(clips, logits), 4),
            interval=over_sources(figure, clips, logits),
            data=f"{about}, videos",
            command=command,
            **n,
        )
        for metric, figure in metrics.items()
    ]


def noted_shares(clips: pd.DataFrame, is_noted: NDArray[np.bool_], about: str, command: str) -> list[Measurement]:
    """Return how many faces of each class a report would say of that they lack fine detail."""
    fake = (clips["label"] == "fake").to_numpy()
    return [
        Measurement(
            metric=f"{name} faces told to lack fine detail",
            value=round(share, 4),
            data=f"{about}, videos",
            command=command,
            n_real=int((~fake).sum()),
            n_fake=int(fake.sum()),
        )
        for name, share in (("real", float(is_noted[~fake].mean())), ("fake", float(is_noted[fake].mean())))
    ]


def over_sources(
    figure: Callable[[pd.DataFrame, NDArray[np.float64]], float], clips: pd.DataFrame, logits: NDArray[np.float64]
) -> tuple[float, float]:
    """Return the 95 % percentile interval of a figure over sources drawn anew, each with all of its clips."""
    rng = np.random.default_rng(SEED)
    rows = list(clips.groupby("repo").indices.values())
    values = []
    for _ in range(DRAWS):
        drawn = rng.integers(len(rows), size=len(rows))
        at = np.concatenate([rows[i] for i in drawn])
        names = np.repeat(np.arange(len(rows)), [len(rows[i]) for i in drawn]).astype(str)
        of = clips.iloc[at].assign(repo=names)
        if of["label"].nunique() == 2 and np.isfinite(value := figure(of, logits[at])):
            values.append(value)
    low, high = np.percentile(values, (2.5, 97.5)) if values else (np.nan, np.nan)
    return round(float(low), 4), round(float(high), 4)


def weighted_auc(clips: pd.DataFrame, logits: NDArray[np.float64]) -> float:
    """Return the AUC with each source of a class as heavy as the root of its clips."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(clips["label"] == "fake", logits, sample_weight=weights(clips)))


def auc_within(clips: pd.DataFrame, logits: NDArray[np.float64]) -> float:
    """Return the mean AUC of the sources that hold both classes and at least four clips; NaN without one."""
    source, fake = clips.groupby("repo").ngroup().to_numpy(), (clips["label"] == "fake").to_numpy()
    aucs = []
    for shared in np.intersect1d(source[fake], source[~fake]):
        own = source == shared
        if own.sum() >= LEAST_OF_SOURCE:
            aucs.append(auc(fake[own], logits[own]))
    return float(np.mean(aucs)) if aucs else float("nan")
