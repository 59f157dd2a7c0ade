"""What is said of files by what did not see their sources, in each condition that training measures in."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Self

import numpy as np
from numpy.typing import NDArray

from forensix.calibration import Calibration

Logits = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Said:
    """Logits of pictures or of faces (n,); NaN where there is none."""

    as_is: Logits
    alike: Logits
    """Of both classes scaled and encoded alike."""
    retouched: Logits
    """Of both classes retouched alike, see `forensix.perturb.image.retouched`."""

    def each(self, change: Callable[[Logits], Logits]) -> Self:
        """Return what ``change`` makes of the logits of each condition."""
        return type(self)(*map(change, self.conditions.values()))

    def calibrated(self, calibration: Calibration) -> Self:
        """Return calibrated logits of raw ones."""
        return self.each(lambda raw: calibration.slope * raw + calibration.intercept)

    def raw(self, calibration: Calibration) -> Self:
        """Return the logits in the units that a calibration takes."""
        return self.each(lambda logits: (logits - calibration.intercept) / calibration.slope)

    @property
    def conditions(self) -> dict[str, Logits]:
        """The logits by the name of their condition."""
        return {field.name: getattr(self, field.name) for field in fields(self)}
