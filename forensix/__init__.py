"""forensix tells whether a video, picture, recording or PDF was manipulated or generated, and shows why.

>>> import forensix
>>> report = forensix.analyze("clip.mp4")  # doctest: +SKIP
>>> report.scores                          # doctest: +SKIP

Importing is free: nothing heavy is loaded before it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_PLACES = {
    "analyze": "forensix.analysis",
    "analyze_many": "forensix.analysis",
    "open_media": "forensix.media",
    "list_models": "forensix.models",
    "load_detector": "forensix.models",
    "load_model": "forensix.models",
    "evaluate": "forensix.evaluation",
    "train": "forensix.training.own.run",
    "combine": "forensix.training.own.combine",
    "explore": "forensix.explorer",
    "Evaluation": "forensix.evaluation",
    "Report": "forensix.report",
    "Manifest": "forensix.manifest",
    "ForensixError": "forensix.errors",
}

__all__ = [
    "Evaluation",
    "ForensixError",
    "Manifest",
    "Report",
    "__version__",
    "analyze",
    "analyze_many",
    "combine",
    "evaluate",
    "explore",
    "list_models",
    "load_detector",
    "load_model",
    "open_media",
    "train",
]

if TYPE_CHECKING:
    from forensix.analysis import analyze, analyze_many
    from forensix.errors import ForensixError
    from forensix.evaluation import Evaluation, evaluate
    from forensix.explorer import explore
    from forensix.manifest import Manifest
    from forensix.media import open_media
    from forensix.models import list_models, load_detector, load_model
    from forensix.report import Report
    from forensix.training.own.combine import combine
    from forensix.training.own.run import train


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'forensix' has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
