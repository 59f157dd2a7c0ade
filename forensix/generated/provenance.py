"""How much a generator's mark in a file weighs beside what the pixels say.

A mark (a digital source type, a generator's name, its parameters) was counted on files whose origin is known by other
means: how often generated files carry one, and how often others do. The ratio of these two shares, smoothed so that
nothing counted is never taken for impossible, multiplies the odds of the pixel score. Marks are easily removed, so a
missing one multiplies by one: nothing is proof by absence. Marks are as easily forged; the ratio is that of files
found in public collections, and not of files made to deceive.

References
----------
H. Jeffreys, "An invariant form for the prior probability in estimation problems", 1946 (half a count on either side).
"""

import json
from functools import cache
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from forensix.calibration import logit, sigmoid

COUNTS_FILE = Path(__file__).with_name("marks.json")


class MarkCounts(BaseModel):
    """How many files of either origin carried a generator's mark, and how that was counted."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    generated: int = Field(gt=0)
    generated_marked: int = Field(ge=0)
    other: int = Field(gt=0)
    other_marked: int = Field(ge=0)
    data: str
    command: str

    def likelihood_ratio(self) -> float:
        """Return P(mark | generated) / P(mark | other) under Jeffreys' prior."""
        generated = (self.generated_marked + 0.5) / (self.generated + 1)
        other = (self.other_marked + 0.5) / (self.other + 1)
        return generated / other


@cache
def mark_counts() -> MarkCounts:
    """Return the counts that ship with forensix."""
    return MarkCounts.model_validate(json.loads(COUNTS_FILE.read_text(encoding="utf-8")))


def combine(pixel_score: float, marked: bool, *, counts: MarkCounts | None = None) -> float:
    """Return the score after a mark was looked for: unchanged without one, the odds multiplied with one.

    Parameters
    ----------
    pixel_score
        Calibrated, [0, 1], higher is more likely generated.
    marked
        Whether the file carries a mark of a generator.
    counts
        Those that ship with forensix by default.

    Raises
    ------
    ValueError
        A score outside [0, 1].

    Examples
    --------
    >>> combine(0.4, marked=False)
    0.4
    >>> combine(0.4, marked=True) > 0.9
    True
    """
    if not 0 <= pixel_score <= 1:
        raise ValueError(f"a score must be in [0, 1], got {pixel_score}")
    if not marked:
        return pixel_score
    ratio = (counts or mark_counts()).likelihood_ratio()
    return float(sigmoid(logit(pixel_score) + np.log(ratio)))
