"""Evaluation: score a manifest, then tables with intervals and displays that keep what they draw.

    evaluation = evaluate("clips", "voice_analysis", degradations=["mp3", "telephone"])
    evaluation.summary(), evaluation.by("generator"), evaluation.robustness().plot()

`runner` scores, `scoring` is what a worker does with one file, `store` keeps scores for later runs, `result` holds
them, `summary` and `displays` turn them into tables and plots, and `tables` prints.
"""

from typing import TYPE_CHECKING

import lazy_loader

__all__ = ["Evaluation", "evaluate"]

if TYPE_CHECKING:
    from forensix.evaluation.result import Evaluation
    from forensix.evaluation.runner import evaluate

# Late, so that workers, which score and draw nothing, start quickly.
__getattr__, __dir__, _ = lazy_loader.attach(__name__, submod_attrs={"result": ["Evaluation"], "runner": ["evaluate"]})
