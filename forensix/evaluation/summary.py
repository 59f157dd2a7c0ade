"""Tables from a tidy frame of scores: one row a file in, one row a metric out.

A frame has the columns ``path``, ``label`` (real or fake) and ``score`` (in [0, 1], higher is more likely fake, NaN
where there is none), and as many as there are of ``task``, ``component``, ``degradation``, ``strength``, ``level``,
``error`` and the columns of the manifest. Each combination of the first five is summarised apart.

Files without a score never get one here. They are left out of the metrics and counted: ``n_failed`` where ``error``
says why, ``n_unscored`` where there was nothing to score (no face, no speech).

Intervals draw whole groups again (`forensix.metrics.intervals`): the column ``group_id`` says which files hang
together, and a file without one is its own group.

>>> import pandas as pd
>>> labels = ["real", "real", "fake", "fake"]
>>> frame = pd.DataFrame({"path": list("abcd"), "label": labels, "score": [0.1, 0.6, 0.4, 0.9]})
>>> summarise(frame, n_bootstrap=50).query("metric == 'auc'")[["metric", "value", "n_real", "n_fake"]]
  metric  value  n_real  n_fake
0    auc   0.75       2       2
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from forensix.errors import UsageError
from forensix.evaluation.conditions import UNKNOWN, Threshold, classes, conditions, mean, measured, need, text
from forensix.evaluation.tables import MetricTable
from forensix.metrics.intervals import DIRECTION, FOR_VOICES, Measures, percentile
from forensix.tasks.catalogue import describe

AVERAGE = "AVG"
SUBGROUPS = ("language", "gender", "quality")


def summarise(
    frame: pd.DataFrame,
    *,
    group: str | None = "group_id",
    n_bootstrap: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
    threshold: Threshold = 0.5,
    verdicts: bool = False,
    task: str | None = None,
) -> pd.DataFrame:
    """Return every metric of every combination of task, component, degradation and strength.

    Parameters
    ----------
    group
        Column of what hangs together, or None; files without a value are their own groups (frames of a video: the
        video is), as all are where the frame has no ``group_id``. Another column has to be there.
    n_bootstrap
        Draws for the intervals; 0 leaves ``low`` and ``high`` empty.
    confidence
        The share of the draws that an interval holds, between 0 and 1.
    threshold
        The score from which a file counts as called fake, or one for each component; ``accuracy_threshold`` and
        ``balanced_accuracy_threshold`` are taken there.
    verdicts
        Whether, instead, a file counts as called fake where ``class_name`` says so, in rows in which that is real or
        fake. So what a verdict cannot judge is not called fake, whatever its score.
    task
        Where the frame does not say it: ``"voice_analysis"`` adds minDCF and actDCF.

    Returns
    -------
        Columns: those of the combination, ``metric``, ``value``, ``low``, ``high``, ``n_real``, ``n_fake`` (scored
        ones), ``n_unscored``, ``n_failed``. A metric that needs both classes is NaN where one is missing.
    """
    rows: list[dict[str, Any]] = []
    for key, part in conditions(frame):
        real, fake = classes(part)
        measures = measured(real, [fake], key, group, n_bootstrap, seed, threshold, verdicts)[0]
        rows += _rows(key, measures, _named(key, task), confidence, real, fake, part)
    return _table(rows)


def by(
    frame: pd.DataFrame,
    column: str = "generator",
    *,
    shared_reals: bool | None = None,
    group: str | None = "group_id",
    n_bootstrap: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
    threshold: Threshold = 0.5,
    verdicts: bool = False,
    task: str | None = None,
) -> pd.DataFrame:
    """Return the metrics of each generator (or whatever ``column`` names) and their unweighted mean, ``AVG``.

    Where reals have values of their own for all that the fakes have, as with a gender, each value's fakes are measured
    against its own reals. Otherwise every value is measured against all reals, as generators are, so that rows differ
    by their fakes only. ``shared_reals`` says which of the two it shall be. Fakes without a value are ``unknown``, and
    where none has one they are measured against all reals too.
    The mean's interval is taken draw by draw: a group is drawn once for the reals and for all generators. Generators of
    which nothing was scored have a row that counts why, and are left out of the mean.
    """
    need(frame, [column])
    rows: list[dict[str, Any]] = []
    for key, rows_of_key in conditions(frame):
        part = rows_of_key.assign(**{column: text(rows_of_key[column])})
        real, fake = classes(part)
        names = sorted(part.loc[part["label"] == "fake", column].unique())
        fakes = [fake[fake[column] == name] for name in names]
        known = {*names} - {UNKNOWN}
        own = bool(known) and known <= set(part.loc[part["label"] == "real", column])
        if shared_reals or (shared_reals is None and not own):
            reals, pools = [real] * len(names), [part[(part["label"] == "real") | (part[column] == n)] for n in names]
            per_group = measured(real, fakes, key, group, n_bootstrap, seed, threshold, verdicts)
        else:
            pools = [part[part[column] == name] for name in names]
            reals = [real[real[column] == name] for name in names]
            per_group = [
                measured(r, [f], key, group, n_bootstrap, seed, threshold, verdicts)[0]
                for r, f in zip(reals, fakes, strict=True)
            ]
        chosen = _named(key, task)
        averaged = [m for m, r, f in zip(per_group, reals, fakes, strict=True) if len(f) and (len(r) or real.empty)]
        for name, measures, r, f, pool in zip(names, per_group, reals, fakes, pools, strict=True):
            rows += _rows({**key, column: name}, measures, chosen, confidence, r, f, pool)
        if per_group:
            rows += _rows({**key, column: AVERAGE}, mean(averaged or per_group), chosen, confidence, real, fake, part)
    return _table(rows)


def subgroups(
    frame: pd.DataFrame,
    columns: str | Sequence[str] | None = None,
    *,
    group: str | None = "group_id",
    n_bootstrap: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
    threshold: Threshold = 0.5,
    verdicts: bool = False,
    task: str | None = None,
) -> pd.DataFrame:
    """Return the metrics within each language, gender and quality, or whatever ``columns`` name.

    Reals and fakes are both those of the subgroup. ``subgroup`` holds the column, ``member`` its value.
    """
    if columns is None:
        columns = [name for name in SUBGROUPS if name in frame.columns]
    columns = [columns] if isinstance(columns, str) else columns
    need(frame, columns)
    rows: list[dict[str, Any]] = []
    for key, rows_of_key in conditions(frame):
        for column in columns:
            values = text(rows_of_key[column])
            for member in sorted(values.unique()):
                part = rows_of_key[values == member]
                real, fake = classes(part)
                measures = measured(real, [fake], key, group, n_bootstrap, seed, threshold, verdicts)[0]
                place = {**key, "subgroup": column, "member": member}
                rows += _rows(place, measures, _named(key, task), confidence, real, fake, part)
    return _table(rows)


def compare(
    frame: pd.DataFrame,
    column: str = "component",
    *,
    baseline: str | None = None,
    group: str | None = "group_id",
    n_bootstrap: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
    threshold: Threshold = 0.5,
    verdicts: bool = False,
    task: str | None = None,
) -> pd.DataFrame:
    """Return how each component (or run) differs from a baseline on the files that both scored: a paired test.

    The same groups are drawn for both, so what is hard for both cancels out. ``p`` is the two-sided share of draws on
    the other side of no difference, never below ``1 / (n_bootstrap + 1)``; it is not corrected for many comparisons.

    Parameters
    ----------
    baseline
        A value of ``column``; by default the first one in the frame.

    Raises
    ------
    UsageError
        No row has the baseline, or a file is real for one and fake for the other.
    """
    need(frame, [column])
    values = list(dict.fromkeys(text(frame[column])))
    baseline = values[0] if baseline is None else baseline
    if baseline not in values:
        raise UsageError(f"no row has {column} {baseline!r}; there are: {', '.join(values)}")
    rows: list[dict[str, Any]] = []
    for key, part in conditions(frame, without=column):
        same = [name for name in ("path", "frame_ms") if name in part.columns]
        scored = part[part["score"].notna()].assign(**{column: text(part[column])})
        sides = {name: side.drop_duplicates(same).set_index(same) for name, side in scored.groupby(column, sort=False)}
        for name in values:
            if name == baseline or name not in sides or baseline not in sides:
                continue
            common = sides[name].index.intersection(sides[baseline].index)
            both = _alike([sides[which].loc[common].reset_index() for which in (name, baseline)], group)
            pair = []
            for which, side in zip((name, baseline), both, strict=True):
                real, fake = classes(side)
                at = {**key, column: which}
                pair.append(measured(real, [fake], at, group, n_bootstrap, seed, threshold, verdicts)[0])
            counts = {"n_real": len(real), "n_fake": len(fake)}
            counts["n_left_out"] = len(sides[name].index.union(sides[baseline].index)) - len(common)
            for metric in _named(key, task):
                rows.append(
                    {
                        **key,
                        column: name,
                        "baseline": baseline,
                        "metric": metric,
                        **_pair(pair[0], pair[1], metric, confidence),
                        **counts,
                    }
                )
    return _table(rows)


def _alike(both: Sequence[pd.DataFrame], group: str | None) -> list[pd.DataFrame]:
    """Return two sides of the same files with the same groups, those of the baseline where they are known."""
    side, base = both
    other = side["label"].to_numpy() != base["label"].to_numpy()
    if other.any():
        raise UsageError(
            f"{int(other.sum())} files are real for one side and fake for the other, so they cannot be compared; the"
            f" first is {base.loc[other, 'path'].iloc[0]}: evaluate both with the same labels"
        )
    if group is None or group not in base:
        return [side, base]
    known = base[group].astype(object).where(base[group].notna(), side[group].astype(object))
    return [side.assign(**{group: known}), base.assign(**{group: known})]


def _named(key: Mapping[str, Any], task: str | None) -> list[str]:
    task_of_row = key.get("task", task)
    own = describe(str(task_of_row)).metrics if task_of_row else ()
    return [name for name in DIRECTION if name in own or name not in FOR_VOICES]


def _rows(
    key: Mapping[str, Any],
    measures: Measures,
    metrics: Sequence[str],
    confidence: float,
    real: pd.DataFrame,
    fake: pd.DataFrame,
    part: pd.DataFrame,
) -> list[dict[str, Any]]:
    failed = part["error"].notna() if "error" in part else pd.Series(False, index=part.index)
    without = part["score"].isna()
    counts = {
        "n_real": len(real),
        "n_fake": len(fake),
        "n_unscored": int((without & ~failed).sum()),
        "n_failed": int((without & failed).sum()),
    }
    rows = []
    for metric in metrics:
        low, high = measures.interval(metric, confidence)
        rows.append({**key, "metric": metric, "value": measures.values[metric], "low": low, "high": high, **counts})
    return rows


def _pair(measures: Measures, baseline: Measures, metric: str, confidence: float) -> dict[str, float]:
    gaps = measures.draws[metric] - baseline.draws[metric]
    low, high = percentile(gaps, confidence)
    gaps = gaps[np.isfinite(gaps)]
    against = min((gaps <= 0).sum(), (gaps >= 0).sum())
    p = min(1.0, 2 * (against + 1) / (gaps.size + 1)) if np.isfinite(low) else float("nan")
    value, base = measures.values[metric], baseline.values[metric]
    return {"value": value, "baseline_value": base, "difference": value - base, "low": low, "high": high, "p": p}


def _table(rows: list[dict[str, Any]]) -> pd.DataFrame:
    if not rows:
        return pd.DataFrame(columns=["metric", "value", "low", "high", "n_real", "n_fake", "n_unscored", "n_failed"])
    return MetricTable(rows)
