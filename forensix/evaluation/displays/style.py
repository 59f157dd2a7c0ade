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
BAND = 0.18
COLUMN_IN = 3.5
_FEW = 5
_PAD_IN = 0.12
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
        if ax is None:
            yield plt.subplots(figsize=(width_in, height_in))[1]
        else:
            _dress(ax)
            yield ax
            _make_room(ax)


def _dress(ax: "Axes") -> None:
    """Give axes that somebody else made the spines, grid and sizes of those that are made here."""
    for name, spine in ax.spines.items():
        spine.set_linewidth(_SETTINGS["axes.linewidth"])
        spine.set_visible(_SETTINGS.get(f"axes.spines.{name}", True))
    ax.set_axisbelow(True)
    ax.grid(True, color=_SETTINGS["grid.color"], linewidth=_SETTINGS["grid.linewidth"])
    ax.tick_params(labelsize=_SETTINGS["xtick.labelsize"])
    for label in (ax.xaxis.label, ax.yaxis.label):
        label.set_fontsize(_SETTINGS["axes.labelsize"])
    ax.title.set_fontsize(_SETTINGS["axes.titlesize"])


def _make_room(ax: "Axes") -> None:
    """Draw axes that were given smaller where their words and legend would leave the figure, and be cut off when saved.

    A figure with a layout of its own sees to that itself.
    """
    figure = ax.get_figure(root=True)
    if figure is None or figure.get_layout_engine() is not None:
        return
    for _ in range(2):  # other ticks, and with them other labels, may come with another size
        box, page, place = ax.get_tightbbox(), figure.bbox, ax.get_position()
        if box is None:
            return
        pad = _PAD_IN / 3 * figure.dpi
        left, below = (max(0.0, pad - at) for at in (box.x0, box.y0))
        right, above = max(0.0, box.x1 + pad - page.width), max(0.0, box.y1 + pad - page.height)
        if not (left or right or below or above):
            return
        width, height = place.width - (left + right) / page.width, place.height - (below + above) / page.height
        if width > 0 and height > 0:
            ax.set_position((place.x0 + left / page.width, place.y0 + below / page.height, width, height))


def look(index: int) -> dict[str, Any]:
    """Return colour and line style of the curve at an index: the pair repeats after 49 curves, neither before 7."""
    shift = index // len(PALETTE)
    return {"color": PALETTE[index % len(PALETTE)], "linestyle": LINES[(index + shift) % len(LINES)]}


def width_in(n: int) -> float:
    """Return how wide a figure is for ``n`` curves, before `legend` makes room for their names."""
    return COLUMN_IN if n <= _FEW else 1.75 * COLUMN_IN


def row_pt(ax: "Axes", n: int) -> float:
    """Return a font size at which the names of ``n`` rows do not touch, however low the axes are."""
    height_in = ax.bbox.height / ax.figure.dpi
    return min(float(_SETTINGS["ytick.labelsize"]), 0.75 * 72 * height_in / max(n, 1))


def legend(ax: "Axes", *, own: bool) -> None:
    """Draw the legend below the axes, where it covers no curve, in as many columns as there is room for.

    A figure of our ``own`` grows by it. In axes that were given, many entries are written smaller.
    """
    labels = ax.get_legend_handles_labels()[1]
    if not labels:
        return
    from matplotlib.figure import Figure
    from matplotlib.transforms import ScaledTranslation

    figure, box = ax.figure, ax.get_tightbbox()
    left = (ax.bbox.x0 - box.x0) / figure.dpi if box else 0.0
    below = (ax.bbox.y0 - box.y0) / figure.dpi if box else 0.0
    many = len(labels) > 2 * _FEW and not own
    # Constrained layout moves the axes, but not how far their labels reach out of them.
    place = ax.transAxes + ScaledTranslation(-left, -below, figure.dpi_scale_trans)
    look: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (0, 0), "bbox_transform": place}
    look |= {"borderaxespad": 0.3, "borderpad": 0.2, "labelspacing": 0.3, "columnspacing": 1.2}
    look |= {"fontsize": 5 if many else _SETTINGS["legend.fontsize"], "handlelength": 2.4}
    entry_in = ax.legend(**look).get_window_extent().width / figure.dpi + _PAD_IN
    room_in = figure.bbox.width / figure.dpi if own else left + ax.bbox.width / figure.dpi
    n_rows = -(-len(labels) // max(1, int(room_in // entry_in)))
    drawn = ax.legend(ncols=-(-len(labels) // n_rows), **look)
    if own and isinstance(figure, Figure):
        size = drawn.get_window_extent()
        width_in, height_in = figure.get_size_inches()
        figure.set_size_inches(max(width_in, size.width / figure.dpi + _PAD_IN), height_in + size.height / figure.dpi)
