"""The scale of a score: from what it means at 0 to what it means at 1, with the bands that a card parts it into.

One model for every way of drawing it: `templates/scale.html` on a page and in a notebook, `drawn` in a terminal.
"""

from dataclasses import dataclass

from forensix.tasks.verdicts import score_text


@dataclass(frozen=True)
class Band:
    """A stretch of the scale, from 0 to 1; ``tone`` picks its colour."""

    low: float
    high: float
    tone: str
    words: str


@dataclass(frozen=True)
class Scale:
    """A score on its scale.

    ``bands`` cover it from 0 to 1: three where the card has bounds of what is inconclusive, two where it has a
    threshold alone, and a single one without a meaning where there is neither.
    """

    score: float
    ends: tuple[str, str]
    bands: tuple[Band, ...]
    calibrated: bool = True

    @property
    def score_text(self) -> str:
        """The score in two decimals, or more near the ends and near a bound."""
        return score_text(self.score, self._decimals)

    @property
    def _decimals(self) -> int:
        """The least decimals in which score and bounds look as different as they are, lest they belie the verdict."""
        values = {self.score, *(band.low for band in self.bands[1:])}
        return next((n for n in (2, 3, 4) if len({score_text(v, n) for v in values}) == len(values)), 4)

    @property
    def is_undecided(self) -> bool:
        """Whether the score lies strictly within the band of what is inconclusive."""
        if len(self.bands) != 3:
            return False
        low, high = self.bands[1].low, self.bands[1].high
        return (low < self.score or low == 0) and (self.score < high or high == 1)

    @property
    def basis(self) -> str:
        """What the bands are, in words; empty where there is nothing to say."""
        parts = [] if self.calibrated else ["not calibrated"]
        if len(self.bands) == 3:
            parts.append(_inconclusive(self.bands[1].low, self.bands[1].high, self._decimals))
        elif len(self.bands) == 2:
            parts.append(f"{self.ends[1]} from {score_text(self.bands[1].low, self._decimals)} on")
        return "; ".join(parts)

    @property
    def described(self) -> str:
        """The whole scale in one sentence, for those who cannot see it."""
        basis = f"; {self.basis}" if self.basis else ""
        return f"Score {self.score_text} on a scale from 0, {self.ends[0]}, to 1, {self.ends[1]}{basis}"


def scale_of(
    score: float,
    ends: tuple[str, str],
    *,
    bounds: tuple[float, float] | None = None,
    threshold: float | None = None,
    calibrated: bool = True,
) -> Scale:
    """Return a score on its scale.

    Parameters
    ----------
    score
        In [0, 1].
    ends
        What 0 and 1 mean.
    bounds
        Scores strictly between these are inconclusive; none is where they are one, which then is the threshold.
    threshold
        From here on a score counts as fake; told where there are no bounds.
    calibrated
        Whether the score was calibrated.

    Examples
    --------
    >>> [band.words for band in scale_of(0.37, ("looks recorded", "looks synthetic"), bounds=(0.2, 0.8)).bands]
    ['looks recorded', 'inconclusive', 'looks synthetic']
    """
    real, fake = ends
    bands: tuple[Band, ...] = (Band(0.0, 1.0, "none", ""),)
    if bounds is not None and bounds[0] == bounds[1]:  # there is nothing between them
        threshold, bounds = bounds[1], None
    if bounds is not None:
        low, high = bounds
        bands = (
            Band(0.0, low, "real", real),
            Band(low, high, "unsure", "inconclusive"),
            Band(high, 1.0, "fake", fake),
        )
    elif threshold is not None:
        bands = (Band(0.0, threshold, "real", real), Band(threshold, 1.0, "fake", fake))
    return Scale(score, ends, bands, calibrated)


def _inconclusive(low: float, high: float, decimals: int) -> str:
    if (low, high) == (0.0, 1.0):
        return "no score decides here"
    if low == 0:
        return f"inconclusive below {score_text(high, decimals)}"
    if high == 1:
        return f"inconclusive above {score_text(low, decimals)}"
    return f"inconclusive between {score_text(low, decimals)} and {score_text(high, decimals)}"


def drawn(scale: Scale, width: int, *, ascii_only: bool = False) -> str:
    """Return a scale as one line of text; what is inconclusive is dotted, and a stroke parts two classes.

    Examples
    --------
    >>> drawn(scale_of(0.9, ("recorded", "synthetic"), bounds=(0.3, 0.7)), 20, ascii_only=True)
    'recorded ------........----O- synthetic'
    """
    line, dotted, part, point = ("-", ".", "|", "O") if ascii_only else ("─", "┄", "│", "●")
    cells = [line] * width
    for band in scale.bands:
        for i in range(width):
            if band.low < (i + 0.5) / width < band.high and band.tone == "unsure":
                cells[i] = dotted
    if len(scale.bands) == 2:
        cells[min(width - 1, int(scale.bands[1].low * width))] = part
    cells[min(width - 1, int(scale.score * width))] = point
    return f"{scale.ends[0]} {''.join(cells)} {scale.ends[1]}"
