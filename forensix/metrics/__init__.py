"""How well scores separate fake from real, and how far they can be taken at their word: pure functions.

Every metric takes ``labels`` (1 is fake, 0 is real) and ``scores`` (higher is more likely fake) and returns a float:

>>> from forensix.metrics import auc, bootstrap_interval, eer
>>> labels = [0, 0, 0, 1, 1, 1]
>>> scores = [0.1, 0.3, 0.8, 0.4, 0.7, 0.9]
>>> round(auc(labels, scores), 3), round(eer(labels, scores), 3)
(0.778, 0.333)
>>> low, high = bootstrap_interval(auc, labels, scores, n=200)
>>> low <= auc(labels, scores) <= high
True

`ranking` holds what depends on the order of scores only, `decisions` what depends on a threshold or on scores being
probabilities, `bands` which scores decide nothing, `intervals` the cluster bootstrap and the fast path that tables use.
"""

from forensix.metrics.bands import BandRates, decided, inconclusive_band, supported
from forensix.metrics.decisions import (
    accuracy,
    act_dcf,
    balanced_accuracy,
    brier,
    cllr,
    ece,
)
from forensix.metrics.intervals import DIRECTION, Measures, bootstrap_interval
from forensix.metrics.ranking import (
    auc,
    average_precision,
    eer,
    min_dcf,
    oracle_threshold,
    tpr_at_fpr,
)

__all__ = [
    "DIRECTION",
    "BandRates",
    "Measures",
    "accuracy",
    "act_dcf",
    "auc",
    "average_precision",
    "balanced_accuracy",
    "bootstrap_interval",
    "brier",
    "cllr",
    "decided",
    "ece",
    "eer",
    "inconclusive_band",
    "min_dcf",
    "oracle_threshold",
    "supported",
    "tpr_at_fpr",
]
