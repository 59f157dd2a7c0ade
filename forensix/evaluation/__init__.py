"""Evaluation: score a manifest, then tables with intervals and displays that keep what they draw.

    found = evaluate("clips", "voice_analysis", perturbations=["mp3", "telephone"])
    found.summary(), found.by("generator"), found.robustness().plot()

`runner` scores, `scoring` is what a worker does with one file, `store` keeps scores for later runs, `result` holds
them, `summary` and `displays` turn them into tables and plots.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["Evaluation", "evaluate"]

if TYPE_CHECKING:
    from forensix.evaluation.result import Evaluation
    from forensix.evaluation.runner import evaluate

_PLACES = {"evaluate": "forensix.evaluation.runner", "Evaluation": "forensix.evaluation.result"}


def __getattr__(name: str) -> Any:
    # Late, so that workers, which score and draw nothing, start quickly.
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)
