"""Whether scores are what they say: of the files that score 0.8, are eight in ten fake?

References
----------
E. Wilson, "Probable inference, the law of succession, and statistical inference", 1927 (intervals of shares).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from forensix.evaluation.displays import style
from forensix.evaluation.displays.selection import default_column, selected
from forensix.metrics.checks import Floats, checked, probabilities
from forensix.metrics.decisions import N_BINS, bin_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


OF_BIN = 10
"""Files of a bin, on average, where nobody says how many bins there shall be: the share among fewer says little."""


class Reliability(NamedTuple):
    """Of the bins that hold files: mean score, share of fakes with a 95 % interval, files. ``ece`` as in metrics."""

    name: str
    mean_score: Floats
    share_fake: Floats
    low: Floats
    high: Floats
    n: NDArray[np.int64]
    ece: float


@dataclass(eq=False, repr=False)
class CalibrationDisplay:
    """Share of fakes over score, by bins of equal width; on the diagonal, scores are probabilities."""

    curves: tuple[Reliability, ...]
    equal_priors: bool = False
    ax_: "Axes | None" = None
    figure_: "Figure | SubFigure | None" = None

    @classmethod
    def from_predictions(
        cls,
        labels: ArrayLike,
        scores: ArrayLike,
        *,
        name: str = "",
        n_bins: int | None = None,
        equal_priors: bool = False,
    ) -> Self:
        """Bin scores in [0, 1]; ``equal_priors`` weighs the classes alike, which is what shipped models are made for.

        With it the share of fakes does not depend on the mix of the set. By default there are as many bins as for the
        ``ece``, fewer where that would leave less than `OF_BIN` files in each.
        """
        y, s = checked(labels, scores)
        return cls((_reliability(name, y, probabilities(s), n_bins, equal_priors),), equal_priors)

    @classmethod
    def from_frame(
        cls, frame: pd.DataFrame, column: str | None = None, *, n_bins: int | None = None, equal_priors: bool = False
    ) -> Self:
        """Bin the scores of each value of a column (the components, where there are several)."""
        parts = [p for p in selected(frame, column or default_column(frame)) if p.labels.any() and not p.labels.all()]
        curves = (_reliability(p.name, p.labels, probabilities(p.scores), n_bins, equal_priors) for p in parts)
        return cls(tuple(curves), equal_priors)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw into ``ax``, or into a new figure; bars are 95 % intervals of the shares."""
        with style.axes(ax, style.width_in(len(self.curves))) as axes:
            axes.plot([0, 1], [0, 1], color=style.GREY, linewidth=0.8, linestyle=":", zorder=1)
            for i, curve in enumerate(self.curves):
                label = f"{curve.name}: ECE {curve.ece:.3f}" if curve.name else f"ECE {curve.ece:.3f}"
                errors = np.stack([curve.share_fake - curve.low, curve.high - curve.share_fake]).clip(0)
                axes.errorbar(
                    curve.mean_score,
                    curve.share_fake,
                    errors,
                    label=label,
                    marker=style.MARKERS[i % len(style.MARKERS)],
                    elinewidth=0.8,
                    capsize=2,
                    **style.look(i),
                )
            prior = ", classes weighed alike" if self.equal_priors else ""
            axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
            axes.set(xlabel="Mean score of the bin", ylabel=f"Share of fakes{prior}")
            style.legend(axes, own=ax is None)
            self.ax_, self.figure_ = axes, axes.get_figure()
        return self

    def __repr__(self) -> str:
        merits = ", ".join(f"{curve.name or 'scores'} ECE {curve.ece:.3f}" for curve in self.curves)
        return f"CalibrationDisplay({merits})"


def _reliability(
    name: str, labels: NDArray[np.bool_], scores: Floats, n_bins: int | None, equal_priors: bool
) -> Reliability:
    weights = np.ones(scores.size)
    if equal_priors:
        weights = np.where(labels, 0.5 / labels.mean(), 0.5 / (1 - labels.mean()))
    drawn = n_bins or max(2, min(N_BINS, scores.size // OF_BIN))
    at = bin_of(scores, drawn)
    mass, mean, share = _binned(at, drawn, weights, labels, scores)
    n = np.bincount(at, minlength=drawn)
    # Weighted files count for fewer: Kish's effective number.
    effective = mass**2 / np.bincount(at, weights**2, drawn)[n > 0]
    low, high = _wilson(share, effective)
    told = n_bins or N_BINS
    of_bin, expected, found = _binned(bin_of(scores, told), told, weights, labels, scores)
    ece = float(np.sum(of_bin * np.abs(found - expected)) / of_bin.sum())
    return Reliability(name, mean, share, low, high, n[n > 0], ece)


def _binned(
    at: NDArray[np.int64], n_bins: int, weights: Floats, labels: NDArray[np.bool_], scores: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return of the bins that hold files what these weigh, their mean score and their share of fakes."""
    sums = [np.bincount(at, weights * of, n_bins) for of in (np.ones(scores.size), scores, labels)]
    mass, scored, fake = (one.astype(np.float64) for one in sums)
    full = mass > 0
    return mass[full], scored[full] / mass[full], fake[full] / mass[full]


def _wilson(share: Floats, n: Floats) -> tuple[Floats, Floats]:
    """Return the 95 % interval of a share of ``n`` trials."""
    z = 1.96
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return middle - reach, middle + reach
