"""How much a generator's mark weighs beside what the pixels say.

Three kinds of marks were counted on files whose origin is known by other means: what a file says of itself (a digital
source type, a generator's name, its parameters), an invisible watermark in its pixels, and a mark for all to see. The
share of generated files that carry a mark over the share of others that do, smoothed so that nothing counted is never
taken for impossible, is the mark's likelihood ratio.

A mark outweighs the pixels: they may add to it and take nothing from it, because a detector that never saw a generator
errs far more often than somebody forges a mark. Marks are easily removed, so a missing one changes nothing. The ratios
are those of files in public collections, and not of files made to deceive.

References
----------
H. Jeffreys, "An invariant form for the prior probability in estimation problems", 1946 (half a count on either side).
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from forensix.calibration import logit, sigmoid

COUNTS_FILE = Path(__file__).with_name("marks.json")

Kind = Literal["provenance", "watermark", "visible"]


class MarkCounts(BaseModel):
    """How many files of either origin carried a mark, and how that was counted."""

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
def mark_counts() -> Mapping[Kind, MarkCounts]:
    """Return the counts that ship with forensix, by kind of mark."""
    return TypeAdapter(dict[Kind, MarkCounts]).validate_python(json.loads(COUNTS_FILE.read_text(encoding="utf-8")))


def combine(pixel_score: float, *kinds: Kind, counts: Mapping[Kind, MarkCounts] | None = None) -> float:
    """Return the score after marks were looked for: that of the pixels where there are none.

    With marks, the odds of the pixels, or even odds where those are lower, are multiplied by the largest likelihood
    ratio of the kinds found: two kinds in one file came from one program and are no independent witnesses.

    Parameters
    ----------
    pixel_score
        Calibrated, [0, 1], higher is more likely generated.
    kinds
        The kinds of marks that were found.
    counts
        Those that ship with forensix by default.

    Raises
    ------
    ValueError
        A score outside [0, 1].

    Examples
    --------
    >>> combine(0.4)
    0.4
    >>> combine(0.01, "provenance") > 0.9
    True
    """
    if not 0 <= pixel_score <= 1:
        raise ValueError(f"a score must be in [0, 1], got {pixel_score}")
    if not kinds:
        return pixel_score
    counts = counts or mark_counts()
    ratio = max(counts[kind].likelihood_ratio() for kind in kinds)
    return float(sigmoid(max(0.0, float(logit(pixel_score))) + np.log(ratio)))
