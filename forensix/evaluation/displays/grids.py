"""Tables drawn as pictures: how a metric holds under degradation, and what was called what."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from forensix.errors import UsageError
from forensix.evaluation import summary
from forensix.evaluation.conditions import Threshold, called_fake
from forensix.evaluation.displays import style
from forensix.evaluation.displays.selection import undegraded
from forensix.metrics.checks import Floats
from forensix.metrics.intervals import DIRECTION
from forensix.perturb import ordered

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

_TITLES = {
    "auc": "AUC",
    "average_precision": "Average precision",
    "eer": "EER",
    "brier": "Brier score",
    "ece": "Calibration error",
    "cllr": "Cllr, bits",
    "min_dcf": "minDCF",
    "act_dcf": "actDCF",
}


@dataclass(eq=False, repr=False)
class RobustnessDisplay:
    """A metric by degradation and strength: ``values`` (rows, columns), NaN where a row has fewer strengths.

    ``strengths`` names each cell. The first column is the undegraded files of the row's component.
    """

    rows: tuple[str, ...]
    values: Floats
    strengths: tuple[tuple[str, ...], ...]
    metric: str
    ax_: "Axes | None" = None
    figure_: "Figure | SubFigure | None" = None

    @classmethod
    def from_frame(
        cls, frame: pd.DataFrame, *, metric: str = "auc", threshold: Threshold = 0.5, verdicts: bool = False
    ) -> Self:
        """Measure each degradation of a frame of scores; see `forensix.evaluation.summary.summarise`."""
        table = summary.summarise(frame, n_bootstrap=0, threshold=threshold, verdicts=verdicts)
        return cls.from_summary(table, metric=metric)

    @classmethod
    def from_summary(cls, table: pd.DataFrame, *, metric: str = "auc") -> Self:
        """Take the values from a table that `summarise` made."""
        if metric not in DIRECTION:
            raise UsageError(f"there is no metric {metric!r}; there are: {', '.join(DIRECTION)}")
        if "degradation" not in table:
            raise UsageError("these scores have no column degradation: evaluate with degradations first")
        table = table[table["metric"] == metric].copy()
        if "level" in table and table["level"].nunique() > 1:
            table = table[table["level"] == "file"]
        apart = [name for name in ("task", "component") if name in table and table[name].nunique() > 1]
        rows, values, strengths = [], [], []
        for key, part in table.groupby(apart, sort=False) if apart else [((), table)]:
            prefix = "".join(f"{name}: " for name in key)
            clean = part.loc[part["degradation"] == "none", "value"]
            for name, cells in part[part["degradation"] != "none"].groupby("degradation", sort=False):
                rows.append(f"{prefix}{name}")
                at = cells["strength"] if "strength" in cells else pd.Series(np.nan, index=cells.index)
                by_strength = dict(zip(at.astype(float), cells["value"], strict=True))
                known = ordered(str(name), [s for s in by_strength if not np.isnan(s)])
                values.append([float(clean.iloc[0]) if len(clean) else np.nan, *(by_strength[s] for s in known)])
                strengths.append(["none", *(f"{s:g}" for s in known)])
                if not known:
                    values[-1].append(float(cells["value"].iloc[0]))
                    strengths[-1].append("")
        if not rows:
            raise UsageError("these scores hold no degraded files: evaluate with degradations first")
        width = max(map(len, values))
        filled = np.array([row + [np.nan] * (width - len(row)) for row in values])
        return cls(tuple(rows), filled, tuple(tuple(row) for row in strengths), metric)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw a heat map into ``ax``, or into a new figure; mild strengths are left, severe ones right."""
        import matplotlib as mpl

        n_rows, n_columns = self.values.shape
        longest = max(map(len, self.rows))
        with style.axes(ax, 1.0 + 0.06 * longest + 0.62 * n_columns, 0.8 + 0.36 * n_rows) as axes:
            low, high = self._range()
            name = style.SEQUENTIAL if DIRECTION[self.metric] == "higher" else f"{style.SEQUENTIAL}_r"
            colours = mpl.colormaps[name]
            image = axes.imshow(self.values, cmap=colours, vmin=low, vmax=high, aspect="auto")
            for i, j in np.argwhere(np.isfinite(self.values)):
                value = float(self.values[i, j])
                r, g, b, _ = colours((value - low) / max(high - low, 1e-9))
                ink = "black" if 0.299 * r + 0.587 * g + 0.114 * b > 0.5 else "white"
                axes.text(j, i - 0.12, f"{value:.2f}", ha="center", va="center", color=ink, fontsize=8)
                below = self.strengths[i][j] if j < len(self.strengths[i]) else ""
                axes.text(j, i + 0.28, below, ha="center", va="center", color=ink, fontsize=6.5)
            axes.set_yticks(range(n_rows), self.rows)
            axes.set_xticks(
                [0, (n_columns) / 2], ["undegraded", "mild to severe"] if n_columns > 1 else ["undegraded", ""]
            )
            axes.set_xticks(np.arange(n_columns + 1) - 0.5, minor=True)
            axes.set_yticks(np.arange(n_rows + 1) - 0.5, minor=True)
            axes.grid(False)
            axes.grid(which="minor", color="white", linewidth=1.5)
            axes.tick_params(which="both", length=0)
            for spine in axes.spines.values():
                spine.set_visible(False)
            figure = axes.get_figure()
            if figure is not None:
                better = DIRECTION[self.metric]
                figure.colorbar(image, ax=axes, label=f"{_TITLES.get(self.metric, self.metric)} ({better} is better)")
            self.ax_, self.figure_ = axes, figure
        return self

    def _range(self) -> tuple[float, float]:
        """Return the ends of the colours: perfection and chance where a metric has them, or what is there and worse."""
        known = self.values[np.isfinite(self.values)]
        if not known.size or self.metric.startswith(("accuracy", "tpr", "balanced", "average")):
            return 0.0, 1.0
        if self.metric == "auc":
            return min(0.5, float(known.min())), 1.0
        return 0.0, max(0.5 if self.metric == "eer" else 0.0, float(known.max()))

    def __repr__(self) -> str:
        return f"RobustnessDisplay({self.metric}, {len(self.rows)} rows)"


_CALLED = ("real", "fake", "inconclusive", "no score")


@dataclass(eq=False, repr=False)
class ConfusionDisplay:
    """What was called what: ``counts`` (2, 4), rows real and fake, columns real, fake, inconclusive and no score."""

    counts: NDArray[np.int64]
    threshold: float
    verdicts: bool = False
    """Whether the verdicts were counted, and not what reaches the threshold."""
    ax_: "Axes | None" = None
    figure_: "Figure | SubFigure | None" = None

    @classmethod
    def from_predictions(cls, labels: ArrayLike, scores: ArrayLike, *, threshold: float = 0.5) -> Self:
        """Count decisions; scores at and above the threshold are called fake, NaN has no decision."""
        y, s = np.asarray(labels).astype(bool), np.asarray(scores, dtype=np.float64)
        if y.shape != s.shape or y.ndim != 1:
            raise ValueError(f"labels and scores must be two equally long lists: got {y.shape} and {s.shape}")
        return cls.from_frame(pd.DataFrame({"label": np.where(y, "fake", "real"), "score": s}), threshold=threshold)

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, *, threshold: float = 0.5, verdicts: bool = False) -> Self:
        """Count the decisions on undegraded files of one component, those without a score too.

        Scores from the threshold on are called fake, or with ``verdicts`` what ``class_name`` calls so, where it is
        real or fake: what a verdict cannot judge is not called fake, whatever its score. Where the frame says which
        verdicts are ``inconclusive`` these are called neither.
        """
        frame = undegraded(frame, None)
        if "component" in frame and frame["component"].nunique() > 1:
            raise UsageError(
                f"these are scores of several components: choose one of {', '.join(frame['component'].unique())}"
            )
        fake = (frame["label"] == "fake").to_numpy()
        called = called_fake(frame, threshold, verdicts=verdicts).astype(int)
        if verdicts and "inconclusive" in frame:
            called[frame["inconclusive"].to_numpy(bool)] = _CALLED.index("inconclusive")
        called[frame["score"].isna().to_numpy()] = _CALLED.index("no score")
        counts = np.array(
            [[np.count_nonzero((fake == row) & (called == k)) for k in range(len(_CALLED))] for row in (False, True)]
        )
        return cls(counts, threshold, verdicts)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw into ``ax``, or into a new figure; colours show shares of the row."""
        import matplotlib as mpl

        shown = [k for k in range(len(_CALLED)) if k < 2 or self.counts[:, k].any()]
        counts = self.counts[:, shown]
        shares = counts / np.maximum(self.counts.sum(axis=1, keepdims=True), 1)
        with style.axes(ax, 1.1 + 0.8 * len(shown), 2.1) as axes:
            colours = mpl.colormaps["Blues"]
            axes.imshow(shares, cmap=colours, vmin=0, vmax=1.0, aspect="auto")
            for (i, j), n in np.ndenumerate(counts):
                ink = "white" if shares[i, j] > 0.55 else "black"
                axes.text(j, i, f"{n}\n{100 * shares[i, j]:.1f} %", ha="center", va="center", color=ink, fontsize=8)
            axes.set_yticks([0, 1], [f"real ({self.counts[0].sum()})", f"fake ({self.counts[1].sum()})"])
            axes.set_xticks(range(len(shown)), [_CALLED[k] for k in shown])
            axes.xaxis.tick_top()
            axes.xaxis.set_label_position("top")
            axes.grid(False)
            axes.tick_params(length=0)
            for spine in axes.spines.values():
                spine.set_visible(False)
            axes.set_xlabel("called by the verdict" if self.verdicts else f"called (fake from {self.threshold:g})")
            self.ax_, self.figure_ = axes, axes.get_figure()
        return self

    def __repr__(self) -> str:
        real, fake = (row.tolist() for row in self.counts)
        by = "by verdict" if self.verdicts else f"threshold {self.threshold:g}"
        return f"ConfusionDisplay(real {real}, fake {fake}, {by})"
