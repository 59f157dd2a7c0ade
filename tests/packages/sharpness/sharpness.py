"""Pictures that were enlarged are smoother than photographs of their size: a detector in twenty lines."""

import numpy as np


class Sharpness:
    """Scores a picture by how much neighbouring pixels differ."""

    version = "1"  # scores are kept as long as this stays

    def score(self, rgb: np.ndarray) -> float:
        """Return a score in [0, 1], higher is more likely fake, of a picture, uint8 (H, W, 3)."""
        grey = rgb.astype(float).mean(axis=2)
        step = np.abs(np.diff(grey, axis=1)).mean() / (grey.std() + 1.0)
        return float(1 / (1 + np.exp(20 * (step - 0.25))))


def make() -> Sharpness:
    """Return the detector; forensix calls this once a process."""
    return Sharpness()
