"""How well voices are told apart: pooled, within each source, by kind of system and after each degradation.

Within a source its fakes are ranked against its own human speech, so that the channel cannot help; the mean is over
sources with at least `LEAST` of either. Singing is counted apart. The band that decides nothing is set on the same
clips.
"""

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from forensix.metrics import auc, decided, eer, inconclusive_band
from forensix.models import Measurement
from forensix.perturb import find
from forensix.training.voice.clips import Samples
from forensix.training.voice.kinds import SINGING, kind_of

LEAST = 3
CLEAN = "clean"
CONDITIONS = {
    "MP3 at 32 kbit/s": ("mp3", 32),
    "telephone": ("telephone", None),
    "Opus at 16 kbit/s": ("opus", 16),
    "pink noise at 20 dB": ("pink_noise", 20.0),
    "reverberation of 0.4 s": ("reverberation", 0.4),
}


def degraded(wave: Samples, condition: str) -> Samples:
    """Return a clip as it comes through one of `CONDITIONS`, or as it is for `CLEAN`."""
    if condition == CLEAN:
        return wave
    name, strength = CONDITIONS[condition]
    heard: Samples = find("audio", name).at(strength)(wave)
    return heard


def with_kinds(table: pd.DataFrame) -> pd.DataFrame:
    """Add ``kind``: of system for fakes, ``""`` or singing for recordings."""
    kinds = table["made_by"].map(kind_of)
    return table.assign(kind=kinds.where((table["fake"] == 1) | (kinds == SINGING), ""))


def thinned(table: pd.DataFrame, *, fakes: int = 3, reals: int = 12) -> pd.DataFrame:
    """Return at most so many clips of each system and collection of a repository, the first ones."""
    place = table.groupby(["repo", "fake", "made_by"]).cumcount()
    return table[place < np.where(table["fake"] == 1, fakes, reals)]


def within(table: pd.DataFrame, column: str) -> pd.Series:
    """Return the AUC of each source that has at least `LEAST` clips of either class, by repository."""
    aucs = {}
    for repo, group in table.groupby("repo"):
        if min((group["fake"] == 1).sum(), (group["fake"] == 0).sum()) >= LEAST:
            aucs[repo] = auc(group["fake"], group[column])
    return pd.Series(aucs, dtype=float)


def figures(table: pd.DataFrame, column: str) -> dict[str, float]:
    """Return pooled ``AUC`` and ``EER`` of speech, and ``AUC within source``, the mean over sources."""
    speech = table[table["kind"] != SINGING]
    return {
        "AUC": auc(speech["fake"], speech[column]),
        "EER": eer(speech["fake"], speech[column]),
        "AUC within source": float(within(speech, column).mean()),
    }


def by_kind(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return ``n``, ``AUC`` against all human speech (singing: against people who sing) and within source, by kind."""
    rows = {}
    for kind, fakes in table[table["fake"] == 1].groupby("kind"):
        reals = table[(table["fake"] == 0) & ((table["kind"] == SINGING) == (kind == SINGING))]
        both = pd.concat([reals, fakes])
        pooled = auc(both["fake"], both[column]) if len(reals) else np.nan
        rows[kind] = {"n": len(fakes), "AUC": pooled, "AUC within source": float(within(both, column).mean())}
    return pd.DataFrame(rows).T


def through(table: pd.DataFrame, wave: Callable[[int], Samples]) -> Iterator[Samples]:
    """Yield the clip of each row, through its ``condition``; ``wave`` gives the clip of a row's ``clip``."""
    for clip, condition in zip(table["clip"], table["condition"], strict=True):
        yield degraded(wave(int(clip)), condition)


def conditions_of(table: pd.DataFrame) -> pd.DataFrame:
    """Return clips clean and fewer of them in every condition, with columns ``clip`` and ``condition``."""
    clean = thinned(with_kinds(table), fakes=8, reals=40)
    clean = clean.assign(clip=clean.index, condition=CLEAN)
    few = thinned(clean, fakes=1, reals=10)
    return pd.concat([clean, *(few.assign(condition=name) for name in CONDITIONS)], ignore_index=True)


def band(scored: pd.DataFrame) -> tuple[float, float]:
    """Return the bounds: an upper one for every source as it is and every condition, a lower one for every kind."""
    speech = scored[scored["kind"] != SINGING]
    sources = speech["repo"].where(speech["condition"] == CLEAN, speech["condition"])
    return inconclusive_band(speech["fake"], speech["score"], sources.tolist(), kinds=speech["kind"].tolist())


def measurements(
    scored: pd.DataFrame, bounds: tuple[float, float], about: str, command: str
) -> tuple[Measurement, ...]:
    """Return what a detector did on sources it never saw: pooled, within, by kind, and after each degradation.

    ``scored`` has a row for each clip and ``condition``, with ``score``, ``fake``, ``repo`` and ``kind``. Of what lies
    outside the bounds it is said how much is decided and how much of it wrongly.
    """
    measured = []

    def add(metric: str, value: float, data: str, rows: pd.DataFrame) -> None:
        n_real, n_fake = (int((rows["fake"] == label).sum()) for label in (0, 1))
        value, data = round(float(value), 4), f"{about}, {data}"
        measured.append(
            Measurement(metric=metric, value=value, data=data, n_real=n_real, n_fake=n_fake, command=command)
        )

    clean = scored[scored["condition"] == CLEAN]
    speech = scored[scored["kind"] != SINGING]
    for name, value in figures(clean, "score").items():
        add(name, value, CLEAN, clean[clean["kind"] != SINGING])
    for kind, row in by_kind(clean, "score").iterrows():
        against = SINGING if kind == SINGING else ""
        add("AUC", row["AUC"], f"{CLEAN}, {kind}", clean[clean["kind"].isin([kind, against])])
    for condition, rows in speech.groupby("condition", sort=False):
        if condition != CLEAN:
            add("AUC", auc(rows["fake"], rows["score"]), str(condition), rows)
        counted = decided(rows["fake"], rows["score"], bounds)
        add("real files decided", counted.real_decided, str(condition), rows)
        add("fake files decided", counted.fake_decided, str(condition), rows)
        add("real files called fake", counted.real_called_fake, str(condition), rows)
        add("fake files called real", counted.fake_called_real, str(condition), rows)
    return tuple(measured)
