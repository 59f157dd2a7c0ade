"""Plots of scores, in scikit-learn's manner: made from predictions or from a frame, then drawn as often as wanted.

    RocDisplay.from_predictions(labels, scores).plot()
    RocDisplay.from_frame(evaluation.scores, column="generator").plot(ax=ax)

A display keeps the arrays that it draws and computes nothing when drawn. ``plot`` returns the display, with ``ax_`` and
``figure_`` set. Colours are told apart with all common kinds of colour blindness, and line styles and markers differ
too; sizes suit one column of a paper. No global setting of matplotlib is touched.
"""

from forensix.evaluation.displays.calibration import CalibrationDisplay
from forensix.evaluation.displays.curves import Curve, DetDisplay, PrecisionRecallDisplay, RocDisplay
from forensix.evaluation.displays.grids import ConfusionDisplay, RobustnessDisplay
from forensix.evaluation.displays.histograms import ScoreDisplay

__all__ = [
    "CalibrationDisplay",
    "ConfusionDisplay",
    "Curve",
    "DetDisplay",
    "PrecisionRecallDisplay",
    "RobustnessDisplay",
    "RocDisplay",
    "ScoreDisplay",
]
