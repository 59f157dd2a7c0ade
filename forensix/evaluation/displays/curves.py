"""Curves over all thresholds: ROC, DET, precision and recall. Fake is the positive class.

References
----------
A. Martin et al., "The DET curve in assessment of detection task performance", 1997.
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from forensix import metrics
from forensix.evaluation import summary
from forensix.evaluation.conditions import KEYS, sample
from forensix.evaluation.displays import style
from forensix.evaluation.displays.selection import Selected, default_column, selected
from forensix.metrics.checks import Floats, checked
from forensix.metrics.confidence import roc_band

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

_MOST_BANDS = 3
_FPR = np.unique(np.concatenate([np.linspace(0, 1, 201), np.geomspace(1e-4, 1, 101)]))
"""False positive rates at which bands are computed; close together where they are low."""


@dataclass(frozen=True, eq=False)
class Curve:
    """One curve: ``x``, ``y`` and ``thresholds`` (n,), its figure of merit, its interval where one was asked for."""

    name: str
    x: Floats
    y: Floats
    thresholds: Floats
    value: float
    interval: tuple[float, float] | None
    n_real: int
    n_fake: int
    band: "Band | None" = None


@dataclass(frozen=True, eq=False)
class Band:
    """Where 95 % of the draws lie at each false positive rate: ``fpr``, ``low`` and ``high`` of the true one (m,)."""

    fpr: Floats
    low: Floats
    high: Floats


@dataclass(eq=False, repr=False)
class CurveDisplay:
    """What the three displays share: ``curves``, one for each set of scores."""

    curves: tuple[Curve, ...]
    ax_: "Axes | None" = None
    figure_: "Figure | SubFigure | None" = None

    metric: ClassVar[str]
    """The figure of merit, by its name in `forensix.metrics`."""
    short: ClassVar[str]
    has_band: ClassVar[bool] = False

    @classmethod
    def from_predictions(cls, labels: ArrayLike, scores: ArrayLike, *, name: str = "") -> Self:
        """Compute one curve: ``labels`` 1 for fake and 0 for real, ``scores`` higher for fake."""
        y, s = checked(labels, scores)
        return cls((cls._curve(name, y, s, None),))

    @classmethod
    def from_frame(
        cls, frame: pd.DataFrame, column: str | None = None, *, n_bootstrap: int = 1000, group: str | None = "group_id"
    ) -> Self:
        """Compute a curve for each value of a column (the components, where there are several).

        Degraded files are left out unless ``column`` is ``degradation``: then each strength has a curve.
        Fakes of a generator go with all the reals. Values with one class only have no curve.
        ``n_bootstrap`` draws of whole groups give the figure of merit its 95 % interval, and ROC and DET curves a
        pointwise band (`forensix.metrics.confidence`), which is drawn where there are at most three; 0 for none.
        """
        curves = []
        for part in selected(frame, column or default_column(frame)):
            if part.labels.all() or not part.labels.any():
                continue
            curve = cls._curve(part.name, part.labels, part.scores, cls._interval(part, n_bootstrap, group))
            curves.append(replace(curve, band=_band(part, n_bootstrap, group)) if cls.has_band else curve)
        return cls(tuple(curves))

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw into ``ax``, or into a new figure."""
        with style.axes(ax, style.width_in(len(self.curves))) as axes:
            self._draw(axes)
            style.legend(axes, own=ax is None)
            self.ax_, self.figure_ = axes, axes.get_figure()
        return self

    def __repr__(self) -> str:
        names = ", ".join(f"{curve.name or 'scores'} {self.short} {curve.value:.3f}" for curve in self.curves)
        return f"{type(self).__name__}({names})"

    @classmethod
    def _interval(cls, part: Selected, n: int, group: str | None) -> tuple[float, float] | None:
        if not n:
            return None
        plain = part.rows.drop(columns=[name for name in KEYS if name in part.rows])
        table = summary.summarise(plain, n_bootstrap=n, group=group)
        low, high = table.loc[table["metric"] == cls.metric, ["low", "high"]].to_numpy(np.float64)[0]
        return float(low), float(high)

    @classmethod
    def _curve(
        cls, name: str, labels: NDArray[np.bool_], scores: Floats, interval: tuple[float, float] | None
    ) -> Curve:
        from sklearn.metrics import roc_curve

        fpr, tpr, thresholds = roc_curve(labels, scores, drop_intermediate=False)
        n_fake = int(labels.sum())
        n_real = labels.size - n_fake
        x, y = cls._points(fpr, tpr, n_real / n_fake)
        value = getattr(metrics, cls.metric)(labels, scores)
        return Curve(name, x, y, thresholds, value, interval, n_real, n_fake)

    def _shown_band(self, curve: Curve) -> Band | None:
        """Return the band where it can be told from those of other curves."""
        drawable = curve.band is not None and len(self.curves) <= _MOST_BANDS and np.isfinite(curve.band.low).all()
        return curve.band if drawable else None

    def _label(self, curve: Curve) -> str:
        merit = f"{self.short} {curve.value:.3f}"
        if curve.interval is not None:
            merit += f" [{curve.interval[0]:.3f}, {curve.interval[1]:.3f}]"
        return f"{curve.name}: {merit}" if curve.name else merit

    @staticmethod
    @abstractmethod
    def _points(fpr: Floats, tpr: Floats, ratio: float) -> tuple[Floats, Floats]:
        """Return x and y for the rates at each threshold; ``ratio`` is how many reals there are for a fake."""

    @abstractmethod
    def _draw(self, ax: "Axes") -> None:
        """Draw the curves."""


class RocDisplay(CurveDisplay):
    """True over false positive rate (TPR, FPR): fakes found over reals called fake; ``value`` is the area."""

    metric, short, has_band = "auc", "AUC", True

    def plot(self, ax: "Axes | None" = None, *, log: bool = False) -> Self:
        """Draw; ``log`` spreads out the low false alarm rates, which decide in practice."""
        self._log = log
        return super().plot(ax)

    @staticmethod
    def _points(fpr: Floats, tpr: Floats, ratio: float) -> tuple[Floats, Floats]:
        return fpr, tpr

    def _draw(self, ax: "Axes") -> None:
        lowest = min((0.5 / curve.n_real for curve in self.curves), default=0.5)
        diagonal = np.geomspace(lowest, 1, 200) if self._log else np.array([0, 1])
        ax.plot(diagonal, diagonal, color=style.GREY, linewidth=0.8, linestyle=":", zorder=1)
        for i, curve in enumerate(self.curves):
            x = np.maximum(curve.x, lowest) if self._log else curve.x
            ax.plot(x, curve.y, label=self._label(curve), **style.look(i))
            if band := self._shown_band(curve):
                x = np.maximum(band.fpr, lowest) if self._log else band.fpr
                ax.fill_between(x, band.low, band.high, color=style.look(i)["color"], alpha=style.BAND, linewidth=0)
        if self._log:
            ax.set_xscale("log")
        ax.set(xlim=(lowest if self._log else -0.01, 1), ylim=(-0.01, 1.01))
        ax.set(xlabel="FPR: share of real files called fake", ylabel="TPR: share of fakes found")


class DetDisplay(CurveDisplay):
    """False negative over false positive rate (FNR, FPR) on normal deviate axes; ``value`` is the EER, marked."""

    metric, short, has_band = "eer", "EER", True
    _TICKS = (0.0001, 0.001, 0.005, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.99)

    @staticmethod
    def _points(fpr: Floats, tpr: Floats, ratio: float) -> tuple[Floats, Floats]:
        return fpr, 1 - tpr

    def _draw(self, ax: "Axes") -> None:
        from scipy.stats import norm

        # A rate of 0 lies infinitely far out: it is drawn where half an error would be.
        lowest = min((0.5 / max(curve.n_real, curve.n_fake) for curve in self.curves), default=0.01)
        low, high = max(lowest, 1e-4), 0.995
        ends = norm.ppf([low, high])
        ax.plot(ends, ends, color=style.GREY, linewidth=0.8, linestyle=":", zorder=1)
        for i, curve in enumerate(self.curves):
            look = style.look(i)
            x, y = (
                norm.ppf(np.clip(rate, 0.5 / n, 1 - 0.5 / n))
                for rate, n in ((curve.x, curve.n_real), (curve.y, curve.n_fake))
            )
            ax.plot(x, y, label=self._label(curve), **look)
            if band := self._shown_band(curve):
                around = norm.ppf(np.clip(band.fpr, 0.5 / curve.n_real, 1 - 0.5 / curve.n_real))
                ends_of = (
                    np.clip(1 - end, 0.5 / curve.n_fake, 1 - 0.5 / curve.n_fake) for end in (band.high, band.low)
                )
                low_y, high_y = (norm.ppf(end) for end in ends_of)
                ax.fill_between(around, low_y, high_y, color=look["color"], alpha=style.BAND, linewidth=0)
            at = norm.ppf(np.clip(curve.value, low, high))
            ax.plot(at, at, style.MARKERS[i % len(style.MARKERS)], color=look["color"])
        ticks = [tick for tick in self._TICKS if low <= tick <= high]
        percent = [f"{100 * tick:g}" for tick in ticks]
        ax.set_xticks(norm.ppf(ticks), percent)
        ax.set_yticks(norm.ppf(ticks), percent)
        ax.set(xlim=ends, ylim=ends, xlabel="FPR: real files called fake, %", ylabel="FNR: fakes missed, %")


class PrecisionRecallDisplay(CurveDisplay):
    """Share of fakes among what is called fake, over share of fakes caught; ``value`` is the average precision."""

    metric, short = "average_precision", "AP"

    @staticmethod
    def _points(fpr: Floats, tpr: Floats, ratio: float) -> tuple[Floats, Floats]:
        called = tpr + fpr * ratio
        return tpr, np.divide(tpr, called, out=np.ones_like(tpr), where=called > 0)

    def _draw(self, ax: "Axes") -> None:
        shares = sorted({round(curve.n_fake / (curve.n_real + curve.n_fake), 3) for curve in self.curves})
        for share in shares:
            ax.axhline(share, color=style.GREY, linewidth=0.8, linestyle=":", zorder=1)
        for i, curve in enumerate(self.curves):
            ax.plot(curve.x, curve.y, label=self._label(curve), drawstyle="steps-pre", **style.look(i))
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
        ax.set(
            xlabel="Recall (TPR): share of fakes found", ylabel="Precision: share of fakes\namong what is called fake"
        )


def _band(part: Selected, n: int, group: str | None) -> Band | None:
    if not n:
        return None
    real, fake = (sample(part.rows[part.labels == label], group) for label in (False, True))
    return Band(_FPR, *roc_band(real, fake, _FPR, n=n))
