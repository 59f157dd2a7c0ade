"""How plots look: palette, line styles and sizes, set for one plot at a time.

References
----------
M. Okabe and K. Ito, "Color universal design", 2008 (palette; its yellow is left out, too pale on white).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

REAL, FAKE = "#0072B2", "#D55E00"
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (7, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
GREY = "#8a8a8a"
COLUMN_IN = 3.5
_INSIDE = 5
SEQUENTIAL = "viridis"
_SETTINGS: dict[str, Any] = {
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.labelsize": 8,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.6,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "figure.dpi": 150,
    "savefig.dpi": 300,
    "figure.constrained_layout.use": True,
}


@contextmanager
def axes(ax: "Axes | None", width_in: float = COLUMN_IN, height_in: float = 3.2) -> Iterator["Axes"]:
    """Give the axes to draw in, new ones where there are none, with these settings for as long as it lasts."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    with mpl.rc_context(_SETTINGS):  # type: ignore[arg-type]
        yield plt.subplots(figsize=(width_in, height_in))[1] if ax is None else ax


def look(index: int) -> dict[str, Any]:
    """Return colour and line style of the curve at an index: the pair repeats after 49 curves, neither before 7."""
    shift = index // len(PALETTE)
    return {"color": PALETTE[index % len(PALETTE)], "linestyle": LINES[(index + shift) % len(LINES)]}


def width_in(n: int) -> float:
    """Return how wide a figure must be for ``n`` curves: with many, the legend stands beside the axes."""
    return COLUMN_IN if n <= _INSIDE else 1.75 * COLUMN_IN


def legend(ax: "Axes", n: int, inside: Any) -> None:
    """Draw the legend inside where few entries fit, else beside the axes."""
    if not n:
        return
    if n <= _INSIDE:
        ax.legend(loc=inside)
    else:
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0)
