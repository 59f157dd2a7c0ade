"""How the scores of each source lie: a row a source, real and fake apart, the threshold across."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from forensix.errors import UsageError
from forensix.evaluation.conditions import called_fake
from forensix.evaluation.displays import style
from forensix.evaluation.displays.selection import by_strength, one_component, undegraded
from forensix.metrics.checks import Floats, checked, probabilities

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

_SOURCES = ("source", "generator", "method")


class Histogram(NamedTuple):
    """Scores of one source and label: ``share`` of them in each bin, and the share that is called right."""

    name: str
    label: str
    share: Floats
    n: int
    right: float


@dataclass(eq=False, repr=False)
class ScoreDisplay:
    """Histograms of scores by source; ``edges`` (n_bins + 1,) are the bins' in [0, 1]."""

    histograms: tuple[Histogram, ...]
    edges: Floats
    threshold: float
    ax_: "Axes | None" = None
    figure_: "Figure | SubFigure | None" = None

    @classmethod
    def from_predictions(
        cls, labels: ArrayLike, scores: ArrayLike, *, threshold: float = 0.5, n_bins: int = 25
    ) -> Self:
        """Count the scores of reals and of fakes, in [0, 1]."""
        y, s = checked(labels, scores, both=False)
        probabilities(s)
        frame = pd.DataFrame({"label": np.where(y, "fake", "real"), "score": s, "source": "all"})
        return cls.from_frame(frame, "source", threshold=threshold, n_bins=n_bins)

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        column: str | None = None,
        *,
        threshold: float = 0.5,
        verdicts: bool = False,
        n_bins: int = 25,
    ) -> Self:
        """Count the scores of each source (or generator, or what ``column`` names); ``all`` where it is empty.

        Reals come first, each kind with the highest mean score on top. One component at a time. Scores from the
        threshold on are called fake, or with ``verdicts`` what ``class_name`` calls so, where it is real or fake.
        """
        if column is None:
            column = next((name for name in _SOURCES if name in frame and frame[name].notna().any()), None)
        if column is not None and column not in frame:
            raise UsageError(f"the scores have no column {column}; they have: {', '.join(map(str, frame.columns))}")
        frame = by_strength(undegraded(frame, column), column)
        one_component(frame, column)
        frame = frame[frame["score"].notna()]
        named = pd.Series("all", index=frame.index)
        if column:
            named = frame[column].astype(object).where(frame[column].notna(), "all").astype(str)
        edges = np.linspace(0, 1, n_bins + 1)
        rows = []
        for (label, name), part in frame.groupby(["label", named], observed=True):
            scores = part["score"].to_numpy(np.float64)
            right = float(np.mean(called_fake(part, threshold, verdicts=verdicts) == (label == "fake")))
            share = np.histogram(scores, edges)[0] / scores.size
            rows.append((label != "real", -scores.mean(), Histogram(str(name), str(label), share, scores.size, right)))
        rows.sort(key=lambda row: row[:2])
        return cls(tuple(row[2] for row in rows), edges, threshold)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw into ``ax``, or into a new figure as high as there are sources."""
        rows = len(self.histograms)
        with style.axes(ax, 1.4 * style.COLUMN_IN, 0.7 + 0.3 * max(rows, 2)) as axes:
            for i, histogram in enumerate(self.histograms):
                base = rows - 1 - i
                fake = histogram.label == "fake"
                height = 0.85 * histogram.share / max(float(histogram.share.max()), 1e-9)
                axes.stairs(
                    base + height,
                    self.edges,
                    baseline=base,
                    fill=True,
                    color=style.FAKE if fake else style.REAL,
                    alpha=0.85,
                    hatch="////" if fake else None,
                    edgecolor="white",
                    linewidth=0,
                )
                axes.axhline(base, color=style.GREY, linewidth=0.4)
            labels = [
                f"{h.label}: {h.name} ({h.n})" if h.name != "all" else f"{h.label} ({h.n})" for h in self.histograms
            ]
            size = style.row_pt(axes, rows)
            axes.set_yticks(np.arange(rows)[::-1] + 0.3, labels, fontsize=size)
            axes.tick_params(axis="y", length=0)
            axes.axvline(self.threshold, color="black", linewidth=0.9, linestyle="--")
            right = axes.secondary_yaxis("right")
            right.set_yticks(np.arange(rows)[::-1] + 0.3, [f"{100 * h.right:.0f} %" for h in self.histograms])
            right.tick_params(axis="y", labelsize=size)
            right.tick_params(axis="y", length=0)
            right.spines["right"].set_visible(False)
            right.set_ylabel("called right")
            axes.grid(False, axis="y")
            axes.set(xlim=(0, 1), ylim=(-0.05, rows), xlabel=f"Score (fake from {self.threshold:g}, dashed)")
            self.ax_, self.figure_ = axes, axes.get_figure()
        return self

    def __repr__(self) -> str:
        return f"ScoreDisplay({', '.join(f'{h.label} {h.name} ({h.n})' for h in self.histograms)})"
